//! Tests of the simulated NIC and of the `spinneret` command, in one program that is linked once.

mod c_library;
mod fabric;
mod files;
mod gdb;
mod handler_errors;
mod handler_start;
mod host;
mod installed;
mod kit;
mod linux;
mod match_command;
mod matcher;
mod mpi;
mod net;
mod outputs;
mod packets;
mod page;
mod pci;
mod refusals;
mod report;
mod rtl;
mod run;
mod serve;
mod services;
mod tenants;
mod tutorial;
