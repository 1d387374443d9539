//! The catalog: its parameters, ports, files and constraints.

mod app_block;
mod app_block_elaboration;
mod catalog;
mod cdc_constraints;
mod datapath_parameters;
mod egress_parameters;
mod pkt_match_ip;
mod refusals;
