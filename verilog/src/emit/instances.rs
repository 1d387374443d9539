//! Instances of an array that differ in numbers only become a `generate` loop, and a port of theirs is one signal.

use std::collections::BTreeMap;

use super::ir::SignalId;
use super::marks;
use super::records::Views;
use super::symbols::{Child, Symbols};

/// The fewest instances of a loop. Fewer are shorter to name one by one, in proofs and constraints.
const LEAST: usize = 8;

/// Instances of one module that stand one after the other and are numbered from 0.
#[derive(Debug)]
pub(crate) struct Array {
    /// Place of the first among the instances of the module.
    pub(crate) first: usize,
    pub(crate) count: usize,
    /// Name of each within the loop.
    pub(crate) identifier: String,
    /// Name of the loop.
    pub(crate) label: String,
    /// Declarations of the signals that stand for all nets of a port, by the net of the first instance.
    pub(crate) declarations: BTreeMap<SignalId, String>,
    /// The name of each net in the text.
    pub(crate) nets: BTreeMap<SignalId, String>,
}

impl Array {
    /// The name of an instance, by its place among those of the module.
    pub(crate) fn path(&self, place: usize) -> String {
        format!("{}[{}].{}", self.label, place - self.first, self.identifier)
    }
}

/// The arrays among the instances of a module. `is_net` tells ports that have a signal of their own.
pub(crate) fn arrays(symbols: &Symbols, views: &Views, is_net: impl Fn(SignalId) -> bool) -> Vec<Array> {
    let mut found = Vec::new();
    let mut rest = symbols.children.as_slice();
    while let Some(first) = rest.first() {
        let base = first.identifier.strip_suffix("_0");
        let count = base.map_or(1, |base| count(base, rest).max(1));
        if let Some(base) = base.filter(|_| count >= LEAST) {
            let place = symbols.children.len() - rest.len();
            found.extend(array(symbols, views, &is_net, base, place, count));
        }
        rest = &rest[count..];
    }
    found
}

/// How many instances are alike and numbered one after the other.
fn count(base: &str, children: &[Child]) -> usize {
    let follows = |(number, child): (usize, &Child)| {
        let first = &children[0];
        child.identifier == format!("{base}_{number}")
            && (&child.module, &child.parameters) == (&first.module, &first.parameters)
    };
    children
        .iter()
        .enumerate()
        .take_while(|child| follows(*child))
        .count()
}

/// None if a name is taken, or a port has more than one bit: yosys 0.23 knows no packed arrays of words.
fn array(
    symbols: &Symbols,
    views: &Views,
    is_net: impl Fn(SignalId) -> bool,
    base: &str,
    first: usize,
    count: usize,
) -> Option<Array> {
    let field = base.strip_prefix("u_")?;
    let mut array = Array {
        first,
        count,
        identifier: base.to_owned(),
        label: format!("g_{field}"),
        declarations: BTreeMap::new(),
        nets: BTreeMap::new(),
    };
    for (number, child) in symbols.children[first..first + count].iter().enumerate() {
        for (port, id) in child.ports.iter().filter(|(_, id)| is_net(*id)) {
            let (signal, name) = (symbols.signal(*id), format!("{field}_{port}"));
            let is_regular = signal.identifier == format!("{field}_{number}_{port}") && !signal.signed;
            let is_taken = symbols.signals.iter().any(|other| other.identifier == name);
            if !is_regular || is_taken || views.get(*id).is_some() || signal.width > 1 {
                return None;
            }
            if number == 0 {
                array
                    .declarations
                    .insert(*id, format!("logic{} {name}", marks::range(count)));
            }
            array.nets.insert(*id, name + &marks::select(number, 1));
        }
    }
    Some(array)
}
