//! The value with which a field of hardware begins, as its type says.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Field, GenericArgument, Path, PathArguments, Type, parse_quote};

/// The value of a field: that of its attribute `#[new(...)]`, which in an array is the value of each part, or what its
/// type says.
pub(crate) fn field_value(field: &mut Field) -> syn::Result<TokenStream> {
    let given = field
        .attrs
        .iter()
        .position(|attribute| attribute.path().is_ident("new"));
    if let Some(position) = given {
        let value: Expr = field.attrs.remove(position).parse_args()?;
        return Ok(match &field.ty {
            Type::Array(array) => {
                let (element, count) = (array.elem.clone(), array.len.clone());
                field.ty = parse_quote!(::std::vec::Vec<#element>);
                parts(&quote!(#value), &count, field.span())
            }
            _ => quote!(#value),
        });
    }
    type_value(&mut field.ty)
}

/// Types that have a default which means nothing in hardware.
const PLAIN: [&str; 9] = [
    "Vec", "Option", "String", "bool", "u8", "u16", "u32", "u64", "usize",
];

/// The value that a type describes; what only describes it is taken out of the type.
fn type_value(kind: &mut Type) -> syn::Result<TokenStream> {
    let span = kind.span();
    if let Type::Array(array) = kind {
        let (mut element, count) = (array.elem.clone(), array.len.clone());
        let value = type_value(&mut element)?;
        *kind = parse_quote!(::std::vec::Vec<#element>);
        return Ok(parts(&value, &count, span));
    }
    if let Some(mut checked) = only_type(kind, "Checked") {
        let value = type_value(&mut checked)?;
        *kind = checked;
        return Ok(quote_spanned!(span=> #value?));
    }
    let refuse = |what: &str| Err(syn::Error::new(span, what));
    let Type::Path(path) = kind else {
        return refuse("say how it is made: #[new(...)]");
    };
    let made = without_arguments(&path.path);
    let last = path.path.segments.last_mut().expect("a path has a name");
    let (mut types, values) = split(&last.arguments);
    let name = last.ident.to_string();
    let value = match (name.as_str(), types.as_mut_slice(), values.as_slice()) {
        ("Wire", [_], [width]) => quote_spanned!(span=> #made::word(#width)),
        ("Wire", [_, bit], []) if is(bit, "bool") => quote_spanned!(span=> #made::bit()),
        ("Wire", ..) => return refuse("give its width, Wire<In, { width }>, or bool"),
        ("Reg", [], [width]) => quote_spanned!(span=> #made::word(#width)),
        ("Reg", [bit], []) if is(bit, "bool") => quote_spanned!(span=> #made::bit()),
        ("Reg", [reset], [width]) if is(reset, "Reset") => quote_spanned!(span=> #made::word_reset(#width)),
        ("Reg", [bit, reset], []) if is(bit, "bool") && is(reset, "Reset") => {
            quote_spanned!(span=> #made::bit_reset())
        }
        ("Reg", ..) => return refuse("give its width, Reg<{ width }>, or bool; `Reset` comes behind it"),
        (_, types, _) if types.iter().any(|kind| is(kind, "Reset")) => {
            return refuse("only a register has `Reset`");
        }
        ("Heaped", [part], []) => {
            let value = type_value(part)?;
            quote_spanned!(span=> #made::new(#value))
        }
        ("Called", [part], [names]) => {
            let value = type_value(part)?;
            quote_spanned!(span=> #made::new(#value, #names))
        }
        ("Called", ..) => return refuse("say how its ports are called: Called<Bundle, { names }>"),
        ("Optional", [part], [condition]) => {
            let value = type_value(part)?;
            quote_spanned! {span=> #made::from(if #condition {
                ::std::option::Option::Some(#value)
            } else {
                ::std::option::Option::None
            })}
        }
        ("Optional", ..) => return refuse("say when it is there: Optional<Part, { condition }>"),
        ("Named", [part], [names]) => {
            let value = type_value(part)?;
            quote_spanned!(span=> #made::new(#names, |_| #value))
        }
        (name, _, []) if PLAIN.contains(&name) => return refuse("say how it is made: #[new(...)]"),
        (_, _, []) => quote_spanned!(span=> ::std::default::Default::default()),
        (_, _, values) => quote_spanned!(span=> #made::new(#(#values),*)),
    };
    last.arguments = rest(&last.arguments, types);
    Ok(value)
}

/// Parts that are made one by one: a clone would be the same signals again.
fn parts(value: &TokenStream, count: &Expr, span: Span) -> TokenStream {
    quote_spanned! {span=> {
        let mut __parts = ::std::vec::Vec::new();
        for _ in 0..#count {
            __parts.push(#value);
        }
        __parts
    }}
}

/// The arguments of a type as Rust knows it: without values and `Reset`, and with types that have lost theirs.
fn rest(arguments: &PathArguments, types: Vec<Type>) -> PathArguments {
    let PathArguments::AngleBracketed(all) = arguments else {
        return arguments.clone();
    };
    let mut types = types.into_iter();
    let kept = all.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(_) => types
            .next()
            .filter(|kind| !is(kind, "Reset"))
            .map(GenericArgument::Type),
        GenericArgument::Const(_) => None,
        other => Some(other.clone()),
    });
    let kept: Vec<_> = kept.collect();
    match kept.is_empty() {
        true => PathArguments::None,
        false => PathArguments::AngleBracketed(parse_quote!(<#(#kept),*>)),
    }
}

/// The part of a type `Name<Part>`.
fn only_type(kind: &Type, name: &str) -> Option<Type> {
    let Type::Path(path) = kind else {
        return None;
    };
    let last = path.path.segments.last().filter(|last| last.ident == name)?;
    let (types, values) = split(&last.arguments);
    match (types.as_slice(), values.as_slice()) {
        ([part], []) => Some(part.clone()),
        _ => None,
    }
}

/// The arguments of a type: types, and values.
pub(crate) fn split(arguments: &PathArguments) -> (Vec<Type>, Vec<Expr>) {
    let (mut types, mut values) = (Vec::new(), Vec::new());
    if let PathArguments::AngleBracketed(all) = arguments {
        for argument in &all.args {
            match argument {
                GenericArgument::Type(kind) => types.push(kind.clone()),
                GenericArgument::Const(Expr::Block(block)) => values.push(inner(block)),
                GenericArgument::Const(value) => values.push(value.clone()),
                _ => {}
            }
        }
    }
    (types, values)
}

/// `{ expression }` without its braces, which would be one more block for the reader of an error.
fn inner(block: &syn::ExprBlock) -> Expr {
    match block.block.stmts.as_slice() {
        [syn::Stmt::Expr(value, None)] => value.clone(),
        _ => Expr::Block(block.clone()),
    }
}

fn is(kind: &Type, name: &str) -> bool {
    matches!(kind, Type::Path(path) if path.path.is_ident(name))
}

fn without_arguments(path: &Path) -> Path {
    let mut path = path.clone();
    for segment in &mut path.segments {
        segment.arguments = PathArguments::None;
    }
    path
}
