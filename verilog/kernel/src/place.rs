//! Paths of signals: `self.rules[i].hit` is the name `rules$<i>$hit`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, ExprMethodCall, Member};

/// Methods that read signals.
const READS: [&str; 3] = ["val", "pack", "pack_part"];

/// Whether an expression reads a signal, and so is hardware.
pub(crate) fn reads_signal(expr: &Expr) -> bool {
    struct Finder(bool);
    impl<'ast> Visit<'ast> for Finder {
        fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
            self.0 |= READS.iter().any(|name| call.method == name);
            visit::visit_expr_method_call(self, call);
        }
        fn visit_expr_macro(&mut self, node: &'ast syn::ExprMacro) {
            // The arguments of a macro are tokens; `cat!` holds expressions, which may read.
            let text = node.mac.tokens.to_string().replace(' ', "");
            self.0 |= READS.iter().any(|name| text.contains(&format!(".{name}(")));
        }
    }
    let mut finder = Finder(false);
    finder.visit_expr(expr);
    finder.0
}

/// An expression that computes the name of a signal when hardware is generated.
pub(crate) fn name(expr: &Expr) -> syn::Result<TokenStream> {
    let mut pattern = String::new();
    let mut indices = Vec::new();
    collect(expr, &mut pattern, &mut indices)?;
    Ok(quote!(::std::format!(#pattern, #(#indices),*)))
}

fn collect(expr: &Expr, pattern: &mut String, indices: &mut Vec<TokenStream>) -> syn::Result<()> {
    match expr {
        Expr::Path(path) if path.path.is_ident("self") => Ok(()),
        Expr::Paren(paren) => collect(&paren.expr, pattern, indices),
        Expr::Reference(reference) => collect(&reference.expr, pattern, indices),
        Expr::Field(field) => {
            collect(&field.base, pattern, indices)?;
            let Member::Named(member) = &field.member else {
                return Err(syn::Error::new(field.member.span(), "a signal is a named field"));
            };
            if !pattern.is_empty() {
                pattern.push('$');
            }
            pattern.push_str(&member.to_string());
            Ok(())
        }
        Expr::Index(index) => {
            if reads_signal(&index.index) {
                return Err(syn::Error::new(
                    index.index.span(),
                    "an index into an array of signals must be known when hardware is generated: \
                     select with a loop and an if",
                ));
            }
            collect(&index.expr, pattern, indices)?;
            let number = &index.index;
            indices.push(quote!((#number)));
            pattern.push_str("${}");
            Ok(())
        }
        other => Err(syn::Error::new(
            other.span(),
            "not a signal: write self.field, self.field[i].port",
        )),
    }
}
