//! A bundle of ports as one word: the place that it takes in a record.

use crate::arguments::Arguments;
use crate::initial::split;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, Ident, ItemStruct, PathArguments, Type, TypePath};

/// What a port carries.
enum Content {
    Bit,
    Word(Expr),
    /// Another bundle, by its type without arguments, and those.
    Bundle(TypePath, Vec<Expr>),
    /// A port that is there on a condition.
    Optional(Box<Content>, Expr),
}

impl Content {
    /// Its place in a record, as an expression.
    fn place(&self) -> TokenStream {
        match self {
            Self::Bit => quote!(::spinneret_verilog::lang::Place::from(1)),
            Self::Word(width) => quote!(::spinneret_verilog::lang::Place::from(#width)),
            Self::Bundle(kind, arguments) => quote!(#kind::place(#(#arguments),*)),
            Self::Optional(port, condition) => {
                let place = port.place();
                quote!(if #condition { #place } else { ::spinneret_verilog::lang::Place::from(0) })
            }
        }
    }
}

/// The functions, if all ports but `valid` and `ready` have one direction.
pub(crate) fn packing(arguments: &Arguments, item: &ItemStruct) -> syn::Result<TokenStream> {
    let mut ports = Vec::new();
    let mut direction: Option<Ident> = None;
    for field in &item.fields {
        let name = field.ident.clone().expect("the fields of a bundle have names");
        if name == "valid" || name == "ready" {
            continue;
        }
        let Some((side, content)) = content(&field.ty) else {
            return Ok(TokenStream::new());
        };
        if side.is_some() && direction.is_some() && side != direction {
            return Ok(TokenStream::new());
        }
        direction = side.or(direction);
        ports.push((name, content));
    }
    if direction.is_none()
        || item
            .fields
            .iter()
            .any(|field| field.attrs.iter().any(|a| a.path().is_ident("new")))
    {
        return Ok(TokenStream::new());
    }
    Ok(functions(arguments, item, &ports))
}

fn functions(arguments: &Arguments, item: &ItemStruct, ports: &[(Ident, Content)]) -> TokenStream {
    let (name, visibility, statements) = (&item.ident, &item.vis, &arguments.statements);
    let (generics, types, bounds) = item.generics.split_for_impl();
    let record = name.to_string();
    let record = record
        .strip_suffix("In")
        .or(record.strip_suffix("Out"))
        .unwrap_or(&record);
    let parameters = arguments
        .parameters
        .iter()
        .map(|(name, kind)| quote!(#name: #kind));
    let names = ports.iter().map(|(name, _)| name);
    let places = ports.iter().map(|(_, content)| content.place());
    quote! {
        impl #generics #name #types #bounds {
            /// What it carries as one word, the first port lowest, without `valid` and `ready`.
            #[allow(unused_variables)]
            #visibility fn place(#(#parameters),*) -> ::spinneret_verilog::lang::Place {
                #(#statements)*
                ::spinneret_verilog::lang::Layout::place(
                    #record,
                    [#((stringify!(#names), #places)),*],
                )[0].layout().as_place()
            }
        }
    }
}

/// The direction of a wire, and what a port carries.
fn content(kind: &Type) -> Option<(Option<Ident>, Content)> {
    let Type::Path(path) = kind else { return None };
    let last = path.path.segments.last()?;
    let (types, values) = split(&last.arguments);
    if let ("Optional", [part], [condition]) = (
        last.ident.to_string().as_str(),
        types.as_slice(),
        values.as_slice(),
    ) {
        let (side, port) = content(part)?;
        return Some((side, Content::Optional(Box::new(port), condition.clone())));
    }
    if last.ident != "Wire" {
        let bundle = last.ident.to_string();
        let mut bare = path.clone();
        bare.path.segments.last_mut()?.arguments = PathArguments::None;
        let is_bundle = bundle.ends_with("In") || bundle.ends_with("Out");
        return (is_bundle && types.is_empty()).then(|| (None, Content::Bundle(bare, values)));
    }
    let direction = match types.first()? {
        Type::Path(path) => path.path.get_ident().cloned()?,
        _ => return None,
    };
    let content = match (types.len(), values.as_slice()) {
        (1, [width]) => Content::Word(width.clone()),
        (2, []) => Content::Bit,
        _ => return None,
    };
    Some((Some(direction), content))
}
