//! Bytes from one rank to another: every rank sends to the next one, around a ring, which may be itself.

use crate::{Failure, Random, expect, text};
use spinneret_mpi_sys::{Comm, Error, Mpi, Named, Shared, Status};
use std::rc::Rc;

/// Lengths of messages: nothing, some that go at once, one that has to be asked for.
const LENGTHS: [usize; 4] = [0, 1, 5000, 300_000];

fn neighbours(comm: &Comm) -> (usize, usize) {
    let (rank, size) = (comm.rank(), comm.size());
    ((rank + 1) % size, (rank + size - 1) % size)
}

fn message(from: usize, length: usize) -> Vec<u8> {
    Random::new((from * 1_000_003 + length) as u64).bytes(length)
}

/// Messages that are waited for, in all modes, and looked for before they are taken.
pub(crate) fn check(mpi: &Mpi) -> Result<(), Failure> {
    let world = mpi.world();
    let (next, previous) = neighbours(&world);
    let rank = world.rank();
    // Nothing that waits can be sent to oneself.
    if world.size() > 1 {
        for (tag, length) in LENGTHS.into_iter().enumerate() {
            for is_synchronous in [false, true] {
                let (mine, theirs) = (message(rank, length), message(previous, length));
                let send = || {
                    let send = if is_synchronous { Comm::ssend } else { Comm::send };
                    send(&world, &mine, next, tag as u32).map_err(text)
                };
                let take = || take(&world, &theirs, previous, tag as u32, is_synchronous);
                // One of them begins, and the ring goes around.
                if rank == 0 {
                    send()?;
                    take()?;
                } else {
                    take()?;
                    send()?;
                }
            }
        }
    }
    expect(
        "messages that nobody sent",
        world.iprobe(None, None).map_err(text)?,
        None,
    )?;
    world.barrier().map_err(text)
}

fn take(comm: &Comm, expected: &[u8], source: usize, tag: u32, is_any: bool) -> Result<(), Failure> {
    let status = Status {
        source,
        tag,
        bytes: expected.len() as u64,
    };
    expect(
        "a message that waits",
        comm.probe(Some(source), Some(tag)).map_err(text)?,
        status,
    )?;
    expect(
        "a message that is there",
        comm.iprobe(None, None).map_err(text)?,
        Some(status),
    )?;
    if is_any {
        let (bytes, found) = comm.recv_any(None, None).map_err(text)?;
        expect("a message of any length", (&bytes[..], found), (expected, status))
    } else {
        let mut bytes = vec![0xee; expected.len() + 3];
        let found = comm.recv(&mut bytes, Some(source), Some(tag)).map_err(text)?;
        let (filled, rest) = bytes.split_at(expected.len());
        expect("a message", (filled, found), (expected, status))?;
        expect("bytes behind a message", rest, &[0xee; 3])
    }
}

/// Messages that are under way together.
pub(crate) fn requests(mpi: &Mpi) -> Result<(), Failure> {
    let world = mpi.world();
    let (next, previous) = neighbours(&world);
    for length in LENGTHS {
        let (mine, theirs) = (message(world.rank(), length), message(previous, length));
        let mut areas = [vec![0; length + 1], vec![0; length], vec![0; length]];
        let [first, second, third] = &mut areas;
        world
            .scope(|scope| {
                let first = scope.irecv(first, Some(previous), Some(1))?;
                let second = scope.irecv(second, None, Some(2))?;
                let third = scope.irecv(third, Some(previous), Some(3))?;
                let sends = [
                    scope.isend(&mine, next, 3)?,
                    scope.issend(&mine, next, 2)?,
                    scope.isend(&mine, next, 1)?,
                ];
                let mut third = third.test()?;
                let third = loop {
                    third = match third {
                        Ok(received) => break received,
                        Err(waits) => waits.test()?,
                    };
                };
                scope.wait_all();
                for (received, tag) in [(first.wait()?, 1), (second.wait()?, 2), (third, 3)] {
                    check_received(received.status, received.bytes, previous, tag, &theirs)?;
                }
                for send in sends {
                    match send.test()? {
                        Ok(()) => {}
                        Err(send) => send.wait()?,
                    }
                }
                Ok::<_, Stop>(())
            })
            .map_err(|Stop(failure)| failure)?;
    }
    left_alone(&world)
}

