//! The VCU1525 and the Alveo cards with a 100G design in Corundum.
//!
//! Parts and directories are those of Corundum's tree, in which the cards moved twice: those with the same design were
//! joined in October 2023, and all of them in November. All of them run Corundum's core, and so the
//! application block, at 250 MHz behind PCI Express gen3 x16.

use crate::board::{Board, CorundumDesign, Family, PciExpress};

/// Alveo U50.
pub const AU50: Board = card(
    "au50",
    "AMD Alveo U50",
    "xcu50-fsvh2104-2-e",
    &[
        "fpga/mqnic/Alveo/fpga_100g/fpga_AU50",
        "fpga/mqnic/AU50/fpga_100g/fpga",
    ],
);

/// Alveo U55N, also sold as Varium C1100.
pub const AU55N: Board = card(
    "au55n",
    "AMD Alveo U55N (Varium C1100)",
    "xcu55n-fsvh2892-2L-e",
    &["fpga/mqnic/Alveo/fpga_100g/fpga_AU55N"],
);

/// Alveo U200.
pub const AU200: Board = card(
    "au200",
    "AMD Alveo U200",
    "xcu200-fsgd2104-2-e",
    &[
        "fpga/mqnic/Alveo/fpga_100g/fpga_AU200",
        "fpga/mqnic/AU200/fpga_100g/fpga_AU200",
        "fpga/mqnic/AU200/fpga_100g/fpga",
    ],
);

/// Alveo U250.
pub const AU250: Board = card(
    "au250",
    "AMD Alveo U250",
    "xcu250-figd2104-2-e",
    &[
        "fpga/mqnic/Alveo/fpga_100g/fpga_AU250",
        "fpga/mqnic/AU200/fpga_100g/fpga_AU250",
        "fpga/mqnic/AU250/fpga_100g/fpga",
    ],
);

/// Alveo U280.
pub const AU280: Board = card(
    "au280",
    "AMD Alveo U280",
    "xcu280-fsvh2892-2L-e",
    &[
        "fpga/mqnic/Alveo/fpga_100g/fpga_AU280",
        "fpga/mqnic/AU280/fpga_100g/fpga",
    ],
);

/// VCU1525, the board of the FPsPIN paper.
pub const VCU1525: Board = card(
    "vcu1525",
    "AMD VCU1525",
    "xcvu9p-fsgd2104-2L-e",
    &[
        "fpga/mqnic/Alveo/fpga_100g/fpga_VCU1525",
        "fpga/mqnic/AU200/fpga_100g/fpga_VCU1525",
        "fpga/mqnic/VCU1525/fpga_100g/fpga",
    ],
);

const fn card(
    name: &'static str,
    title: &'static str,
    part: &'static str,
    directories: &'static [&'static str],
) -> Board {
    Board {
        name,
        title,
        family: Family::UltraScalePlus,
        part,
        core_clock_hz: 250_000_000,
        pci_express: Some(PciExpress {
            generation: 3,
            lanes: 16,
        }),
        corundum: Some(CorundumDesign { directories }),
        // Corundum's own constraints place every pin of these cards.
        pins: Vec::new,
    }
}
