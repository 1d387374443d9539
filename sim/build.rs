//! Builds the Verilator models of the crate.

use spinneret_hdl::app::corundum::{ClusterClock, Generation, SPLIT_TOP, Split};
use spinneret_hdl::app::{self, AppOptions, Cluster};
use spinneret_hdl::catalog::{self, Entry, Values};
use spinneret_verilate::{Model, Port};
use spinneret_verilog::{PortDirection, generate};
use std::path::Path;
use std::{env, fs, io};

fn main() {
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    println!("cargo::rerun-if-changed=build.rs");
    match models() {
        Ok(models) => spinneret_verilate::finish(spinneret_verilate::build(&models, Path::new(&out))),
        Err(error) => println!("cargo::error={error}"),
    }
}

/// Warnings that are waived, with their reasons: the same as for the lint of what is shipped.
const WAIVERS: &str = include_str!("../tools/verilator.vlt");

/// All designs that the crate simulates.
fn models() -> Result<Vec<Model>, String> {
    let unreadable = |error: io::Error| format!("cannot read the fixtures: {error}");
    let mut models = FIXTURES
        .iter()
        .map(fixture)
        .collect::<io::Result<Vec<_>>>()
        .map_err(unreadable)?;
    for (name, entry, values) in catalog::simulated() {
        models.push(design(&name, entry, &values)?);
    }
    models.push(application()?);
    Ok(models)
}

/// Interfaces of the simulated application block: one that it taps, and one that passes through.
const INTERFACES: u64 = 2;

/// Corundum's application block with the stand-in for the cluster: the text that is shipped, and a module around it that
/// gives each stream ports of its own.
fn application() -> Result<Model, String> {
    let sources = app::sources(AppOptions {
        generation: Generation::Corundum202312,
        cluster: Cluster::Stub,
        clock: ClusterClock::External,
        interfaces: INTERFACES,
        ..AppOptions::default()
    });
    let sources = sources.map_err(|error| error.to_string())?;
    let split = Split::new(Generation::Corundum202312, INTERFACES).map_err(|error| error.to_string())?;
    let waivers = ("verilator.vlt".to_owned(), WAIVERS.to_owned());
    let modules = sources
        .files
        .into_iter()
        .map(|file| (format!("{}.sv", file.module), file.text));
    let port = |port: app::corundum::SplitPort| Port {
        input: port.direction == PortDirection::Input,
        name: port.name,
        width: port.width,
    };
    Ok(Model {
        name: app::TOP.to_owned(),
        top: SPLIT_TOP.to_owned(),
        sources: [waivers]
            .into_iter()
            .chain(modules)
            .chain([(format!("{SPLIT_TOP}.sv"), split.text)])
            .collect(),
        ports: split.ports.into_iter().map(port).collect(),
    })
}

/// A block of the catalog, with the text that is shipped.
fn design(name: &str, entry: &Entry, values: &Values) -> Result<Model, String> {
    let block = (entry.build)(values).map_err(|error| error.to_string())?;
    let design = generate(&*block, entry.name).map_err(|error| format!("{name}: {error}"))?;
    let port = |port: &spinneret_verilog::Port| Port {
        name: port.name.clone(),
        input: port.direction == PortDirection::Input,
        width: port.width,
    };
    let waivers = ("verilator.vlt".to_owned(), WAIVERS.to_owned());
    let modules = design
        .modules
        .into_iter()
        .map(|module| (format!("{}.sv", module.name), module.text));
    Ok(Model {
        name: name.to_owned(),
        top: design.name.clone(),
        ports: design.ports.iter().map(port).collect(),
        sources: [waivers].into_iter().chain(modules).collect(),
    })
}