/// Requests that nobody waits for, or whose message never comes.
fn left_alone(world: &Comm) -> Result<(), Failure> {
    let (next, previous) = neighbours(world);
    let mut area = [0; 8];
    let cancelled = world.scope(|scope| {
        let receiving = scope.irecv(&mut area, Some(previous), Some(99))?;
        receiving.cancel().map(|received| received.is_none())
    });
    expect("whether a receive was called off", cancelled.map_err(text)?, true)?;
    let mut kept = [0; 8];
    let mut taken = [0; 8];
    let status = world.scope(|scope| {
        drop(scope.irecv(&mut area, Some(previous), Some(99))?);
        // Forgotten, they are ended with the scope.
        std::mem::forget(scope.irecv(&mut kept, Some(previous), Some(98))?);
        std::mem::forget(scope.isend(&[1, 2, 3], next, 97)?);
        world.recv(&mut taken, Some(previous), Some(97))
    });
    let expected = Status {
        source: previous,
        tag: 97,
        bytes: 3,
    };
    let found = (status.map_err(text)?, &taken[..3]);
    expect(
        "a message whose send was forgotten",
        found,
        (expected, &[1, 2, 3][..]),
    )?;
    world.barrier().map_err(text)
}

/// Messages that are sent again and again.
pub(crate) fn persistent(mpi: &Mpi) -> Result<(), Failure> {
    let world = mpi.world();
    let (next, previous) = neighbours(&world);
    let (mut here, mut there, mut other) = ([0; 64], [0; 64], [0; 64]);
    let rank = world.rank() as u8;
    world
        .scope(|scope| {
            let mut send = scope.send_init(&mut here, next, 5)?;
            let mut ssend = scope.ssend_init(&mut other, next, 6)?;
            let mut receive = scope.recv_init(&mut there, Some(previous), None)?;
            expect("what was not started", receive.test()?, (true, None))?;
            expect("what was not started", receive.wait()?, None)?;
            for round in 0..20 {
                for (tag, send) in [(5, &mut send), (6, &mut ssend)] {
                    send.bytes()?.fill(rank ^ round);
                    receive.start()?;
                    expect("whether it can be started twice", receive.start().is_err(), true)?;
                    expect("whether its area can be read", receive.bytes().is_err(), true)?;
                    send.start()?;
                    let status = loop {
                        if let (true, status) = receive.test()? {
                            break status;
                        }
                    };
                    expect("the status of a send", send.wait()?, None)?;
                    let status = status.ok_or_else(|| Stop("no status".to_owned()))?;
                    let expected = [previous as u8 ^ round; 64];
                    check_received(status, receive.bytes()?, previous, tag, &expected)?;
                    // The next round has the same tags, and others may be faster.
                    world.barrier()?;
                }
            }
            receive.start()?;
            expect("what was called off", receive.cancel()?, None)?;
            expect("whether a send can be called off", send.cancel().is_err(), true)?;
            // One that is dropped while it waits.
            receive.start()?;
            Ok(())
        })
        .map_err(|Stop(failure)| failure)?;
    world.barrier().map_err(text)?;
    let world = Rc::new(world);
    owned(&world).map_err(|Stop(failure)| failure)?;
    in_place(mpi, &world).map_err(|Stop(failure)| failure)
}

