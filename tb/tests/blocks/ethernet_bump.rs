//! `ethernet_bump`: frames from line to line and back, through all clocks, with all kinds of errors, and each line of its contract.

pub(crate) mod bench;

use crate::mac::{GOOD, Symbol, gap, on_line, pause_frame, random_frame, random_line, shortest};
use bench::{Bench, Clocks, NOMINAL, REFUSED, SENT};
use spinneret_hdl::mac::LONGEST;
use spinneret_sim::prelude::*;

/// Frames of that many bytes with their FCS, one after the other at full rate.
pub(crate) fn full_rate(rng: &mut ChaCha8Rng, bytes: usize, frames: usize) -> Vec<Symbol> {
    let mut line = Vec::new();
    for _ in 0..frames {
        line.extend(on_line(&random_frame(rng, bytes - 4)));
        line.extend(gap());
    }
    line
}

#[test]
fn good_frames_leave_the_other_port_whatever_else_is_on_the_lines() {
    run_test(0x0001_b0b0, |run| {
        let mut rng = run.rng("clocks");
        for _ in 0..6 {
            let mut around = |period: u64| rng.random_range(period - period / 5000..=period + period / 5000);
            let clocks = Clocks {
                rx: [around(8000), around(8000)],
                tx: around(8000),
                // It may be faster than needed.
                system: around(14_000),
                phase: around(3000),
                jitter: 300,
            };
            let mut bench = Bench::new(run, clocks);
            for port in 0..2 {
                // A few clocks of rest for each frame, so that even pauses leave room.
                let line = random_line(&mut rng, 150, 300);
                bench.send(port, &line);
            }
            assert_eq!(bench.check(), [[0; 2]; 2], "{clocks:?}");
            bench.finish();
        }
    });
}

#[test]
fn all_lengths_at_full_rate_both_ways_without_a_loss() {
    run_test(0x0002_b0b0, |run| {
        let mut rng = run.rng("frames");
        let mut bench = Bench::new(run, NOMINAL);
        for bytes in [64, 65, 71, 72, 73, 128, 512, 1518, LONGEST] {
            let frames = 40_000 / bytes;
            for port in 0..2 {
                let line = full_rate(&mut rng, bytes, frames);
                bench.send(port, &line);
            }
            assert_eq!(bench.check(), [[0; 2]; 2], "{bytes} bytes");
        }
        bench.finish();
    });
}

#[test]
fn a_frame_leaves_as_soon_as_it_is_whole() {
    run_test(0x0003_b0b0, |run| {
        for phase in [0, 1, 1234, 4000, 7999] {
            let mut bench = Bench::new(run, Clocks { phase, ..NOMINAL });
            for bytes in [64, 1518] {
                let line = on_line(&random_frame(&mut run.rng("frame"), bytes - 4));
                bench.send(0, &line);
                let mut first = |port: &str| {
                    while bench.sim.get(port) == 0 {
                        bench.sim.cycle();
                    }
                    bench.sim.time_ps()
                };
                let came = first("rx0_valid");
                let left = first("tx1_valid");
                let after = left - came - line.len() as u64 * 8000;
                assert!(
                    after <= 12 * 8000 + 12 * 16_000,
                    "{bytes} bytes: {after} ps after its end"
                );
                if bytes == 64 {
                    assert!(left - came <= 2_000_000, "{} ps through the bump", left - came);
                }
                println!(
                    "{bytes} bytes: {} ps from first bit to first bit, {after} ps after the last",
                    left - came
                );
                let _ = bench.check();
            }
            bench.finish();
        }
    });
}

#[test]
fn a_pause_frame_holds_its_own_port_and_what_has_no_room_is_counted() {
    run_test(0x0004_b0b0, |run| {
        let mut rng = run.rng("frames");
        let mut bench = Bench::new(run, NOMINAL);
        // 4000 quanta are 256000 clocks; the frames after it want to leave by the port that it came to.
        bench.send(1, &on_line(&pause_frame(4000)));
        bench.send(1, &gap());
        bench.sim.run_edges("rx1_clk", 200);
        bench.sent(1);
        let line = full_rate(&mut rng, 500, 60);
        bench.send(0, &line);
        bench.sim.run_edges("rx0_clk", 40_000);
        assert!(
            bench.sent(1).iter().all(|symbol| !symbol.valid),
            "the port is held"
        );
        assert_eq!(bench.counters(1)[SENT], 0);
        // The other direction goes on.
        let other = full_rate(&mut rng, 64, 20);
        bench.send(1, &other);
        // A pause of no time ends it.
        bench.send(1, &on_line(&pause_frame(0)));
        bench.send(1, &gap());
        let [[no_room, no_link], other] = bench.check();
        // A queue of 4096 bytes holds eight frames of 63 beats, and one is under way.
        assert_eq!((no_room, no_link, other), (60 - 8, 0, [0, 0]));
        // Then everything passes again.
        bench.send(0, &line);
        assert_eq!(bench.check(), [[0; 2]; 2]);
        bench.finish();
    });
}

