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

/// The comments by which a kernel tells the back-end its name and documentation.
pub fn comments<T: Describe + ?Sized>(
    suffix: Option<String>,
    width: Option<(usize, &str)>,
) -> Vec<VerilogStatement> {
    let name = suffix.map_or(T::NAME.to_owned(), |suffix| format!("{}_{suffix}", T::NAME));
    let mut comments = vec![
        build::comment(format!("block: {}", T::NAME)),
        build::comment(format!("module: {name}")),
    ];
    if let Some((width, of)) = width {
        comments.push(build::comment(format!("parameter WIDTH = {width}: {of}")));
    }
    comments.extend(T::DOC.iter().map(|line| build::comment(format!("doc: {line}"))));
    for (field, lines) in T::FIELDS {
        comments.push(build::comment(format!("port {field}: {}", lines.join(" "))));
    }
    comments
}
