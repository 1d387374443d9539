//! Names and what they stand for.

use proc_macro2::TokenStream;
use std::collections::HashMap;
use syn::{Expr, ExprIndex, Ident, UnOp};

/// What a name stands for.
#[derive(Debug, Clone)]
pub(crate) enum Binding {
    /// An integer that the analysis knows: the code that describes it, and whether it varies with a loop.
    Affine(TokenStream, bool),
    /// A field, by its number.
    Field(usize),
    /// A sum, to which bodies add.
    Sum,
    /// An integer of a type that the analysis does not know.
    Integer(String),
    /// Any other value.
    Value,
}

/// Names at some place of a function.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope(HashMap<String, Binding>);

impl Scope {
    pub(crate) fn bind(&mut self, name: &Ident, binding: Binding) -> syn::Result<()> {
        let what = match self.0.get(&name.to_string()) {
            Some(Binding::Field(_)) => "field",
            Some(Binding::Sum) => "sum",
            _ => {
                self.0.insert(name.to_string(), binding);
                return Ok(());
            }
        };
        let text = format!("`{name}` is a {what} here; give this another name");
        Err(syn::Error::new(name.span(), text))
    }

    /// Whether an expression is the name of a sum.
    pub(crate) fn is_sum(&self, expr: &Expr) -> bool {
        let Expr::Path(path) = expr else { return false };
        let binding = path.path.get_ident().and_then(|name| self.get(name));
        matches!(binding, Some(Binding::Sum))
    }

    /// Whether an expression is what is behind the name of a sum, `*sum`.
    pub(crate) fn is_total(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Unary(unary) => matches!(unary.op, UnOp::Deref(_)) && self.is_sum(&unary.expr),
            Expr::Paren(paren) => self.is_total(&paren.expr),
            _ => false,
        }
    }
    /// The same without any other field, and without sums.
    pub(crate) fn only(&self, field: &Ident) -> Self {
        let is_other = |name: &str, binding: &Binding| match binding {
            Binding::Field(_) => *field != name,
            Binding::Sum => true,
            _ => false,
        };
        let kept = self.0.iter().filter(|(name, binding)| !is_other(name, binding));
        Self(
            kept.map(|(name, binding)| (name.clone(), binding.clone()))
                .collect(),
        )
    }

    pub(crate) fn get(&self, name: &Ident) -> Option<&Binding> {
        self.0.get(&name.to_string())
    }

    /// The number of the field that an expression is, by its name.
    pub(crate) fn field(&self, expr: &Expr) -> Option<usize> {
        match expr {
            Expr::Path(path) => match self.get(path.path.get_ident()?)? {
                Binding::Field(number) => Some(*number),
                _ => None,
            },
            Expr::Paren(paren) => self.field(&paren.expr),
            _ => None,
        }
    }

    /// The field and the index of `field[index]`.
    pub(crate) fn element<'e>(&self, expr: &'e Expr) -> Option<(usize, &'e ExprIndex)> {
        match expr {
            Expr::Index(index) => Some((self.field(&index.expr)?, index)),
            Expr::Paren(paren) => self.element(&paren.expr),
            _ => None,
        }
    }
}
