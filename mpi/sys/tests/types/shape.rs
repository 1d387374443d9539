//! A tree without the bounds that MPI gives.

use spinneret_mpi_sys::{Combiner, Tree};

/// How a type was made, as far as it does not depend on the MPI.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    pub(crate) combiner: Combiner,
    pub(crate) integers: Vec<i64>,
    pub(crate) addresses: Vec<i64>,
    pub(crate) name: Option<String>,
    pub(crate) children: Vec<Shape>,
}

impl Shape {
    pub(crate) fn of(tree: &Tree) -> Self {
        Self {
            combiner: tree.combiner,
            integers: tree.integers.clone(),
            addresses: tree.addresses.clone(),
            name: tree.name.clone(),
            children: tree.children.iter().map(Self::of).collect(),
        }
    }
}
