//! What a board is.

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
