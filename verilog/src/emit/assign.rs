//! Assignments: to whole signals, to slices, and of values with a replaced bit.

use rust_hdl::core::ast::VerilogExpression;

use super::error::Error;
use super::ir::{Expr, Part, SignalId, Stmt, Target};
use super::lower::Lowering;
use super::select::{Offset, variable_write};
use super::symbols::{Entry, Role};
use super::{describe, names};

impl Lowering<'_> {
    /// The signal that an assignment names, which the kernel must be allowed to drive.
    pub(crate) fn target(&self, name: &str) -> Result<SignalId, Error> {
        let role = match self.lookup(name)? {
            Entry::Signal(id) => match self.inference.symbols.signal(id).role {
                Role::Output | Role::Local | Role::ChildInput => return Ok(id),
                Role::RegisterClock | Role::RegisterReset | Role::RegisterData(_) => return Ok(id),
                Role::Input => "an input of the block itself",
                Role::InOut | Role::ChildInOut => "a tri-state signal",
                Role::ChildOutput => "an output of a sub-block",
                Role::RegisterOutput | Role::RegisteredOutput => "the output of a register",
            },
            Entry::Constant(_) | Entry::Ambiguous => "a constant",
        };
        let name = names::display(name.trim_end_matches(".next").trim_end_matches("$next"));
        Err(Error::NotAssignable {
            path: self.path(),
            name,
            role,
        })
    }

    fn target_of(&self, expression: &VerilogExpression) -> Result<SignalId, Error> {
        match expression {
            VerilogExpression::Signal(name) => self.target(name),
            VerilogExpression::Paren(inner) => self.target_of(inner),
            _ => Err(self
                .inference
                .unsupported(expression, "assign a signal or a slice of a signal")),
        }
    }

    pub(crate) fn assignment(
        &mut self,
        target: &VerilogExpression,
        value: &VerilogExpression,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Error> {
        match target {
            VerilogExpression::Slice(base, width, offset) => {
                return self.slice_assignment(base, *width, offset, value, out);
            }
            VerilogExpression::Index(base, offset) => {
                return self.slice_assignment(base, 1, offset, value, out);
            }
            _ => {}
        }
        let id = self.target_of(target)?;
        if self.replace_bits(id, value, out)? {
            return Ok(());
        }
        let signal = self.inference.symbols.signal(id);
        let construct = format!(
            "{} = {}",
            self.inference.symbols.display(id),
            describe::expression(value)
        );
        let value = self
            .inference
            .of_width(value, signal.width, signal.signed, &construct)?;
        out.push(Stmt::Assign {
            target: Target::whole(id),
            value,
        });
        Ok(())
    }

    /// Writes `x = base.replace_bit(i, v)` as `x = base; x[i] = v`, unless `i` or `v` read `x`.
    fn replace_bits(
        &mut self,
        id: SignalId,
        value: &VerilogExpression,
        out: &mut Vec<Stmt>,
    ) -> Result<bool, Error> {
        let (base, index, bit) = match value {
            VerilogExpression::Paren(inner) => return self.replace_bits(id, inner, out),
            VerilogExpression::IndexReplace(base, index, bit) => (base, index, bit),
            _ => return Ok(false),
        };
        let bit = self.inference.condition(bit)?;
        let offset = self.inference.offset(value, index)?;
        let reads_target = matches!(&offset, Offset::Variable(offset) if offset.reads(id));
        let (whole, signed) = self.inference.sized(base)?;
        let signal = self.inference.symbols.signal(id);
        if reads_target || bit.reads(id) || whole.width != signal.width || signed != signal.signed {
            return Ok(false);
        }
        self.inference
            .check_constant(value, &offset, signal.width - 1, signal.width)?;
        let mut steps = Vec::new();
        if !self.replace_bits(id, base, &mut steps)? && whole != Expr::signal(id, signal.width) {
            steps.push(Stmt::Assign {
                target: Target::whole(id),
                value: whole,
            });
        }
        out.append(&mut steps);
        self.write_part(id, 1, offset, bit, out);
        Ok(true)
    }

    pub(crate) fn slice_assignment(
        &mut self,
        base: &VerilogExpression,
        width: usize,
        offset: &VerilogExpression,
        value: &VerilogExpression,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Error> {
        let id = self.target_of(base)?;
        let signal = self.inference.symbols.signal(id);
        let construct = format!(
            "{} = {}",
            self.inference.symbols.display(id),
            describe::expression(value)
        );
        self.inference.symbols.check_width(&construct, width)?;
        let value = self.inference.of_width(value, width, signal.signed, &construct)?;
        self.inference
            .records
            .note(&Expr::signal(id, signal.width), offset);
        let offset = self.inference.offset(base, offset)?;
        let Some(last) = signal.width.checked_sub(width) else {
            return Err(self.inference.width_mismatch(&construct, signal.width, width));
        };
        self.inference.check_constant(base, &offset, last, signal.width)?;
        self.write_part(id, width, offset, value, out);
        Ok(())
    }

    fn write_part(&self, signal: SignalId, width: usize, offset: Offset, value: Expr, out: &mut Vec<Stmt>) {
        let available = self.inference.symbols.signal(signal).width;
        let whole = width == available;
        let (part, guard) = match offset {
            Offset::Constant(_) if whole => (Part::Whole, None),
            Offset::Constant(low) => (
                Part::Bits {
                    low: usize::try_from(&low).unwrap_or(0),
                    width,
                },
                None,
            ),
            Offset::Variable(offset) => {
                let write = variable_write(&offset, width, available);
                let part = if whole {
                    Part::Whole
                } else {
                    Part::At {
                        offset: write.offset,
                        width,
                    }
                };
                (part, write.guard)
            }
        };
        let assign = Stmt::Assign {
            target: Target { signal, part },
            value,
        };
        out.push(match guard {
            Some(test) => Stmt::If {
                test,
                then: vec![assign],
                otherwise: Vec::new(),
            },
            None => assign,
        });
    }
}
