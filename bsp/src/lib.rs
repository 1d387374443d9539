//! Boards that spinneret is made for: part, clocks, host interface, pins, and the Corundum design it plugs into.
//!
//! All vendor primitives are in this crate.

pub mod alchitry_cu;
pub mod alchitry_cu_hpu;
pub mod colorlight_5a_75b;
pub mod ecp5;
pub mod floor_plan;
pub mod ultrascale;

use floor_plan::{FloorPlan, VU9P};

/// All boards, in alphabetical order of their names.
pub fn boards() -> &'static [Board] {
    const BOARDS: &[Board] = &[
        alchitry_cu::BOARD,
        alchitry_cu_hpu::BOARD,
        AU200,
        AU250,
        AU280,
        AU50,
        AU55N,
        colorlight_5a_75b::BOARD,
        VCU1525,
    ];
    BOARDS
}

/// The board of that name.
pub fn find(name: &str) -> Option<&'static Board> {
    boards().iter().find(|board| board.name == name)
}

/// A family of FPGAs, which decides the vendor primitives and the synthesis tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// AMD UltraScale+ (Vivado; in yosys `synth_xilinx -family xcup`).
    UltraScalePlus,
    /// Lattice iCE40 (yosys `synth_ice40` and nextpnr).
    Ice40,
    /// Lattice ECP5 (yosys `synth_ecp5` and nextpnr).
    Ecp5,
}

impl Family {
    /// Returns the vendor's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::UltraScalePlus => "UltraScale+",
            Self::Ice40 => "iCE40",
            Self::Ecp5 => "ECP5",
        }
    }
}

/// The PCI Express interface of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PciExpress {
    /// Generation that the design runs at.
    pub generation: u8,
    /// Number of lanes.
    pub lanes: u8,
}

/// The designs of a board in Corundum, one for each [`Rate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CorundumDesign {
    /// Directories relative to the root of its tree, one of which has the design for 100 Gb/s: the place in the newest tree first,
    /// then those of older trees. There is at least one.
    pub directories: &'static [&'static str],
}

/// A rate of Ethernet that Corundum has designs for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rate {
    /// 100 Gb/s.
    #[default]
    Gb100,
    /// 25 Gb/s.
    Gb25,
    /// 10 Gb/s.
    Gb10,
}

impl Rate {
    /// All, the fastest first.
    pub const ALL: [Self; 3] = [Self::Gb100, Self::Gb25, Self::Gb10];

    /// In Gb/s, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gb100 => "100",
            Self::Gb25 => "25",
            Self::Gb10 => "10",
        }
    }

    /// Bits of a beat of Corundum's interfaces in these designs. Its ports have 64 at 10 and 25 Gb/s; at 25 two beats of a port make
    /// one of an interface (`AXIS_ETH_SYNC_DATA_WIDTH_DOUBLE` in the boards' config.tcl).
    pub fn data_width(self) -> usize {
        match self {
            Self::Gb100 => 512,
            Self::Gb25 => 128,
            Self::Gb10 => 64,
        }
    }

    /// The directory of the design, from that of the one for 100 Gb/s. Corundum keeps those for 10 and 25 side by side.
    pub fn directory(self, of_100: &str) -> String {
        match self {
            Self::Gb100 => of_100.to_owned(),
            Self::Gb25 => of_100.replace("fpga_100g", "fpga_25g"),
            Self::Gb10 => of_100.replace("fpga_100g", "fpga_25g") + "_10g",
        }
    }
}

/// One pin of a board's package with the signal it is wired to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pin {
    /// Name of the signal, `leds[3]` for bit 3 of a bus.
    pub signal: String,
    /// Name of the package's ball.
    pub ball: String,
}

/// A board.
#[derive(Clone, Copy, Debug)]
pub struct Board {
    /// Name as in `gen-verilog --board`.
    pub name: &'static str,
    /// Name as its maker writes it.
    pub title: &'static str,
    /// Family of the FPGA.
    pub family: Family,
    /// Order number of the FPGA as the synthesis tool wants it.
    pub part: &'static str,
    /// Frequency in Hz of the clock that spinneret's blocks run on.
    pub core_clock_hz: u64,
    /// The PCI Express interface, if the board has one.
    pub pci_express: Option<PciExpress>,
    /// The Corundum design to plug into, if there is one.
    pub corundum: Option<CorundumDesign>,
    /// Regions of the FPGA for placement, if its grid is known.
    pub floor_plan: Option<FloorPlan>,
    /// The pins that our design drives itself; none where Corundum has all pin constraints.
    pub pins: fn() -> Vec<Pin>,
}

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
pub const AU200: Board = on_vu9p(card(
    "au200",
    "AMD Alveo U200",
    "xcu200-fsgd2104-2-e",
    &[
        "fpga/mqnic/Alveo/fpga_100g/fpga_AU200",
        "fpga/mqnic/AU200/fpga_100g/fpga_AU200",
        "fpga/mqnic/AU200/fpga_100g/fpga",
    ],
));

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
pub const VCU1525: Board = on_vu9p(card(
    "vcu1525",
    "AMD VCU1525",
    "xcvu9p-fsgd2104-2L-e",
    &[
        "fpga/mqnic/Alveo/fpga_100g/fpga_VCU1525",
        "fpga/mqnic/AU200/fpga_100g/fpga_VCU1525",
        "fpga/mqnic/VCU1525/fpga_100g/fpga",
    ],
));

/// The card's FPGA is a VU9P with its PCI Express block in the SLR in the middle.
const fn on_vu9p(card: Board) -> Board {
    Board {
        floor_plan: Some(FloorPlan {
            device: VU9P,
            nic_slr: 1,
        }),
        ..card
    }
}

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
        floor_plan: None,
        // Corundum's own constraints place every pin of these cards.
        pins: Vec::new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_sorted_and_found() {
        let names: Vec<_> = boards().iter().map(|board| board.name).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(names, sorted);
        for name in names {
            assert_eq!(find(name).map(|board| board.name), Some(name));
        }
        assert!(find("vcu9999").is_none());
    }

    #[test]
    fn every_ultrascale_board_has_a_corundum_design_at_250_mhz() {
        for board in boards()
            .iter()
            .filter(|board| board.family == Family::UltraScalePlus)
        {
            let places = board.corundum.map(|design| design.directories);
            assert!(places.is_some_and(|places| !places.is_empty()), "{}", board.name);
            assert_eq!(board.core_clock_hz, 250_000_000, "{}", board.name);
            assert_eq!(
                board.pci_express,
                Some(PciExpress {
                    generation: 3,
                    lanes: 16
                }),
                "{}",
                board.name
            );
            assert!(board.part.starts_with("xc"), "{}", board.name);
        }
    }
}
