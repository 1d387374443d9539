//! spinneret against the public PsPIN cluster and Corundum, from the user's own checkouts.

pub mod bench;
pub mod contexts;
pub mod costs;
pub mod elaborate;
pub mod example;
pub mod figures;
pub mod judge;
pub mod loads;
pub mod locks;
pub mod model;
pub mod nic;
pub mod observe;
pub mod page;
pub mod public;
pub mod recorded;
pub mod request;
pub mod run;
mod steps;
pub mod top;
pub mod touches;
pub mod traces;
pub mod trees;
pub mod watch;
