//! The flat netlist of a block as yosys writes it with `write_json`.

use anyhow::{Context as _, anyhow};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// One net of one bit.
pub type Net = u64;

/// A flat netlist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Netlist {
    /// Ports of the module by name.
    pub ports: BTreeMap<String, Port>,
    /// Primitives by name.
    pub cells: BTreeMap<String, Cell>,
    #[serde(default)]
    netnames: BTreeMap<String, NetName>,
}

/// A port of the module.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Port {
    /// Which way it goes.
    pub direction: Direction,
    bits: Vec<Bit>,
}

/// A primitive.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Cell {
    /// Name of the primitive, such as `LUT6`.
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    port_directions: BTreeMap<String, Direction>,
    connections: BTreeMap<String, Vec<Bit>>,
}

/// Direction of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Into the module or cell.
    Input,
    /// Out of it.
    Output,
    /// Both.
    InOut,
}

/// A net, or a constant that no path begins or ends at.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Bit {
    Net(Net),
    #[allow(
        dead_code,
        reason = "names the value in the debug output; no path leads through a constant"
    )]
    Constant(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct NetName {
    #[serde(default)]
    hide_name: u8,
    bits: Vec<Bit>,
}

#[derive(Deserialize)]
struct File {
    modules: BTreeMap<String, Netlist>,
}

impl Netlist {
    /// Reads the module `top` out of the JSON that yosys wrote.
    ///
    /// # Errors
    /// The text is not such a JSON or has no such module.
    pub fn parse(json: &str, top: &str) -> anyhow::Result<Self> {
        let mut file: File = serde_json::from_str(json)
            .map_err(|source| anyhow!("the netlist of `{top}` cannot be read: {source}"))?;
        let module = file.modules.remove(top);
        module.with_context(|| format!("the netlist does not hold the module `{top}`"))
    }

    /// The nets of all ports of one direction.
    pub fn port_nets(&self, direction: Direction) -> impl Iterator<Item = Net> + '_ {
        self.ports
            .values()
            .filter(move |port| port.direction == direction)
            .flat_map(|port| nets(&port.bits))
    }

    /// The nets of all ports with the names of the ports.
    pub fn port_names(&self) -> HashMap<Net, String> {
        let each = self.ports.iter().flat_map(|(name, port)| named(name, &port.bits));
        each.collect()
    }

    /// Returns the name of each net; of several names the shortest.
    pub fn names(&self) -> HashMap<Net, String> {
        let mut names: HashMap<Net, String> = HashMap::new();
        let visible = self
            .netnames
            .iter()
            .filter(|(_, net_name)| net_name.hide_name == 0);
        for (net, name) in visible.flat_map(|(name, net_name)| named(name, &net_name.bits)) {
            let known = names.entry(net).or_insert_with(|| name.clone());
            if name.len() < known.len() {
                *known = name;
            }
        }
        names
    }
}

/// The nets of a signal, each with the signal's name and, if it is a bus, an index.
fn named(name: &str, bits: &[Bit]) -> impl Iterator<Item = (Net, String)> {
    let bus = bits.len() > 1;
    bits.iter().enumerate().filter_map(move |(index, bit)| match bit {
        Bit::Net(net) if bus => Some((*net, format!("{name}[{index}]"))),
        Bit::Net(net) => Some((*net, name.to_owned())),
        Bit::Constant(_) => None,
    })
}

impl Cell {
    /// The nets of the ports of one direction, each with the name of its port.
    pub fn pins(&self, direction: Direction) -> impl Iterator<Item = (&str, Net)> {
        let ports = self.connections.iter();
        ports
            .filter(move |(port, _)| self.port_directions.get(*port) == Some(&direction))
            .flat_map(|(port, bits)| nets(bits).map(move |net| (port.as_str(), net)))
    }
}

fn nets(bits: &[Bit]) -> impl Iterator<Item = Net> + '_ {
    bits.iter().filter_map(|bit| match bit {
        Bit::Net(net) => Some(*net),
        Bit::Constant(_) => None,
    })
}

/// Kind of a primitive.
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
    /// A multiplier.
    Dsp,
    /// A buffer of clocks or pads, which costs no logic.
    Buffer,
}

/// LUT levels that a multiplier without its registers stands for: about the time of four tables and the nets between them.
/// yosys 0.23 does not use its registers for UltraScale+; the vendor's tools do.
const DSP_LEVELS: u32 = 4;

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
            "DSP48E2" => Self::Dsp,
            "BUFG" | "IBUF" | "OBUF" => Self::Buffer,
            _ => return None,
        })
    }

    /// The kind of a cell of a netlist.
    ///
    /// # Errors
    /// It is not known here.
    pub fn of_cell(name: &str, cell: &Cell) -> anyhow::Result<Self> {
        Self::of(&cell.kind).with_context(|| {
            let kind = &cell.kind;
            format!(
                "cell `{name}` is a {kind}, whose timing arcs are unknown: describe it in {}",
                file!()
            )
        })
    }

    /// Whether its outputs hold something that a clock put there, so that paths begin and end at it.
    pub fn is_clocked(self) -> bool {
        match self {
            Self::Lut | Self::WideMux | Self::Carry | Self::Dsp | Self::Buffer => false,
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
            Self::Dsp => Some(DSP_LEVELS),
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
    /// Multipliers.
    #[serde(default)]
    pub dsp: u32,
}

impl Resources {
    /// Counts the cells of a netlist.
    ///
    /// # Errors
    /// A cell of a kind that is not known.
    pub fn count(netlist: &Netlist) -> anyhow::Result<Self> {
        let mut sum = Self::default();
        for (name, cell) in &netlist.cells {
            match Kind::of_cell(name, cell)? {
                Kind::Lut => sum.lut += 1,
                Kind::WideMux => sum.muxf += 1,
                Kind::Carry => sum.carry4 += 1,
                Kind::FlipFlop => sum.ff += 1,
                Kind::LutRam(tables) => sum.lutram += tables,
                Kind::ShiftRegister => sum.srl += 1,
                Kind::BlockRam18 => sum.ramb18 += 1,
                Kind::BlockRam36 => sum.ramb36 += 1,
                Kind::UltraRam => sum.uram += 1,
                Kind::Dsp => sum.dsp += 1,
                Kind::Buffer => {}
            }
        }
        Ok(sum)
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
