//! The module as text.

use super::{AppPort, Generation, parameters, ports};
use spinneret_verilog::{Design, Port, PortDirection};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Where the cluster's clock comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterClock {
    /// From the module `spinneret_cluster_clock` of the board, which makes it of the core's clock.
    Board,
    /// From two inputs that Corundum's module does not have, `cluster_clk` and `cluster_running`: for simulations, and
    /// for boards that have a clock to spare.
    External,
}

/// The module `mqnic_app_block` around a design of [`SpinneretApp`](crate::app::SpinneretApp).
#[derive(Clone, Copy, Debug)]
pub struct Shell<'a> {
    /// Whose parameters and ports it has.
    pub generation: Generation,
    /// Where the cluster's clock comes from.
    pub clock: ClusterClock,
    /// Interfaces unless the parameter is set: its default.
    pub interfaces: u64,
    /// Clusters and message processing queues of PsPIN.
    pub cluster: [u64; 2],
    /// Wires of the module to Corundum and to the cluster.
    pub app: &'a Design,
}

/// A condition on the parameters, and the name of a missing module as its error message.
const CONDITIONS: &[(&str, &str)] = &[
    ("PORTS_PER_IF != 1", "PORTS_PER_IF_has_to_be_1"),
    ("AXIS_IF_DATA_WIDTH != 512", "AXIS_IF_DATA_WIDTH_has_to_be_512"),
    (
        "AXIS_IF_TX_USER_WIDTH != 17",
        "AXIS_IF_TX_USER_WIDTH_has_to_be_17",
    ),
    (
        "AXIS_IF_TX_ID_WIDTH > 16",
        "AXIS_IF_TX_ID_WIDTH_has_to_be_16_at_most",
    ),
    (
        "AXIS_IF_TX_DEST_WIDTH > 8",
        "AXIS_IF_TX_DEST_WIDTH_has_to_be_8_at_most",
    ),
    (
        "AXIS_IF_RX_ID_WIDTH > 8",
        "AXIS_IF_RX_ID_WIDTH_has_to_be_8_at_most",
    ),
    (
        "AXIS_IF_RX_DEST_WIDTH > 16",
        "AXIS_IF_RX_DEST_WIDTH_has_to_be_16_at_most",
    ),
    (
        "AXIS_IF_RX_USER_WIDTH > 97",
        "AXIS_IF_RX_USER_WIDTH_has_to_be_97_at_most",
    ),
    ("PTP_TS_WIDTH > 96", "PTP_TS_WIDTH_has_to_be_96_at_most"),
    ("TX_TAG_WIDTH != 16", "TX_TAG_WIDTH_has_to_be_16"),
    ("APP_DMA_ENABLE == 0", "APP_DMA_ENABLE_has_to_be_1"),
    ("APP_CTRL_ENABLE == 0", "APP_CTRL_ENABLE_has_to_be_1"),
    ("APP_AXIS_IF_ENABLE == 0", "APP_AXIS_IF_ENABLE_has_to_be_1"),
    ("DMA_ADDR_WIDTH != 64", "DMA_ADDR_WIDTH_has_to_be_64"),
    ("DMA_LEN_WIDTH != 16", "DMA_LEN_WIDTH_has_to_be_16"),
    ("DMA_TAG_WIDTH < 6", "DMA_TAG_WIDTH_has_to_be_6_at_least"),
    ("RAM_ADDR_WIDTH < 14", "RAM_ADDR_WIDTH_has_to_be_14_at_least"),
    ("RAM_SEG_COUNT != 2", "RAM_SEG_COUNT_has_to_be_2"),
    ("RAM_SEG_DATA_WIDTH != 512", "RAM_SEG_DATA_WIDTH_has_to_be_512"),
    (
        "AXIL_APP_CTRL_DATA_WIDTH != 32",
        "AXIL_APP_CTRL_DATA_WIDTH_has_to_be_32",
    ),
    (
        "AXIL_APP_CTRL_ADDR_WIDTH < 24",
        "AXIL_APP_CTRL_ADDR_WIDTH_has_to_be_24_at_least",
    ),
    ("STAT_INC_WIDTH != 24", "STAT_INC_WIDTH_has_to_be_24"),
    ("STAT_ID_WIDTH != 12", "STAT_ID_WIDTH_has_to_be_12"),
];

