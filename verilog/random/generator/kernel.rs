//! One random kernel: its struct, its kernel and the trait by which a test drives it.

use super::expression::{Expressions, Readable};
use super::statement::{Target, assignment, statement};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::fmt::Write;

/// Signals of a kernel: name and width, None for a bit.
type Signals = Vec<(String, Option<usize>)>;

struct Shape {
    name: String,
    inputs: Signals,
    locals: Signals,
    registers: Signals,
    outputs: Signals,
}

/// The text of kernel `number`.
pub(crate) fn text(number: u64, rng: &mut ChaCha8Rng) -> String {
    let shape = Shape {
        name: format!("Random{number}"),
        inputs: signals("i", 4, rng),
        locals: signals("l", 3, rng),
        registers: signals("r", 2, rng),
        outputs: signals("o", 3, rng),
    };
    [
        declaration(&shape),
        constructor(&shape),
        kernel(&shape, rng),
        access(&shape),
    ]
    .concat()
}

fn signals(prefix: &str, most: usize, rng: &mut ChaCha8Rng) -> Signals {
    let count = rng.random_range(1..=most);
    let mut width = || match rng.random_range(0..8) {
        0 | 1 => None,
        2 => Some(rng.random_range(60..140)),
        3 => Some([8, 16, 32, 64][rng.random_range(0..4)]),
        _ => Some(rng.random_range(1..20)),
    };
    (0..count)
        .map(|index| (format!("{prefix}{index}"), width()))
        .collect()
}

fn kind(width: Option<usize>) -> &'static str {
    if width.is_some() { "Word" } else { "bool" }
}

fn declaration(shape: &Shape) -> String {
    let mut text = format!(
        "#[derive(LogicBlock, Describe, Debug)]\npub struct {} {{\n",
        shape.name
    );
    text += "    pub clk: Signal<In, Clock>,\n    pub rst: Wire<In, bool>,\n";
    let groups = [
        ("pub ", "In", &shape.inputs),
        ("pub ", "Out", &shape.outputs),
        ("", "Local", &shape.locals),
    ];
    for (visibility, direction, signals) in groups {
        for (name, width) in signals {
            let _ = writeln!(
                text,
                "    {visibility}{name}: Wire<{direction}, {}>,",
                kind(*width)
            );
        }
    }
    for (name, width) in &shape.registers {
        let _ = writeln!(text, "    {name}: Reg<{}>,", kind(*width));
    }
    text + "}\n\n"
}

fn constructor(shape: &Shape) -> String {
    let mut text = format!(
        "impl Default for {} {{\n    fn default() -> Self {{\n        Self {{\n",
        shape.name
    );
    text += "            clk: Signal::default(),\n            rst: Wire::bit(),\n";
    for (name, width) in shape.inputs.iter().chain(&shape.outputs).chain(&shape.locals) {
        let _ = match width {
            Some(width) => writeln!(text, "            {name}: Wire::word({width}),"),
            None => writeln!(text, "            {name}: Wire::bit(),"),
        };
    }
    for (name, width) in &shape.registers {
        let _ = match width {
            Some(width) => writeln!(text, "            {name}: Reg::reset_to(Word::new(1, {width})),"),
            None => writeln!(text, "            {name}: Reg::bit_reset(),"),
        };
    }
    text + "        }\n    }\n}\n\n"
}

fn kernel(shape: &Shape, rng: &mut ChaCha8Rng) -> String {
    let mut text = format!(
        "impl Logic for {} {{\n    #[kernel]\n    fn update(&mut self) {{\n",
        shape.name
    );
    let registers: Vec<String> = shape
        .registers
        .iter()
        .map(|(name, _)| format!("self.{name}"))
        .collect();
    let _ = writeln!(
        text,
        "        clocked!(self.clk, self.rst => {});",
        registers.join(", ")
    );
    let mut readable: Vec<Readable> = Vec::new();
    for (name, width) in &shape.inputs {
        readable.push(Readable {
            text: format!("self.{name}.val()"),
            width: *width,
        });
    }
    for (name, width) in &shape.registers {
        readable.push(Readable {
            text: format!("self.{name}.q.val()"),
            width: *width,
        });
    }
    let mut from = Expressions { rng, readable };
    let mut targets = Vec::new();
    for (name, width) in &shape.locals {
        let target = Target {
            place: format!("self.{name}"),
            width: *width,
            local: true,
        };
        text += &("        ".to_owned() + &assignment(&target, &mut from, 3));
        // What is assigned may be read from now on, also between later assignments.
        from.readable.push(target.readable());
        targets.push(target);
    }
    for (name, width) in &shape.registers {
        targets.push(Target {
            place: format!("self.{name}.d"),
            width: *width,
            local: false,
        });
    }
    for _ in 0..from.rng.random_range(2..6) {
        text += &statement(&targets, &mut from, 2, 2);
    }
    for (name, width) in &shape.outputs {
        let target = Target {
            place: format!("self.{name}"),
            width: *width,
            local: false,
        };
        text += &("        ".to_owned() + &assignment(&target, &mut from, 3));
    }
    text + "    }\n}\n\n"
}

fn access(shape: &Shape) -> String {
    let mut text = format!("impl Stimulated for {} {{\n", shape.name);
    text += "    fn clock(&mut self) -> &mut Signal<In, Clock> {\n        &mut self.clk\n    }\n";
    text += "    fn reset(&mut self) -> &mut Wire<In, bool> {\n        &mut self.rst\n    }\n";
    let inputs: Vec<String> = shape
        .inputs
        .iter()
        .map(|(name, width)| format!("(\"{name}\", {})", width.unwrap_or(1)))
        .collect();
    let _ = writeln!(
        text,
        "    fn inputs(&self) -> Vec<(&'static str, usize)> {{\n        vec![{}]\n    }}",
        inputs.join(", ")
    );
    text += "    fn drive(&mut self, input: usize, value: &Word) {\n        match input {\n";
    for (index, (name, width)) in shape.inputs.iter().enumerate() {
        let value = if width.is_some() {
            "value.clone()"
        } else {
            "value.any()"
        };
        let _ = writeln!(text, "            {index} => self.{name}.next = {value},");
    }
    text += "            _ => {}\n        }\n    }\n";
    let outputs: Vec<String> = shape
        .outputs
        .iter()
        .map(|(name, _)| format!("(\"{name}\", Word::from(self.{name}.val()))"))
        .collect();
    let _ = writeln!(
        text,
        "    fn outputs(&self) -> Vec<(&'static str, Word)> {{\n        vec![{}]\n    }}",
        outputs.join(", ")
    );
    text + "}\n\n"
}
