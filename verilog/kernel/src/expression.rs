//! Expressions of a kernel as expressions of the syntax tree.

use crate::place;
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprBinary, ExprCall, ExprMacro, ExprMethodCall, GenericArgument, Lit, Token, UnOp};

/// An expression that builds the node of `expr` when hardware is generated.
pub(crate) fn hardware(expr: &Expr) -> syn::Result<TokenStream> {
    if !place::reads_signal(expr) {
        return constant(expr);
    }
    match expr {
        Expr::Paren(paren) => hardware(&paren.expr),
        Expr::Reference(reference) => hardware(&reference.expr),
        Expr::Binary(binary) => operation(binary),
        Expr::Unary(unary) => {
            let op = match unary.op {
                UnOp::Not(_) => quote!(Not),
                UnOp::Neg(_) => quote!(Neg),
                _ => return Err(syn::Error::new(unary.span(), "this operator has no hardware")),
            };
            let value = hardware(&unary.expr)?;
            Ok(build(
                &quote!(unary(::spinneret_verilog::prelude::ast::VerilogOpUnary::#op, #value)),
            ))
        }
        Expr::MethodCall(call) => method(call),
        Expr::Call(call) => function(call),
        Expr::Macro(invocation) if invocation.mac.path.is_ident("pack") => packing(invocation),
        Expr::Macro(invocation) => concatenation(invocation),
        Expr::If(_) | Expr::Match(_) | Expr::Block(_) => Err(syn::Error::new(
            expr.span(),
            "a decision is not a value in hardware: assign a default, then override it in an if statement",
        )),
        other => Err(syn::Error::new(
            other.span(),
            "this expression reads a signal but has no hardware",
        )),
    }
}

fn build(call: &TokenStream) -> TokenStream {
    quote!(::spinneret_verilog::lang::build::#call)
}

/// A value that Rust computes when hardware is generated.
fn constant(expr: &Expr) -> syn::Result<TokenStream> {
    if let Expr::Paren(paren) = expr {
        return constant(&paren.expr);
    }
    if let Expr::Macro(invocation) = expr
        && !["cat", "pack"]
            .iter()
            .any(|name| invocation.mac.path.is_ident(name))
    {
        return Err(syn::Error::new(
            expr.span(),
            "this macro is not a value in hardware",
        ));
    }
    // A bare integer of a kernel may be larger than the i32 that Rust would choose.
    if let Expr::Lit(literal) = expr
        && let Lit::Int(number) = &literal.lit
        && number.suffix().is_empty()
    {
        let digits: syn::LitInt = syn::LitInt::new(&format!("{}u64", number.token()), number.span());
        return Ok(build(&quote!(literal(&#digits))));
    }
    if let Some(name) = variant(expr) {
        return Ok(build(&quote!(signal(#name))));
    }
    // `0.into()` only adapts the integer to the place; the syntax tree's integers adapt anyway.
    if let Expr::MethodCall(call) = expr
        && (call.method == "into" || call.method == "to_bits")
        && call.args.is_empty()
    {
        return constant(&call.receiver);
    }
    Ok(build(&quote!(literal(&(#expr)))))
}

/// `State::Idle`: by Rust's naming rules a path whose last part is in camel case is a variant.
pub(crate) fn variant(expr: &Expr) -> Option<String> {
    let Expr::Path(path) = expr else { return None };
    let segments: Vec<String> = path
        .path
        .segments
        .iter()
        .map(|segment| segment.ident.to_string())
        .collect();
    let last = segments.last()?;
    let camel =
        last.starts_with(char::is_uppercase) && (last.len() == 1 || last.contains(char::is_lowercase));
    (segments.len() >= 2 && camel).then(|| segments[segments.len() - 2..].join("::"))
}

fn operation(node: &ExprBinary) -> syn::Result<TokenStream> {
    let op = match node.op {
        BinOp::Add(_) => quote!(Add),
        BinOp::Sub(_) => quote!(Sub),
        BinOp::Mul(_) => quote!(Mul),
        BinOp::And(_) => quote!(LogicalAnd),
        BinOp::Or(_) => quote!(LogicalOr),
        BinOp::BitXor(_) => quote!(BitXor),
        BinOp::BitAnd(_) => quote!(BitAnd),
        BinOp::BitOr(_) => quote!(BitOr),
        BinOp::Shl(_) => quote!(Shl),
        BinOp::Shr(_) => quote!(Shr),
        BinOp::Eq(_) => quote!(Eq),
        BinOp::Ne(_) => quote!(Ne),
        BinOp::Lt(_) => quote!(Lt),
        BinOp::Le(_) => quote!(Le),
        BinOp::Gt(_) => quote!(Gt),
        BinOp::Ge(_) => quote!(Ge),
        _ => return Err(syn::Error::new(node.span(), "this operator has no hardware")),
    };
    let (left, right) = (hardware(&node.left)?, hardware(&node.right)?);
    Ok(build(
        &quote!(binary(#left, ::spinneret_verilog::prelude::ast::VerilogOp::#op, #right)),
    ))
}

fn method(call: &ExprMethodCall) -> syn::Result<TokenStream> {
    let name = call.method.to_string();
    if name == "val" {
        let name = place::name(&call.receiver)?;
        return Ok(build(&quote!(signal(#name))));
    }
    if name == "pack" || name == "pack_part" {
        let (bundle, path) = (&call.receiver, place::name(&call.receiver)?);
        let arguments: Vec<&Expr> = call.args.iter().collect();
        return match arguments[..] {
            [] => Ok(quote!((#bundle).pack_hdl(&#path, 0, 1))),
            [part, parts] => Ok(quote!((#bundle).pack_hdl(&#path, #part, #parts))),
            _ => Err(syn::Error::new(
                call.span(),
                "write pack() or pack_part(part, parts)",
            )),
        };
    }
    let receiver = hardware(&call.receiver)?;
    let argument = |index: usize| -> syn::Result<&Expr> {
        call.args
            .iter()
            .nth(index)
            .ok_or_else(|| syn::Error::new(call.span(), format!("{name} takes more arguments")))
    };
    match name.as_str() {
        // These only change the Rust type; `index` makes a number of a word.
        "into" | "to_bits" | "index" | "clone" => Ok(receiver),
        "any" | "all" | "xor" => {
            let op = match name.as_str() {
                "any" => quote!(Any),
                "all" => quote!(All),
                _ => quote!(Xor),
            };
            Ok(build(
                &quote!(unary(::spinneret_verilog::prelude::ast::VerilogOpUnary::#op, #receiver)),
            ))
        }
        "get_bit" => {
            let index = hardware(argument(0)?)?;
            Ok(build(&quote!(index(#receiver, #index))))
        }
        "swap_bytes" => {
            let value = &call.receiver;
            Ok(build(
                &quote!(swap_bytes(#receiver, ::spinneret_verilog::lang::build::width_of(#value))),
            ))
        }
        "replace_bit" => {
            let (index, bit) = (hardware(argument(0)?)?, hardware(argument(1)?)?);
            Ok(build(&quote!(replace(#receiver, #index, #bit))))
        }
        "field" => {
            let field = plain(argument(0)?)?;
            Ok(build(
                &quote!(slice(#receiver, (#field).offset(), (#field).width)),
            ))
        }
        "flag" => {
            let field = plain(argument(0)?)?;
            Ok(build(&quote!(index(#receiver, (#field).offset()))))
        }
        "slice" => {
            let (offset, width) = (hardware(argument(0)?)?, plain(argument(1)?)?);
            Ok(build(&quote!(slice(#receiver, #offset, #width))))
        }
        "resize" => {
            let width = plain(argument(0)?)?;
            Ok(build(&quote!(cast(#receiver, #width))))
        }
        "get_bits" => {
            let Some(GenericArgument::Type(_) | GenericArgument::Const(_)) =
                call.turbofish.as_ref().and_then(|fish| fish.args.first())
            else {
                return Err(syn::Error::new(
                    call.span(),
                    "get_bits needs its width: get_bits::<8>(offset)",
                ));
            };
            let width = call.turbofish.as_ref().and_then(|fish| fish.args.first());
            let offset = hardware(argument(0)?)?;
            Ok(build(&quote!(slice(#receiver, #offset, #width))))
        }
        _ => Err(syn::Error::new(
            call.method.span(),
            format!("the method {name} has no hardware"),
        )),
    }
}

/// An argument that must be known when hardware is generated, such as a width.
pub(crate) fn plain(expr: &Expr) -> syn::Result<&Expr> {
    if place::reads_signal(expr) {
        return Err(syn::Error::new(
            expr.span(),
            "a width must be known when hardware is generated",
        ));
    }
    Ok(expr)
}

fn function(call: &ExprCall) -> syn::Result<TokenStream> {
    let name = match &*call.func {
        Expr::Path(path) => path
            .path
            .segments
            .last()
            .map(|segment| segment.ident.to_string())
            .unwrap_or_default(),
        _ => String::new(),
    };
    let arguments: Vec<&Expr> = call.args.iter().collect();
    match (name.as_str(), arguments.as_slice()) {
        ("fill", [bit, width]) => {
            let (bit, width) = (hardware(bit)?, plain(width)?);
            Ok(build(&quote!(fill(#bit, #width))))
        }
        ("word", [bit]) => hardware(bit),
        ("bit_cast", [value]) => {
            let value = hardware(value)?;
            Ok(build(
                &quote!(cast(#value, ::spinneret_verilog::prelude::Value::width(&(#call)))),
            ))
        }
        _ => Err(syn::Error::new(
            call.span(),
            "the only functions in hardware are fill, word and bit_cast",
        )),
    }
}

fn concatenation(invocation: &ExprMacro) -> syn::Result<TokenStream> {
    if !invocation.mac.path.is_ident("cat") {
        return Err(syn::Error::new(
            invocation.span(),
            "the only macros that are values in hardware are cat! and pack!",
        ));
    }
    let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
    let parts = parser.parse2(invocation.mac.tokens.clone())?;
    let parts = parts
        .iter()
        .map(|part| {
            let node = hardware(part)?;
            Ok(quote!((#node, ::spinneret_verilog::lang::build::width_of(#part))))
        })
        .collect::<syn::Result<Vec<_>>>()?;
    Ok(build(&quote!(cat(::std::vec![#(#parts),*]))))
}

/// `pack!(record { field: value, ... })`.
fn packing(invocation: &ExprMacro) -> syn::Result<TokenStream> {
    let packed: syn::ExprStruct = syn::parse2(invocation.mac.tokens.clone())?;
    let record = &packed.path;
    let fields = packed.fields.iter().map(|field| {
        let (name, value) = (&field.member, &field.expr);
        let node = hardware(value)?;
        Ok(quote!((#record.#name, ::spinneret_verilog::lang::of_field(#node, #value, #record.#name))))
    });
    let fields = fields.collect::<syn::Result<Vec<_>>>()?;
    Ok(quote!(::spinneret_verilog::lang::pack_hdl(
        ::std::vec![#(#fields),*]
    )))
}
