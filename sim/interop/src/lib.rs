//! spinneret with FPsPIN's PULP cluster from the user's checkout, and checks of the model against recordings of it.

mod bench;
pub mod compare;
pub mod contexts;
pub mod datatypes;
pub mod examples;
mod model;
mod ping_pong;
pub mod probes;
mod pulp_backend;
pub mod recorded;
pub mod run;
mod top;
pub mod traces;
pub mod workloads;
