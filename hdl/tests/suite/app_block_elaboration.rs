//! The application block that is shipped elaborates with the parameters that Corundum's cards set, and with no others
//! than it says.

use spinneret_hdl::app::corundum::Generation;
use spinneret_hdl::app::{AppOptions, Cluster, TOP, sources};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Declares what a board brings along.
const CLOCK: &str = "module spinneret_cluster_clock (\n    input  wire clk,\n    input  wire rst,\n    output wire cluster_clk,\n    \
                     output wire cluster_locked\n);\nendmodule\n";

/// Parameters that Corundum's core sets on cards with this application, without defaults. Side bands follow from
/// the numbers of queues, 2**13 to send and 2**8 to receive, the RAM's address from its 128 KiB; tags of the DMA and the
/// number of its RAM are those of a card that was built.
const CARDS: &[(&str, u64)] = &[
    ("PORTS_PER_IF", 1),
    ("SCHED_PER_IF", 1),
    ("TX_TAG_WIDTH", 16),
    ("APP_AXIS_DIRECT_ENABLE", 0),
    ("APP_AXIS_SYNC_ENABLE", 0),
    ("DMA_TAG_WIDTH", 13),
    ("RAM_SEL_WIDTH", 1),
    ("RAM_ADDR_WIDTH", 17),
    ("RAM_SEG_ADDR_WIDTH", 10),
    ("AXIL_CTRL_ADDR_WIDTH", 24),
    ("AXIS_IF_TX_ID_WIDTH", 13),
    ("AXIS_IF_TX_DEST_WIDTH", 4),
    ("AXIS_IF_RX_ID_WIDTH", 1),
    ("AXIS_IF_RX_DEST_WIDTH", 9),
];

/// A folder with the sources, and their names, each behind those that it needs.
struct Shipped {
    folder: PathBuf,
    files: Vec<String>,
}

impl Shipped {
    /// Tests run at the same time, so each has a folder of its own.
    fn new(test: &str, generation: Generation, data_width: usize) -> Self {
        let name = format!("app_block_{test}_{generation}_{data_width}");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(folder.join("lint")).unwrap_or_else(|error| panic!("{error}"));
        let options = AppOptions {
            generation,
            cluster: Cluster::Stub,
            data_width,
            ..AppOptions::default()
        };
        let sources = sources(options).unwrap_or_else(|error| panic!("{error}"));
        let clock = ("lint/spinneret_cluster_clock.sv".to_owned(), CLOCK.to_owned());
        let texts = sources
            .files
            .into_iter()
            .map(|file| (format!("{}.sv", file.module), file.text));
        let mut files = Vec::new();
        for (name, text) in [clock].into_iter().chain(texts) {
            fs::write(folder.join(&name), text).unwrap_or_else(|error| panic!("{name}: {error}"));
            files.push(name);
        }
        Self { folder, files }
    }

    /// Lints the block with these parameters in Verilator; its complaint is the error.
    fn lint(&self, parameters: &[(&str, u64)]) -> Result<(), String> {
        let waivers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/verilator.vlt");
        let mut command = Command::new("verilator");
        command
            .args(["--lint-only", "-Wall", "--top-module", TOP])
            .arg(&waivers);
        command.args(parameters.iter().map(|(name, value)| format!("-G{name}={value}")));
        let output = command
            .args(&self.files)
            .current_dir(&self.folder)
            .output()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() && said.is_empty() {
            return Ok(());
        }
        Err(said)
    }
}

#[test]
fn it_elaborates_with_what_cards_set() {
    for (number, generation) in Generation::ALL.into_iter().enumerate() {
        // Time stamps have 96 bits, or 48 in later revisions; cards have one or two interfaces, and up to four memories. Beats of a
        // port have 64 bits at 10 and 25 Gb/s, and two of them make one of an interface at 25.
        let cards = [
            (1, 96, 1, [512, 512]),
            (2, 96, 4, [64, 128]),
            (2, 48, 4, [512, 512]),
            (1, 48, 2, [64, 64]),
        ];
        // The generations share what is inside: before a merge each takes every second card, by night all.
        let step = spinneret_skip::stride(2);
        for (interfaces, time_stamp, memories, [port, interface]) in
            cards.into_iter().skip(number % step).step_by(step)
        {
            let shipped = Shipped::new("cards", generation, interface as usize);
            let mut parameters = CARDS.to_vec();
            parameters.extend([
                ("IF_COUNT", interfaces),
                ("PORT_COUNT", interfaces),
                ("PTP_TS_WIDTH", time_stamp),
                ("AXIS_RX_USER_WIDTH", time_stamp + 1),
                ("AXIS_SYNC_RX_USER_WIDTH", time_stamp + 1),
                ("AXIS_IF_RX_USER_WIDTH", time_stamp + 1),
                ("DDR_CH", memories),
                ("AXIS_DATA_WIDTH", port),
                ("AXIS_SYNC_DATA_WIDTH", interface),
                ("AXIS_IF_DATA_WIDTH", interface),
            ]);
            let said = shipped.lint(&parameters);
            assert_eq!(said, Ok(()), "{generation}, {parameters:?}");
        }
    }
}

