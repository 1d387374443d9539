//! Signals that carry records: their bits are printed by the names of fields.
//!
//! A kernel that selects a field of a signal says what the signal carries, for the whole
//! module: it is declared as a packed struct. Ports keep their form; inside, a signal of that struct stands for them.

use std::collections::{BTreeMap, BTreeSet};

use super::error::Error;
use super::ir::{Expr, Kind, Part, SignalId, Stmt};
use super::marks;
use super::names;
use super::plan::Plan;
use super::symbols::{Role, Symbols};
use super::tables::Identifiers;
use crate::lang::{Layout, Place};

/// The layouts that the kernel gives to signals: one each, or `None` after two that differ.
#[derive(Debug, Default)]
pub(crate) struct Records(BTreeMap<SignalId, Option<&'static Layout>>);

impl Records {
    /// Notes that a field of `base` is selected.
    pub(crate) fn note_field(&mut self, base: &Expr, layout: &'static Layout) {
        if let Kind::Signal(id) = base.kind {
            self.set(id, (base.width == layout.width).then_some(layout));
        }
    }

    fn set(&mut self, id: SignalId, layout: Option<&'static Layout>) {
        let known = self.0.entry(id).or_insert(layout);
        if *known != layout {
            *known = None;
        }
    }

    /// Input and output of a register are one signal in the text.
    fn join_registers(&mut self, symbols: &Symbols) {
        for register in &symbols.registers {
            let known = [register.data, register.output].map(|id| self.0.get(&id).copied());
            for layout in known.into_iter().flatten() {
                self.set(register.data, layout);
                self.set(register.output, layout);
            }
        }
    }
}

/// A signal that is a packed struct in the text.
#[derive(Debug)]
pub(crate) struct View {
    layout: &'static Layout,
    /// Name of its type.
    pub(crate) kind: String,
    /// Name of the signal that stands for a port.
    pub(crate) stands_for_port: Option<String>,
}

/// The packed structs of a module.
#[derive(Debug, Default)]
pub(crate) struct Views {
    of: BTreeMap<SignalId, View>,
    /// Names of types and what they are made of.
    types: Vec<(String, &'static Layout)>,
}

impl Views {
    /// Gives types and names to the signals of which a field is selected in what is printed.
    pub(crate) fn new(
        symbols: &Symbols,
        identifiers: &mut Identifiers,
        mut records: Records,
        plan: &Plan,
    ) -> Result<Self, Error> {
        records.join_registers(symbols);
        let selected = selected(symbols, plan);
        let mut views = Self::default();
        for (id, layout) in records.0 {
            let signal = symbols.signal(id);
            let (Some(layout), None, true) = (layout, &signal.width_name, selected.contains(&id)) else {
                continue;
            };
            let kind = views.type_of(layout, symbols, identifiers)?;
            let is_port = matches!(signal.role, Role::Input | Role::Output);
            let stands_for_port =
                is_port.then(|| identifiers.derive(&format!("{}_fields", signal.identifier)));
            views.of.insert(
                id,
                View {
                    layout,
                    kind,
                    stands_for_port,
                },
            );
        }
        Ok(views)
    }

    fn type_of(
        &mut self,
        layout: &'static Layout,
        symbols: &Symbols,
        identifiers: &mut Identifiers,
    ) -> Result<String, Error> {
        if let Some((name, _)) = self.types.iter().find(|(_, known)| *known == layout) {
            return Ok(name.clone());
        }
        let mut fields = layout.fields.iter();
        if let Some(field) = fields.find(|field| !names::is_identifier(&field.name)) {
            return Err(Error::Identifier {
                path: symbols.block.clone(),
                name: format!("{}.{}", layout.name, field.name),
            });
        }
        // Inner records are declared first.
        for inner in layout.fields.iter().filter_map(|field| field.place.inner) {
            self.type_of(inner, symbols, identifiers)?;
        }
        let name = identifiers.derive(&type_name(&layout.name));
        self.types.push((name.clone(), layout));
        Ok(name)
    }

    fn name_of(&self, layout: &'static Layout) -> String {
        let known = self.types.iter().find(|(_, known)| *known == layout);
        known.map(|(name, _)| name.clone()).unwrap_or_default()
    }

    pub(crate) fn get(&self, id: SignalId) -> Option<&View> {
        self.of.get(&id)
    }

    /// Signals that stand for ports, with what they stand for.
    pub(crate) fn ports(&self) -> impl Iterator<Item = (SignalId, &View, &String)> {
        let all = self.of.iter();
        all.filter_map(|(id, view)| Some((*id, view, view.stands_for_port.as_ref()?)))
    }

    /// The declarations of the types.
    pub(crate) fn declarations(&self) -> String {
        let mut out = String::new();
        for (name, layout) in &self.types {
            out.push_str("    typedef struct packed {\n");
            for field in layout.fields.iter().rev() {
                let kind = match field.place.inner {
                    Some(inner) => self.name_of(inner),
                    None => format!("logic{}", marks::range(field.place.width)),
                };
                out.push_str(&format!("        {kind} {};\n", field.name));
            }
            out.push_str(&format!("    }} {name};\n"));
        }
        out
    }
}

impl View {
    /// The fields, or parts of fields, that these bits are, the highest first.
    pub(crate) fn members(&self, low: usize, width: usize) -> Vec<String> {
        let mut found = Vec::new();
        members(self.layout, low, width, "", &mut found);
        found
    }
}

/// Appends what the bits are called behind `path`.
fn members(layout: &Layout, low: usize, width: usize, path: &str, found: &mut Vec<String>) {
    let high = low + width;
    for field in layout.fields.iter().rev() {
        let (from, to) = (low.max(field.at), high.min(field.at + field.place.width));
        if from >= to {
            continue;
        }
        let (path, low, width) = (format!("{path}.{}", field.name), from - field.at, to - from);
        match (field.place, width) {
            (place, _) if place.width == width => found.push(path),
            (
                Place {
                    inner: Some(inner), ..
                },
                _,
            ) => members(inner, low, width, &path, found),
            (_, 1) => found.push(format!("{path}[{low}]")),
            (_, _) => found.push(format!("{path}[{}:{low}]", low + width - 1)),
        }
    }
}

/// `burst_t` for `BurstFields`.
fn type_name(record: &str) -> String {
    let mut name = String::new();
    for letter in record.strip_suffix("Fields").unwrap_or(record).chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name + "_t"
}

/// Signals of which constant bits are read or written.
fn selected(symbols: &Symbols, plan: &Plan) -> BTreeSet<SignalId> {
    let mut found = BTreeSet::new();
    plan.for_each_expression(symbols, &mut |expr| note_selected(expr, &mut found));
    plan.for_each_statement(&mut |stmt| {
        if let Stmt::Assign { target, .. } = stmt
            && matches!(target.part, Part::Bits { .. })
        {
            found.insert(target.signal);
        }
    });
    for register in &symbols.registers {
        if found.contains(&register.data) || found.contains(&register.output) {
            found.extend([register.data, register.output]);
        }
    }
    found
}

fn note_selected(expr: &Expr, found: &mut BTreeSet<SignalId>) {
    if let Kind::Select(base, _) = &expr.kind
        && let Kind::Signal(id) = base.kind
    {
        found.insert(id);
    }
    let operands = expr.operands();
    operands
        .into_iter()
        .for_each(|operand| note_selected(operand, found));
}

#[cfg(test)]
mod tests {
    use super::type_name;

    #[test]
    fn types_are_called_after_records() {
        assert_eq!(type_name("BurstFields"), "burst_t");
        assert_eq!(type_name("HerContext"), "her_context_t");
    }
}
