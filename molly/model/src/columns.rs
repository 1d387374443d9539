//! Whether messages go straight between the memory of fields and MPI, or are packed and unpacked.

/// What is done with messages under MPI, whose elements may lie apart in the memory of a field, as those of a column do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Columns {
    /// They are copied to a buffer before they are sent, and out of one when they have come.
    Packed,
    /// They go straight out of the field and into it, by MPI's vector types, wherever that is right.
    Vector,
    /// Those of one piece go straight, which saves a copy on each side, and all others are packed: short columns take
    /// less time so, and for long ones a step takes as long in both ways (docs/molly.md, "Columns").
    #[default]
    Chosen,
}

impl Columns {
    /// Whether messages that take so many pieces of a field's memory are to go straight.
    pub fn go_straight(self, pieces: usize) -> bool {
        match self {
            Self::Packed => false,
            Self::Vector => true,
            Self::Chosen => pieces <= 1,
        }
    }
}
