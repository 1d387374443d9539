//! Receives of MPI's datatypes that land in place: two ranks, each with its NIC, in one fabric.

mod barrier;
mod hostile;
mod overlap;
mod own;
mod rates;
mod refusals;
mod support;
mod types;
