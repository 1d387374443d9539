//! Cycles of the egress path, counted.

use super::bench::{EgressBench, PIECE};
use super::command::Command;
use spinneret_sim::model::Model;

/// Where the frames lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// That many bytes behind the start of a line, all of them.
    Offset(u64),
    /// Each at another place of its line.
    Everywhere,
}

/// What was counted for frames of one size, in clock cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Cycles a frame, back to back: from the end of one to that of a later one, divided by their number.
    pub per_frame: f64,
    /// Lines of memory a frame, on average: the clocks that the bus needs for it.
    pub lines: f64,
    /// From the cycle that takes the command to that of the first beat, through an empty path.
    pub latency: u64,
    /// From the cycle that takes the command to that of its answer, through an empty path.
    pub answer: u64,
}

/// Frames before counting starts.
const WARM_UP: u64 = 128;
/// Frames that are counted.
const COUNTED: u64 = 256;

/// Counts the cycles of frames of one size.
///
/// # Panics
/// If a frame is lost or changed, or comes to nothing.
pub fn measure<M: Model>(bench: &mut EgressBench<M>, size: u64, place: Place) -> Rate {
    let (latency, answer) = measure_alone(bench, size, place);
    let before = bench.wire.total();
    let mut lines = 0;
    for number in 0..WARM_UP + COUNTED {
        let command = command(bench, size, place, number);
        bench.send(command);
        if number > WARM_UP {
            lines += bench.setup.lines(command.source, command.length);
        }
    }
    let first = last_cycle(bench, before + WARM_UP + 1);
    let last = last_cycle(bench, before + WARM_UP + COUNTED);
    bench.settle();
    let counted = (COUNTED - 1) as f64;
    Rate {
        per_frame: (last - first) as f64 / counted,
        lines: lines as f64 / counted,
        latency,
        answer,
    }
}

/// One frame through an empty path.
fn measure_alone<M: Model>(bench: &mut EgressBench<M>, size: u64, place: Place) -> (u64, u64) {
    bench.settle();
    let taken = bench.sim.cycle_count();
    bench.send(command(bench, size, place, 0));
    bench.settle();
    let first = bench.last_frame.as_ref().map_or(0, |frame| frame.first_cycle);
    let answer = bench.last_answer.map_or(0, |(cycle, _)| cycle);
    (first - taken, answer - taken)
}

fn command<M: Model>(bench: &EgressBench<M>, size: u64, place: Place, number: u64) -> Command {
    let beat = bench.setup.beat;
    let (offset, step) = match place {
        Place::Offset(offset) => (offset, 0),
        // A step that goes through all places.
        Place::Everywhere => (0, 37),
    };
    let slot = (size + 2 * beat).next_multiple_of(beat);
    let source = number % (PIECE / slot) * slot + (offset + step * number) % beat;
    Command {
        id: number % bench.setup.ids,
        source,
        length: size,
    }
}

/// Runs until the wire has that many frames; the cycle of the last one's last beat.
fn last_cycle<M: Model>(bench: &mut EgressBench<M>, frames: u64) -> u64 {
    bench.run_until_frames(frames);
    bench.last_frame.as_ref().map_or(0, |frame| frame.last_cycle)
}
