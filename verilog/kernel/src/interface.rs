//! `#[interface(...)]`: a bundle of ports with its constructor, and the other side of it.

use crate::arguments::Arguments;
use crate::hardware::{constructor, field_values, named};
use crate::packing::packing;
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{GenericArgument, Ident, ItemStruct, PathArguments, Token, Type, parse_quote};

/// The name of the other side, if there is one, and the arguments of both constructors.
pub(crate) struct Sides {
    other: Option<Ident>,
    arguments: Arguments,
}

impl Parse for Sides {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let is_name = input.peek(Ident) && !input.peek2(Token![:]) && !input.peek2(Token![=]);
        let other = is_name.then(|| input.parse()).transpose()?;
        if is_name && !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        Ok(Self {
            other,
            arguments: input.parse()?,
        })
    }
}

/// The bundle, its other side, and how they are joined.
pub(crate) fn expand(sides: &Sides, item: ItemStruct) -> syn::Result<TokenStream> {
    let other = sides
        .other
        .as_ref()
        .map(|other| flipped(&item, other))
        .transpose()?;
    let joined = sides.other.as_ref().map(|other| join(&item, other));
    let this = bundle(&sides.arguments, item)?;
    let other = other.map(|other| bundle(&sides.arguments, other)).transpose()?;
    Ok(quote! {
        #this
        #other
        #joined
    })
}

fn bundle(arguments: &Arguments, mut item: ItemStruct) -> syn::Result<TokenStream> {
    let packing = packing(arguments, &item)?;
    let values = field_values(&mut item)?;
    let constructor = constructor(arguments, &item, &values);
    Ok(quote! {
        #[derive(LogicInterface, Clone, Debug)]
        #item
        #constructor
        #packing
    })
}

/// The same ports, each in the other direction.
fn flipped(item: &ItemStruct, other: &Ident) -> syn::Result<ItemStruct> {
    let mut flipped = item.clone();
    let doc = format!("The other side of [`{}`].", item.ident);
    flipped
        .attrs
        .retain(|attribute| !attribute.path().is_ident("doc"));
    flipped.attrs.insert(0, parse_quote!(#[doc = #doc]));
    flipped.ident = other.clone();
    for field in &mut named(&mut flipped)?.named {
        flip(&mut field.ty)?;
    }
    Ok(flipped)
}

/// `HerIn` for `HerOut`.
fn other_side(name: &Ident) -> Option<Ident> {
    let name = name.to_string();
    let (stem, side) = match name.strip_suffix("In") {
        Some(stem) => (stem, "Out"),
        None => (name.strip_suffix("Out")?, "In"),
    };
    Some(quote::format_ident!("{stem}{side}"))
}

fn flip(kind: &mut Type) -> syn::Result<()> {
    let span = kind.span();
    let refuse = || {
        syn::Error::new(
            span,
            "a port of a bundle with two sides is Wire<In, ...> or Wire<Out, ...>, or a bundle called ...In or ...Out",
        )
    };
    let Type::Path(path) = kind else {
        return Err(refuse());
    };
    let last = path.path.segments.last_mut().ok_or_else(refuse)?;
    if last.ident != "Wire" {
        last.ident = other_side(&last.ident).ok_or_else(refuse)?;
        return Ok(());
    }
    let PathArguments::AngleBracketed(arguments) = &mut last.arguments else {
        return Err(refuse());
    };
    let Some(GenericArgument::Type(Type::Path(direction))) = arguments.args.first_mut() else {
        return Err(refuse());
    };
    let flipped: Type = match direction.path.get_ident() {
        Some(name) if name == "In" => parse_quote!(Out),
        Some(name) if name == "Out" => parse_quote!(In),
        _ => return Err(refuse()),
    };
    arguments.args[0] = GenericArgument::Type(flipped);
    Ok(())
}

/// Every port of one side feeds, or is fed by, that of the other.
fn join(item: &ItemStruct, other: &Ident) -> TokenStream {
    let (name, visibility) = (&item.ident, &item.vis);
    let (generics, types, bounds) = item.generics.split_for_impl();
    let ports: Vec<_> = item.fields.iter().map(|field| &field.ident).collect();
    let doc = format!("Joins it with a [`{other}`], port by port.");
    quote! {
        impl #generics #name #types #bounds {
            #[doc = #doc]
            #visibility fn join(&mut self, other: &mut #other #types) {
                #(self.#ports.join(&mut other.#ports);)*
            }
        }
    }
}
