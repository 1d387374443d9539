//! The receiver of messages of MPI's datatypes.
//!
//! The writes of handlers are compared with the interpreter of layouts, which the tests of `spinneret-mpi` hold to
//! `MPI_Unpack`, and with `MPI_Unpack` itself. The host memory of [`Bench`](crate::bench::Bench) holds the bytes that
//! were written, and no others.

mod oracle;
mod order;
mod receiver;
mod speed;