/// A value that the block does not take for each of its conditions.
const REFUSED: &[(&str, u64, &str)] = &[
    ("PORTS_PER_IF", 2, "be_1"),
    ("AXIS_IF_DATA_WIDTH", 256, "be_512"),
    ("AXIS_IF_TX_USER_WIDTH", 18, "be_17"),
    ("AXIS_IF_TX_ID_WIDTH", 17, "be_16_at_most"),
    ("AXIS_IF_TX_DEST_WIDTH", 9, "be_8_at_most"),
    ("AXIS_IF_RX_ID_WIDTH", 9, "be_8_at_most"),
    ("AXIS_IF_RX_DEST_WIDTH", 17, "be_16_at_most"),
    ("AXIS_IF_RX_USER_WIDTH", 98, "be_97_at_most"),
    ("PTP_TS_WIDTH", 97, "be_96_at_most"),
    ("TX_TAG_WIDTH", 15, "be_16"),
    ("APP_DMA_ENABLE", 0, "be_1"),
    ("APP_CTRL_ENABLE", 0, "be_1"),
    ("APP_AXIS_IF_ENABLE", 0, "be_1"),
    ("DMA_ADDR_WIDTH", 32, "be_64"),
    ("DMA_LEN_WIDTH", 20, "be_16"),
    ("DMA_TAG_WIDTH", 5, "be_6_at_least"),
    ("RAM_ADDR_WIDTH", 13, "be_14_at_least"),
    ("RAM_SEG_COUNT", 4, "be_2"),
    ("RAM_SEG_DATA_WIDTH", 256, "be_512"),
    ("AXIL_APP_CTRL_DATA_WIDTH", 64, "be_32"),
    ("AXIL_APP_CTRL_ADDR_WIDTH", 23, "be_24_at_least"),
    ("STAT_INC_WIDTH", 25, "be_24"),
    ("STAT_ID_WIDTH", 13, "be_12"),
];

#[test]
fn it_refuses_other_values_and_says_which() {
    for generation in Generation::ALL {
        let shipped = Shipped::new("refused", generation, 512);
        let text = fs::read_to_string(shipped.folder.join(format!("{TOP}.sv")));
        let text = text.unwrap_or_else(|error| panic!("{error}"));
        // Each condition has a case here.
        assert_eq!(text.matches("_has_to_be_").count(), REFUSED.len(), "{generation}");
        let all: Vec<_> = REFUSED.iter().map(|(name, value, _)| (*name, *value)).collect();
        let said = shipped.lint(&all).unwrap_err();
        for (name, _, rule) in REFUSED {
            assert!(
                said.contains(&missing(name, rule)),
                "{generation}, {name}: {said}"
            );
        }
        let said = shipped.lint(&[("AXIS_IF_DATA_WIDTH", 256)]).unwrap_err();
        assert!(said.contains(&missing("AXIS_IF_DATA_WIDTH", "be_512")), "{said}");
        assert_eq!(
            said.matches("Cannot find file containing module").count(),
            1,
            "{said}"
        );
    }
}

/// Verilator's message for a violated condition.
fn missing(name: &str, rule: &str) -> String {
    format!("Cannot find file containing module: '{name}_has_to_{rule}'")
}

/// The last values that the block takes of those that have a limit.
const LIMITS: &[(&str, u64)] = &[
    ("AXIS_IF_TX_ID_WIDTH", 16),
    ("AXIS_IF_TX_DEST_WIDTH", 8),
    ("AXIS_IF_RX_ID_WIDTH", 8),
    ("AXIS_IF_RX_DEST_WIDTH", 16),
    ("AXIS_IF_RX_USER_WIDTH", 97),
    ("PTP_TS_WIDTH", 96),
    ("DMA_TAG_WIDTH", 6),
    ("RAM_ADDR_WIDTH", 14),
    ("AXIL_APP_CTRL_ADDR_WIDTH", 24),
];

#[test]
fn it_elaborates_at_its_limits() {
    for generation in Generation::ALL {
        let said = Shipped::new("limits", generation, 512).lint(LIMITS);
        assert_eq!(said, Ok(()), "{generation}");
    }
}
