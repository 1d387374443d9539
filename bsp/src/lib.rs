//! Boards that spinneret is made for: part, clocks, host interface, pins, and the Corundum design it plugs into.
//!
//! Vendors' primitives are nowhere else.

pub mod alchitry_cu;
pub mod alveo;
pub mod ultrascale;

/// A family of FPGAs, which decides the vendor primitives and the synthesis tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// AMD UltraScale+ (Vivado; in yosys `synth_xilinx -family xcup`).
    UltraScalePlus,
    /// Lattice iCE40 (yosys `synth_ice40` and nextpnr).
    Ice40,
}

impl Family {
    /// The name its vendor gives it.
    pub fn name(self) -> &'static str {
        match self {
            Self::UltraScalePlus => "UltraScale+",
            Self::Ice40 => "iCE40",
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

/// Where Corundum keeps the 100G design of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CorundumDesign {
    /// Directories relative to the root of its tree, one of which has the design: the place in the newest tree first, then
    /// those of older trees. There is at least one.
    pub directories: &'static [&'static str],
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
    /// The way to the host, if the board has one.
    pub pci_express: Option<PciExpress>,
    /// The Corundum design to plug into, if there is one.
    pub corundum: Option<CorundumDesign>,
    /// The pins that a design of ours drives itself; none where Corundum's constraints rule them all.
    pub pins: fn() -> Vec<Pin>,
}

/// All boards, in alphabetical order of their names.
pub fn boards() -> &'static [Board] {
    const BOARDS: &[Board] = &[
        alchitry_cu::BOARD,
        alveo::AU200,
        alveo::AU250,
        alveo::AU280,
        alveo::AU50,
        alveo::AU55N,
        alveo::VCU1525,
    ];
    BOARDS
}

/// The board of that name.
pub fn find(name: &str) -> Option<&'static Board> {
    boards().iter().find(|board| board.name == name)
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
