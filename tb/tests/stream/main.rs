//! The stream primitives against reference models in plain Rust, on the generated text.
//!
//! Every test compares the block with its reference model, which predicts all outputs in every cycle, so
//! latency, throughput and backpressure are checked in all traffic and not in directed cases alone.

mod fifo;
mod frame_arbiter;
mod frame_demux;
mod frame_fifo;
mod rate_limiter;

use spinneret_tb::reference;

/// Frames of numbered beats.
mod frames {
    use spinneret_sim::prelude::*;

    /// The fields of a stream of frames.
    pub(crate) const FRAME: &[&str] = &["data", "last"];

    /// Sends a frame whose beats carry its tag and their number.
    pub(crate) fn send(source: &ChannelSource, tag: u64, beats: u64) {
        for beat in 1..=beats {
            source.send(&[tag << 8 | beat, u64::from(beat == beats)]);
        }
    }

    /// A frame that arrived.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Arrived {
        pub(crate) tag: u64,
        pub(crate) beats: u64,
        pub(crate) first_cycle: u64,
        pub(crate) last_cycle: u64,
    }

    /// The frames that arrived; every one must be whole, with its beats in order.
    pub(crate) fn receive(sink: &ChannelSink) -> Vec<Arrived> {
        let items = sink.receive_all();
        items
            .split_inclusive(|item| item.values[1] == 1)
            .map(frame)
            .collect()
    }

    fn frame(items: &[Item]) -> Arrived {
        let (first, last) = (&items[0], &items[items.len() - 1]);
        let tag = first.values[0] >> 8;
        let expected: Vec<u64> = (1..=items.len() as u64).map(|beat| tag << 8 | beat).collect();
        let found: Vec<u64> = items.iter().map(|item| item.values[0]).collect();
        assert_eq!(found, expected, "a frame is not whole");
        assert_eq!(last.values[1], 1, "a frame has no end");
        Arrived {
            tag,
            beats: items.len() as u64,
            first_cycle: first.cycle,
            last_cycle: last.cycle,
        }
    }

    /// Tags and lengths of the frames that arrived.
    pub(crate) fn contents(frames: &[Arrived]) -> Vec<(u64, u64)> {
        frames.iter().map(|frame| (frame.tag, frame.beats)).collect()
    }

    /// Number of beats of a frame: often one, sometimes as many as `longest`.
    pub(crate) fn random_length(rng: &mut ChaCha8Rng, longest: u64) -> u64 {
        if rng.random_range(0..3) == 0 {
            1
        } else {
            rng.random_range(1..=longest)
        }
    }
}
