//! The bus models and the simulation loop. One program, because each links all fixtures.

mod axi_master;
mod axi_reads;
mod axi_writes;
mod axil;
mod cocotb;
mod dma;
mod models;
mod streams;
mod support;
mod test_run;
