//! Expansion: the module that accompanies a function.

use crate::affine::{Binding, Scope};
use crate::leaf::{Arguments, arguments, elements, leaf_code, leaf_fields, leaf_sums, number};
use crate::nest::{Around, Leaf, nodes};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, Ident, ItemFn, ReturnType};

pub(crate) fn expand(function: &ItemFn) -> syn::Result<TokenStream> {
    let refuse = |span: Span, text: &str| Err(syn::Error::new(span, text));
    let signature = &function.sig;
    if !signature.generics.params.is_empty() {
        return refuse(
            signature.generics.span(),
            "a function over fields has no generic parameters; name the types",
        );
    }
    if !matches!(signature.output, ReturnType::Default) {
        return refuse(
            signature.output.span(),
            "a function over fields returns nothing; write what it computes to a field",
        );
    }
    if let Some(modifier) = signature
        .asyncness
        .map(|it| it.span())
        .or(signature.unsafety.map(|it| it.span()))
    {
        return refuse(modifier, "a function over fields is neither async nor unsafe");
    }
    let arguments = arguments(function)?;
    if arguments.fields.is_empty() {
        return refuse(
            signature.ident.span(),
            "there is no field: give the function a `&mut Field<T, D>`",
        );
    }
    let mut around = Around::default();
    around.scope = scope(&arguments)?;
    let mut leaves = Vec::new();
    let scope = around.scope.clone();
    let nodes = nodes(&function.block, around, &mut leaves)?;
    Ok(module(function, &arguments, &nodes, &leaves, &scope))
}

