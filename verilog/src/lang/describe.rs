//! Names and documentation of blocks, carried from Rust into the generated text.

/// The description of a block that `#[module]` provides.
pub trait Describe {
    /// Name of the module: the name of the struct in snake case.
    const NAME: &'static str;
    /// Lines of the struct's documentation.
    const DOC: &'static [&'static str];
    /// Fields with the lines of their documentation.
    const FIELDS: &'static [(&'static str, &'static [&'static str])];
}

/// Bits that tell `count` values apart: what `$clog2` is in the generated text.
#[must_use]
pub fn clog2(count: usize) -> usize {
    count.next_power_of_two().trailing_zeros() as usize
}
