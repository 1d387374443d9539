//! The ports of the module.

use super::Generation;
use spinneret_verilog::PortDirection;
use spinneret_verilog::PortDirection::{Input, Output};

/// A port with its width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppPort {
    /// Which way it goes.
    pub direction: PortDirection,
    /// Its name.
    pub name: String,
    /// Its width in bits, an expression over the parameters.
    pub width: String,
}

/// The ports in the order of Corundum's module.
pub fn ports(generation: Generation) -> Vec<AppPort> {
    let mut all = Table::default();
    all.inputs(&[("clk", "1"), ("rst", "1")]);
    all.axi_lite(Input, "s_axil_app_ctrl", "AXIL_APP_CTRL");
    all.axi_lite(Output, "m_axil_ctrl", "AXIL_CTRL");
    for channel in ["ctrl", "data"] {
        all.descriptors(channel);
    }
    for channel in ["ctrl", "data"] {
        all.ram(channel);
    }
    all.ptp(generation);
    all.port_streams("direct", "AXIS");
    all.port_streams("sync", "AXIS_SYNC");
    all.interface_streams();
    for memory in ["ddr", "hbm"] {
        all.memory(memory);
    }
    all.outputs(&[
        ("m_axis_stat_tdata", "STAT_INC_WIDTH"),
        ("m_axis_stat_tid", "STAT_ID_WIDTH"),
        ("m_axis_stat_tvalid", "1"),
    ]);
    all.inputs(&[("m_axis_stat_tready", "1"), ("gpio_in", "APP_GPIO_IN_WIDTH")]);
    all.outputs(&[("gpio_out", "APP_GPIO_OUT_WIDTH")]);
    all.inputs(&[("jtag_tdi", "1")]);
    all.outputs(&[("jtag_tdo", "1")]);
    all.inputs(&[("jtag_tms", "1"), ("jtag_tck", "1")]);
    all.rows
}

/// Signals of an AXI4-Lite port: whether the master drives it, name, width with P for the prefix of parameters.
const AXI_LITE: &[(bool, &str, &str)] = &[
    (true, "awaddr", "P_ADDR_WIDTH"),
    (true, "awprot", "3"),
    (true, "awvalid", "1"),
    (false, "awready", "1"),
    (true, "wdata", "P_DATA_WIDTH"),
    (true, "wstrb", "P_STRB_WIDTH"),
    (true, "wvalid", "1"),
    (false, "wready", "1"),
    (false, "bresp", "2"),
    (false, "bvalid", "1"),
    (true, "bready", "1"),
    (true, "araddr", "P_ADDR_WIDTH"),
    (true, "arprot", "3"),
    (true, "arvalid", "1"),
    (false, "arready", "1"),
    (false, "rdata", "P_DATA_WIDTH"),
    (false, "rresp", "2"),
    (false, "rvalid", "1"),
    (true, "rready", "1"),
];

/// Signals of an AXI4 master: whether it drives it, name, width with P for the prefix of parameters.
const AXI: &[(bool, &str, &str)] = &[
    (true, "awid", "P_ID_WIDTH"),
    (true, "awaddr", "P_ADDR_WIDTH"),
    (true, "awlen", "8"),
    (true, "awsize", "3"),
    (true, "awburst", "2"),
    (true, "awlock", "1"),
    (true, "awcache", "4"),
    (true, "awprot", "3"),
    (true, "awqos", "4"),
    (true, "awuser", "P_AWUSER_WIDTH"),
    (true, "awvalid", "1"),
    (false, "awready", "1"),
    (true, "wdata", "P_DATA_WIDTH"),
    (true, "wstrb", "P_STRB_WIDTH"),
    (true, "wlast", "1"),
    (true, "wuser", "P_WUSER_WIDTH"),
    (true, "wvalid", "1"),
    (false, "wready", "1"),
    (false, "bid", "P_ID_WIDTH"),
    (false, "bresp", "2"),
    (false, "buser", "P_BUSER_WIDTH"),
    (false, "bvalid", "1"),
    (true, "bready", "1"),
    (true, "arid", "P_ID_WIDTH"),
    (true, "araddr", "P_ADDR_WIDTH"),
    (true, "arlen", "8"),
    (true, "arsize", "3"),
    (true, "arburst", "2"),
    (true, "arlock", "1"),
    (true, "arcache", "4"),
    (true, "arprot", "3"),
    (true, "arqos", "4"),
    (true, "aruser", "P_ARUSER_WIDTH"),
    (true, "arvalid", "1"),
    (false, "arready", "1"),
    (false, "rid", "P_ID_WIDTH"),
    (false, "rdata", "P_DATA_WIDTH"),
    (false, "rresp", "2"),
    (false, "rlast", "1"),
    (false, "ruser", "P_RUSER_WIDTH"),
    (false, "rvalid", "1"),
    (true, "rready", "1"),
];

