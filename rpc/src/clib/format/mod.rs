//! `printf` without the host's varargs: formats are parsed, arguments are read by the widths that formats say, and what is
//! missing or wrong never reads memory.
//!
//! Text is that of the GNU C library, with which LLVM 23's server formats; LLVM 22's own formatter differs in the null
//! pointer only.

mod render;
mod spec;
#[cfg(test)]
mod tests;

pub(crate) use render::{Dialect, render};
pub(crate) use spec::{Item, Packing};

use spec::Arguments;
use spec::Pieces;

/// Bytes of arguments that a format reads.
pub(crate) fn argument_bytes(format: &[u8], packing: Packing) -> usize {
    let mut arguments = Arguments::new(&[], packing);
    Pieces::new(format).for_each(|piece| {
        arguments.item(piece);
    });
    arguments.bytes()
}

/// A format with its arguments.
pub(crate) fn bind<'f>(format: &'f [u8], arguments: &[u8], packing: Packing) -> Vec<Item<'f>> {
    let mut arguments = Arguments::new(arguments, packing);
    Pieces::new(format).map(|piece| arguments.item(piece)).collect()
}
