//! The block with beats of all widths, as Corundum has them at 100, 25 and 10 Gb/s: one beat a clock everywhere, and the same
//! behaviour.

use super::{Actions, AppBench, Clocks, Stimulus, Work, all_contexts};
use spinneret_sim::prelude::*;
use spinneret_tb::app::{Flow, Totals, measure_rate, measure_work, prepare_work, run_round};
use spinneret_tb::bench::Finish as _;

spinneret_tb::test_models! {
    w64: MqnicAppBlockW64,
    w128: MqnicAppBlockW128,
    w256: MqnicAppBlockW256,
    w512: MqnicAppBlock;
    [passing_frames_take_one_beat_a_clock, matched_frames_take_one_beat_a_clock, everything_at_once_is_accounted_for]
}

/// Bytes of a beat.
fn beat<M: Model>(sim: &Simulation<M>) -> usize {
    let port = sim.dut.instance().find("s_axis_if_rx_0_tdata");
    port.expect("frames from the wire").width() / 8
}

/// Frames back to back, unmatched ones and those of the host.
fn passing_frames_take_one_beat_a_clock<M: Model>(run: &mut TestRun) {
    let sim: Simulation<M> = run.simulation_with(&Clocks::BOARD.domains());
    let beat = beat(&sim);
    let mut bench = AppBench::new(sim, Clocks::BOARD, &Stimulus::default());
    bench.bring_up(all_contexts(Actions::NONE));
    for flow in Flow::ALL {
        for size in [60, 64, 65, 128, 300, 1500] {
            let (found, wanted) = (measure_rate(&mut bench, flow, size), size.div_ceil(beat) as f64);
            assert!(
                (found - wanted).abs() < 1e-9,
                "{flow:?}, {size} bytes: {found} clocks a frame, not {wanted}"
            );
        }
    }
    bench.finish();
}

/// Matched frames of 1500 bytes back to back, with a cluster that is as fast as the core: they are written into slots, and sent to
/// the wire again. The stand-in does one packet after another, in 60 clocks at 512 bits; sending it waits for the last beat, of which
/// there are 24 at 512 bits.
fn matched_frames_take_one_beat_a_clock<M: Model>(run: &mut TestRun) {
    const SIZE: usize = 1500;
    const STAND_IN: f64 = 60.0;
    const WIDE_BEATS: f64 = 24.0;
    let sim: Simulation<M> = run.simulation_with(&Clocks::EQUAL.domains());
    let beats = SIZE.div_ceil(beat(&sim)) as f64;
    let mut bench = prepare_work(sim, Clocks::EQUAL);
    for (work, wanted) in [
        (Work::Take, beats.max(STAND_IN)),
        (Work::Send, STAND_IN + beats - WIDE_BEATS),
    ] {
        let found = measure_work(&mut bench, work, SIZE, 0);
        assert!(
            found <= wanted * super::TOLERANCE,
            "{work:?}: {found} clocks a packet, not {wanted}"
        );
    }
    bench.finish();
}

fn everything_at_once_is_accounted_for<M: Model>(run: &mut TestRun) {
    let mut rng = run.rng("clocks");
    let mut totals = Totals::default();
    for _ in 0..8 {
        let clocks = Clocks::random(&mut rng);
        let sim: Simulation<M> = run.simulation_with(&clocks.domains());
        totals += run_round(sim, clocks, 600);
    }
    println!("seed {}: {totals}", run.seed());
    assert!(
        totals.hers > 500 && totals.frames > 300 && totals.resets > 2,
        "{totals}"
    );
}