/// Signals of a stream: whether the source drives it, name, width with D for the prefix of the data's parameters and U
/// for that of the side band's.
const STREAM: &[(bool, &str, &str)] = &[
    (true, "tdata", "D_DATA_WIDTH"),
    (true, "tkeep", "D_KEEP_WIDTH"),
    (true, "tvalid", "1"),
    (false, "tready", "1"),
    (true, "tlast", "1"),
    (true, "tid", "U_ID_WIDTH"),
    (true, "tdest", "U_DEST_WIDTH"),
    (true, "tuser", "U_USER_WIDTH"),
];

/// Signals of transmit completions.
const COMPLETION: &[(bool, &str, &str)] = &[
    (true, "ts", "PTP_TS_WIDTH"),
    (true, "tag", "TX_TAG_WIDTH"),
    (true, "valid", "1"),
    (false, "ready", "1"),
];

/// The rows so far.
#[derive(Default)]
struct Table {
    rows: Vec<AppPort>,
}

impl Table {
    fn add(&mut self, direction: PortDirection, name: String, width: String) {
        self.rows.push(AppPort {
            direction,
            name,
            width,
        });
    }

    fn inputs(&mut self, rows: &[(&str, &str)]) {
        for (name, width) in rows {
            self.add(Input, (*name).to_owned(), (*width).to_owned());
        }
    }

    fn outputs(&mut self, rows: &[(&str, &str)]) {
        for (name, width) in rows {
            self.add(Output, (*name).to_owned(), (*width).to_owned());
        }
    }

    /// A bundle; what its source drives goes in that direction.
    fn bundle(
        &mut self,
        source: PortDirection,
        prefix: &str,
        signals: &[(bool, &str, &str)],
        width: impl Fn(&str) -> String,
    ) {
        for (from_source, name, expression) in signals {
            let direction = if *from_source { source } else { opposite(source) };
            self.add(direction, format!("{prefix}_{name}"), width(expression));
        }
    }

    fn axi_lite(&mut self, master: PortDirection, prefix: &str, parameters: &str) {
        self.bundle(master, prefix, AXI_LITE, |width| {
            expand(width, &[("P", parameters)])
        });
    }

    /// Descriptors of one of the two DMA channels, and their statuses.
    fn descriptors(&mut self, channel: &str) {
        for way in ["read", "write"] {
            let desc = format!("m_axis_{channel}_dma_{way}_desc");
            let mut fields = vec![
                ("dma_addr", "DMA_ADDR_WIDTH"),
                ("ram_sel", "RAM_SEL_WIDTH"),
                ("ram_addr", "RAM_ADDR_WIDTH"),
            ];
            if way == "write" {
                fields.extend([("imm", "DMA_IMM_WIDTH"), ("imm_en", "1")]);
            }
            fields.extend([("len", "DMA_LEN_WIDTH"), ("tag", "DMA_TAG_WIDTH"), ("valid", "1")]);
            for (field, width) in fields {
                self.add(Output, format!("{desc}_{field}"), width.to_owned());
            }
            self.add(Input, format!("{desc}_ready"), "1".to_owned());
            let status = format!("s_axis_{channel}_dma_{way}_desc_status");
            for (field, width) in [("tag", "DMA_TAG_WIDTH"), ("error", "4"), ("valid", "1")] {
                self.add(Input, format!("{status}_{field}"), width.to_owned());
            }
        }
    }

    /// The RAM of one of the two DMA channels.
    fn ram(&mut self, channel: &str) {
        let rows = [
            (Input, "wr_cmd_sel", "RAM_SEG_COUNT*RAM_SEL_WIDTH"),
            (Input, "wr_cmd_be", "RAM_SEG_COUNT*RAM_SEG_BE_WIDTH"),
            (Input, "wr_cmd_addr", "RAM_SEG_COUNT*RAM_SEG_ADDR_WIDTH"),
            (Input, "wr_cmd_data", "RAM_SEG_COUNT*RAM_SEG_DATA_WIDTH"),
            (Input, "wr_cmd_valid", "RAM_SEG_COUNT"),
            (Output, "wr_cmd_ready", "RAM_SEG_COUNT"),
            (Output, "wr_done", "RAM_SEG_COUNT"),
            (Input, "rd_cmd_sel", "RAM_SEG_COUNT*RAM_SEL_WIDTH"),
            (Input, "rd_cmd_addr", "RAM_SEG_COUNT*RAM_SEG_ADDR_WIDTH"),
            (Input, "rd_cmd_valid", "RAM_SEG_COUNT"),
            (Output, "rd_cmd_ready", "RAM_SEG_COUNT"),
            (Output, "rd_resp_data", "RAM_SEG_COUNT*RAM_SEG_DATA_WIDTH"),
            (Output, "rd_resp_valid", "RAM_SEG_COUNT"),
            (Input, "rd_resp_ready", "RAM_SEG_COUNT"),
        ];
        for (direction, name, width) in rows {
            self.add(direction, format!("{channel}_dma_ram_{name}"), width.to_owned());
        }
    }

