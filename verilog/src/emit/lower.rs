//! From the statements of a kernel to the intermediate form: loops are unrolled, macros and links expanded,
//! and every name resolved.

use std::collections::BTreeSet;

use num_bigint::BigInt;
use rust_hdl::core::ast::{
    VerilogBlockOrConditional, VerilogConditional, VerilogLink, VerilogLinkDetails, VerilogLoop,
    VerilogMatch, VerilogStatement,
};

use super::error::Error;
use super::infer::Inference;
use super::ir::{Arm, DefaultArm, Expr, Kind, Stmt, Target, TopStatement};
use super::metadata::{Metadata, comment_lines};
use super::records::Records;
use super::symbols::{Entry, Symbols};
use super::{literal, names};

/// The most statements that one kernel may unroll to.
const MAX_STATEMENTS: usize = 1_000_000;

/// A kernel in the intermediate form.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
    pub(crate) statements: Vec<TopStatement>,
    pub(crate) metadata: Metadata,
    /// Signals whose fields are named.
    pub(crate) records: Records,
}

/// Lowers the kernel of a block.
pub(crate) fn lower(symbols: &Symbols, block: &[VerilogStatement]) -> Result<Kernel, Error> {
    let inference = Inference {
        symbols,
        loops: Vec::new(),
        depth: 0,
        records: Records::default(),
    };
    let mut lowering = Lowering {
        inference,
        metadata: Metadata::default(),
        statements: 0,
    };
    let flat = lowering.block(block)?;
    let mut kernel = Kernel {
        statements: Vec::new(),
        metadata: lowering.metadata,
        records: lowering.inference.records,
    };
    let mut comments = Vec::new();
    for stmt in flat {
        match stmt {
            Stmt::Comment(text) => comments.push(text),
            stmt => kernel.statements.push(TopStatement {
                comments: std::mem::take(&mut comments),
                stmt,
            }),
        }
    }
    Ok(kernel)
}

/// Lowers the statements of one block.
pub(crate) struct Lowering<'a> {
    pub(crate) inference: Inference<'a>,
    metadata: Metadata,
    statements: usize,
}

