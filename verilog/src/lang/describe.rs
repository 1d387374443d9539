//! Names and documentation of blocks, carried from Rust into the generated text.

use super::build;
use rust_hdl::core::ast::VerilogStatement;

/// What `#[derive(Describe)]` knows about a block.
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

/// The comments by which a kernel tells the back-end its name and documentation.
pub fn comments<T: Describe + ?Sized>(
    suffix: Option<String>,
    numbers: &[(&str, usize, Option<&str>)],
) -> Vec<VerilogStatement> {
    metadata::<T>(suffix, numbers)
        .into_iter()
        .map(build::comment)
        .collect()
}

/// Name, documentation and numbers of a block, a line each.
pub(crate) fn metadata<T: Describe + ?Sized>(
    suffix: Option<String>,
    numbers: &[(&str, usize, Option<&str>)],
) -> Vec<String> {
    let name = suffix.map_or(T::NAME.to_owned(), |suffix| format!("{}_{suffix}", T::NAME));
    let mut comments = vec![format!("block: {}", T::NAME), format!("module: {name}")];
    for (name, value, formula) in numbers {
        let formula = formula.map_or_else(String::new, |formula| format!(": {formula}"));
        comments.push(format!("number {name} = {value}{formula}"));
    }
    comments.extend(T::DOC.iter().map(|line| format!("doc: {line}")));
    for (field, lines) in T::FIELDS {
        comments.push(format!("port {field}: {}", lines.join(" ")));
    }
    comments
}
