//! `#[module(...)]`: a block with its clock and reset, its constructor and its handles.

use crate::arguments::Arguments;
use crate::describe::describe;
use crate::handles::{self, Domain};
use crate::initial::field_value;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Field, Fields, FieldsNamed, Ident, ItemStruct, Token, Type, parse_quote};

/// The block, its constructor and its handles.
pub(crate) fn expand(arguments: &Arguments, mut item: ItemStruct) -> syn::Result<TokenStream> {
    let own = named(&mut item)?;
    let domains = domains(own)?;
    let has = |names: &[&str]| {
        let mut fields = own.named.iter().filter_map(|field| field.ident.as_ref());
        fields.any(|ident| names.iter().any(|name| ident == name))
    };
    let mut first: Vec<Field> = Vec::new();
    if !arguments.no_clock && !has(handles::CLOCKS) {
        first.push(parse_quote!(#[doc = "Clock."] pub clk: Signal<In, Clock>));
    }
    if !arguments.no_clock && !has(&["rst"]) && !has(handles::LOW_RESETS) {
        first.push(parse_quote!(#[doc = "Synchronous reset, active high."] pub rst: Wire<In, bool>));
    }
    for field in first.into_iter().rev() {
        own.named.insert(0, field);
    }
    item.attrs.push(parse_quote!(#[derive(LogicBlock, Clone, Debug)]));
    let parameters = arguments.parameters.iter().chain(&arguments.kept);
    let parameters: Vec<_> = parameters
        .filter(|(_, kind)| !matches!(kind, Type::Reference(_)))
        .cloned()
        .collect();
    let (block, item) = block(arguments, item)?;
    let handles = handles::of_block(&item, &parameters, &domains);
    let kernel = kernel_macro(&item, &parameters);
    let describe = describe(&item);
    Ok(quote!(#block #describe #handles #kernel))
}

/// A kernel of a block that names none of its fields: they come from the block's own macro.
pub(crate) fn kernel_of(block: &Ident, arguments: TokenStream, kernel: TokenStream) -> TokenStream {
    let name = macro_name(block);
    let others = arguments.into_iter().skip(2);
    quote!(#name! { [#(#others)*] #kernel })
}

fn macro_name(block: &Ident) -> Ident {
    format_ident!("__kernel_of_{block}")
}

/// The macro that lists the fields and parameters of a block for its kernel, which follows it in the same file.
fn kernel_macro(item: &ItemStruct, parameters: &[(Ident, Type)]) -> TokenStream {
    let (block, name) = (&item.ident, macro_name(&item.ident));
    let fields = item.fields.iter().filter_map(|field| field.ident.as_ref());
    let fields = fields.filter(|ident| !ident.to_string().starts_with('_'));
    let values: Vec<_> = parameters.iter().map(|(name, _)| name).collect();
    let fields = fields.chain(values.iter().copied());
    quote! {
        #[allow(unused_macros)]
        macro_rules! #name {
            ([$($arguments:tt)*] $($kernel:tt)*) => {
                #[::spinneret_verilog::prelude::kernel(#block { #(#fields),* }, values(#(#values),*), $($arguments)*)]
                $($kernel)*
            };
        }
    }
}

/// Takes `#[clock(m_clk, m_rst)]` off the fields.
fn domains(fields: &mut FieldsNamed) -> syn::Result<Vec<Domain>> {
    let mut found = Vec::new();
    for field in &mut fields.named {
        let is_clock = |attribute: &syn::Attribute| attribute.path().is_ident("clock");
        let Some(position) = field.attrs.iter().position(is_clock) else {
            continue;
        };
        let attribute = field.attrs.remove(position);
        if handles::is_port(&field.ty) {
            let what = "a register or a part has a clock, not a port or a signal";
            return Err(syn::Error::new(attribute.span(), what));
        }
        let names = attribute.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated)?;
        let mut names = names.into_iter();
        match (&field.ident, names.next(), names.next(), names.next()) {
            (Some(field), Some(clock), reset, None) => found.push(Domain {
                field: field.clone(),
                clock,
                reset,
            }),
            _ => {
                let what = "write #[clock(m_clk)], or #[clock(m_clk, m_rst)] with a reset";
                return Err(syn::Error::new(attribute.span(), what));
            }
        }
    }
    Ok(found)
}

/// The block as Rust knows it, and its constructor. Parameters, and values with a type, become fields, where the kernel
/// finds them: `_shape` is the parameter `shape`. The block cannot keep borrowed values.
fn block(arguments: &Arguments, mut item: ItemStruct) -> syn::Result<(TokenStream, ItemStruct)> {
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
    let value = |field: &mut Field| {
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
