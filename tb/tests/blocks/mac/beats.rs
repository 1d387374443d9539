//! `beat_packer` and `beat_unpacker`: frames of all lengths, with all pauses, clock by clock.

use super::random_frame;
use spinneret_models::{BeatPacker, BeatUnpacker};
use spinneret_sim::prelude::*;

/// Beats of a frame: bytes, those that count, and whether it is the last one.
fn beats(frame: &[u8]) -> Vec<(Vec<u8>, bool)> {
    let count = frame.len().div_ceil(8);
    let parts = frame.chunks(8).enumerate();
    parts.map(|(at, part)| (part.to_vec(), at + 1 == count)).collect()
}

/// A beat at the ports: {place of the last byte, eight bytes}.
fn word(part: &[u8], filler: u8) -> [u8; 9] {
    let mut word = [filler; 9];
    word[..part.len()].copy_from_slice(part);
    word[8] = part.len() as u8 - 1;
    word
}

#[test]
fn a_beat_is_there_in_the_clock_after_its_last_byte() {
    run_test(0x0011_3ac0, |run| {
        let mut rng = run.rng("bytes");
        let mut sim = run.simulation::<BeatPacker>();
        sim.set("s_valid", false);
        sim.reset();
        for _ in 0..300 {
            let bytes = rng.random_range(1..40);
            let frame = random_frame(&mut rng, bytes);
            let is_wrong: bool = rng.random();
            for (place, byte) in frame.iter().enumerate() {
                while rng.random_bool(0.3) {
                    sim.set("s_valid", false);
                    sim.set("s_data", rng.random::<u8>());
                    sim.cycle();
                    assert_eq!(sim.get("m_valid"), 0);
                }
                let last = place + 1 == frame.len();
                sim.set("s_valid", true);
                sim.set("s_data", *byte);
                sim.set("s_last", last);
                sim.set("s_error", last && is_wrong);
                sim.cycle();
                let is_beat = last || place % 8 == 7;
                assert_eq!(sim.get("m_valid") == 1, is_beat);
                if is_beat {
                    let (part, _) = &beats(&frame)[place / 8];
                    let data = sim.dut.get("m_data").expect("a port").to_bytes_le();
                    let mut found = data;
                    found.resize(9, 0);
                    assert_eq!(found[..part.len()], part[..]);
                    assert_eq!(usize::from(found[8]), part.len() - 1);
                    assert_eq!(sim.get("m_last") == 1, last);
                    assert_eq!(sim.get("m_error") == 1, last && is_wrong);
                }
            }
        }
        // A reset forgets the bytes of a beat that is not complete.
        sim.set("s_last", false);
        sim.run(3);
        sim.set("s_valid", false);
        sim.reset();
        sim.set("s_valid", true);
        sim.run(7);
        assert_eq!(sim.get("m_valid"), 0);
        sim.cycle();
        assert_eq!(sim.get("m_valid"), 1);
        sim.finish();
    });
}

#[test]
fn bytes_leave_in_their_order_one_a_clock() {
    run_test(0x0012_3ac0, |run| {
        let mut rng = run.rng("beats");
        let mut sim = run.simulation::<BeatUnpacker>();
        for [comes, goes] in [[1.0, 1.0], [1.0, 0.4], [0.1, 1.0], [0.5, 0.7]] {
            sim.set("s_valid", false);
            sim.set("m_ready", false);
            sim.reset();
            let lengths = (0..200).map(|_| rng.random_range(1..40)).collect::<Vec<usize>>();
            let frames: Vec<Vec<u8>> = lengths
                .iter()
                .map(|bytes| random_frame(&mut rng, *bytes))
                .collect();
            let mut left = frames.iter().flat_map(|frame| beats(frame)).peekable();
            let mut given = vec![Vec::new()];
            let (mut is_offered, mut clocks) = (false, 0);
            while given.len() <= frames.len() {
                is_offered = left.peek().is_some() && (is_offered || rng.random_bool(comes));
                sim.set("s_valid", is_offered);
                if let Some((part, last)) = left.peek() {
                    sim.set_bytes("s_data", &word(part, rng.random()));
                    sim.set("s_last", *last);
                }
                sim.set("m_ready", rng.random_bool(goes));
                sim.dut.eval();
                let is_taken = is_offered && sim.get("s_ready") == 1;
                let leaves = sim.get("m_valid") == 1 && sim.get("m_ready") == 1;
                if leaves {
                    given.last_mut().expect("a frame").push(sim.get("m_data") as u8);
                    if sim.get("m_last") == 1 {
                        given.push(Vec::new());
                    }
                }
                sim.cycle();
                clocks += 1;
                if is_taken {
                    left.next();
                    is_offered = false;
                }
            }
            given.pop();
            assert_eq!(given, frames);
            assert!(left.next().is_none() && sim.get("m_valid") == 0);
            if [comes, goes] == [1.0, 1.0] {
                assert_eq!(clocks, lengths.iter().sum::<usize>() + 1, "a byte a clock");
            }
        }
        sim.finish();
    });
}
