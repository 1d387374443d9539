//! What is reported of a run: tables, JSON, traces, faults, profiles.

mod faults;
mod files;
mod nic;
mod page;
mod summary;
mod support;
