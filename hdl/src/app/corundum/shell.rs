//! The module as text.

use super::{AppParameter, AppPort, Generation, declaration, parameters, ports, range};
use spinneret_verilog::{Design, Port, PortDirection};
use std::collections::{BTreeMap, BTreeSet};

/// Name of the cluster's module.
pub const CLUSTER: &str = "pspin_wrap";

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

/// Number of interfaces.
pub const INTERFACES: &str = "IF_COUNT";
/// Width of a beat of the interfaces, which has to be that of the application.
pub const DATA_WIDTH: &str = "AXIS_IF_DATA_WIDTH";

/// A parameter, and the values that it may not have: others than this one, less or more.
const CONDITIONS: &[(&str, &str, u32)] = &[
    ("PORTS_PER_IF", "!=", 1),
    ("AXIS_IF_TX_USER_WIDTH", "!=", 17),
    ("AXIS_IF_TX_ID_WIDTH", ">", 16),
    ("AXIS_IF_TX_DEST_WIDTH", ">", 8),
    ("AXIS_IF_RX_ID_WIDTH", ">", 8),
    ("AXIS_IF_RX_DEST_WIDTH", ">", 16),
    ("AXIS_IF_RX_USER_WIDTH", ">", 97),
    ("PTP_TS_WIDTH", ">", 96),
    ("TX_TAG_WIDTH", "!=", 16),
    ("APP_DMA_ENABLE", "!=", 1),
    ("APP_CTRL_ENABLE", "!=", 1),
    ("APP_AXIS_IF_ENABLE", "!=", 1),
    ("DMA_ADDR_WIDTH", "!=", 64),
    ("DMA_LEN_WIDTH", "!=", 16),
    ("DMA_TAG_WIDTH", "<", 6),
    ("RAM_ADDR_WIDTH", "<", 14),
    ("RAM_SEG_COUNT", "!=", 2),
    ("RAM_SEG_DATA_WIDTH", "!=", 512),
    ("AXIL_APP_CTRL_DATA_WIDTH", "!=", 32),
    ("AXIL_APP_CTRL_ADDR_WIDTH", "<", 24),
    ("STAT_INC_WIDTH", "!=", 24),
    ("STAT_ID_WIDTH", "!=", 12),
];

/// Segments of the RAM, as the conditions say.
const SEGMENTS: usize = 2;

/// Widths without a limit.
const ANY: &[&str] = &["DMA_IMM_WIDTH", "RAM_SEL_WIDTH"];

/// Ports of the cluster that the application does not know.
const UNUSED_CLUSTER_PORTS: &[(&str, &str)] = &[("eos_i", "1'b0"), ("pspin_active_o", "")];

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
        let [clusters, queues] = self.cluster;
        let (of_ports, of_interfaces) = self.passes();
        format!(
            "\
`default_nettype none

// Corundum's application block: interface 0 passes through spinneret, everything else passes straight through.
module mqnic_app_block #(
    {parameters}
) (
    {ports}
);

    // The design is fixed: other values of these parameters do not elaborate.
    {conditions}

{clock}    {wires}

    {app} app (
        {of_app}
    );

    {CLUSTER} #(
        .N_CLUSTERS({clusters}),
        .N_MPQ({queues})
    ) cluster (
        {of_cluster}
    );

    // Streams that nothing looks at.
    {of_ports}
    for (genvar i = 1; i < IF_COUNT; i = i + 1) begin : g_pass
        {of_interfaces}
    end

    // Outputs that the application has no use for.
    {ties}

endmodule

