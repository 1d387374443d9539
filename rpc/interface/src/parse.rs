//! From a trait to the service that it describes.

use crate::types::{Arguments, Kind, Length, Values, Word};
use crate::{Direction, Form, Function, Interface, Parameter};
use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Error, Expr, FnArg, GenericArgument, Ident, ItemTrait, LitInt, Meta, Pat, PatType,
    PathArguments, Result, ReturnType, Token, TraitItem, TraitItemFn, Type,
};

/// Most bytes of a string with its NUL, and how many it has if nothing is said.
const TEXT_BYTES: u32 = 1024;

/// Reads a trait.
pub(crate) fn interface(arguments: Arguments, item: &ItemTrait) -> Result<Interface> {
    let Arguments { api, prefix, handles } = arguments;
    let generics = &item.generics;
    if !generics.params.is_empty() || generics.where_clause.is_some() {
        return Err(Error::new_spanned(
            generics,
            "a service has no parameters of its own",
        ));
    }
    let mut bare = item.clone();
    let mut functions: Vec<Function> = Vec::new();
    for item in &mut bare.items {
        let TraitItem::Fn(item) = item else {
            return Err(Error::new_spanned(item, "a service has functions only"));
        };
        let (function, number) = function(item, &handles)?;
        if let Some(other) = functions.iter().find(|other| other.number == function.number) {
            let why = format!("`{}` has this number already", other.name);
            return Err(Error::new(number, why));
        }
        functions.push(function);
        strip(item);
    }
    let names = functions.iter().map(|function| &function.name);
    for name in names.chain(handles.iter().map(|kind| &kind.name)) {
        let c_name = format!("{prefix}_{}", crate::types::snake(name));
        if let Some(suffix) = ["_hh", "_ph", "_th"]
            .iter()
            .find(|suffix| c_name.contains(**suffix))
        {
            let why = format!("public loaders take `{c_name}` for a handler, because it contains `{suffix}`");
            return Err(Error::new(name.span(), why));
        }
    }
    if functions.is_empty() {
        return Err(Error::new_spanned(
            &item.ident,
            "a service without functions does nothing",
        ));
    }
    Ok(Interface {
        visibility: item.vis.clone(),
        name: item.ident.clone(),
        origin: format!("the trait `{}` by spinneret_rpc::service", item.ident),
        api,
        prefix,
        documentation: documentation(&item.attrs),
        handles,
        functions,
        item: bare,
    })
}

/// Takes the attributes away that were for us.
fn strip(item: &mut TraitItemFn) {
    item.attrs.retain(|attribute| !attribute.path().is_ident("call"));
    for input in &mut item.sig.inputs {
        if let FnArg::Typed(input) = input {
            let ours = |attribute: &Attribute| DATA.iter().any(|name| attribute.path().is_ident(name));
            input.attrs.retain(|attribute| !ours(attribute));
        }
    }
}

const DATA: [&str; 4] = ["len", "out", "inout", "cap"];

fn documentation(attributes: &[Attribute]) -> Vec<Attribute> {
    let is_text = |attribute: &&Attribute| attribute.path().is_ident("doc");
    attributes.iter().filter(is_text).cloned().collect()
}

/// The arguments of `#[call(NUMBER, ...)]`.
#[derive(Debug)]
struct Named {
    number: u16,
    span: Span,
    has_ticket: Option<Span>,
    is_off: bool,
}

