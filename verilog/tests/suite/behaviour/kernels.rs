//! Kernels of this crate's own language, and bodies given as Verilog, against Icarus Verilog and Verilator.

use spinneret_verilog::prelude::*;

use crate::case;
use crate::support::Suite;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum Phase {
    Idle,
    Busy,
    Flush,
}

/// Operators of words whose widths are run-time numbers.
#[derive(LogicBlock, Describe, Debug)]
struct Words {
    a: Wire<In>,
    b: Wire<In>,
    n: Wire<In>,
    flag: Wire<In, Bit>,
    product: Wire<Out>,
    triple: Wire<Out>,
    shifted: Wire<Out>,
    joined: Wire<Out>,
    swapped: Wire<Out>,
    filled: Wire<Out>,
    part: Wire<Out>,
    flags: Wire<Out>,
    constant: Wire<Out>,
}

impl Words {
    fn new(width: usize) -> Self {
        Self {
            a: Wire::word(width),
            b: Wire::word(width),
            n: Wire::word(5),
            flag: Wire::bit(),
            product: Wire::word(width),
            triple: Wire::word(width),
            shifted: Wire::word(width),
            joined: Wire::word(2 * width + 1),
            swapped: Wire::word(16),
            filled: Wire::word(width),
            part: Wire::word(8),
            flags: Wire::word(5),
            constant: Wire::word(200),
        }
    }
}

impl Logic for Words {
    #[kernel]
    fn update(&mut self) {
        let wide = (Word::ones(180).resize(200) << 11u64) | Word::new(5, 200);
        self.product.next = self.a.val() * self.b.val();
        self.triple.next = self.a.val() * 3 - self.b.val();
        self.shifted.next = (self.a.val() << self.n.val()) | (self.b.val() >> self.n.val());
        self.joined.next = cat!(
            self.b.val(),
            self.flag.val(),
            self.n.val().slice(1, 0),
            self.a.val()
        );
        self.swapped.next = self.a.val().slice(0, 16).swap_bytes();
        self.filled.next = self.a.val() & fill(self.flag.val(), self.a.width());
        self.part.next = self.a.val().slice(self.n.val().index(), 8);
        self.flags.next = 0.into();
        self.flags.next.set_bit(0, self.a.val().any());
        self.flags.next.set_bit(1, self.a.val() < self.b.val());
        self.flags.next.set_bit(2, self.a.val() + 1 == self.b.val());
        self.flags.next.set_slice(3, 2, self.n.val().slice(1, 2));
        self.constant.next = wide;
    }
}

/// A state machine with registers that have a reset, and one that has none.
#[derive(LogicBlock, Describe, Debug)]
struct Transfer {
    clk: Signal<In, Clock>,
    rst: Wire<In, Bit>,
    start: Wire<In, Bit>,
    data: Wire<In>,
    busy: Wire<Out, Bit>,
    sum: Wire<Out>,
    last: Wire<Out>,
    phase: Reg<Phase>,
    total: Reg,
    hold: Reg,
    odd: Reg<Bit>,
    recent: Vec<Reg>,
}

impl Transfer {
    fn new(width: usize) -> Self {
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            start: Wire::bit(),
            data: Wire::word(width),
            busy: Wire::bit(),
            sum: Wire::word(width),
            last: Wire::word(width),
            phase: Reg::reset_to(Phase::Flush),
            total: Reg::reset_to(Word::new(7, width)),
            hold: Reg::word_reset(width),
            odd: Reg::reset_to(true),
            recent: (0..3).map(|_| Reg::word_reset(width)).collect(),
        }
    }
}

impl Logic for Transfer {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.phase, self.total, self.hold, self.odd, self.recent);
        self.busy.next = true;
        /// The machine.
        match self.phase.q.val() {
            Phase::Idle => {
                self.busy.next = false;
                if self.start.val() {
                    self.phase.d.next = Phase::Busy;
                    self.total.d.next = self.data.val();
                }
            }
            Phase::Busy => {
                self.total.d.next = self.total.q.val() + self.data.val();
                if self.data.val().all() {
                    self.phase.d.next = Phase::Flush;
                }
            }
            _ => {
                self.phase.d.next = Phase::Idle;
            }
        }
        if self.start.val() {
            if self.data.val().any() {
                self.hold.d.next = self.hold.q.val();
            } else {
                self.hold.d.next = self.total.q.val();
            }
            self.odd.d.next = !self.odd.q.val();
        }
        self.recent[0].d.next = self.data.val();
        for i in 1..self.recent.len() {
            self.recent[i].d.next = self.recent[i - 1].q.val();
        }
        self.sum.next = self.total.q.val();
        self.last.next = self.hold.q.val() ^ self.recent[2].q.val();
        if self.odd.q.val() {
            self.last.next = !self.hold.q.val();
        }
    }
}

/// A memory of each style.
#[derive(LogicBlock, Describe, Debug)]
struct Memories {
    clk: Signal<In, Clock>,
    address: Wire<In>,
    write: Wire<In, Bit>,
    data: Wire<In>,
    read: Wire<Out>,
    now: Wire<Out>,
    filling: Reg,
    seen: Reg<Bit>,
    ready: Wire<Local, Bit>,
    block: Ram,
    distributed: Ram,
}

