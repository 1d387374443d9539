//! `#[derive(Describe)]`.

use crate::docs::doc_lines;
use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput};

/// The implementations of `Describe` and, for blocks with a clock, `Clocked`.
pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(syn::Error::new(input.span(), "Describe is for structs"));
    };
    let name = &input.ident;
    let (generics, types, bounds) = input.generics.split_for_impl();
    let module = snake_case(&name.to_string());
    let doc = paragraph(&doc_lines(&input.attrs).collect::<Vec<_>>());
    let fields = data.fields.iter().filter_map(|field| {
        let name = field.ident.as_ref()?.to_string();
        let lines: Vec<String> = doc_lines(&field.attrs).filter(|line| !line.is_empty()).collect();
        (!name.starts_with('_') && !lines.is_empty()).then(|| quote!((#name, &[#(#lines),*])))
    });
    let has = |wanted: &str| {
        data.fields
            .iter()
            .any(|field| field.ident.as_ref().is_some_and(|name| name == wanted))
    };
    let clocked = has("clk").then(|| clocked(input, has("rst")));
    Ok(quote! {
        impl #generics ::spinneret_verilog::lang::Describe for #name #types #bounds {
            const NAME: &'static str = #module;
            const DOC: &'static [&'static str] = &[#(#doc),*];
            const FIELDS: &'static [(&'static str, &'static [&'static str])] = &[#(#fields),*];
        }

        impl #generics ::spinneret_verilog::lang::connect::Root for #name #types #bounds {
            const IS_PART: bool = true;
        }
        #clocked
    })
}

/// The documentation up to its first heading or code block: what a reader of the generated text wants
/// above the module.
fn paragraph(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .take_while(|line| !line.starts_with('#') && !line.starts_with("```"))
        .cloned()
        .collect()
}

fn clocked(input: &DeriveInput, has_reset: bool) -> TokenStream {
    let name = &input.ident;
    let (generics, types, bounds) = input.generics.split_for_impl();
    let prelude = quote!(::spinneret_verilog::prelude);
    let build = quote!(::spinneret_verilog::lang::build);
    let (drive, connect, statement) = if has_reset {
        (
            quote!(if let Some(rst) = rst {
                self.rst.next = rst;
            }),
            quote!(if with_reset { #prelude::logic::logic_connect_fn(&mut self.rst); }),
            quote!(if let Some(rst) = rst {
                statements.push(#build::assign(::std::format!("{name}$rst"), #build::signal(rst)));
            }),
        )
    } else {
        Default::default()
    };
    quote! {
        #[allow(unused_variables, unused_mut)]
        impl #generics #prelude::Clocked for #name #types #bounds {
            fn drive_clock(&mut self, clk: #prelude::Clock, rst: Option<bool>) {
                self.clk.next = clk;
                #drive
            }
            fn connect_clock(&mut self, with_reset: bool) {
                #prelude::logic::logic_connect_fn(&mut self.clk);
                #connect
            }
            fn clock_statements(
                &self, name: &str, clk: &str, rst: Option<&str>,
            ) -> ::std::vec::Vec<#prelude::ast::VerilogStatement> {
                let mut statements = ::std::vec![#build::assign(::std::format!("{name}$clk"), #build::signal(clk))];
                #statement
                statements
            }
        }
    }
}

/// `PspinPktMatch` becomes `pspin_pkt_match`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
