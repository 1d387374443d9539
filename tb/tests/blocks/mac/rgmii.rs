//! `rgmii_receiver` and `rgmii_transmitter`: bytes, errors and the state of the link, clock by clock.

use super::{QUIET, Symbol, on_line, random_frame};
use spinneret_models::{RgmiiReceiver, RgmiiTransmitter};
use spinneret_sim::prelude::*;
use spinneret_sim::simulation::ClockDomain;

/// 1 Gb/s, full duplex, up.
const GIGABIT: u8 = 0b1101;

/// The contract of the receiver: the state of the link and the clocks in which it was seen.
#[derive(Default)]
struct Link {
    seen: Option<u8>,
    clocks: u32,
    is_up: bool,
    was_valid: bool,
}

impl Link {
    /// Whether the link is up with that symbol, and whether that is the start of a frame that is refused.
    fn clock(&mut self, symbol: Symbol) -> (bool, bool) {
        let now = (self.is_up, symbol.valid && !self.was_valid && !self.is_up);
        self.was_valid = symbol.valid;
        if !symbol.valid && !symbol.error {
            let [low, high] = [symbol.data & 15, symbol.data >> 4];
            if self.seen == Some(low) && low == high {
                self.clocks += 1;
            } else {
                self.seen = Some(low);
                self.clocks = u32::from(low == high);
            }
            if self.clocks >= 4 {
                self.is_up = low == GIGABIT;
            }
        }
        now
    }
}

fn state(low: u8) -> Symbol {
    Symbol {
        data: low << 4 | low,
        ..QUIET
    }
}

fn receives(run: &mut TestRun, line: &[Symbol]) -> (Vec<Symbol>, u64) {
    let mut sim: Simulation<RgmiiReceiver> = run.simulation_with(&[ClockDomain::new("clk", 8000)]);
    let mut link = Link::default();
    let (mut bytes, mut refused, mut was_refused) = (Vec::new(), 0, false);
    for symbol in line {
        sim.set("s_low", symbol.data & 15);
        sim.set("s_high", symbol.data >> 4);
        sim.set("s_valid", symbol.valid);
        sim.set("s_control", symbol.valid != symbol.error);
        sim.cycle();
        let (is_up, is_refused) = link.clock(*symbol);
        assert_eq!(sim.get("link_up") == 1, is_up);
        assert_eq!(sim.get("link_refused") == 1, was_refused);
        was_refused = is_refused;
        assert_eq!(sim.get("m_valid") == 1, symbol.valid && is_up);
        refused += u64::from(is_refused);
        if symbol.valid && is_up {
            let error = sim.get("m_error") == 1;
            assert_eq!((sim.get("m_d") as u8, error), (symbol.data, symbol.error));
            bytes.push(*symbol);
        }
    }
    sim.finish();
    (bytes, refused)
}

#[test]
fn only_a_gigabit_link_is_served_and_frames_of_others_are_refused() {
    run_test(0x0021_3ac0, |run| {
        let frame = on_line(&random_frame(&mut run.rng("frame"), 60));
        // Down; 10 and 100 Mb/s; half duplex; a speed that does not exist.
        for other in [0b1100, 0b1001, 0b1011, 0b0101, 0b1111] {
            let mut line = vec![state(other); 12];
            line.extend(&frame);
            line.extend([state(GIGABIT); 3]);
            line.extend(&frame);
            line.extend([state(GIGABIT); 1]);
            line.extend(&frame);
            // Three clocks of another state change nothing.
            line.extend([state(other); 3]);
            line.extend([state(GIGABIT); 2]);
            line.extend(&frame);
            let (bytes, refused) = receives(run, &line);
            assert_eq!((bytes, refused), ([&frame[..], &frame[..]].concat(), 2));
        }
    });
}

#[test]
fn carrier_and_halves_that_differ_are_no_state() {
    run_test(0x0022_3ac0, |run| {
        let frame = on_line(&random_frame(&mut run.rng("frame"), 60));
        // Carrier extension: an error without a valid byte.
        let extension = Symbol {
            data: GIGABIT << 4 | GIGABIT,
            valid: false,
            error: true,
        };
        let torn = Symbol {
            data: GIGABIT,
            ..QUIET
        };
        for other in [extension, torn] {
            let mut line = vec![state(0); 4];
            line.extend([other; 20]);
            line.extend(&frame);
            assert_eq!(receives(run, &line), (vec![], 1));
        }
    });
}

#[test]
fn random_symbols_give_what_the_contract_says() {
    run_test(0x0023_3ac0, |run| {
        let mut rng = run.rng("symbols");
        let mut line = Vec::new();
        for _ in 0..600 {
            let next = match rng.random_range(0..4) {
                0 => Symbol {
                    data: rng.random(),
                    valid: rng.random(),
                    error: rng.random(),
                },
                1 => state(rng.random_range(0..16)),
                _ => state(GIGABIT),
            };
            line.extend(vec![next; rng.random_range(1..9)]);
        }
        let (bytes, refused) = receives(run, &line);
        assert!(bytes.len() > 20 && refused > 20, "{} {refused}", bytes.len());
    });
}

#[test]
fn bytes_are_sent_in_two_halves() {
    run_test(0x0024_3ac0, |run| {
        let mut rng = run.rng("symbols");
        let mut sim: Simulation<RgmiiTransmitter> = run.simulation_with(&[ClockDomain::new("clk", 8000)]);
        for _ in 0..500 {
            let (data, valid, error): (u8, bool, bool) = rng.random();
            sim.set("s_d", data);
            sim.set("s_valid", valid);
            sim.set("s_error", error);
            sim.cycle();
            let found = ["m_low", "m_high", "m_valid", "m_control"].map(|port| sim.get(port));
            let expected = [data & 15, data >> 4, valid.into(), (valid != error).into()];
            assert_eq!(found, expected.map(u64::from));
        }
        sim.finish();
    });
}
