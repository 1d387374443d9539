//! Random kernels: what their trees do against their text in Icarus Verilog and Verilator.
//!
//! `SPINNERET_SEED` and `SPINNERET_KERNELS` choose other kernels: `./dev soak verilog --count N --seed S`.

mod evaluator;
#[path = "../suite/support/mod.rs"]
#[allow(dead_code, reason = "the other program that shares it uses the rest")]
mod support;

use crate::prelude::*;
use evaluator::Evaluator;
use std::cell::RefCell;
use support::Suite;
use support::vectors;

/// Kernels that are compared in one run of the simulators, so that a failure names few.
const KERNELS_PER_RUN: usize = 300;
/// Before a merge; `./dev nightly` asks for more. The C++ compiler takes half a second for each.
const KERNELS: usize = 50;
/// Waivers for text that only a generator writes: comparisons with a constant result, and selects out of range.
const WAIVERS: &[&str] = &["-Wno-CMPCONST", "-Wno-UNSIGNED", "-Wno-SELRANGE"];

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum Phase {
    First,
    Second,
    Third,
}

/// The widths of a kernel's ports and registers.
#[derive(Clone, Debug)]
struct Shape {
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    registers: Vec<usize>,
}

impl Shape {
    fn new(seed: &str) -> Self {
        let choice = Choice::new(&format!("shape {seed}"));
        let widths = |most| (0..=choice.below(most)).map(|_| choice.width()).collect();
        Self {
            inputs: widths(4),
            outputs: widths(3),
            registers: widths(2),
        }
    }
}

/// A block that no person would write.
#[module(seed: String, shape: Shape = Shape::new(&seed))]
struct Random {
    #[new(shape.inputs.iter().map(|width| Wire::word(*width)).collect())]
    inputs: Vec<Wire<In>>,
    flags: [Wire<In, bool>; 2],
    #[new(shape.outputs.iter().map(|width| Wire::word(*width)).collect())]
    outputs: Vec<Wire<Out>>,
    flag: Wire<Out, bool>,
    #[new(shape.registers.iter().map(|width| Reg::reset_to(Word::new(1, *width))).collect())]
    registers: Vec<Reg>,
    #[new(Reg::reset_to(Phase::Second))]
    phase: Reg<Phase>,
}

#[kernel(Random { inputs, flags, outputs, flag, registers, phase, seed })]
fn update() {
    let choice = Choice::new(&seed);
    choice.offer(&inputs);
    choice.offer(&registers);
    choice.bits.borrow_mut().extend(&flags);
    for _ in 0..choice.below(3) {
        let wires: Vec<Sig> = (0..=choice.below(2)).map(|_| wire(choice.width())).collect();
        drive(&choice, &wires);
        choice.offer(&wires);
        choice.offer(&[reg_reset(wires[0], constant(choice.constant(wires[0].width())))]);
        let test = choice.bit(3);
        choice.bits.borrow_mut().push(test);
    }
    drive(&choice, &outputs);
    statements(&choice, &registers, 3);
    flag = match phase {
        Phase::First => choice.bit(3),
        Phase::Second | Phase::Third => choice.bit(3),
    };
    match phase {
        Phase::First => {
            if choice.bit(2) {
                phase = Phase::Second;
            }
        }
        Phase::Second => phase = if choice.bit(2) { Phase::Third } else { Phase::First },
        _ => {
            phase = Phase::First;
            statements(&choice, &registers, 1);
        }
    }
}

/// Gives signals a value each, and overrides it.
#[kernel]
fn drive(choice: &Choice, targets: &[Sig]) {
    for target in targets {
        *target = choice.word(target.width(), 3);
    }
    statements(choice, targets, 3);
}

#[kernel]
fn statements(choice: &Choice, targets: &[Sig], depth: usize) {
    for _ in 0..=choice.below(2) {
        statement(choice, targets, depth);
    }
}

#[kernel]
fn statement(choice: &Choice, targets: &[Sig], depth: usize) {
    let target = targets[choice.below(targets.len())];
    let width = 1 + choice.below(target.width());
    match choice.below(if depth == 0 { 4 } else { 8 }) {
        0 | 1 => target = choice.word(target.width(), 3),
        2 => {
            let low = choice.below(target.width() - width + 1);
            target.slice(low, width) = choice.word(width, 2);
        }
        3 => target.at(choice.word(3, 1), width) = choice.word(width, 2),
        4 | 5 => {
            if choice.bit(2) {
                statements(choice, targets, depth - 1);
            } else if choice.bit(2) && choice.bit(1) {
                statements(choice, targets, depth - 1);
            }
        }
        6 => match choice.word(3, 2) {
            0 => statements(choice, targets, depth - 1),
            1 | 6 => statements(choice, targets, depth - 1),
            _ => target = choice.word(target.width(), 2),
        },
        _ => match (choice.bit(2), choice.word(4, 1)) {
            (true, 3..=9) => statements(choice, targets, depth - 1),
            (false, 2) => target = choice.word(target.width(), 2),
            _ => {}
        },
    }
}

#[kernel]
fn compared(relation: usize, a: Sig, b: Sig) -> Sig<bool> {
    match relation {
        0 => a == b,
        1 => a != b,
        2 => a < b,
        3 => a <= b,
        4 => a > b,
        5 => a >= b,
        _ => a.signed() < b.signed(),
    }
}

