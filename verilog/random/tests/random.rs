//! Random kernels in Rust against the emitted text in Icarus Verilog and Verilator.
//!
//! `SPINNERET_SEED` and `SPINNERET_KERNELS` choose other kernels: `./dev soak verilog --count N --seed S`.

#[path = "../../tests/suite/support/mod.rs"]
#[allow(dead_code, reason = "the other programs that share it use the rest")]
mod support;

use num_bigint::BigUint;
use spinneret_verilog::prelude::*;
use spinneret_verilog_random::{SEED, Stimulated, kernels};
use support::Suite;

/// Kernels that are compared in one run of the simulators, so that a failure names few.
const KERNELS_PER_RUN: usize = 300;

/// What random text says and a person would not: comparisons that are always true.
const WAIVERS: &[&str] = &["-Wno-CMPCONST", "-Wno-UNSIGNED"];

/// A kernel whose type the test does not know.
struct Unknown(Box<dyn Stimulated>);

impl Logic for Unknown {
    fn update(&mut self) {
        self.0.update();
    }
}

impl Block for Unknown {
    fn connect_all(&mut self) {
        self.0.connect_all();
    }
    fn update_all(&mut self) {
        self.0.update_all();
    }
    fn has_changed(&self) -> bool {
        self.0.has_changed()
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        self.0.accept(name, probe);
    }
}

/// Drives the reset and the inputs, in the order of the ports.
fn drive(block: &mut Unknown, values: &[BigUint]) {
    let (reset, inputs) = values.split_first().expect("every kernel has a reset");
    block.0.reset().next = *reset != BigUint::ZERO;
    for (number, (value, (_, width))) in inputs.iter().zip(block.0.inputs()).enumerate() {
        block.0.drive(number, &Word::from_biguint(value.clone(), width));
    }
}

#[test]
fn random_kernels_mean_the_same_in_verilog() {
    let mut kernels = kernels().into_iter().peekable();
    println!("seed {SEED}, {} kernels", kernels.len());
    while kernels.peek().is_some() {
        let mut suite = Suite::default();
        suite.waivers = WAIVERS;
        for (name, kernel) in kernels.by_ref().take(KERNELS_PER_RUN) {
            let clock = |block: &mut Unknown, level: bool| block.0.clock().next = level.into();
            suite.add(&name, Unknown(kernel), drive, Some(clock));
        }
        suite.check();
    }
}
