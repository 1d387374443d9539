//! What a hart sees of the world.

use super::Instruction;

/// The privilege of an access, and of a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Privilege {
    /// Handlers run here; the bus decides what they may touch.
    User,
    /// The runtime runs here.
    Machine,
}

/// How much one access moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 8 bits.
    Byte,
    /// 16 bits.
    Half,
    /// 32 bits.
    Word,
}

impl Width {
    /// The number of bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Width::Byte => 1,
            Width::Half => 2,
            Width::Word => 4,
        }
    }
}

/// How an access went, if it was allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The access is done.
    Done {
        /// What was read, in the low bits; zero above the width. The hart ignores it after a store.
        value: u32,
        /// Clocks beyond those of the instruction itself ([`super::Costs`]).
        clocks: u32,
    },
    /// The device does not answer yet. The access must have had no effect: the hart tries the instruction again.
    Wait,
}

/// What a memory makes of reservations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reservations {
    /// It keeps them, as the A extension has it.
    Kept,
    /// It does not know them: `sc.w` always stores, and gives the word that was there.
    Ignored,
    /// `lr.w` and `sc.w` are access faults.
    Refused,
}

/// The access is not allowed, or there is nothing at the address. The hart takes an access fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault;

/// Memories and devices, as one hart sees them.
///
/// Addresses are bytes and data is little-endian. The hart asks only for naturally aligned addresses (and even ones for
/// [`Bus::fetch`]). `who` is the privilege of the access, for protection.
pub trait Bus {
    /// 32 bits of program at an even address. The upper half may be anything if the lower half holds a compressed
    /// instruction; if it holds the beginning of a longer one, both halves must be readable.
    fn fetch(&mut self, address: u32, who: Privilege) -> Result<u32, Fault>;

    /// The instruction at an even address, if the bus remembers it decoded and allows the fetch; else the hart calls
    /// [`Bus::fetch`], and then [`Bus::remember`].
    ///
    /// The default remembers nothing. A bus that wants to be fast has a [`super::DecodeCache`] for each program memory.
    #[inline]
    fn decoded(&self, _address: u32, _who: Privilege) -> Option<&Instruction> {
        None
    }

    /// Takes note of an instruction that was fetched and decoded.
    fn remember(&mut self, _address: u32, _instruction: Instruction) {}

    /// Reads; the value is zero-extended.
    fn load(&mut self, address: u32, width: Width, who: Privilege) -> Result<Access, Fault>;

    /// Writes the low bits of `value`.
    fn store(&mut self, address: u32, width: Width, value: u32, who: Privilege) -> Result<Access, Fault>;

    /// What `lr.w` and `sc.w` do at an address that can be read and written.
    fn reserves(&self, _address: u32) -> Reservations {
        Reservations::Kept
    }

    /// Reads, changes and writes a word in one go: `change` maps the old value to the new one. Gives the old one.
    ///
    /// If the answer is [`Access::Wait`] or a fault, nothing was written.
    fn modify(
        &mut self,
        address: u32,
        who: Privilege,
        change: &mut dyn FnMut(u32) -> u32,
    ) -> Result<Access, Fault>;
}
