//! The name and the documentation of a block, for the generated text.

use crate::docs::doc_lines;
use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemStruct;

/// The implementation of `Describe`.
pub(crate) fn describe(item: &ItemStruct) -> TokenStream {
    let name = &item.ident;
    let (generics, types, bounds) = item.generics.split_for_impl();
    let module = snake_case(&name.to_string());
    let doc = paragraph(&doc_lines(&item.attrs).collect::<Vec<_>>());
    let fields = item.fields.iter().filter_map(|field| {
        let name = field.ident.as_ref()?.to_string();
        let lines: Vec<String> = doc_lines(&field.attrs).filter(|line| !line.is_empty()).collect();
        (!name.starts_with('_') && !lines.is_empty()).then(|| quote!((#name, &[#(#lines),*])))
    });
    quote! {
        impl #generics ::spinneret_verilog::lang::Describe for #name #types #bounds {
            const NAME: &'static str = #module;
            const DOC: &'static [&'static str] = &[#(#doc),*];
            const FIELDS: &'static [(&'static str, &'static [&'static str])] = &[#(#fields),*];
        }
    }
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
