//! What the crossings accept, and constants that they share.

use crate::entry::ParameterError;

/// Registers of a synchroniser one behind the other: the first may be undecided for a moment, the second is
/// read a clock later.
pub(super) const STAGES: usize = 2;
/// Widest payload in bits: a beat of 1024 bits with its strobes, id and side band.
pub(super) const MAX_WIDTH: usize = 4096;
/// Fewest places of a queue: with fewer its pointers have no two highest bits to compare.
pub(super) const MIN_DEPTH: usize = 4;
/// Most places of a queue: it is distributed RAM.
pub(super) const MAX_DEPTH: usize = 1024;

/// The error for a parameter's value.
pub(super) fn refuse(block: &str, parameter: &str, value: usize, reason: &str) -> ParameterError {
    ParameterError {
        block: block.into(),
        parameter: parameter.into(),
        value: value as u64,
        reason: reason.into(),
    }
}

/// A payload has at least one bit.
pub(super) fn check_width(block: &str, parameter: &str, width: usize) -> Result<(), ParameterError> {
    if (1..=MAX_WIDTH).contains(&width) {
        return Ok(());
    }
    let reason = format!("it must be from 1 to {MAX_WIDTH} bits");
    Err(refuse(block, parameter, width, &reason))
}

/// Gray pointers wrap at a power of two.
pub(super) fn check_depth(block: &str, depth: usize) -> Result<(), ParameterError> {
    if depth.is_power_of_two() && (MIN_DEPTH..=MAX_DEPTH).contains(&depth) {
        return Ok(());
    }
    let reason = format!("it must be a power of two from {MIN_DEPTH} to {MAX_DEPTH}");
    Err(refuse(block, "depth", depth, &reason))
}

/// An address has 1 to 64 bits.
pub(super) fn check_address(block: &str, address: usize) -> Result<(), ParameterError> {
    if (1..=64).contains(&address) {
        return Ok(());
    }
    Err(refuse(
        block,
        "address_width",
        address,
        "it must be from 1 to 64 bits",
    ))
}

/// A beat is a power of two of bytes.
pub(super) fn check_data(block: &str, data: usize) -> Result<(), ParameterError> {
    if data.is_power_of_two() && (8..=1024).contains(&data) {
        return Ok(());
    }
    let reason = "it must be a power of two from 8 to 1024 bits";
    Err(refuse(block, "data_width", data, reason))
}

/// A user signal has up to 64 bits, or there is none.
pub(super) fn check_user(block: &str, user: usize) -> Result<(), ParameterError> {
    if user <= 64 {
        return Ok(());
    }
    Err(refuse(block, "user_width", user, "it must be from 0 to 64 bits"))
}

/// An id has 1 to 32 bits.
pub(super) fn check_id(block: &str, id: usize) -> Result<(), ParameterError> {
    if (1..=32).contains(&id) {
        return Ok(());
    }
    Err(refuse(block, "id_width", id, "it must be from 1 to 32 bits"))
}
