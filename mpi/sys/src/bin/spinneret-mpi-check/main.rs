//! `spinneret-mpi-check`: checks that the MPI of this machine does what spinneret expects of it.
//!
//! `mpirun -n 4 spinneret-mpi-check` runs all checks and prints a line for each; arguments select some of them. It can also
//! misbehave, by name, for the tests of how a program of MPI ends then.

mod messages;

use libloading::os::unix;
use spinneret_mpi_sys::{Class, Comm, Error, Library, Mpi};
use std::ffi::c_int;
use std::fmt::Display;
use std::process::{self, ExitCode};
use std::rc::Rc;
use std::{env, ptr};

/// The error message of a check.
type Failure = String;

/// A check, by its name.
type Check = (&'static str, fn(&Mpi) -> Result<(), Failure>);

const CHECKS: &[Check] = &[
    ("start", start),
    ("collective", collective),
    ("messages", messages::check),
    ("requests", messages::requests),
    ("persistent", messages::persistent),
    ("errors", errors),
];

/// Says what failed, in one piece: launchers put pieces of several ranks into one line.
fn failed(what: &dyn Display) -> ExitCode {
    let line = format!("spinneret-mpi-check: {what}\n");
    eprint!("{line}");
    ExitCode::FAILURE
}

fn main() -> ExitCode {
    let names: Vec<String> = env::args().skip(1).collect();
    if names == ["attach"] {
        return match attach() {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failed(&failure),
        };
    }
    let mpi = match Mpi::init() {
        Ok(mpi) => mpi,
        Err(error) => return failed(&error),
    };
    if let [name] = &names[..]
        && let Some((_, misbehave)) = MISBEHAVIOUR.iter().find(|(known, _)| known == name)
    {
        misbehave(&mpi);
        return ExitCode::SUCCESS;
    }
    if let Some(name) = names
        .iter()
        .find(|name| !CHECKS.iter().any(|(known, _)| known == name))
    {
        let known: Vec<&str> = CHECKS.iter().map(|(known, _)| *known).collect();
        mpi.or_abort(Err::<(), _>(format!(
            "there is no check {name}; there are {}",
            known.join(", ")
        )));
    }
    for (name, check) in CHECKS {
        if names.is_empty() || names.iter().any(|asked| asked == name) {
            let checked = check(&mpi).map_err(|failure| format!("the check {name} failed: {failure}"));
            mpi.or_abort(checked);
            if mpi.world().rank() == 0 {
                println!("{name}: ok");
            }
        }
    }
    ExitCode::SUCCESS
}

/// Checks of the start, before anything is sent.
fn start(mpi: &Mpi) -> Result<(), Failure> {
    let version = mpi.version().map_err(text)?;
    if mpi.world().rank() == 0 {
        println!(
            "{} ranks, MPI {}.{}: {}",
            mpi.world().size(),
            version.standard.0,
            version.standard.1,
            version.library
        );
    }
    expect("the size of a rank alone", mpi.alone().size(), 1)?;
    let again = Mpi::init().err().map(|error| error.to_string());
    expect("a second start", again, Some(Error::Again.to_string()))
}

fn text(error: Error) -> Failure {
    error.to_string()
}

/// Fails if what was found is not what was expected.
fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), Failure> {
    if found == expected {
        return Ok(());
    }
    let mut words = format!("{what}: found {found:?}, expected {expected:?}");
    // Long areas are not worth printing whole.
    if let Some((cut, _)) = words.char_indices().nth(400) {
        words.replace_range(cut.., " ...");
    }
    Err(words)
}

/// The collective functions, in the world, in a copy of it, and alone.
fn collective(mpi: &Mpi) -> Result<(), Failure> {
    let in_comm = |comm: &Comm| {
        let (rank, size) = (comm.rank() as u8, comm.size() as u8);
        comm.barrier().map_err(text)?;
        let all: Vec<u8> = (0..size).flat_map(|other| [other, 9]).collect();
        expect("bytes of all", comm.allgather(&[rank, 9]).map_err(text)?, all)?;
        expect("nothing of all", comm.allgather(&[]).map_err(text)?, vec![])
    };
    in_comm(&mpi.world())?;
    in_comm(&mpi.world().dup().map_err(text)?)?;
    in_comm(&mpi.alone())
}

/// Starts and ends MPI as a program in C does, and lets spinneret use it meanwhile.
fn attach() -> Result<(), Failure> {
    let library = Library::find().map_err(text)?;
    // SAFETY: MPI is not used by another thread.
    let early = unsafe { Mpi::attach(&library) }.err().map(text);
    expect("use before the start", early, Some(Error::NotRunning.to_string()))?;
    // The functions of MPI itself, which the layer has brought with it for all to see.
    let program = unix::Library::this();
    let missing = |error: libloading::Error| error.to_string();
    // SAFETY: these are MPI's signatures.
    let (init, finalize) = unsafe {
        let init: unix::Symbol<unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int> =
            program.get(b"MPI_Init").map_err(missing)?;
        let finalize: unix::Symbol<unsafe extern "C" fn() -> c_int> =
            program.get(b"MPI_Finalize").map_err(missing)?;
        (init, finalize)
    };
    // SAFETY: MPI takes null for the arguments of the program.
    expect("the start", unsafe { init(ptr::null_mut(), ptr::null_mut()) }, 0)?;
    {
        // SAFETY: this thread has started MPI, and all is dropped at the end of this block.
        let mpi = unsafe { Mpi::attach(&library) }.map_err(text)?;
        let again = Mpi::init().err().map(text);
        expect("a second start", again, Some(Error::Again.to_string()))?;
        let world = mpi.world().dup().map_err(text)?;
        let ranks = world.allgather(&[1]).map_err(text)?.len();
        expect("ranks", ranks, world.size())?;
        let refused = world
            .send(b"x", world.size(), 1)
            .err()
            .and_then(|error| error.class());
        expect("a send to nobody", refused, Some(Class::Rank))?;
    }
    // SAFETY: MPI runs still, because its end is the program's.
    expect("the end", unsafe { finalize() }, 0)
}

/// Errors of arguments, and messages that do not fit.
fn errors(mpi: &Mpi) -> Result<(), Failure> {
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
    let broadcast = Rc::new(mpi.world()).ibcast(size, &[0; 4]).map(drop);
    expect("a broadcast of nobody", class(broadcast).is_some(), true)?;
    let lost = world
        .send(b"x", usize::MAX, 1)
        .err()
        .map(|error| error.to_string());
    let words = "a rank is 18446744073709551615, and MPI takes 2147483647 at most: use several smaller calls";
    expect("a rank that is no number of MPI", lost.as_deref(), Some(words))?;
    // Memory that is reserved and never touched: a message that MPI cannot count is refused before its bytes are read.
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

/// Actions that a program should not take while the other ranks wait for it.
const MISBEHAVIOUR: &[Misbehaviour] = &[
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
