//! Parts of a block whose names come from a table.

use super::only_shown;
use rust_hdl::prelude::{Block, Logic, Probe};
use std::fmt::Display;

/// Ports, registers or blocks of one kind, each with a name that is only known when hardware is generated.
///
/// It is to names what a `Vec` is to numbers: the part `mask` of the field `held` is `held_mask` in the
/// generated text. A kernel asks for a part by anything that shows its name.
///
/// ```
/// use spinneret_verilog::prelude::*;
///
/// /// Registers of a table.
/// #[module(names: Vec<String>)]
/// struct Table {
///     d: Wire<In, 8>,
///     q: Named<Wire<Out, 8>, { &names }>,
///     held: Named<Reg<8>, { &names }>,
/// }
///
/// #[kernel(Table { d, q, held, names })]
/// fn update() {
///     for name in &names {
///         held[name] = d;
///         q[name] = held[name];
///     }
/// }
///
/// let table = Table::new(vec!["mask".to_owned(), "start".to_owned()]);
/// let ports = spinneret_verilog::generate(&table, "table_of_two")?.ports;
/// assert!(ports.iter().any(|port| port.name == "q_start"));
/// # Ok::<(), spinneret_verilog::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Named<T>(Vec<(String, T)>);

impl<T> Named<T> {
    /// One part for each name; names are identifiers, and different.
    pub fn new<K: Display>(names: impl IntoIterator<Item = K>, mut make: impl FnMut(&K) -> T) -> Self {
        let part = |name: K| (name.to_string(), make(&name));
        Self(names.into_iter().map(part).collect())
    }

    /// The parts with their names.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &(String, T)> {
        self.0.iter()
    }
}

impl<T: Logic> Logic for Named<T> {
    fn update(&mut self) {}
}

impl<T: Block> Block for Named<T> {
    only_shown!();

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        for (own, part) in &self.0 {
            part.accept(&format!("{name}${own}"), probe);
        }
    }
}
