//! Rows of a sweep some at a time: one more loop around them, over strips.
//!
//! What ranks that take turns wait for is then a strip, and not the whole sweep: the next rank is one strip behind. The loop over
//! strips is there in time only. Bodies do not see it, so it is left out of what they are told.

use crate::program::{Access, Body, Bounds, Cond, Expr, Node, Program};

/// A program with strips.
#[derive(Debug)]
pub(crate) struct Strips {
    pub(crate) program: Program,
    /// For each body the loop around it that is not its own.
    pub(crate) hidden: Vec<Option<usize>>,
}

/// Cuts the loops that have `number` loops around them, and a body with one of some fields in them, into strips of `rows` values
/// each, but for loops with steps.
pub(crate) fn strips(program: &Program, number: usize, fields: &[usize], rows: i64) -> Strips {
    let mut cut = Cut {
        number,
        fields,
        rows,
        hidden: Vec::new(),
    };
    let nodes = cut.nodes(&program.nodes, 0, false);
    let program = Program {
        nodes,
        ..program.clone()
    };
    Strips {
        program,
        hidden: cut.hidden,
    }
}

#[derive(Debug)]
struct Cut<'a> {
    number: usize,
    fields: &'a [usize],
    rows: i64,
    hidden: Vec<Option<usize>>,
}

impl Cut<'_> {
    /// Nodes that have so many loops around them; if these are in a strip, what they say of loops from the strips' on is about
    /// the next one.
    fn nodes(&mut self, nodes: &[Node], depth: usize, is_inside: bool) -> Vec<Node> {
        nodes
            .iter()
            .map(|node| match node {
                Node::Loop(bounds, inner) => self.looped(bounds, inner, depth, is_inside),
                Node::If(condition, then, otherwise) => Node::If(
                    self.cond(condition, is_inside),
                    self.nodes(then, depth, is_inside),
                    self.nodes(otherwise, depth, is_inside),
                ),
                Node::Body(body) => {
                    self.hidden.push(is_inside.then_some(self.number));
                    Node::Body(self.body(body, is_inside))
                }
            })
            .collect()
    }

    fn looped(&mut self, bounds: &Bounds, inner: &[Node], depth: usize, is_inside: bool) -> Node {
        let is_cut =
            depth == self.number && bounds.step == 1 && inner.iter().any(|node| self.has_field(node));
        if !is_cut {
            let inner = self.nodes(inner, depth + 1, is_inside);
            return Node::Loop(self.bounds(bounds, is_inside), inner);
        }
        // What bounds are about is around both loops.
        let (strip, rows) = (Expr::Loop(depth), self.rows);
        let outer = Bounds {
            from: bounds.from.clone().div_euclid(rows),
            to: (bounds.to.clone() - 1).div_euclid(rows) + 1,
            ..bounds.clone()
        };
        let own = Bounds {
            from: bounds.from.clone().max(strip.clone() * rows),
            to: bounds.to.clone().min(strip * rows + rows),
            ..bounds.clone()
        };
        let inner = self.nodes(inner, depth + 1, true);
        Node::Loop(outer, vec![Node::Loop(own, inner)])
    }

    fn has_field(&self, node: &Node) -> bool {
        let any = |nodes: &[Node]| nodes.iter().any(|node| self.has_field(node));
        match node {
            Node::Loop(_, inner) => any(inner),
            Node::If(_, then, otherwise) => any(then) || any(otherwise),
            Node::Body(body) => body
                .accesses
                .iter()
                .any(|access| self.fields.contains(&access.field)),
        }
    }

    fn body(&self, body: &Body, is_inside: bool) -> Body {
        let access = |access: &Access| Access {
            subscripts: access
                .subscripts
                .iter()
                .map(|at| self.expr(at, is_inside))
                .collect(),
            inner: access
                .inner
                .iter()
                .map(|bounds| self.bounds(bounds, is_inside))
                .collect(),
            when: access
                .when
                .iter()
                .map(|when| self.cond(when, is_inside))
                .collect(),
            ..access.clone()
        };
        Body {
            accesses: body.accesses.iter().map(access).collect(),
            ..body.clone()
        }
    }

    fn bounds(&self, bounds: &Bounds, is_inside: bool) -> Bounds {
        Bounds {
            from: self.expr(&bounds.from, is_inside),
            to: self.expr(&bounds.to, is_inside),
            ..bounds.clone()
        }
    }

    fn cond(&self, cond: &Cond, is_inside: bool) -> Cond {
        let inner = |cond: &Cond| Box::new(self.cond(cond, is_inside));
        match cond {
            Cond::Compare(a, comparison, b) => {
                Cond::Compare(self.expr(a, is_inside), *comparison, self.expr(b, is_inside))
            }
            Cond::And(a, b) => Cond::And(inner(a), inner(b)),
            Cond::Or(a, b) => Cond::Or(inner(a), inner(b)),
            Cond::Not(a) => Cond::Not(inner(a)),
        }
    }

    fn expr(&self, expr: &Expr, is_inside: bool) -> Expr {
        let inner = |expr: &Expr| Box::new(self.expr(expr, is_inside));
        match expr {
            Expr::Loop(at) if is_inside && *at >= self.number => Expr::Loop(at + 1),
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
