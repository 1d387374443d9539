//! The flat netlist of a block as yosys writes it with `write_json`.

use super::Error;
use serde::Deserialize;
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
    pub fn parse(json: &str, top: &str) -> Result<Self, Error> {
        let mut file: File = serde_json::from_str(json).map_err(|source| Error::Netlist {
            module: top.to_owned(),
            source,
        })?;
        file.modules.remove(top).ok_or_else(|| Error::NoTop {
            module: top.to_owned(),
        })
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

    /// What designers call each net: of several names the shortest.
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
