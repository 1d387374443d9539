//! `#[hardware(...)]`: the constructor of a block, from its fields.

use crate::arguments::Arguments;
use crate::handles;
use crate::initial::field_value;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Fields, FieldsNamed, ItemStruct, Type, parse_quote};

/// The block as Rust knows it, and its constructor. Parameters, and values with a type, become fields, where the kernel
/// finds them: `_shape` is the parameter `shape`. What is borrowed cannot stay.
pub(crate) fn expand(arguments: &Arguments, item: ItemStruct) -> syn::Result<TokenStream> {
    let (block, mut item) = expand_item(arguments, item)?;
    // A block of the second edition can have it as a part, but for one that makes a reset.
    let ports = std::mem::take(&mut named(&mut item)?.named);
    let makes_reset = |field: &syn::Field| {
        let kind = &field.ty;
        field.ident.as_ref().is_some_and(|name| name == "rst") && quote!(#kind).to_string().contains("Out")
    };
    if ports.iter().any(makes_reset) {
        return Ok(block);
    }
    named(&mut item)?.named = ports
        .into_iter()
        .filter(|field| matches!(field.vis, syn::Visibility::Public(_)))
        .collect();
    let handles = handles::of_block(&item, &[]);
    Ok(quote!(#block #handles))
}

/// The same, with the struct as Rust knows it.
pub(crate) fn expand_item(
    arguments: &Arguments,
    mut item: ItemStruct,
) -> syn::Result<(TokenStream, ItemStruct)> {
    if let Some(names) = &arguments.names {
        return Err(syn::Error::new(names.span(), "only an #[interface] has names"));
    }
    let mut values = field_values(&mut item)?;
    let named = named(&mut item)?;
    for (name, kind) in arguments.parameters.iter().chain(&arguments.kept) {
        if matches!(kind, Type::ImplTrait(_)) {
            return Err(syn::Error::new(
                kind.span(),
                "a parameter has a type that can be named",
            ));
        }
        if !matches!(kind, Type::Reference(_)) {
            let field = format_ident!("_{name}");
            named.named.push(parse_quote!(#field: #kind));
            values.push(quote!(#field: #name));
        }
    }
    let constructor = constructor(arguments, &item, &values);
    Ok((quote!(#item #constructor), item))
}

/// The fields of a struct with their values; what only describes those is taken out of the struct.
pub(crate) fn field_values(item: &mut ItemStruct) -> syn::Result<Vec<TokenStream>> {
    let value = |field: &mut syn::Field| {
        let value = field_value(field)?;
        let name = &field.ident;
        Ok(quote!(#name: #value))
    };
    named(item)?.named.iter_mut().map(value).collect()
}

/// The fields of a struct.
pub(crate) fn named(item: &mut ItemStruct) -> syn::Result<&mut FieldsNamed> {
    let span = item.span();
    match &mut item.fields {
        Fields::Named(named) => Ok(named),
        _ => Err(syn::Error::new(span, "hardware has fields with names")),
    }
}

/// `new` of a struct whose fields have these values, and `Default` if it needs nothing.
pub(crate) fn constructor(arguments: &Arguments, item: &ItemStruct, values: &[TokenStream]) -> TokenStream {
    let (name, visibility) = (&item.ident, &item.vis);
    let (generics, types, bounds) = item.generics.split_for_impl();
    let parameters = arguments
        .parameters
        .iter()
        .map(|(name, kind)| quote!(#name: #kind));
    let statements = &arguments.statements;
    let doc = match arguments.parameters.is_empty() {
        true => format!("A [`{name}`]."),
        false => format!("A [`{name}`] with these parameters."),
    };
    let (result, made, docs) = match &arguments.error {
        Some(error) => (
            quote!(::std::result::Result<Self, #error>),
            quote!(::std::result::Result::Ok(Self { #(#values),* })),
            quote!(#[doc = #doc] #[doc = ""] #[doc = "# Errors"] #[doc = "If it cannot be built with them."]),
        ),
        None => (quote!(Self), quote!(Self { #(#values),* }), quote!(#[doc = #doc])),
    };
    let needs_nothing = arguments.parameters.is_empty() && arguments.error.is_none();
    let default = needs_nothing.then(|| {
        quote! {
            impl #generics ::std::default::Default for #name #types #bounds {
                fn default() -> Self {
                    Self::new()
                }
            }
        }
    });
    quote! {
        impl #generics #name #types #bounds {
            #docs
            #visibility fn new(#(#parameters),*) -> #result {
                #(#statements)*
                #made
            }
        }

        #default
    }
}
