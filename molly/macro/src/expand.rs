//! The module beside a function.

use crate::accesses::{operator, written};
use crate::nest::{Around, Leaf, nodes};
use crate::scope::{Binding, Scope};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, FnArg, GenericArgument, Ident, ItemFn, Pat, PathArguments, ReturnType, Type};

/// Arguments of a function.
#[derive(Default)]
struct Arguments {
    /// Names and `T, D` of fields.
    fields: Vec<(Ident, TokenStream)>,
    /// Integers that the analysis knows.
    params: Vec<Ident>,
    /// All arguments but fields, with their types.
    values: Vec<(Ident, Type)>,
    /// All arguments as `run` has them.
    all: Vec<TokenStream>,
    /// All arguments as the function has them.
    plain: Vec<(Ident, Type)>,
}

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
    Ok(module(function, &arguments, &nodes, leaves, &scope))
}

fn scope(arguments: &Arguments) -> syn::Result<Scope> {
    let mut scope = Scope::default();
    for (name, _) in &arguments.values {
        scope.bind(name, Binding::Value)?;
    }
    for (number, name) in arguments.params.iter().enumerate() {
        scope.bind(name, Binding::Affine(quote!(Expr::Param(#number)), false))?;
    }
    for (number, (name, _)) in arguments.fields.iter().enumerate() {
        scope.bind(name, Binding::Field(number))?;
    }
    Ok(scope)
}

fn arguments(function: &ItemFn) -> syn::Result<Arguments> {
    let mut arguments = Arguments::default();
    for argument in &function.sig.inputs {
        let FnArg::Typed(typed) = argument else {
            return Err(syn::Error::new(
                argument.span(),
                "a function over fields is no method",
            ));
        };
        let Pat::Ident(pat) = &*typed.pat else {
            return Err(syn::Error::new(typed.pat.span(), "arguments have plain names"));
        };
        let (name, ty) = (pat.ident.clone(), &*typed.ty);
        arguments.plain.push((name.clone(), ty.clone()));
        match (ty, field(ty)) {
            (Type::Reference(reference), Some(element)) => {
                let field = &reference.elem;
                arguments.all.push(quote!(#name: &mut #field));
                arguments.fields.push((name, element));
            }
            (Type::Reference(_), None) => {
                let text =
                    "arguments are `&mut Field<T, D>`, `&Field<T, D>`, or values, such as i64 for sizes";
                return Err(syn::Error::new(ty.span(), text));
            }
            _ => {
                if matches!(ty, Type::Path(path) if path.path.is_ident("i64")) {
                    arguments.params.push(name.clone());
                }
                arguments.all.push(quote!(#name: #ty));
                arguments.values.push((name, ty.clone()));
            }
        }
    }
    Ok(arguments)
}

/// `T, D` of `&mut Field<T, D>`.
fn field(ty: &Type) -> Option<TokenStream> {
    let Type::Reference(reference) = ty else {
        return None;
    };
    let Type::Path(path) = &*reference.elem else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    let arguments: Vec<&GenericArgument> = arguments.args.iter().collect();
    (last.ident == "Field" && arguments.len() == 2).then(|| quote!(#(#arguments),*))
}

fn module(
    function: &ItemFn,
    arguments: &Arguments,
    nodes: &[TokenStream],
    leaves: Vec<Leaf>,
    scope: &Scope,
) -> TokenStream {
    let (visibility, name) = (&function.vis, &function.sig.ident);
    let (fields, elements): (Vec<_>, Vec<_>) = arguments.fields.iter().cloned().unzip();
    let (values, types): (Vec<_>, Vec<_>) = arguments.values.iter().cloned().unzip();
    let typed: Vec<_> = fields
        .iter()
        .zip(&elements)
        .map(|(name, element)| quote!(#name: ::molly::View<'_, #element>))
        .collect();
    let (plain, plain_types): (Vec<_>, Vec<_>) = arguments.plain.iter().cloned().unzip();
    let (params, all) = (&arguments.params, &arguments.all);
    let (field_names, param_names) = (
        fields.iter().map(Ident::to_string),
        params.iter().map(Ident::to_string),
    );
    let numbers = 0..fields.len();
    let bodies: Vec<Ident> = (0..leaves.len())
        .map(|number| format_ident!("body_{number}"))
        .collect();
    let body_numbers = 0..leaves.len();
    let given = quote!(#(#fields,)* #(#values,)* __at, __step, __count);
    let taken = quote!(#(#typed,)* #(#values: #types,)* __at: &[i64], __step: i64, __count: i64);
    let codes = leaves.into_iter().zip(&bodies).map(|(leaf, body)| {
        let code = leaf_code(leaf, scope);
        quote! {
            #[inline(never)]
            fn #body<const WRAPS: bool>(#taken) {
                #code
            }
        }
    });
    let about = format!("What `#[molly::scop]` makes of [`{name}()`].");
    quote! {
        #function

        #[doc = #about]
        #[allow(unused, unreachable_pub, private_interfaces, clippy::all, clippy::restriction)]
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
                    nodes: vec![#(#nodes),*],
                }
            }

            /// The rank's part of the function. All ranks call it, with the same numbers.
            ///
            /// # Errors
            /// If there is no plan, a field belongs to another rank, or another rank does not do its part.
            pub fn run(rank: &mut ::molly::Rank, #(#all),*) -> ::molly::Result<::molly::Traffic> {
                let __program = program();
                let __sizes = ::molly::model::Sizes {
                    params: vec![#(#params),*],
                    shapes: vec![#(#fields.shape().to_vec()),*],
                };
                let __plan = rank.plan(&__program, &__sizes)?;
                #(rank.prepare(&__program, &__plan, #numbers, #fields)?;)*
                #(let #fields = #fields.view();)*
                let __wraps = false #(|| #fields.wraps())*;
                rank.execute(&__program, &__plan, &[#(&#fields),*], |__body, __at, __step, __count| {
                    match (__body, __wraps) {
                        #((#body_numbers, false) => #bodies::<false>(#given),
                        (#body_numbers, true) => #bodies::<true>(#given),)*
                        _ => unreachable!("a plan has the bodies of its program"),
                    }
                })
            }

            #(#codes)*
        }
    }
}

/// A body for a row: the variables of the loops, and the statements with elements of views.
fn leaf_code(leaf: Leaf, scope: &Scope) -> TokenStream {
    let mut statements = leaf.statements;
    let mut rewrite = Rewrite(scope);
    statements
        .iter_mut()
        .for_each(|statement| rewrite.visit_stmt_mut(statement));
    let named = |(at, variable): (usize, &Option<Ident>)| {
        variable
            .as_ref()
            .map(|variable| quote!(let #variable: i64 = __at[#at];))
    };
    let Some((last, outer)) = leaf.loops.split_last() else {
        return quote!(#(#statements)*);
    };
    let outer = outer.iter().enumerate().filter_map(named);
    let at = leaf.loops.len() - 1;
    let last = last.clone().unwrap_or_else(|| format_ident!("__last"));
    quote! {
        #(#outer)*
        let __first = __at[#at];
        let __body = |#last: i64| { #(#statements)* };
        if __step == 1 {
            for __last in __first..__first + __count {
                __body(__last);
            }
        } else {
            for __number in 0..__count {
                __body(__first + __number * __step);
            }
        }
    }
}

/// Replaces elements of fields by those of views.
struct Rewrite<'a>(&'a Scope);

impl VisitMut for Rewrite<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let target = written(expr).and_then(|left| self.0.element(left));
        let target = target.map(|(_, index)| (index.expr.clone(), index.index.clone()));
        if let Some((field, index)) = target {
            let (right, op) = match expr {
                Expr::Assign(assign) => (&mut assign.right, None),
                Expr::Binary(binary) => (&mut binary.right, operator(&binary.op)),
                _ => return,
            };
            self.visit_expr_mut(right);
            *expr = match op {
                None => syn::parse_quote!({
                    let __value = #right;
                    #field.set::<WRAPS>(#index, __value)
                }),
                Some(op) => syn::parse_quote!({
                    let __value = #field.get::<WRAPS>(#index) #op (#right);
                    #field.set::<WRAPS>(#index, __value)
                }),
            };
        } else if let Some((_, index)) = self.0.element(expr) {
            let (field, index) = (&index.expr, &index.index);
            *expr = syn::parse_quote!((#field.get::<WRAPS>(#index)));
        } else {
            visit_mut::visit_expr_mut(self, expr);
        }
    }
}
