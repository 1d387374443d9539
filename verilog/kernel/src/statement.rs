//! Statements of a kernel as statements of the syntax tree.

use crate::{expression, place};
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{
    Attribute, Block, Expr, ExprAssign, ExprCall, ExprIf, ExprMatch, ExprMethodCall, Lit, Macro, Member,
    Meta, Pat, Stmt, Token,
};

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
        Stmt::Macro(invocation) => macro_statement(&invocation.mac),
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
        Expr::MethodCall(call) => partial_assignment(call),
        Expr::Call(call) => link(call),
        other => Err(syn::Error::new(other.span(), "this statement has no hardware")),
    }
}

/// The place of `PLACE.next`.
fn target(expr: &Expr) -> syn::Result<&Expr> {
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

/// `PLACE.next.set_slice(offset, width, value)` and `PLACE.next.set_bit(index, bit)`.
fn partial_assignment(call: &ExprMethodCall) -> syn::Result<TokenStream> {
    let name = place::name(target(&call.receiver)?)?;
    let arguments: Vec<&Expr> = call.args.iter().collect();
    let (offset, width, value) = match (call.method.to_string().as_str(), arguments.as_slice()) {
        ("set_slice", [offset, width, value]) => (*offset, quote!(#width), *value),
        ("set_bit", [offset, value]) => (*offset, quote!(1), *value),
        _ => {
            return Err(syn::Error::new(
                call.span(),
                "a part of a signal is assigned by set_slice or set_bit",
            ));
        }
    };
    let (offset, value) = (expression::hardware(offset)?, expression::hardware(value)?);
    Ok(push(
        &quote!(::spinneret_verilog::lang::build::assign_slice(#name, #offset, #width, #value)),
    ))
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
struct ClockedArguments {
    clk: Expr,
    rst: Option<Expr>,
    parts: Vec<Expr>,
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

fn macro_statement(invocation: &Macro) -> syn::Result<TokenStream> {
    if invocation
        .path
        .segments
        .last()
        .is_none_or(|segment| segment.ident != "clocked")
    {
        return Err(syn::Error::new(
            invocation.span(),
            "the only macro statement in a kernel is clocked!",
        ));
    }
    let ClockedArguments { clk, rst, parts } = invocation.parse_body()?;
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

/// `Interface::link(&mut self.a, &mut self.b)` and `join`.
fn link(call: &ExprCall) -> syn::Result<TokenStream> {
    let Some((path, function)) = link_path(call) else {
        return Err(syn::Error::new(
            call.span(),
            "the only calls that are statements are Interface::link and join",
        ));
    };
    let (Some(left), Some(right)) = (call.args.first(), call.args.iter().nth(1)) else {
        return Err(syn::Error::new(call.span(), "link and join take two interfaces"));
    };
    let (left, right) = (place::name(left)?, place::name(right)?);
    let (owner, method) = match function.as_str() {
        "link" => (quote!(LogicLink), quote!(link_hdl)),
        _ => (quote!(LogicJoin), quote!(join_hdl)),
    };
    Ok(push(
        &quote!(::spinneret_verilog::prelude::ast::VerilogStatement::Link(
            <#path as ::spinneret_verilog::prelude::#owner>::#method("", &#left, &#right)
        )),
    ))
}

fn link_path(call: &ExprCall) -> Option<(syn::Path, String)> {
    let Expr::Path(path) = &*call.func else {
        return None;
    };
    let mut owner = path.path.clone();
    let function = owner.segments.pop()?.into_value().ident.to_string();
    owner.segments.pop_punct();
    (!owner.segments.is_empty() && (function == "link" || function == "join")).then_some((owner, function))
}

/// Statements that mark everything the block drives as connected.
pub(crate) fn connections(block: &Block) -> syn::Result<TokenStream> {
    block.stmts.iter().map(connection_of_statement).collect()
}

fn connection_of_statement(stmt: &Stmt) -> syn::Result<TokenStream> {
    match stmt {
        Stmt::Local(local) => Ok(quote!(#local)),
        Stmt::Expr(expr, _) => connection(expr),
        Stmt::Macro(invocation) => connection_of_macro(&invocation.mac),
        Stmt::Item(_) => Ok(TokenStream::new()),
    }
}

fn connection(expr: &Expr) -> syn::Result<TokenStream> {
    match expr {
        Expr::Assign(assign) => drive(target(&assign.left)?),
        Expr::MethodCall(call) => drive(target(&call.receiver)?),
        Expr::If(node) => {
            let then = connections(&node.then_branch)?;
            let otherwise = node
                .else_branch
                .as_ref()
                .map(|(_, branch)| connection(branch))
                .transpose()?;
            let condition = &node.cond;
            if place::reads_signal(condition) {
                Ok(quote!({ #then } { #otherwise }))
            } else {
                Ok(quote!(if #condition { #then } else { #otherwise }))
            }
        }
        Expr::Match(node) => {
            let bodies = node
                .arms
                .iter()
                .map(|arm| connection(&arm.body))
                .collect::<syn::Result<Vec<_>>>()?;
            if place::reads_signal(&node.expr) {
                return Ok(quote!(#({ #bodies })*));
            }
            let subject = &node.expr;
            let heads = node.arms.iter().map(|arm| {
                let (pattern, guard) = (&arm.pat, arm.guard.as_ref().map(|(_, guard)| quote!(if #guard)));
                quote!(#pattern #guard)
            });
            Ok(quote!(match #subject { #(#heads => { #bodies })* }))
        }
        Expr::ForLoop(node) => {
            let (pattern, range, body) = (&node.pat, &node.expr, connections(&node.body)?);
            Ok(quote!(for #pattern in #range { #body }))
        }
        Expr::Block(node) => {
            let body = connections(&node.block)?;
            Ok(quote!({ #body }))
        }
        Expr::Macro(invocation) => connection_of_macro(&invocation.mac),
        Expr::Call(call) => {
            let Some((_, function)) = link_path(call) else {
                return Ok(TokenStream::new());
            };
            let function = quote::format_ident!("logic_connect_{function}_fn");
            let arguments = &call.args;
            Ok(quote!(::spinneret_verilog::prelude::logic::#function(#arguments);))
        }
        _ => Ok(TokenStream::new()),
    }
}

fn connection_of_macro(invocation: &Macro) -> syn::Result<TokenStream> {
    let ClockedArguments { rst, parts, .. } = invocation.parse_body()?;
    let with_reset = rst.is_some();
    Ok(quote!(#(::spinneret_verilog::prelude::Clocked::connect_clock(&mut #parts, #with_reset);)*))
}

fn drive(place: &Expr) -> syn::Result<TokenStream> {
    Ok(quote!(::spinneret_verilog::prelude::logic::logic_connect_fn(&mut #place);))
}

/// The attributes of an expression that is a statement.
fn attributes(expr: &Expr) -> &[Attribute] {
    match expr {
        // syn hangs them on the first operand.
        Expr::Assign(node) => attributes(&node.left),
        Expr::Field(node) => &node.attrs,
        Expr::If(node) => &node.attrs,
        Expr::Match(node) => &node.attrs,
        Expr::ForLoop(node) => &node.attrs,
        Expr::Block(node) => &node.attrs,
        Expr::MethodCall(node) => &node.attrs,
        _ => &[],
    }
}

/// Documentation in front of a statement goes into the generated text.
fn comments(attributes: &[Attribute]) -> TokenStream {
    doc_lines(attributes)
        .map(|line| push(&quote!(::spinneret_verilog::lang::build::comment(#line))))
        .collect()
}

/// The lines of documentation among attributes.
pub(crate) fn doc_lines(attributes: &[Attribute]) -> impl Iterator<Item = String> {
    attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    })
}

/// Removes the documentation of statements, which Rust itself has no use for.
pub(crate) fn strip_docs(block: &mut Block) {
    struct Strip;
    impl VisitMut for Strip {
        fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
            attributes.retain(|attribute| !attribute.path().is_ident("doc"));
        }
    }
    Strip.visit_block_mut(block);
}