fn named(item: &TraitItemFn) -> Result<Named> {
    let mut attributes = item
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("call"));
    let (Some(attribute), None) = (attributes.next(), attributes.next()) else {
        let why = "write `#[call(NUMBER)]` before it, once: the number is what handlers call it by";
        return Err(Error::new_spanned(&item.sig.ident, why));
    };
    let parts = attribute.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated)?;
    let mut parts = parts.iter();
    let number = match parts.next() {
        Some(Expr::Lit(literal)) => syn::parse2::<LitInt>(quote::quote!(#literal))
            .and_then(|literal| literal.base10_parse())
            .ok()
            .filter(|number| *number != 0)
            .ok_or_else(|| Error::new_spanned(literal, "the number of a function is 1 to 65535"))?,
        _ => {
            return Err(Error::new_spanned(
                attribute,
                "the number of the function comes first",
            ));
        }
    };
    let mut named = Named {
        number,
        span: attribute.span(),
        has_ticket: None,
        is_off: false,
    };
    for part in parts {
        match part {
            Expr::Path(path) if path.path.is_ident("ticket") => named.has_ticket = Some(part.span()),
            Expr::Path(path) if path.path.is_ident("off") => named.is_off = true,
            _ => return Err(Error::new_spanned(part, "this is neither `ticket` nor `off`")),
        }
    }
    Ok(named)
}

fn function(item: &TraitItemFn, handles: &[Kind]) -> Result<(Function, Span)> {
    let named = named(item)?;
    let signature = &item.sig;
    if let Some(body) = &item.default {
        return Err(Error::new_spanned(
            body,
            "the host says what it does, so there is no body here",
        ));
    }
    if !signature.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &signature.generics,
            "handlers know one type, so none can be chosen",
        ));
    }
    let mut inputs = signature.inputs.iter();
    match inputs.next() {
        Some(FnArg::Receiver(receiver)) if receiver.reference.is_some() && receiver.mutability.is_none() => {}
        _ => {
            let why = "the first parameter is `&self`: all calls share the host's side";
            return Err(Error::new_spanned(&signature.ident, why));
        }
    }
    let inputs: Vec<&PatType> = inputs
        .filter_map(|input| match input {
            FnArg::Typed(input) => Some(input),
            FnArg::Receiver(_) => None,
        })
        .collect();
    let values = |name: &Ident| {
        let input = inputs
            .iter()
            .find(|input| name_of(input).is_ok_and(|own| own == name))?;
        Word::of(&input.ty, handles).ok()
    };
    let parameters = inputs
        .iter()
        .map(|input| parameter(input, handles, &values))
        .collect::<Result<Vec<_>>>()?;
    let (result, can_fail) = result(&signature.output, handles)?;
    let mut function = Function {
        name: signature.ident.clone(),
        number: named.number,
        documentation: documentation(&item.attrs),
        is_async: signature.asyncness.is_some(),
        has_ticket: named.has_ticket.is_some(),
        is_off: named.is_off,
        parameters,
        result,
        can_fail,
        request_bytes: 0,
        answer_bytes: 0,
    };
    let comes_back = |form: &Form| matches!(form, Form::Data(_, Direction::Out | Direction::Both, _));
    if let (Some(span), true) = (
        named.has_ticket,
        function
            .parameters
            .iter()
            .any(|parameter| comes_back(&parameter.form)),
    ) {
        let why = "who waits for a ticket gets numbers only: no data can come back";
        return Err(Error::new(span, why));
    }
    crate::place(&mut function)?;
    Ok((function, named.span))
}

fn name_of(input: &PatType) -> Result<&Ident> {
    match &*input.pat {
        Pat::Ident(name) => Ok(&name.ident),
        other => Err(Error::new_spanned(other, "a parameter needs a name")),
    }
}

/// Names that a parameter cannot have in C: names of the stub's own, and words of the language that Rust does not have.
const TAKEN: [&str; 23] = [
    "packet", "call", "status", "result", "ticket", "auto", "case", "char", "default", "double", "float",
    "goto", "int", "long", "register", "short", "signed", "sizeof", "switch", "typedef", "union", "unsigned",
    "void",
];

fn parameter(input: &PatType, handles: &[Kind], values: Values<'_>) -> Result<Parameter> {
    let name = name_of(input)?;
    if TAKEN.iter().any(|taken| name == taken) {
        let why = format!("`{name}` means something else in the stub in C: choose another name");
        return Err(Error::new(name.span(), why));
    }
    let mut ours = input
        .attrs
        .iter()
        .filter(|attribute| DATA.iter().any(|data| attribute.path().is_ident(data)));
    let attribute = ours.next();
    if let Some(more) = ours.next() {
        return Err(Error::new_spanned(more, "one of these is enough"));
    }
    let form = form(name, &input.ty, attribute, handles, values)?;
    Ok(Parameter {
        name: name.clone(),
        form,
        at: 0,
    })
}

