//! Arguments of a function: fields, sums, and values.

use crate::affine::text;
use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{FnArg, GenericArgument, Ident, ItemFn, Pat, PathArguments, Type};

/// `T` and `D` of a field.
pub(crate) type Element = (GenericArgument, GenericArgument);

/// Arguments of a function.
#[derive(Default)]
pub(crate) struct Arguments {
    /// Names of fields, with `T` and `D`.
    pub(crate) fields: Vec<(Ident, Element)>,
    /// Names of sums, with their types.
    pub(crate) sums: Vec<(Ident, Type)>,
    /// Integers that the analysis knows.
    pub(crate) params: Vec<Ident>,
    /// All arguments but fields, with their types.
    pub(crate) values: Vec<(Ident, Type)>,
    /// All arguments as `run` has them.
    pub(crate) all: Vec<TokenStream>,
    /// All arguments as the function has them.
    pub(crate) plain: Vec<(Ident, Type)>,
}

/// The arguments, if a function over fields can have them.
pub(crate) fn arguments(function: &ItemFn) -> syn::Result<Arguments> {
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
                check_element(&element.0)?;
                let field = &reference.elem;
                arguments.all.push(quote!(#name: &mut #field));
                arguments.fields.push((name, element));
            }
            (Type::Reference(reference), None) if is_sum(&reference.elem) => {
                let sum = &*reference.elem;
                arguments.all.push(quote!(#name: &mut #sum));
                arguments.sums.push((name, sum.clone()));
            }
            (Type::Reference(reference), None) => {
                let text = match (number(&reference.elem), reference.mutability) {
                    (Some(number), Some(_)) => format!(
                        "`&mut {number}` would be another number on each rank; add to a `&mut Sum<{number}>`, or write to a field"
                    ),
                    (Some(number), None) => format!("numbers are passed as they are: write `{name}: {number}`"),
                    (None, _) => "arguments are `&mut Field<T, D>`, `&Field<T, D>`, `&mut Sum<T>`, `&mut FastSum`, or values, such as \
                            i64 for sizes"
                        .to_owned(),
                };
                return Err(syn::Error::new_spanned(ty, text));
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

/// The name of a type of numbers.
pub(crate) fn number(ty: &Type) -> Option<String> {
    const NUMBERS: [&str; 14] = [
        "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64",
    ];
    let Type::Path(path) = ty else { return None };
    let name = path.path.get_ident()?.to_string();
    NUMBERS.contains(&&name[..]).then_some(name)
}

/// Refuses elements that are no plain old data, as far as their type's form says so.
fn check_element(element: &GenericArgument) -> syn::Result<()> {
    let GenericArgument::Type(ty) = element else {
        return Ok(());
    };
    let is_plain = match ty {
        Type::Path(path) => !["bool", "char", "String"]
            .iter()
            .any(|name| path.path.is_ident(name)),
        Type::Array(array) => return check_element(&GenericArgument::Type((*array.elem).clone())),
        Type::Paren(paren) => return check_element(&GenericArgument::Type((*paren.elem).clone())),
        Type::Tuple(_) | Type::Reference(_) | Type::Ptr(_) | Type::BareFn(_) | Type::Slice(_) => false,
        _ => true,
    };
    match is_plain {
        true => Ok(()),
        false => {
            let name = text(ty);
            let text = format!(
                "`{name}` is no element of a field, as not all bytes are values of it; write `u8` or another number, an array of \
                 numbers, or a struct that is `bytemuck::Pod`"
            );
            Err(syn::Error::new_spanned(ty, text))
        }
    }
}

/// Whether a type is that of a sum, by its name.
fn is_sum(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|last| last.ident == "Sum" || last.ident == "FastSum")
}

/// `T` and `D` of `&mut Field<T, D>`.
fn field(ty: &Type) -> Option<Element> {
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
    let mut arguments = arguments.args.iter().cloned();
    match (arguments.next(), arguments.next(), arguments.next()) {
        (Some(element), Some(dims), None) if last.ident == "Field" => Some((element, dims)),
        _ => None,
    }
}
