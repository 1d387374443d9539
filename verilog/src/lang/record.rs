//! Fields of packed words; [`macro@crate::lang::record`] places them.

use super::build;
use super::word::Word;
use rust_hdl::core::ast::VerilogExpression;
use std::sync::Mutex;

/// Some bits of a word: a field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The lowest of them.
    pub at: usize,
    /// How many.
    pub width: usize,
    /// The record that it belongs to.
    pub(crate) layout: &'static Layout,
}

/// What the generated text calls a record and its fields.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    /// Name of the Rust struct.
    pub(crate) name: String,
    /// The fields, the lowest first; those of no width are not among them.
    pub(crate) fields: Vec<Named>,
    /// Bits of all.
    pub(crate) width: usize,
}

/// A field as the generated text has it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) at: usize,
    pub(crate) place: Place,
}

/// What a field holds: bits, or another record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// How many bits.
    pub width: usize,
    /// The record.
    pub(crate) inner: Option<&'static Layout>,
}

impl From<usize> for Place {
    fn from(width: usize) -> Self {
        Self { width, inner: None }
    }
}

/// Every layout that was ever made. Fields are copied freely, so layouts live for ever; equal ones are one.
static LAYOUTS: Mutex<Vec<&'static Layout>> = Mutex::new(Vec::new());

fn layouts() -> std::sync::MutexGuard<'static, Vec<&'static Layout>> {
    // A list that only grows is whole even if somebody panicked over it.
    LAYOUTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Layout {
    /// The layout of fields one behind the other, the first at bit 0, and these fields.
    pub fn place<const N: usize>(name: &str, fields: [(&str, Place); N]) -> [Field; N] {
        let placed = Self::of(name, fields.to_vec());
        std::array::from_fn(|number| placed[number])
    }

    /// The same for a list.
    pub fn of(name: &str, fields: Vec<(&str, Place)>) -> Vec<Field> {
        let mut layout = Self {
            name: name.to_owned(),
            fields: Vec::new(),
            width: 0,
        };
        let mut at = Vec::new();
        for (name, place) in &fields {
            at.push(layout.width);
            if place.width > 0 {
                layout.fields.push(Named {
                    name: (*name).to_owned(),
                    at: layout.width,
                    place: *place,
                });
            }
            layout.width += place.width;
        }
        let layout = layout.shared();
        let field = |((_, place), at): ((&str, Place), usize)| Field {
            at,
            width: place.width,
            layout,
        };
        fields.into_iter().zip(at).map(field).collect()
    }

    /// The record as a field of another one.
    pub fn as_place(&'static self) -> Place {
        Place {
            width: self.width,
            inner: Some(self),
        }
    }

    fn shared(self) -> &'static Self {
        let mut all = layouts();
        match all.iter().find(|layout| ***layout == self) {
            Some(layout) => layout,
            None => {
                let layout: &'static Self = Box::leak(Box::new(self));
                all.push(layout);
                layout
            }
        }
    }
}

/// What stands in front of the place of a field in the syntax tree, which has no fields. No signal can be called so.
const MARK: &str = "@field$";

impl Field {
    /// The record that it belongs to.
    pub fn layout(self) -> &'static Layout {
        self.layout
    }

    /// Its lowest bit, as an expression that the back-end knows the field by.
    pub fn offset(self) -> VerilogExpression {
        let number = layouts()
            .iter()
            .position(|layout| std::ptr::eq(*layout, self.layout));
        match number {
            Some(number) => VerilogExpression::Signal(format!("{MARK}{number}${}", self.at)),
            None => build::literal(&self.at),
        }
    }

    /// The layout and the lowest bit that [`Field::offset`] stands for.
    pub(crate) fn find(offset: &VerilogExpression) -> Option<(&'static Layout, usize)> {
        let VerilogExpression::Signal(name) = offset else {
            return None;
        };
        let (number, at) = name.strip_prefix(MARK)?.split_once('$')?;
        let layout = *layouts().get(number.parse::<usize>().ok()?)?;
        Some((layout, at.parse().ok()?))
    }
}

impl Word {
    /// The bits of a field.
    pub fn field(&self, field: Field) -> Self {
        self.slice(field.at, field.width)
    }

    /// The bit of a field that is one bit.
    pub fn flag(&self, field: Field) -> bool {
        self.get_bit(field.at)
    }

    /// Replaces the bits of a field in place.
    ///
    /// # Panics
    /// If the value does not have its width.
    pub fn set_field(&mut self, field: Field, value: impl Into<Self>) {
        self.set_slice(field.at, field.width, value);
    }

    /// The record whose fields have these values; what [`crate::pack!`] expands to.
    ///
    /// # Panics
    /// If the fields are not those of one record, each once.
    pub fn pack(fields: &[(Field, Self)]) -> Self {
        let in_order = in_order(
            fields
                .iter()
                .map(|(field, value)| (*field, value.clone()))
                .collect(),
        );
        let mut word = Self::zero(0);
        for (field, value) in in_order {
            word = Self::cat(&[value.sized(field.width), word]);
        }
        word
    }
}

/// The values of all fields of a record, the lowest first.
///
/// # Panics
/// If the fields are not those of one record, each once.
pub(crate) fn in_order<T>(mut fields: Vec<(Field, T)>) -> Vec<(Field, T)> {
    fields.retain(|(field, _)| field.width > 0);
    fields.sort_by_key(|(field, _)| field.at);
    let layout = fields
        .first()
        .expect("pack! takes the fields of a record")
        .0
        .layout;
    let given: Vec<usize> = fields.iter().map(|(field, _)| field.at).collect();
    for Named { name, at, .. } in &layout.fields {
        let times = given.iter().filter(|given| *given == at).count();
        assert!(
            times == 1,
            "pack! gives the field {name} of {} {times} times",
            layout.name
        );
    }
    let foreign = fields.iter().any(|(field, _)| field.layout != layout);
    assert!(!foreign, "pack! takes the fields of one record, {}", layout.name);
    fields
}

/// The parts of a record for a kernel that is executed, the highest first.
///
/// # Panics
/// If the fields are not those of one record, each once.
pub(crate) fn parts_of<T>(fields: Vec<(Field, T)>) -> Vec<(Field, T)> {
    in_order(fields).into_iter().rev().collect()
}

/// A part of a record, in the syntax tree.
///
/// # Panics
/// If the value does not have the width of the field.
pub fn of_field(node: VerilogExpression, value: impl Into<Word>, field: Field) -> VerilogExpression {
    let _ = value.into().sized(field.width);
    node
}

/// A record of its parts, in the syntax tree.
///
/// # Panics
/// If the fields are not those of one record, each once.
pub fn pack_hdl(parts: Vec<(Field, VerilogExpression)>) -> VerilogExpression {
    let parts = in_order(parts).into_iter().rev();
    build::cat(parts.map(|(field, part)| (part, field.width)).collect())
}

/// Puts a word together from the fields of a record: `pack!(request { address: self.a.val(), is_write: true })`.
///
/// All fields stand there once, in any order; those of no width may be left out.
#[macro_export]
macro_rules! pack {
    ($record:ident { $($field:ident : $value:expr),+ $(,)? }) => {
        $crate::lang::Word::pack(&[$(($record.$field, $crate::lang::Word::from($value))),+])
    };
}
