//! Statements of a kernel as statements of the syntax tree.

use crate::connect::Connections;
use crate::docs::{attributes, comments};
use crate::{expression, place};
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Block, Expr, ExprAssign, ExprIf, ExprMatch, ExprMethodCall, Lit, Macro, Member, Pat, Stmt, Token};

/// Statements that push the block's hardware onto `__statements` when hardware is generated.
pub(crate) fn hardware(block: &Block) -> syn::Result<TokenStream> {
    block.stmts.iter().map(statement).collect()
}

fn statement(stmt: &Stmt) -> syn::Result<TokenStream> {
    match stmt {
        Stmt::Local(local) => {
            if local
                .init
                .as_ref()
                .is_some_and(|init| place::reads_signal(&init.expr))
            {
                return Err(syn::Error::new(
                    local.span(),
                    "a let cannot hold a signal's value: declare a Wire<Local, _> and assign it",
                ));
            }
            Ok(quote!(#local))
        }
        Stmt::Expr(expr, _) => {
            let comments = comments(attributes(expr));
            let node = node(expr)?;
            Ok(quote!(#comments #node))
        }
        Stmt::Macro(invocation) => {
            let comments = comments(&invocation.attrs);
            let node = macro_statement(&invocation.mac)?;
            Ok(quote!(#comments #node))
        }
        Stmt::Item(item) => Err(syn::Error::new(item.span(), "items do not belong into a kernel")),
    }
}

fn node(expr: &Expr) -> syn::Result<TokenStream> {
    match expr {
        Expr::Assign(assign) => assignment(assign),
        Expr::If(node) => conditional(node),
        Expr::Match(node) => selection(node),
        Expr::ForLoop(node) => {
            if place::reads_signal(&node.expr) {
                return Err(syn::Error::new(
                    node.expr.span(),
                    "a loop's range must be known when hardware is generated",
                ));
            }
            let (pattern, range, body) = (&node.pat, &node.expr, hardware(&node.body)?);
            Ok(quote!(for #pattern in #range { #body }))
        }
        Expr::Block(node) => {
            let body = hardware(&node.block)?;
            Ok(quote!({ #body }))
        }
        Expr::Macro(invocation) => macro_statement(&invocation.mac),
        Expr::MethodCall(call) if call.method == "unpack" => unpacking(call),
        Expr::MethodCall(call) => partial_assignment(call),
        other => Err(syn::Error::new(other.span(), "this statement has no hardware")),
    }
}

/// The place of `PLACE.next`.
pub(crate) fn target(expr: &Expr) -> syn::Result<&Expr> {
    match expr {
        Expr::Field(field) if matches!(&field.member, Member::Named(name) if name == "next") => {
            Ok(&field.base)
        }
        other => Err(syn::Error::new(other.span(), "assign to a signal's `next`")),
    }
}

fn push(node: &TokenStream) -> TokenStream {
    quote!(__statements.push(#node);)
}

fn assignment(assign: &ExprAssign) -> syn::Result<TokenStream> {
    let name = place::name(target(&assign.left)?)?;
    let value = expression::hardware(&assign.right)?;
    Ok(push(
        &quote!(::spinneret_verilog::lang::build::assign(#name, #value)),
    ))
}

/// `PLACE.next.set_slice(offset, width, value)`, `PLACE.next.set_bit(index, bit)`, `PLACE.next.set_field(field, value)`.
fn partial_assignment(call: &ExprMethodCall) -> syn::Result<TokenStream> {
    let name = place::name(target(&call.receiver)?)?;
    let arguments: Vec<&Expr> = call.args.iter().collect();
    let (offset, width, value) = match (call.method.to_string().as_str(), arguments.as_slice()) {
        ("set_slice", [offset, width, value]) => {
            let width = expression::plain(width)?;
            (expression::hardware(offset)?, quote!(#width), *value)
        }
        ("set_bit", [offset, value]) => (expression::hardware(offset)?, quote!(1), *value),
        ("set_field", [field, value]) => {
            let field = expression::plain(field)?;
            (quote!((#field).offset()), quote!((#field).width), *value)
        }
        _ => {
            return Err(syn::Error::new(
                call.span(),
                "a part of a signal is assigned by set_field, set_slice or set_bit",
            ));
        }
    };
    let value = expression::hardware(value)?;
    Ok(push(
        &quote!(::spinneret_verilog::lang::build::assign_slice(#name, #offset, #width, #value)),
    ))
}

/// `BUNDLE.unpack(word)`.
fn unpacking(call: &ExprMethodCall) -> syn::Result<TokenStream> {
    let (bundle, path) = (&call.receiver, place::name(&call.receiver)?);
    let Some(word) = call.args.first() else {
        return Err(syn::Error::new(call.span(), "unpack takes a word"));
    };
    let word = expression::hardware(word)?;
    Ok(quote!(__statements.extend((#bundle).unpack_hdl(&#path, &#word));))
}

/// Runs a block with a fresh list of statements, and yields that list.
fn nested(body: &TokenStream) -> TokenStream {
    quote!({ let mut __statements = ::std::vec::Vec::new(); #body __statements })
}

fn conditional(node: &ExprIf) -> syn::Result<TokenStream> {
    if let Expr::Let(condition) = &*node.cond {
        return Err(syn::Error::new(
            condition.span(),
            "`if let` does not belong into a kernel",
        ));
    }
    let then = hardware(&node.then_branch)?;
    let otherwise = match &node.else_branch {
        Some((_, branch)) => Some(self::node(branch)?),
        None => None,
    };
    let condition = &node.cond;
    if !place::reads_signal(condition) {
        let otherwise = otherwise.map(|branch| quote!(else { #branch }));
        return Ok(quote!(if #condition { #then } #otherwise));
    }
    let test = expression::hardware(condition)?;
    let then = nested(&then);
    let ast = quote!(::spinneret_verilog::prelude::ast);
    let otherwise = match (&node.else_branch, otherwise) {
        (_, None) => quote!(#ast::VerilogBlockOrConditional::None),
        (_, Some(branch)) => {
            let branch = nested(&branch);
            quote!(#ast::VerilogBlockOrConditional::Block(#branch))
        }
    };
    Ok(push(
        &quote!(#ast::VerilogStatement::If(#ast::VerilogConditional {
            test: #test, then: #then, otherwise: #otherwise
        })),
    ))
}

fn selection(node: &ExprMatch) -> syn::Result<TokenStream> {
    let subject = &node.expr;
    let is_hardware = place::reads_signal(subject);
    let mut arms = Vec::new();
    for arm in &node.arms {
        if let (Some((_, guard)), true) = (&arm.guard, is_hardware) {
            return Err(syn::Error::new(
                guard.span(),
                "a guard has no hardware: use an if inside the arm",
            ));
        }
        let body = self::node(&arm.body)?;
        if is_hardware {
            let body = nested(&body);
            for label in labels(&arm.pat)? {
                arms.push(quote!(::spinneret_verilog::prelude::ast::VerilogCase { condition: #label, block: #body }));
            }
        } else {
            let (pattern, guard) = (&arm.pat, arm.guard.as_ref().map(|(_, guard)| quote!(if #guard)));
            arms.push(quote!(#pattern #guard => { #body }));
        }
    }
    if !is_hardware {
        return Ok(quote!(match #subject { #(#arms)* }));
    }
    let test = expression::hardware(subject)?;
    let ast = quote!(::spinneret_verilog::prelude::ast);
    Ok(push(
        &quote!(#ast::VerilogStatement::Match(#ast::VerilogMatch { test: #test, cases: ::std::vec![#(#arms),*] })),
    ))
}

fn labels(pattern: &Pat) -> syn::Result<Vec<TokenStream>> {
    match pattern {
        Pat::Or(or) => Ok(or
            .cases
            .iter()
            .map(labels)
            .collect::<syn::Result<Vec<_>>>()?
            .concat()),
        Pat::Wild(_) => Ok(vec![quote!("default".to_string())]),
        Pat::Lit(literal) => match &literal.lit {
            Lit::Bool(bit) => {
                let number = if bit.value { "1" } else { "0" };
                Ok(vec![quote!(#number.to_string())])
            }
            Lit::Int(number) => {
                let digits = number.base10_digits();
                Ok(vec![quote!(#digits.to_string())])
            }
            other => Err(syn::Error::new(
                other.span(),
                "a case is a number, a bit, or a state",
            )),
        },
        Pat::Path(path) => match expression::variant(&Expr::Path(path.clone())) {
            Some(name) => Ok(vec![quote!(#name.to_string())]),
            None => Ok(vec![quote!(::spinneret_verilog::lang::build::label(#path))]),
        },
        other => Err(syn::Error::new(
            other.span(),
            "a case is a number, a bit, a state, or _",
        )),
    }
}

/// Arguments of `clocked!`: clock, optional reset, parts.
pub(crate) struct ClockedArguments {
    pub(crate) clk: Expr,
    pub(crate) rst: Option<Expr>,
    pub(crate) parts: Vec<Expr>,
}

impl Parse for ClockedArguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let clk = input.parse()?;
        let rst = if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
            Some(input.parse()?)
        } else {
            None
        };
        input.parse::<Token![=>]>()?;
        let parts = input
            .parse_terminated(Expr::parse, Token![,])?
            .into_iter()
            .collect();
        Ok(Self { clk, rst, parts })
    }
}

/// The macros that are statements.
pub(crate) enum Invocation {
    Clocked(Box<ClockedArguments>),
    Connect(Connections),
}

impl Invocation {
    pub(crate) fn of(invocation: &Macro) -> syn::Result<Self> {
        let name = invocation
            .path
            .segments
            .last()
            .map(|segment| segment.ident.to_string());
        match name.as_deref() {
            Some("clocked") => invocation
                .parse_body()
                .map(|arguments| Self::Clocked(Box::new(arguments))),
            Some("connect") => invocation.parse_body().map(Self::Connect),
            _ => Err(syn::Error::new(
                invocation.span(),
                "the only macros that are statements of a kernel are clocked! and connect!",
            )),
        }
    }
}

fn macro_statement(invocation: &Macro) -> syn::Result<TokenStream> {
    let arguments = match Invocation::of(invocation)? {
        Invocation::Clocked(arguments) => arguments,
        Invocation::Connect(connections) => return connections.hardware(),
    };
    let ClockedArguments { clk, rst, parts } = *arguments;
    let clk = place::name(&clk)?;
    let rst = match rst {
        Some(rst) => {
            let name = place::name(&rst)?;
            quote!(Some(#name.as_str()))
        }
        None => quote!(None),
    };
    let parts = parts
        .iter()
        .map(|part| {
            let name = place::name(part)?;
            Ok(quote!(__statements.extend(
                ::spinneret_verilog::prelude::Clocked::clock_statements(&#part, &#name, #clk.as_str(), #rst)
            );))
        })
        .collect::<syn::Result<TokenStream>>()?;
    Ok(parts)
}
