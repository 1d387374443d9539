//! Limits of the crossings, and constants that they share.

use crate::limits::Limit;
pub(super) use crate::limits::WIDTH;

/// Registers of a synchroniser one after the other: the first may be undecided for a moment, the second is
/// read a clock later.
pub(super) const STAGES: usize = 2;
/// Places of a queue: with fewer its Gray pointers have no two highest bits to compare, and it is distributed RAM.
pub(super) const DEPTH: Limit = Limit::number("depth", [4, 1024], "places, a power of two").power_of_two();
/// An address.
pub(super) const ADDRESS: Limit = Limit::bits("address_width", [1, 64], "width of an address in bits");
/// A beat, a whole number of bytes.
pub(super) const DATA: Limit =
    Limit::bits("data_width", [8, 1024], "width of a beat in bits, a power of two").power_of_two();
/// An id.
pub(super) const ID: Limit = Limit::bits("id_width", [1, 32], "width of an id in bits");
/// Atomic operations.
pub(super) const ATOP: Limit = Limit::number("atop", [0, 1], "1: with atomic operations");
/// The user signals of addresses.
pub(super) const USER: Limit = Limit::bits(
    "user_width",
    [0, 64],
    "width of the user signals of addresses in bits; 0: there are none",
);
