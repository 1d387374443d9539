//! The parameters of the module.

use super::Generation;

/// A parameter with its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppParameter {
    /// Its name.
    pub name: String,
    /// Its default, an expression over the parameters before it.
    pub default: String,
}

/// The parameters in the order of Corundum's module.
///
/// Defaults are those of Corundum's boards with this application, so that the module elaborates alone.
pub fn parameters(generation: Generation) -> Vec<AppParameter> {
    let mut all = Vec::new();
    let mut add = |rows: &[(&str, &str)]| {
        all.extend(rows.iter().map(|(name, default)| AppParameter {
            name: (*name).to_owned(),
            default: (*default).to_owned(),
        }));
    };
    add(STRUCTURE);
    if generation == Generation::Fpspin2023 {
        add(&[("PTP_USE_SAMPLE_CLOCK", "0")]);
    }
    add(PTP);
    for memory in ["DDR", "HBM"] {
        let rows: Vec<_> = MEMORY
            .iter()
            .map(|(name, default)| (name.replace("MEM", memory), default.replace("MEM", memory)))
            .collect();
        add(&rows
            .iter()
            .map(|(name, default)| (name.as_str(), default.as_str()))
            .collect::<Vec<_>>());
    }
    add(APPLICATION);
    all
}

/// Interfaces and clocks.
const STRUCTURE: &[(&str, &str)] = &[
    ("IF_COUNT", "1"),
    ("PORTS_PER_IF", "1"),
    ("SCHED_PER_IF", "PORTS_PER_IF"),
    ("PORT_COUNT", "IF_COUNT*PORTS_PER_IF"),
    ("CLK_PERIOD_NS_NUM", "4"),
    ("CLK_PERIOD_NS_DENOM", "1"),
    ("PTP_CLK_PERIOD_NS_NUM", "4"),
    ("PTP_CLK_PERIOD_NS_DENOM", "1"),
    ("PTP_TS_WIDTH", "96"),
];

/// Time stamps, tags and frames.
const PTP: &[(&str, &str)] = &[
    ("PTP_PORT_CDC_PIPELINE", "0"),
    ("PTP_PEROUT_ENABLE", "0"),
    ("PTP_PEROUT_COUNT", "1"),
    ("PTP_TS_ENABLE", "1"),
    ("TX_TAG_WIDTH", "16"),
    ("MAX_TX_SIZE", "9214"),
    ("MAX_RX_SIZE", "9214"),
];

/// A kind of memory on the board; MEM stands for its name.
const MEMORY: &[(&str, &str)] = &[
    ("MEM_CH", "1"),
    ("MEM_ENABLE", "0"),
    ("MEM_GROUP_SIZE", "1"),
    ("AXI_MEM_DATA_WIDTH", "256"),
    ("AXI_MEM_ADDR_WIDTH", "32"),
    ("AXI_MEM_STRB_WIDTH", "(AXI_MEM_DATA_WIDTH/8)"),
    ("AXI_MEM_ID_WIDTH", "8"),
    ("AXI_MEM_AWUSER_ENABLE", "0"),
    ("AXI_MEM_AWUSER_WIDTH", "1"),
    ("AXI_MEM_WUSER_ENABLE", "0"),
    ("AXI_MEM_WUSER_WIDTH", "1"),
    ("AXI_MEM_BUSER_ENABLE", "0"),
    ("AXI_MEM_BUSER_WIDTH", "1"),
    ("AXI_MEM_ARUSER_ENABLE", "0"),
    ("AXI_MEM_ARUSER_WIDTH", "1"),
    ("AXI_MEM_RUSER_ENABLE", "0"),
    ("AXI_MEM_RUSER_WIDTH", "1"),
    ("AXI_MEM_MAX_BURST_LEN", "256"),
    ("AXI_MEM_NARROW_BURST", "0"),
    ("AXI_MEM_FIXED_BURST", "0"),
    ("AXI_MEM_WRAP_BURST", "0"),
];

