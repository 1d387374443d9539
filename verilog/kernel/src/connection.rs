//! What a kernel drives, as calls that mark it as connected.

use crate::place;
use crate::statement::{ClockedArguments, Invocation, target};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Block, Expr, Macro, Stmt};

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
        Expr::MethodCall(call) if call.method == "unpack" => {
            let bundle = &call.receiver;
            Ok(quote!((#bundle).connect_ports();))
        }
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
        _ => Ok(TokenStream::new()),
    }
}

fn connection_of_macro(invocation: &Macro) -> syn::Result<TokenStream> {
    let ClockedArguments { rst, parts, .. } = match Invocation::of(invocation)? {
        Invocation::Clocked(arguments) => *arguments,
        Invocation::Connect(connections) => return connections.rust(&quote!(mark)),
    };
    let with_reset = rst.is_some();
    Ok(quote!(#(::spinneret_verilog::prelude::Clocked::connect_clock(&mut #parts, #with_reset);)*))
}

fn drive(place: &Expr) -> syn::Result<TokenStream> {
    Ok(quote!(::spinneret_verilog::prelude::logic::logic_connect_fn(&mut #place);))
}
