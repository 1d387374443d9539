//! Fields of packed words; [`macro@crate::lang::record`] places them.

use super::called::Called;
use super::optional::Optional;
use super::wire::{Value, Wire};
use rust_hdl::prelude::Direction;
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

/// The names of a record and its fields in the generated text.
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

/// The content of a field: bits, or another record.
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

/// A port or a bundle of ports, which has a place in a record.
pub trait Placed {
    /// Its place.
    fn place_of(&self) -> Place;
}

impl<D: Direction, T: Value> Placed for Wire<D, T> {
    fn place_of(&self) -> Place {
        self.width().into()
    }
}

/// A part that is not there has no bits.
impl<P: Placed> Placed for Optional<P> {
    fn place_of(&self) -> Place {
        self.part().map_or(0.into(), P::place_of)
    }
}

impl<P: Placed> Placed for Called<P> {
    fn place_of(&self) -> Place {
        P::place_of(self)
    }
}

/// Every layout that was ever made. Fields are copied freely, so layouts live for ever; equal ones are one.
static LAYOUTS: Mutex<Vec<&'static Layout>> = Mutex::new(Vec::new());

fn layouts() -> std::sync::MutexGuard<'static, Vec<&'static Layout>> {
    // A list that only grows is consistent even if a thread panicked while it held the lock.
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

impl Field {
    /// The record that it belongs to.
    pub fn layout(self) -> &'static Layout {
        self.layout
    }
}

/// The values of all fields of a record, the highest first.
///
/// # Panics
/// If the fields are not those of one record, each once.
pub(crate) fn parts_of<T>(mut fields: Vec<(Field, T)>) -> Vec<(Field, T)> {
    fields.retain(|(field, _)| field.width > 0);
    fields.sort_by_key(|(field, _)| std::cmp::Reverse(field.at));
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
