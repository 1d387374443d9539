//! Names and what they stand for.

use proc_macro2::TokenStream;
use std::collections::HashMap;
use syn::{Expr, ExprIndex, Ident};

/// What a name stands for.
#[derive(Debug, Clone)]
pub(crate) enum Binding {
    /// An integer that the analysis knows: the code that describes it, and whether it varies with a loop.
    Affine(TokenStream, bool),
    /// A field, by its number.
    Field(usize),
    /// Any other value.
    Value,
}

/// Names at some place of a function.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope(HashMap<String, Binding>);

impl Scope {
    pub(crate) fn bind(&mut self, name: &Ident, binding: Binding) -> syn::Result<()> {
        if let Some(Binding::Field(_)) = self.0.get(&name.to_string()) {
            let text = format!("`{name}` is a field here; give this another name");
            return Err(syn::Error::new(name.span(), text));
        }
        self.0.insert(name.to_string(), binding);
        Ok(())
    }

    /// The same without any other field.
    pub(crate) fn only(&self, field: &Ident) -> Self {
        let is_other = |name: &str, binding: &Binding| matches!(binding, Binding::Field(_)) && *field != name;
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