/// A hand-written design that the bus models are tested with: file, ports.
type Fixture = (&'static str, &'static [(&'static str, bool, usize)]);

const INPUT: bool = true;
const OUTPUT: bool = false;

/// The ports of a design that passes a stream on.
const STREAM: &[(&str, bool, usize)] = &[
    ("clk", INPUT, 1),
    ("rstn", INPUT, 1),
    ("s_axis_tdata", INPUT, 32),
    ("s_axis_tkeep", INPUT, 4),
    ("s_axis_tvalid", INPUT, 1),
    ("s_axis_tready", OUTPUT, 1),
    ("s_axis_tlast", INPUT, 1),
    ("s_axis_tid", INPUT, 2),
    ("s_axis_tuser", INPUT, 97),
    ("m_axis_tdata", OUTPUT, 32),
    ("m_axis_tkeep", OUTPUT, 4),
    ("m_axis_tvalid", OUTPUT, 1),
    ("m_axis_tready", INPUT, 1),
    ("m_axis_tlast", OUTPUT, 1),
    ("m_axis_tid", OUTPUT, 2),
    ("m_axis_tuser", OUTPUT, 97),
];

const WIDE: &[(&str, bool, usize)] = &[
    ("clk", INPUT, 1),
    ("rst", INPUT, 1),
    ("a1", INPUT, 1),
    ("a8", INPUT, 8),
    ("a13", INPUT, 13),
    ("a32", INPUT, 32),
    ("a33", INPUT, 33),
    ("a64", INPUT, 64),
    ("a65", INPUT, 65),
    ("a1024", INPUT, 1024),
    ("q1", OUTPUT, 1),
    ("q8", OUTPUT, 8),
    ("q13", OUTPUT, 13),
    ("q32", OUTPUT, 32),
    ("q33", OUTPUT, 33),
    ("q64", OUTPUT, 64),
    ("q65", OUTPUT, 65),
    ("q1024", OUTPUT, 1024),
    ("r64", OUTPUT, 64),
    ("type", OUTPUT, 2),
];

const FORK: &[(&str, bool, usize)] = &[
    ("clk", INPUT, 1),
    ("rstn", INPUT, 1),
    ("s_axis_tdata", INPUT, 512),
    ("s_axis_tkeep", INPUT, 64),
    ("s_axis_tvalid", INPUT, 1),
    ("s_axis_tready", OUTPUT, 1),
    ("s_axis_tlast", INPUT, 1),
    ("a_axis_tdata", OUTPUT, 512),
    ("a_axis_tkeep", OUTPUT, 64),
    ("a_axis_tvalid", OUTPUT, 1),
    ("a_axis_tready", INPUT, 1),
    ("a_axis_tlast", OUTPUT, 1),
    ("b_axis_tdata", OUTPUT, 512),
    ("b_axis_tkeep", OUTPUT, 64),
    ("b_axis_tvalid", OUTPUT, 1),
    ("b_axis_tready", INPUT, 1),
    ("b_axis_tlast", OUTPUT, 1),
];

const LOOP: &[(&str, bool, usize)] = &[("clk", INPUT, 1), ("a", INPUT, 1), ("q", OUTPUT, 1)];

const AXI_MASTER: &[(&str, bool, usize)] = &[
    ("clk", INPUT, 1),
    ("rstn", INPUT, 1),
    ("fault", INPUT, 3),
    ("cmd_id", INPUT, 4),
    ("cmd_addr", INPUT, 32),
    ("cmd_len", INPUT, 8),
    ("cmd_size", INPUT, 3),
    ("cmd_burst", INPUT, 2),
    ("cmd_strobe", INPUT, 8),
    ("cmd_value", INPUT, 64),
    ("cmd_valid", INPUT, 1),
    ("cmd_ready", OUTPUT, 1),
    ("m_axi_awid", OUTPUT, 4),
    ("m_axi_awaddr", OUTPUT, 32),
    ("m_axi_awlen", OUTPUT, 8),
    ("m_axi_awsize", OUTPUT, 3),
    ("m_axi_awburst", OUTPUT, 2),
    ("m_axi_awvalid", OUTPUT, 1),
    ("m_axi_awready", INPUT, 1),
    ("m_axi_wdata", OUTPUT, 64),
    ("m_axi_wstrb", OUTPUT, 8),
    ("m_axi_wlast", OUTPUT, 1),
    ("m_axi_wvalid", OUTPUT, 1),
    ("m_axi_wready", INPUT, 1),
    ("m_axi_bid", INPUT, 4),
    ("m_axi_bresp", INPUT, 2),
    ("m_axi_bvalid", INPUT, 1),
    ("m_axi_bready", OUTPUT, 1),
    ("resp_id", OUTPUT, 4),
    ("resp_code", OUTPUT, 2),
    ("resp_valid", OUTPUT, 1),
    ("resp_ready", INPUT, 1),
];

const AXI_SLAVE: &[(&str, bool, usize)] = &[
    ("clk", INPUT, 1),
    ("rstn", INPUT, 1),
    ("fault", INPUT, 3),
    ("s_axi_awid", INPUT, 4),
    ("s_axi_awaddr", INPUT, 32),
    ("s_axi_awlen", INPUT, 8),
    ("s_axi_awsize", INPUT, 3),
    ("s_axi_awburst", INPUT, 2),
    ("s_axi_awvalid", INPUT, 1),
    ("s_axi_awready", OUTPUT, 1),
    ("s_axi_wdata", INPUT, 32),
    ("s_axi_wstrb", INPUT, 4),
    ("s_axi_wlast", INPUT, 1),
    ("s_axi_wvalid", INPUT, 1),
    ("s_axi_wready", OUTPUT, 1),
    ("s_axi_bid", OUTPUT, 4),
    ("s_axi_bresp", OUTPUT, 2),
    ("s_axi_bvalid", OUTPUT, 1),
    ("s_axi_bready", INPUT, 1),
];

const DMA: &[(&str, bool, usize)] = &[
    ("clk", INPUT, 1),
    ("rstn", INPUT, 1),
    ("t_write_dma_addr", INPUT, 64),
    ("t_write_ram_sel", INPUT, 4),
    ("t_write_ram_addr", INPUT, 10),
    ("t_write_imm_en", INPUT, 1),
    ("t_write_len", INPUT, 16),
    ("t_write_tag", INPUT, 8),
    ("t_write_valid", INPUT, 1),
    ("t_read_dma_addr", INPUT, 64),
    ("t_read_ram_sel", INPUT, 4),
    ("t_read_ram_addr", INPUT, 10),
    ("t_read_len", INPUT, 16),
    ("t_read_tag", INPUT, 8),
    ("t_read_valid", INPUT, 1),
    ("t_wr_be", INPUT, 16),
    ("t_wr_addr", INPUT, 12),
    ("t_wr_data", INPUT, 128),
    ("t_wr_valid", INPUT, 2),
    ("t_rd_addr", INPUT, 12),
    ("t_rd_valid", INPUT, 2),
    ("t_rd_resp_ready", INPUT, 2),
    ("m_axis_write_desc_dma_addr", OUTPUT, 64),
    ("m_axis_write_desc_ram_sel", OUTPUT, 4),
    ("m_axis_write_desc_ram_addr", OUTPUT, 10),
    ("m_axis_write_desc_imm", OUTPUT, 32),
    ("m_axis_write_desc_imm_en", OUTPUT, 1),
    ("m_axis_write_desc_len", OUTPUT, 16),
    ("m_axis_write_desc_tag", OUTPUT, 8),
    ("m_axis_write_desc_valid", OUTPUT, 1),
    ("m_axis_write_desc_ready", INPUT, 1),
    ("s_axis_write_desc_status_tag", INPUT, 8),
    ("s_axis_write_desc_status_error", INPUT, 4),
    ("s_axis_write_desc_status_valid", INPUT, 1),
    ("m_axis_read_desc_dma_addr", OUTPUT, 64),
    ("m_axis_read_desc_ram_sel", OUTPUT, 4),
    ("m_axis_read_desc_ram_addr", OUTPUT, 10),
    ("m_axis_read_desc_len", OUTPUT, 16),
    ("m_axis_read_desc_tag", OUTPUT, 8),
    ("m_axis_read_desc_valid", OUTPUT, 1),
    ("m_axis_read_desc_ready", INPUT, 1),
    ("s_axis_read_desc_status_tag", INPUT, 8),
    ("s_axis_read_desc_status_error", INPUT, 4),
    ("s_axis_read_desc_status_valid", INPUT, 1),
    ("ram_wr_cmd_be", OUTPUT, 16),
    ("ram_wr_cmd_addr", OUTPUT, 12),
    ("ram_wr_cmd_data", OUTPUT, 128),
    ("ram_wr_cmd_valid", OUTPUT, 2),
    ("ram_wr_cmd_ready", INPUT, 2),
    ("ram_wr_done", INPUT, 2),
    ("ram_rd_cmd_addr", OUTPUT, 12),
    ("ram_rd_cmd_valid", OUTPUT, 2),
    ("ram_rd_cmd_ready", INPUT, 2),
    ("ram_rd_resp_data", INPUT, 128),
    ("ram_rd_resp_valid", INPUT, 2),
    ("ram_rd_resp_ready", OUTPUT, 2),
];

const AXI_PASS: &[(&str, bool, usize)] = &[
    ("clk", INPUT, 1),
    ("rstn", INPUT, 1),
    ("fault", INPUT, 5),
    ("s_axi_awid", INPUT, 8),
    ("s_axi_awaddr", INPUT, 64),
    ("s_axi_awlen", INPUT, 8),
    ("s_axi_awsize", INPUT, 3),
    ("s_axi_awburst", INPUT, 2),
    ("s_axi_awlock", INPUT, 1),
    ("s_axi_awatop", INPUT, 6),
    ("s_axi_awvalid", INPUT, 1),
    ("s_axi_awready", OUTPUT, 1),
    ("s_axi_wdata", INPUT, 64),
    ("s_axi_wstrb", INPUT, 8),
    ("s_axi_wlast", INPUT, 1),
    ("s_axi_wvalid", INPUT, 1),
    ("s_axi_wready", OUTPUT, 1),
    ("s_axi_bid", OUTPUT, 8),
    ("s_axi_bresp", OUTPUT, 2),
    ("s_axi_bvalid", OUTPUT, 1),
    ("s_axi_bready", INPUT, 1),
    ("s_axi_arid", INPUT, 8),
    ("s_axi_araddr", INPUT, 64),
    ("s_axi_arlen", INPUT, 8),
    ("s_axi_arsize", INPUT, 3),
    ("s_axi_arburst", INPUT, 2),
    ("s_axi_arlock", INPUT, 1),
    ("s_axi_arqos", INPUT, 4),
    ("s_axi_arvalid", INPUT, 1),
    ("s_axi_arready", OUTPUT, 1),
    ("s_axi_rid", OUTPUT, 8),
    ("s_axi_rdata", OUTPUT, 64),
    ("s_axi_rresp", OUTPUT, 2),
    ("s_axi_rlast", OUTPUT, 1),
    ("s_axi_rvalid", OUTPUT, 1),
    ("s_axi_rready", INPUT, 1),
    ("m_axi_awid", OUTPUT, 8),
    ("m_axi_awaddr", OUTPUT, 64),
    ("m_axi_awlen", OUTPUT, 8),
    ("m_axi_awsize", OUTPUT, 3),
    ("m_axi_awburst", OUTPUT, 2),
    ("m_axi_awlock", OUTPUT, 1),
    ("m_axi_awatop", OUTPUT, 6),
    ("m_axi_awvalid", OUTPUT, 1),
    ("m_axi_awready", INPUT, 1),
    ("m_axi_wdata", OUTPUT, 64),
    ("m_axi_wstrb", OUTPUT, 8),
    ("m_axi_wlast", OUTPUT, 1),
    ("m_axi_wvalid", OUTPUT, 1),
    ("m_axi_wready", INPUT, 1),
    ("m_axi_bid", INPUT, 8),
    ("m_axi_bresp", INPUT, 2),
    ("m_axi_bvalid", INPUT, 1),
    ("m_axi_bready", OUTPUT, 1),
    ("m_axi_arid", OUTPUT, 8),
    ("m_axi_araddr", OUTPUT, 64),
    ("m_axi_arlen", OUTPUT, 8),
    ("m_axi_arsize", OUTPUT, 3),
    ("m_axi_arburst", OUTPUT, 2),
    ("m_axi_arlock", OUTPUT, 1),
    ("m_axi_arqos", OUTPUT, 4),
    ("m_axi_arvalid", OUTPUT, 1),
    ("m_axi_arready", INPUT, 1),
    ("m_axi_rid", INPUT, 8),
    ("m_axi_rdata", INPUT, 64),
    ("m_axi_rresp", INPUT, 2),
    ("m_axi_rlast", INPUT, 1),
    ("m_axi_rvalid", INPUT, 1),
    ("m_axi_rready", OUTPUT, 1),
];

const AXIL_PASS: &[(&str, bool, usize)] = &[
    ("clk", INPUT, 1),
    ("rstn", INPUT, 1),
    ("fault", INPUT, 5),
    ("s_axil_awaddr", INPUT, 24),
    ("s_axil_awprot", INPUT, 3),
    ("s_axil_awvalid", INPUT, 1),
    ("s_axil_awready", OUTPUT, 1),
    ("s_axil_wdata", INPUT, 32),
    ("s_axil_wstrb", INPUT, 4),
    ("s_axil_wvalid", INPUT, 1),
    ("s_axil_wready", OUTPUT, 1),
    ("s_axil_bresp", OUTPUT, 2),
    ("s_axil_bvalid", OUTPUT, 1),
    ("s_axil_bready", INPUT, 1),
    ("s_axil_araddr", INPUT, 24),
    ("s_axil_arprot", INPUT, 3),
    ("s_axil_arvalid", INPUT, 1),
    ("s_axil_arready", OUTPUT, 1),
    ("s_axil_rdata", OUTPUT, 32),
    ("s_axil_rresp", OUTPUT, 2),
    ("s_axil_rvalid", OUTPUT, 1),
    ("s_axil_rready", INPUT, 1),
    ("m_axil_awaddr", OUTPUT, 24),
    ("m_axil_awprot", OUTPUT, 3),
    ("m_axil_awvalid", OUTPUT, 1),
    ("m_axil_awready", INPUT, 1),
    ("m_axil_wdata", OUTPUT, 32),
    ("m_axil_wstrb", OUTPUT, 4),
    ("m_axil_wvalid", OUTPUT, 1),
    ("m_axil_wready", INPUT, 1),
    ("m_axil_bresp", INPUT, 2),
    ("m_axil_bvalid", INPUT, 1),
    ("m_axil_bready", OUTPUT, 1),
    ("m_axil_araddr", OUTPUT, 24),
    ("m_axil_arprot", OUTPUT, 3),
    ("m_axil_arvalid", OUTPUT, 1),
    ("m_axil_arready", INPUT, 1),
    ("m_axil_rdata", INPUT, 32),
    ("m_axil_rresp", INPUT, 2),
    ("m_axil_rvalid", INPUT, 1),
    ("m_axil_rready", OUTPUT, 1),
];

const FIXTURES: &[Fixture] = &[
    ("fixture_slice", STREAM),
    ("fixture_drops_valid", STREAM),
    ("fixture_changes_payload", STREAM),
    ("fixture_loses_beat", STREAM),
    ("fixture_reorders", STREAM),
    ("fixture_ignores_reset", STREAM),
    ("fixture_ready_never", STREAM),
    ("fixture_wide", WIDE),
    ("fixture_fork", FORK),
    ("fixture_loop", LOOP),
    ("fixture_axi_master", AXI_MASTER),
    ("fixture_axi_slave", AXI_SLAVE),
    ("fixture_dma", DMA),
    ("fixture_axi_pass", AXI_PASS),
    ("fixture_axil_pass", AXIL_PASS),
];

fn fixture(&(name, ports): &Fixture) -> io::Result<Model> {
    let file = format!("{name}.sv");
    let path = Path::new("tests/fixtures").join(&file);
    println!("cargo::rerun-if-changed={}", path.display());
    let port = |&(name, input, width): &(&str, bool, usize)| Port {
        name: name.to_owned(),
        input,
        width,
    };
    Ok(Model {
        name: name.to_owned(),
        top: name.to_owned(),
        sources: vec![(file, fs::read_to_string(path)?)],
        ports: ports.iter().map(port).collect(),
    })
}