impl Lowering<'_> {
    pub(crate) fn path(&self) -> String {
        self.inference.path()
    }

    fn block(&mut self, block: &[VerilogStatement]) -> Result<Vec<Stmt>, Error> {
        let mut out = Vec::new();
        self.inference.enter()?;
        self.append(block, &mut out)?;
        self.inference.depth -= 1;
        Ok(out)
    }

    fn append(&mut self, block: &[VerilogStatement], out: &mut Vec<Stmt>) -> Result<(), Error> {
        for statement in block {
            self.count()?;
            match statement {
                VerilogStatement::Assignment(target, value) => self.assignment(target, value, out)?,
                VerilogStatement::SliceAssignment {
                    base,
                    width,
                    offset,
                    replacement,
                } => {
                    self.slice_assignment(base, *width, offset, replacement, out)?;
                }
                VerilogStatement::If(conditional) => self.conditional(conditional, out)?,
                VerilogStatement::Match(cases) => self.cases(cases, out)?,
                VerilogStatement::Loop(repeated) => self.repeated(repeated, out)?,
                VerilogStatement::Comment(text) => self.comment(text, out)?,
                VerilogStatement::Link(links) => {
                    for link in links {
                        out.push(self.link(link)?);
                    }
                }
                VerilogStatement::Macro(inner) => {
                    self.inference.enter()?;
                    self.append(inner, out)?;
                    self.inference.depth -= 1;
                }
            }
        }
        Ok(())
    }

    fn count(&mut self) -> Result<(), Error> {
        self.statements += 1;
        if self.statements > MAX_STATEMENTS {
            return Err(Error::TooManyStatements {
                path: self.path(),
                limit: MAX_STATEMENTS,
            });
        }
        Ok(())
    }

    fn comment(&mut self, text: &str, out: &mut Vec<Stmt>) -> Result<(), Error> {
        if let Some(reason) = text.strip_prefix("refused: ") {
            return Err(Error::Connection {
                path: self.path(),
                reason: reason.to_owned(),
            });
        }
        for line in comment_lines(text) {
            if !self.metadata.take(&line) {
                out.push(Stmt::Comment(line));
            }
        }
        Ok(())
    }

    fn repeated(&mut self, repeated: &VerilogLoop, out: &mut Vec<Stmt>) -> Result<(), Error> {
        let from = literal::read(&repeated.from).and_then(|(value, _)| u64::try_from(value).ok());
        let to = literal::read(&repeated.to).and_then(|(value, _)| u64::try_from(value).ok());
        let (Some(from), Some(to)) = (from, to) else {
            return Err(Error::Unsupported {
                path: self.path(),
                construct: format!("for {} in {}..{}", repeated.index, repeated.from, repeated.to),
                advice: "loop over a range of 64-bit constants that are not negative",
            });
        };
        self.inference.enter()?;
        for value in from..to {
            self.count()?;
            self.inference.loops.push((repeated.index.clone(), value));
            self.append(&repeated.block, out)?;
            self.inference.loops.pop();
        }
        self.inference.depth -= 1;
        Ok(())
    }

    fn conditional(&mut self, conditional: &VerilogConditional, out: &mut Vec<Stmt>) -> Result<(), Error> {
        self.inference.enter()?;
        let test = self.inference.condition(&conditional.test)?;
        let then = self.block(&conditional.then)?;
        let otherwise = match &conditional.otherwise {
            VerilogBlockOrConditional::Block(block) => self.block(block)?,
            VerilogBlockOrConditional::Conditional(statement) => {
                self.block(std::slice::from_ref(statement))?
            }
            VerilogBlockOrConditional::None => Vec::new(),
        };
        self.inference.depth -= 1;
        match test.as_literal() {
            Some(value) if *value == num_bigint::BigUint::ZERO => out.extend(otherwise),
            Some(_) => out.extend(then),
            None => out.push(Stmt::If {
                test,
                then,
                otherwise,
            }),
        }
        Ok(())
    }

    fn link(&self, link: &VerilogLink) -> Result<Stmt, Error> {
        let name = |owner: &str, member: &str| {
            if member.is_empty() {
                owner.to_owned()
            } else {
                format!("{owner}${}", member.trim_start_matches('.'))
            }
        };
        let ends = |details: &VerilogLinkDetails| {
            (
                name(&details.owner_name, &details.my_name),
                name(&details.other_name, &details.my_name),
            )
        };
        let (from, to) = match link {
            VerilogLink::Forward(details) => ends(details),
            VerilogLink::Backward(details) => {
                let (owner, other) = ends(details);
                (other, owner)
            }
            VerilogLink::Bidirectional(details) => {
                let (owner, other) = ends(details);
                return Err(Error::Unsupported {
                    path: self.path(),
                    construct: format!(
                        "link of {} and {}",
                        names::display(&owner),
                        names::display(&other)
                    ),
                    advice: "tri-state signals cannot be linked: keep the tri-state buffer in the top block",
                });
            }
        };
        let target = self.target(&to)?;
        let source = self.lookup(&from)?;
        let (width, given) = (self.inference.symbols.signal(target).width, self.width_of(source));
        if width != given {
            let construct = format!("{} = {}", names::display(&to), names::display(&from));
            return Err(self.inference.width_mismatch(&construct, width, given));
        }
        let kind = match source {
            Entry::Constant(id) => Kind::Constant(id),
            Entry::Signal(id) => Kind::Signal(id),
            Entry::Ambiguous => return Err(self.unknown(&from)),
        };
        Ok(Stmt::Assign {
            target: Target::whole(target),
            value: Expr { kind, width },
        })
    }

    fn width_of(&self, entry: Entry) -> usize {
        match entry {
            Entry::Signal(id) => self.inference.symbols.signal(id).width,
            Entry::Constant(id) => self.inference.symbols.constant(id).width,
            Entry::Ambiguous => 0,
        }
    }

    fn unknown(&self, name: &str) -> Error {
        Error::UnknownName {
            path: self.path(),
            name: names::display(name),
        }
    }

    pub(crate) fn lookup(&self, name: &str) -> Result<Entry, Error> {
        let path = names::canonical_target(name, &self.inference.loops).ok_or_else(|| Error::ArrayIndex {
            path: self.path(),
            name: names::display(name),
        })?;
        self.inference
            .symbols
            .lookup(&path)
            .ok_or_else(|| self.unknown(&path))
    }

    fn cases(&mut self, cases: &VerilogMatch, out: &mut Vec<Stmt>) -> Result<(), Error> {
        let (test, signed) = self.inference.sized(&cases.test)?;
        let mut arms: Vec<Arm> = Vec::new();
        let mut taken = BTreeSet::new();
        let mut default = None;
        for case in &cases.cases {
            let body = self.block(&case.block)?;
            if case.condition == "default" || case.condition == "_" {
                default = Some(DefaultArm { only: None, body });
                break;
            }
            let (label, value) = self.label(&case.condition, test.width, signed)?;
            // The first of equal patterns is taken, in Rust as in Verilog.
            if taken.insert(value) {
                let more = Vec::new();
                arms.push(Arm { label, more, body });
            }
        }
        case(self.inference.symbols, test, arms, default, out);
        Ok(())
    }

    /// The pattern of a match arm and its value.
    fn label(&self, text: &str, width: usize, signed: bool) -> Result<(Expr, num_bigint::BigUint), Error> {
        let error = || Error::CaseLabel {
            path: self.path(),
            label: names::display(text),
            width,
        };
        let number = match text {
            "true" => Some(BigInt::from(1)),
            "false" => Some(BigInt::ZERO),
            _ => literal::parse_rust_integer(text),
        };
        if let Some(number) = number {
            let bits = literal::encode(&number, width, signed).ok_or_else(error)?;
            return Ok((Expr::literal(bits.clone(), width), bits));
        }
        let path = names::canonical(text, &self.inference.loops).ok_or_else(error)?;
        match self.inference.symbols.lookup(&path) {
            Some(Entry::Constant(id)) => {
                let constant = self.inference.symbols.constant(id);
                if constant.width != width {
                    return Err(error());
                }
                Ok((
                    Expr {
                        kind: Kind::Constant(id),
                        width,
                    },
                    constant.value.clone(),
                ))
            }
            Some(Entry::Ambiguous) => Err(Error::AmbiguousEnum {
                path: self.path(),
                name: names::display(&path),
            }),
            _ => Err(error()),
        }
    }
}

