//! Blocks from syntax trees that are written manually.

use rust_hdl::core::ast::{
    Verilog, VerilogBlockOrConditional, VerilogConditional, VerilogExpression, VerilogLiteral, VerilogOp,
    VerilogOpUnary, VerilogStatement,
};
use rust_hdl::core::constraint::PinConstraint;
use rust_hdl::core::signal::get_signal_id;
use rust_hdl::prelude::{
    Atom, AtomKind, Block, Logic, Probe, TimingInfo, TypeDescriptor, TypeKind, VCDValue,
};

/// A block with any signals, sub-blocks and code.
pub(crate) struct Raw {
    pub(crate) atoms: Vec<RawAtom>,
    pub(crate) children: Vec<(String, Box<dyn Block>)>,
    pub(crate) code: Verilog,
    pub(crate) timing: Vec<TimingInfo>,
}

/// A signal or constant of any kind and type.
#[derive(Clone)]
pub(crate) struct RawAtom {
    pub(crate) name: String,
    pub(crate) kind: AtomKind,
    pub(crate) descriptor: TypeDescriptor,
    pub(crate) width: usize,
    pub(crate) literal: VerilogLiteral,
    id: usize,
}

impl Raw {
    /// A block with a kernel.
    pub(crate) fn new(atoms: Vec<RawAtom>, statements: Vec<VerilogStatement>) -> Self {
        Self {
            atoms,
            children: Vec::new(),
            code: Verilog::Combinatorial(statements),
            timing: Vec::new(),
        }
    }

    /// The same block with a sub-block.
    pub(crate) fn with(self, name: &str, child: impl Block + 'static) -> Self {
        self.with_boxed(name, Box::new(child))
    }

    /// The same with one whose type is not known.
    pub(crate) fn with_boxed(mut self, name: &str, child: Box<dyn Block>) -> Self {
        self.children.push((name.to_owned(), child));
        self
    }
}

/// An unsigned signal.
pub(crate) fn atom(name: &str, kind: AtomKind, width: usize) -> RawAtom {
    let descriptor = TypeDescriptor {
        name: format!("Bits::<{width}>"),
        kind: TypeKind::Bits(width),
    };
    RawAtom {
        name: name.to_owned(),
        kind,
        descriptor,
        width,
        literal: 0_u32.into(),
        id: get_signal_id(),
    }
}

/// An unsigned input.
pub(crate) fn input(name: &str, width: usize) -> RawAtom {
    atom(name, AtomKind::InputParameter, width)
}

/// An unsigned output.
pub(crate) fn output(name: &str, width: usize) -> RawAtom {
    atom(name, AtomKind::OutputParameter, width)
}

/// An unsigned Local signal.
pub(crate) fn local(name: &str, width: usize) -> RawAtom {
    atom(name, AtomKind::LocalSignal, width)
}

/// The same signal as a signed one.
pub(crate) fn signed(mut atom: RawAtom) -> RawAtom {
    atom.descriptor = TypeDescriptor {
        name: format!("Signed::<{}>", atom.width),
        kind: TypeKind::Signed(atom.width),
    };
    atom
}

/// The same signal with the values of an enum.
pub(crate) fn of_enum(mut atom: RawAtom, name: &str, values: &[&str]) -> RawAtom {
    let values = values.iter().map(|value| format!("{name}::{value}")).collect();
    atom.descriptor = TypeDescriptor {
        name: name.to_owned(),
        kind: TypeKind::Enum(values),
    };
    atom
}

pub(crate) fn sig(name: &str) -> VerilogExpression {
    VerilogExpression::Signal(name.to_owned())
}

pub(crate) fn num(value: impl Into<VerilogLiteral>) -> VerilogExpression {
    VerilogExpression::Literal(value.into())
}

pub(crate) fn bin(left: VerilogExpression, op: VerilogOp, right: VerilogExpression) -> VerilogExpression {
    VerilogExpression::Binary(Box::new(left), op, Box::new(right))
}

pub(crate) fn un(op: VerilogOpUnary, value: VerilogExpression) -> VerilogExpression {
    VerilogExpression::Unary(op, Box::new(value))
}

pub(crate) fn cast(value: VerilogExpression, width: usize) -> VerilogExpression {
    VerilogExpression::Cast(Box::new(value), width)
}

pub(crate) fn bit(value: VerilogExpression, index: VerilogExpression) -> VerilogExpression {
    VerilogExpression::Index(Box::new(value), Box::new(index))
}

pub(crate) fn slice(value: VerilogExpression, width: usize, offset: VerilogExpression) -> VerilogExpression {
    VerilogExpression::Slice(Box::new(value), width, Box::new(offset))
}

pub(crate) fn set(name: &str, value: VerilogExpression) -> VerilogStatement {
    VerilogStatement::Assignment(sig(name), value)
}

pub(crate) fn when(test: VerilogExpression, then: Vec<VerilogStatement>) -> VerilogStatement {
    let otherwise = VerilogBlockOrConditional::None;
    VerilogStatement::If(VerilogConditional {
        test,
        then,
        otherwise,
    })
}

impl Logic for Raw {
    fn update(&mut self) {}
    fn hdl(&self) -> Verilog {
        self.code.clone()
    }
    fn timing(&self) -> Vec<TimingInfo> {
        self.timing.clone()
    }
}

impl Block for Raw {
    fn connect_all(&mut self) {}
    fn update_all(&mut self) {}
    fn has_changed(&self) -> bool {
        false
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_start_scope(name, self);
        for atom in &self.atoms {
            probe.visit_atom(&atom.name, atom);
        }
        for (name, child) in &self.children {
            child.accept(name, probe);
        }
        probe.visit_end_scope(name, self);
    }
}

impl Atom for RawAtom {
    fn bits(&self) -> usize {
        self.width
    }
    fn connected(&self) -> bool {
        true
    }
    fn changed(&self) -> bool {
        false
    }
    fn kind(&self) -> AtomKind {
        self.kind
    }
    fn descriptor(&self) -> TypeDescriptor {
        self.descriptor.clone()
    }
    fn vcd(&self) -> VCDValue {
        false.into()
    }
    fn id(&self) -> usize {
        self.id
    }
    fn verilog(&self) -> VerilogLiteral {
        self.literal.clone()
    }
    fn constraints(&self) -> Vec<PinConstraint> {
        Vec::new()
    }
}