/// The form of a parameter, by its type and its attribute.
fn form(
    name: &Ident,
    type_: &Type,
    attribute: Option<&Attribute>,
    handles: &[Kind],
    values: Values<'_>,
) -> Result<Form> {
    let is = |wanted: &str| attribute.is_some_and(|attribute| attribute.path().is_ident(wanted));
    let Type::Reference(reference) = type_ else {
        return match attribute {
            Some(attribute) => Err(Error::new_spanned(
                attribute,
                "a value has no length and comes in only",
            )),
            None => Word::of(type_, handles).map(Form::Value),
        };
    };
    let is_mutable = reference.mutability.is_some();
    match &*reference.elem {
        Type::Slice(slice) => {
            let direction = match (is_mutable, is("len"), is("out"), is("inout")) {
                (false, true, ..) => Direction::In,
                (true, _, true, _) => Direction::Out,
                (true, _, _, true) => Direction::Both,
                _ => {
                    let forms = match is_mutable {
                        false => "#[len(...)]",
                        true => "#[out(...)] or #[inout(...)]",
                    };
                    let why = format!("nothing determines how long `{name}` is: write {forms} before it");
                    return Err(Error::new_spanned(type_, why));
                }
            };
            let element = match Word::of(&slice.elem, handles)? {
                Word::Scalar(scalar) if scalar.rust != "bool" => scalar,
                _ => return Err(Error::new_spanned(&slice.elem, "data are numbers")),
            };
            let text = attribute.map(Attribute::parse_args::<Expr>).transpose()?;
            let text = text.ok_or_else(|| Error::new_spanned(type_, "a length is missing"))?;
            let length = Length::of(&text, values, &|kind| handles[kind].has_sizes())?;
            Ok(Form::Data(element, direction, length))
        }
        Type::Path(path) if path.path.is_ident("str") && !is_mutable => match attribute {
            None => Ok(Form::Text(TEXT_BYTES)),
            Some(attribute) if is("cap") => cap(attribute).map(Form::Text),
            Some(attribute) => Err(Error::new_spanned(
                attribute,
                "a string has `#[cap(BYTES)]`, or nothing",
            )),
        },
        inner if is_mutable => match attribute {
            Some(attribute) => Err(Error::new_spanned(attribute, "a single value needs nothing")),
            None => Word::of(inner, handles).map(Form::Out),
        },
        _ => Err(Error::new_spanned(
            type_,
            "a reference is `&[T]`, `&mut [T]`, `&mut T` or `&str`",
        )),
    }
}

fn cap(attribute: &Attribute) -> Result<u32> {
    let literal: LitInt = attribute.parse_args()?;
    match literal.base10_parse() {
        Ok(bytes @ 1..=TEXT_BYTES) => Ok(bytes),
        _ => {
            let why = format!("a string has 1 to {TEXT_BYTES} bytes with its NUL");
            Err(Error::new_spanned(literal, why))
        }
    }
}

/// The value that is returned, and whether the host can refuse instead.
fn result(output: &ReturnType, handles: &[Kind]) -> Result<(Option<Word>, bool)> {
    let ReturnType::Type(_, type_) = output else {
        return Ok((None, false));
    };
    let inner = match &**type_ {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .filter(|segment| segment.ident == "Result"),
        _ => None,
    };
    let (inner, can_fail) = match inner.map(|segment| &segment.arguments) {
        Some(PathArguments::AngleBracketed(arguments)) => match arguments.args.first() {
            Some(GenericArgument::Type(inner)) => (inner, true),
            _ => return Err(Error::new_spanned(type_, "this is no `Result<T, Status>`")),
        },
        _ => (&**type_, false),
    };
    match inner {
        Type::Tuple(tuple) if tuple.elems.is_empty() => Ok((None, can_fail)),
        _ => Ok((Some(Word::of(inner, handles)?), can_fail)),
    }
}