impl Memories {
    fn new(depth: usize, width: usize) -> Self {
        let address = address_width(depth);
        Self {
            clk: Signal::default(),
            address: Wire::word(address),
            write: Wire::bit(),
            data: Wire::word(width),
            read: Wire::word(width),
            now: Wire::word(width),
            filling: Reg::word_reset(address + 1),
            seen: Reg::bit_reset(),
            ready: Wire::bit(),
            block: Ram::new(RamStyle::Block, depth, width),
            distributed: Ram::new(RamStyle::Distributed, depth, width),
        }
    }
}

impl Logic for Memories {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk => self.block, self.distributed);
        self.filling.clock.next = self.clk.val();
        self.filling.reset.next = false;
        self.seen.clock.next = self.clk.val();
        self.seen.reset.next = false;
        self.ready.next = self.filling.q.val().get_bit(self.address.width());
        self.seen.d.next = self.ready.val();
        self.filling.d.next = self.filling.q.val();
        self.block.write_enable.next = self.write.val();
        self.block.write_addr.next = self.address.val();
        self.block.write_data.next = self.data.val();
        self.distributed.write_enable.next = self.write.val();
        self.distributed.write_addr.next = self.address.val();
        self.distributed.write_data.next = self.data.val();
        self.block.read_enable.next = self.ready.val();
        self.block.read_addr.next = self.address.val();
        self.distributed.read_addr.next = self.address.val();
        self.read.next = 0.into();
        self.now.next = 0.into();
        if self.seen.q.val() {
            self.read.next = self.block.read_data.val();
        }
        if !self.ready.val() {
            // The contents are undefined at power-up, so every word is written before any is read.
            self.filling.d.next = self.filling.q.val() + 1;
            self.block.write_enable.next = true;
            self.block.write_addr.next = self.filling.q.val().resize(self.address.width());
            self.distributed.write_enable.next = true;
            self.distributed.write_addr.next = self.filling.q.val().resize(self.address.width());
        } else {
            self.now.next = self.distributed.read_data.val();
        }
    }
}

/// A memory whose bytes are written one by one.
#[derive(LogicBlock, Describe, Debug)]
struct ByteMemory {
    clk: Signal<In, Clock>,
    enables: Wire<In>,
    write_address: Wire<In>,
    data: Wire<In>,
    read_address: Wire<In>,
    take: Wire<In, Bit>,
    read: Wire<Out>,
    filling: Reg,
    seen: Reg<Bit>,
    ready: Wire<Local, Bit>,
    memory: ByteRam,
}

impl ByteMemory {
    fn new(depth: usize, bytes: usize) -> Self {
        let address = address_width(depth);
        Self {
            clk: Signal::default(),
            enables: Wire::word(bytes),
            write_address: Wire::word(address),
            data: Wire::word(8 * bytes),
            read_address: Wire::word(address),
            take: Wire::bit(),
            read: Wire::word(8 * bytes),
            filling: Reg::word_reset(address + 1),
            seen: Reg::bit_reset(),
            ready: Wire::bit(),
            memory: ByteRam::new(depth, bytes),
        }
    }
}

impl Logic for ByteMemory {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk => self.memory);
        self.filling.clock.next = self.clk.val();
        self.filling.reset.next = false;
        self.seen.clock.next = self.clk.val();
        self.seen.reset.next = false;
        self.ready.next = self.filling.q.val().get_bit(self.read_address.width());
        self.seen.d.next = self.seen.q.val() || (self.ready.val() && self.take.val());
        self.filling.d.next = self.filling.q.val();
        self.memory.write_enable.next = self.enables.val();
        self.memory.write_addr.next = self.write_address.val();
        self.memory.write_data.next = self.data.val();
        self.memory.read_enable.next = self.ready.val() && self.take.val();
        self.memory.read_addr.next = self.read_address.val();
        self.read.next = 0.into();
        if self.seen.q.val() {
            self.read.next = self.memory.read_data.val();
        }
        if !self.ready.val() {
            // As above: every word is written before any is read.
            self.filling.d.next = self.filling.q.val() + 1;
            self.memory.write_enable.next = fill(true, self.enables.width());
            self.memory.write_addr.next = self.filling.q.val().resize(self.read_address.width());
        }
    }
}

/// Adds the blocks of this file.
pub(crate) fn add_to(suite: &mut Suite) {
    case!(suite, "words_24", Words::new(24), [a, b, n, flag]);
    case!(suite, "words_16", Words::new(16), [a, b, n, flag]);
    case!(suite, "words_67", Words::new(67), [a, b, n, flag]);
    case!(suite, "transfer_3", Transfer::new(3), [rst, start, data], clk);
    case!(suite, "transfer_40", Transfer::new(40), [rst, start, data], clk);
    case!(
        suite,
        "memories",
        Memories::new(16, 9),
        [address, write, data],
        clk
    );
    case!(
        suite,
        "byte_memory_3",
        ByteMemory::new(4, 3),
        [enables, write_address, data, read_address, take],
        clk
    );
    case!(
        suite,
        "byte_memory_1",
        ByteMemory::new(2, 1),
        [enables, write_address, data, read_address, take],
        clk
    );
}
