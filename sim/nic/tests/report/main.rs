//! What is reported of a run: tables, JSON, traces, faults, profiles.

mod faults;
mod files;
mod nic;
mod summary;
mod support;
