//! The handler processing unit: the processor that runs handlers.

mod decoder;

pub use decoder::{Decoded, HpuDecoder};

use crate::entry::{Entry, Variant};

/// [`HpuDecoder`].
pub(crate) const DECODER: Entry = Entry::part(
    "hpu_decoder",
    "decodes RV32IMAC, instructions of 16 and 32 bits",
    |_| Vec::new(),
    |_| Ok(Box::new(HpuDecoder::new())),
);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[DECODER.model("hpu_decoder", &[])];
