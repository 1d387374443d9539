//! Documentation in the source, on its way into the generated text.

use syn::{Attribute, Expr, Lit, Meta};

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

/// Returns the lines of documentation among attributes. Links become names in the generated text.
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