    fn ptp(&mut self, generation: Generation) {
        self.inputs(&[("ptp_clk", "1"), ("ptp_rst", "1"), ("ptp_sample_clk", "1")]);
        match generation {
            Generation::Corundum202312 => self.inputs(&[
                ("ptp_td_sd", "1"),
                ("ptp_pps", "1"),
                ("ptp_pps_str", "1"),
                ("ptp_sync_locked", "1"),
                ("ptp_sync_ts_rel", "PTP_TS_WIDTH"),
                ("ptp_sync_ts_rel_step", "1"),
                ("ptp_sync_ts_tod", "PTP_TS_WIDTH"),
                ("ptp_sync_ts_tod_step", "1"),
                ("ptp_sync_pps", "1"),
                ("ptp_sync_pps_str", "1"),
            ]),
            Generation::Fpspin2023 => self.inputs(&[
                ("ptp_pps", "1"),
                ("ptp_pps_str", "1"),
                ("ptp_ts_96", "PTP_TS_WIDTH"),
                ("ptp_ts_step", "1"),
                ("ptp_sync_pps", "1"),
                ("ptp_sync_ts_96", "PTP_TS_WIDTH"),
                ("ptp_sync_ts_step", "1"),
            ]),
        }
        self.inputs(&[
            ("ptp_perout_locked", "PTP_PEROUT_COUNT"),
            ("ptp_perout_error", "PTP_PEROUT_COUNT"),
            ("ptp_perout_pulse", "PTP_PEROUT_COUNT"),
        ]);
    }

    /// Streams of all ports, at the MACs (direct) or in the core's clock (sync).
    fn port_streams(&mut self, kind: &str, parameters: &str) {
        for way in ["tx", "rx"] {
            if kind == "direct" {
                self.inputs(&[
                    (&format!("direct_{way}_clk"), "PORT_COUNT"),
                    (&format!("direct_{way}_rst"), "PORT_COUNT"),
                ]);
            }
            let user = format!("{parameters}_{}", way.to_uppercase());
            let signals: Vec<_> = STREAM
                .iter()
                .copied()
                .filter(|(_, name, _)| !["tid", "tdest"].contains(name))
                .collect();
            self.stream_pair(
                &format!("{kind}_{way}"),
                "PORT_COUNT",
                &signals,
                parameters,
                &user,
            );
            if way == "tx" {
                self.stream_pair(
                    &format!("{kind}_tx_cpl"),
                    "PORT_COUNT",
                    COMPLETION,
                    parameters,
                    &user,
                );
            }
        }
    }

    /// Streams of all interfaces.
    fn interface_streams(&mut self) {
        self.stream_pair("if_tx", "IF_COUNT", STREAM, "AXIS_IF", "AXIS_IF_TX");
        self.stream_pair("if_tx_cpl", "IF_COUNT", COMPLETION, "AXIS_IF", "AXIS_IF_TX");
        self.stream_pair("if_rx", "IF_COUNT", STREAM, "AXIS_IF", "AXIS_IF_RX");
    }

    /// A stream into the application and one out of it, for each of `count`.
    fn stream_pair(
        &mut self,
        name: &str,
        count: &str,
        signals: &[(bool, &str, &str)],
        data: &str,
        user: &str,
    ) {
        let width = |width: &str| match width {
            "1" => count.to_owned(),
            width => format!("{count}*{}", expand(width, &[("D", data), ("U", user)])),
        };
        self.bundle(Input, &format!("s_axis_{name}"), signals, width);
        self.bundle(Output, &format!("m_axis_{name}"), signals, width);
    }

    /// The channels of a memory on the board.
    fn memory(&mut self, kind: &str) {
        let name = kind.to_uppercase();
        let count = format!("{name}_CH");
        self.inputs(&[(&format!("{kind}_clk"), &count), (&format!("{kind}_rst"), &count)]);
        self.bundle(Output, &format!("m_axi_{kind}"), AXI, |width| match width {
            "1" => count.clone(),
            width => format!("{count}*{}", expand(width, &[("P", &format!("AXI_{name}"))])),
        });
        self.inputs(&[(&format!("{kind}_status"), &count)]);
    }
}

/// The name of a parameter, which may begin with a letter that stands for a prefix.
fn expand(width: &str, prefixes: &[(&str, &str)]) -> String {
    for (letter, prefix) in prefixes {
        if let Some(rest) = width.strip_prefix(letter).filter(|rest| rest.starts_with('_')) {
            return format!("{prefix}{rest}");
        }
    }
    width.to_owned()
}

fn opposite(direction: PortDirection) -> PortDirection {
    match direction {
        Input => Output,
        _ => Input,
    }
}
