//! `#[derive(Parameters)]`: what a block can be set to, from the fields of a struct.

use crate::docs::doc_lines;
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Expr, Field, Ident, LitStr, Token, Type};

/// The arguments of `#[parameters(...)]` above the struct.
#[derive(Default)]
struct Whole {
    /// The block that the parameters are of, if it is one only.
    block: Option<Expr>,
    /// Whether the struct has a `check` of what depends on several of them.
    is_checked: bool,
}

/// The arguments of `#[parameter(...)]` above a field.
struct One {
    /// The value of the reference configuration.
    value: Expr,
    board: Option<Expr>,
    range: Option<Expr>,
    is_power_of_two: bool,
    name: Option<LitStr>,
    verilog: Option<LitStr>,
}

/// `word` or `word = value`.
enum Item {
    Value(Expr),
    Word(Ident),
    Pair(Ident, Expr),
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]) {
            let word = input.parse()?;
            input.parse::<Token![=]>()?;
            return Ok(Self::Pair(word, input.parse()?));
        }
        match input.parse()? {
            // Values are constants, whose names are in capitals.
            Expr::Path(path) if path.path.get_ident().is_some_and(is_lower) => {
                path.path.require_ident().cloned().map(Self::Word)
            }
            value => Ok(Self::Value(value)),
        }
    }
}

fn is_lower(word: &Ident) -> bool {
    word.to_string().starts_with(char::is_lowercase)
}

fn items(attributes: &[Attribute], name: &str) -> syn::Result<Vec<Item>> {
    let mut all = Vec::new();
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident(name))
    {
        all.extend(attribute.parse_args_with(Punctuated::<Item, Token![,]>::parse_terminated)?);
    }
    Ok(all)
}

fn unknown(word: &Ident, known: &str) -> syn::Error {
    syn::Error::new(word.span(), format!("there is no `{word}` here, but {known}"))
}

impl Whole {
    fn of(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut whole = Self::default();
        let known = "block = NAME and check";
        for item in items(attributes, "parameters")? {
            match item {
                Item::Pair(word, value) if word == "block" => whole.block = Some(value),
                Item::Word(word) if word == "check" => whole.is_checked = true,
                Item::Pair(word, _) | Item::Word(word) => return Err(unknown(&word, known)),
                Item::Value(value) => return Err(syn::Error::new(value.span(), known)),
            }
        }
        Ok(whole)
    }
}

impl One {
    fn of(field: &Field) -> syn::Result<Self> {
        let known = "a value, board = VALUE, range = FIRST..=LAST, power_of_two, name = \"...\" and verilog = \"...\"";
        let (mut one, mut all) = (None, [None, None]);
        let (mut is_power_of_two, mut texts) = (false, [None, None]);
        for item in items(&field.attrs, "parameter")? {
            match item {
                Item::Value(value) => one = Some(value),
                Item::Word(word) if word == "power_of_two" => is_power_of_two = true,
                Item::Pair(word, value) if word == "board" => all[0] = Some(value),
                Item::Pair(word, value) if word == "range" => all[1] = Some(value),
                Item::Pair(word, value) if word == "name" => texts[0] = Some(text(&value)?),
                Item::Pair(word, value) if word == "verilog" => texts[1] = Some(text(&value)?),
                Item::Word(word) | Item::Pair(word, _) => return Err(unknown(&word, known)),
            }
        }
        let what = "say what the parameter is if nobody sets it: #[parameter(VALUE, ...)]";
        let [board, range] = all;
        let [name, verilog] = texts;
        Ok(Self {
            value: one.ok_or_else(|| syn::Error::new(field.span(), what))?,
            board,
            range,
            is_power_of_two,
            name,
            verilog,
        })
    }

