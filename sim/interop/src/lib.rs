//! spinneret with FPsPIN's PULP cluster from the user's checkout, and checks of the model against recordings of it.

mod bench;
pub mod compare;
pub mod contexts;
pub mod examples;
mod model;
pub mod probes;
pub mod recorded;
mod rtl_backend;
pub mod run;
mod top;
pub mod traces;
pub mod workloads;