/// Whether an attribute documents something, and how.
pub(crate) fn sentence(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    match &pair.value {
        Expr::Lit(literal) => match &literal.lit {
            syn::Lit::Str(text) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::interface;
    use crate::Interface;
    use crate::header::{canonical, hash};
    use crate::types::Arguments;
    use syn::{ItemTrait, Result};

    const ARGUMENTS: &str = "api = 64, prefix = \"t\", handles(Unit { ONE = 4, TWO = 8 }, Other)";

    fn parse(arguments: &str, text: &str) -> Result<Interface> {
        let arguments: Arguments = syn::parse_str(arguments)?;
        interface(arguments, &syn::parse_str::<ItemTrait>(text)?)
    }

    fn described(error: Result<Interface>) -> String {
        let Err(error) = error else {
            panic!("this is not refused");
        };
        let start = error.span().start();
        format!("{}:{}: {error}", start.line, start.column + 1)
    }

    /// The error of a trait whose only function has these parameters and this result; lines count from 1 at the function's.
    fn error(rest: &str) -> String {
        described(parse(
            ARGUMENTS,
            &format!("trait T {{ #[call(1)] \nfn f(&self{rest};}}"),
        ))
    }

    #[test]
    fn types_without_a_fixed_width() {
        assert_eq!(
            error(", n: usize)"),
            "2:16: `usize` has another width on the NIC: take one with a number in its name"
        );
        assert!(
            error(", n: &u32)").starts_with("2:16: a reference is `&[T]`, `&mut [T]`, `&mut T` or `&str`")
        );
        assert!(
            error(", n: String)").starts_with("2:16: `String` is neither a number nor one of `handles(...)`")
        );
        assert!(error(", n: (u8, u8))").starts_with("2:16: this has no fixed width"));
        assert!(error(") -> u128").starts_with("2:16: `u128` is no type of C on the NIC"));
        assert_eq!(
            error(", status: u32)"),
            "2:13: `status` means something else in the stub in C: choose another name"
        );
        assert_eq!(error(", #[len(4)] n: &[bool])"), "2:28: data are numbers");
    }

    #[test]
    fn lengths_must_depend_on_parameters() {
        assert_eq!(
            error(", n: &[u8])"),
            "2:16: nothing determines how long `n` is: write #[len(...)] before it"
        );
        assert_eq!(
            error(", n: &mut [u8])"),
            "2:16: nothing determines how long `n` is: write #[out(...)] or #[inout(...)] before it"
        );
        assert_eq!(
            error(", #[len(m)] n: &[u8])"),
            "2:19: no value of this function is called `m`"
        );
        assert_eq!(
            error(", m: u64, #[len(m)] n: &[u8])"),
            "2:27: `m` is no integer of at most 32 bits"
        );
        assert_eq!(
            error(", m: u32, #[len(m + 1)] n: &[u8])"),
            "2:27: a length is a product of values, numbers and `size(handle)`"
        );
        assert_eq!(
            error(", m: Other, #[len(size(m))] n: &[u8])"),
            "2:29: `m` is no handle whose kind has sizes"
        );
        assert_eq!(
            error(", #[cap(1025)] n: &str)"),
            "2:19: a string has 1 to 1024 bytes with its NUL"
        );
    }

    #[test]
    fn more_than_a_packet() {
        let values: String = (0..8).map(|number| format!(", v{number}: u64")).collect();
        assert_eq!(
            error(&format!("{values})")),
            "2:76: up to `v7` the values need 72 bytes, and a packet has 64: pass them as data"
        );
    }

    #[test]
    fn numbers_and_forms() {
        let refused = |arguments: &str, text: &str| described(parse(arguments, text));
        let of = |text: &str| refused(ARGUMENTS, text);
        assert_eq!(
            of("trait T { fn f(&self); }"),
            "1:14: write `#[call(NUMBER)]` before it, once: the number is what handlers call it by"
        );
        assert_eq!(
            of("trait T { #[call(0)] fn f(&self); }"),
            "1:18: the number of a function is 1 to 65535"
        );
        assert_eq!(
            of("trait T { #[call(1)] fn f(&self); #[call(1)] fn g(&self); }"),
            "1:35: `f` has this number already"
        );
        assert_eq!(
            of("trait T { #[call(1)] fn f(&mut self); }"),
            "1:25: the first parameter is `&self`: all calls share the host's side"
        );
        assert_eq!(
            of("trait T { #[call(1, ticket)] fn f(&self, #[out(4)] n: &mut [u8]); }"),
            "1:21: who waits for a ticket gets numbers only: no data can come back"
        );
        assert_eq!(of("trait T { type A; }"), "1:11: a service has functions only");
        assert_eq!(
            refused("api = 1, prefix = \"t\"", "trait T { #[call(1)] fn f(&self); }"),
            "1:7: interface 1 is that of `printf`; 64 and above are yours"
        );
    }

    #[test]
    fn versions_are_of_what_both_sides_have_to_agree_on() {
        let version = |text: &str| {
            let interface = parse(ARGUMENTS, &format!("trait T {{ #[call(1)] {text} }}")).unwrap();
            canonical(&interface, &interface.functions[0])
        };
        let text =
            version("fn f(&self, n: u32, h: Unit, #[len(n * size(h))] d: &[u8], #[cap(9)] s: &str) -> i64;");
        assert_eq!(
            text,
            "1 t_f 0x73400001 (n: u32, h: handle 1 [4 8], d: in u8[n * size(h)], s: text 9) -> i64"
        );
        // The host's own choices change nothing.
        let other = "/// Text.\n async fn f(&self, n: u32, h: Unit, #[len(n * size(h))] d: &[u8], #[cap(9)] s: &str) -> \
                     Result<i64, Status>;";
        assert_eq!(text, version(other));
        // The offset basis, and a test vector of FNV-1a.
        assert_eq!(
            [hash(""), hash("a")],
            [0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c]
        );
    }
}
