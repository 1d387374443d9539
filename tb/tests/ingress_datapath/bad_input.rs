//! Frames that no sane network card sends.

use crate::support::{marked, marked_with, matched, unmatched};
use spinneret_sim::prelude::*;
use spinneret_tb::ingress::{Behaviour, Cause, MARK, Packet};

/// `tkeep` values of a beat, with whether it is the last of its frame; all of them are impossible.
const IMPOSSIBLE: [(bool, u64); 10] = [
    (false, 0),
    (false, 1),
    (false, u64::MAX >> 1),
    (false, u64::MAX << 1),
    (false, 0xffff_0000_ffff_ffff),
    (true, 2),
    (true, 0xf0),
    (true, 1 << 63),
    (true, u64::MAX << 1),
    (true, 0xffff_0000_ffff_ffff),
];

#[test]
fn frames_of_1_byte_to_16_kib_pass_or_are_dropped_for_their_size() {
    run_test(1, |run| {
        let mut bench = marked(run);
        let (mut delivered, mut oversize, mut bypassed) = (0, 0, 0);
        for size in (1..=1600)
            .step_by(7)
            .chain((1600..=16384).step_by(1231))
            .chain([16384])
        {
            bench.send(matched(size, size as u64));
            bench.send(unmatched(size, size as u64));
            bypassed += 1 + u64::from(size < 4);
            delivered += u64::from((4..=1536).contains(&size));
            oversize += u64::from(size > 1536);
        }
        let outcome = bench.settle();
        assert_eq!(
            (outcome.hers, outcome.drops[Cause::Oversize], outcome.bypassed),
            (delivered, oversize, bypassed)
        );
        assert_eq!(outcome.drops.sum(), oversize);
        bench.finish();
    });
}

#[test]
fn only_bytes_behind_a_beat_that_is_not_full_are_a_gap() {
    run_test(1, |run| {
        let mut bench = marked(run);
        for size in [4, 63, 65, 100, 127, 129, 1500, 1535] {
            bench.send(matched(size, 1).with_null_last());
            bench.send(unmatched(size, 2).with_null_last());
        }
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.bypassed, outcome.drops.sum()), (8, 8, 0));
        // One byte in the last beat makes the same frame bad.
        for beats in [2, 3, 24] {
            let short = matched(64 * beats, 3).with_keep(beats - 2, 0xffff);
            bench.send(short);
        }
        assert_eq!(bench.settle().drops[Cause::BadFrame], 3);
        bench.finish();
    });
}

#[test]
fn impossible_tkeep_drops_matched_frames_and_nothing_else() {
    run_test(1, |run| {
        let mut bench = marked(run);
        let mut bad = 0;
        for beats in [2, 3, 24, 26] {
            for (last, keep) in IMPOSSIBLE {
                let beat = if last { beats - 1 } else { beats - 2 };
                // The rule needs the first word.
                let keep = if beat == 0 { keep | 0xf } else { keep };
                let packet = matched(64 * beats, 1).with_keep(beat, keep);
                bad += u64::from(packet.is_bad());
                bench.send(packet);
                bench.send(matched(100, 2));
            }
        }
        let outcome = bench.settle();
        let drops = &outcome.drops;
        assert_eq!(
            (outcome.hers + drops[Cause::BadFrame], drops.sum()),
            (80, bad),
            "{drops}"
        );
        bench.finish();
    });
}

#[test]
fn a_hole_counts_wherever_it_is_and_whatever_follows() {
    run_test(1, |run| {
        let mut bench = marked(run);
        // With a last beat without bytes nothing but the hole itself says that the frame is bad.
        for beats in [1, 2, 3, 24, 25, 26, 30] {
            for beat in 0..beats {
                let keep = 0xffff_0000_ffff_ffff;
                bench.send(matched(64 * beats, 1).with_keep(beat, keep).with_null_last());
                bench.send(matched(100, 2));
            }
        }
        let outcome = bench.settle();
        let drops = &outcome.drops;
        assert_eq!(
            (outcome.hers, drops[Cause::BadFrame], drops.sum()),
            (111, 111, 111),
            "{drops}"
        );
        bench.finish();
    });
}

#[test]
fn a_bad_first_beat_drops_the_frame() {
    run_test(1, |run| {
        let mut bench = marked(run);
        for keep in [0xf, 0x1f, 0xff0f, u64::MAX >> 1, u64::MAX - 0x10] {
            for beats in [2, 3, 25] {
                bench.send(matched(64 * beats, 1).with_keep(0, keep));
            }
        }
        // A frame of one beat with a hole.
        bench.send(matched(64, 1).with_keep(0, 0xff0f));
        assert_eq!(bench.settle().drops[Cause::BadFrame], 16);
        bench.finish();
    });
}

#[test]
fn bad_unmatched_frames_pass_untouched() {
    run_test(1, |run| {
        for nic in [Pause::Never, Pause::Random { percent: 50 }] {
            let behaviour = Behaviour {
                nic,
                ..Behaviour::default()
            };
            let mut bench = marked_with(run, behaviour);
            for size in [1, 64, 65, 1500, 9600] {
                bench.send(unmatched(size, 1).marked_bad());
            }
            for beats in [1, 2, 3, 26] {
                for (last, keep) in IMPOSSIBLE {
                    let beat = if last { beats - 1 } else { 0 };
                    bench.send(unmatched(64 * beats, 2).with_keep(beat, keep));
                    bench.send(unmatched(64, 3));
                }
            }
            assert_eq!(bench.settle().bypassed, 85);
            bench.finish();
        }
    });
}

#[test]
fn tuser_counts_in_the_last_beat_only() {
    run_test(1, |run| {
        let mut bench = marked(run);
        for size in [65, 129, 1500] {
            for (early_user, user) in [(0xffff, 0xfffe), (1, 0), (0, 0xfffe)] {
                bench.send(Packet {
                    early_user,
                    user,
                    ..matched(size, 1)
                });
            }
        }
        assert_eq!(bench.settle().hers, 9);
        bench.finish();
    });
}

#[test]
fn bytes_behind_the_end_do_not_match() {
    run_test(1, |run| {
        let mut bench = marked(run);
        for size in 1..4 {
            bench.send(matched(64, 1));
            // Too short for the rule's word; the lanes behind it are random.
            bench.send(Packet::new(64, vec![MARK; size]));
        }
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.bypassed), (3, 3));
        bench.finish();
    });
}
