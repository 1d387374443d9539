//! `#[kernel]` on a function over handles: rewrites what Rust cannot overload, and leaves everything else as it is.
//!
//! | Rust | becomes |
//! |---|---|
//! | `a = b` | an assignment of hardware, unless `a` was declared by `let mut` |
//! | `(a, b) = c` | an assignment of each |
//! | `a == b`, `a < b`, `a && b`, ... | a method that signals and values of the generator both have |
//! | `if`, `match` | both branches of hardware, one branch of the generator |
//! | `let a = b` | the same, and a signal gets the name |
//! | `/// text` above a statement | a comment in the text |

use crate::docs::{attributes, doc_lines};
use crate::handles::handles_name;
use crate::numbers::Arguments;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use std::collections::HashSet;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Block, Expr, ExprMatch, ItemFn, Lit, Pat, Stmt, Token, parse_quote};

/// A kernel, or a function that kernels call.
pub(crate) fn expand(
    arguments: &Arguments,
    suffix: &TokenStream,
    numbers: &TokenStream,
    mut function: ItemFn,
) -> syn::Result<TokenStream> {
    let mut rewrite = Rewrite::default();
    rewrite.visit_block_mut(&mut function.block);
    if let Some(error) = rewrite.error {
        return Err(error);
    }
    let Some((kind, fields)) = &arguments.block else {
        return Ok(quote!(#[allow(clippy::all, unused_braces, unused_parens)] #function));
    };
    let handles = handles_name(kind);
    // The variables that the block's macro has listed are the ones that the kernel's own text names.
    let site = arguments
        .values
        .as_ref()
        .map(|_| function.block.brace_token.span.open());
    let here = |name: &syn::Ident| {
        let span = site.map_or(name.span(), |site| name.span().resolved_at(site));
        syn::Ident::new(&name.to_string(), span)
    };
    let this = syn::Ident::new("self", site.unwrap_or_else(Span::call_site));
    let fields = fields.iter().flatten().map(here);
    let values = arguments.values.iter().flatten().map(|name| {
        let (name, field) = (here(name), format_ident!("_{name}"));
        quote!(let #name = #this.#field.clone();)
    });
    let body = &function.block;
    let prelude = quote!(::spinneret_verilog::prelude);
    let message = "this block is simulated from its generated text";
    Ok(quote! {
        impl #prelude::Logic for #kind {
            fn update(&mut self) {
                panic!(#message);
            }

            #[allow(clippy::all, unused_braces, unused_parens, unused_variables)]
            fn hdl(&#this) -> #prelude::Verilog {
                #(#values)*
                let __numbers = #numbers;
                let __suffix = #suffix;
                let (__clock, __clocking) = #this.__clocks();
                ::spinneret_verilog::rtl::elaborate::<Self>(__suffix, &__numbers, __clock, __clocking, || {
                    let #handles { #(#fields,)* .. } = ::spinneret_verilog::rtl::Handle::handle(#this);
                    #body
                })
            }
        }
    })
}

#[derive(Default)]
struct Rewrite {
    /// Variables of the generator: `let mut`.
    variables: HashSet<String>,
    error: Option<syn::Error>,
}

fn control() -> TokenStream {
    quote!(::spinneret_verilog::rtl::control)
}

/// The traits by which the type of a value decides.
fn traits() -> TokenStream {
    quote! {
        #[allow(unused_imports)]
        use ::spinneret_verilog::rtl::{OnSigned as _, control::{
            MergeConstant as _, MergeLiteral as _, OnArray as _, MergeSignals as _, MergeValues as _, OnBundle as _, OnDecision as _, OnSignal as _, OnValue as _,
        }};
    }
}

fn parse(tokens: TokenStream) -> Expr {
    syn::parse2(tokens).expect("the expansion is an expression")
}

/// `a.function(&b)` by the type of `a`.
fn relation(a: &Expr, function: &str, b: &Expr, span: Span) -> Expr {
    let (control, traits) = (control(), traits());
    let function = syn::Ident::new(function, span);
    parse(quote_spanned!(span=> { #traits (&#control::It(&(#a))).#function(&(#b)) }))
}

fn connective(a: &Expr, function: &str, b: &Expr, span: Span) -> Expr {
    let (control, traits) = (control(), traits());
    let function = syn::Ident::new(function, span);
    parse(quote_spanned!(span=> { #traits (&#control::It(&(#a))).#function(|| #b) }))
}

/// `if test { then } else { otherwise }`.
fn branch(test: &Expr, then: &TokenStream, otherwise: &TokenStream, is_match: bool) -> Expr {
    let (control, traits) = (control(), traits());
    let span = test.span();
    parse(quote_spanned! {span=> {
        #traits
        let mut __branch = (&#control::It(&(#test))).test_();
        let __then = if __branch.then() { ::std::option::Option::Some(#then) } else { ::std::option::Option::None };
        let __otherwise = if __branch.otherwise() { ::std::option::Option::Some(#otherwise) } else { ::std::option::Option::None };
        let __test = __branch.end(#is_match);
        #control::Both(__then, __otherwise).merge_(__test)
    }})
}

impl Rewrite {
    fn assignment(&mut self, left: &Expr, right: &Expr, span: Span) -> Option<Expr> {
        if let Expr::Path(path) = left
            && let Some(name) = path.path.get_ident()
            && self.variables.contains(&name.to_string())
        {
            let (control, depth, text) = (control(), depth_of(&name.to_string()), name.to_string());
            return Some(parse(
                quote_spanned!(span=> { #control::same_depth(#depth, #text); #left = #right }),
            ));
        }
        if matches!(left, Expr::Infer(_)) {
            return None;
        }
        let (control, traits) = (control(), traits());
        Some(parse(
            quote_spanned!(span=> { #traits (&#control::It(&(#left))).assign_(#right) }),
        ))
    }

    /// A `match` whose patterns are values as a chain of tests; one with other patterns is the generator's own.
    fn matched(&mut self, matched: &ExprMatch) -> Option<Expr> {
        let subject = &matched.expr;
        let subject_name = syn::Ident::new("__subject", Span::call_site());
        let mut tests = Vec::new();
        for arm in &matched.arms {
            if arm.guard.is_some() {
                return None;
            }
            tests.push(test(&arm.pat, &parse(quote!(#subject_name)))?);
        }
        let (control, span) = (control(), matched.match_token.span());
        let is_total = matches!(tests.last(), Some(None));
        let mut chain: Option<TokenStream> = None;
        for (arm, test) in matched.arms.iter().zip(&tests).rev() {
            let body = &arm.body;
            chain = Some(match (chain, test) {
                (_, None) => quote!({ #body }),
                (None, Some(test)) => quote!({ #control::last_arm(&#test); #body }),
                (Some(rest), Some(test)) => {
                    let chained = branch(test, &quote!({ #body }), &rest, true);
                    quote!(#chained)
                }
            });
        }
        let chain = chain?;
        let checked = (!is_total).then(|| {
            let tests = tests.iter().flatten();
            quote_spanned!(span=> #control::complete(&[#(&#tests),*]);)
        });
        Some(parse(quote_spanned! {span=> {
            let #subject_name = &(#subject);
            #checked
            #chain
        }}))
    }
}

/// The variable that keeps the nesting of a variable's declaration.
fn depth_of(name: &str) -> syn::Ident {
    syn::Ident::new(&format!("__depth_{name}"), Span::call_site())
}

/// The test of a pattern on a value: none if it always fits. No test at all if the pattern is the generator's own.
#[allow(clippy::option_option)]
fn test(pattern: &Pat, subject: &Expr) -> Option<Option<Expr>> {
    let span = pattern.span();
    match pattern {
        Pat::Wild(_) => Some(None),
        Pat::Paren(inner) => test(&inner.pat, subject),
        Pat::Lit(literal) => Some(Some(match &literal.lit {
            Lit::Str(bits) => {
                let control = control();
                parse(quote_spanned!(span=> #control::fits(*(#subject), #bits)))
            }
            _ => relation(
                &parse_quote!(*(#subject)),
                "eq_",
                &Expr::Lit(literal.clone()),
                span,
            ),
        })),
        Pat::Path(path) => Some(Some(relation(
            &parse_quote!(*(#subject)),
            "eq_",
            &Expr::Path(path.clone()),
            span,
        ))),
        Pat::Ident(name)
            if name.subpat.is_none() && name.ident.to_string().chars().all(|c| !c.is_lowercase()) =>
        {
            let name = &name.ident;
            Some(Some(relation(
                &parse_quote!(*(#subject)),
                "eq_",
                &parse_quote!(#name),
                span,
            )))
        }
        Pat::Range(range) => {
            let (subject, mut tests) = (parse(quote!(*(#subject))), Vec::new());
            if let Some(start) = &range.start {
                tests.push(relation(&subject, "ge_", start, span));
            }
            if let Some(end) = &range.end {
                let function = match range.limits {
                    syn::RangeLimits::Closed(_) => "le_",
                    syn::RangeLimits::HalfOpen(_) => "lt_",
                };
                tests.push(relation(&subject, function, end, span));
            }
            Some(tests.into_iter().reduce(|a, b| connective(&a, "and_", &b, span)))
        }
        Pat::Or(or) => {
            let mut all: Option<Expr> = None;
            for case in &or.cases {
                let Some(case) = test(case, subject)? else {
                    return Some(None);
                };
                all = Some(match all {
                    None => case,
                    Some(before) => connective(&before, "or_", &case, span),
                });
            }
            all.map(Some)
        }
        Pat::Tuple(tuple) => {
            let mut all: Option<Expr> = None;
            for (number, part) in tuple.elems.iter().enumerate() {
                let number = syn::Index::from(number);
                let Some(part) = test(part, &parse_quote!((&(#subject).#number)))? else {
                    continue;
                };
                all = Some(match all {
                    None => part,
                    Some(before) => connective(&before, "and_", &part, span),
                });
            }
            Some(all)
        }
        _ => None,
    }
}

/// The names that a pattern binds, without those that can change.
fn bound(pattern: &Pat, names: &mut Vec<syn::Ident>, variables: &mut HashSet<String>) {
    match pattern {
        Pat::Ident(name) if name.mutability.is_some() => {
            variables.insert(name.ident.to_string());
        }
        Pat::Ident(name) => names.push(name.ident.clone()),
        Pat::Tuple(tuple) => tuple.elems.iter().for_each(|part| bound(part, names, variables)),
        Pat::Type(typed) => bound(&typed.pat, names, variables),
        _ => {}
    }
}

impl VisitMut for Rewrite {
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Assign(assign) = expr
            && let Expr::Tuple(targets) = &*assign.left
        {
            *expr = assign_each(targets, &assign.right);
        }
        if let Expr::Assign(assign) = expr
            && chooses_constants(&assign.right)
        {
            let mut right = (*assign.right).clone();
            assign_in_branches(&mut right, &assign.left);
            *expr = right;
        }
        visit_mut::visit_expr_mut(self, expr);
        let new = match expr {
            Expr::Assign(assign) => self.assignment(&assign.left, &assign.right, assign.eq_token.span()),
            Expr::If(node) if !has_let(&node.cond) && !leaves(&node.then_branch) => {
                let then = &node.then_branch;
                let otherwise = match &node.else_branch {
                    Some((_, otherwise)) => quote!({ #otherwise }),
                    None => quote!({}),
                };
                Some(branch(&node.cond, &quote!(#then), &otherwise, false))
            }
            Expr::Match(matched) => self.matched(&matched.clone()),
            Expr::Binary(binary) => {
                let span = binary.op.span();
                let (a, b) = (&binary.left, &binary.right);
                match binary.op {
                    BinOp::Eq(_) => Some(relation(a, "eq_", b, span)),
                    BinOp::Ne(_) => Some(relation(a, "ne_", b, span)),
                    BinOp::Lt(_) => Some(relation(a, "lt_", b, span)),
                    BinOp::Le(_) => Some(relation(a, "le_", b, span)),
                    BinOp::Gt(_) => Some(relation(a, "gt_", b, span)),
                    BinOp::Ge(_) => Some(relation(a, "ge_", b, span)),
                    BinOp::And(_) if !has_let(a) => Some(connective(a, "and_", b, span)),
                    BinOp::Or(_) => Some(connective(a, "or_", b, span)),
                    _ => None,
                }
            }
            Expr::Macro(call) if call.mac.path.is_ident("pack") => {
                match call.mac.parse_body::<syn::ExprStruct>() {
                    Ok(record) => {
                        let name = &record.path;
                        let fields = record.fields.into_iter().map(|mut field| {
                            self.visit_expr_mut(&mut field.expr);
                            let (member, value) = (field.member, field.expr);
                            quote!((#name.#member, &(#value)))
                        });
                        let fields: Vec<_> = fields.collect();
                        Some(parse_quote!(::spinneret_verilog::rtl::pack(&[#(#fields),*])))
                    }
                    Err(error) => {
                        self.error.get_or_insert(error);
                        None
                    }
                }
            }
            Expr::Macro(call) if check_kind(&call.mac).is_some() => self.check(&call.mac),
            Expr::Macro(call) if call.mac.path.is_ident("cat") => {
                let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
                match call.mac.parse_body_with(parser) {
                    Ok(mut parts) => {
                        parts.iter_mut().for_each(|part| self.visit_expr_mut(part));
                        let parts = parts.iter();
                        Some(parse_quote!(::spinneret_verilog::rtl::cat(&[#(&(#parts)),*])))
                    }
                    Err(error) => {
                        self.error.get_or_insert(error);
                        None
                    }
                }
            }
            _ => None,
        };
        if let Some(new) = new {
            *expr = new;
        }
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        let statements = std::mem::take(&mut block.stmts);
        let last = statements.len().saturating_sub(1);
        for (number, mut statement) in statements.into_iter().enumerate() {
            let (docs, control) = (documentation(&mut statement), control());
            if let Stmt::Macro(call) = &statement
                && check_kind(&call.mac).is_some()
            {
                let call = syn::ExprMacro {
                    attrs: Vec::new(),
                    mac: call.mac.clone(),
                };
                statement = Stmt::Expr(Expr::Macro(call), Some(Token![;](Span::call_site())));
            }
            let of_let = matches!(statement, Stmt::Local(_)) && !docs.is_empty();
            match of_let {
                true => block.stmts.push(parse_quote!(let __place = #control::place();)),
                false => block
                    .stmts
                    .extend(docs.iter().map(|line| parse_quote!(#control::comment(#line);))),
            }
            self.visit_stmt_mut(&mut statement);
            if let (Stmt::Expr(expr, semi @ None), true) = (&mut statement, number < last)
                && !matches!(expr, Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_))
            {
                *semi = Some(Token![;](expr.span()));
            }
            let named = self.named(&statement);
            block.stmts.push(statement);
            block.stmts.extend(named);
            if of_let {
                block
                    .stmts
                    .push(parse_quote!(#control::document(__place, &[#(#docs),*]);));
            }
        }
    }
}

/// Which check a macro is.
fn check_kind(call: &syn::Macro) -> Option<TokenStream> {
    let names = [
        ("assert", quote!(Assert)),
        ("assume", quote!(Assume)),
        ("cover", quote!(Cover)),
    ];
    let found = names.into_iter().find(|(name, _)| call.path.is_ident(name));
    found.map(|(_, kind)| quote!(::spinneret_verilog::rtl::CheckKind::#kind))
}

impl Rewrite {
    /// `assert!(condition, "message")`, in hardware or in the generator.
    fn check(&mut self, call: &syn::Macro) -> Option<Expr> {
        let kind = check_kind(call)?;
        let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
        let parts = match call.parse_body_with(parser) {
            Ok(parts) => parts,
            Err(error) => {
                self.error.get_or_insert(error);
                return None;
            }
        };
        let mut parts = parts.into_iter();
        let mut condition = parts.next()?;
        let text = quote!(#condition).to_string();
        self.visit_expr_mut(&mut condition);
        let message: Vec<Expr> = parts.collect();
        let message = match message.is_empty() {
            true => quote!(#text),
            false => quote!(&::std::format!(#(#message),*)),
        };
        let (control, traits) = (control(), traits());
        Some(parse(
            quote!({ #traits (&#control::It(&(#condition))).check_(#kind, #message) }),
        ))
    }

    /// Names for the signals that a `let` binds.
    fn named(&mut self, statement: &Stmt) -> Vec<Stmt> {
        let Stmt::Local(local) = statement else {
            return Vec::new();
        };
        let (mut names, mut variables) = (Vec::new(), HashSet::new());
        bound(&local.pat, &mut names, &mut variables);
        let (control, traits) = (control(), traits());
        let mut statements = Vec::new();
        for name in names.iter().filter(|name| !name.to_string().starts_with('_')) {
            self.variables.remove(&name.to_string());
            let text = name.to_string();
            statements.push(parse_quote!({ #traits (&#control::It(&#name)).name_(#text) };));
        }
        for name in variables {
            let depth = depth_of(&name);
            statements.push(parse_quote!(#[allow(unused_variables)] let #depth = #control::depth();));
            self.variables.insert(name);
        }
        statements
    }
}

/// The values that an `if` or `match` may have.
fn tails<'a>(expr: &'a Expr, found: &mut Vec<&'a Expr>) {
    let block = |block: &'a Block, found: &mut Vec<&'a Expr>| {
        if let Some(Stmt::Expr(last, None)) = block.stmts.last() {
            tails(last, found);
        }
    };
    match expr {
        Expr::If(node) if !has_let(&node.cond) => {
            block(&node.then_branch, found);
            if let Some((_, otherwise)) = &node.else_branch {
                tails(otherwise, found);
            }
        }
        Expr::Match(node) => node.arms.iter().for_each(|arm| tails(&arm.body, found)),
        Expr::Block(node) => block(&node.block, found),
        other => found.push(other),
    }
}

/// Whether an expression chooses between values of which one is a constant: it is assigned in the branches then, where the
/// target says its width.
fn chooses_constants(expr: &Expr) -> bool {
    let chooses = match expr {
        Expr::If(node) => !has_let(&node.cond) && node.else_branch.is_some(),
        Expr::Match(_) => true,
        _ => false,
    };
    let mut found = Vec::new();
    tails(expr, &mut found);
    let is_constant = |tail: &&Expr| match tail {
        Expr::Lit(_) => true,
        Expr::Path(path) => path
            .path
            .segments
            .iter()
            .any(|part| part.ident.to_string().starts_with(char::is_uppercase)),
        _ => false,
    };
    chooses && found.iter().any(is_constant)
}

fn assign_in_branches(expr: &mut Expr, target: &Expr) {
    let block = |block: &mut Block| {
        if let Some(Stmt::Expr(last, semi @ None)) = block.stmts.last_mut() {
            assign_in_branches(last, target);
            *semi = matches!(last, Expr::Assign(_)).then(|| Token![;](Span::call_site()));
        }
    };
    match expr {
        Expr::If(node) if !has_let(&node.cond) => {
            block(&mut node.then_branch);
            if let Some((_, otherwise)) = &mut node.else_branch {
                assign_in_branches(otherwise, target);
            }
        }
        Expr::Match(node) => node
            .arms
            .iter_mut()
            .for_each(|arm| assign_in_branches(&mut arm.body, target)),
        Expr::Block(node) => block(&mut node.block),
        other => {
            let (span, value) = (other.span(), other.clone());
            *other = parse(quote_spanned!(span=> #target = #value));
        }
    }
}

/// `(a, b) = value`: an assignment of each.
fn assign_each(targets: &syn::ExprTuple, value: &Expr) -> Expr {
    let targets = targets.elems.iter();
    let parts: Vec<_> = (0..targets.len())
        .map(|part| quote::format_ident!("__part_{part}"))
        .collect();
    parse(quote_spanned!(value.span()=> { let (#(#parts),*) = #value; #(#targets = #parts;)* }))
}

/// Takes the documentation off a statement.
fn documentation(statement: &mut Stmt) -> Vec<String> {
    struct Strip;
    impl VisitMut for Strip {
        fn visit_attributes_mut(&mut self, attributes: &mut Vec<syn::Attribute>) {
            attributes.retain(|attribute| !attribute.path().is_ident("doc"));
        }
        fn visit_block_mut(&mut self, _: &mut Block) {}
    }
    let lines = match statement {
        Stmt::Local(local) => doc_lines(&local.attrs).collect(),
        Stmt::Expr(expr, _) => doc_lines(attributes(expr)).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    if !lines.is_empty() {
        Strip.visit_stmt_mut(statement);
    }
    lines
}

/// Whether a condition binds names, which only the generator can do.
fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        Expr::Paren(inner) => has_let(&inner.expr),
        _ => false,
    }
}

/// Whether a branch leaves its surroundings, which only the generator can do.
fn leaves(block: &Block) -> bool {
    struct Find(bool);
    impl<'a> syn::visit::Visit<'a> for Find {
        fn visit_expr_break(&mut self, _: &'a syn::ExprBreak) {
            self.0 = true;
        }
        fn visit_expr_continue(&mut self, _: &'a syn::ExprContinue) {
            self.0 = true;
        }
        fn visit_expr_return(&mut self, _: &'a syn::ExprReturn) {
            self.0 = true;
        }
        fn visit_expr_try(&mut self, _: &'a syn::ExprTry) {
            self.0 = true;
        }
        fn visit_expr_closure(&mut self, _: &'a syn::ExprClosure) {}
    }
    let mut find = Find(false);
    syn::visit::Visit::visit_block(&mut find, block);
    find.0
}
