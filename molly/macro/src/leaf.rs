//! Functions of bodies: a body's statements for rows of its instances, with elements taken from slices.
//!
//! A read of `field[[x - 1, y + 1]]` in a loop over `y` is one slice for a whole row: its bounds are checked once, and
//! the compiler can vectorize the loop over it.

use crate::accesses::{flat, operator, writes, written};
use crate::affine::{Scope, condition, text};
use crate::nest::{Leaf, Names};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{
    BinOp, Expr, ExprIndex, FnArg, GenericArgument, Ident, ItemFn, Lit, Pat, PathArguments, Stmt, Type,
};

/// The name of a field's elements.
pub(crate) fn elements(field: &Ident) -> Ident {
    format_ident!("__elements_{field}")
}

/// The fields that a body names: their names, types, and whether the body writes them.
pub(crate) fn leaf_fields<'a>(
    leaf: &'a Leaf,
    arguments: &'a Arguments,
    scope: &'a Scope,
) -> impl Iterator<Item = (&'a Ident, &'a Element, bool)> {
    let is_named = named(leaf);
    let of_body = arguments.fields.iter().filter(move |(name, _)| is_named(name));
    of_body.map(|(name, element)| (name, element, is_written(leaf, name, scope)))
}

/// The sums that a body names, and their types.
pub(crate) fn leaf_sums<'a>(
    leaf: &Leaf,
    arguments: &'a Arguments,
) -> impl Iterator<Item = &'a (Ident, Type)> {
    let is_named = named(leaf);
    arguments.sums.iter().filter(move |(name, _)| is_named(name))
}

/// Whether a body has a name.
fn named(leaf: &Leaf) -> impl Fn(&Ident) -> bool + use<> {
    let mut named = Vec::new();
    for statement in &leaf.statements {
        named.extend(
            flat(statement.to_token_stream())
                .into_iter()
                .filter_map(|token| match token {
                    TokenTree::Ident(name) => Some(name.to_string()),
                    _ => None,
                }),
        );
    }
    move |name: &Ident| named.contains(&name.to_string())
}

fn is_written(leaf: &Leaf, field: &Ident, scope: &Scope) -> bool {
    let only = scope.only(field);
    leaf.statements.iter().any(|statement| writes(statement, &only))
}

