//! What stands behind `#[service`: the number of the interface, the prefix of its functions in C, kinds of handles.

use crate::types::{Kind, Predefined};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitInt, LitStr, Result, Token, braced, parenthesized};

/// Most kinds of handles: what their bits can tell apart, without 0.
const KINDS: usize = 15;
/// Most predefined handles of a kind.
const PREDEFINED: usize = 256;
/// The interface of our own `printf`.
const TAKEN: u8 = 1;

/// The arguments of the attribute.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) api: u8,
    pub(crate) prefix: String,
    pub(crate) handles: Vec<Kind>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let (mut api, mut prefix, mut handles) = (None, None, Vec::new());
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            match name.to_string().as_str() {
                "api" => {
                    input.parse::<Token![=]>()?;
                    api = Some(number(&input.parse()?)?);
                }
                "prefix" => {
                    input.parse::<Token![=]>()?;
                    prefix = Some(word(&input.parse()?)?);
                }
                "handles" => {
                    let inner;
                    parenthesized!(inner in input);
                    let kinds = Punctuated::<KindOf, Token![,]>::parse_terminated(&inner)?;
                    handles = kinds.into_iter().map(|KindOf(kind)| kind).collect();
                    if let Some(kind) = handles.get(KINDS) {
                        let why = format!("there are at most {KINDS} kinds of handles");
                        return Err(Error::new(kind.name.span(), why));
                    }
                }
                other => {
                    let why = format!("`{other}` is none of `api`, `prefix` and `handles`");
                    return Err(Error::new(name.span(), why));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let missing = |what: &str| input.error(format!("`{what}` is missing"));
        Ok(Self {
            api: api.ok_or_else(|| missing("api = NUMBER"))?,
            prefix: prefix.ok_or_else(|| missing("prefix = \"NAME\""))?,
            handles,
        })
    }
}

fn number(literal: &LitInt) -> Result<u8> {
    let refused = |why: &str| Err(Error::new(literal.span(), why));
    match literal.base10_parse() {
        Ok(0) | Err(_) => refused("the number of an interface is 1 to 255; 64 and above are yours"),
        Ok(TAKEN) => refused("interface 1 is that of `printf`; 64 and above are yours"),
        Ok(number) => Ok(number),
    }
}

/// A prefix of names in C.
fn word(literal: &LitStr) -> Result<String> {
    let word = literal.value();
    let is_word = word.starts_with(|first: char| first.is_ascii_lowercase())
        && word
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    match is_word {
        true => Ok(word),
        false => Err(Error::new(
            literal.span(),
            "a prefix has small letters, digits and `_`, and begins with a letter",
        )),
    }
}

/// `Name`, or `Name { FIRST, SECOND = 8 }`, where the numbers are sizes.
struct KindOf(Kind);

impl Parse for KindOf {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name: Ident = input.parse()?;
        let mut predefined = Vec::new();
        if input.peek(syn::token::Brace) {
            let inner;
            braced!(inner in input);
            let names = Punctuated::<PredefinedOf, Token![,]>::parse_terminated(&inner)?;
            predefined = names.into_iter().map(|PredefinedOf(one)| one).collect();
        }
        match predefined.get(PREDEFINED) {
            None => Ok(Self(Kind { name, predefined })),
            Some(one) => {
                let why = format!("there are at most {PREDEFINED} predefined handles of a kind");
                Err(Error::new(one.name.span(), why))
            }
        }
    }
}

struct PredefinedOf(Predefined);

impl Parse for PredefinedOf {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        let bytes = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse::<LitInt>()?.base10_parse()?),
            None => None,
        };
        Ok(Self(Predefined { name, bytes }))
    }
}
