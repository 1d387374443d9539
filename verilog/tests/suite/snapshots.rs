//! The text of a handful of small modules, to be read by people.

use spinneret_verilog::prelude::*;
use spinneret_verilog::{Library, Parameter, TopOptions, generate};

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum State {
    Idle,
    Fill,
    Drain,
}

/// A stream of words.
#[interface(width: usize)]
struct Stream {
    data: Wire<In, { width }>,
    valid: Wire<In, bool>,
    ready: Wire<Out, bool>,
}

/// Adds what comes in.
///
/// One word a cycle; a full sum starts again.
#[derive(LogicBlock, Describe, Debug)]
struct Adder {
    /// Clock.
    clk: Signal<In, Clock>,
    /// Synchronous reset.
    rst: Wire<In, Bit>,
    /// Words to add.
    words: Stream,
    /// Their sum.
    sum: Wire<Out>,
    /// The sum is complete.
    done: Wire<Out, Bit>,
    /// A word is taken.
    take: Wire<Local, Bit>,
    /// What is being done.
    state: Reg<State>,
    /// Sum so far.
    total: Reg,
    /// The words that came last.
    recent: Vec<Reg>,
}

impl Adder {
    fn new(width: usize) -> Self {
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            words: Stream::new(width),
            sum: Wire::word(width),
            done: Wire::bit(),
            take: Wire::bit(),
            state: Reg::reset_to(State::Idle),
            total: Reg::word_reset(width),
            recent: (0..2).map(|_| Reg::word(width)).collect(),
        }
    }
}

impl Logic for Adder {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.state, self.total, self.recent);
        self.words.ready.next = self.state.q.val() != State::Drain;
        self.take.next = self.words.valid.val() && self.state.q.val() != State::Drain;
        self.done.next = false;
        self.recent[0].d.next = self.words.data.val();
        self.recent[1].d.next = self.recent[0].q.val();
        /// The machine.
        match self.state.q.val() {
            State::Idle => {
                if self.take.val() {
                    self.total.d.next = self.words.data.val();
                    self.state.d.next = State::Fill;
                }
            }
            State::Fill => {
                if self.take.val() {
                    self.total.d.next = self.total.q.val() + self.words.data.val();
                    if self.recent[1].q.val() == self.words.data.val() {
                        self.state.d.next = State::Drain;
                    }
                }
            }
            State::Drain => {
                self.done.next = true;
                self.state.d.next = State::Idle;
            }
        }
        self.sum.next = self.total.q.val();
    }
}

/// A memory behind an adder.
#[derive(LogicBlock, Describe, Debug)]
struct Store {
    clk: Signal<In, Clock>,
    rst: Wire<In, Bit>,
    words: Stream,
    address: Wire<In>,
    read: Wire<Out>,
    /// Adds.
    adder: Adder,
    memory: Ram,
}

impl Store {
    fn new(width: usize) -> Self {
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            words: Stream::new(width),
            address: Wire::word(4),
            read: Wire::word(width),
            adder: Adder::new(width),
            memory: Ram::new(RamStyle::Block, 16, width),
        }
    }
}

impl Logic for Store {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.memory);
        self.adder.clk.next = self.clk.val();
        self.adder.rst.next = self.rst.val();
        connect!(self.words => self.adder.words);
        self.memory.write_enable.next = self.adder.done.val();
        self.memory.write_addr.next = self.address.val();
        self.memory.write_data.next = self.adder.sum.val();
        self.memory.read_enable.next = true;
        self.memory.read_addr.next = self.address.val() + 1;
        self.read.next = self.memory.read_data.val();
    }
}

/// Selects, replaces and rearranges bits.
#[derive(LogicBlock, Describe, Debug)]
struct Shuffle {
    a: Wire<In>,
    i: Wire<In>,
    lane: Wire<Out>,
    late: Wire<Out>,
    swapped: Wire<Out>,
    changed: Wire<Out>,
    mask: Wire<Out>,
}

impl Shuffle {
    fn new() -> Self {
        Self {
            a: Wire::word(64),
            i: Wire::word(3),
            lane: Wire::word(8),
            late: Wire::word(16),
            swapped: Wire::word(64),
            changed: Wire::word(64),
            mask: Wire::word(64),
        }
    }
}

impl Logic for Shuffle {
    #[kernel]
    fn update(&mut self) {
        self.lane.next = self.a.val().slice(self.i.val().resize(6).index() * 8, 8);
        self.late.next = self.a.val().slice(self.i.val().resize(6).index() * 8, 16);
        self.swapped.next = self.a.val().swap_bytes();
        self.changed.next = self.a.val();
        self.changed.next.set_bit(self.i.val().resize(6).index(), false);
        self.mask.next = fill(self.a.val().get_bit(0), 64) & cat!(self.i.val(), lit(0x1f, 61));
    }
}

#[test]
fn a_state_machine_with_registers() {
    insta::assert_snapshot!(generate(&Adder::new(16), "adder").expect("a design").text());
}

#[test]
fn a_block_of_blocks_with_parameters() {
    let parameters = vec![Parameter {
        name: "WIDTH".into(),
        value: 8,
        doc: "Bits of a word.".into(),
    }];
    let design = Library::new()
        .add(&Store::new(8), "store", &TopOptions { parameters })
        .expect("a design");
    insta::assert_snapshot!(design.text());
}

#[test]
fn selections_of_bits() {
    insta::assert_snapshot!(generate(&Shuffle::new(), "shuffle").expect("a design").text());
}
