//! The reads and writes of a body in their order, and checks of its statements.

use crate::affine::{Binding, Scope, affine, bounds, condition};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ExprIndex, Local, Pat, Stmt};

/// Accesses of a body.
#[derive(Debug)]
pub(crate) struct Accesses {
    /// Code that makes them.
    pub(crate) tokens: Vec<TokenStream>,
    /// Whether a field is written.
    pub(crate) writes: bool,
    /// Whether something is added to a sum.
    pub(crate) adds: bool,
    /// Whether an element is read by every instance, so that its home can execute it.
    pub(crate) is_somewhere: bool,
}

/// The accesses of statements inside of `depth` loops.
pub(crate) fn accesses(statements: &[Stmt], scope: &Scope, depth: usize) -> syn::Result<Accesses> {
    let mut collect = Collect {
        scope: scope.clone(),
        depth,
        inner: Vec::new(),
        when: Vec::new(),
        unsure: 0,
        found: Accesses {
            tokens: Vec::new(),
            writes: false,
            adds: false,
            is_somewhere: false,
        },
        error: None,
    };
    for statement in statements {
        collect.visit_stmt(statement);
    }
    match collect.error {
        Some(error) => Err(error),
        None => Ok(collect.found),
    }
}

/// Whether part of a program writes a field or adds to a sum.
pub(crate) fn writes(statement: &Stmt, scope: &Scope) -> bool {
    let mut find = Find {
        scope,
        writes: false,
        mentions: false,
    };
    find.visit_stmt(statement);
    find.writes
}

/// Whether a field or a sum is named, except for sizes of fields.
pub(crate) fn mentions(expr: &Expr, scope: &Scope) -> bool {
    let mut find = Find {
        scope,
        writes: false,
        mentions: false,
    };
    find.visit_expr(expr);
    find.mentions
}

struct Find<'a> {
    scope: &'a Scope,
    writes: bool,
    mentions: bool,
}

impl<'ast> Visit<'ast> for Find<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        if let Expr::MethodCall(call) = expr
            && call.method == "len"
            && self.scope.field(&call.receiver).is_some()
        {
            return call.args.iter().for_each(|argument| self.visit_expr(argument));
        }
        self.mentions |= self.scope.field(expr).is_some() || self.scope.is_sum(expr);
        self.writes |=
            written(expr).is_some_and(|left| self.scope.element(left).is_some() || self.scope.is_total(left));
        visit::visit_expr(self, expr);
    }
}

/// Whether a function is one of those of `std::mem` that exchange values.
fn exchanges(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|last| ["swap", "replace", "take"].iter().any(|name| last.ident == name))
}

/// The target of an assignment.
pub(crate) fn written(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Assign(assign) => Some(&assign.left),
        Expr::Binary(binary) if operator(&binary.op).is_some() => Some(&binary.left),
        _ => None,
    }
}

/// The operator of a compound assignment.
pub(crate) fn operator(op: &BinOp) -> Option<TokenStream> {
    Some(match op {
        BinOp::AddAssign(_) => quote!(+),
        BinOp::SubAssign(_) => quote!(-),
        BinOp::MulAssign(_) => quote!(*),
        BinOp::DivAssign(_) => quote!(/),
        BinOp::RemAssign(_) => quote!(%),
        BinOp::BitXorAssign(_) => quote!(^),
        BinOp::BitAndAssign(_) => quote!(&),
        BinOp::BitOrAssign(_) => quote!(|),
        BinOp::ShlAssign(_) => quote!(<<),
        BinOp::ShrAssign(_) => quote!(>>),
        _ => return None,
    })
}

struct Collect {
    scope: Scope,
    depth: usize,
    /// Loops inside of the body.
    inner: Vec<TokenStream>,
    /// Conditions that hold here.
    when: Vec<TokenStream>,
    /// Conditions around it that are known at run time only.
    unsure: usize,
    found: Accesses,
    error: Option<syn::Error>,
}

impl Collect {
    fn refuse(&mut self, span: Span, text: &str) {
        self.error.get_or_insert_with(|| syn::Error::new(span, text));
    }

