//! Arguments of `#[kernel]`: a suffix of the module's name, and numbers that tell the variants of a block apart.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, Ident, Lit, Token};

/// `suffix = EXPRESSION`, `parameters(NAME = EXPRESSION, ...)` and `numbers(NAME = FORMULA, ...)`.
#[derive(Default)]
pub(crate) struct Arguments {
    /// The block that is taken apart, and its fields; none: all that it has.
    pub(crate) block: Option<(Ident, Option<Vec<Ident>>)>,
    /// Parameters of the block that are variables of the other arguments, if the block's own macro has listed it all.
    pub(crate) values: Option<Vec<Ident>>,
    pub(crate) suffix: Option<Expr>,
    pub(crate) numbers: Numbers,
}

/// Numbers with names.
#[derive(Default)]
pub(crate) struct Numbers {
    /// Each with its value in Rust.
    parameters: Vec<Setting>,
    /// Each as a formula of the names before it.
    derived: Vec<Setting>,
}

/// `NAME = EXPRESSION`.
struct Setting {
    name: Ident,
    value: Expr,
}

impl Parse for Setting {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Self {
            name,
            value: input.parse()?,
        })
    }
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut arguments = Self::default();
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            if input.peek(syn::token::Brace) {
                let inside;
                syn::braced!(inside in input);
                let fields = Punctuated::<Ident, Token![,]>::parse_terminated(&inside)?;
                arguments.block = Some((name, Some(fields.into_iter().collect())));
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
                continue;
            }
            match name.to_string().as_str() {
                "suffix" => {
                    input.parse::<Token![=]>()?;
                    arguments.suffix = Some(input.parse()?);
                }
                "values" => {
                    let inside;
                    syn::parenthesized!(inside in input);
                    let values = Punctuated::<Ident, Token![,]>::parse_terminated(&inside)?;
                    arguments.values = Some(values.into_iter().collect());
                }
                "parameters" => arguments.numbers.parameters = settings(input)?,
                "numbers" => arguments.numbers.derived = settings(input)?,
                text if text.starts_with(char::is_uppercase) => arguments.block = Some((name, None)),
                _ => {
                    let what = "the arguments are `Block` or `Block { fields }`, `suffix = ...`, `parameters(...)` and `numbers(...)`";
                    return Err(syn::Error::new(name.span(), what));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}

fn settings(input: ParseStream<'_>) -> syn::Result<Vec<Setting>> {
    let inside;
    syn::parenthesized!(inside in input);
    Ok(Punctuated::<Setting, Token![,]>::parse_terminated(&inside)?
        .into_iter()
        .collect())
}

impl Numbers {
    /// An array of names, values and formulas.
    pub(crate) fn expand(&self) -> syn::Result<TokenStream> {
        if self.parameters.is_empty() && self.derived.is_empty() {
            return Ok(quote!([]));
        }
        let mut known: Vec<&Ident> = Vec::new();
        let (mut values, mut entries) = (Vec::new(), Vec::new());
        for Setting { name, value } in &self.parameters {
            let text = name.to_string();
            values.push(quote!(let #name: usize = #value;));
            entries.push(quote!((#text, #name, None)));
            known.push(name);
        }
        for Setting { name, value } in &self.derived {
            let (text, formula) = (name.to_string(), formula(value, &known)?);
            values.push(quote!(let #name: usize = #value;));
            entries.push(quote!((#text, #name, Some(#formula))));
            known.push(name);
        }
        Ok(quote!({
            #[allow(unused_imports)]
            use ::spinneret_verilog::lang::clog2;
            #[allow(non_snake_case)]
            let numbers = {
                #(#values)*
                [#(#entries),*]
            };
            numbers
        }))
    }
}

/// A formula as it is written in SystemVerilog, where it means the same.
fn formula(value: &Expr, known: &[&Ident]) -> syn::Result<String> {
    let inner = |value: &Expr| formula(value, known);
    match value {
        Expr::Path(path) => match path.path.get_ident() {
            Some(name) if known.contains(&name) => Ok(name.to_string()),
            _ => Err(syn::Error::new(
                value.span(),
                "this is no number that is named before",
            )),
        },
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => Ok(number.base10_digits().to_owned()),
            other => Err(syn::Error::new(other.span(), "a formula is of whole numbers")),
        },
        Expr::Paren(paren) => Ok(format!("({})", inner(&paren.expr)?)),
        Expr::Binary(binary) => {
            let symbol = match binary.op {
                BinOp::Add(_) => "+",
                BinOp::Sub(_) => "-",
                BinOp::Mul(_) => "*",
                BinOp::Div(_) => "/",
                _ => {
                    return Err(syn::Error::new(
                        binary.op.span(),
                        "a formula has + - * / and clog2 only",
                    ));
                }
            };
            Ok(format!(
                "{} {symbol} {}",
                inner(&binary.left)?,
                inner(&binary.right)?
            ))
        }
        Expr::Call(call) if matches!(&*call.func, Expr::Path(path) if path.path.is_ident("clog2")) => {
            let arguments = call.args.iter().map(inner).collect::<syn::Result<Vec<_>>>()?;
            Ok(format!("$clog2({})", arguments.join(", ")))
        }
        other => Err(syn::Error::new(
            other.span(),
            "a formula has + - * / and clog2 only",
        )),
    }
}
