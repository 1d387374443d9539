//! Prototypes in C with annotations: they become the trait that [`parse`](crate::parse) reads, so packets, stubs and versions are
//! those of a service in Rust.

use crate::c_text::{Code, HeaderError};
use crate::header::c_header;
use crate::types::{Arguments, Scalar};
use crate::wrapper::wrapper;
use crate::{Interface, parse};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Error, Ident, LitInt, LitStr, Result, Token, parenthesized};

/// The functions of a header.
pub struct Prototypes {
    interface: Interface,
    header: String,
    has_state: Vec<bool>,
}

impl std::fmt::Debug for Prototypes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prototypes")
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

impl Prototypes {
    /// Reads a header; `name` is the name of its file.
    ///
    /// # Errors
    /// If it has anything except one `SPIN_SERVICE` and prototypes of functions that handlers can call.
    pub fn read(name: &str, text: &str) -> std::result::Result<Self, HeaderError> {
        let code = Code::of(text)?;
        let tokens: TokenStream = code
            .text
            .parse()
            .map_err(|error: proc_macro2::LexError| Error::new(error.span(), ODD))?;
        let file = (|input: ParseStream<'_>| File::read(input, &code)).parse2(tokens)?;
        let item = syn::parse2(file.item())?;
        let mut interface = parse::interface(file.arguments, &item)?;
        interface.origin = format!("{name} by `spinneret service`");
        Ok(Self {
            interface,
            header: name.to_owned(),
            has_state: file.functions.iter().map(|function| function.has_state).collect(),
        })
    }

    /// Returns the header for handlers, with the stubs.
    pub fn for_handlers(&self) -> String {
        c_header(&self.interface)
    }

    /// Returns the source file for the host's program, which registers the functions.
    pub fn for_host(&self) -> String {
        wrapper(&self.interface, &self.header, &self.has_state)
    }
}

const ODD: &str = "this is neither `SPIN_SERVICE(NUMBER, PREFIX);` nor `SPIN_CALL(NUMBER)` with a prototype: move it to another \
                   header, and include that";

/// The header's items.
struct File {
    arguments: Arguments,
    prefix: Ident,
    documentation: Vec<String>,
    functions: Vec<Prototype>,
}

impl File {
    fn read(input: ParseStream<'_>, code: &Code) -> Result<Self> {
        let comments = |span: Span| {
            let comments = code.comments.get(&span.start().line);
            comments.cloned().unwrap_or_default()
        };
        let mut service = None;
        let mut functions: Vec<Prototype> = Vec::new();
        while !input.is_empty() {
            let odd = input.error(ODD);
            let word = input.call(Ident::parse_any).map_err(|_| odd.clone())?;
            match word.to_string().as_str() {
                "SPIN_SERVICE" if service.is_none() => {
                    let inner;
                    parenthesized!(inner in input);
                    let api: LitInt = inner.parse()?;
                    inner.parse::<Token![,]>()?;
                    let prefix: Ident = inner.call(Ident::parse_any)?;
                    end(input, &word)?;
                    let text = LitStr::new(&prefix.to_string(), prefix.span());
                    let arguments = quote_spanned!(word.span()=> api = #api, prefix = #text);
                    service = Some((syn::parse2(arguments)?, prefix, comments(word.span())));
                }
                "SPIN_SERVICE" => {
                    return Err(Error::new(
                        word.span(),
                        "a header has one service: move the other to its own",
                    ));
                }
                "SPIN_CALL" => {
                    let Some((_, prefix, _)) = &service else {
                        let why = "`SPIN_SERVICE(NUMBER, PREFIX);` has to be before the first function";
                        return Err(Error::new(word.span(), why));
                    };
                    let function = Prototype::read(input, &word, prefix, comments(word.span()))?;
                    if functions.iter().any(|other| other.name == function.name) {
                        let why = format!(
                            "there is a `{prefix}_{}` already: choose another name",
                            function.name
                        );
                        return Err(Error::new(function.name.span(), why));
                    }
                    functions.push(function);
                }
                first if first != "static" && is_prototype(input) => {
                    let why = "write `SPIN_CALL(NUMBER)` before it: the number is what handlers call it by";
                    return Err(Error::new(word.span(), why));
                }
                _ => return Err(odd),
            }
        }
        let (arguments, prefix, documentation) =
            service.ok_or_else(|| Error::new(input.span(), "`SPIN_SERVICE(NUMBER, PREFIX);` is missing"))?;
        Ok(Self {
            arguments,
            prefix,
            documentation,
            functions,
        })
    }

    /// The trait.
    fn item(&self) -> TokenStream {
        let (documentation, name) = (&self.documentation, &self.prefix);
        let functions = self.functions.iter().map(|function| &function.item);
        quote_spanned!(name.span()=> #(#[doc = #documentation])* trait #name { #(#functions)* })
    }
}

/// Reads the end of a declaration.
fn end(input: ParseStream<'_>, name: &Ident) -> Result<()> {
    let end = input.parse::<Token![;]>();
    end.map(|_| ()).map_err(|_| {
        Error::new(
            name.span(),
            format!("write `;` after the declaration of `{name}`"),
        )
    })
}

/// Whether the rest of a declaration is that of a function.
fn is_prototype(input: ParseStream<'_>) -> bool {
    let declared = input.fork();
    let has_name = declarator(&declared).is_ok_and(|declared| !declared.after.is_empty());
    has_name && declared.peek(syn::token::Paren)
}

/// A function.
struct Prototype {
    name: Ident,
    has_state: bool,
    /// Its form in the trait.
    item: TokenStream,
}

impl Prototype {
    /// Reads the rest of one after `SPIN_CALL`.
    fn read(input: ParseStream<'_>, call: &Ident, prefix: &Ident, comments: Vec<String>) -> Result<Self> {
        let number;
        parenthesized!(number in input);
        let number: TokenStream = number.parse()?;
        if number.clone().into_iter().any(|token| token.to_string() == "off") {
            let why = "`off` is for services in Rust: offer only functions that handlers may call";
            return Err(Error::new(call.span(), why));
        }
        let declared = declarator(input)?;
        let name = declared.name(input)?;
        let plain = name.to_string();
        let Some(short) = plain
            .strip_prefix(&format!("{prefix}_"))
            .filter(|short| !short.is_empty())
        else {
            let why =
                format!("`{plain}` does not begin with `{prefix}_`, as all names of functions here must");
            return Err(Error::new(name.span(), why));
        };
        let short: Ident = word(short, name.span())?;
        let inner;
        parenthesized!(inner in input);
        end(input, &name)?;
        let mut parameters = parameters(&inner)?;
        let span = name.span();
        let has_state = parameters.first().is_some_and(Parameter::is_state);
        if has_state {
            parameters.remove(0);
        }
        let output = match (&*declared.type_name(), declared.stars) {
            ("void", 0) => TokenStream::new(),
            ("spin_status_t", 0) => {
                let result = parameters.pop_if(|last| last.name == "result");
                let inner = match result {
                    Some(result) => result.result()?,
                    None => quote_spanned!(span=> ()),
                };
                quote_spanned!(span=> -> Result<#inner, Status>)
            }
            (c, 0) => {
                let inner = scalar(c, span)?;
                quote_spanned!(span=> -> #inner)
            }
            _ => {
                let why = "a function returns a number, nothing, or `spin_status_t`; memory comes back by `SPIN_OUT(COUNT) \
                           TYPE *name`";
                return Err(Error::new(span, why));
            }
        };
        if let Some(result) = parameters.iter().find(|parameter| parameter.name == "result") {
            return result
                .refused("`result` is the last parameter, and the function returns `spin_status_t`");
        }
        let parameters = parameters
            .iter()
            .map(Parameter::item)
            .collect::<Result<Vec<_>>>()?;
        let item = quote_spanned! {call.span()=>
            #(#[doc = #comments])* #[call(#number)] fn #short(&self, #(#parameters),*) #output;
        };
        Ok(Self {
            name: short,
            has_state,
            item,
        })
    }
}

/// A parameter or a function without its parameters: the words before the stars, and after them.
struct Declared {
    words: Vec<Ident>,
    stars: usize,
    after: Vec<Ident>,
}

/// Reads words and stars.
fn declarator(input: ParseStream<'_>) -> Result<Declared> {
    let mut declared = Declared {
        words: Vec::new(),
        stars: 0,
        after: Vec::new(),
    };
    loop {
        if input.peek(Token![*]) {
            input.parse::<Token![*]>()?;
            declared.stars += 1;
        } else if input.peek(Ident::peek_any) {
            let word = input.call(Ident::parse_any)?;
            match declared.stars {
                0 => declared.words.push(word),
                _ => declared.after.push(word),
            }
        } else {
            break;
        }
    }
    if declared.stars == 0 {
        declared.after.extend(declared.words.pop());
    }
    Ok(declared)
}

impl Declared {
    fn name(&self, input: ParseStream<'_>) -> Result<Ident> {
        match (&*self.after, self.words.is_empty()) {
            ([name], false) => Ok(name.clone()),
            _ => {
                let why = "a function and a parameter have a type and a name";
                Err(Error::new(input.span(), why))
            }
        }
    }

    fn is_const(&self) -> bool {
        self.words.iter().any(|word| word == "const")
    }

    /// The type without `const` and stars.
    fn type_name(&self) -> String {
        let words = self.words.iter().map(Ident::to_string);
        words.filter(|word| word != "const").collect::<Vec<_>>().join(" ")
    }
}

/// A parameter with its annotation.
struct Parameter {
    annotation: Option<(Ident, TokenStream)>,
    declared: Declared,
    name: Ident,
}

fn parameters(input: ParseStream<'_>) -> Result<Vec<Parameter>> {
    let mut parameters = Vec::new();
    let fork = input.fork();
    // `(void)`
    if fork.call(Ident::parse_any).is_ok_and(|word| word == "void") && fork.is_empty() {
        input.call(Ident::parse_any)?;
    }
    while !input.is_empty() {
        parameters.push(Parameter::read(input)?);
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(parameters)
}

/// Annotations in C, and in Rust.
const ANNOTATIONS: [(&str, &str); 4] = [
    ("SPIN_IN", "len"),
    ("SPIN_OUT", "out"),
    ("SPIN_INOUT", "inout"),
    ("SPIN_CAP", "cap"),
];

impl Parameter {
    fn read(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(Token![...]) {
            let why = "stubs have a fixed number of arguments: declare a function for each number";
            return Err(input.error(why));
        }
        let word = input.fork().call(Ident::parse_any)?;
        let annotation = ANNOTATIONS.iter().find(|(c, _)| word == c);
        let annotation = match annotation {
            None => None,
            Some((_, rust)) => {
                input.call(Ident::parse_any)?;
                let inner;
                parenthesized!(inner in input);
                if inner.is_empty() {
                    let why = format!("write a number or a parameter in `{word}(...)`");
                    return Err(Error::new(word.span(), why));
                }
                Some((Ident::new(rust, word.span()), inner.parse::<TokenStream>()?))
            }
        };
        let declared = declarator(input)?;
        if input.peek(syn::token::Paren) {
            return Err(
                input.error("handlers cannot pass functions, because they do not share memory with the host")
            );
        }
        let name = declared.name(input)?;
        if input.peek(syn::token::Bracket) {
            let why = format!(
                "write `*{name}`, with `SPIN_IN(COUNT)`, `SPIN_OUT(COUNT)` or `SPIN_INOUT(COUNT)` before its type"
            );
            return Err(input.error(why));
        }
        Ok(Self {
            annotation,
            declared,
            name,
        })
    }

    /// Whether it is the program's state, which handlers do not pass.
    fn is_state(&self) -> bool {
        let declared = &self.declared;
        let is_bare = self.annotation.is_none() && !declared.is_const();
        is_bare && declared.stars == 1 && declared.type_name() == "void" && self.name == "state"
    }

    fn refused<T>(&self, why: impl std::fmt::Display) -> Result<T> {
        Err(Error::new(self.name.span(), why))
    }

    /// The result that it points to.
    fn result(&self) -> Result<TokenStream> {
        match (self.declared.stars, self.declared.is_const(), &self.annotation) {
            (1, false, None) => scalar(&self.declared.type_name(), self.name.span()),
            _ => self.refused("the result is a number: write `TYPE *result`, or choose another name"),
        }
    }

    /// Its form in the trait.
    fn item(&self) -> Result<TokenStream> {
        let (name, span) = (word(&self.name.to_string(), self.name.span())?, self.name.span());
        let (declared, c) = (&self.declared, self.declared.type_name());
        let annotation = self.annotation.as_ref().map(|(word, inner)| {
            let item = quote_spanned!(span=> #[#word(#inner)]);
            (word.to_string(), item)
        });
        let (kind, item) = annotation.unzip();
        let type_ = match (declared.stars, kind.as_deref(), declared.is_const()) {
            (0, ..) => scalar(&c, span)?,
            (1, None | Some("cap"), true) if c == "char" => quote_spanned!(span=> &str),
            (1, _, _) if c == "char" => {
                return self.refused(
                    "a string is `const char *` and goes to the host only; other bytes are `uint8_t`",
                );
            }
            (1, Some("len"), true) => {
                let element = element(&c, span)?;
                quote_spanned!(span=> &[#element])
            }
            (1, Some("out" | "inout"), false) => {
                let element = element(&c, span)?;
                quote_spanned!(span=> &mut [#element])
            }
            (1, Some("len"), false) => {
                return self.refused(format!(
                    "`{name}` goes to the host only: write `const {c} *{name}`, or `SPIN_INOUT`"
                ));
            }
            (1, Some("out" | "inout"), true) => {
                return self.refused(format!(
                    "`{name}` comes back: write `{c} *{name}` without `const`"
                ));
            }
            (1, Some(_), _) => return self.refused("`SPIN_CAP(BYTES)` is for strings, `const char *`"),
            (1, None, true) => {
                return self.refused(format!(
                    "`{name}` has no length: write `SPIN_IN(COUNT)` before its type, where COUNT is a product of numbers and \
                     parameters"
                ));
            }
            (1, None, false) if c == "void" => {
                return self.refused(format!(
                    "`{name}` has no length: write `SPIN_OUT(BYTES)` or `SPIN_INOUT(BYTES)` before its type; `void *state` is \
                     the first parameter"
                ));
            }
            (1, None, false) => {
                let inner = scalar(&c, span)?;
                quote_spanned!(span=> &mut #inner)
            }
            _ => {
                return self.refused(
                    "handlers do not share memory with the host: pass one array, and not pointers to others",
                );
            }
        };
        Ok(quote_spanned!(span=> #item #name: #type_))
    }
}

/// A name for the trait.
fn word(name: &str, span: Span) -> Result<Ident> {
    syn::parse_str::<Ident>(name)
        .map(|_| Ident::new(name, span))
        .map_err(|_| {
            Error::new(
                span,
                format!(
                    "`{name}` cannot be a name in Rust, where services can be as well: choose another one"
                ),
            )
        })
}

/// The type of a number in Rust.
fn scalar(c: &str, span: Span) -> Result<TokenStream> {
    let Some(scalar) = Scalar::of_c(c) else {
        let why = format!(
            "`{c}` is no type of a number with the same width everywhere: write int8_t to int64_t, uint8_t to uint64_t, float, \
             double or bool"
        );
        return Err(Error::new(span, why));
    };
    let name = format_ident!("{}", scalar.rust, span = span);
    Ok(quote_spanned!(span=> #name))
}

/// The type of an element; those of `void *` are bytes.
fn element(c: &str, span: Span) -> Result<TokenStream> {
    scalar(if c == "void" { "uint8_t" } else { c }, span)
}

#[cfg(test)]
mod tests;
