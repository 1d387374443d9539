//! The C of what the sources declare for C. Whatever it does not know is an error, so nothing is left out in silence.

use std::fmt::Write as _;
use syn::{Attribute, Expr, Fields, FnArg, Item, Lit, Meta, Pat, ReturnType, Type, Visibility};

/// Everything that is public for C in a source file.
#[derive(Debug, Default)]
pub(crate) struct Declarations {
    constants: String,
    types: String,
    functions: String,
}

impl Declarations {
    /// The text of a header, without its frame.
    pub(crate) fn text(&self) -> String {
        [&self.constants, &self.types, &self.functions]
            .map(String::as_str)
            .concat()
    }

    /// Adds what a source file declares.
    pub(crate) fn add(&mut self, source: &str) {
        let file = syn::parse_file(source).expect("the compiler has taken it");
        for item in file.items {
            match item {
                Item::Const(item) if is_public(&item.vis) => {
                    let value = value(&item.expr);
                    declare(
                        &mut self.constants,
                        &item.attrs,
                        &format!("#define {} {value}", item.ident),
                    );
                }
                Item::Struct(item) if is_public(&item.vis) => {
                    let c = structure(&item.ident.to_string(), &item.fields);
                    declare(&mut self.types, &item.attrs, &c);
                }
                Item::Type(item) if is_public(&item.vis) => {
                    let c = format!("typedef {};", callback(&item.ident.to_string(), &item.ty));
                    declare(&mut self.types, &item.attrs, &c);
                }
                Item::Fn(item) if is_public(&item.vis) => {
                    assert!(item.sig.abi.is_some(), "{} is not for C", item.sig.ident);
                    let arguments = item.sig.inputs.iter().map(argument).collect();
                    let c = function(&item.sig.ident.to_string(), arguments, &item.sig.output);
                    declare(&mut self.functions, &item.attrs, &format!("{c};"));
                }
                _ => {}
            }
        }
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// A declaration below its documentation.
fn declare(text: &mut String, attributes: &[Attribute], declaration: &str) {
    writeln!(text, "{}{declaration}\n", comment(attributes, "")).expect("strings take every text");
}

fn comment(attributes: &[Attribute], indent: &str) -> String {
    let lines: Vec<String> = attributes.iter().filter_map(doc).collect();
    let (said, safety) = match lines.iter().position(|line| line == "# Safety") {
        Some(heading) => (&lines[..heading], &lines[heading + 1..]),
        None => (&lines[..], &[][..]),
    };
    let said = said.iter().filter(|line| !line.is_empty());
    let lines: Vec<&String> = said.chain(safety).collect();
    match &lines[..] {
        [] => panic!("everything in the header has to be documented"),
        [line] => format!("{indent}/* {line} */\n"),
        lines => {
            let middle: String = lines.iter().map(|line| format!("{indent} * {line}\n")).collect();
            format!("{indent}/*\n{middle}{indent} */\n")
        }
    }
}

fn doc(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(value) = &attribute.meta else {
        return None;
    };
    match &value.value {
        Expr::Lit(literal) if value.path.is_ident("doc") => match &literal.lit {
            Lit::Str(text) => Some(text.value().trim().replace('`', "")),
            _ => None,
        },
        _ => None,
    }
}

fn value(expression: &Expr) -> String {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_digits().to_owned(),
            _ => panic!("a constant that is no number"),
        },
        Expr::Unary(unary) => format!("(-{})", value(&unary.expr)),
        _ => panic!("a constant that is no number"),
    }
}

/// A structure; without public fields, one that C knows by its name only.
fn structure(name: &str, fields: &Fields) -> String {
    if fields.iter().all(|field| !is_public(&field.vis)) {
        return format!("typedef struct {name} {name};");
    }
    let mut text = format!("typedef struct {name} {{\n");
    for field in fields {
        let name = field.ident.as_ref().expect("fields for C have names").to_string();
        text += &format!(
            "{}    {};\n",
            comment(&field.attrs, "    "),
            variable(&name, &field.ty)
        );
    }
    text + &format!("}} {name};")
}

/// A pointer to a function, which Rust may have as null.
fn callback(name: &str, ty: &Type) -> String {
    let Type::Path(path) = ty else {
        panic!("{name} is no function");
    };
    let option = path.path.segments.last().expect("paths have names");
    let syn::PathArguments::AngleBracketed(inner) = &option.arguments else {
        panic!("{name} is no function that may be null");
    };
    let Some(syn::GenericArgument::Type(Type::BareFn(bare))) = inner.args.first() else {
        panic!("{name} is no function");
    };
    let arguments = bare.inputs.iter().map(|input| {
        let (name, _) = input.name.as_ref().expect("arguments have names");
        variable(&name.to_string(), &input.ty)
    });
    function(&format!("(*{name})"), arguments.collect(), &bare.output)
}

fn argument(argument: &FnArg) -> String {
    let FnArg::Typed(typed) = argument else {
        panic!("functions for C have no self");
    };
    let Pat::Ident(name) = &*typed.pat else {
        panic!("arguments have names");
    };
    variable(&name.ident.to_string(), &typed.ty)
}

/// A prototype, broken into lines if it is long.
fn function(name: &str, arguments: Vec<String>, output: &ReturnType) -> String {
    let declared = match output {
        ReturnType::Default => format!("void {name}"),
        ReturnType::Type(_, ty) => variable(name, ty),
    };
    let all = match arguments.is_empty() {
        true => "void".to_owned(),
        false => arguments.join(", "),
    };
    match declared.len() + all.len() > 112 {
        true => format!("{declared}(\n    {})", arguments.join(",\n    ")),
        false => format!("{declared}({all})"),
    }
}

/// A name with its type in front, and behind it if it is an array.
fn variable(name: &str, ty: &Type) -> String {
    match ty {
        Type::Ptr(pointer) => {
            let pointed = variable(&format!("*{name}"), &pointer.elem);
            match pointer.const_token {
                Some(_) => format!("const {pointed}"),
                None => pointed,
            }
        }
        Type::Array(array) => {
            let Expr::Path(length) = &array.len else {
                panic!("the length of {name} has no name");
            };
            let length = length.path.get_ident().expect("a constant of the header");
            variable(&format!("{name}[{length}]"), &array.elem)
        }
        Type::Path(path) => {
            let rust = path
                .path
                .segments
                .last()
                .expect("paths have names")
                .ident
                .to_string();
            format!("{} {name}", named(&rust))
        }
        _ => panic!("{name} is of a type that C does not have"),
    }
}

fn named(rust: &str) -> &str {
    match rust {
        "c_int" => "int",
        "c_char" => "char",
        "c_void" => "void",
        "u8" => "uint8_t",
        "u16" => "uint16_t",
        "u32" => "uint32_t",
        "u64" => "uint64_t",
        "usize" => "size_t",
        own if own.starts_with("spinneret_") => own,
        other => panic!("C has no {other}"),
    }
}
