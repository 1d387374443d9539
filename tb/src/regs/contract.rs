//! What the block promises, clock by clock.

use spinneret_regmap::cl;
use spinneret_regmap::model::{Registers, Response};

/// What the block sees in a clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// The address of a write that is offered.
    pub(super) write_address: Option<u32>,
    /// The data of a write that is offered, with its strobes.
    pub(super) write_data: Option<(u32, u8)>,
    /// A response to a write would be taken.
    pub(super) response_ready: bool,
    /// The address of a read that is offered.
    pub(super) read_address: Option<u32>,
    /// Data of a read would be taken.
    pub(super) data_ready: bool,
    /// The oldest word of standard output.
    pub(super) stdout: Option<u32>,
}

/// Accesses that the block has taken and what has become of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Contract {
    /// Clocks since the reset; the block takes nothing in the first.
    age: u64,
    write_address: Option<u32>,
    write_data: Option<(u32, u8)>,
    /// The answer to a write.
    pub(super) response: Option<Response>,
    read_address: Option<u32>,
    looked: Option<(u32, Response)>,
    /// The answer to a read.
    pub(super) data: Option<(u32, Response)>,
    /// A word of standard output is taken in this clock.
    pub(super) pops: bool,
}

impl Contract {
    /// The block takes the address of a write.
    pub(super) fn write_address_ready(&self) -> bool {
        self.age > 0 && self.write_address.is_none()
    }

    /// The block takes the data of a write.
    pub(super) fn write_data_ready(&self) -> bool {
        self.age > 0 && self.write_data.is_none()
    }

    /// The block takes the address of a read.
    pub(super) fn read_address_ready(&self) -> bool {
        self.age > 0 && self.read_address.is_none()
    }

    /// The word that is looked at in this clock.
    pub(super) fn looks_at(&self) -> Option<u32> {
        self.read_address.filter(|_| self.looked.is_none())
    }

    /// Nothing is inside.
    pub(super) fn is_idle(&self) -> bool {
        let writes = self.write_address.is_none() && self.write_data.is_none() && self.response.is_none();
        let reads = self.read_address.is_none() && self.looked.is_none() && self.data.is_none();
        writes && reads && !self.pops
    }

    /// An edge of the clock, with registers that show what they do in this clock; the address of a write that it did,
    /// and the bits that were written as 1.
    pub(super) fn step(&mut self, seen: &Seen, registers: &mut Registers) -> Option<(u32, u32)> {
        let takes = [
            self.write_address_ready(),
            self.write_data_ready(),
            self.read_address_ready(),
        ];
        // Reads first: a read that looks while a write is done sees the value of before.
        self.step_read(seen, registers);
        let written = self.step_write(seen, registers);
        if takes[0] {
            self.write_address = seen.write_address;
        }
        if takes[1] {
            self.write_data = seen.write_data;
        }
        if takes[2] {
            self.read_address = seen.read_address;
        }
        self.age += 1;
        written
    }

    fn step_read(&mut self, seen: &Seen, registers: &mut Registers) {
        let looks_at = self.looks_at();
        let answered = self.data.is_some();
        if seen.data_ready {
            self.data = None;
        }
        if !answered {
            self.data = self.looked.take();
        }
        self.pops = false;
        if let Some(address) = looks_at {
            registers.offer_stdout(seen.stdout);
            self.looked = Some(registers.read(address));
            self.pops = registers.stdout() != seen.stdout;
            self.read_address = None;
        }
    }

    fn step_write(&mut self, seen: &Seen, registers: &mut Registers) -> Option<(u32, u32)> {
        let answered = self.response.is_some();
        if seen.response_ready {
            self.response = None;
        }
        let (Some(address), Some((data, strobes))) = (self.write_address, self.write_data) else {
            return None;
        };
        if answered {
            return None;
        }
        self.response = Some(registers.write(address, data, strobes));
        (self.write_address, self.write_data) = (None, None);
        let ones = |byte: u32| (data & 0xff << (8 * byte)) * u32::from(strobes >> byte & 1);
        Some((address, (0..4).map(ones).sum()))
    }
}

/// Whether an address is that of standard output.
pub(super) fn is_stdout(address: u32) -> bool {
    address & !3 == cl::FIFO.offset
}
