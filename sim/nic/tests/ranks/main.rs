//! Programs of MPI in C, each rank with its own NIC in one fabric.

mod build;
mod programs;
