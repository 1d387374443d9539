//! What goes wrong: errors that are returned, and ranks that misbehave.

use crate::{Failure, expect, text};
use spinneret_mpi_sys::{Class, Error, Mpi};
use std::process;
use std::rc::Rc;

/// Errors of arguments, and messages that do not fit.
pub(crate) fn errors(mpi: &Mpi) -> Result<(), Failure> {
    let world = mpi.world();
    let (rank, size) = (world.rank(), world.size());
    let class = |result: Result<(), Error>| result.err().and_then(|error| error.class());
    expect(
        "a send to nobody",
        class(world.send(b"x", size, 1)),
        Some(Class::Rank),
    )?;
    let mut area = [0xee; 40];
    let nobody = world.recv(&mut area[..16], Some(size), None).map(|_| ());
    expect("a receive from nobody", class(nobody), Some(Class::Rank))?;
    expect(
        "a tag that is too large",
        class(world.send(b"x", rank, i32::MAX as u32)).is_some(),
        large_tags(mpi),
    )?;
    let broadcast = class(world.bcast(size, &mut [0; 4]));
    expect("a broadcast of nobody", broadcast.is_some(), true)?;
    let lost = world
        .send(b"x", usize::MAX, 1)
        .err()
        .map(|error| error.to_string());
    let words = "a rank is 18446744073709551615, and MPI takes 2147483647 at most: use several smaller calls";
    expect("a rank that is no number of MPI", lost.as_deref(), Some(words))?;
    // Memory that is promised and never touched: what MPI cannot count is refused before it is looked at.
    let huge = vec![0; i32::MAX as usize + 1];
    let counted = world.send(&huge, rank, 1).err().map(|error| error.to_string());
    let words =
        "bytes of a message is 2147483648, and MPI takes 2147483647 at most: use several smaller calls";
    expect(
        "a message that is too long to count",
        counted.as_deref(),
        Some(words),
    )?;
    truncation(mpi)
}

/// MPICH takes tags up to 2^28, Open MPI all that an `int` can hold; both refuse what is not theirs.
fn large_tags(mpi: &Mpi) -> bool {
    mpi.version()
        .is_ok_and(|version| !version.library.contains("Open MPI"))
}

fn truncation(mpi: &Mpi) -> Result<(), Failure> {
    let world = Rc::new(mpi.world());
    let (rank, size) = (world.rank(), world.size());
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    if size == 1 {
        return Ok(());
    }
    for length in [64, 200_000] {
        let long = vec![7; length];
        for is_waiting in [true, false] {
            let mut area = [0xee; 40];
            let (short, behind) = area.split_at_mut(16);
            let mut sending = world.isend(&long, next, 1).map_err(text)?;
            let taken = match is_waiting {
                true => world.recv(short, Some(previous), Some(1)).map(Some),
                false => world
                    .irecv(16, Some(previous), Some(1))
                    .and_then(|mut receive| receive.wait()),
            };
            sending.wait().map_err(text)?;
            match taken {
                Err(Error::Truncated { fits: 16, bytes }) => expect(
                    "the length, if it is told",
                    bytes.unwrap_or(length as u64),
                    length as u64,
                )?,
                other => return Err(format!("a message that does not fit: {other:?}")),
            }
            expect("bytes behind a short area", &*behind, &[0xee; 24])?;
            world.barrier().map_err(text)?;
        }
    }
    // All goes on after an error.
    let mut receive = world.irecv(4, Some(previous), Some(2)).map_err(text)?;
    world
        .isend(b"good", next, 2)
        .and_then(|mut send| send.wait())
        .map_err(text)?;
    let status = receive.wait().map_err(text)?.unwrap_or_default();
    expect("a message after one that did not fit", status.bytes, 4)
}

/// Something that a program should not do, by its name.
type Misbehaviour = (&'static str, fn(&Mpi));

/// What a program should not do; the other ranks wait for it in vain.
pub(crate) const MISBEHAVIOUR: &[Misbehaviour] = &[
    ("panic", |mpi| last(mpi, || panic!("out of luck"))),
    ("panic-in-flight", |mpi| {
        let _receive = Rc::new(mpi.world()).irecv(8, None, Some(3));
        last(mpi, || panic!("out of luck"));
    }),
    ("exit", |mpi| last(mpi, || process::exit(0))),
    ("abort", |mpi| last(mpi, || mpi.abort(42))),
    ("error", |mpi| {
        last(mpi, || mpi.or_abort(Err::<(), _>("it is out of luck")));
    }),
    ("leak", |mpi| last(mpi, || std::mem::forget(mpi.clone()))),
];

/// Lets the last rank do something while all others wait for it.
fn last(mpi: &Mpi, act: impl FnOnce()) {
    let world = mpi.world();
    if world.rank() + 1 == world.size() {
        act();
    } else {
        let _ = world.recv_any(Some(world.size() - 1), None);
    }
}
