//! Programs of MPI in C, each rank with its own NIC in one fabric.

mod allowed;
mod build;
mod columns;
mod refusals;