/// The application, the DMA, the register ports, the streams and statistics.
const APPLICATION: &[(&str, &str)] = &[
    ("APP_ID", "32'h12340100"),
    ("APP_CTRL_ENABLE", "1"),
    ("APP_DMA_ENABLE", "1"),
    ("APP_AXIS_DIRECT_ENABLE", "0"),
    ("APP_AXIS_SYNC_ENABLE", "0"),
    ("APP_AXIS_IF_ENABLE", "1"),
    ("APP_STAT_ENABLE", "1"),
    ("APP_GPIO_IN_WIDTH", "32"),
    ("APP_GPIO_OUT_WIDTH", "32"),
    ("DMA_ADDR_WIDTH", "64"),
    ("DMA_IMM_ENABLE", "0"),
    ("DMA_IMM_WIDTH", "32"),
    ("DMA_LEN_WIDTH", "16"),
    ("DMA_TAG_WIDTH", "16"),
    ("RAM_SEL_WIDTH", "4"),
    ("RAM_ADDR_WIDTH", "16"),
    ("RAM_SEG_COUNT", "2"),
    ("RAM_SEG_DATA_WIDTH", "512*2/RAM_SEG_COUNT"),
    ("RAM_SEG_BE_WIDTH", "RAM_SEG_DATA_WIDTH/8"),
    (
        "RAM_SEG_ADDR_WIDTH",
        "RAM_ADDR_WIDTH-$clog2(RAM_SEG_COUNT*RAM_SEG_BE_WIDTH)",
    ),
    ("RAM_PIPELINE", "2"),
    ("AXIL_APP_CTRL_DATA_WIDTH", "32"),
    ("AXIL_APP_CTRL_ADDR_WIDTH", "24"),
    ("AXIL_APP_CTRL_STRB_WIDTH", "(AXIL_APP_CTRL_DATA_WIDTH/8)"),
    ("AXIL_CTRL_DATA_WIDTH", "32"),
    ("AXIL_CTRL_ADDR_WIDTH", "16"),
    ("AXIL_CTRL_STRB_WIDTH", "(AXIL_CTRL_DATA_WIDTH/8)"),
    ("AXIS_DATA_WIDTH", "512"),
    ("AXIS_KEEP_WIDTH", "AXIS_DATA_WIDTH/8"),
    ("AXIS_TX_USER_WIDTH", "TX_TAG_WIDTH + 1"),
    ("AXIS_RX_USER_WIDTH", "(PTP_TS_ENABLE ? PTP_TS_WIDTH : 0) + 1"),
    ("AXIS_RX_USE_READY", "0"),
    ("AXIS_SYNC_DATA_WIDTH", "AXIS_DATA_WIDTH"),
    ("AXIS_SYNC_KEEP_WIDTH", "AXIS_SYNC_DATA_WIDTH/8"),
    ("AXIS_SYNC_TX_USER_WIDTH", "AXIS_TX_USER_WIDTH"),
    ("AXIS_SYNC_RX_USER_WIDTH", "AXIS_RX_USER_WIDTH"),
    (
        "AXIS_IF_DATA_WIDTH",
        "AXIS_SYNC_DATA_WIDTH*2**$clog2(PORTS_PER_IF)",
    ),
    ("AXIS_IF_KEEP_WIDTH", "AXIS_IF_DATA_WIDTH/8"),
    ("AXIS_IF_TX_ID_WIDTH", "12"),
    (
        "AXIS_IF_RX_ID_WIDTH",
        "PORTS_PER_IF > 1 ? $clog2(PORTS_PER_IF) : 1",
    ),
    ("AXIS_IF_TX_DEST_WIDTH", "$clog2(PORTS_PER_IF)+4"),
    ("AXIS_IF_RX_DEST_WIDTH", "8"),
    ("AXIS_IF_TX_USER_WIDTH", "AXIS_SYNC_TX_USER_WIDTH"),
    ("AXIS_IF_RX_USER_WIDTH", "AXIS_SYNC_RX_USER_WIDTH"),
    ("STAT_ENABLE", "1"),
    ("STAT_INC_WIDTH", "24"),
    ("STAT_ID_WIDTH", "12"),
];
