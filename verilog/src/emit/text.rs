//! The text of expressions and statements.

use std::collections::BTreeMap;

use num_bigint::BigUint;

use super::ir::{
    Arithmetic, Comparison, Direction, Expr, Kind, Part, Reduction, Relation, SignalId, Stmt, Target,
};
use super::literal::ones;
use super::loops;
use super::marks::{self, literal};
use super::records::Views;
use super::symbols::Symbols;

/// Writes the expressions and statements of one module.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    pub(crate) symbols: &'a Symbols,
    /// Signals that are packed structs.
    pub(crate) views: &'a Views,
    /// Registers that are assigned directly: the output that stands for the next value.
    pub(crate) renamed: &'a BTreeMap<SignalId, SignalId>,
    /// Nets of instances that are bits of one signal, and what they are called.
    pub(crate) nets: BTreeMap<SignalId, String>,
    /// Whether statements may become loops.
    pub(crate) has_loops: bool,
}

/// How an assignment is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assignment {
    Blocking,
    Nonblocking,
}

impl Writer<'_> {
    pub(crate) fn name(&self, signal: SignalId) -> &str {
        let signal = self.renamed.get(&signal).unwrap_or(&signal);
        if let Some(net) = self.nets.get(signal) {
            return net;
        }
        let view = self.views.get(*signal);
        let other = view.and_then(|view| view.stands_for_port.as_deref());
        other.unwrap_or(&self.symbols.signal(*signal).identifier)
    }

    /// Constant bits of a signal: fields by their names, if the signal has fields.
    fn bits(&self, signal: SignalId, low: usize, width: usize) -> String {
        match &self.parts(signal, low, width)[..] {
            [part] => part.clone(),
            parts => format!("{{{}}}", parts.join(", ")),
        }
    }

    /// The same as a list, the highest first.
    fn parts(&self, signal: SignalId, low: usize, width: usize) -> Vec<String> {
        let name = self.name(signal);
        let parts = match self.views.get(signal) {
            Some(view) => view.members(low, width),
            None => vec![marks::select(low, width)],
        };
        parts.iter().map(|part| format!("{name}{part}")).collect()
    }

    /// The text of an expression that stands alone.
    pub(crate) fn expr(&self, expr: &Expr) -> String {
        match &expr.kind {
            Kind::Signal(id) => self.name(*id).to_owned(),
            Kind::Literal(value) => literal(value, expr.width),
            Kind::Constant(id) => self.symbols.constant(*id).identifier.clone(),
            Kind::Concat(parts) => {
                let parts = parts.iter().flat_map(|part| self.concat_parts(part));
                format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
            }
            Kind::Repeat(bit) => format!("{{{}{{{}}}}}", marks::plain(expr.width), self.expr(bit)),
            Kind::Not(a) => format!("{}{}", if expr.width == 1 { "!" } else { "~" }, self.unit(a)),
            Kind::Negate(a) => format!("-{}", self.unit(a)),
            Kind::Reduce(reduction, a) => format!("{}{}", reduction.symbol(), self.unit(a)),
            Kind::Arithmetic(Arithmetic::MultiplySigned, a, b) => {
                format!("$signed({}) * $signed({})", self.expr(a), self.expr(b))
            }
            Kind::Arithmetic(op, a, b) => {
                format!(
                    "{} {} {}",
                    self.operand(*op, a),
                    op.symbol(),
                    self.operand(*op, b)
                )
            }
            Kind::Compare(comparison, a, b) => {
                let (a, b) = (self.compared(*comparison, a), self.compared(*comparison, b));
                format!("{a} {} {b}", comparison.relation.symbol())
            }
            Kind::Shift(direction, a, amount) => {
                let places = match amount.as_literal() {
                    Some(value) => marks::decimal(value, amount.width),
                    None => self.unit(amount),
                };
                format!("{} {} {places}", self.unit(a), direction.symbol())
            }
            Kind::Select(base, low) => self.selected(base, *low, expr.width),
            Kind::SelectAt(id, offset) if expr.width == 1 => {
                format!("{}[{}]", self.name(*id), self.expr(offset))
            }
            Kind::SelectAt(id, offset) => {
                let width = marks::plain(expr.width);
                format!("{}[{} +: {width}]", self.name(*id), self.expr(offset))
            }
            Kind::Low(a) => format!("{}'({})", marks::cast(expr.width), self.expr(a)),
            Kind::Choose(test, a, b) => format!("{} ? {} : {}", self.unit(test), self.unit(a), self.unit(b)),
        }
    }

    /// Returns the text of a part of a concatenation. Adjacent fields are one part.
    fn concat_parts(&self, part: &Expr) -> Vec<String> {
        if let Kind::Select(base, low) = &part.kind
            && let Kind::Signal(id) = base.kind
        {
            return self.parts(id, *low, part.width);
        }
        vec![self.expr(part)]
    }

    /// The text of an expression as an operand: in parentheses unless it is one unit.
    ///
    /// A size cast is none: yosys reads `~4'(x)` as `(~4)'(x)`.
    fn unit(&self, expr: &Expr) -> String {
        let is_unit = matches!(
            expr.kind,
            Kind::Signal(_)
                | Kind::Literal(_)
                | Kind::Constant(_)
                | Kind::Concat(_)
                | Kind::Repeat(_)
                | Kind::Select(..)
                | Kind::SelectAt(..)
        );
        if is_unit {
            self.expr(expr)
        } else {
            format!("({})", self.expr(expr))
        }
    }

    /// Returns the text of an operand of `op`, without parentheses where no reader can misread it.
    fn operand(&self, op: Arithmetic, expr: &Expr) -> String {
        let plain = match &expr.kind {
            Kind::Not(_) => true,
            Kind::Arithmetic(inner, ..) => *inner == op && op.is_associative(),
            Kind::Compare(..) => matches!(op, Arithmetic::LogicalAnd | Arithmetic::LogicalOr),
            _ => false,
        };
        if plain { self.expr(expr) } else { self.unit(expr) }
    }

    /// An operand of a comparison with the sign that the comparison needs.
    fn compared(&self, comparison: Comparison, expr: &Expr) -> String {
        let equality = matches!(comparison.relation, Relation::Equal | Relation::Unequal);
        match (comparison.signed, &expr.kind) {
            _ if equality => self.unit(expr),
            (true, Kind::Literal(value)) => signed_literal(value, expr.width),
            (true, Kind::Signal(id)) if self.symbols.signal(*id).signed => self.unit(expr),
            (true, _) => format!("$signed({})", self.expr(expr)),
            (false, _) if self.is_signed_text(expr) => format!("$unsigned({})", self.expr(expr)),
            (false, _) => self.unit(expr),
        }
    }

    /// Whether a tool takes the text of the expression for a signed value.
    fn is_signed_text(&self, expr: &Expr) -> bool {
        match &expr.kind {
            Kind::Signal(id) => self.symbols.signal(*id).signed,
            Kind::Constant(id) => self.symbols.constant(*id).signed,
            Kind::Not(a) | Kind::Negate(a) | Kind::Shift(_, a, _) | Kind::Low(a) => self.is_signed_text(a),
            Kind::Arithmetic(Arithmetic::MultiplySigned, ..) => true,
            Kind::Arithmetic(_, a, b) | Kind::Choose(_, a, b) => {
                self.is_signed_text(a) && self.is_signed_text(b)
            }
            _ => false,
        }
    }

    fn selected(&self, base: &Expr, low: usize, width: usize) -> String {
        match &base.kind {
            Kind::Constant(id) => literal(&((&self.symbols.constant(*id).value >> low) & ones(width)), width),
            Kind::Signal(id) => self.bits(*id, low, width),
            _ => format!("{}{}", self.expr(base), marks::select(low, width)),
        }
    }

    fn target(&self, target: &Target) -> String {
        let name = self.name(target.signal);
        match &target.part {
            Part::Whole => name.to_owned(),
            Part::Bits { low, width } => self.bits(target.signal, *low, *width),
            Part::At { offset, width: 1 } => format!("{name}[{}]", self.expr(offset)),
            Part::At { offset, width } => {
                let width = marks::plain(*width);
                format!("{name}[{} +: {width}]", self.expr(offset))
            }
        }
    }

    /// One assignment without its line end.
    pub(crate) fn assignment(&self, target: &Target, value: &Expr, kind: Assignment) -> String {
        let symbol = if kind == Assignment::Blocking { "=" } else { "<=" };
        format!("{} {symbol} {};", self.target(target), self.expr(value))
    }

    /// Appends statements, each on lines of its own.
    pub(crate) fn block(&self, block: &[Stmt], kind: Assignment, indent: usize, out: &mut String) {
        self.runs(self.statements(block, kind, indent), indent, out);
    }

    /// Appends the texts of statements, with loops where they repeat.
    pub(crate) fn runs(&self, statements: Vec<String>, indent: usize, out: &mut String) {
        if self.has_loops {
            loops::append(statements, indent, out);
        } else {
            out.extend(statements);
        }
    }

    /// The text of each statement.
    pub(crate) fn statements<'b>(
        &self,
        statements: impl IntoIterator<Item = &'b Stmt>,
        kind: Assignment,
        indent: usize,
    ) -> Vec<String> {
        let text = |stmt| {
            let mut out = String::new();
            self.statement(stmt, kind, indent, &mut out);
            out
        };
        statements.into_iter().map(text).collect()
    }

    pub(crate) fn statement(&self, stmt: &Stmt, kind: Assignment, indent: usize, out: &mut String) {
        match stmt {
            Stmt::Comment(text) => line(out, indent, &format!("// {text}")),
            Stmt::Assign { target, value } => line(out, indent, &self.assignment(target, value, kind)),
            Stmt::If {
                test,
                then,
                otherwise,
            } => self.conditional(test, then, otherwise, kind, indent, out),
            Stmt::Case { test, arms, default } => {
                line(out, indent, &format!("case ({})", self.expr(test)));
                for arm in arms {
                    let labels: Vec<_> = arm.labels().map(|label| self.expr(label)).collect();
                    line(out, indent + 1, &format!("{}: begin", labels.join(", ")));
                    self.block(&arm.body, kind, indent + 2, out);
                    line(out, indent + 1, "end");
                }
                match default {
                    Some(arm) if !arm.body.is_empty() => {
                        let only = arm.only.as_ref().map(|label| format!(" // {}", self.expr(label)));
                        line(
                            out,
                            indent + 1,
                            &format!("default: begin{}", only.unwrap_or_default()),
                        );
                        self.block(&arm.body, kind, indent + 2, out);
                        line(out, indent + 1, "end");
                    }
                    _ => line(out, indent + 1, "default: ;"),
                }
                line(out, indent, "endcase");
            }
        }
    }

    fn conditional(
        &self,
        test: &Expr,
        then: &[Stmt],
        otherwise: &[Stmt],
        kind: Assignment,
        indent: usize,
        out: &mut String,
    ) {
        line(out, indent, &format!("if ({}) begin", self.expr(test)));
        self.block(then, kind, indent + 1, out);
        let mut rest = otherwise;
        while let [
            Stmt::If {
                test,
                then,
                otherwise,
            },
        ] = rest
        {
            line(out, indent, &format!("end else if ({}) begin", self.expr(test)));
            self.block(then, kind, indent + 1, out);
            rest = otherwise;
        }
        if !rest.is_empty() {
            line(out, indent, "end else begin");
            self.block(rest, kind, indent + 1, out);
        }
        line(out, indent, "end");
    }
}

/// Appends one line; a line that turns out to be too long is continued on further lines.
pub(crate) fn line(out: &mut String, indent: usize, text: &str) {
    if !text.starts_with("//") {
        out.push(marks::WRAP);
    }
    out.push_str(&"    ".repeat(indent));
    out.push_str(text);
    out.push('\n');
}

/// A literal of a signed comparison.
fn signed_literal(value: &BigUint, width: usize) -> String {
    let sign = BigUint::from(1_u32) << (width - 1);
    if *value < sign {
        format!("{width}'sd{value}")
    } else {
        format!("-{width}'sd{}", (BigUint::from(1_u32) << width) - value)
    }
}

impl Arithmetic {
    fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply | Self::MultiplySigned => "*",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
            Self::LogicalAnd => "&&",
            Self::LogicalOr => "||",
        }
    }

    fn is_associative(self) -> bool {
        !matches!(self, Self::Subtract | Self::Multiply | Self::MultiplySigned)
    }
}

impl Reduction {
    fn symbol(self) -> &'static str {
        match self {
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
        }
    }
}

impl Direction {
    fn symbol(self) -> &'static str {
        match self {
            Self::Left => "<<",
            Self::Right => ">>",
        }
    }
}

impl Relation {
    fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}
