//! Faults of the installed MPIs, by which types are left out.

use spinneret_mpi_sys::{Combiner, Tree};

/// What is wrong with an MPI, so that some types cannot be asked of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Faults {
    /// A stride of exactly -1 byte gives wrong bytes and bounds.
    pub(crate) backward_bytes: bool,
    /// Blocks of elements with a negative extent are taken for one long row if there are several of them: after the three of
    /// contiguous(3) of extent -1, which has extent 1, the next lies at -3.
    pub(crate) backward_extents: bool,
    /// Fields of no size move the bounds of a structure, but not the elements that are packed.
    pub(crate) empty_fields: bool,
    /// A type with parts of no size can end the process (SIGFPE in `MPI_Unpack`).
    pub(crate) empty_parts: bool,
    /// An array over a type of no size is refused.
    pub(crate) empty_arrays: bool,
}

impl Faults {
    /// Whether a type has something that the MPI cannot do.
    pub(crate) fn spoil(self, tree: &Tree) -> bool {
        let extent = |tree: &Tree| tree.children.first().map_or(0, |child| child.bounds.extent);
        let stride = match tree.combiner {
            Combiner::Vector => tree.integers[2] * extent(tree),
            Combiner::Hvector => tree.addresses[0],
            _ => 0,
        };
        let is_backward = self.backward_bytes && (stride == -1 || tree.bounds.extent == -1);
        let is_row = self.backward_extents && tree.bounds.extent < 0;
        let is_struct = tree.combiner == Combiner::Struct;
        let has_nothing = tree.children.iter().any(|child| child.bounds.size == 0);
        let is_empty =
            self.empty_parts && tree.bounds.size == 0 || self.empty_fields && is_struct && has_nothing;
        is_backward || is_row || is_empty || tree.children.iter().any(|child| self.spoil(child))
    }
}

#[allow(dead_code, reason = "a test program has one MPI")]
impl Faults {
    /// Those of Open MPI 4.1.4.
    pub(crate) const OPEN_MPI: Self = Self {
        backward_bytes: true,
        backward_extents: false,
        empty_fields: true,
        empty_parts: false,
        empty_arrays: true,
    };

    /// Those of MPICH 4.0.2.
    pub(crate) const MPICH: Self = Self {
        backward_bytes: false,
        backward_extents: true,
        empty_fields: false,
        empty_parts: true,
        empty_arrays: false,
    };
}
