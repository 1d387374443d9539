//! Kernels that are executed once: compares their text with models in Rust, and checks the errors of wrong kernels.

use crate::support::Suite;
use num_bigint::BigUint;
use spinneret_verilog::generate;
use spinneret_verilog::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum Unit {
    Alu,
    Load,
    Store,
    Branch,
}

/// One line of the table of instructions: pattern, unit, and how its immediate is made.
type Row = (&'static str, Unit, fn(Sig) -> Sig);

#[kernel]
fn immediate_i(word: Sig) -> Sig {
    word.slice(20, 12).sign_extend(32)
}

#[kernel]
fn immediate_s(word: Sig) -> Sig {
    cat!(word.slice(25, 7), word.slice(7, 5)).sign_extend(32)
}

#[kernel]
fn immediate_b(word: Sig) -> Sig {
    cat!(word[31], word[7], word[25..31], word[8..12], lit(0, 1)).sign_extend(32)
}

#[kernel]
fn no_immediate(_: Sig) -> Sig {
    constant(lit(0, 32))
}

/// Instructions, as a decoder and a simulator would share them.
const TABLE: [Row; 5] = [
    ("????????????_?????_???_?????_0010011", Unit::Alu, immediate_i),
    ("0?00000_?????_?????_???_?????_0110011", Unit::Alu, no_immediate),
    ("????????????_?????_010_?????_0000011", Unit::Load, immediate_i),
    ("???????_?????_?????_010_?????_0100011", Unit::Store, immediate_s),
    ("???????_?????_?????_???_?????_1100011", Unit::Branch, immediate_b),
];

/// Decodes some of RV32I by a table.
#[module(no_clock)]
struct Decoder {
    word: Wire<In, 32>,
    unit: Wire<Out, 2>,
    immediate: Wire<Out, 32>,
    legal: Wire<Out, bool>,
    writes: Wire<Out, bool>,
    cost: Wire<Out, 4>,
}

#[kernel(Decoder { word, unit, immediate, legal, writes, cost })]
fn update() {
    let hits = word_of(TABLE.iter().map(|(pattern, ..)| word.fits(pattern)));
    legal = word.fits_any(TABLE.iter().map(|(pattern, ..)| *pattern));
    let choices: Vec<_> = TABLE
        .iter()
        .enumerate()
        .map(|(row, (_, _, make))| (hits[row], make(word)))
        .collect();
    immediate = first(&choices, constant(lit(0, 32)));
    let units: Vec<_> = TABLE
        .iter()
        .enumerate()
        .map(|(row, (_, unit, _))| (hits[row], constant(lit(*unit as u64, 2))))
        .collect();
    let chosen = first(&units, constant(lit(0, 2)));
    unit = chosen;
    writes = match chosen {
        0 | 1 => legal,
        _ => false,
    };
    cost = match (word[2], word.slice(12, 3)) {
        (true, 0b101) => 3,
        (true, _) => 2,
        (false, 1..=3) => 4,
        _ => constant(lit(9, 4)),
    };
}

fn decoded(inputs: &[BigUint]) -> [u64; 5] {
    let word = inputs[0].iter_u32_digits().next().unwrap_or(0);
    let sign = |value: u32, bits: u32| (((value << (32 - bits)) as i32) >> (32 - bits)) as u32;
    let i = sign(word >> 20, 12);
    let s = sign((word >> 25 << 5) | (word >> 7 & 31), 12);
    let b = sign(
        (word >> 31 << 12) | ((word >> 7 & 1) << 11) | ((word >> 25 & 63) << 5) | ((word >> 8 & 15) << 1),
        13,
    );
    let f3 = word >> 12 & 7;
    let (legal, unit, immediate) = match (word & 0x7f, f3) {
        (0b0010011, _) => (1, 0, i),
        (0b0110011, _) if word >> 25 & 0b101_1111 == 0 => (1, 0, 0),
        (0b0000011, 2) => (1, 1, i),
        (0b0100011, 2) => (1, 2, s),
        (0b1100011, _) => (1, 3, b),
        _ => (0, 0, 0),
    };
    let cost = match (word >> 2 & 1, f3) {
        (1, 5) => 3,
        (1, _) => 2,
        (_, 1..=3) => 4,
        _ => 9,
    };
    [
        unit,
        u64::from(immediate),
        legal,
        u64::from(legal == 1 && unit < 2),
        cost,
    ]
}

/// A request as it waits.
#[record(width: usize)]
struct Request {
    /// Where.
    address: Field<{ width }>,
    /// It is a write.
    is_write: Field<1>,
}

/// A machine of states, registers, a record, functions and arrays.
#[module(width: usize, request: Request = Request::new(width))]
struct Machine {
    go: Wire<In, bool>,
    data: [Wire<In, { width }>; 3],
    index: Wire<In, 2>,
    out: Wire<Out, { width }>,
    flags: Wire<Out, 4>,
    state: Wire<Out, 2>,
    #[new(Reg::reset_to(Unit::Alu))]
    unit: Reg<Unit>,
    held: Reg<{ request.width }, Reset>,
    slots: [Reg<{ width }, Reset>; 3],
}

/// The larger of two.
#[kernel]
fn most(a: Sig, b: Sig) -> Sig {
    if a > b { a } else { b }
}

#[kernel(Machine { go, data, index, out, flags, state, unit, held, slots, width, request }, suffix = self._width)]
fn update() {
    let top = data.iter().copied().reduce(most).expect("three inputs");
    /// Each state follows the one before.
    match unit {
        Unit::Alu => {
            if go {
                unit = Unit::Load;
                held = pack!(request {
                    address: top,
                    is_write: index[0]
                });
            }
        }
        Unit::Load | Unit::Store => unit = Unit::Branch,
        Unit::Branch => {
            unit = if held.flag(request.is_write) {
                Unit::Store
            } else {
                Unit::Alu
            };
            held.field(request.address) = held.field(request.address) + 1;
        }
    }
    for (number, slot) in slots.iter().enumerate() {
        if index == number && go {
            *slot = most(*slot, top);
        }
    }
    let mut sum = constant(lit(0, width));
    for slot in &slots {
        sum = sum + *slot;
    }
    let parity = sum.parity();
    out = if held.flag(request.is_write) {
        sum
    } else {
        held.field(request.address)
    };
    flags = cat!(
        reg_reset(go, true),
        parity,
        sum.signed() < top.signed(),
        (sum >> 1usize) == (top << 1usize)
    );
    state = unit.word();
}

/// A model of the machine: state, held address and flag, slots and the register after the flags.
#[derive(Clone)]
struct Model {
    width: u64,
    unit: u64,
    address: u64,
    is_write: bool,
    slots: [u64; 3],
    went: bool,
}

impl Model {
    fn outputs_and_step(&mut self, inputs: &[BigUint]) -> [u64; 3] {
        let number = |at: usize| inputs[at].iter_u64_digits().next().unwrap_or(0);
        // rst, go, data, index
        let (rst, go, index) = (number(0) == 1, number(1) == 1, number(5));
        let mask = (1 << self.width) - 1;
        let top = number(2).max(number(3)).max(number(4));
        let sum = self.slots.iter().sum::<u64>() & mask;
        let signed = |value: u64| ((value << (64 - self.width)) as i64) >> (64 - self.width);
        let flags = u64::from(self.went) << 3
            | u64::from(sum.count_ones() % 2 == 1) << 2
            | u64::from(signed(sum) < signed(top)) << 1
            | u64::from(sum >> 1 == (top << 1 & mask));
        let outputs = [if self.is_write { sum } else { self.address }, flags, self.unit];
        if rst {
            *self = Self {
                width: self.width,
                unit: 0,
                address: 0,
                is_write: false,
                slots: [0; 3],
                went: true,
            };
            return outputs;
        }
        self.went = go;
        for (slot, held) in self.slots.iter_mut().enumerate() {
            if go && index == slot as u64 {
                *held = (*held).max(top);
            }
        }
        match self.unit {
            0 if go => (self.unit, self.address, self.is_write) = (1, top, index & 1 == 1),
            0 => {}
            1 | 2 => self.unit = 3,
            _ => {
                self.unit = if self.is_write { 2 } else { 0 };
                self.address = (self.address + 1) & mask;
            }
        }
        outputs
    }
}

#[test]
fn kernels_do_what_their_models_do() {
    let mut suite = Suite::default();
    suite.model("decoder", &Decoder::new(), false, |inputs| {
        decoded(inputs).map(BigUint::from).to_vec()
    });
    for width in [5, 16] {
        let mut model = Model {
            width,
            unit: 0,
            address: 0,
            is_write: false,
            slots: [0; 3],
            went: true,
        };
        suite.model(
            &format!("machine_top_{width}"),
            &Machine::new(width as usize),
            true,
            move |inputs| model.outputs_and_step(inputs).map(BigUint::from).to_vec(),
        );
    }
    suite.check();
}

/// Delays a bit.
#[module]
struct Delay {
    d: Wire<In, bool>,
    q: Wire<Out, bool>,
    r: Reg<bool, Reset>,
}

#[kernel(Delay)]
fn update() {
    r = d;
    q = r;
}

/// Delays the bits of a word, each by a part of its own.
#[module(count: usize)]
struct Delays {
    d: Wire<In, { count }>,
    q: Wire<Out, { count }>,
    bits: [Delay; count],
}

#[kernel(Delays, suffix = count)]
fn update() {
    for (number, bit) in bits.iter().enumerate() {
        bit.d = !d[number];
    }
    q = word_of(bits.iter().map(|bit| bit.q));
}

#[test]
fn many_equal_instances_are_a_loop() {
    let text = |count| {
        generate(&Delays::new(count), "delays").map_or_else(|error| error.to_string(), |design| design.text())
    };
    assert!(text(8).contains("for (genvar i = 0; i < 8; i++) begin : g_bits"));
    assert!(text(8).contains("delay u_bits ("));
    assert!(text(7).contains("delay u_bits_6 ("));
    let mut suite = Suite::default();
    let mut held = 0_u64;
    suite.model("delays_9", &Delays::new(9), true, move |inputs| {
        // rst, d
        let number = |at: usize| inputs[at].iter_u64_digits().next().unwrap_or(0);
        let outputs = vec![BigUint::from(held)];
        held = if number(0) == 1 { 0 } else { !number(1) & 0x1ff };
        outputs
    });
    suite.check();
}

#[test]
fn text() {
    let text = |block: &dyn Block, name: &str| {
        generate(block, name)
            .map(|design| design.text())
            .unwrap_or_else(|error| error.to_string())
    };
    insta::assert_snapshot!("machine", text(&Machine::new(8), "machine"));
    insta::assert_snapshot!("decoder", text(&Decoder::new(), "decoder"));
}

macro_rules! wrong {
    ($($name:ident $pattern:tt $body:block)+) => {
        $(
            mod $name {
                use super::*;
                /// A block with a mistake.
                #[module(width: usize)]
                pub(super) struct Wrong {
                    a: Wire<In, { width }>,
                    b: Wire<In, 4>,
                    c: Wire<In, bool>,
                    y: Wire<Out, { width }>,
                    q: Wire<Out, bool>,
                    r: Reg<{ width }>,
                }
                #[kernel(Wrong $pattern)]
                fn update() $body
            }
        )+
        #[test]
        fn messages() {
            let mut told = Vec::new();
            $(
                let error = generate(&$name::Wrong::new(8), "top").expect_err(stringify!($name)).to_string();
                told.push(format!("{}: {}", stringify!($name), without_line(&error)));
            )+
            insta::assert_snapshot!("kernel_messages", told.join("\n"));
        }
    };
}

/// Lines of this file move.
fn without_line(error: &str) -> String {
    match error.rsplit_once(".rs:") {
        Some((text, _)) => format!("{text}.rs:N)"),
        None => error.to_owned(),
    }
}

wrong! {
    widths { a, b, c, y, q, r } { y = a + b; q = c; r = a; }
    width_of_an_assignment { a, b, c, y, q, r } { y = b; q = c; r = a; }
    a_number_that_does_not_fit { a, b, c, y, q, r } { y = a + 256; q = c; r = a; }
    a_negative_number { a, b, c, y, q, r } { y = a + -1; q = c; r = a; }
    bits_beyond_the_end { a, b, c, y, q, r } { y = a; q = a[8]; r = a; }
    an_input_is_assigned { a, b, c, y, q, r } { a = r; y = r; q = c; r = y; }
    an_expression_is_assigned { a, b, c, y, q, r } { a + r = r; y = r; q = c; }
    assigned_after_it_was_read { a, b, c, y, q, r } { y = a; q = y[0]; if c { y = r; } r = a; }
    a_latch { a, b, c, y, q, r } { if c { y = a; } q = c; r = a; }
    nothing_drives_it { a, b, c, y, q, r } { q = c; r = a; }
    a_signal_that_needs_itself { a, b, c, y, q, r } {
        let (first, second) = (wire_bit(), wire_bit());
        first = second & c;
        second = first | c;
        q = first;
        y = a;
        r = a;
    }
    a_word_as_a_condition { a, b, c, y, q, r } { if a { r = a; } y = a; q = c; }
    a_variable_of_the_generator { a, b, c, y, q, r } {
        let mut last = a;
        if c { last = r; }
        y = last;
        q = c;
        r = a;
    }
    a_number_that_depends_on_a_signal { a, b, c, y, q, r } {
        let places: usize = if c { 1 } else { 2 };
        y = a << places;
        q = c;
        r = a;
    }
    arms_leave_values_out { a, b, c, y, q, r } {
        match b { 0 => r = a, 1 => {} }
        y = a;
        q = c;
    }
    a_pattern_of_another_width { a, b, c, y, q, r } { q = b.fits("01?"); y = a; r = a; }
}

/// Blocks with two clocks, each with a register that looks at one of the other clock.
macro_rules! crossings {
    ($($name:ident $pattern:tt $ask:expr; $body:block)+) => {$(
        mod $name {
            use super::*;
            /// A bit from one clock to another.
            #[module(no_clock)]
            pub(super) struct Crossing {
                near_clk: Signal<In, Clock>,
                near_rst: Wire<In, bool>,
                far_clk: Signal<In, Clock>,
                seen: Wire<Out, bool>,
                #[clock(near_clk, near_rst)]
                #[new($ask)]
                ask: Reg<bool>,
                #[clock(far_clk)]
                #[new(Reg::bit().with(RegAttribute::AsyncReg))]
                stage: [Reg<bool>; 2],
            }
            #[kernel(Crossing $pattern)]
            fn update() $body
        }
    )+};
}

crossings! {
    direct { seen, ask, stage } Reg::bit_reset().with(RegAttribute::DontTouch); {
        ask = !ask;
        stage[0] = ask;
        stage[1] = stage[0];
        seen = stage[1];
    }
    unmarked { seen, ask, stage } Reg::bit_reset(); {
        ask = !ask;
        stage[0] = ask;
        stage[1] = stage[0];
        seen = stage[1];
    }
    logic { seen, ask, stage } Reg::bit_reset().with(RegAttribute::DontTouch); {
        ask = !ask;
        let quiet = !ask;
        stage[0] = quiet;
        stage[1] = stage[0];
        seen = stage[1];
    }
    condition { seen, ask, stage } Reg::bit_reset().with(RegAttribute::DontTouch); {
        ask = !ask;
        if ask {
            stage[0] = true;
        }
        stage[1] = stage[0];
        seen = stage[1];
    }
}

#[test]
fn registers_and_parts_have_the_clock_above_them() {
    let text = generate(&direct::Crossing::new(), "crossing")
        .map(|design| design.text())
        .unwrap_or_else(|error| error.to_string());
    for block in [
        "    always_ff @(posedge near_clk) begin\n        ask <= !ask;\n        if (near_rst) begin\n            ask <= 1'b0;\n",
        "    always_ff @(posedge far_clk) begin\n        stage_0 <= ask;\n        stage_1 <= stage_0;\n    end\n",
    ] {
        assert!(text.contains(block), "{text}");
    }
}

#[test]
fn only_a_marked_register_crosses_to_another_clock_and_as_it_is() {
    let blocks: [(&str, &dyn Block); 3] = [
        ("unmarked", &unmarked::Crossing::new()),
        ("logic", &logic::Crossing::new()),
        ("condition", &condition::Crossing::new()),
    ];
    for (name, block) in blocks {
        let error = generate(block, "top").expect_err(name).to_string();
        let expected = "top: the register `stage.0` reads `ask`, which is on another clock: ";
        assert!(error.starts_with(expected), "{name}: {error}");
    }
}

/// Registers that are one and the same.
#[module]
struct Cloned {
    y: Wire<Out, bool>,
    #[new(vec![Reg::bit(); 2])]
    parts: Vec<Reg<bool>>,
}

#[kernel(Cloned { y, parts })]
fn update() {
    parts[0] = parts[1];
    y = parts[0];
}

#[test]
fn a_clone_is_no_second_register() {
    let error = generate(&Cloned::new(), "top").expect_err("a clone").to_string();
    assert!(error.starts_with("top: `parts.1."), "{error}");
}

/// A channel, the payload of which is a word in a queue.
#[interface(ChannelIn, width: usize)]
struct ChannelOut {
    id: Wire<Out, { width }>,
    last: Wire<Out, bool>,
    valid: Wire<Out, bool>,
    ready: Wire<In, bool>,
}

/// Packs a channel, and unpacks it.
#[module(no_clock, width: usize)]
struct Packs {
    s: ChannelIn<{ width }>,
    m: ChannelOut<{ width }>,
}

#[kernel(Packs { s, m })]
fn update() {
    m.unpack(s.pack());
    m.handshake() = s.handshake();
}

#[test]
fn a_handshake_is_joined_without_its_payload() {
    let text = generate(&Packs::new(4), "packs")
        .map(|design| design.text())
        .unwrap_or_else(|error| error.to_string());
    for line in [
        "assign m_id = s_id;",
        "assign m_valid = s_valid;",
        "assign s_ready = m_ready;",
    ] {
        assert!(text.contains(line), "{text}");
    }
}
