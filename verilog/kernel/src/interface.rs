//! `#[interface(...)]`: a bundle of ports with its constructor, and the other side of it.

use crate::arguments::Arguments;
use crate::module::{constructor, field_values, named};
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

/// The bundle and its other side.
pub(crate) fn expand(sides: &Sides, item: ItemStruct) -> syn::Result<TokenStream> {
    let other = sides
        .other
        .as_ref()
        .map(|other| flipped(&item, other))
        .transpose()?;
    let this = bundle(&sides.arguments, item)?;
    let other = other.map(|other| bundle(&sides.arguments, other)).transpose()?;
    Ok(quote! {
        #this
        #other
    })
}

fn bundle(arguments: &Arguments, mut item: ItemStruct) -> syn::Result<TokenStream> {
    let mut values = field_values(&mut item)?;
    let ports: Vec<_> = item
        .fields
        .iter()
        .filter_map(|field| field.ident.clone())
        .collect();
    if let Some(names) = &arguments.names {
        let named = named(&mut item)?;
        named
            .named
            .push(parse_quote!(_names: ::spinneret_verilog::lang::Names));
        values.push(quote!(_names: #names));
    }
    let constructor = constructor(arguments, &item, &values);
    let traits = traits(&item, &ports, arguments.names.is_some());
    let handles = crate::handles::of_bundle(&item, &ports);
    let place = place(arguments, &item, &ports);
    Ok(quote! {
        #[derive(Clone, Debug)]
        #item
        #constructor
        #traits
        #place
        #handles
    })
}

/// Generates `place`: the bundle's content as one word, as a record holds it.
fn place(arguments: &Arguments, item: &ItemStruct, ports: &[Ident]) -> TokenStream {
    let (name, visibility) = (&item.ident, &item.vis);
    let (generics, types, bounds) = item.generics.split_for_impl();
    let lang = quote!(::spinneret_verilog::lang);
    let record = crate::handles::record_name(name);
    let payload = ports.iter().filter(|port| *port != "valid" && *port != "ready");
    let parameters = arguments
        .parameters
        .iter()
        .map(|(name, kind)| quote!(#name: #kind));
    let values = arguments.parameters.iter().map(|(name, _)| name);
    let of_type = arguments.error.is_none().then(|| {
        quote! {
            impl #generics #name #types #bounds {
                /// Its content as one word, the first port lowest, without `valid` and `ready`.
                #[allow(dead_code)]
                #visibility fn place(#(#parameters),*) -> #lang::Place {
                    #lang::Placed::place_of(&Self::new(#(#values),*))
                }
            }
        }
    });
    quote! {
        impl #generics #lang::Placed for #name #types #bounds {
            fn place_of(&self) -> #lang::Place {
                let fields = ::std::vec![#((stringify!(#payload), #lang::Placed::place_of(&self.#payload))),*];
                #lang::Layout::of(#record, fields).first().map_or(0.into(), |field| field.layout().as_place())
            }
        }

        #of_type
    }
}

/// Implements the traits that rust-hdl requires of a bundle.
fn traits(item: &ItemStruct, ports: &[Ident], has_names: bool) -> TokenStream {
    let name = &item.ident;
    let (generics, types, bounds) = item.generics.split_for_impl();
    let prelude = quote!(::spinneret_verilog::prelude);
    let hdl = has_names.then(|| {
        quote! {
            fn hdl(&self) -> #prelude::Verilog {
                #prelude::Verilog::Custom(self._names.text())
            }
        }
    });
    quote! {
        impl #generics #prelude::Logic for #name #types #bounds {
            fn update(&mut self) {}
            #hdl
        }

        impl #generics #prelude::Block for #name #types #bounds {
            fn connect_all(&mut self) {}
            fn update_all(&mut self) {}
            fn has_changed(&self) -> bool {
                false
            }
            fn accept(&self, name: &str, probe: &mut dyn #prelude::Probe) {
                probe.visit_start_namespace(name, self);
                #(self.#ports.accept(stringify!(#ports), probe);)*
                probe.visit_end_namespace(name, self);
            }
        }
    }
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
    if let ("Optional", PathArguments::AngleBracketed(arguments)) =
        (last.ident.to_string().as_str(), &mut last.arguments)
    {
        return match arguments.args.first_mut() {
            Some(GenericArgument::Type(part)) => flip(part),
            _ => Err(refuse()),
        };
    }
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
