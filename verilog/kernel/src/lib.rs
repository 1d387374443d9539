//! The attribute that turns a hardware kernel written in Rust into rust-hdl's syntax tree.
//!
//! `#[kernel]` stands on `fn update(&mut self)` of a block. The function stays what it is, a model
//! that Rust can run; beside it the attribute writes `connect`, which marks what the kernel drives,
//! and `hdl`, which builds the syntax tree while the hardware is generated.
//!
//! One rule tells hardware from generation: **an expression that reads a signal (`.val()`) is
//! hardware; any other is plain Rust, evaluated when the hardware is generated.** So a loop over
//! `0..self._lanes` is unrolled, `if self._has_crc { ... }` decides what is built, and
//! `if self.valid.val() { ... }` is a multiplexer.

mod connection;
mod describe;
mod docs;
mod expression;
mod place;
mod statement;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{DeriveInput, Expr, ItemFn, Token, parse_macro_input};

/// Arguments of the attribute: `suffix = EXPRESSION`.
struct Arguments {
    suffix: Option<Expr>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            return Ok(Self { suffix: None });
        }
        let name: syn::Ident = input.parse()?;
        if name != "suffix" {
            return Err(syn::Error::new(
                name.span(),
                "the only argument is `suffix = ...`",
            ));
        }
        input.parse::<Token![=]>()?;
        Ok(Self {
            suffix: Some(input.parse()?),
        })
    }
}

/// Turns `fn update(&mut self)` of a block into hardware; the block must derive `Describe`.
///
/// `#[kernel(suffix = EXPRESSION)]` appends a text to the module's name, for blocks whose variants
/// differ: `suffix = format!("{}x{}", self._width, self._depth)`.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments as Arguments);
    let function = parse_macro_input!(item as ItemFn);
    expand(&arguments, function)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Records the name and the documentation of a block for the generated text, and lets `clocked!`
/// connect a block that has ports `clk` and `rst`.
#[proc_macro_derive(Describe)]
pub fn derive_describe(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    describe::expand(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

fn expand(arguments: &Arguments, mut function: ItemFn) -> syn::Result<proc_macro2::TokenStream> {
    let statements = statement::hardware(&function.block)?;
    let connections = connection::connections(&function.block)?;
    let suffix = match &arguments.suffix {
        Some(suffix) => quote!(Some((#suffix).to_string())),
        None => quote!(None),
    };
    docs::strip_docs(&mut function.block);
    Ok(quote! {
        #[allow(clippy::nonminimal_bool, clippy::assign_op_pattern, clippy::needless_range_loop)]
        #function

        #[allow(unused_variables, clippy::needless_range_loop, clippy::collapsible_if)]
        fn connect(&mut self) {
            #connections
        }

        #[allow(clippy::needless_range_loop, clippy::vec_init_then_push, clippy::let_and_return)]
        fn hdl(&self) -> ::spinneret_verilog::prelude::Verilog {
            let mut __statements = ::spinneret_verilog::lang::comments::<Self>(#suffix);
            #statements
            ::spinneret_verilog::prelude::Verilog::Combinatorial(__statements)
        }
    })
}
