//! What the stream primitives accept as parameters.

use crate::entry::ParameterError;

/// Widest payload in bits: a beat of 2048 bits with its byte enables and side band.
pub(super) const MAX_WIDTH: usize = 4096;
/// Deepest memory in elements.
pub(super) const MAX_DEPTH: usize = 65536;
/// Most inputs of an arbiter and outputs of a demultiplexer.
pub(super) const MAX_PORTS: usize = 64;

/// The error for a parameter's value.
pub(super) fn refuse(
    block: &str,
    parameter: &str,
    value: usize,
    reason: impl Into<String>,
) -> ParameterError {
    ParameterError {
        block: block.into(),
        parameter: parameter.into(),
        value: value as u64,
        reason: reason.into(),
    }
}

/// A payload has at least one bit.
pub(super) fn check_width(block: &str, width: usize) -> Result<(), ParameterError> {
    if (1..=MAX_WIDTH).contains(&width) {
        return Ok(());
    }
    Err(refuse(
        block,
        "width",
        width,
        format!("it must be from 1 to {MAX_WIDTH} bits"),
    ))
}

/// Pointers wrap at a power of two.
pub(super) fn check_depth(block: &str, depth: usize) -> Result<(), ParameterError> {
    if depth.is_power_of_two() && (2..=MAX_DEPTH).contains(&depth) {
        return Ok(());
    }
    Err(refuse(
        block,
        "depth",
        depth,
        format!("it must be a power of two from 2 to {MAX_DEPTH}"),
    ))
}

/// One port needs neither arbiter nor demultiplexer, but a generator may ask for it.
pub(super) fn check_ports(block: &str, ports: usize) -> Result<(), ParameterError> {
    if (1..=MAX_PORTS).contains(&ports) {
        return Ok(());
    }
    Err(refuse(
        block,
        "ports",
        ports,
        format!("it must be from 1 to {MAX_PORTS}"),
    ))
}
