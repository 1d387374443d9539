//! Real handlers, compiled by the runtime's Makefiles, on the model of the cluster.

mod bench;
mod examples;
mod faults;
mod mpi_types;
mod slmp;
