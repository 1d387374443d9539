//! Loops, conditions and bodies of a function.

use crate::accesses::{accesses, flat, known_let, mentions, writes};
use crate::affine::{Binding, Scope, bounds, condition};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprForLoop, Ident, Pat, Stmt};

/// Statements that are executed as one, with what they can see.
pub(crate) struct Leaf {
    /// Variables of the loops around, outermost first; nothing for `_`.
    pub(crate) loops: Vec<Option<Ident>>,
    /// Constants of the loops around, and the statements.
    pub(crate) statements: Vec<Stmt>,
    /// The fields to and from which it copies, if it does no more.
    pub(crate) copied: Option<(usize, usize)>,
}

/// The context of a block.
#[derive(Clone, Default)]
pub(crate) struct Around {
    pub(crate) scope: Scope,
    loops: Vec<Option<Ident>>,
    /// Constants that inner bodies can use.
    lets: Vec<Stmt>,
    /// Their names.
    names: Vec<String>,
}

/// Reads a block into code that describes it, and its bodies into `leaves`.
pub(crate) fn nodes(
    block: &Block,
    mut around: Around,
    leaves: &mut Vec<Leaf>,
) -> syn::Result<Vec<TokenStream>> {
    let (mut nodes, mut pending) = (Vec::new(), Vec::new());
    for (at, statement) in block.stmts.iter().enumerate() {
        let is_write = writes(statement, &around.scope);
        match statement {
            Stmt::Expr(Expr::ForLoop(looped), _) if is_write => {
                flush(&mut pending, &around, &mut nodes, leaves)?;
                nodes.push(nest(looped, &around, leaves)?);
            }
            Stmt::Expr(Expr::If(branch), _) if is_write && !mentions(&branch.cond, &around.scope) => {
                let rest = &block.stmts[at + 1..];
                let writes_before = pending.iter().any(|before| writes(before, &around.scope));
                match condition(&branch.cond, &around.scope) {
                    // A condition on what was computed before it, or something that is needed after it as well.
                    Ok(_)
                        if names(&pending, &branch.cond)
                            || (!writes_before && names(&pending, &quote!(#(#rest)*))) =>
                    {
                        pending.push(statement.clone());
                    }
                    Ok(known) => {
                        let before = match writes_before {
                            true => Vec::new(),
                            false => std::mem::take(&mut pending),
                        };
                        flush(&mut pending, &around, &mut nodes, leaves)?;
                        let then = self::branch(&branch.then_branch, &before, &around, leaves)?;
                        let otherwise = match &branch.else_branch {
                            Some((_, otherwise)) => {
                                self::branch(&as_block(otherwise), &before, &around, leaves)?
                            }
                            None => Vec::new(),
                        };
                        nodes.push(quote!(Node::If(#known, vec![#(#then),*], vec![#(#otherwise),*])));
                    }
                    Err(error) if loops_write(statement, &around.scope) => return Err(error),
                    Err(_) => pending.push(statement.clone()),
                }
            }
            Stmt::Expr(Expr::Block(inner), _) if loops_write(statement, &around.scope) => {
                flush(&mut pending, &around, &mut nodes, leaves)?;
                nodes.extend(self::nodes(&inner.block, around.clone(), leaves)?);
            }
            Stmt::Local(local) if !is_write && is_constant(statement, &pending, &around.scope) => {
                let (Pat::Ident(pat), known) = (&local.pat, known_let(local, &around.scope)) else {
                    pending.push(statement.clone());
                    continue;
                };
                let name = pat.ident.to_string();
                if around.names.contains(&name) {
                    let text = format!("there is a `{name}` already; give this another name");
                    return Err(syn::Error::new(pat.span(), text));
                }
                around.scope.bind(&pat.ident, known.unwrap_or(Binding::Value))?;
                around.names.push(name);
                around.lets.push(statement.clone());
            }
            _ if loops_write(statement, &around.scope) => {
                let text = "loops that write fields stand in `for` loops, blocks and conditions on loop variables only";
                return Err(syn::Error::new(statement.span(), text));
            }
            _ => pending.push(statement.clone()),
        }
    }
    flush(&mut pending, &around, &mut nodes, leaves)?;
    Ok(nodes)
}

/// The nodes for a condition that holds, or for one that does not: none if the block writes nothing. Values that were
/// only computed before the condition become part of it.
fn branch(
    block: &Block,
    before: &[Stmt],
    around: &Around,
    leaves: &mut Vec<Leaf>,
) -> syn::Result<Vec<TokenStream>> {
    if !block
        .stmts
        .iter()
        .any(|statement| writes(statement, &around.scope))
    {
        return Ok(Vec::new());
    }
    let block = Block {
        stmts: [before, &block.stmts].concat(),
        ..block.clone()
    };
    nodes(&block, around.clone(), leaves)
}

/// The block after `else`.
fn as_block(expr: &Expr) -> Block {
    match expr {
        Expr::Block(block) => block.block.clone(),
        other => Block {
            brace_token: Default::default(),
            stmts: vec![Stmt::Expr(other.clone(), None)],
        },
    }
}

fn nest(looped: &ExprForLoop, around: &Around, leaves: &mut Vec<Leaf>) -> syn::Result<TokenStream> {
    if let Some(label) = &looped.label {
        return Err(syn::Error::new(
            label.span(),
            "loops run to their end, so they need no label",
        ));
    }
    let (variable, bounds) = bounds(looped, &around.scope)?;
    let mut inside = around.clone();
    let number = inside.loops.len();
    if let Some(variable) = &variable {
        inside
            .scope
            .bind(variable, Binding::Affine(quote!(Expr::Loop(#number)), true))?;
    }
    inside.loops.push(variable);
    let inner = nodes(&looped.body, inside, leaves)?;
    Ok(quote!(Node::Loop(#bounds, vec![#(#inner),*])))
}

/// Makes a body of what came before a loop or the end.
fn flush(
    pending: &mut Vec<Stmt>,
    around: &Around,
    nodes: &mut Vec<TokenStream>,
    leaves: &mut Vec<Leaf>,
) -> syn::Result<()> {
    let Some(first) = pending.first() else {
        return Ok(());
    };
    let site =
        quote_spanned!(first.span()=> Site { file: file!().to_owned(), line: line!(), column: column!() });
    let found = accesses(pending, &around.scope, around.loops.len())?;
    if found.adds && !found.writes && !found.is_somewhere {
        let text = "nothing says which rank adds this: read an element here, outside of conditions and inner loops, and the \
                    rank does it where that lives";
        return Err(syn::Error::new(first.span(), text));
    }
    if !found.writes && !found.adds {
        let text = "this writes no field; move what it computes to where it is used, or keep it in a field";
        return Err(syn::Error::new(first.span(), text));
    }
    let tokens = found.tokens;
    let copied = copied(pending, &around.scope);
    let is_copy = copied.is_some();
    nodes.push(quote!(Node::Body(Body { accesses: vec![#(#tokens),*], is_copy: #is_copy, site: #site })));
    let mut statements = around.lets.clone();
    statements.append(pending);
    leaves.push(Leaf {
        loops: around.loops.clone(),
        statements,
        copied,
    });
    Ok(())
}

/// The numbers of the fields to and from which a body copies, if it is `to[[x, y]] = from[[x, y]];` and no more.
fn copied(statements: &[Stmt], scope: &Scope) -> Option<(usize, usize)> {
    let [Stmt::Expr(Expr::Assign(assign), Some(_))] = statements else {
        return None;
    };
    let ((to, left), (from, right)) = (scope.element(&assign.left)?, scope.element(&assign.right)?);
    let text = |index: &Expr| index.to_token_stream().to_string();
    (to != from && text(&left.index) == text(&right.index)).then_some((to, from))
}

/// Whether a `let` depends on nothing but what is the same wherever it is computed: no field, and no name of the statements
/// before it.
fn is_constant(statement: &Stmt, pending: &[Stmt], scope: &Scope) -> bool {
    let Stmt::Local(local) = statement else {
        return false;
    };
    let Some(init) = &local.init else { return false };
    if matches!(&local.pat, Pat::Ident(pat) if pat.mutability.is_some()) || reads(&init.expr, scope) {
        return false;
    }
    !names(pending, &init.expr)
}

/// Whether part of a program has a name that statements before it bind.
fn names(before: &[Stmt], part: &impl ToTokens) -> bool {
    let mut bound = Names::default();
    before.iter().for_each(|statement| bound.visit_stmt(statement));
    let is_bound =
        |tree: TokenTree| matches!(tree, TokenTree::Ident(name) if bound.0.contains(&name.to_string()));
    flat(part.to_token_stream()).into_iter().any(is_bound)
}

/// Whether elements are read; sizes are constants.
fn reads(expr: &Expr, scope: &Scope) -> bool {
    struct Read<'a>(&'a Scope, bool);
    impl<'ast> Visit<'ast> for Read<'_> {
        fn visit_expr_index(&mut self, index: &'ast syn::ExprIndex) {
            self.1 |= self.0.field(&index.expr).is_some();
            visit::visit_expr_index(self, index);
        }
    }
    let mut read = Read(scope, false);
    read.visit_expr(expr);
    read.1
}

/// Names that patterns bind.
#[derive(Default)]
pub(crate) struct Names(pub(crate) Vec<String>);

impl<'ast> Visit<'ast> for Names {
    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        self.0.push(pat.ident.to_string());
    }
}

/// Whether a loop inside of a statement writes a field.
fn loops_write(statement: &Stmt, scope: &Scope) -> bool {
    struct Loops<'a>(&'a Scope, bool);
    impl<'ast> Visit<'ast> for Loops<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            if matches!(expr, Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_)) {
                self.1 |= writes(&Stmt::Expr(expr.clone(), None), self.0);
            }
            visit::visit_expr(self, expr);
        }
    }
    let mut loops = Loops(scope, false);
    loops.visit_stmt(statement);
    loops.1
}