/// Segments of the RAM, as the conditions say.
const SEGMENTS: usize = 2;

/// Widths that may differ from those of the application: what is missing is 0, what is too much is cut off.
const FLEXIBLE: &[&str] = &[
    "AXIS_IF_TX_ID_WIDTH",
    "AXIS_IF_TX_DEST_WIDTH",
    "AXIS_IF_RX_ID_WIDTH",
    "AXIS_IF_RX_DEST_WIDTH",
    "PTP_TS_WIDTH",
    "AXIS_IF_RX_USER_WIDTH",
    "AXIL_APP_CTRL_ADDR_WIDTH",
    "DMA_TAG_WIDTH",
    "DMA_IMM_WIDTH",
    "RAM_SEL_WIDTH",
    "RAM_ADDR_WIDTH",
];

/// Ports of the cluster that the application does not know.
pub(super) const UNUSED_CLUSTER_PORTS: &[(&str, &str)] = &[("eos_i", "1'b0"), ("pspin_active_o", "")];

/// Ports of the application that Corundum has none for: messages for interrupts are taken, and go nowhere.
const UNUSED_APP_PORTS: &[(&str, &str)] = &[
    ("m_axis_irq_tdata", ""),
    ("m_axis_irq_tvalid", ""),
    ("m_axis_irq_tready", "1'b1"),
];

