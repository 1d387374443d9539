//! Types of parameters: those with the same width on the NIC and on the host.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    BinOp, Error, Expr, ExprBinary, ExprLit, Ident, Lit, LitInt, LitStr, Result, Token, Type, braced,
    parenthesized,
};

/// A kind of handles.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) name: Ident,
    pub(crate) predefined: Vec<Predefined>,
}

/// A handle that is always there, and the size of what it stands for, for lengths.
#[derive(Debug)]
pub(crate) struct Predefined {
    pub(crate) name: Ident,
    pub(crate) bytes: Option<u32>,
}

impl Kind {
    /// Whether lengths can be multiples of the size of what such a handle stands for.
    pub(crate) fn has_sizes(&self) -> bool {
        self.predefined.iter().any(|one| one.bytes.is_some())
    }
}

/// A number, or whether something is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scalar {
    /// As Rust calls it.
    pub(crate) rust: &'static str,
    /// As C calls it.
    pub(crate) c: &'static str,
    pub(crate) bytes: u32,
}

/// All of them.
const SCALARS: [Scalar; 11] = {
    const fn scalar(rust: &'static str, c: &'static str, bytes: u32) -> Scalar {
        Scalar { rust, c, bytes }
    }
    [
        scalar("u8", "uint8_t", 1),
        scalar("u16", "uint16_t", 2),
        scalar("u32", "uint32_t", 4),
        scalar("u64", "uint64_t", 8),
        scalar("i8", "int8_t", 1),
        scalar("i16", "int16_t", 2),
        scalar("i32", "int32_t", 4),
        scalar("i64", "int64_t", 8),
        scalar("f32", "float", 4),
        scalar("f64", "double", 8),
        scalar("bool", "bool", 1),
    ]
};

impl Scalar {
    /// Returns the scalar of that name in C.
    #[cfg(feature = "c")]
    pub(crate) fn of_c(name: &str) -> Option<Self> {
        let name = if name == "_Bool" { "bool" } else { name };
        SCALARS.into_iter().find(|scalar| scalar.c == name)
    }
}

/// A value of fixed width: a number, or a handle of the kind with that index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Scalar(Scalar),
    Handle(usize),
}

impl Word {
    pub(crate) fn bytes(self) -> u32 {
        match self {
            Self::Scalar(scalar) => scalar.bytes,
            Self::Handle(_) => 4,
        }
    }