    /// The answer, or nothing, and then the first error is kept.
    fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result
            .map_err(|error| self.error.get_or_insert(error).span())
            .ok()
    }

    fn access(&mut self, field: usize, index: &ExprIndex, is_write: bool) {
        let Expr::Array(array) = &*index.index else {
            let text = "fields are indexed by arrays: write `field[[x, y]]`";
            return self.refuse(index.index.span(), text);
        };
        let scope = self.scope.clone();
        let subscripts: syn::Result<Vec<TokenStream>> = array
            .elems
            .iter()
            .map(|index| Ok(affine(index, &scope)?.tokens))
            .collect();
        let Some(subscripts) = self.keep(subscripts) else {
            return;
        };
        if is_write && !self.inner.is_empty() {
            return self.refuse(
                index.span(),
                "this writes an element in a loop that the analysis takes for one that does not",
            );
        }
        let site = quote_spanned!(index.span()=> Site { file: file!().to_owned(), line: line!(), column: column!() });
        // Where a write happens is not for a condition inside of the body to say.
        let (inner, when) = match is_write {
            true => (&[][..], &[][..]),
            false => (&self.inner[..], &self.when[..]),
        };
        self.found.writes |= is_write;
        self.found.is_somewhere |= self.unsure == 0 && self.when.is_empty() && self.inner.is_empty();
        self.found.tokens.push(quote!(Access {
            is_write: #is_write,
            field: #field,
            subscripts: vec![#(#subscripts),*],
            inner: vec![#(#inner),*],
            when: vec![#(#when),*],
            site: #site,
        }));
    }

    /// A write; if the analysis does not know whether it happens, it counts as a write of the old value.
    fn write(&mut self, left: &Expr, reads: bool) {
        match self.scope.element(left) {
            Some((field, index)) => {
                if reads || self.unsure > 0 || !self.when.is_empty() {
                    self.access(field, index, false);
                }
                self.access(field, index, true);
            }
            None if mentions(left, &self.scope) && !self.scope.is_total(left) => {
                self.refuse(
                    left.span(),
                    "elements are written as a whole: write `field[[x, y]] = value`",
                );
            }
            None => self.visit_expr(left),
        }
    }

    fn in_branch(&mut self, condition: Option<TokenStream>, visit: impl FnOnce(&mut Self)) {
        let scope = self.scope.clone();
        let is_sure = condition.is_some();
        match condition {
            Some(condition) => self.when.push(condition),
            None => self.unsure += 1,
        }
        visit(self);
        match is_sure {
            true => drop(self.when.pop()),
            false => self.unsure -= 1,
        }
        self.scope = scope;
    }
}

impl<'ast> Visit<'ast> for Collect {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        if let Some((field, index)) = self.scope.element(expr) {
            return self.access(field, index, false);
        }
        if self.scope.field(expr).is_some() {
            return self.refuse(
                expr.span(),
                "a field can only be indexed, as `field[[x, y]]`, and asked for its `len`",
            );
        }
        match expr {
            Expr::Binary(binary)
                if matches!(binary.op, BinOp::AddAssign(_)) && self.scope.is_total(&binary.left) =>
            {
                self.visit_expr(&binary.right);
                self.found.adds = true;
            }
            _ if self.scope.is_sum(expr) => {
                let text =
                    "a sum has no value before all loops have run; it is only added to, as `*sum += value`";
                self.refuse(expr.span(), text);
            }
            Expr::Assign(assign) => {
                self.visit_expr(&assign.right);
                self.write(&assign.left, false);
            }
            Expr::Binary(binary) if operator(&binary.op).is_some() => {
                self.visit_expr(&binary.right);
                self.write(&binary.left, true);
            }
            Expr::MethodCall(call) if self.scope.field(&call.receiver).is_some() => {
                let known = affine(expr, &self.scope);
                self.keep(known);
            }
            Expr::Call(call) if exchanges(&call.func) && mentions(expr, &self.scope) => {
                let text = "a plan cannot see fields or elements that change places; copy in loops, as `a[[x, y]] = b[[x, y]]`: \
                            where they only copy all of a field, ranks exchange its memory and copy nothing";
                self.error
                    .get_or_insert_with(|| syn::Error::new_spanned(expr, text));
            }
            Expr::Reference(reference)
                if reference.mutability.is_some() && mentions(&reference.expr, &self.scope) =>
            {
                self.refuse(
                    expr.span(),
                    "elements are not borrowed mutably: write `field[[x, y]] = value`",
                );
            }
            Expr::If(branch) => {
                let known = condition(&branch.cond, &self.scope).ok();
                self.visit_expr(&branch.cond);
                let not = known.as_ref().map(|known| quote!(Cond::Not(Box::new(#known))));
                self.in_branch(known, |this| this.visit_block(&branch.then_branch));
                if let Some((_, otherwise)) = &branch.else_branch {
                    self.in_branch(not, |this| this.visit_expr(otherwise));
                }
            }
            Expr::Match(matched) => {
                self.visit_expr(&matched.expr);
                for arm in &matched.arms {
                    self.in_branch(None, |this| {
                        this.visit_pat(&arm.pat);
                        arm.guard.iter().for_each(|(_, guard)| this.visit_expr(guard));
                        this.visit_expr(&arm.body);
                    });
                }
            }
            Expr::ForLoop(looped) => {
                if !mentions(expr, &self.scope) {
                    return visit::visit_expr(self, expr);
                }
                let scope = self.scope.clone();
                let Some((variable, bounds)) = self.keep(bounds(looped, &scope)) else {
                    return;
                };
                let number = self.depth + self.inner.len();
                if let Some(variable) = variable {
                    let bound = self
                        .scope
                        .bind(&variable, Binding::Affine(quote!(Expr::Loop(#number)), true));
                    self.keep(bound);
                }
                self.inner.push(bounds);
                self.visit_block(&looped.body);
                self.inner.pop();
                self.scope = scope;
            }
            Expr::While(_) | Expr::Loop(_) | Expr::Closure(_) if mentions(expr, &self.scope) => {
                self.refuse(
                    expr.span(),
                    "only `for` loops over ranges can access fields, no `while`, `loop` or closure",
                );
            }
            Expr::Return(_) | Expr::Try(_) | Expr::Break(_) | Expr::Continue(_) => {
                self.refuse(
                    expr.span(),
                    "loops run to their end: no return, `?`, break or continue; use conditions",
                );
            }
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_local(&mut self, local: &'ast Local) {
        visit::visit_local(self, local);
        let known = known_let(local, &self.scope);
        if let (Pat::Ident(pat), Some(known)) = (&local.pat, known) {
            let bound = self.scope.bind(&pat.ident, known);
            self.keep(bound);
        }
    }

    /// Any name in a pattern is a value that is known at run time only.
    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        let bound = self.scope.bind(&pat.ident, Binding::Value);
        self.keep(bound);
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        let scope = self.scope.clone();
        visit::visit_block(self, block);
        self.scope = scope;
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let hidden = |tree: TokenTree| match tree {
            TokenTree::Ident(name) => {
                matches!(self.scope.get(&name), Some(Binding::Field(_) | Binding::Sum))
            }
            _ => false,
        };
        if flat(call.tokens.clone()).into_iter().any(hidden) {
            self.refuse(
                call.span(),
                "a macro cannot name a field or a sum; read the element into a variable first",
            );
        }
    }
}

/// All tokens, also inside of brackets.
pub(crate) fn flat(tokens: TokenStream) -> Vec<TokenTree> {
    let each = |tree| match tree {
        TokenTree::Group(group) => flat(group.stream()),
        other => vec![other],
    };
    tokens.into_iter().flat_map(each).collect()
}

/// The value to which a `let` binds one name that never changes, if the analysis knows it.
pub(crate) fn known_let(local: &Local, scope: &Scope) -> Option<Binding> {
    match (&local.pat, &local.init) {
        (Pat::Ident(pat), Some(init)) if pat.mutability.is_none() && init.diverge.is_none() => {
            let known = affine(&init.expr, scope).ok()?;
            Some(Binding::Affine(known.tokens, known.varies))
        }
        _ => None,
    }
}
