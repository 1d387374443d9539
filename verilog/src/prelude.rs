//! Everything a hardware block needs: `use spinneret_verilog::prelude::*;`.

pub use crate::lang::{
    ByteRam, Called, Describe, Field, Heaped, Named, Names, Optional, Parameters, Place, Ram, RamStyle, Reg,
    RegAttribute, Value, Wire, Word, address_width, bit_width, fill, interface, kernel, lit, module, record,
};
pub use crate::rtl::{
    Payload, Sig, Signed, cat_all, constant, first, or_all, reg, reg_reset, staged, sum, wire, wire_bit,
    word_of,
};
pub use rust_hdl::prelude::ToBits;
pub use rust_hdl::prelude::{
    Atom, AtomKind, Bit, Bits, Block, Clock, Constant, DFF, Direction, In, InOut, Local, Logic, LogicBlock,
    LogicInterface, LogicJoin, LogicLink, LogicState, Out, Probe, Signal, Synth, TimingInfo, TypeDescriptor,
    TypeKind, VCDValue, Verilog, VerilogLiteral, ast, block, clog2, hdl_gen, logic, probe, simulate, synth,
    type_descriptor,
};
