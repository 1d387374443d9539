//! The memory of the stand-in, and whose turn it is.

use super::shape::{DATA, STROBES, StubShape};
use crate::stream::StreamIn;
use spinneret_verilog::prelude::*;

/// Users of the memory: the three slaves, and the operations on HERs.
pub(super) const USERS: usize = 4;
/// Bits of the number of a user.
const USER_BITS: usize = USERS.trailing_zeros() as usize;

/// Chooses one of the requesting users, in rotation; combinational except for the last choice.
#[hardware]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct RoundRobin {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Bit n: user n asks.
    pub asks: Wire<In, { USERS }>,
    /// Bit n: user n is chosen.
    pub chosen: Wire<Out, { USERS }>,
    /// The last choice.
    last: Reg<{ USER_BITS }, Reset>,
    next: Wire<Local, { USER_BITS }>,
}

impl Logic for RoundRobin {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.last);
        self.next.next = self.last.q.val();
        self.chosen.next = 0.into();
        for last in 0..USERS {
            if self.last.q.val() == last as u64 {
                /// The first after the last one goes first.
                for ahead in (1..=USERS).rev() {
                    let user = (last + ahead) % USERS;
                    if self.asks.val().get_bit(user) {
                        self.next.next = (user as u64).into();
                        self.chosen.next = (1 << user).into();
                    }
                }
            }
        }
        self.last.d.next = self.next.val();
    }
}

/// One line is written and one is read in a clock, in rotation of the users.
///
/// Data is there in the next clock, for one clock. A read of a line that is written in the same clock returns
/// what was there before.
#[hardware(shape: StubShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct StubMemory {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Writes of the users: {line, strobes, data}.
    pub write: [StreamIn<{ shape.write() }>; USERS],
    /// Reads of the users: line.
    pub read: [StreamIn<{ shape.line() }>; USERS],
    /// The line that was read in the clock before.
    pub data: Wire<Out, { DATA }>,
    writers: RoundRobin,
    readers: RoundRobin,
    written: Wire<Local, { shape.write() }>,
    wanted: Wire<Local, { shape.line() }>,
    ram: ByteRam<{ shape.lines() }, { STROBES }>,
}

impl Logic for StubMemory {
    #[kernel(suffix = self._shape.lines())]
    fn update(&mut self) {
        let line = self._shape.line();
        clocked!(self.clk, self.rst => self.writers, self.readers);
        clocked!(self.clk => self.ram);
        self.written.next = Word::zero(self.written.width());
        self.wanted.next = 0.into();
        for user in 0..USERS {
            self.writers.asks.next.set_bit(user, self.write[user].valid.val());
            self.readers.asks.next.set_bit(user, self.read[user].valid.val());
            self.write[user].ready.next = self.writers.chosen.val().get_bit(user);
            self.read[user].ready.next = self.readers.chosen.val().get_bit(user);
            if self.writers.chosen.val().get_bit(user) {
                self.written.next = self.write[user].data.val();
            }
            if self.readers.chosen.val().get_bit(user) {
                self.wanted.next = self.read[user].data.val();
            }
        }
        self.ram.write_data.next = self.written.val().slice(0, DATA);
        self.ram.write_enable.next = self.written.val().slice(DATA, STROBES);
        self.ram.write_addr.next = self.written.val().slice(DATA + STROBES, line);
        self.ram.read_enable.next = self.readers.chosen.val().any();
        self.ram.read_addr.next = self.wanted.val();
        self.data.next = self.ram.read_data.val();
    }
}