    /// Its type in Rust.
    pub(crate) fn rust(self, handles: &[Kind]) -> TokenStream {
        match self {
            Self::Scalar(scalar) => {
                let name = format_ident!("{}", scalar.rust);
                quote!(#name)
            }
            Self::Handle(kind) => {
                let name = &handles[kind].name;
                quote!(#name)
            }
        }
    }

    /// Whether it can be part of a length.
    pub(crate) fn counts(self) -> bool {
        matches!(
            self,
            Self::Scalar(Scalar {
                rust: "u8" | "u16" | "u32" | "i8" | "i16" | "i32",
                ..
            })
        )
    }

    /// Returns the word for a type in Rust.
    pub(crate) fn of(type_: &Type, handles: &[Kind]) -> Result<Self> {
        let refused = |why: String| Err(Error::new_spanned(type_, why));
        let name = match type_ {
            Type::Path(path) => path.path.get_ident(),
            _ => None,
        };
        let Some(name) = name.map(Ident::to_string) else {
            return refused(format!("this has no fixed width: {POSSIBLE}"));
        };
        if let Some(scalar) = SCALARS.iter().find(|scalar| scalar.rust == name) {
            return Ok(Self::Scalar(*scalar));
        }
        match handles.iter().position(|kind| kind.name == name) {
            Some(kind) => Ok(Self::Handle(kind)),
            None => refused(match name.as_str() {
                "usize" | "isize" => {
                    format!("`{name}` has another width on the NIC: take one with a number in its name")
                }
                "char" | "u128" | "i128" => format!("`{name}` is no type of C on the NIC: {POSSIBLE}"),
                _ => format!("`{name}` is neither a number nor one of `handles(...)`: {POSSIBLE}"),
            }),
        }
    }
}

const POSSIBLE: &str = "u8 to u64, i8 to i64, f32, f64, bool and handles are possible, `&[T]` and `&mut [T]` of numbers, \
                        `&mut T`, and `&str`";

/// A name in small letters, as functions have it.
pub(crate) fn snake(name: &Ident) -> String {
    let mut text = String::new();
    for letter in name.to_string().chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

/// A constant in C and in Rust of a name in small letters.
pub(crate) fn loud(name: &str) -> String {
    name.to_ascii_uppercase()
}

/// The name of a kind of handles in small letters.
pub(crate) fn kind_name(kind: &Kind) -> String {
    snake(&kind.name)
}

// The arguments of `#[service`: the number of the interface, the prefix of its functions in C, kinds of handles.

/// Most kinds of handles: as many as their bits can distinguish, without 0.
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

/// How many elements there are: all of it multiplied.
#[derive(Debug, Default)]
pub(crate) struct Length(pub(crate) Vec<Factor>);

/// Part of a product.
#[derive(Debug)]
pub(crate) enum Factor {
    Number(u32),
    Parameter(Ident),
    /// Of what the handle in that parameter stands for.
    Size(Ident),
}

/// The types of the values of a function by name.
pub(crate) type Values<'a> = &'a dyn Fn(&Ident) -> Option<Word>;

impl Length {
    /// Reads a length. `has_sizes` says of which kinds of handles sizes are known.
    pub(crate) fn of(text: &Expr, values: Values<'_>, has_sizes: &dyn Fn(usize) -> bool) -> Result<Self> {
        let mut length = Self::default();
        length.multiply(text, values, has_sizes)?;
        Ok(length)
    }

    fn multiply(&mut self, text: &Expr, values: Values<'_>, has_sizes: &dyn Fn(usize) -> bool) -> Result<()> {
        let refused = |why: String| Err(Error::new_spanned(text, why));
        match text {
            Expr::Binary(ExprBinary {
                left,
                op: BinOp::Mul(_),
                right,
                ..
            }) => {
                self.multiply(left, values, has_sizes)?;
                return self.multiply(right, values, has_sizes);
            }
            Expr::Lit(ExprLit {
                lit: Lit::Int(number),
                ..
            }) => {
                self.0.push(Factor::Number(number.base10_parse()?));
                return Ok(());
            }
            Expr::Path(path) => {
                let name = path.path.require_ident()?;
                return match values(name) {
                    Some(word) if word.counts() => {
                        self.0.push(Factor::Parameter(name.clone()));
                        Ok(())
                    }
                    Some(_) => refused(format!("`{name}` is no integer of at most 32 bits")),
                    None => refused(format!("no value of this function is called `{name}`")),
                };
            }
            Expr::Call(call) => {
                let is_size = matches!(&*call.func, Expr::Path(path) if path.path.is_ident("size"));
                if let (true, [Expr::Path(path)]) = (is_size, &*call.args.iter().cloned().collect::<Vec<_>>())
                {
                    let name = path.path.require_ident()?;
                    return match values(name) {
                        Some(Word::Handle(kind)) if has_sizes(kind) => {
                            self.0.push(Factor::Size(name.clone()));
                            Ok(())
                        }
                        _ => refused(format!("`{name}` is no handle whose kind has sizes")),
                    };
                }
            }
            _ => {}
        }
        refused("a length is a product of values, numbers and `size(handle)`".to_owned())
    }

    /// As the host computes it.
    pub(crate) fn rust(&self, size: &dyn Fn(&Ident) -> TokenStream) -> TokenStream {
        let factors = self.0.iter().map(|factor| match factor {
            Factor::Number(number) => quote!(i64::from(#number)),
            Factor::Parameter(name) => quote!(i64::from(#name)),
            Factor::Size(name) => {
                let size = size(name);
                quote!(i64::from(#size))
            }
        });
        quote!(&[#(#factors),*])
    }

    /// As handlers compute it, in bytes, by functions that do not overflow.
    pub(crate) fn c(&self, element_bytes: u32, size: &dyn Fn(&Ident) -> String) -> String {
        let factor = |factor: &Factor| match factor {
            Factor::Number(number) => format!("{number}u"),
            Factor::Parameter(name) => format!("(uint32_t){name}"),
            Factor::Size(name) => size(name),
        };
        let mut factors: Vec<String> = self.0.iter().map(factor).collect();
        if element_bytes != 1 {
            factors.push(format!("{element_bytes}u"));
        }
        factors
            .into_iter()
            .reduce(|product, next| format!("spin_service_times({product}, {next})"))
            .unwrap_or_default()
    }

    /// Its form in the canonical text.
    pub(crate) fn text(&self) -> String {
        let factor = |factor: &Factor| match factor {
            Factor::Number(number) => number.to_string(),
            Factor::Parameter(name) => name.to_string(),
            Factor::Size(name) => format!("size({name})"),
        };
        self.0.iter().map(factor).collect::<Vec<_>>().join(" * ")
    }
}
