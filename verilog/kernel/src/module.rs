//! `#[module(...)]`: a block with its clock and reset, its constructor and its handles.

use crate::arguments::Arguments;
use crate::{handles, hardware};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Field, ItemStruct, Type, parse_quote};

/// The block, its constructor and its handles.
pub(crate) fn expand(arguments: &Arguments, mut item: ItemStruct) -> syn::Result<TokenStream> {
    let own = hardware::named(&mut item)?;
    let has = |name: &str| {
        own.named
            .iter()
            .any(|field| field.ident.as_ref().is_some_and(|ident| ident == name))
    };
    let mut first: Vec<Field> = Vec::new();
    if !arguments.no_clock && !has("clk") {
        first.push(parse_quote!(#[doc = "Clock."] pub clk: Signal<In, Clock>));
    }
    if !arguments.no_clock && !has("rst") && !has("rstn") {
        first.push(parse_quote!(#[doc = "Synchronous reset, active high."] pub rst: Wire<In, bool>));
    }
    for field in first.into_iter().rev() {
        own.named.insert(0, field);
    }
    item.attrs
        .push(parse_quote!(#[derive(LogicBlock, Describe, Clone, Debug)]));
    let parameters = arguments.parameters.iter().chain(&arguments.kept);
    let parameters: Vec<_> = parameters
        .filter(|(_, kind)| !matches!(kind, Type::Reference(_)))
        .cloned()
        .collect();
    let (block, item) = hardware::expand_item(arguments, item)?;
    let handles = handles::of_block(&item, &parameters);
    Ok(quote!(#block #handles))
}
