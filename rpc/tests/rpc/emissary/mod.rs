//! Calls in the encoding of Emissary APIs: literal bytes, the faults of the proposal that ours has not, and arbitrary bytes.

pub(crate) mod calls;
mod refusals;
mod stub;
