//! The module as a testbench wants it: one port for each stream, and none that nothing uses.

use super::{
    AppPort, DATA_WIDTH, ExpressionError, Generation, INTERFACES, declaration, evaluate, ports, range, values,
};
use spinneret_verilog::PortDirection;
use std::fmt::Write as _;

/// Name of the module.
pub const SPLIT_TOP: &str = "mqnic_app_block_split";

/// A module around `mqnic_app_block` whose streams have names of their own.
///
/// Corundum puts the streams of all interfaces side by side into one port; here `s_axis_if_rx_tdata` becomes
/// `s_axis_if_rx_0_tdata`, `s_axis_if_rx_1_tdata` and so on. A time stamp of a completion, which is 96 bits wide, becomes
/// `ts_low` (64 bits) and `ts_high`. Inputs that the application has no use for are 0. The module inside is the one that is
/// shipped, with [`ClusterClock::External`](super::ClusterClock::External).
#[derive(Clone, Debug)]
pub struct Split {
    /// The complete source file.
    pub text: String,
    /// Its ports.
    pub ports: Vec<SplitPort>,
}

/// A port of [`Split`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitPort {
    /// Which way it goes.
    pub direction: PortDirection,
    /// Its name.
    pub name: String,
    /// Its width in bits.
    pub width: usize,
}

/// Prefixes of the ports that a testbench drives or reads; all others are 0 or open.
const USED: &[&str] = &[
    "s_axil_app_ctrl_",
    "m_axis_data_dma_",
    "s_axis_data_dma_",
    "data_dma_ram_",
    "s_axis_if_",
    "m_axis_if_",
    "m_axis_stat_",
];

/// The clock and reset of the core.
const CLOCKS: &[&str] = &["clk", "rst"];

/// Inputs of the module with an external clock that Corundum does not know.
const CLUSTER: &[&str] = &["cluster_clk", "cluster_running"];

/// Most bits of a field that is a number to a testbench.
const NUMBER_BITS: usize = 64;

impl Split {
    /// The module for that many interfaces with beats of that many bits.
    ///
    /// # Errors
    /// If a width has no value, which is a mistake in the table of ports.
    pub fn new(generation: Generation, interfaces: u64, data_width: usize) -> Result<Self, ExpressionError> {
        let given = [(INTERFACES, interfaces), (DATA_WIDTH, data_width as u64)];
        let values = values(generation, &given)?;
        let mut all = Vec::new();
        let mut connections = Vec::new();
        for port in ports(generation) {
            let width = evaluate(&port.width, &values)? as usize;
            let parts = parts(&port, width, interfaces as usize);
            connections.push(connection(&port, &parts));
            all.extend(parts);
        }
        for name in CLUSTER {
            connections.push(format!(".{name}({name})"));
            all.push(SplitPort {
                direction: PortDirection::Input,
                name: (*name).to_owned(),
                width: 1,
            });
        }
        let declarations = all.iter().map(|port| {
            declaration(
                port.direction == PortDirection::Input,
                &range(port.width),
                &port.name,
            )
        });
        let mut text = String::from("`default_nettype none\n\n");
        let _ = write!(
            text,
            "// Corundum's application block with a port for each stream.\nmodule {SPLIT_TOP} (\n    {}\n);\n\n    \
             mqnic_app_block #(\n        .IF_COUNT({interfaces})\n    ) app_block (\n        {}\n    );\n\n\
             endmodule\n\n`default_nettype wire\n",
            declarations.collect::<Vec<_>>().join(",\n    "),
            connections.join(",\n        ")
        );
        Ok(Self { text, ports: all })
    }
}

/// The ports that a port becomes, lowest bits first; none if nothing uses it.
fn parts(port: &AppPort, width: usize, interfaces: usize) -> Vec<SplitPort> {
    let is_clock = CLOCKS.contains(&port.name.as_str());
    if !is_clock && !USED.iter().any(|prefix| port.name.starts_with(prefix)) {
        return Vec::new();
    }
    let part = |name: String, width: usize| SplitPort {
        direction: port.direction,
        name,
        width,
    };
    if !port.width.starts_with("IF_COUNT") {
        return vec![part(port.name.clone(), width)];
    }
    let width = width / interfaces;
    let (stream, field) = port.name.rsplit_once('_').unwrap_or((&port.name, ""));
    let mut all = Vec::new();
    for interface in 0..interfaces {
        let name = format!("{stream}_{interface}_{field}");
        if field == "ts" && width > NUMBER_BITS {
            all.push(part(format!("{name}_low"), NUMBER_BITS));
            all.push(part(format!("{name}_high"), width - NUMBER_BITS));
        } else {
            all.push(part(name, width));
        }
    }
    all
}

fn connection(port: &AppPort, parts: &[SplitPort]) -> String {
    let value = match (parts, port.direction) {
        ([], PortDirection::Input) => "'0".to_owned(),
        ([], _) => String::new(),
        ([part], _) => part.name.clone(),
        (parts, _) => {
            let names: Vec<_> = parts.iter().rev().map(|part| part.name.as_str()).collect();
            format!("{{{}}}", names.join(", "))
        }
    };
    format!(".{}({value})", port.name)
}

#[cfg(test)]
mod tests {
    use super::{Generation, Split};
    use std::collections::BTreeSet;

    fn split(generation: Generation, interfaces: u64) -> Split {
        Split::new(generation, interfaces, 512).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn each_interface_has_streams_of_its_own() {
        let split = split(Generation::Corundum202312, 2);
        let width = |name: &str| {
            let port = split.ports.iter().find(|port| port.name == name);
            port.map(|port| port.width)
        };
        assert_eq!(width("s_axis_if_rx_0_tdata"), Some(512));
        assert_eq!(width("m_axis_if_tx_1_tuser"), Some(17));
        assert_eq!(width("m_axis_if_tx_cpl_1_ts_low"), Some(64));
        assert_eq!(width("m_axis_if_tx_cpl_1_ts_high"), Some(32));
        assert_eq!(width("m_axis_if_tx_cpl_1_valid"), Some(1));
        assert_eq!(width("data_dma_ram_wr_cmd_addr"), Some(18));
        assert_eq!(width("cluster_running"), Some(1));
        assert_eq!(width("jtag_tdi"), None);
        assert!(
            split
                .text
                .contains(".s_axis_if_rx_tlast({s_axis_if_rx_1_tlast, s_axis_if_rx_0_tlast})")
        );
        assert!(split.text.contains(".jtag_tdi('0)"));
        assert!(split.text.contains(".jtag_tdo()"));
    }

    #[test]
    fn names_are_unique_and_all_ports_of_the_module_are_named() {
        for generation in Generation::ALL {
            for interfaces in [1, 2, 3] {
                let split = split(generation, interfaces);
                let names: BTreeSet<_> = split.ports.iter().map(|port| &port.name).collect();
                assert_eq!(names.len(), split.ports.len());
                for port in super::ports(generation) {
                    assert!(split.text.contains(&format!(".{}(", port.name)), "{}", port.name);
                }
            }
        }
    }
}