/// The code of a body for rows: the variables of the loops, and the statements with elements of slices.
pub(crate) fn leaf_code(leaf: &Leaf, arguments: &Arguments, scope: &Scope) -> TokenStream {
    let Some((last, outer)) = leaf.loops.split_last() else {
        let (statements, _) = rewritten(leaf, scope, None);
        return quote!(#(#statements)*);
    };
    let depth = leaf.loops.len();
    let named = |(at, variable): (usize, &Option<Ident>)| {
        variable
            .as_ref()
            .map(|variable| quote!(let #variable: i64 = __at[#at];))
    };
    let outer: Vec<TokenStream> = outer.iter().enumerate().filter_map(named).collect();
    let variable = last.clone().unwrap_or_else(|| format_ident!("__last"));
    let (plain, _) = rewritten(leaf, scope, None);
    let each = quote! {
        for _ in 0..__row.again.count {
            #(#outer)*
            for __turn in 0..__count as i64 {
                let #variable: i64 = __first + __turn * __step;
                #(#plain)*
            }
            __at[__row.again.argument] += __row.again.step;
        }
    };
    let hoist = last.as_ref().and_then(|last| Hoist::new(last, leaf, arguments));
    let (rowed, rows) = rewritten(leaf, scope, hoist);
    let loops = match rows.is_empty() {
        true => each,
        false => {
            let in_rows = in_rows(depth, &outer, &variable, &rowed, &rows);
            quote!(if __step == 1 { #in_rows } else { #each })
        }
    };
    quote! {
        let mut __at: [i64; #depth] = ::std::array::from_fn(|at| __row.arguments[at]);
        let (__first, __step, __count) = (__at[#depth - 1], __row.step, __row.count as usize);
        #loops
    }
}

/// The loop over rows. Where each slice begins grows evenly from row to row, unless what is stored goes over the end of the
/// field.
fn in_rows(
    depth: usize,
    outer: &[TokenStream],
    variable: &Ident,
    statements: &[Stmt],
    rows: &[(Ident, Expr)],
) -> TokenStream {
    let count = rows.len();
    let places = rows
        .iter()
        .map(|(field, index)| quote!(#field.place::<WRAPS>(#index)));
    let slices = rows.iter().enumerate().map(|(number, (field, _))| {
        let (row, elements) = (row(number), elements(field));
        quote!(let #row = &#elements[__begins[#number]..][..__count];)
    });
    quote! {
        let __places = |__at: [i64; #depth]| -> [usize; #count] {
            #(#outer)*
            let #variable: i64 = __first;
            [#(#places),*]
        };
        let mut __begins = __places(__at);
        __at[__row.again.argument] += __row.again.step;
        let __next = __places(__at);
        let __steps: [usize; #count] = ::std::array::from_fn(|row| __next[row].wrapping_sub(__begins[row]));
        __at[__row.again.argument] -= __row.again.step;
        for _ in 0..__row.again.count {
            #(#outer)*
            #(#slices)*
            for __turn in 0..__count {
                let #variable: i64 = __first + __turn as i64;
                #(#statements)*
            }
            __at[__row.again.argument] += __row.again.step;
            __begins = match WRAPS {
                true => __places(__at),
                false => ::std::array::from_fn(|row| __begins[row].wrapping_add(__steps[row])),
            };
        }
    }
}

/// The statements with slices' elements, and the field and the first index of each slice.
fn rewritten(leaf: &Leaf, scope: &Scope, hoist: Option<Hoist>) -> (Vec<Stmt>, Vec<(Ident, Expr)>) {
    let mut statements = leaf.statements.clone();
    let mut rewrite = Rewrite { leaf, scope, hoist };
    statements
        .iter_mut()
        .for_each(|statement| rewrite.visit_stmt_mut(statement));
    (
        statements,
        rewrite.hoist.map_or_else(Vec::new, |hoist| hoist.rows),
    )
}

fn row(number: usize) -> Ident {
    format_ident!("__row_{number}")
}

/// Elements that are taken from rows.
struct Hoist {
    /// The variable of the innermost loop.
    last: String,
    /// Names that mean the same for a whole row: those of the loops around and of parameters.
    fixed: Vec<String>,
    /// Loops and known conditions around, inside of which an element may be accessed for some of a row only.
    inside: usize,
    /// Field and first index of each row.
    rows: Vec<(Ident, Expr)>,
}

impl Hoist {
    /// Nothing if the body gives other values to names.
    fn new(last: &Ident, leaf: &Leaf, arguments: &Arguments) -> Option<Self> {
        let outer = leaf.loops.iter().flatten().filter(|variable| *variable != last);
        let fixed: Vec<String> = outer.chain(&arguments.params).map(Ident::to_string).collect();
        let mut bound = Names::default();
        leaf.statements
            .iter()
            .for_each(|statement| bound.visit_stmt(statement));
        let last = last.to_string();
        let is_bound = |name: &String| bound.0.contains(name);
        (!fixed.iter().any(is_bound) && !is_bound(&last)).then_some(Self {
            last,
            fixed,
            inside: 0,
            rows: Vec::new(),
        })
    }

    /// The number of the row that an element is of, if its last index grows with the innermost loop, and nothing else does.
    fn row(&mut self, field: &Ident, index: &Expr) -> Option<usize> {
        let Expr::Array(array) = index else { return None };
        let last = array.elems.last().filter(|_| self.inside == 0)?;
        let others = array.elems.iter().take(array.elems.len() - 1);
        if !self.follows(last) || !others.into_iter().all(|other| self.is_fixed(other)) {
            return None;
        }
        let text = |field: &Ident, index: &Expr| format!("{field} {}", index.to_token_stream());
        let wanted = text(field, index);
        let known = self
            .rows
            .iter()
            .position(|(field, index)| text(field, index) == wanted);
        Some(known.unwrap_or_else(|| {
            self.rows.push((field.clone(), index.clone()));
            self.rows.len() - 1
        }))
    }

    /// Whether an expression is the innermost variable and something fixed.
    fn follows(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(paren) => self.follows(&paren.expr),
            Expr::Path(path) => path.path.is_ident(&self.last),
            Expr::Binary(binary) => match binary.op {
                BinOp::Add(_) => {
                    (self.follows(&binary.left) && self.is_fixed(&binary.right))
                        || (self.is_fixed(&binary.left) && self.follows(&binary.right))
                }
                BinOp::Sub(_) => self.follows(&binary.left) && self.is_fixed(&binary.right),
                _ => false,
            },
            _ => false,
        }
    }

    fn is_fixed(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(paren) => self.is_fixed(&paren.expr),
            Expr::Lit(lit) => matches!(lit.lit, Lit::Int(_)),
            Expr::Path(path) => path
                .path
                .get_ident()
                .is_some_and(|name| self.fixed.contains(&name.to_string())),
            Expr::Binary(binary) => {
                matches!(binary.op, BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_))
                    && self.is_fixed(&binary.left)
                    && self.is_fixed(&binary.right)
            }
            _ => false,
        }
    }
}

/// Replaces elements of fields by those of slices.
struct Rewrite<'a> {
    leaf: &'a Leaf,
    scope: &'a Scope,
    hoist: Option<Hoist>,
}

impl Rewrite<'_> {
    /// The element of a slice.
    fn element(&mut self, index: &ExprIndex) -> Option<TokenStream> {
        let Expr::Path(path) = inner(&index.expr) else {
            return None;
        };
        let field = path.path.get_ident()?.clone();
        let number = self
            .hoist
            .as_mut()
            .and_then(|hoist| hoist.row(&field, &index.index));
        let (index, elements) = (&index.index, elements(&field));
        Some(match number {
            Some(number) => {
                let row = row(number);
                quote!(#row[__turn])
            }
            None => quote!(#elements[#field.place::<WRAPS>(#index)]),
        })
    }

    fn read(&mut self, index: &ExprIndex) -> Option<TokenStream> {
        let Expr::Path(path) = inner(&index.expr) else {
            return None;
        };
        let is_written = is_written(self.leaf, path.path.get_ident()?, self.scope);
        let element = self.element(index)?;
        Some(match is_written {
            true => quote!((#element.get())),
            false => quote!((#element)),
        })
    }

    fn inside(&mut self, by: isize) {
        if let Some(hoist) = &mut self.hoist {
            hoist.inside = hoist.inside.saturating_add_signed(by);
        }
    }
}

/// Without parentheses.
fn inner(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(paren) => inner(&paren.expr),
        _ => expr,
    }
}

impl VisitMut for Rewrite<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let target = written(expr).and_then(|left| self.scope.element(left));
        let target = target.map(|(_, index)| index.clone());
        if let Some(index) = target {
            let (right, op) = match expr {
                Expr::Assign(assign) => (&mut assign.right, None),
                Expr::Binary(binary) => (&mut binary.right, operator(&binary.op)),
                _ => return,
            };
            self.visit_expr_mut(right);
            let Some(element) = self.element(&index) else {
                return;
            };
            *expr = match op {
                None => syn::parse_quote!({
                    let __value = #right;
                    #element.set(__value)
                }),
                Some(op) => syn::parse_quote!({
                    let __value = #element.get() #op (#right);
                    #element.set(__value)
                }),
            };
        } else if let Some(index) = self.scope.element(expr).map(|(_, index)| index.clone()) {
            if let Some(element) = self.read(&index) {
                *expr = syn::parse_quote!(#element);
            }
        } else {
            // Not all of a row accesses an element under a known condition, or in a loop.
            let is_inside = match expr {
                Expr::If(branch) => condition(&branch.cond, self.scope).is_ok(),
                Expr::ForLoop(_) => true,
                _ => false,
            };
            self.inside(is_inside.into());
            visit_mut::visit_expr_mut(self, expr);
            self.inside(-isize::from(is_inside));
        }
    }
}

// Arguments of a function: fields, sums, and values.

/// `T` and `D` of a field.
pub(crate) type Element = (GenericArgument, GenericArgument);

/// Arguments of a function.
#[derive(Default)]
pub(crate) struct Arguments {
    /// Names of fields, with `T` and `D`.
    pub(crate) fields: Vec<(Ident, Element)>,
    /// Names of sums, with their types.
    pub(crate) sums: Vec<(Ident, Type)>,
    /// Integers that the analysis knows.
    pub(crate) params: Vec<Ident>,
    /// All arguments but fields, with their types.
    pub(crate) values: Vec<(Ident, Type)>,
    /// All arguments as `run` has them.
    pub(crate) all: Vec<TokenStream>,
    /// All arguments as the function has them.
    pub(crate) plain: Vec<(Ident, Type)>,
}

/// The arguments, if a function over fields can have them.
pub(crate) fn arguments(function: &ItemFn) -> syn::Result<Arguments> {
    let mut arguments = Arguments::default();
    for argument in &function.sig.inputs {
        let FnArg::Typed(typed) = argument else {
            return Err(syn::Error::new(
                argument.span(),
                "a function over fields is no method",
            ));
        };
        let Pat::Ident(pat) = &*typed.pat else {
            return Err(syn::Error::new(typed.pat.span(), "arguments have plain names"));
        };
        let (name, ty) = (pat.ident.clone(), &*typed.ty);
        arguments.plain.push((name.clone(), ty.clone()));
        match (ty, field(ty)) {
            (Type::Reference(reference), Some(element)) => {
                check_element(&element.0)?;
                let field = &reference.elem;
                arguments.all.push(quote!(#name: &mut #field));
                arguments.fields.push((name, element));
            }
            (Type::Reference(reference), None) if is_sum(&reference.elem) => {
                let sum = &*reference.elem;
                arguments.all.push(quote!(#name: &mut #sum));
                arguments.sums.push((name, sum.clone()));
            }
            (Type::Reference(reference), None) => {
                let text = match (number(&reference.elem), reference.mutability) {
                    (Some(number), Some(_)) => format!(
                        "`&mut {number}` would be another number on each rank; add to a `&mut Sum<{number}>`, or write to a field"
                    ),
                    (Some(number), None) => format!("numbers are passed as they are: write `{name}: {number}`"),
                    (None, _) => "arguments are `&mut Field<T, D>`, `&Field<T, D>`, `&mut Sum<T>`, `&mut FastSum`, or values, such as \
                            i64 for sizes"
                        .to_owned(),
                };
                return Err(syn::Error::new_spanned(ty, text));
            }
            _ => {
                if matches!(ty, Type::Path(path) if path.path.is_ident("i64")) {
                    arguments.params.push(name.clone());
                }
                arguments.all.push(quote!(#name: #ty));
                arguments.values.push((name, ty.clone()));
            }
        }
    }
    Ok(arguments)
}

/// The name of a type of numbers.
pub(crate) fn number(ty: &Type) -> Option<String> {
    const NUMBERS: [&str; 14] = [
        "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64",
    ];
    let Type::Path(path) = ty else { return None };
    let name = path.path.get_ident()?.to_string();
    NUMBERS.contains(&&name[..]).then_some(name)
}

/// Refuses elements that are no plain old data, as far as the form of their type shows it.
fn check_element(element: &GenericArgument) -> syn::Result<()> {
    let GenericArgument::Type(ty) = element else {
        return Ok(());
    };
    let is_plain = match ty {
        Type::Path(path) => !["bool", "char", "String"]
            .iter()
            .any(|name| path.path.is_ident(name)),
        Type::Array(array) => return check_element(&GenericArgument::Type((*array.elem).clone())),
        Type::Paren(paren) => return check_element(&GenericArgument::Type((*paren.elem).clone())),
        Type::Tuple(_) | Type::Reference(_) | Type::Ptr(_) | Type::BareFn(_) | Type::Slice(_) => false,
        _ => true,
    };
    match is_plain {
        true => Ok(()),
        false => {
            let name = text(ty);
            let text = format!(
                "`{name}` is no element of a field, as not all bytes are values of it; write `u8` or another number, an array of \
                 numbers, or a struct that is `bytemuck::Pod`"
            );
            Err(syn::Error::new_spanned(ty, text))
        }
    }
}

/// Whether a type is that of a sum, by its name.
fn is_sum(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|last| last.ident == "Sum" || last.ident == "FastSum")
}

/// `T` and `D` of `&mut Field<T, D>`.
fn field(ty: &Type) -> Option<Element> {
    let Type::Reference(reference) = ty else {
        return None;
    };
    let Type::Path(path) = &*reference.elem else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    let mut arguments = arguments.args.iter().cloned();
    match (arguments.next(), arguments.next(), arguments.next()) {
        (Some(element), Some(dims), None) if last.ident == "Field" => Some((element, dims)),
        _ => None,
    }
}
