//! Bytes from one rank to another: every rank sends to the next one, around a ring, which may be itself.

use crate::{Failure, expect, text};
use spinneret_mpi_sys::{Comm, Error, Mpi, Number, Reduction, Request, Shared, Status};
use std::rc::Rc;

/// Lengths of messages: nothing, some that go at once, one that has to be asked for.
const LENGTHS: [usize; 4] = [0, 1, 5000, 300_000];

fn neighbours(comm: &Comm) -> (usize, usize) {
    let (rank, size) = (comm.rank(), comm.size());
    ((rank + 1) % size, (rank + size - 1) % size)
}

/// Bytes that every rank can compute.
fn message(from: usize, length: usize) -> Vec<u8> {
    let seed = (from * 1_000_003 + length) as u64;
    let byte = |index: u64| {
        (seed << 32 ^ index)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .to_be_bytes()[0]
    };
    (0..length as u64).map(byte).collect()
}

/// Messages that are waited for, and looked for before they are taken.
pub(crate) fn check(mpi: &Mpi) -> Result<(), Failure> {
    let world = mpi.world();
    let (next, previous) = neighbours(&world);
    let rank = world.rank();
    // Nothing that waits can be sent to oneself.
    if world.size() > 1 {
        for (tag, length) in LENGTHS.into_iter().enumerate() {
            for is_any in [false, true] {
                let (mine, theirs) = (message(rank, length), message(previous, length));
                let send = || world.send(&mine, next, tag as u32).map_err(text);
                let take = || take(&world, &theirs, previous, tag as u32, is_any);
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
    // It may come while this looks.
    let found = loop {
        if let Some(found) = comm.iprobe(Some(source), Some(tag)).map_err(text)? {
            break found;
        }
    };
    expect("a message that has come", found, status)?;
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

/// Requests that run once: messages in flight together, and collective operations.
pub(crate) fn requests(mpi: &Mpi) -> Result<(), Failure> {
    let world = Rc::new(mpi.world());
    let all = || -> Result<(), Stop> {
        for length in LENGTHS {
            together(&world, length)?;
        }
        collectives(&world)?;
        left_alone(&world)
    };
    all().map_err(|Stop(failure)| failure)
}

/// Three messages, waited for in another order than they are sent in.
fn together(world: &Rc<Comm>, length: usize) -> Result<(), Stop> {
    let (next, previous) = neighbours(world);
    let (mine, theirs) = (message(world.rank(), length), message(previous, length));
    let mut first = world.irecv(length + 1, Some(previous), Some(1))?;
    let mut second = world.irecv(length, None, Some(2))?;
    let mut third = world.irecv(length, Some(previous), Some(3))?;
    let mut sends = [
        world.isend(&mine, next, 3)?,
        world.issend(&mine, next, 2)?,
        world.isend(&mine, next, 1)?,
    ];
    let status = until_done(&mut third)?;
    check_received(status, third.bytes()?, previous, 3, &theirs)?;
    for (request, tag) in [(&mut first, 1), (&mut second, 2)] {
        let status = request.wait()?.unwrap_or_default();
        let bytes = request.bytes()?.get(..length).unwrap_or_default();
        check_received(status, bytes, previous, tag, &theirs)?;
        expect("whether it is in flight", request.is_active(), false)?;
        expect("a second end", request.test()?, None)?;
        expect("whether it can run twice", request.start().is_err(), true)?;
    }
    for send in &mut sends {
        send.wait()?;
        expect("whether a send can be cancelled", send.cancel().is_err(), true)?;
    }
    Ok(())
}

/// Collective operations against what each rank can compute.
fn collectives(world: &Rc<Comm>) -> Result<(), Stop> {
    let (rank, size) = (world.rank(), world.size());
    until_done(&mut world.ibarrier()?)?;
    for root in 0..size {
        let expected = message(root, 5000);
        let own = if rank == root {
            expected.clone()
        } else {
            vec![0; 5000]
        };
        let mut broadcast = world.ibcast(root, &own)?;
        until_done(&mut broadcast)?;
        expect("bytes of a broadcast", broadcast.bytes()?, &expected[..])?;
    }
    let numbers: Vec<u8> = (0..3).flat_map(|at| (rank as i32 - at).to_le_bytes()).collect();
    let mut sum = world.ireduce(None, Reduction::Sum, Number::Int32, &numbers)?;
    sum.wait()?;
    let all = (size * (size - 1) / 2) as i32;
    let expected: Vec<u8> = (0..3)
        .flat_map(|at| (all - at * size as i32).to_le_bytes())
        .collect();
    expect("sums", sum.bytes()?, &expected[..])?;
    let odd = world.ireduce(None, Reduction::Min, Number::Int64, &[0; 9]);
    expect("whether a part of a number is refused", odd.is_err(), true)?;
    (0..size).try_for_each(|root| with_root(world, root))
}

/// Collective operations whose result one rank has, or whose parts come from one.
fn with_root(world: &Rc<Comm>, root: usize) -> Result<(), Stop> {
    let (rank, size) = (world.rank(), world.size());
    let part = |rank: usize| message(rank, 7);
    let all: Vec<u8> = (0..size).flat_map(part).collect();
    // As a signed number it would be the smallest.
    let given = if rank == size - 1 { 0x80 } else { 0x7f };
    let mut largest = world.ireduce(Some(root), Reduction::Max, Number::Uint8, &[given])?;
    largest.wait()?;
    if rank == root {
        expect("the largest", largest.bytes()?, &[0x80][..])?;
    }
    let factor = 2.0_f64.to_le_bytes();
    let mut product = world.ireduce(Some(root), Reduction::Product, Number::Double, &factor)?;
    product.wait()?;
    if rank == root {
        let expected = 2.0_f64.powi(size as i32).to_le_bytes();
        expect("the product", product.bytes()?, &expected[..])?;
    }
    let mut gathered = world.igather(root, &part(rank))?;
    gathered.wait()?;
    let expected = if rank == root { all.clone() } else { part(rank) };
    expect("gathered parts", gathered.bytes()?, &expected[..])?;
    let given = if rank == root { all.clone() } else { vec![0; 7] };
    let mut scattered = world.iscatter(root, &given)?;
    scattered.wait()?;
    let expected = if rank == root { all } else { part(rank) };
    expect("scattered parts", scattered.bytes()?, &expected[..])?;
    let odd = world.iscatter(rank, &vec![0; size + 1]);
    expect("whether unequal parts are refused", odd.is_err(), size > 1)?;
    Ok(())
}

/// Requests that are dropped, or whose message never comes.
fn left_alone(world: &Rc<Comm>) -> Result<(), Stop> {
    let (next, previous) = neighbours(world);
    let mut receive = world.irecv(8, Some(previous), Some(99))?;
    expect("whether its memory can be read", receive.bytes().is_err(), true)?;
    expect("what was cancelled", receive.cancel()?, None)?;
    expect("whether it is in flight", receive.is_active(), false)?;
    drop(world.irecv(8, Some(previous), Some(99))?);
    let mut receive = world.irecv(8, Some(previous), Some(97))?;
    drop(world.isend(&[1, 2, 3], next, 97)?);
    let status = receive.wait()?.unwrap_or_default();
    check_received(status, &receive.bytes()?[..3], previous, 97, &[1, 2, 3])?;
    world.barrier()?;
    Ok(())
}

/// Requests that are started again and again.
pub(crate) fn persistent(mpi: &Mpi) -> Result<(), Failure> {
    let world = Rc::new(mpi.world());
    let all = || in_bytes(&world).and_then(|()| in_place(mpi, &world));
    all().map_err(|Stop(failure)| failure)
}

/// Messages of different lengths out of the same memory and into it.
fn in_bytes(world: &Rc<Comm>) -> Result<(), Stop> {
    let (next, previous) = neighbours(world);
    let mut send = world.send_init(1000, next, 7)?;
    let mut receives = [
        world.recv_init(1000, previous, 7)?,
        world.recv_init(1000, previous, 7)?,
    ];
    for receive in &mut receives {
        expect("what was not started", receive.test()?, None)?;
        expect("what was not started", receive.wait()?, None)?;
        receive.start()?;
        expect("whether it can be started twice", receive.start().is_err(), true)?;
        expect("whether its memory can be read", receive.bytes().is_err(), true)?;
    }
    for (round, length) in [1000, 0, 17, 1000, 999].into_iter().enumerate() {
        send.wait()?;
        expect("whether a send is in flight", send.is_active(), false)?;
        send.bytes_mut()?[..length].copy_from_slice(&message(world.rank(), length));
        send.start_part(length)?;
        expect(
            "whether it can be started twice",
            send.start_part(1).is_err(),
            true,
        )?;
        let receive = &mut receives[round % 2];
        let status = match round % 2 {
            0 => receive.wait()?.unwrap_or_default(),
            _ => until_done(receive)?,
        };
        let bytes = &receive.bytes()?[..length];
        check_received(status, bytes, previous, 7, &message(previous, length))?;
        receive.start()?;
    }
    send.wait()?;
    expect(
        "whether too much can be sent",
        send.start_part(1001).is_err(),
        true,
    )?;
    expect(
        "whether a part can be received",
        receives[0].start_part(1).is_err(),
        true,
    )?;
    expect("what was cancelled", receives[0].cancel()?, None)?;
    expect(
        "whether a part can be received",
        receives[0].start_part(1).is_err(),
        true,
    )?;
    // The other one is dropped while it waits.
    world.barrier()?;
    Ok(())
}

/// Columns of a field of bytes, straight out of it and into it: short ones, and some that have to be asked for.
fn in_place(mpi: &Mpi, world: &Rc<Comm>) -> Result<(), Stop> {
    const WIDTH: usize = 7;
    let (next, previous) = neighbours(world);
    let byte = mpi.named("MPI_BYTE")?;
    for rows in [5, 20_000] {
        let memory = Shared::zeros(rows * WIDTH, 3)?;
        expect("where a line begins", (memory.start().addr().get() + 3) % 64, 0)?;
        let column = || byte.hvector(rows as i64, 2, WIDTH as i64);
        let mut send = world.send_init_at((&memory, 1), column()?, next, 8)?;
        let mut receive = world.recv_init_at((&memory, 4), column()?, previous, 8)?;
        expect("what was not started", receive.test()?, None)?;
        expect("whether its memory is its own", send.bytes_mut().is_err(), true)?;
        expect("whether a part can be sent", send.start_part(1).is_err(), true)?;
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
            let status = until_done(&mut receive)?;
            send.wait()?;
            expect("the length of a message", status.bytes, 2 * rows as u64)?;
            // SAFETY: all bytes have values, and no message is under way.
            let bytes = unsafe { std::slice::from_raw_parts(memory.start().as_ptr(), memory.bytes()) };
            let taken: Vec<u8> = bytes.chunks(WIDTH).flat_map(|row| [row[4], row[5]]).collect();
            expect("a column", &taken[..], &theirs[..2 * rows])?;
            let others = bytes.chunks(WIDTH).all(|row| [row[0], row[3], row[6]] == [0; 3]);
            expect("whether other columns are as they were", others, true)?;
            // The next round has the same tag, and others may be faster.
            world.barrier()?;
        }
        let outside = world.recv_init_at((&memory, 6), column()?, previous, 8);
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

/// Tests a request in flight until it is done.
fn until_done(request: &mut Request) -> Result<Status, Error> {
    loop {
        if let Some(status) = request.test()? {
            return Ok(status);
        }
    }
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
