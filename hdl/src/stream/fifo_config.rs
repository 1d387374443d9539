//! Parameters of the FIFO.

use crate::entry::{Checked, ParameterError};
use spinneret_verilog::prelude::*;

/// Parameters of a [`Fifo`](super::Fifo).
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "fifo", check)]
pub struct FifoConfig {
    /// Width of the payload in bits.
    #[parameter(32, range = 1..=4096)]
    pub width: usize,
    /// Places, a power of two.
    #[parameter(16, range = 2..=65536, power_of_two)]
    pub depth: usize,
    /// 1: memory in block RAM, 0: in distributed RAM.
    #[parameter(0)]
    pub block: bool,
    /// 1: data from a register, 0: falls through.
    #[parameter(0)]
    pub registered: bool,
    /// Elements that still fit when almost_full rises.
    #[parameter(0, range = 0..=65535)]
    pub margin: usize,
}

impl FifoConfig {
    /// A FIFO in distributed RAM that falls through: data is at the output one cycle after it was taken, from the memory.
    pub fn distributed(width: usize, depth: usize) -> Self {
        Self {
            width,
            depth,
            block: false,
            registered: false,
            margin: 0,
        }
    }

    /// A FIFO in block RAM, with a register at its output.
    pub fn block(width: usize, depth: usize) -> Self {
        Self {
            block: true,
            ..Self::distributed(width, depth).registered()
        }
    }

    /// A FIFO with a register at its output, in distributed RAM up to that depth and in block RAM beyond.
    pub fn by_depth(width: usize, depth: usize, distributed: usize) -> Self {
        if depth > distributed {
            Self::block(width, depth)
        } else {
            Self::distributed(width, depth).registered()
        }
    }

    /// The same with a register at the output: data is there two cycles after it was taken.
    #[must_use]
    pub fn registered(self) -> Self {
        Self {
            registered: true,
            ..self
        }
    }

    /// The same for a FIFO whose user has a register after it: only block RAM keeps its own.
    #[must_use]
    pub(crate) fn behind_a_register(self) -> Self {
        Self {
            registered: self.block,
            ..self
        }
    }

    /// The same with `almost_full` rising when `margin` elements still fit.
    #[must_use]
    pub fn with_margin(self, margin: usize) -> Self {
        Self { margin, ..self }
    }

    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        if self.margin >= self.depth {
            let reason = format!("it must be less than the depth, {}", self.depth);
            return Err(checked.refuse("margin", reason));
        }
        if self.block && !self.registered {
            let reason = "it must be 1 with block RAM, which reads into a register";
            return Err(checked.refuse("registered", reason.into()));
        }
        Ok(())
    }

    /// The kind of the memory.
    pub(super) fn style(self) -> RamStyle {
        if self.block {
            RamStyle::Block
        } else {
            RamStyle::Distributed
        }
    }

    /// The part of the module's name after `fifo_`.
    pub(super) fn variant(self) -> &'static str {
        match (self.block, self.registered) {
            (true, _) => "block",
            (false, false) => "distributed",
            (false, true) => "distributed_registered",
        }
    }
}
