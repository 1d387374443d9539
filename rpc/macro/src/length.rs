//! Lengths of data: products of parameters, numbers, and sizes of what handles stand for.

use crate::types::Word;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{BinOp, Error, Expr, ExprBinary, ExprLit, Ident, Lit, Result};

/// How many elements there are: all of it multiplied.
#[derive(Debug, Default)]
pub(crate) struct Length(pub(crate) Vec<Factor>);

/// Part of a product.
#[derive(Debug)]
pub(crate) enum Factor {
    Number(u32),
    Parameter(Ident),
    /// Of what the handle in that parameter stands for.
    Size(Ident),
}

/// The types of the values of a function by name.
pub(crate) type Values<'a> = &'a dyn Fn(&Ident) -> Option<Word>;

impl Length {
    /// Reads a length. `has_sizes` says of which kinds of handles sizes are known.
    pub(crate) fn of(text: &Expr, values: Values<'_>, has_sizes: &dyn Fn(usize) -> bool) -> Result<Self> {
        let mut length = Self::default();
        length.multiply(text, values, has_sizes)?;
        Ok(length)
    }

    fn multiply(&mut self, text: &Expr, values: Values<'_>, has_sizes: &dyn Fn(usize) -> bool) -> Result<()> {
        let refused = |why: String| Err(Error::new_spanned(text, why));
        match text {
            Expr::Binary(ExprBinary {
                left,
                op: BinOp::Mul(_),
                right,
                ..
            }) => {
                self.multiply(left, values, has_sizes)?;
                return self.multiply(right, values, has_sizes);
            }
            Expr::Lit(ExprLit {
                lit: Lit::Int(number),
                ..
            }) => {
                self.0.push(Factor::Number(number.base10_parse()?));
                return Ok(());
            }
            Expr::Path(path) => {
                let name = path.path.require_ident()?;
                return match values(name) {
                    Some(word) if word.counts() => {
                        self.0.push(Factor::Parameter(name.clone()));
                        Ok(())
                    }
                    Some(_) => refused(format!("`{name}` is no integer of at most 32 bits")),
                    None => refused(format!("no value of this function is called `{name}`")),
                };
            }
            Expr::Call(call) => {
                let is_size = matches!(&*call.func, Expr::Path(path) if path.path.is_ident("size"));
                if let (true, [Expr::Path(path)]) = (is_size, &*call.args.iter().cloned().collect::<Vec<_>>())
                {
                    let name = path.path.require_ident()?;
                    return match values(name) {
                        Some(Word::Handle(kind)) if has_sizes(kind) => {
                            self.0.push(Factor::Size(name.clone()));
                            Ok(())
                        }
                        _ => refused(format!("`{name}` is no handle whose kind has sizes")),
                    };
                }
            }
            _ => {}
        }
        refused("a length is a product of values, numbers and `size(handle)`".to_owned())
    }

    /// As the host computes it.
    pub(crate) fn rust(&self, size: &dyn Fn(&Ident) -> TokenStream) -> TokenStream {
        let factors = self.0.iter().map(|factor| match factor {
            Factor::Number(number) => quote!(i64::from(#number)),
            Factor::Parameter(name) => quote!(i64::from(#name)),
            Factor::Size(name) => {
                let size = size(name);
                quote!(i64::from(#size))
            }
        });
        quote!(&[#(#factors),*])
    }

    /// As handlers compute it, in bytes, by functions that do not overflow.
    pub(crate) fn c(&self, element_bytes: u32, size: &dyn Fn(&Ident) -> String) -> String {
        let factor = |factor: &Factor| match factor {
            Factor::Number(number) => format!("{number}u"),
            Factor::Parameter(name) => format!("(uint32_t){name}"),
            Factor::Size(name) => size(name),
        };
        let mut factors: Vec<String> = self.0.iter().map(factor).collect();
        if element_bytes != 1 {
            factors.push(format!("{element_bytes}u"));
        }
        factors
            .into_iter()
            .reduce(|product, next| format!("spin_service_times({product}, {next})"))
            .unwrap_or_default()
    }

    /// As it stands in the canonical text.
    pub(crate) fn text(&self) -> String {
        let factor = |factor: &Factor| match factor {
            Factor::Number(number) => number.to_string(),
            Factor::Parameter(name) => name.to_string(),
            Factor::Size(name) => format!("size({name})"),
        };
        self.0.iter().map(factor).collect::<Vec<_>>().join(" * ")
    }
}
