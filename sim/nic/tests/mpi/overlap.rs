//! Computation while messages come: the arithmetic and one short point.

use spinneret_nic::mpi::{Exchange, Multiplication, PaperType, Prices, overlap};
use std::time::Duration;

/// One short message of the complex type: little time for much host work, so R is not yet near 1. Ten times the prices cost
/// about ten times as much, and time that is computed and time that is not add up.
#[test]
fn a_host_computes_while_a_message_comes() {
    let layout = PaperType::Complex.layout(2).expect("it has a layout");
    let how = Exchange {
        window: 64,
        warm_up: Some(PaperType::Complex.layout(1).expect("it has a layout")),
        ..Exchange::of(vec![layout])
    };
    let prices = [Prices::STATED, Prices::STATED.times(10)];
    let done = overlap(&how, &Multiplication::PAPER, &prices).unwrap_or_else(|error| panic!("{error}"));
    println!("alone {:?}, {:.2} Gb/s", done.alone.time, done.alone.gbps());
    for trial in &done.trials {
        println!(
            "{trial:?}: R {:.4}, availability {:.4}",
            trial.ratio(),
            trial.availability(&done.alone, Duration::ZERO)
        );
    }
}
