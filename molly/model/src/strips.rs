//! Rows of a sweep some at a time: one more loop around them, over strips.
//!
//! What ranks that take turns wait for is then a strip, and not the whole sweep: the next rank is one strip behind. The loop over
//! strips is there in time only. Bodies do not see it, so it is left out of what they are told.

use crate::program::{Access, Body, Bounds, Comparison, Cond, Expr, Node, Program, bodies};
use std::num::NonZeroU32;
use std::ops::Range;

/// A loop to cut.
#[derive(Debug, Clone)]
pub(crate) struct Cut {
    /// The bodies in it.
    pub(crate) bodies: Range<usize>,
    /// Loops around it.
    pub(crate) number: usize,
    /// Values of its variable in a strip.
    pub(crate) rows: NonZeroU32,
}

/// A program with strips.
#[derive(Debug)]
pub(crate) struct Strips {
    pub(crate) program: Program,
    /// For each body the loop around it that is not its own.
    pub(crate) hidden: Vec<Option<usize>>,
}

/// Cuts loops, of which none is inside of another one, into strips.
pub(crate) fn strips(program: &Program, cuts: &[Cut]) -> Strips {
    let mut cutter = Cutter {
        cuts,
        inside: None,
        hidden: Vec::new(),
    };
    let nodes = cutter.nodes(&program.nodes, 0);
    Strips {
        program: Program {
            nodes,
            ..program.clone()
        },
        hidden: cutter.hidden,
    }
}

#[derive(Debug)]
struct Cutter<'a> {
    cuts: &'a [Cut],
    /// The number of the loop over strips around: what is said of loops from that one on is about the next one.
    inside: Option<usize>,
    /// Of the bodies so far.
    hidden: Vec<Option<usize>>,
}

impl Cutter<'_> {
    /// Nodes that have so many loops around them.
    fn nodes(&mut self, nodes: &[Node], depth: usize) -> Vec<Node> {
        nodes
            .iter()
            .map(|node| match node {
                Node::Loop(bounds, inner) => self.looped(bounds, inner, depth),
                Node::If(condition, then, otherwise) => Node::If(
                    self.cond(condition),
                    self.nodes(then, depth),
                    self.nodes(otherwise, depth),
                ),
                Node::Body(body) => {
                    self.hidden.push(self.inside);
                    Node::Body(self.body(body))
                }
            })
            .collect()
    }

    fn looped(&mut self, bounds: &Bounds, inner: &[Node], depth: usize) -> Node {
        let first = self.hidden.len();
        let within = first..first + bodies(inner).len();
        let is_here = |cut: &&Cut| cut.number == depth && cut.bodies == within;
        let Some(cut) = self.cuts.iter().find(is_here) else {
            let inner = self.nodes(inner, depth + 1);
            return Node::Loop(self.bounds(bounds), inner);
        };
        // The bounds are about loops around both.
        let (strip, height) = (Expr::Loop(depth), i64::from(cut.rows.get()) * bounds.step);
        let outer = Bounds {
            reversed: bounds.reversed,
            ..Bounds::new(
                bounds.from.clone().div_euclid(height),
                (bounds.to.clone() - 1).div_euclid(height) + 1,
            )
        };
        let own = Bounds {
            reversed: bounds.reversed,
            ..Bounds::new(
                bounds.from.clone().max(strip.clone() * height),
                bounds.to.clone().min(strip * height + height),
            )
        };
        self.inside = Some(depth);
        let mut inner = self.nodes(inner, depth + 1);
        self.inside = None;
        if bounds.step != 1 {
            // Steps count from the bounds of the whole loop.
            let origin = match bounds.from_end {
                true => bounds.to.clone() - 1,
                false => bounds.from.clone(),
            };
            let rest = (Expr::Loop(depth + 1) - origin).rem_euclid(bounds.step);
            inner = vec![Node::If(
                Cond::Compare(rest, Comparison::Eq, 0.into()),
                inner,
                Vec::new(),
            )];
        }
        Node::Loop(outer, vec![Node::Loop(own, inner)])
    }

    fn body(&self, body: &Body) -> Body {
        let access = |access: &Access| Access {
            subscripts: access.subscripts.iter().map(|at| self.expr(at)).collect(),
            inner: access.inner.iter().map(|bounds| self.bounds(bounds)).collect(),
            when: access.when.iter().map(|when| self.cond(when)).collect(),
            ..access.clone()
        };
        Body {
            accesses: body.accesses.iter().map(access).collect(),
            ..body.clone()
        }
    }

    fn bounds(&self, bounds: &Bounds) -> Bounds {
        Bounds {
            from: self.expr(&bounds.from),
            to: self.expr(&bounds.to),
            ..bounds.clone()
        }
    }

    fn cond(&self, cond: &Cond) -> Cond {
        let inner = |cond: &Cond| Box::new(self.cond(cond));
        match cond {
            Cond::Compare(a, comparison, b) => Cond::Compare(self.expr(a), *comparison, self.expr(b)),
            Cond::And(a, b) => Cond::And(inner(a), inner(b)),
            Cond::Or(a, b) => Cond::Or(inner(a), inner(b)),
            Cond::Not(a) => Cond::Not(inner(a)),
        }
    }

    fn expr(&self, expr: &Expr) -> Expr {
        let inner = |expr: &Expr| Box::new(self.expr(expr));
        match expr {
            Expr::Loop(at) if self.inside.is_some_and(|strips| *at >= strips) => Expr::Loop(at + 1),
            Expr::Loop(_) | Expr::Number(_) | Expr::Param(_) | Expr::Len(..) => expr.clone(),
            Expr::Add(a, b) => Expr::Add(inner(a), inner(b)),
            Expr::Sub(a, b) => Expr::Sub(inner(a), inner(b)),
            Expr::Mul(a, b) => Expr::Mul(inner(a), inner(b)),
            Expr::Div(a, b) => Expr::Div(inner(a), inner(b)),
            Expr::Rem(a, b) => Expr::Rem(inner(a), inner(b)),
            Expr::Min(a, b) => Expr::Min(inner(a), inner(b)),
            Expr::Max(a, b) => Expr::Max(inner(a), inner(b)),
        }
    }
}