/// A case statement of arms with different labels, or what is left of one.
pub(crate) fn case(
    symbols: &Symbols,
    test: Expr,
    mut arms: Vec<Arm>,
    mut default: Option<DefaultArm>,
    out: &mut Vec<Stmt>,
) {
    let labels = arms.iter().map(|arm| 1 + arm.more.len()).sum::<usize>();
    let complete = u64::try_from(labels).ok() == 1_u64.checked_shl(u32::try_from(test.width).unwrap_or(64));
    if complete {
        // An arm behind all values never runs, and yosys warns of wires in it without a driver.
        default = None;
    }
    if default.is_none()
        && (complete || is_whole_enum(symbols, &arms))
        && let Some(last) = arms.pop()
    {
        default = Some(DefaultArm {
            only: last.more.is_empty().then_some(last.label),
            body: last.body,
        });
    }
    match (arms.is_empty(), default) {
        (true, Some(only)) => out.extend(only.body),
        (true, None) => {}
        (false, default) => out.push(Stmt::Case { test, arms, default }),
    }
}

/// Whether the arms name every value of an enum, so that the last one can be the default.
fn is_whole_enum(symbols: &Symbols, arms: &[Arm]) -> bool {
    let labels: Option<BTreeSet<usize>> = arms
        .iter()
        .flat_map(Arm::labels)
        .map(|label| match label.kind {
            Kind::Constant(id) => Some(id.0),
            _ => None,
        })
        .collect();
    labels.is_some_and(|labels| symbols.enums.contains(&labels))
}
