//! The top module: Corundum's application block with a cluster, and outputs that probe signals of the cluster.
//!
//! ```text
//!   spinneret_interop
//!   +-- nic: mqnic_app_block_split (one port for each stream)
//!       +-- app_block: mqnic_app_block, as it is shipped
//!           +-- app: spinneret_app
//!           +-- cluster: pspin_wrap, from the user's checkout
//! ```
//!
//! The outputs name signals inside of the cluster by their paths; nothing in it is driven from here.

use spinneret_hdl::app::corundum::{SPLIT_TOP, Split};
use spinneret_verilate::Port;
use spinneret_verilog::PortDirection;
use std::fmt::Write as _;

/// Name of the module, and of the model.
pub(crate) const TOP: &str = "spinneret_interop";
/// Clusters of either design.
pub(crate) const CLUSTERS: usize = 2;
/// HPUs of each.
pub(crate) const CORES: usize = 8;

/// Wires of the application block that lead to the cluster: name and width. The output of a wire `x` is `probe_x`.
const WIRES: &[(&str, usize)] = &[
    ("cluster_rstn", 1),
    ("her_valid", 1),
    ("her_ready", 1),
    ("her_msgid", 10),
    ("her_is_eom", 1),
    ("her_addr", 32),
    ("her_size", 32),
    ("feedback_valid", 1),
    ("feedback_ready", 1),
    ("feedback_her_addr", 32),
    ("feedback_msgid", 10),
    ("nic_cmd_req_valid", 1),
    ("nic_cmd_req_ready", 1),
    ("nic_cmd_req_id", 6),
    ("nic_cmd_req_src_addr", 64),
    ("nic_cmd_req_length", 32),
    ("nic_cmd_resp_valid", 1),
    ("nic_cmd_resp_id", 6),
    ("host_master_aw_valid", 1),
    ("host_master_aw_ready", 1),
    ("host_master_ar_valid", 1),
    ("host_master_ar_ready", 1),
];

/// Signals of a core: name and width. The output of `x_o` of all cores is `probe_hpu_x`, with the values side by side, those of
/// cluster 0 and core 0 lowest.
const CORE_SIGNALS: &[(&str, usize)] = &[
    ("data_req_o", 1),
    ("data_gnt_i", 1),
    ("data_we_o", 1),
    ("data_addr_o", 32),
    ("data_wdata_o", 32),
    ("data_rvalid_i", 1),
    ("data_rdata_i", 32),
];

/// The text of the top module.
pub(crate) fn text(split: &Split) -> String {
    let mut declarations: Vec<String> = split
        .ports
        .iter()
        .map(|port| match port.direction {
            PortDirection::Input => declaration("input ", &port.name, port.width),
            _ => declaration("output", &port.name, port.width),
        })
        .collect();
    declarations.extend(
        probes()
            .iter()
            .map(|(name, width, _)| declaration("output", name, *width)),
    );
    let connections: Vec<_> = split
        .ports
        .iter()
        .map(|port| format!(".{0}({0})", port.name))
        .collect();
    let mut text = format!(
        "module {TOP} (\n    {}\n);\n\n    {SPLIT_TOP} nic (\n        {}\n    );\n\n",
        declarations.join(",\n    "),
        connections.join(",\n        ")
    );
    for (name, _, value) in probes() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "    assign {name} = {value};");
    }
    text.push_str("\nendmodule\n");
    text
}

/// All ports of the top module.
pub(crate) fn ports(split: &Split) -> Vec<Port> {
    let ours = split.ports.iter().map(|port| Port {
        name: port.name.clone(),
        input: port.direction == PortDirection::Input,
        width: port.width,
    });
    let probes = probes().into_iter().map(|(name, width, _)| Port {
        name,
        input: false,
        width,
    });
    ours.chain(probes).collect()
}

/// The probe outputs: name, width, value.
fn probes() -> Vec<(String, usize, String)> {
    let wires = WIRES
        .iter()
        .map(|(name, width)| (format!("probe_{name}"), *width, format!("nic.app_block.{name}")));
    let cores = CORE_SIGNALS.iter().map(|(signal, width)| {
        let place = |number| {
            let core = format!("CORE[{}].core_region_i.RISCV_CORE", number % CORES);
            format!("{}.{core}.{signal}", bound(number / CORES))
        };
        let name = signal.rsplit_once('_').map_or(*signal, |(name, _)| name);
        (
            format!("probe_hpu_{name}"),
            *width * CLUSTERS * CORES,
            joined(CLUSTERS * CORES, place),
        )
    });
    wires.chain(cores).collect()
}

/// The path of a cluster's insides.
fn bound(cluster: usize) -> String {
    format!("nic.app_block.cluster.i_pspin.gen_clusters[{cluster}].gen_cluster_sync.i_cluster.i_ooc.i_bound")
}

/// Values side by side, the first one lowest.
fn joined(count: usize, value: impl Fn(usize) -> String) -> String {
    let all: Vec<_> = (0..count).rev().map(value).collect();
    format!("{{\n        {}\n    }}", all.join(",\n        "))
}

fn declaration(direction: &str, name: &str, width: usize) -> String {
    match width {
        1 => format!("{direction} wire {name}"),
        width => format!("{direction} wire [{}:0] {name}", width - 1),
    }
}
