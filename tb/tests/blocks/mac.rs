//! `mac_receiver`, `mac_transmitter` and `pause_timer`: each line of their contracts, and random frames from one to the other with
//! errors on the line, against a reading of the line in plain Rust.

use spinneret_hdl::mac::LONGEST;
use spinneret_models::PauseTimer;
use spinneret_sim::prelude::*;

mod beats;
mod receiver;
mod rgmii;
mod transmitter;

use receiver::receives;
use transmitter::Transmitter;

/// Ends of frames, in the order of the receiver's ports.
pub(crate) const EVENTS: [&str; 7] = [
    "good",
    "bad_fcs",
    "runt",
    "giant",
    "coding",
    "no_delimiter",
    "pause",
];
pub(crate) const GOOD: usize = 0;
pub(crate) const BAD_FCS: usize = 1;
pub(crate) const RUNT: usize = 2;
pub(crate) const GIANT: usize = 3;
pub(crate) const CODING: usize = 4;
pub(crate) const NO_DELIMITER: usize = 5;
pub(crate) const PAUSE: usize = 6;

/// A clock of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) data: u8,
    pub(crate) valid: bool,
    pub(crate) error: bool,
}

pub(crate) fn byte(data: u8) -> Symbol {
    Symbol {
        data,
        valid: true,
        error: false,
    }
}

pub(crate) const QUIET: Symbol = Symbol {
    data: 0,
    valid: false,
    error: false,
};

/// CRC-32 as IEEE 802.3 writes it: the highest power first, and the lowest bit of each byte first.
pub(crate) fn fcs(bytes: &[u8]) -> [u8; 4] {
    let mut sum = u32::MAX;
    for bit in bytes
        .iter()
        .flat_map(|byte| (0..8).map(move |place| byte >> place & 1))
    {
        let carry = sum >> 31 ^ u32::from(bit);
        sum = sum << 1 ^ (0x04c1_1db7 * carry);
    }
    (!sum).reverse_bits().to_le_bytes()
}

/// A frame on the line, with its FCS.
pub(crate) fn on_line(frame: &[u8]) -> Vec<Symbol> {
    let preamble = [0x55; 7].into_iter().chain([0xd5]);
    let bytes = preamble.chain(frame.iter().copied()).chain(fcs(frame));
    bytes.map(byte).collect()
}

pub(crate) fn gap() -> [Symbol; 12] {
    [QUIET; 12]
}

/// Output of the receiver.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Given {
    /// Frames, and whether they must not be used.
    pub(crate) frames: Vec<(Vec<u8>, bool)>,
    pub(crate) events: [u64; 7],
    /// Times of pause frames.
    quanta: Vec<u64>,
}

/// The contract of the receiver.
pub(crate) fn expected(line: &[Symbol]) -> Given {
    let mut given = Given::default();
    for burst in line
        .split(|symbol| !symbol.valid)
        .filter(|burst| !burst.is_empty())
    {
        let start = burst.iter().position(|symbol| symbol.data != 0x55);
        let Some(start) = start.filter(|start| burst[*start].data == 0xd5) else {
            given.events[NO_DELIMITER] += 1;
            continue;
        };
        let all = &burst[start + 1..];
        let is_giant = all.len() > LONGEST;
        // The byte after the longest frame cuts it.
        let taken = &all[..all.len().min(LONGEST + 1)];
        let bytes: Vec<u8> = taken.iter().map(|symbol| symbol.data).collect();
        let (frame, sum) = bytes.split_at(bytes.len().saturating_sub(4));
        let is_pause = frame.starts_with(&[0x01, 0x80, 0xc2, 0, 0, 1])
            && frame.get(12..16) == Some(&[0x88, 0x08, 0, 1][..]);
        let causes = [
            (is_giant, GIANT),
            (taken.iter().any(|symbol| symbol.error), CODING),
            (bytes.len() < 64, RUNT),
            (fcs(frame) != sum, BAD_FCS),
            (is_pause, PAUSE),
            (true, GOOD),
        ];
        let (_, event) = causes
            .into_iter()
            .find(|(holds, _)| *holds)
            .expect("the last one holds");
        given.events[event] += 1;
        if event == PAUSE {
            given
                .quanta
                .push(u64::from(frame[16]) << 8 | u64::from(frame[17]));
        }
        if !frame.is_empty() {
            given.frames.push((frame.to_vec(), event != GOOD));
        }
    }
    given
}

pub(crate) fn random_frame(rng: &mut ChaCha8Rng, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|_| rng.random()).collect()
}