`default_nettype wire
",
            parameters = self.parameters().join(",\n    "),
            ports = self.ports().join(",\n    "),
            conditions = conditions(self.data_width()).join("\n    "),
            clock = match self.clock {
                ClusterClock::Board => CLOCK,
                ClusterClock::External => "",
            },
            wires = wires(&sides).join("\n    "),
            app = self.app.name,
            of_app = of_app(&sides).join(",\n        "),
            of_cluster = of_cluster(&sides).join(",\n        "),
            of_ports = of_ports.join("\n    "),
            of_interfaces = of_interfaces.join("\n        "),
            ties = self.ties(&sides).join("\n    "),
        )
    }

    /// The cluster as a black box, for tools that lack its sources: the ports that [`Shell::text`] connects and the
    /// parameters that it sets.
    pub fn cluster_declaration(&self) -> String {
        let mut ports = vec![declaration(true, "", "clk_i")];
        // Outputs of the application are inputs of the cluster.
        ports.extend(self.sides().cluster.into_iter().map(|inner| {
            let is_input = inner.direction != PortDirection::Input;
            declaration(is_input, &range(inner.width), &cluster_port(inner))
        }));
        let unused = UNUSED_CLUSTER_PORTS.iter();
        ports.extend(unused.map(|(name, _)| declaration(name.ends_with("_i"), "", name)));
        format!(
            "\
(* blackbox *)
module {CLUSTER} #(
    parameter integer N_CLUSTERS = 0,
    parameter integer N_MPQ = 0
) (
    {}
);
endmodule
",
            ports.join(",\n    ")
        )
    }

    /// The application's ports to the cluster, and the connections of an instance of [`CLUSTER`] to wires of their names.
    pub fn cluster_wires(&self) -> (Vec<&Port>, Vec<String>) {
        let sides = self.sides();
        let connections = of_cluster(&sides);
        (sides.cluster, connections)
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

    /// Width of a beat of the application's frames in bits.
    fn data_width(&self) -> usize {
        let frames = self
            .app
            .ports
            .iter()
            .find(|port| port.name == "s_axis_if_rx_tdata");
        frames.map_or(0, |port| port.width)
    }

    fn parameters(&self) -> Vec<String> {
        let parameter = |AppParameter { name, default }| match name.as_str() {
            INTERFACES => format!("parameter {INTERFACES} = {}", self.interfaces),
            DATA_WIDTH => format!("parameter {DATA_WIDTH} = {}", self.data_width()),
            _ => format!("parameter {name} = {default}"),
        };
        parameters(self.generation).into_iter().map(parameter).collect()
    }

    fn ports(&self) -> Vec<String> {
        let port = |AppPort {
                        direction,
                        name,
                        width,
                    }| {
            let range = match width.as_str() {
                "1" => String::new(),
                _ => format!("[{width}-1:0] "),
            };
            declaration(direction == PortDirection::Input, &range, &name)
        };
        let mut all: Vec<_> = ports(self.generation).into_iter().map(port).collect();
        if self.clock == ClusterClock::External {
            all.extend(["cluster_clk", "cluster_running"].map(|name| declaration(true, "", name)));
        }
        all
    }

    /// Streams of ports, and those of the interfaces after the first.
    fn passes(&self) -> (Vec<String>, Vec<String>) {
        let (mut of_ports, mut of_interfaces) = (Vec::new(), Vec::new());
        for port in self.outputs() {
            match passed(&port) {
                Some((source, "PORT_COUNT")) => of_ports.push(format!("assign {} = {source};", port.name)),
                Some((source, _)) => {
                    let range = match port.width.strip_prefix("IF_COUNT*") {
                        Some(width) => format!("[i*{width} +: {width}]"),
                        None => "[i]".to_owned(),
                    };
                    of_interfaces.push(format!("assign {}{range} = {source}{range};", port.name));
                }
                None => {}
            }
        }
        (of_ports, of_interfaces)
    }

    /// Outputs without a driver.
    fn ties(&self, sides: &Sides) -> Vec<String> {
        let driven: BTreeSet<_> = sides.corundum.iter().map(|(inner, _)| &inner.name).collect();
        let tied = self
            .outputs()
            .filter(|port| !driven.contains(&port.name) && passed(port).is_none());
        tied.map(|port| format!("assign {} = '0;", port.name)).collect()
    }

    fn outputs(&self) -> impl Iterator<Item = AppPort> {
        let is_output = |port: &AppPort| port.direction != PortDirection::Input;
        ports(self.generation).into_iter().filter(is_output)
    }
}

/// The board's clock for the cluster.
const CLOCK: &str = "    wire cluster_clk;
    wire cluster_running;
    spinneret_cluster_clock cluster_clock (
        .clk(clk),
        .rst(rst),
        .cluster_clk(cluster_clk),
        .cluster_locked(cluster_running)
    );

";

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
fn cluster_port(port: &Port) -> String {
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

/// A missing module, whose name is the error message.
fn conditions(data_width: usize) -> Vec<String> {
    let data = (DATA_WIDTH, "!=", data_width as u32);
    let condition = |(number, (name, relation, value)): (usize, &(&str, &str, u32))| {
        let limit = match *relation {
            "<" => "_at_least",
            ">" => "_at_most",
            _ => "",
        };
        format!(
            "if ({name} {relation} {value}) begin : g_condition_{number}\n        \
             {name}_has_to_be_{value}{limit} error ();\n    end"
        )
    };
    let all = [&CONDITIONS[..1], &[data], &CONDITIONS[1..]].concat();
    all.iter().enumerate().map(condition).collect()
}

/// Wires to the cluster, and for outputs whose width may differ.
fn wires(sides: &Sides) -> Vec<String> {
    let wire = |port: &Port, prefix: &str| format!("wire {}{prefix}{};", range(port.width), port.name);
    let mut all: Vec<_> = sides.cluster.iter().map(|port| wire(port, "")).collect();
    for (port, outer) in &sides.corundum {
        if port.direction != PortDirection::Input && is_flexible(outer) {
            let (_, width) = split(outer);
            all.push(wire(port, "app_"));
            all.push(format!("assign {} = {width}'(app_{});", first(outer), port.name));
        }
    }
    all
}

fn of_app(sides: &Sides) -> Vec<String> {
    let same = sides.clocks.iter().chain(&sides.cluster);
    let mut all: Vec<_> = same.map(|port| format!(".{0}({0})", port.name)).collect();
    all.extend(sides.corundum.iter().map(|(port, outer)| {
        let value = match (port.direction, is_flexible(outer)) {
            (PortDirection::Input, _) if outer.width.ends_with("*RAM_SEG_ADDR_WIDTH") => {
                segment_addresses(&port.name, port.width / SEGMENTS)
            }
            (PortDirection::Input, true) => format!("{}'({})", port.width, first(outer)),
            (_, true) => format!("app_{}", port.name),
            (_, false) => first(outer),
        };
        format!(".{}({value})", port.name)
    }));
    all.extend(
        UNUSED_APP_PORTS
            .iter()
            .map(|(port, value)| format!(".{port}({value})")),
    );
    all
}

fn of_cluster(sides: &Sides) -> Vec<String> {
    let mut all = vec![".clk_i(cluster_clk)".to_owned()];
    let ports = sides.cluster.iter();
    all.extend(ports.map(|port| format!(".{}({})", cluster_port(port), port.name)));
    all.extend(
        UNUSED_CLUSTER_PORTS
            .iter()
            .map(|(port, value)| format!(".{port}({value})")),
    );
    all
}

/// Of each segment's address the lowest bits.
fn segment_addresses(name: &str, width: usize) -> String {
    let slices: Vec<_> = (0..SEGMENTS)
        .rev()
        .map(|segment| format!("{name}[{segment}*RAM_SEG_ADDR_WIDTH +: {width}]"))
        .collect();
    format!("{{{}}}", slices.join(", "))
}

/// Whether the port's width may differ from that of the application: what is missing is 0, what is too much is cut off.
pub fn is_flexible(port: &AppPort) -> bool {
    let (_, width) = split(port);
    let has_limit = |(name, relation, _): &(&str, &str, u32)| *name == width && *relation != "!=";
    ANY.contains(&width) || CONDITIONS.iter().any(has_limit)
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
