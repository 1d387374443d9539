//! Affine expressions and conditions, as code that describes them, and the scope of names.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprForLoop, ExprIndex, ExprMethodCall, Ident, Lit, Pat, UnOp};

const WRITE: &str =
    "write sums of loop variables times constants, parameters, and div_euclid or rem_euclid by constants";

/// A description of an integer, and whether it varies with a loop.
#[derive(Debug, Clone)]
pub(crate) struct Affine {
    pub(crate) tokens: TokenStream,
    pub(crate) varies: bool,
}

/// Rust's text of an expression, close to how a person writes it.
pub(crate) fn text(expr: &impl ToTokens) -> String {
    let text = expr.to_token_stream().to_string();
    [
        (" . ", "."),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" ,", ","),
        ("[ ", "["),
        (" ]", "]"),
        (" [", "["),
    ]
    .iter()
    .fold(text, |text, (from, to)| text.replace(from, to))
}

fn refuse<T>(expr: &impl ToTokens, why: &str) -> syn::Result<T> {
    Err(syn::Error::new(expr.span(), format!("`{}` {why}", text(expr))))
}

pub(crate) fn affine(expr: &Expr, scope: &Scope) -> syn::Result<Affine> {
    let number = |tokens| {
        Ok(Affine {
            tokens,
            varies: false,
        })
    };
    match expr {
        Expr::Paren(paren) => affine(&paren.expr, scope),
        Expr::Group(group) => affine(&group.expr, scope),
        Expr::Lit(lit) => match &lit.lit {
            Lit::Int(int) => {
                let value: i64 = int.base10_parse()?;
                number(quote!(Expr::Number(#value)))
            }
            _ => refuse(expr, "is no integer"),
        },
        Expr::Cast(cast) if text(&cast.ty) == "i64" => affine(&cast.expr, scope),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
            let Affine { tokens, varies } = affine(&unary.expr, scope)?;
            Ok(Affine {
                tokens: quote!((-#tokens)),
                varies,
            })
        }
        Expr::Path(path) => match path.path.get_ident().and_then(|name| scope.get(name)) {
            Some(Binding::Affine(tokens, varies)) => Ok(Affine {
                tokens: tokens.clone(),
                varies: *varies,
            }),
            Some(Binding::Field(_)) => refuse(expr, "is a field; only its elements and `len` are integers"),
            Some(Binding::Sum) => refuse(expr, "is a sum, which has no value before all loops have run"),
            Some(Binding::Integer(ty)) => {
                let text = text(expr);
                refuse(
                    expr,
                    &format!("is `{ty}`, and the analysis knows `i64` only; declare it as `{text}: i64`"),
                )
            }
            Some(Binding::Value) => refuse(expr, &format!("is not known before the loops run; {WRITE}")),
            None => {
                // A name from outside of the function is a constant, or Rust's compiler says that there is none.
                let path = &path.path;
                number(quote!(Expr::Number(#path)))
            }
        },
        Expr::Binary(binary) => {
            let both = || Ok::<_, syn::Error>((affine(&binary.left, scope)?, affine(&binary.right, scope)?));
            let sign = match binary.op {
                BinOp::Add(_) => quote!(+),
                BinOp::Sub(_) => quote!(-),
                BinOp::Mul(_) => quote!(*),
                BinOp::Div(_) => {
                    return refuse(expr, "rounds towards zero, which is not affine; use div_euclid");
                }
                BinOp::Rem(_) => return refuse(expr, "can be negative, which is not affine; use rem_euclid"),
                _ => return refuse(expr, &format!("is not affine; {WRITE}")),
            };
            let (a, b) = both()?;
            if matches!(binary.op, BinOp::Mul(_)) && a.varies && b.varies {
                return refuse(expr, &format!("is not affine: both vary in this nest; {WRITE}"));
            }
            let (varies, a, b) = (a.varies || b.varies, a.tokens, b.tokens);
            Ok(Affine {
                tokens: quote!((#a #sign #b)),
                varies,
            })
        }
        Expr::MethodCall(call) => method(call, scope),
        _ => refuse(expr, &format!("is not affine; {WRITE}")),
    }
}

fn method(call: &ExprMethodCall, scope: &Scope) -> syn::Result<Affine> {
    let name = call.method.to_string();
    let [argument] = &call.args.iter().collect::<Vec<_>>()[..] else {
        return refuse(call, &format!("is not affine; {WRITE}"));
    };
    if let Some(field) = scope.field(&call.receiver) {
        return match (name.as_str(), argument) {
            ("len", Expr::Lit(dim)) => Ok(Affine {
                tokens: quote!(Expr::Len(#field, #dim)),
                varies: false,
            }),
            _ => refuse(call, "is no size of a field; write `len` of a number"),
        };
    }
    let (a, b) = (affine(&call.receiver, scope)?, affine(argument, scope)?);
    let function = match name.as_str() {
        "rem_euclid" | "div_euclid" if b.varies => {
            return refuse(
                call,
                "is not affine: it divides by what varies in this nest; divide by a constant or a parameter",
            );
        }
        "rem_euclid" => quote!(rem_euclid),
        "div_euclid" => quote!(div_euclid),
        "min" => quote!(min),
        "max" => quote!(max),
        _ => return refuse(call, &format!("is not affine; {WRITE}")),
    };
    let (varies, a, b) = (a.varies || b.varies, a.tokens, b.tokens);
    Ok(Affine {
        tokens: quote!(#a.#function(#b)),
        varies,
    })
}

/// A condition.
pub(crate) fn condition(expr: &Expr, scope: &Scope) -> syn::Result<TokenStream> {
    match expr {
        Expr::Paren(paren) => condition(&paren.expr, scope),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
            let inner = condition(&unary.expr, scope)?;
            Ok(quote!(Cond::Not(Box::new(#inner))))
        }
        Expr::Binary(binary) => {
            let comparison = match binary.op {
                BinOp::And(_) | BinOp::Or(_) => {
                    let (a, b) = (condition(&binary.left, scope)?, condition(&binary.right, scope)?);
                    return Ok(match binary.op {
                        BinOp::And(_) => quote!(Cond::And(Box::new(#a), Box::new(#b))),
                        _ => quote!(Cond::Or(Box::new(#a), Box::new(#b))),
                    });
                }
                BinOp::Eq(_) => quote!(Eq),
                BinOp::Ne(_) => quote!(Ne),
                BinOp::Lt(_) => quote!(Lt),
                BinOp::Le(_) => quote!(Le),
                BinOp::Gt(_) => quote!(Gt),
                BinOp::Ge(_) => quote!(Ge),
                _ => return refuse(expr, "is no condition on loop variables"),
            };
            let (a, b) = (
                affine(&binary.left, scope)?.tokens,
                affine(&binary.right, scope)?.tokens,
            );
            Ok(quote!(Cond::Compare(#a, Comparison::#comparison, #b)))
        }
        _ => refuse(expr, "is no condition on loop variables"),
    }
}

/// The variable of a loop, if it has a name, and the description of its values.
pub(crate) fn bounds(looped: &ExprForLoop, scope: &Scope) -> syn::Result<(Option<Ident>, TokenStream)> {
    let variable = match &*looped.pat {
        Pat::Ident(pat) if pat.mutability.is_none() && pat.by_ref.is_none() => Some(pat.ident.clone()),
        Pat::Wild(_) => None,
        pat => return refuse(pat, "is no loop variable; write a name or `_`"),
    };
    let mut methods = Vec::new();
    let mut expr = &*looped.expr;
    loop {
        match expr {
            Expr::Paren(paren) => expr = &paren.expr,
            Expr::MethodCall(call) => {
                methods.push(call);
                expr = &call.receiver;
            }
            _ => break,
        }
    }
    let ranges = "is no range that the analysis knows; write a..b or a..=b, with .rev() and .step_by(number)";
    let Expr::Range(range) = expr else {
        return refuse(&looped.expr, ranges);
    };
    let (Some(from), Some(to)) = (&range.start, &range.end) else {
        return refuse(range, ranges);
    };
    let (from, mut to) = (affine(from, scope)?.tokens, affine(to, scope)?.tokens);
    if matches!(range.limits, syn::RangeLimits::Closed(_)) {
        to = quote!((#to + Expr::Number(1)));
    }
    let (mut step, mut reversed, mut from_end) = (None, false, false);
    for call in methods.into_iter().rev() {
        match (call.method.to_string().as_str(), call.args.first()) {
            ("rev", None) if !reversed => reversed = true,
            ("step_by", Some(Expr::Lit(lit))) if step.is_none() => {
                let Lit::Int(int) = &lit.lit else {
                    return refuse(lit, "is no step; write a number from 1");
                };
                let value: i64 = int.base10_parse()?;
                if value < 1 {
                    return refuse(lit, "is no step; write a number from 1");
                }
                (step, from_end) = (Some(value), reversed);
            }
            _ => return refuse(&looped.expr, ranges),
        }
    }
    let step = step.unwrap_or(1);
    let tokens =
        quote!(Bounds { from: #from, to: #to, step: #step, from_end: #from_end, reversed: #reversed });
    Ok((variable, tokens))
}

// Names and what they stand for.

/// The meaning of a name.
#[derive(Debug, Clone)]
pub(crate) enum Binding {
    /// An integer that the analysis knows: the code that describes it, and whether it varies with a loop.
    Affine(TokenStream, bool),
    /// A field, by its number.
    Field(usize),
    /// A sum, to which bodies add.
    Sum,
    /// An integer of a type that the analysis does not know.
    Integer(String),
    /// Any other value.
    Value,
}

/// Names at some place of a function.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope(HashMap<String, Binding>);

impl Scope {
    pub(crate) fn bind(&mut self, name: &Ident, binding: Binding) -> syn::Result<()> {
        let what = match self.0.get(&name.to_string()) {
            Some(Binding::Field(_)) => "field",
            Some(Binding::Sum) => "sum",
            _ => {
                self.0.insert(name.to_string(), binding);
                return Ok(());
            }
        };
        let text = format!("`{name}` is a {what} here; give this another name");
        Err(syn::Error::new(name.span(), text))
    }

    /// Whether an expression is the name of a sum.
    pub(crate) fn is_sum(&self, expr: &Expr) -> bool {
        let Expr::Path(path) = expr else { return false };
        let binding = path.path.get_ident().and_then(|name| self.get(name));
        matches!(binding, Some(Binding::Sum))
    }

    /// Whether an expression is `*sum`, for the name of a sum.
    pub(crate) fn is_total(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Unary(unary) => matches!(unary.op, UnOp::Deref(_)) && self.is_sum(&unary.expr),
            Expr::Paren(paren) => self.is_total(&paren.expr),
            _ => false,
        }
    }
    /// The same without any other field, and without sums.
    pub(crate) fn only(&self, field: &Ident) -> Self {
        let is_other = |name: &str, binding: &Binding| match binding {
            Binding::Field(_) => *field != name,
            Binding::Sum => true,
            _ => false,
        };
        let kept = self.0.iter().filter(|(name, binding)| !is_other(name, binding));
        Self(
            kept.map(|(name, binding)| (name.clone(), binding.clone()))
                .collect(),
        )
    }

    pub(crate) fn get(&self, name: &Ident) -> Option<&Binding> {
        self.0.get(&name.to_string())
    }

    /// The number of the field that an expression is, by its name.
    pub(crate) fn field(&self, expr: &Expr) -> Option<usize> {
        match expr {
            Expr::Path(path) => match self.get(path.path.get_ident()?)? {
                Binding::Field(number) => Some(*number),
                _ => None,
            },
            Expr::Paren(paren) => self.field(&paren.expr),
            _ => None,
        }
    }

    /// The field and the index of `field[index]`.
    pub(crate) fn element<'e>(&self, expr: &'e Expr) -> Option<(usize, &'e ExprIndex)> {
        match expr {
            Expr::Index(index) => Some((self.field(&index.expr)?, index)),
            Expr::Paren(paren) => self.element(&paren.expr),
            _ => None,
        }
    }
}