#[test]
fn a_pause_begins_soon_after_its_frame_and_ends_with_its_time() {
    run_test(0x000a_b0b0, |run| {
        let mut bench = Bench::new(run, NOMINAL);
        let line = full_rate(&mut run.rng("frames"), 64, 40);
        bench.send(0, &line);
        bench.sim.run_edges("rx0_clk", 1000);
        bench.send(1, &on_line(&pause_frame(30)));
        bench.sim.run_edges("rx1_clk", 72);
        let before = bench.so_far(1).len();
        bench.sim.run_edges("tx_clk", 30 * 64 + 200);
        let after = bench.so_far(1).split_off(before);
        let starts: Vec<usize> = (1..after.len())
            .filter(|at| after[*at].valid && !after[*at - 1].valid)
            .collect();
        // 12 clocks of the line, and 6 of the system, of 2 clocks of the line each.
        let soon = starts.iter().filter(|at| **at <= 12 + 2 * 6).count();
        let later = starts.get(soon).copied().expect("frames go on after the pause");
        assert!(
            (30 * 64..=30 * 64 + 12 + 2 * 6).contains(&later),
            "a frame begins {later} clocks after the pause frame"
        );
        assert_eq!(bench.check(), [[0; 2]; 2]);
        bench.finish();
    });
}

#[test]
fn frames_for_a_link_that_is_down_are_counted() {
    run_test(0x0005_b0b0, |run| {
        let mut rng = run.rng("frames");
        let mut bench = Bench::new(run, NOMINAL);
        bench.link([true, false]);
        bench.sim.run_edges("clk", 4);
        assert_eq!(bench.sim.get("up"), 0b01);
        for port in 0..2 {
            let line = full_rate(&mut rng, 100, 10);
            bench.send(port, &line);
        }
        assert_eq!(bench.check(), [[0, 10], [0, 0]]);
        // The PHY's side says when it has refused a frame.
        for _ in 0..3 {
            bench.sim.set("link1_refused", true);
            bench.sim.run_edges("rx1_clk", 1);
            bench.sim.set("link1_refused", false);
            bench.sim.run_edges("rx1_clk", 5);
        }
        bench.sim.run_edges("clk", 20);
        assert_eq!(bench.counters(1)[REFUSED], 3);
        bench.link([true, true]);
        bench.sim.run_edges("clk", 4);
        bench.finish();
    });
}

#[test]
fn a_sender_that_is_faster_loses_whole_frames_which_are_counted() {
    run_test(0x0006_b0b0, |run| {
        let mut rng = run.rng("frames");
        // 2 %, two hundred times what crystals may do.
        let clocks = Clocks {
            rx: [7840, 8000],
            ..NOMINAL
        };
        let mut bench = Bench::new(run, clocks);
        for port in 0..2 {
            let line = full_rate(&mut rng, 300, 900);
            bench.send(port, &line);
        }
        let [[no_room, no_link], other] = bench.check();
        assert!((1..=20).contains(&no_room), "{no_room} frames lost of 900");
        assert_eq!((no_link, other), (0, [0, 0]));
        bench.finish();
    });
}

#[test]
fn a_line_whose_clock_stands_holds_nothing_but_itself() {
    run_test(0x0007_b0b0, |run| {
        let mut rng = run.rng("frames");
        let mut bench = Bench::new(run, NOMINAL);
        let line = full_rate(&mut rng, 200, 5);
        bench.send(0, &line);
        bench.sim.run_edges("rx0_clk", 300);
        bench.sim.set_running("rx0_clk", false);
        let other = full_rate(&mut rng, 64, 50);
        bench.send(1, &other);
        bench.sim.run_edges("tx_clk", 84 * 50 + 500);
        assert_eq!(bench.counters(0)[SENT], 50);
        bench.sim.set_running("rx0_clk", true);
        assert_eq!(bench.check(), [[0; 2]; 2]);
        bench.finish();
    });
}

#[test]
fn a_reset_in_traffic_leaves_nothing_behind() {
    run_test(0x0008_b0b0, |run| {
        let mut rng = run.rng("frames");
        for after in [100, 777, 1500] {
            let mut bench = Bench::new(run, NOMINAL);
            let line = full_rate(&mut rng, 300, 4);
            bench.send(0, &line);
            bench.send(1, &line);
            bench.sim.run_edges("clk", after);
            bench.sim.reset();
            bench.settle();
            bench.restart();
            let frame = on_line(&shortest());
            bench.send(0, &frame);
            bench.send(1, &frame);
            assert_eq!(bench.check(), [[0; 2]; 2]);
            bench.finish();
        }
    });
}

#[test]
fn counters_are_cleared_by_a_reset_and_unused_ones_are_zero() {
    run_test(0x0009_b0b0, |run| {
        let mut bench = Bench::new(run, NOMINAL);
        bench.send(0, &on_line(&shortest()));
        assert_eq!(bench.check(), [[0; 2]; 2]);
        assert_eq!((bench.counters(0)[GOOD], bench.counters(1)[SENT]), (1, 1));
        bench.sim.reset();
        bench.sim.run_edges("clk", 60);
        assert_eq!([bench.counters(0), bench.counters(1)], [[0; 16]; 2]);
        bench.restart();
        bench.finish();
    });
}
