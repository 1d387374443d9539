//! `mac_transmitter`: each line of its contract.

use super::{Symbol, on_line, padded, random_frame, shortest};
use spinneret_models::MacTransmitter;
use spinneret_sim::prelude::*;

pub(super) struct Transmitter {
    sim: Simulation<MacTransmitter>,
    line: Vec<Symbol>,
    sent: u64,
    underruns: u64,
}

impl Transmitter {
    pub(super) fn new(run: &mut TestRun) -> Self {
        let mut sim = run.simulation::<MacTransmitter>();
        sim.set("s_valid", false);
        sim.set("holds", false);
        sim.reset();
        let mut transmitter = Self {
            sim,
            line: Vec::new(),
            sent: 0,
            underruns: 0,
        };
        // The gap after a reset.
        transmitter.idle(16);
        transmitter.line.clear();
        transmitter
    }

    /// A clock with a byte, or none: whether the byte was taken.
    fn clock(&mut self, offer: Option<(u8, bool)>) -> bool {
        let (data, last) = offer.unwrap_or_default();
        self.sim.set("s_valid", offer.is_some());
        self.sim.set("s_data", data);
        self.sim.set("s_last", last);
        let taken = offer.is_some() && self.sim.get("s_ready") == 1;
        self.sim.cycle();
        self.line.push(Symbol {
            data: self.sim.get("txd") as u8,
            valid: self.sim.get("tx_en") == 1,
            error: self.sim.get("tx_er") == 1,
        });
        self.sent += self.sim.get("sent");
        self.underruns += self.sim.get("underrun");
        taken
    }

    fn idle(&mut self, clocks: usize) {
        for _ in 0..clocks {
            self.clock(None);
        }
    }

    /// A frame, from its offer to its last byte.
    pub(super) fn frame(&mut self, frame: &[u8]) {
        for (place, byte) in frame.iter().enumerate() {
            let mut clocks = 0;
            while !self.clock(Some((*byte, place + 1 == frame.len()))) {
                clocks += 1;
                assert!(clocks < 200, "a frame waits for ever");
            }
        }
    }

    /// The line, once everything was sent.
    pub(super) fn finish(mut self) -> Vec<Symbol> {
        self.idle(80);
        self.sim.finish();
        self.line
    }
}

/// Bursts of a line, and the clocks before each.
fn bursts(line: &[Symbol]) -> Vec<(usize, Vec<Symbol>)> {
    let mut bursts: Vec<(usize, Vec<Symbol>)> = Vec::new();
    let mut quiet = 0;
    for symbol in line {
        if !symbol.valid {
            quiet += 1;
            continue;
        }
        if quiet > 0 || bursts.is_empty() {
            bursts.push((quiet, Vec::new()));
        }
        quiet = 0;
        bursts.last_mut().expect("one was pushed").1.push(*symbol);
    }
    bursts
}

#[test]
fn frames_are_sent_with_preamble_padding_and_fcs() {
    run_test(0x0007_3ac0, |run| {
        let mut rng = run.rng("frames");
        let mut transmitter = Transmitter::new(run);
        let lengths = (1..70).chain([100, 1514, 1518]);
        let frames: Vec<Vec<u8>> = lengths.map(|bytes| random_frame(&mut rng, bytes)).collect();
        for frame in &frames {
            transmitter.frame(frame);
            transmitter.idle([0, 0, 5, 40][rng.random_range(0..4)]);
        }
        transmitter.idle(80);
        assert_eq!(
            (transmitter.sent, transmitter.underruns),
            (frames.len() as u64, 0)
        );
        let bursts = bursts(&transmitter.finish());
        assert_eq!(bursts.len(), frames.len());
        for ((quiet, burst), frame) in bursts.iter().zip(&frames) {
            assert_eq!(*burst, on_line(&padded(frame)));
            assert!(*quiet >= 12 || *quiet == 0, "{quiet} clocks between frames");
        }
    });
}

#[test]
fn frames_follow_each_other_after_twelve_clocks() {
    run_test(0x0008_3ac0, |run| {
        let mut transmitter = Transmitter::new(run);
        for _ in 0..20 {
            transmitter.frame(&[1; 64]);
        }
        let bursts = bursts(&transmitter.finish());
        assert!(
            bursts[1..]
                .iter()
                .all(|(quiet, burst)| *quiet == 12 && burst.len() == 76)
        );
    });
}

#[test]
fn the_first_byte_of_a_frame_leaves_nine_clocks_after_its_offer() {
    run_test(0x0009_3ac0, |run| {
        let mut transmitter = Transmitter::new(run);
        transmitter.frame(&[0xab; 60]);
        let line = transmitter.finish();
        // The line is read after each clock, so its first symbol is that of one clock after the offer.
        let first = line.iter().position(|symbol| symbol.data == 0xab);
        assert_eq!((line[0].data, first), (0x55, Some(8)));
    });
}

#[test]
fn a_frame_with_a_hole_breaks_off() {
    run_test(0x000a_3ac0, |run| {
        let mut transmitter = Transmitter::new(run);
        for byte in 0..20 {
            while !transmitter.clock(Some((byte, false))) {}
        }
        transmitter.idle(5);
        transmitter.frame(&[9; 30]);
        transmitter.frame(&shortest());
        transmitter.idle(80);
        assert_eq!((transmitter.sent, transmitter.underruns), (1, 1));
        let bursts = bursts(&transmitter.finish());
        assert_eq!(bursts.len(), 2);
        let (_, broken) = &bursts[0];
        let errors: Vec<usize> = (0..broken.len()).filter(|at| broken[*at].error).collect();
        assert_eq!((broken.len(), errors), (29, vec![28]));
        assert_eq!(bursts[1].1, on_line(&shortest()));
    });
}

#[test]
fn no_frame_begins_while_it_is_held() {
    run_test(0x000b_3ac0, |run| {
        let mut transmitter = Transmitter::new(run);
        transmitter.sim.set("holds", true);
        for _ in 0..100 {
            assert!(!transmitter.clock(Some((1, false))));
        }
        assert!(transmitter.line.iter().all(|symbol| !symbol.valid));
        // One that has begun is sent whole.
        transmitter.sim.set("holds", false);
        assert!(!transmitter.clock(Some((0, false))));
        transmitter.sim.set("holds", true);
        transmitter.frame(&shortest());
        let bursts = bursts(&transmitter.finish());
        assert_eq!(bursts.len(), 1);
        assert_eq!(bursts[0].1, on_line(&shortest()));
    });
}

#[test]
fn a_reset_ends_the_frame_that_is_being_sent() {
    run_test(0x000c_3ac0, |run| {
        let mut transmitter = Transmitter::new(run);
        for byte in 0..20 {
            while !transmitter.clock(Some((byte, false))) {}
        }
        transmitter.sim.set("s_valid", false);
        transmitter.sim.reset();
        transmitter.line.clear();
        transmitter.idle(40);
        assert!(transmitter.line.iter().all(|symbol| !symbol.valid));
        transmitter.frame(&shortest());
        assert_eq!(bursts(&transmitter.finish())[0].1, on_line(&shortest()));
    });
}