impl Shell<'_> {
    /// The complete source file.
    pub fn text(&self) -> String {
        let sides = self.sides();
        let mut text = String::from(
            "`default_nettype none\n\n\
             // Corundum's application block: interface 0 passes through spinneret, everything else passes straight through.\n\
             module mqnic_app_block #(\n",
        );
        self.write_parameters(&mut text);
        text.push_str(") (\n");
        self.write_ports(&mut text);
        text.push_str(");\n\n");
        write_conditions(&mut text);
        self.write_clock(&mut text);
        write_wires(&mut text, &sides);
        write_app(&mut text, &self.app.name, &sides);
        self.write_cluster(&mut text, &sides);
        self.write_passes(&mut text);
        self.write_ties(&mut text, &sides);
        text.push_str("\nendmodule\n\n`default_nettype wire\n");
        text
    }

    /// The application's ports, sorted by whom they lead to.
    fn sides(&self) -> Sides<'_> {
        let shell: BTreeMap<String, AppPort> = ports(self.generation)
            .into_iter()
            .map(|port| (port.name.clone(), port))
            .collect();
        let mut sides = Sides::default();
        for port in &self.app.ports {
            match shell.get(&port.name) {
                _ if CLOCKS.contains(&port.name.as_str()) => sides.clocks.push(port),
                _ if UNUSED_APP_PORTS.iter().any(|(unused, _)| *unused == port.name) => {}
                Some(outer) => sides.corundum.push((port, outer.clone())),
                None => sides.cluster.push(port),
            }
        }
        sides
    }

    /// The application's ports that lead to the cluster.
    pub(super) fn cluster_ports(&self) -> Vec<&Port> {
        self.sides().cluster
    }

    fn write_parameters(&self, text: &mut String) {
        let lines: Vec<_> = parameters(self.generation)
            .into_iter()
            .map(|parameter| match parameter.name.as_str() {
                "IF_COUNT" => format!("    parameter IF_COUNT = {}", self.interfaces),
                name => format!("    parameter {name} = {}", parameter.default),
            })
            .collect();
        let _ = writeln!(text, "{}", lines.join(",\n"));
    }

    fn write_ports(&self, text: &mut String) {
        let mut lines: Vec<_> = ports(self.generation)
            .into_iter()
            .map(|port| {
                let direction = match port.direction {
                    PortDirection::Input => "input  wire",
                    _ => "output wire",
                };
                match port.width.as_str() {
                    "1" => format!("    {direction} {}", port.name),
                    width => format!("    {direction} [{width}-1:0] {}", port.name),
                }
            })
            .collect();
        if self.clock == ClusterClock::External {
            lines.extend(["cluster_clk", "cluster_running"].map(|name| format!("    input  wire {name}")));
        }
        let _ = writeln!(text, "{}", lines.join(",\n"));
    }

    fn write_clock(&self, text: &mut String) {
        if self.clock == ClusterClock::Board {
            text.push_str(
                "    wire cluster_clk;\n    wire cluster_running;\n    \
                 spinneret_cluster_clock cluster_clock (\n        .clk(clk),\n        .rst(rst),\n        \
                 .cluster_clk(cluster_clk),\n        .cluster_locked(cluster_running)\n    );\n\n",
            );
        }
    }

    fn write_cluster(&self, text: &mut String, sides: &Sides) {
        let [clusters, queues] = self.cluster;
        let mut lines = vec!["        .clk_i(cluster_clk)".to_owned()];
        lines.extend(sides.cluster.iter().map(|port| {
            let name = cluster_port(port);
            format!("        .{name}({})", port.name)
        }));
        lines.extend(
            UNUSED_CLUSTER_PORTS
                .iter()
                .map(|(port, value)| format!("        .{port}({value})")),
        );
        let _ = writeln!(
            text,
            "    pspin_wrap #(\n        .N_CLUSTERS({clusters}),\n        .N_MPQ({queues})\n    ) cluster (\n{}\n    );\n",
            lines.join(",\n")
        );
    }

    /// Streams of ports, and those of the interfaces after the first.
    fn write_passes(&self, text: &mut String) {
        let all = ports(self.generation);
        let outputs = || all.iter().filter(|port| port.direction != PortDirection::Input);
        text.push_str("    // Streams that nothing looks at.\n");
        for port in outputs() {
            if let Some((source, _)) = passed(port).filter(|(_, count)| *count == "PORT_COUNT") {
                let _ = writeln!(text, "    assign {} = {source};", port.name);
            }
        }
        text.push_str("    for (genvar i = 1; i < IF_COUNT; i = i + 1) begin : g_pass\n");
        for port in outputs() {
            if let Some((source, _)) = passed(port).filter(|(_, count)| *count == "IF_COUNT") {
                let range = match port.width.strip_prefix("IF_COUNT*") {
                    Some(width) => format!("[i*{width} +: {width}]"),
                    None => "[i]".to_owned(),
                };
                let _ = writeln!(text, "        assign {}{range} = {source}{range};", port.name);
            }
        }
        text.push_str("    end\n\n");
    }

    /// Outputs without a driver.
    fn write_ties(&self, text: &mut String, sides: &Sides) {
        text.push_str("    // What the application has no use for.\n");
        for port in ports(self.generation) {
            let driven = sides.corundum.iter().any(|(inner, _)| inner.name == port.name);
            if port.direction != PortDirection::Input && !driven && passed(&port).is_none() {
                let _ = writeln!(text, "    assign {} = '0;", port.name);
            }
        }
    }
}

/// Clocks and resets.
const CLOCKS: &[&str] = &["clk", "rst", "cluster_clk", "cluster_running"];

/// The application's ports by whom they lead to.
#[derive(Default)]
struct Sides<'a> {
    clocks: Vec<&'a Port>,
    corundum: Vec<(&'a Port, AppPort)>,
    cluster: Vec<&'a Port>,
}

/// The name of the cluster's port that a port of the application leads to.
pub(super) fn cluster_port(port: &Port) -> String {
    match port.name.as_str() {
        "cluster_rstn" => "rst_ni".to_owned(),
        name if name.starts_with("stdout_") => name.to_owned(),
        name => {
            let from_app = port.direction != PortDirection::Input;
            format!("{name}_{}", if from_app { "i" } else { "o" })
        }
    }
}