/// Messages with areas of their own, of different lengths in the same area.
fn owned(world: &Rc<Comm>) -> Result<(), Stop> {
    let (next, previous) = neighbours(world);
    let mut send = world.sender(1000, next, 7)?;
    let mut receives = [
        world.receiver(1000, previous, 7)?,
        world.receiver(1000, previous, 7)?,
    ];
    expect("what was not started", receives[0].test()?, None)?;
    for receive in &mut receives {
        receive.start()?;
    }
    expect(
        "whether it can be started twice",
        receives[0].start().is_err(),
        true,
    )?;
    expect("whether its area can be read", receives[0].bytes().is_err(), true)?;
    for (round, length) in [1000, 0, 17, 1000, 999].into_iter().enumerate() {
        send.wait()?;
        expect("whether a send is free", send.test()?, true)?;
        send.bytes()?[..length].copy_from_slice(&message(world.rank(), length));
        send.start(length)?;
        let receive = &mut receives[round % 2];
        let found = if round % 2 == 0 {
            receive.wait()?
        } else {
            loop {
                if let Some(found) = receive.test()? {
                    break found;
                }
            }
        };
        expect("the length of a message", found, length)?;
        expect(
            "a message",
            &receive.bytes()?[..length],
            &message(previous, length)[..],
        )?;
        receive.start()?;
    }
    send.wait()?;
    expect("whether too much can be sent", send.start(1001).is_err(), true)?;
    // The receives are dropped while they wait.
    world.barrier()?;
    Ok(())
}

/// Columns of a field of bytes, straight out of it and into it: short ones, and some that have to be asked for.
fn in_place(mpi: &Mpi, world: &Rc<Comm>) -> Result<(), Stop> {
    const WIDTH: usize = 7;
    let (next, previous) = neighbours(world);
    let byte = mpi.named(Named::Byte)?;
    for rows in [5, 20_000] {
        let memory = Shared::zeros(rows * WIDTH, 3)?;
        expect("where a line begins", (memory.start().addr().get() + 3) % 64, 0)?;
        let column = || byte.hvector(rows as i64, 2, WIDTH as i64);
        let mut send = world.sender_of(&memory, 1, column()?, next, 8)?;
        let mut receive = world.receiver_of(&memory, 4, column()?, previous, 8)?;
        expect("what was not started", receive.test()?, None)?;
        for round in 0..3 {
            let (mine, theirs) = (
                message(world.rank(), 2 * rows + round),
                message(previous, 2 * rows + round),
            );
            for (place, byte) in (0..rows)
                .flat_map(|row| [row * WIDTH + 1, row * WIDTH + 2])
                .zip(mine)
            {
                // SAFETY: it is in the memory, and no message is under way.
                unsafe { memory.start().add(place).write(byte) };
            }
            receive.start()?;
            send.start()?;
            expect("whether it can be started twice", receive.start().is_err(), true)?;
            let mut found = None;
            while found.is_none() || send.is_active() {
                found = found.or(receive.test()?);
                send.test()?;
            }
            expect("the length of a message", found, Some(2 * rows))?;
            // SAFETY: all bytes have values, and no message is under way.
            let bytes = unsafe { std::slice::from_raw_parts(memory.start().as_ptr(), memory.bytes()) };
            let taken: Vec<u8> = bytes.chunks(WIDTH).flat_map(|row| [row[4], row[5]]).collect();
            expect("a column", &taken[..], &theirs[..2 * rows])?;
            let others = bytes.chunks(WIDTH).all(|row| [row[0], row[3], row[6]] == [0; 3]);
            expect("whether other columns are as they were", others, true)?;
            // The next round has the same tag, and others may be faster.
            world.barrier()?;
        }
        let outside = world.receiver_of(&memory, 6, column()?, previous, 8);
        expect(
            "whether a column can reach out of its memory",
            outside.is_err(),
            true,
        )?;
        // The memory is let go while a receive waits that has it as well, and then the receive.
        receive.start()?;
        drop(memory);
        drop(receive);
        // Others send with the same tag afterwards.
        world.barrier()?;
    }
    Ok(())
}

fn check_received(
    status: Status,
    bytes: &[u8],
    source: usize,
    tag: u32,
    expected: &[u8],
) -> Result<(), Failure> {
    let bytes_expected = expected.len() as u64;
    expect(
        "a status",
        status,
        Status {
            source,
            tag,
            bytes: bytes_expected,
        },
    )?;
    expect("a message", bytes, expected)
}

/// A failure of a check or of MPI, where both can happen.
struct Stop(Failure);

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self(error.to_string())
    }
}
