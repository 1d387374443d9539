//! Limits of the parameters of stream primitives.

use crate::limits::Limit;
pub(super) use crate::limits::WIDTH;

/// Elements of a memory, whose pointers wrap at a power of two.
pub(super) const DEPTH: Limit = Limit::number("depth", [2, 65536], "places, a power of two").power_of_two();
/// How early `almost_full` rises; less than the depth.
pub(super) const MARGIN: Limit = Limit::number(
    "margin",
    [0, 65535],
    "elements that still fit when almost_full rises",
);
/// When data appears at the output.
pub(super) const REGISTERED: Limit =
    Limit::number("registered", [0, 1], "1: data from a register, 0: falls through");
/// The kind of a memory.
pub(super) const BLOCK: Limit =
    Limit::number("block", [0, 1], "1: memory in block RAM, 0: in distributed RAM");
/// Inputs of an arbiter and outputs of a demultiplexer. One needs neither, but a generator may ask for it.
pub(super) const PORTS: Limit = Limit::number(
    "ports",
    [1, 64],
    "number of streams that are joined or told apart",
);
