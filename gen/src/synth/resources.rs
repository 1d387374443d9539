//! How many primitives of each kind a netlist takes.

use super::Error;
use super::cells::Kind;
use super::netlist::Netlist;
use serde::{Deserialize, Serialize};

/// Resources of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Look-up tables used as logic (LUT1 to LUT6 and inverters; yosys does not share a table for two functions).
    pub lut: u32,
    /// Multiplexers behind look-up tables (MUXF7 to MUXF9).
    pub muxf: u32,
    /// Carry cells of four bits.
    pub carry4: u32,
    /// Flip-flops.
    pub ff: u32,
    /// Look-up tables used as memory.
    pub lutram: u32,
    /// Look-up tables used as shift registers.
    pub srl: u32,
    /// Half block RAMs.
    pub ramb18: u32,
    /// Whole block RAMs.
    pub ramb36: u32,
    /// Ultra RAMs.
    pub uram: u32,
}

impl Resources {
    /// Counts the cells of a netlist.
    ///
    /// # Errors
    /// A cell of a kind that is not known.
    pub fn count(netlist: &Netlist) -> Result<Self, Error> {
        let mut sum = Self::default();
        for (name, cell) in &netlist.cells {
            let kind = Kind::of(&cell.kind).ok_or_else(|| Error::UnknownCell {
                cell: name.clone(),
                kind: cell.kind.clone(),
            })?;
            match kind {
                Kind::Lut => sum.lut += 1,
                Kind::WideMux => sum.muxf += 1,
                Kind::Carry => sum.carry4 += 1,
                Kind::FlipFlop => sum.ff += 1,
                Kind::LutRam(tables) => sum.lutram += tables,
                Kind::ShiftRegister => sum.srl += 1,
                Kind::BlockRam18 => sum.ramb18 += 1,
                Kind::BlockRam36 => sum.ramb36 += 1,
                Kind::UltraRam => sum.uram += 1,
                Kind::Buffer => {}
            }
        }
        Ok(sum)
    }
}
