//! Single blocks, each against its reference model and each line of its contract, in one program: each links all
//! models.

mod admission_gate;
mod axi_master;
mod cluster_driver;
mod cluster_l1;
mod her_gen;
mod host_copier;
mod hpu;
mod hpu_handlers;
mod hpu_memory;
mod hpu_pipeline;
mod hpu_port;
mod hpu_suites;
mod ingress_dma;
mod line_copier;
mod line_crossbar;
mod line_slaves;
mod message_scheduler;
mod pkt_alloc;
mod pkt_match;
mod pkt_match_ip;
mod psdpram;
mod reports;
mod rx_inject;
mod tx_inject;
mod word_server;
