//! The longest paths of a netlist in LUT levels.
//!
//! A path begins at a clocked cell or an input port and ends at a clocked cell or an output port.
//! Depth is structural: a path counts even if no values ever travel all of it. Of paths with
//! equally many levels the one with the most cells is taken.

use super::netlist::{Direction, Kind, Net, Netlist};
use anyhow::bail;
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// The longest path of each sort; `None` if there is no path of that sort at all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Depth {
    /// From a clocked cell to a clocked cell.
    pub between_registers: Option<Path>,
    /// From an input port to a clocked cell.
    pub from_inputs: Option<Path>,
    /// From a clocked cell to an output port.
    pub to_outputs: Option<Path>,
    /// From an input port to an output port.
    pub through: Option<Path>,
}

/// One path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Path {
    /// LUT levels on it.
    pub levels: u32,
    /// The register or port it begins at.
    pub from: String,
    /// The port it ends at, or the register and the pin of it, such as `count[3].CE`.
    pub to: String,
    /// The primitives on it, in order.
    pub cells: Vec<String>,
}

impl Depth {
    /// Finds the longest paths of a netlist.
    ///
    /// # Errors
    /// A cell of unknown kind, or a combinational loop.
    pub fn of(netlist: &Netlist) -> anyhow::Result<Self> {
        let graph = Graph::new(netlist)?;
        let order = graph.topological_order()?;
        let outputs: HashMap<Net, End<'_>> = netlist
            .port_nets(Direction::Output)
            .map(|net| (net, End { net, pin: None }))
            .collect();
        let inputs: HashSet<Net> = netlist.port_nets(Direction::Input).collect();
        let from_registers = graph.arrivals(&graph.launched, &order);
        let from_inputs = graph.arrivals(&inputs, &order);
        let names = Names {
            nets: netlist.names(),
            ports: netlist.port_names(),
        };
        let longest = |arrivals: &Arrivals<'_>, ends: &HashMap<Net, End<'_>>| arrivals.longest(ends, &names);
        Ok(Self {
            between_registers: longest(&from_registers, &graph.captured),
            from_inputs: longest(&from_inputs, &graph.captured),
            to_outputs: longest(&from_registers, &outputs),
            through: longest(&from_inputs, &outputs),
        })
    }
}

/// A combinational timing arc of a cell.
#[derive(Clone, Copy)]
struct Arc<'a> {
    from: Net,
    to: Net,
    levels: u32,
    cell: &'a str,
    kind: &'a str,
}

struct Graph<'a> {
    arcs: Vec<Arc<'a>>,
    /// Indices of the arcs that leave a net.
    leaving: HashMap<Net, Vec<usize>>,
    /// Nets that clocked cells drive.
    launched: HashSet<Net>,
    /// Nets that clocked cells read.
    captured: HashMap<Net, End<'a>>,
}

/// Where a path ends: a port's net, or a pin of the clocked cell that drives a net.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End<'a> {
    net: Net,
    pin: Option<&'a str>,
}

impl<'a> Graph<'a> {
    fn new(netlist: &'a Netlist) -> anyhow::Result<Self> {
        let mut graph = Self {
            arcs: Vec::new(),
            leaving: HashMap::new(),
            launched: HashSet::new(),
            captured: HashMap::new(),
        };
        for (name, cell) in &netlist.cells {
            let kind = Kind::of_cell(name, cell)?;
            if kind.is_clocked() {
                graph
                    .launched
                    .extend(cell.pins(Direction::Output).map(|(_, net)| net));
                let driven = cell.pins(Direction::Output).map(|(_, net)| net).min();
                for (pin, net) in cell.pins(Direction::Input) {
                    // The first cell that reads a net represents it, so that the result is deterministic.
                    let end = End {
                        net: driven.unwrap_or(net),
                        pin: Some(pin),
                    };
                    graph
                        .captured
                        .entry(net)
                        .and_modify(|known| *known = end.min(*known))
                        .or_insert(end);
                }
            }
            for (output, to) in cell.pins(Direction::Output) {
                for (input, from) in cell.pins(Direction::Input) {
                    if let Some(levels) = kind.levels(input, output) {
                        graph.arcs.push(Arc {
                            from,
                            to,
                            levels,
                            cell: name,
                            kind: &cell.kind,
                        });
                    }
                }
            }
        }
        for (index, arc) in graph.arcs.iter().enumerate() {
            graph.leaving.entry(arc.from).or_default().push(index);
        }
        Ok(graph)
    }

