//! The arguments of `#[module(...)]` and `#[interface(...)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Token, Type};

/// A parameter of the constructor, `name: Type`, a value that follows from those before it, `name = expression`, which
/// the kernel has, too, with its type, `name: Type = expression`, a condition, `_ = expression?`, or the error of a
/// constructor that can fail, `error = Type`, or how the ports of a bundle are called, `names = expression`.
enum Argument {
    Parameter(Ident, Type),
    Value(Ident, Option<Type>, Box<Expr>),
    Condition(Expr),
    Error(Type),
    Names(Expr),
    NoClock,
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Token![_]) {
            input.parse::<Token![_]>()?;
            input.parse::<Token![=]>()?;
            return input.parse().map(Self::Condition);
        }
        let name: Ident = input.parse()?;
        if name == "no_clock" {
            return Ok(Self::NoClock);
        }
        if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            return match name.to_string().as_str() {
                "error" => input.parse().map(Self::Error),
                "names" => input.parse().map(Self::Names),
                _ => Ok(Self::Value(name, None, Box::new(input.parse()?))),
            };
        }
        input.parse::<Token![:]>()?;
        let kind = input.parse()?;
        if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            return Ok(Self::Value(name, Some(kind), Box::new(input.parse()?)));
        }
        Ok(Self::Parameter(name, kind))
    }
}

/// All of them, as the constructor has them.
#[derive(Default)]
pub(crate) struct Arguments {
    /// Its parameters.
    pub(crate) parameters: Vec<(Ident, Type)>,
    /// Values that follow from them and that the kernel has, too.
    pub(crate) kept: Vec<(Ident, Type)>,
    /// The statements before the value of the struct.
    pub(crate) statements: Vec<TokenStream>,
    /// The error of a constructor that can fail.
    pub(crate) error: Option<Type>,
    /// How the ports of a bundle are called.
    pub(crate) names: Option<Expr>,
    /// A block without clock and reset.
    pub(crate) no_clock: bool,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut all = Self::default();
        for argument in Punctuated::<Argument, Token![,]>::parse_terminated(input)? {
            match argument {
                Argument::Parameter(name, kind) => all.parameters.push((name, kind)),
                Argument::Value(name, ..) if all.parameters.iter().any(|(own, _)| *own == name) => {
                    let what = "a parameter has this name: the kernel could not tell the two apart";
                    return Err(syn::Error::new(name.span(), what));
                }
                Argument::Value(name, None, value) => all.statements.push(quote!(let #name = #value;)),
                Argument::Value(name, Some(kind), value) => {
                    all.statements.push(quote!(let #name: #kind = #value;));
                    all.kept.push((name, kind));
                }
                Argument::Condition(condition) => all.statements.push(quote!(#condition;)),
                Argument::Error(kind) if all.error.is_some() => {
                    return Err(syn::Error::new(kind.span(), "a constructor has one error"));
                }
                Argument::Error(kind) => all.error = Some(kind),
                Argument::Names(names) => all.names = Some(names),
                Argument::NoClock => all.no_clock = true,
            }
        }
        Ok(all)
    }
}
