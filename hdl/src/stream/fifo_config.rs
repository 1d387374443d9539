//! Parameters of the FIFO.

use super::entries::{DEPTH, MARGIN, REGISTERED, WIDTH};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// When the data of an element appears at the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FifoOutput {
    /// One cycle after it was taken, straight from the memory (distributed RAM only).
    Fallthrough,
    /// Two cycles after it was taken, from a register.
    Registered,
}

/// Parameters of a [`Fifo`](super::Fifo).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FifoConfig {
    /// Bits of an element.
    pub width: usize,
    /// Elements that fit: a power of two, at least 2.
    pub depth: usize,
    /// The kind of the memory.
    pub storage: RamStyle,
    /// When data appears at the output; block RAM needs `Registered`.
    pub output: FifoOutput,
    /// Elements that still fit when `almost_full` rises; less than `depth`.
    pub margin: usize,
}

impl FifoConfig {
    /// A FIFO in distributed RAM with fall-through.
    pub fn distributed(width: usize, depth: usize) -> Self {
        Self {
            width,
            depth,
            storage: RamStyle::Distributed,
            output: FifoOutput::Fallthrough,
            margin: 0,
        }
    }

    /// A FIFO in block RAM.
    pub fn block(width: usize, depth: usize) -> Self {
        Self {
            width,
            depth,
            storage: RamStyle::Block,
            output: FifoOutput::Registered,
            margin: 0,
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

    /// The same with a register at the output.
    #[must_use]
    pub fn registered(self) -> Self {
        Self {
            output: FifoOutput::Registered,
            ..self
        }
    }

    /// The same for a FIFO whose user has a register after it: only block RAM keeps its own.
    #[must_use]
    pub(crate) fn behind_a_register(self) -> Self {
        let output = match self.storage {
            RamStyle::Block => FifoOutput::Registered,
            RamStyle::Distributed => FifoOutput::Fallthrough,
        };
        Self { output, ..self }
    }

    /// The same with `almost_full` rising when `margin` elements still fit.
    #[must_use]
    pub fn with_margin(self, margin: usize) -> Self {
        Self { margin, ..self }
    }

    pub(super) fn check(&self) -> Result<(), ParameterError> {
        WIDTH.check("fifo", self.width)?;
        DEPTH.check("fifo", self.depth)?;
        if self.margin >= self.depth {
            let reason = format!("it must be less than the depth, {}", self.depth);
            return Err(MARGIN.refuse("fifo", self.margin, reason));
        }
        if self.storage == RamStyle::Block && self.output == FifoOutput::Fallthrough {
            let reason = "it must be 1 with block RAM, which reads into a register";
            return Err(REGISTERED.refuse("fifo", 0, reason));
        }
        Ok(())
    }

    /// The part of the module's name after `fifo_`.
    pub(super) fn variant(&self) -> &'static str {
        match (self.storage, self.output) {
            (RamStyle::Block, _) => "block",
            (RamStyle::Distributed, FifoOutput::Fallthrough) => "distributed",
            (RamStyle::Distributed, FifoOutput::Registered) => "distributed_registered",
        }
    }
}