/// Frames with all kinds of errors, and pauses between them of 1 clock up to that many.
pub(crate) fn random_line(rng: &mut ChaCha8Rng, frames: usize, longest_pause: usize) -> Vec<Symbol> {
    let mut line = Vec::new();
    for _ in 0..frames {
        let bytes = match rng.random_range(0..8) {
            0 => rng.random_range(0..64),
            1 => rng.random_range(LONGEST - 8..LONGEST + 40),
            _ => rng.random_range(56..200),
        };
        let frame = match rng.random_bool(0.1) {
            true => pause_frame(rng.random_range(0..4)),
            false => random_frame(rng, bytes),
        };
        let mut symbols = on_line(&frame);
        // A preamble that is too short or too long.
        match rng.random_range(0..6) {
            0 => drop(symbols.drain(..rng.random_range(0..=7))),
            1 => symbols
                .splice(..0, vec![byte(0x55); rng.random_range(1..20)])
                .for_each(drop),
            _ => {}
        }
        for _ in 0..[0, 0, 0, 1, 2][rng.random_range(0..5)] {
            let at = rng.random_range(0..symbols.len());
            match rng.random_range(0..3) {
                0 => symbols[at].data ^= 1 << rng.random_range(0..8),
                1 => symbols[at].error = true,
                _ => symbols.truncate(at),
            }
            if symbols.is_empty() {
                break;
            }
        }
        line.extend(symbols);
        line.extend(vec![QUIET; rng.random_range(1..=longest_pause)]);
    }
    line
}

pub(crate) fn pause_frame(quanta: u16) -> Vec<u8> {
    let mut frame = vec![0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x88, 0x08, 0, 1];
    frame.extend(quanta.to_be_bytes());
    frame.resize(60, 0);
    frame
}

/// A frame for all, of 60 bytes.
pub(crate) fn shortest() -> Vec<u8> {
    (0..60).collect()
}

/// A frame with its padding.
pub(crate) fn padded(frame: &[u8]) -> Vec<u8> {
    let mut padded = frame.to_vec();
    padded.resize(frame.len().max(60), 0);
    padded
}

#[test]
fn the_fcs_of_the_reference_is_that_of_the_catalogue() {
    assert_eq!(fcs(b"123456789"), 0xcbf4_3926_u32.to_le_bytes());
}

#[test]
fn frames_come_through_both_with_errors_on_the_line() {
    run_test(0x000d_3ac0, |run| {
        let mut rng = run.rng("frames");
        let mut transmitter = Transmitter::new(run);
        let mut frames = Vec::new();
        for _ in 0..300 {
            let bytes = rng.random_range(14..300);
            let frame = random_frame(&mut rng, bytes);
            transmitter.frame(&frame);
            frames.push(padded(&frame));
        }
        let mut line = transmitter.finish();
        let mut right = Vec::new();
        // The clocks of each frame in turn, a fifth of them with an error.
        let mut at = 0;
        for frame in frames {
            at += line[at..]
                .iter()
                .position(|symbol| symbol.valid)
                .expect("each frame is there");
            let end = at + frame.len() + 12;
            match rng.random_bool(0.2) {
                true => line[rng.random_range(at + 8..end)].data ^= 1 << rng.random_range(0..8),
                false => right.push(frame),
            }
            at = end;
        }
        let given = receives(run, &line);
        let good = given.frames.into_iter().filter(|(_, is_wrong)| !is_wrong);
        assert_eq!(good.map(|(frame, _)| frame).collect::<Vec<_>>(), right);
        assert_eq!(given.events[GOOD] + given.events[BAD_FCS], 300);
    });
}

#[test]
fn a_pause_takes_64_clocks_for_each_quantum() {
    run_test(0x000e_3ac0, |run| {
        let mut sim = run.simulation::<PauseTimer>();
        sim.set("starts", false);
        sim.reset();
        let held = |sim: &mut Simulation<PauseTimer>, quanta: u64| {
            sim.set("starts", true);
            sim.set("quanta", quanta);
            sim.cycle();
            sim.set("starts", false);
            let mut clocks = 0;
            while sim.get("holds") == 1 {
                clocks += 1;
                sim.cycle();
            }
            clocks
        };
        for quanta in [0, 1, 2, 37, 4096] {
            assert_eq!(held(&mut sim, quanta), 64 * quanta);
        }
        // A further one sets the time again, and 0 ends it.
        for (quanta, clocks) in [(3, 192), (0, 0)] {
            sim.set("starts", true);
            sim.set("quanta", 1000_u64);
            sim.cycle();
            sim.set("starts", false);
            sim.run(10);
            assert_eq!((sim.get("holds"), held(&mut sim, quanta)), (1, clocks));
        }
        sim.finish();
    });
}
