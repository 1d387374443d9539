//! Parts of a block whose names come from a table.

use super::clocked::Clocked;
use rust_hdl::core::ast::VerilogStatement;
use rust_hdl::prelude::{Block, Clock, Logic, Probe};
use std::fmt::Display;
use std::ops::{Index, IndexMut};

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

    fn parts(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, part)| part)
    }

    fn parts_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|(_, part)| part)
    }
}

/// # Panics
/// If there is no part of that name: a mistake in the kernel.
impl<T, K: Display> Index<K> for Named<T> {
    type Output = T;

    fn index(&self, name: K) -> &T {
        let name = name.to_string();
        let found = self.0.iter().find(|(own, _)| *own == name);
        &found.unwrap_or_else(|| panic!("there is no part `{name}`")).1
    }
}

/// # Panics
/// If there is no part of that name: a mistake in the kernel.
impl<T, K: Display> IndexMut<K> for Named<T> {
    fn index_mut(&mut self, name: K) -> &mut T {
        let name = name.to_string();
        let found = self.0.iter_mut().find(|(own, _)| *own == name);
        &mut found.unwrap_or_else(|| panic!("there is no part `{name}`")).1
    }
}

impl<T: Logic> Logic for Named<T> {
    fn update(&mut self) {}
}

impl<T: Block> Block for Named<T> {
    fn connect_all(&mut self) {
        self.parts_mut().for_each(Block::connect_all);
    }

    fn update_all(&mut self) {
        self.parts_mut().for_each(Block::update_all);
    }

    fn has_changed(&self) -> bool {
        self.parts().any(Block::has_changed)
    }

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        for (own, part) in &self.0 {
            part.accept(&format!("{name}${own}"), probe);
        }
    }
}

impl<T: Clocked> Clocked for Named<T> {
    fn drive_clock(&mut self, clk: Clock, rst: Option<bool>) {
        self.parts_mut().for_each(|part| part.drive_clock(clk, rst));
    }

    fn connect_clock(&mut self, with_reset: bool) {
        self.parts_mut().for_each(|part| part.connect_clock(with_reset));
    }

    fn clock_statements(&self, name: &str, clk: &str, rst: Option<&str>) -> Vec<VerilogStatement> {
        let part = |(own, part): &(String, T)| part.clock_statements(&format!("{name}${own}"), clk, rst);
        self.0.iter().flat_map(part).collect()
    }
}