/// Where the value of an output comes from if its stream passes straight through, and of what there is one each.
fn passed(port: &AppPort) -> Option<(String, &'static str)> {
    let kinds = ["direct_", "sync_", "if_"];
    let (other, rest) = if let Some(rest) = port.name.strip_prefix("m_axis_") {
        ("s_axis_", rest)
    } else {
        ("m_axis_", port.name.strip_prefix("s_axis_")?)
    };
    let kind = kinds.into_iter().find(|kind| rest.starts_with(kind))?;
    let count = if kind == "if_" { "IF_COUNT" } else { "PORT_COUNT" };
    Some((format!("{other}{rest}"), count))
}

fn write_conditions(text: &mut String) {
    text.push_str("    // The design is fixed: other values of these parameters do not elaborate.\n");
    for (number, (wrong, message)) in CONDITIONS.iter().enumerate() {
        let _ = writeln!(
            text,
            "    if ({wrong}) begin : g_condition_{number}\n        {message} error ();\n    end"
        );
    }
    text.push('\n');
}

/// Wires to the cluster, and for outputs whose width may differ.
fn write_wires(text: &mut String, sides: &Sides) {
    for port in &sides.cluster {
        let _ = writeln!(text, "    wire {}{};", range(port.width), port.name);
    }
    for (port, outer) in &sides.corundum {
        if port.direction != PortDirection::Input && is_flexible(outer) {
            let _ = writeln!(text, "    wire {}app_{};", range(port.width), port.name);
            let (_, width) = split(outer);
            let _ = writeln!(text, "    assign {} = {width}'(app_{});", first(outer), port.name);
        }
    }
    text.push('\n');
}

fn write_app(text: &mut String, name: &str, sides: &Sides) {
    let mut lines: Vec<_> = sides
        .clocks
        .iter()
        .chain(&sides.cluster)
        .map(|port| format!("        .{0}({0})", port.name))
        .collect();
    lines.extend(sides.corundum.iter().map(|(port, outer)| {
        let value = match (port.direction, is_flexible(outer)) {
            (PortDirection::Input, _) if outer.width.ends_with("*RAM_SEG_ADDR_WIDTH") => {
                segment_addresses(&port.name, port.width / SEGMENTS)
            }
            (PortDirection::Input, true) => format!("{}'({})", port.width, first(outer)),
            (_, true) => format!("app_{}", port.name),
            (_, false) => first(outer),
        };
        format!("        .{}({value})", port.name)
    }));
    lines.extend(
        UNUSED_APP_PORTS
            .iter()
            .map(|(port, value)| format!("        .{port}({value})")),
    );
    let _ = writeln!(text, "    {name} app (\n{}\n    );\n", lines.join(",\n"));
}

/// Of each segment's address the lowest bits.
fn segment_addresses(name: &str, width: usize) -> String {
    let slices: Vec<_> = (0..SEGMENTS)
        .rev()
        .map(|segment| format!("{name}[{segment}*RAM_SEG_ADDR_WIDTH +: {width}]"))
        .collect();
    format!("{{{}}}", slices.join(", "))
}

pub(super) fn range(width: usize) -> String {
    match width {
        1 => String::new(),
        width => format!("[{}:0] ", width - 1),
    }
}

/// Whether the port may be narrower than that of the application.
pub fn is_flexible(port: &AppPort) -> bool {
    FLEXIBLE.contains(&split(port).1)
}

/// Whether there is one of the port for each interface, and the width of one.
fn split(port: &AppPort) -> (bool, &str) {
    match port.width.strip_prefix("IF_COUNT*") {
        Some(width) => (true, width),
        None if port.width == "IF_COUNT" => (true, "1"),
        None => (false, &port.width),
    }
}

/// The part of a port that belongs to interface 0.
fn first(port: &AppPort) -> String {
    match split(port) {
        (false, _) => port.name.clone(),
        (true, "1") => format!("{}[0]", port.name),
        (true, width) => format!("{}[{width}-1:0]", port.name),
    }
}
