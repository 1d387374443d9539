//! The egress path in the catalog.

use super::shape::command_id_width;
use super::{EgressShape, PspinEgressDatapath};
use crate::entry::{Config, Entry, Parameter, Values, Variant};

/// Name of the block.
pub(super) const NAME: &str = "pspin_egress_datapath";

/// The egress path.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "from the cluster to the wire: reads what commands name and sends it as frames",
    shipped: true,
    parameters,
    derived,
    build: |values| Ok(Box::new(PspinEgressDatapath::new(EgressShape::new(values)?)?)),
};

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(NAME, &[]),
    // Everything small, so that every queue fills often, and what the reference does not have.
    ENTRY.model(
        "pspin_egress_datapath_small",
        &[
            ("data_width", 128),
            ("address_width", 20),
            ("host_address_width", 24),
            ("max_frame", 1000),
            ("buffer_beats", 128),
            ("commands", 4),
            ("user_width", 17),
            ("tx_user", 1 << 16),
            ("error_clear", 1),
        ],
    ),
    ENTRY.model("pspin_egress_datapath_board", &[]).of_boards(),
];

/// Parameters with their values in a configuration.
pub(super) fn parameters(config: Config) -> Vec<Parameter> {
    // On a board tuser is {tag, error}. Corundum's engine sets the highest bit of the tag in its frames, and takes no
    // completion without it, so 0 is ours.
    let tx_user = 0;
    let (user_width, error_clear, cluster_reset) = match config {
        Config::Reference => (16, 0, 0),
        Config::Board => (17, 1, 1),
    };
    let parameter = Parameter::new;
    vec![
        parameter(
            "data_width",
            512,
            [128, 1024],
            "width of a beat in bits, on the stream and on the AXI port, a power of two",
        )
        .carried_by("AXIS_IF_DATA_WIDTH"),
        parameter("id_width", 12, [1, 64], "width of tid in bits").carried_by("AXIS_IF_TX_ID_WIDTH"),
        parameter("dest_width", 4, [1, 64], "width of tdest in bits").carried_by("AXIS_IF_TX_DEST_WIDTH"),
        parameter("user_width", user_width, [1, 128], "width of tuser in bits")
            .carried_by("AXIS_IF_TX_USER_WIDTH"),
        parameter("tx_user", tx_user, [0, u64::MAX], "tuser of all frames"),
        parameter(
            "host_address_width",
            64,
            [16, 64],
            "width of the address in a command in bits",
        )
        .carried_by("AXI_HOST_ADDR_WIDTH"),
        parameter(
            "address_width",
            32,
            [16, 64],
            "width of an AXI address, and of the length in a command, in bits",
        )
        .carried_by("AXI_ADDR_WIDTH"),
        parameter("axi_id_width", 8, [1, 32], "width of an AXI id in bits").carried_by("AXI_ID_WIDTH"),
        parameter("clusters", 2, [1, 64], "clusters that give commands").carried_by("NUM_CLUSTERS"),
        parameter("cores", 8, [1, 64], "cores of a cluster").carried_by("NUM_CORES"),
        parameter("core_commands", 4, [1, 64], "commands of a core under way").carried_by("NUM_HPU_CMDS"),
        parameter(
            "max_frame",
            9600,
            [256, 16384],
            "longest frame in bytes; commands for longer ones are refused",
        ),
        parameter(
            "buffer_beats",
            512,
            [8, 16384],
            "beats of frames that are being read or wait for the wire, a power of two",
        ),
        parameter(
            "commands",
            64,
            [2, 1024],
            "commands that can wait for their answer, a power of two",
        ),
        parameter(
            "error_clear",
            error_clear,
            [0, 1],
            "1: egress_dma_error_clear clears the last error, 0: there is no such input",
        ),
        parameter(
            "cluster_reset",
            cluster_reset,
            [0, 1],
            "1: an input resets all but the frames that are complete, with the cluster",
        ),
    ]
}

/// Verilog parameters that follow from the others.
fn derived(values: &Values) -> Vec<(&'static str, u64)> {
    let get = |name: &str| values.get(name).copied().unwrap_or(0);
    let data = get("data_width");
    vec![
        ("AXIS_IF_KEEP_WIDTH", data / 8),
        ("AXI_DATA_WIDTH", data),
        ("AXI_STRB_WIDTH", data / 8),
        ("CMD_ID_WIDTH", command_id_width(values) as u64),
        // Widths inside of the public design, which no port shows.
        ("LEN_WIDTH", get("address_width")),
        ("TAG_WIDTH", 32),
    ]
}
