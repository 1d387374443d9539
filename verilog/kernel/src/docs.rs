//! Documentation in the source, on its way into the generated text.

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Block, Expr, Lit, Meta};

/// The attributes of an expression that is a statement.
pub(crate) fn attributes(expr: &Expr) -> &[Attribute] {
    match expr {
        // syn hangs them on the first operand.
        Expr::Assign(node) => attributes(&node.left),
        Expr::Field(node) => &node.attrs,
        Expr::Path(node) => &node.attrs,
        Expr::Unary(node) => &node.attrs,
        Expr::Tuple(node) => &node.attrs,
        Expr::Macro(node) => &node.attrs,
        Expr::Index(node) => &node.attrs,
        Expr::Call(node) => &node.attrs,
        Expr::If(node) => &node.attrs,
        Expr::Match(node) => &node.attrs,
        Expr::ForLoop(node) => &node.attrs,
        Expr::Block(node) => &node.attrs,
        Expr::MethodCall(node) => &node.attrs,
        _ => &[],
    }
}

/// Documentation in front of a statement goes into the generated text.
pub(crate) fn comments(attributes: &[Attribute]) -> TokenStream {
    doc_lines(attributes)
        .map(|line| quote!(__statements.push(::spinneret_verilog::lang::build::comment(#line));))
        .collect()
}

/// The lines of documentation among attributes. What Rust's documentation links to is a name in the generated text.
pub(crate) fn doc_lines(attributes: &[Attribute]) -> impl Iterator<Item = String> {
    attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => {
                    let text = text.value().replace("[`", "`").replace("`]", "`");
                    Some(text.trim().to_owned())
                }
                _ => None,
            },
            _ => None,
        },
        _ => None,
    })
}

/// Removes the documentation of statements, which Rust itself has no use for.
pub(crate) fn strip_docs(block: &mut Block) {
    struct Strip;
    impl VisitMut for Strip {
        fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
            attributes.retain(|attribute| !attribute.path().is_ident("doc"));
        }
    }
    Strip.visit_block_mut(block);
}
