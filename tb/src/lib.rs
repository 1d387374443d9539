//! Testbenches of spinneret's hardware: what the tests, benches and soaks of a block share.

pub mod app;
pub mod bar;
pub mod bench;
pub mod cluster;
pub mod egress;
pub mod handlers;
pub mod her_gen;
pub mod host_tenants;
pub mod hostdma;
pub mod hpu;
pub mod hpu_memory;
pub mod ingress;
pub mod ingress_dma;
pub mod ip_frames;
pub mod pkt_alloc;
pub mod pkt_match;
pub mod proofs;
pub mod psdpram;
pub mod rate_limiter;
pub mod reference;
pub mod regs;
pub mod serial_hpu;
pub mod stub;
pub mod tenants;
pub mod tx_inject;
pub mod uart_match;