    /// A list of one `Parameter`, a condition, the field of the struct, and its value by name.
    fn expand(&self, field: &Field) -> syn::Result<[TokenStream; 4]> {
        let ident = &field.ident;
        let name = match (&self.name, ident) {
            (Some(name), _) => name.value(),
            (None, Some(ident)) => ident.to_string(),
            (None, None) => return Err(syn::Error::new(field.span(), "parameters have names")),
        };
        let is_bool = matches!(&field.ty, Type::Path(path) if path.path.is_ident("bool"));
        let range = match &self.range {
            Some(range) => quote!(#range),
            None if is_bool => quote!(0..=1),
            None => {
                let what = "say what it may be: range = FIRST..=LAST";
                return Err(syn::Error::new(field.span(), what));
            }
        };
        let value = &self.value;
        let board = self.board.as_ref().unwrap_or(value);
        let verilog = match &self.verilog {
            Some(verilog) => quote!(Some(#verilog)),
            None => quote!(None),
        };
        let doc = line(&doc_lines(&field.attrs).collect::<Vec<_>>());
        let listed = quote! {
            vec![crate::entry::Parameter {
                name: #name,
                value: match config {
                    crate::entry::Config::Reference => (#value) as u64,
                    crate::entry::Config::Board => (#board) as u64,
                },
                min: *(#range).start() as u64,
                max: *(#range).end() as u64,
                verilog: #verilog,
                doc: #doc,
            }]
        };
        let kind = &field.ty;
        let value = match is_bool {
            true => quote!(#ident: checked.get(#name) == 1),
            false => quote!(#ident: checked.get(#name) as #kind),
        };
        let condition = match self.is_power_of_two {
            true => quote!(checked.power_of_two(#name)?;),
            false => TokenStream::new(),
        };
        let named = quote!(values.insert(#name.to_owned(), self.#ident as u64););
        Ok([listed, condition, value, named])
    }
}

/// The same for a field that has parameters of its own, marked by `#[parameters]`.
fn expand_group(field: &Field) -> [TokenStream; 4] {
    let (ident, kind) = (&field.ident, &field.ty);
    [
        quote!(<#kind as crate::entry::Parameters>::parameters(config)),
        TokenStream::new(),
        quote!(#ident: <#kind as crate::entry::Parameters>::read(checked)?),
        quote!(values.extend(crate::entry::Parameters::values(&self.#ident));),
    ]
}

fn text(value: &Expr) -> syn::Result<LitStr> {
    syn::parse2(quote!(#value))
}

/// Documentation as a line of a list: without a capital at its start and a full stop at its end.
fn line(lines: &[String]) -> String {
    let text = lines.join(" ");
    let text = text.trim().trim_end_matches('.');
    let word = text.split(' ').next().unwrap_or(text);
    let mut letters = text.chars();
    match letters.next() {
        // A name has more capitals than the first.
        Some(first) if !word.chars().skip(1).any(char::is_uppercase) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

/// The implementation of `Parameters`, and `new` if they are of one block.
pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(syn::Error::new(input.span(), "Parameters is for structs"));
    };
    let whole = Whole::of(&input.attrs)?;
    let mut parts = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    for field in &data.fields {
        let is_group = field.attrs.iter().any(|a| a.path().is_ident("parameters"));
        let expanded = match is_group {
            true => expand_group(field),
            false => One::of(field)?.expand(field)?,
        };
        for (all, part) in parts.iter_mut().zip(expanded) {
            all.push(part);
        }
    }
    let [listed, conditions, values, named] = parts;
    let (name, visibility) = (&input.ident, &input.vis);
    let check = match whole.is_checked {
        true => quote!(this.check(checked)?;),
        false => TokenStream::new(),
    };
    let new = whole.block.map(|block| {
        quote! {
            impl #name {
                /// Name of the block that the parameters are of.
                #visibility const BLOCK: &'static str = #block;

                /// Checks parameter values.
                ///
                /// # Errors
                /// Names the parameter, its value and what would be possible.
                #visibility fn new(values: &crate::entry::Values) -> Result<Self, crate::entry::ParameterError> {
                    <Self as crate::entry::Parameters>::of(Self::BLOCK, values)
                }

                /// Checks what it holds.
                ///
                /// # Errors
                /// As those of `new`.
                #[allow(dead_code)]
                #visibility fn checked(&self) -> Result<Self, crate::entry::ParameterError> {
                    Self::new(&crate::entry::Parameters::values(self))
                }
            }
        }
    });
    Ok(quote! {
        #[allow(clippy::cast_lossless, clippy::unnecessary_cast)]
        impl crate::entry::Parameters for #name {
            fn parameters(config: crate::entry::Config) -> Vec<crate::entry::Parameter> {
                [#(#listed),*].concat()
            }

            fn read(checked: crate::entry::Checked<'_>) -> Result<Self, crate::entry::ParameterError> {
                #(#conditions)*
                let this = Self { #(#values),* };
                #check
                Ok(this)
            }

            fn values(&self) -> crate::entry::Values {
                let mut values = crate::entry::Values::new();
                #(#named)*
                values
            }
        }
        impl #name {
            /// The part of a module name that tells its values apart: all that the reference configuration has not.
            #[allow(dead_code)]
            #visibility fn suffix(&self) -> String {
                crate::entry::suffix(self)
            }
        }
        #new
    })
}

#[cfg(test)]
mod tests {
    use super::{expand, line};
    use syn::parse_quote;

    #[test]
    fn documentation_becomes_a_line_of_a_list() {
        let of = |lines: &[&str]| line(&lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["Width of a beat", "in bits."]), "width of a beat in bits");
        assert_eq!(of(&["AXI ids."]), "AXI ids");
        assert_eq!(of(&["PsPIN's clusters."]), "PsPIN's clusters");
        assert_eq!(of(&["1: it is on."]), "1: it is on");
        assert_eq!(of(&["A number."]), "a number");
        assert_eq!(of(&[]), "");
    }

    #[test]
    fn a_group_brings_its_parameters_in_its_place() {
        let input = parse_quote!(
            struct A {
                #[parameters]
                group: Group,
            }
        );
        let text = expand(&input).expect("it is possible").to_string();
        for part in [
            "[< Group as crate :: entry :: Parameters > :: parameters (config)]",
            "group : < Group as crate :: entry :: Parameters > :: read (checked) ?",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn what_is_missing_or_unknown_is_said() {
        for (input, said) in [
            (
                parse_quote!(
                    struct A {
                        width: usize,
                    }
                ),
                "say what the parameter is if nobody sets it: #[parameter(VALUE, ...)]",
            ),
            (
                parse_quote!(
                    struct A {
                        #[parameter(3)]
                        width: usize,
                    }
                ),
                "say what it may be: range = FIRST..=LAST",
            ),
            (
                parse_quote!(
                    struct A {
                        #[parameter(3, rage = 1..=4)]
                        width: usize,
                    }
                ),
                "there is no `rage` here, but a value, board = VALUE, range = FIRST..=LAST, power_of_two, \
                 name = \"...\" and verilog = \"...\"",
            ),
            (
                parse_quote!(
                    #[parameters(chick)]
                    struct A;
                ),
                "there is no `chick` here, but block = NAME and check",
            ),
        ] {
            let error = expand(&input).expect_err("it is refused");
            assert_eq!(error.to_string(), said);
        }
    }
}
