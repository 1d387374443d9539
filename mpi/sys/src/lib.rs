//! The only binding of spinneret to MPI, for everything that runs as several ranks or uses MPI's datatypes.
//!
//! A small layer in C (`shim/`) is compiled with the user's own `mpicc` when a program first starts MPI, kept in the user's
//! cache, and loaded. So building spinneret needs no MPI, and one binary works with Open MPI, MPICH and any other MPI that
//! brings an `mpicc` ([why](../../../docs/decisions/0016-mpi-by-a-shim.md)).
//!
//! ```no_run
//! # fn main() -> Result<(), spinneret_mpi_sys::Error> {
//! use spinneret_mpi_sys::Mpi;
//!
//! let mpi = Mpi::init()?;
//! let world = mpi.world();
//! let all = world.allgather(&[world.rank() as u8])?;
//! println!("the ranks are {all:?}");
//! # Ok(())
//! # }
//! ```
//!
//! Rules that apply everywhere:
//! - Only the thread that started MPI can use it: nothing here is [`Send`].
//! - A failure is an [`Error`] with MPI's own words; MPI's handlers, which end the program, are switched off.
//! - MPI ends when [`Mpi`] and all that came from it are dropped. A rank that panics or exits before that ends all ranks.
//! - Each function says what MPI demands of all ranks together, such as equal lengths in a broadcast. This cannot be
//!   checked here.

mod build;
mod comm;
mod error;
mod functions;
mod launcher;
mod mpi;
mod request;
mod session;
mod tree;
mod types;

pub use build::{Library, VARIABLE};
pub use comm::{Comm, Number, Reduction, Shared, Status};
pub use error::{Class, Error};
pub use functions::Combiner;
pub use launcher::{Family, Launcher, launched};
pub use mpi::{Mpi, Version, Wildcards};
pub use request::Request;
pub use tree::Tree;
pub use types::{Bounds, Datatype};
