//! spinneret with the public PsPIN cluster from the user's own checkout, and the model held to what was recorded of it.

mod bench;
pub mod contexts;
pub mod costs;
pub mod example;
pub mod judge;
pub mod loads;
pub mod locks;
mod model;
pub mod observe;
mod page;
mod public;
pub mod recorded;
pub mod run;
mod top;
pub mod touches;
pub mod traces;
mod watch;
