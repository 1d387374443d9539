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
#[module(width: usize)]
struct Adder {
    /// Words to add.
    words: Stream<{ width }>,
    /// Their sum.
    sum: Wire<Out, { width }>,
    /// The sum is complete.
    done: Wire<Out, bool>,
    /// Current operation.
    #[new(Reg::reset_to(State::Idle))]
    state: Reg<State>,
    /// Sum so far.
    total: Reg<{ width }, Reset>,
    /// The words that came last.
    recent: [Reg<{ width }>; 2],
}

#[kernel(Adder { words, sum, done, state, total, recent })]
fn update() {
    words.ready = state != State::Drain;
    /// A word is taken.
    let take = words.valid && words.ready;
    done = false;
    recent[0] = words.data;
    recent[1] = recent[0];
    /// The machine.
    match state {
        State::Idle => {
            if take {
                total = words.data;
                state = State::Fill;
            }
        }
        State::Fill => {
            if take {
                total = total + words.data;
                if recent[1] == words.data {
                    state = State::Drain;
                }
            }
        }
        State::Drain => {
            done = true;
            state = State::Idle;
        }
    }
    sum = total;
}

/// A memory behind an adder.
#[module(width: usize)]
struct Store {
    words: Stream<{ width }>,
    address: Wire<In, 4>,
    read: Wire<Out, { width }>,
    /// Adds.
    adder: Adder<{ width }>,
    memory: Ram<{ RamStyle::Block }, 16, { width }>,
}

#[kernel(Store { words, address, read, adder, memory })]
fn update() {
    adder.words = words;
    memory.write(adder.done, address, adder.sum);
    memory.read_enable = true;
    memory.read_addr = address + 1;
    read = memory.read_data;
}

/// Selects, replaces and rearranges bits.
#[module(no_clock)]
struct Shuffle {
    a: Wire<In, 64>,
    i: Wire<In, 3>,
    lane: Wire<Out, 8>,
    late: Wire<Out, 16>,
    swapped: Wire<Out, 64>,
    changed: Wire<Out, 64>,
    mask: Wire<Out, 64>,
}

#[kernel(Shuffle { a, i, lane, late, swapped, changed, mask })]
fn update() {
    lane = a.at(cat!(i, lit(0, 3)), 8);
    late = a.at(cat!(i, lit(0, 3)), 16);
    swapped = a.swap_bytes();
    changed = a;
    changed[i.resize(6)] = false;
    mask = a[0].repeat(64) & cat!(i, lit(0x1f, 61));
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