    fn leaving(&self, net: Net) -> impl Iterator<Item = usize> + '_ {
        self.leaving.get(&net).into_iter().flatten().copied()
    }

    /// All arcs in topological order.
    fn topological_order(&self) -> anyhow::Result<Vec<usize>> {
        let mut waiting: HashMap<Net, usize> = HashMap::new();
        for arc in &self.arcs {
            *waiting.entry(arc.to).or_default() += 1;
        }
        let mut ready: Vec<Net> = self
            .leaving
            .keys()
            .copied()
            .filter(|net| !waiting.contains_key(net))
            .collect();
        let mut order = Vec::with_capacity(self.arcs.len());
        while let Some(net) = ready.pop() {
            for index in self.leaving(net) {
                order.push(index);
                let to = self.arcs[index].to;
                if let Some(count) = waiting.get_mut(&to) {
                    *count -= 1;
                    if *count == 0 {
                        ready.push(to);
                    }
                }
            }
        }
        if order.len() == self.arcs.len() {
            return Ok(order);
        }
        let done: HashSet<usize> = order.into_iter().collect();
        // Report the first of the remaining arcs by name, so that the result is deterministic.
        let stuck = self
            .arcs
            .iter()
            .enumerate()
            .filter(|(index, _)| !done.contains(index));
        let cell = stuck.map(|(_, arc)| arc.cell).min().unwrap_or_default();
        bail!("there is a combinational loop through cell `{cell}`")
    }

    /// The longest path from any start to every reachable net.
    fn arrivals(&self, beginnings: &HashSet<Net>, order: &[usize]) -> Arrivals<'_> {
        let mut at: HashMap<Net, Arrival<'_>> =
            beginnings.iter().map(|net| (*net, Arrival::default())).collect();
        for &index in order {
            let arc = &self.arcs[index];
            let Some(before) = at.get(&arc.from) else { continue };
            let length = (before.length.0 + arc.levels, before.length.1 + 1);
            let candidate = Arrival {
                length,
                last: Some(arc),
            };
            let known = at.entry(arc.to).or_default();
            if candidate.rank() > known.rank() {
                *known = candidate;
            }
        }
        Arrivals { at }
    }
}

/// The longest path to a net: LUT levels, cells, and the last arc.
#[derive(Clone, Copy, Default)]
struct Arrival<'a> {
    length: (u32, u32),
    last: Option<&'a Arc<'a>>,
}

impl Arrival<'_> {
    /// Orders arrivals by length, and equal ones by net, so that the choice does not depend on hashing.
    fn rank(&self) -> ((u32, u32), Option<Net>) {
        (self.length, self.last.map(|arc| arc.from))
    }
}

struct Arrivals<'a> {
    at: HashMap<Net, Arrival<'a>>,
}

impl Arrivals<'_> {
    fn longest(&self, ends: &HashMap<Net, End<'_>>, names: &Names) -> Option<Path> {
        let reached = ends.keys().filter_map(|net| Some((self.at.get(net)?, *net)));
        let (arrival, last) = reached.max_by_key(|(arrival, net)| (arrival.rank(), *net))?;
        let mut cells = Vec::new();
        let mut net = last;
        let mut step = arrival.last;
        while let Some(arc) = step {
            cells.push(arc.kind.to_owned());
            net = arc.from;
            step = self.at.get(&net).and_then(|arrival| arrival.last);
        }
        cells.reverse();
        let end = ends[&last];
        let to = end.pin.map_or_else(
            || names.port(end.net),
            |pin| format!("{}.{pin}", names.net(end.net)),
        );
        let from = names.net(net);
        Some(Path {
            levels: arrival.length.0,
            from,
            to,
            cells,
        })
    }
}

/// Names of nets for people.
struct Names {
    nets: HashMap<Net, String>,
    ports: HashMap<Net, String>,
}

impl Names {
    fn net(&self, net: Net) -> String {
        self.nets
            .get(&net)
            .cloned()
            .unwrap_or_else(|| format!("net {net}"))
    }

    fn port(&self, net: Net) -> String {
        self.ports.get(&net).cloned().unwrap_or_else(|| self.net(net))
    }
}