fn scope(arguments: &Arguments) -> syn::Result<Scope> {
    let mut scope = Scope::default();
    for (name, ty) in &arguments.values {
        let binding = match number(ty) {
            Some(ty) if !ty.starts_with('f') => Binding::Integer(ty),
            _ => Binding::Value,
        };
        scope.bind(name, binding)?;
    }
    for (number, name) in arguments.params.iter().enumerate() {
        scope.bind(name, Binding::Affine(quote!(Expr::Param(#number)), false))?;
    }
    for (name, _) in &arguments.sums {
        scope.bind(name, Binding::Sum)?;
    }
    for (number, (name, _)) in arguments.fields.iter().enumerate() {
        scope.bind(name, Binding::Field(number))?;
    }
    Ok(scope)
}

fn module(
    function: &ItemFn,
    arguments: &Arguments,
    nodes: &[TokenStream],
    leaves: &[Leaf],
    scope: &Scope,
) -> TokenStream {
    let (visibility, name) = (&function.vis, &function.sig.ident);
    let fields: Vec<&Ident> = arguments.fields.iter().map(|(name, _)| name).collect();
    let (values, types): (Vec<_>, Vec<_>) = arguments.values.iter().cloned().unzip();
    let (plain, plain_types): (Vec<_>, Vec<_>) = arguments.plain.iter().cloned().unzip();
    let (params, all) = (&arguments.params, &arguments.all);
    let (field_names, param_names) = (
        fields.iter().map(|name| name.to_string()),
        params.iter().map(Ident::to_string),
    );
    // Where this is false it is one error, at the first field with such elements, and none of what follows from it.
    let mut distinct: Vec<&GenericArgument> = Vec::new();
    let text = |element: &GenericArgument| element.to_token_stream().to_string();
    for (_, (element, _)) in &arguments.fields {
        if !distinct.iter().any(|other| text(other) == text(element)) {
            distinct.push(element);
        }
    }
    let bounds = distinct
        .iter()
        .map(|element| quote_spanned!(element.span()=> #element: ::molly::Element));
    let are_elements = quote!(where #(#bounds),*);
    let element_types = arguments.fields.iter().map(|(_, (element, _))| element);
    let kept = arguments
        .fields
        .iter()
        .map(|(name, (element, dims))| quote!(#name: &'w mut ::molly::Field<#element, #dims>));
    let (sums, sum_types): (Vec<_>, Vec<_>) = arguments.sums.iter().cloned().unzip();
    let parts: Vec<Ident> = sums.iter().map(|name| format_ident!("__part_{name}")).collect();
    let reduced = match sums.is_empty() {
        true => quote!(),
        false => quote!(rank.reduce(&mut [#(&mut #parts),*])?;),
    };
    let numbers = 0..fields.len();
    let numbered = 0..fields.len();
    let bodies: Vec<Ident> = (0..leaves.len())
        .map(|number| format_ident!("body_{number}"))
        .collect();
    let body_numbers = 0..leaves.len();
    let given = leaves.iter().map(|leaf| {
        let elements = leaf_fields(leaf, arguments, scope).map(|(name, _, is_written)| match is_written {
            true => quote!(self.#name.layout(), self.#name.cells()),
            false => quote!(self.#name.layout(), self.#name.elements()),
        });
        let sums = leaf_sums(leaf, arguments).map(|(name, _)| name);
        quote!(#(#elements,)* #(&mut *self.#sums,)* #(self.#values,)* __row)
    });
    let given: Vec<TokenStream> = given.collect();
    let codes = leaves.iter().zip(&bodies).map(|(leaf, body)| {
        let taken = leaf_fields(leaf, arguments, scope).map(|(name, (element, dims), is_written)| {
            let elements = elements(name);
            let element = match is_written {
                true => quote!(::std::cell::Cell<#element>),
                false => quote!(#element),
            };
            quote!(#name: ::molly::Layout<#dims>, #elements: &[#element])
        });
        let added = leaf_sums(leaf, arguments).map(|(name, ty)| quote!(#name: &mut #ty));
        let taken: Vec<TokenStream> = taken.chain(added).collect();
        let code = leaf_code(leaf, arguments, scope);
        quote! {
            #[inline(never)]
            fn #body<const WRAPS: bool>(#(#taken,)* #(#values: #types,)* __row: &::molly::model::Row<'_>) {
                #code
            }
        }
    });
    let exchanges = leaves.iter().enumerate().filter_map(|(body, leaf)| {
        let (to, from) = leaf.copied?;
        let (to, from) = (fields[to], fields[from]);
        Some(quote!(#body => self.#to.exchange(self.#from)))
    });
    let about = format!("What `#[molly::scop]` makes of [`{name}()`].");
    quote! {
        #function

        #[doc = #about]
        #[allow(unused, trivial_bounds, unreachable_pub, private_interfaces, clippy::all, clippy::restriction)]
        #visibility mod #name {
            use super::*;

            /// The function itself.
            pub fn serial(#(#plain: #plain_types),*) {
                super::#name(#(#plain),*)
            }

            /// Its description.
            pub fn program() -> ::molly::model::Program {
                use ::molly::model::{Access, Body, Bounds, Comparison, Cond, Expr, Node, Program, Site};
                Program {
                    name: module_path!().to_owned(),
                    params: vec![#(#param_names.to_owned()),*],
                    fields: vec![#(#field_names.to_owned()),*],
                    element_bytes: vec![#(::std::mem::size_of::<#element_types>()),*],
                    nodes: vec![#(#nodes),*],
                }
            }

            /// The rank's part of the function. All ranks call it, with the same numbers.
            ///
            /// # Errors
            /// If there is no plan, a field belongs to another rank, or another rank does not do its part.
            #[track_caller]
            pub fn run(rank: &mut ::molly::Rank, #(#all),*) -> ::molly::Result<::molly::Traffic>
            #are_elements
            {
                rank.enter(stringify!(#name), ::std::panic::Location::caller());
                let __program = program();
                let __sizes = ::molly::model::Sizes {
                    params: vec![#(#params),*],
                    shapes: vec![#(#fields.shape().to_vec()),*],
                };
                let __plan = rank.plan(&__program, &__sizes)?;
                #(rank.prepare(&__program, &__plan, #numbers, #fields)?;)*
                let __wraps = false #(|| #fields.layout().wraps())*;
                #(let mut #parts = <#sum_types>::new();)*
                let mut __work = Work { #(#fields,)* #(#sums: &mut #parts,)* #(#values,)* __wraps };
                let __traffic = rank.execute(&__program, &__plan, &mut __work)?;
                #reduced
                #(::molly::Part::merge(#sums, &::molly::Part::words(&#parts));)*
                Ok(__traffic)
            }

            struct Work<'w> {
                #(#kept,)*
                #(#sums: &'w mut #sum_types,)*
                #(#values: #types,)*
                __wraps: bool,
            }

            impl ::molly::Work for Work<'_>
            #are_elements
            {
                fn storage(&mut self, field: usize) -> &mut dyn ::molly::Storage {
                    match field {
                        #(#numbered => &mut *self.#fields,)*
                        _ => unreachable!("a plan has the fields of its program"),
                    }
                }

                fn body(&mut self, body: usize, __row: &::molly::model::Row<'_>) {
                    match (body, self.__wraps) {
                        #((#body_numbers, false) => #bodies::<false>(#given),
                        (#body_numbers, true) => #bodies::<true>(#given),)*
                        _ => unreachable!("a plan has the bodies of its program"),
                    }
                }

                fn exchange(&mut self, body: usize) {
                    match body {
                        #(#exchanges,)*
                        _ => unreachable!("a plan exchanges what is copied"),
                    }
                }
            }

            #(#codes)*
        }
    }
}
