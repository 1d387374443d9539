//! A program that starts and ends MPI by itself, as one in C does, and lets spinneret use it meanwhile.

use crate::{Failure, expect, text};
use libloading::os::unix;
use spinneret_mpi_sys::{Class, Error, Library, Mpi, Reduction};
use std::ffi::c_int;
use std::ptr;

/// Runs such a program.
pub(crate) fn run() -> Result<(), Failure> {
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
        let mut ranks = [1];
        world.allreduce(Reduction::Sum, &mut ranks).map_err(text)?;
        expect("ranks", ranks[0], world.size() as u64)?;
        let refused = world
            .send(b"x", world.size(), 1)
            .err()
            .and_then(|error| error.class());
        expect("a send to nobody", refused, Some(Class::Rank))?;
    }
    // SAFETY: MPI runs still, because its end is the program's.
    expect("the end", unsafe { finalize() }, 0)
}