#[kernel]
fn chosen(test: Sig<bool>, a: Sig, b: Sig) -> Sig {
    let one = if test { a } else { b };
    one
}

#[kernel]
fn joined(kind: usize, a: Sig<bool>, b: Sig<bool>) -> Sig<bool> {
    match kind {
        0 => a && b,
        1 => a || b,
        2 => a & b,
        3 => a | b,
        4 => a ^ b,
        5 => a != b,
        _ => !a,
    }
}

/// Random expressions of the signals that a kernel has so far.
struct Choice {
    random: RefCell<vectors::Random>,
    words: RefCell<Vec<Sig>>,
    bits: RefCell<Vec<Sig<bool>>>,
}

impl Choice {
    fn new(seed: &str) -> Self {
        Self {
            random: RefCell::new(vectors::Random::new(seed)),
            words: RefCell::default(),
            bits: RefCell::default(),
        }
    }

    fn below(&self, limit: usize) -> usize {
        (self.random.borrow_mut().next() >> 16) as usize % limit
    }

    fn width(&self) -> usize {
        match self.below(8) {
            0 => 1,
            1 => 60 + self.below(80),
            2 => [8, 16, 32, 64][self.below(4)],
            _ => 1 + self.below(20),
        }
    }

    fn offer(&self, words: &[Sig]) {
        self.words.borrow_mut().extend(words);
    }

    fn constant(&self, width: usize) -> Word {
        let row = 2 + self.below(8);
        Word::from_biguint(self.random.borrow_mut().value(width, row), width)
    }

    /// A signal, or bits of one.
    fn leaf(&self, width: usize) -> Sig {
        if self.below(5) == 0 {
            return constant(self.constant(width));
        }
        let words = self.words.borrow();
        let word = words[self.below(words.len())];
        match word.width() {
            own if own > width => word.slice(self.below(own - width + 1), width),
            _ => word.resize(width),
        }
    }

    fn word(&self, width: usize, depth: usize) -> Sig {
        if depth == 0 {
            return self.leaf(width);
        }
        let deeper = |width| self.word(width, depth - 1);
        match self.below(19) {
            0 => deeper(width) + deeper(width),
            1 => deeper(width) - deeper(width),
            2 => deeper(width) * deeper(width),
            3 => deeper(width) & self.constant(width),
            4 => deeper(width) | deeper(width),
            5 => deeper(width) ^ deeper(width),
            6 => !deeper(width),
            7 => deeper(width).negate(),
            8 => deeper(width) << deeper(1 + self.below(7)),
            9 => deeper(width) >> self.below(width + 2),
            10 if width > 1 => {
                let low = 1 + self.below(width - 1);
                cat_all(&[self.word(width - low, depth - 1), self.word(low, depth - 1)])
            }
            11 => deeper(width + 5).slice(self.below(6), width),
            12 => deeper(width + 9).at(deeper(4), width),
            13 => deeper(1 + self.below(width)).sign_extend(width),
            14 => deeper(1 + self.below(width + 9)).resize(width),
            15 => self.bit(depth - 1).repeat(width),
            16 => chosen(self.bit(depth - 1), deeper(width), deeper(width)),
            17 => {
                let tests: Vec<_> = (0..3).map(|_| (self.bit(depth - 1), self.leaf(width))).collect();
                first(&tests, self.leaf(width))
            }
            18 => deeper(7).count_ones(width),
            _ => self.leaf(width),
        }
    }

    fn bit(&self, depth: usize) -> Sig<bool> {
        if depth == 0 {
            let bits = self.bits.borrow();
            return bits[self.below(bits.len())];
        }
        let width = 1 + self.below(9);
        let word = |width| self.word(width, depth - 1);
        match self.below(9) {
            0 | 1 => compared(self.below(7), word(width), word(width)),
            2 => compared(self.below(7), word(width), constant(self.constant(width))),
            3 => word(width).all(),
            4 => word(width).any(),
            // Verilator 5.006 fails on the parity of a value of which only one bit is not constant.
            5 => {
                let words = self.words.borrow();
                words[self.below(words.len())].parity()
            }
            6 => word(4).fits("01?1"),
            7 => word(width)[self.below(width)],
            _ => joined(self.below(7), self.bit(depth - 1), self.bit(depth - 1)),
        }
    }
}

#[test]
fn kernels_do_the_same_as_trees_and_as_verilog() {
    let number = |name: &str| std::env::var(name).ok();
    let seed = number("SPINNERET_SEED").unwrap_or_else(|| "1".to_owned());
    let count = number("SPINNERET_KERNELS")
        .and_then(|count| count.parse().ok())
        .unwrap_or(KERNELS);
    println!("seed {seed}, {count} kernels");
    let all: Vec<usize> = (0..count).collect();
    for kernels in all.chunks(KERNELS_PER_RUN) {
        let mut suite = Suite::default();
        suite.waivers = WAIVERS;
        for number in kernels {
            // Each kernel has a seed of its own, so that it is the same whatever the count.
            let block = Random::new(format!("{seed} {number}"));
            let mut evaluator = Evaluator::new(&block);
            suite.model(&format!("random_{number}"), &block, true, |inputs| {
                evaluator.cycle(inputs)
            });
        }
        suite.check();
    }
}
