//! What the UltraScale+ primitives of a yosys netlist are: what they count as, and which of their
//! inputs reach which outputs without a clock.

/// What a primitive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A look-up table, or an inverter that yosys could not put into one.
    Lut,
    /// A multiplexer that joins look-up tables of one slice.
    WideMux,
    /// Four bits of a carry chain.
    Carry,
    /// A flip-flop.
    FlipFlop,
    /// Look-up tables used as a memory; the number says how many.
    LutRam(u32),
    /// A look-up table used as a shift register.
    ShiftRegister,
    /// Half of a block RAM.
    BlockRam18,
    /// A whole block RAM.
    BlockRam36,
    /// An ultra RAM.
    UltraRam,
    /// A buffer of clocks or pads, which costs no logic.
    Buffer,
}

impl Kind {
    /// The kind of a primitive by its name; `None` if it is not known here.
    pub fn of(name: &str) -> Option<Self> {
        Some(match name {
            "LUT1" | "LUT2" | "LUT3" | "LUT4" | "LUT5" | "LUT6" | "INV" => Self::Lut,
            "MUXF7" | "MUXF8" | "MUXF9" => Self::WideMux,
            "CARRY4" => Self::Carry,
            "FDRE" | "FDSE" | "FDCE" | "FDPE" | "FDRE_1" | "FDSE_1" | "FDCE_1" | "FDPE_1" => Self::FlipFlop,
            "RAM32X1S" | "RAM64X1S" => Self::LutRam(1),
            "RAM32X1D" | "RAM64X1D" | "RAM128X1S" => Self::LutRam(2),
            "RAM32M" | "RAM64M" | "RAM128X1D" | "RAM256X1S" => Self::LutRam(4),
            "RAM32M16" | "RAM64M8" | "RAM256X1D" | "RAM512X1S" => Self::LutRam(8),
            "SRL16E" | "SRLC16E" | "SRLC32E" => Self::ShiftRegister,
            "RAMB18E2" => Self::BlockRam18,
            "RAMB36E2" => Self::BlockRam36,
            "URAM288" => Self::UltraRam,
            "BUFG" | "IBUF" | "OBUF" => Self::Buffer,
            _ => return None,
        })
    }

    /// Whether its outputs hold something that a clock put there, so that paths begin and end at it.
    pub fn is_clocked(self) -> bool {
        match self {
            Self::Lut | Self::WideMux | Self::Carry | Self::Buffer => false,
            Self::FlipFlop
            | Self::LutRam(_)
            | Self::ShiftRegister
            | Self::BlockRam18
            | Self::BlockRam36
            | Self::UltraRam => true,
        }
    }

    /// LUT levels from an input to an output without a clock; `None` if there is no such way.
    ///
    /// A carry chain counts as one level where a path enters it and as nothing from one of its
    /// cells to the next; a wide multiplexer is part of the slice of the tables it joins.
    pub fn levels(self, input: &str, output: &str) -> Option<u32> {
        match self {
            Self::Lut => Some(1),
            Self::WideMux | Self::Buffer => Some(0),
            Self::Carry => Some(u32::from(input != "CI")),
            Self::LutRam(_) => reads(input, output).then_some(1),
            Self::ShiftRegister => (input.starts_with('A') && output == "Q").then_some(1),
            Self::FlipFlop | Self::BlockRam18 | Self::BlockRam36 | Self::UltraRam => None,
        }
    }
}

/// Whether an input of a LUT RAM is part of the address that an output is read at.
fn reads(input: &str, output: &str) -> bool {
    match output {
        "DPO" => input.starts_with("DPRA"),
        "SPO" | "O" => input.starts_with('A') && !input.starts_with("ADDR"),
        _ => match (input.strip_prefix("ADDR"), output.strip_prefix("DO")) {
            (Some(address), Some(data)) => address == data,
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_in_tables_are_read_through_their_own_address_only() {
        let ram = Kind::of("RAM64M8").unwrap();
        assert_eq!(ram.levels("ADDRA", "DOA"), Some(1));
        assert_eq!(ram.levels("ADDRH", "DOA"), None);
        assert_eq!(ram.levels("DIA", "DOA"), None);
        assert_eq!(ram.levels("WE", "DOA"), None);
        let dual = Kind::of("RAM64X1D").unwrap();
        assert_eq!(dual.levels("DPRA3", "DPO"), Some(1));
        assert_eq!(dual.levels("A3", "DPO"), None);
        assert_eq!(dual.levels("A3", "SPO"), Some(1));
    }

    #[test]
    fn a_carry_chain_costs_one_level_on_entry() {
        assert_eq!(Kind::Carry.levels("S", "CO"), Some(1));
        assert_eq!(Kind::Carry.levels("CI", "CO"), Some(0));
    }

    #[test]
    fn clocked_cells_but_memories_in_tables_have_no_way_through() {
        assert_eq!(Kind::of("FDRE").unwrap().levels("D", "Q"), None);
        assert_eq!(
            Kind::of("RAMB36E2").unwrap().levels("ADDRARDADDR", "DOUTADOUT"),
            None
        );
        assert_eq!(Kind::of("LDCE"), None, "latches have no place in our designs");
    }
}
