//! The cluster as the shell sees it: its ports and parameters without its content, for tools that lack its sources.

use super::Shell;
use super::shell::{UNUSED_CLUSTER_PORTS, cluster_port, range};
use spinneret_verilog::PortDirection;
use std::fmt::Write as _;

/// Name of the cluster's module.
pub const CLUSTER: &str = "pspin_wrap";

impl Shell<'_> {
    /// A black box with the ports that [`Shell::text`] connects and the parameters that it sets.
    pub fn cluster_declaration(&self) -> String {
        let mut ports = vec![port(true, 1, "clk_i")];
        // Outputs of the application are inputs of the cluster.
        ports.extend(self.cluster_ports().into_iter().map(|inner| {
            let is_input = inner.direction != PortDirection::Input;
            port(is_input, inner.width, &cluster_port(inner))
        }));
        let unused = UNUSED_CLUSTER_PORTS.iter();
        ports.extend(unused.map(|(name, _)| port(name.ends_with("_i"), 1, name)));
        let mut text = format!("(* blackbox *)\nmodule {CLUSTER} #(\n");
        text.push_str("    parameter integer N_CLUSTERS = 0,\n    parameter integer N_MPQ = 0\n) (\n");
        let _ = writeln!(text, "{}\n);\nendmodule", ports.join(",\n"));
        text
    }
}

fn port(is_input: bool, width: usize, name: &str) -> String {
    let direction = if is_input { "input  wire" } else { "output wire" };
    format!("    {direction} {}{name}", range(width))
}
