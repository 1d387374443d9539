//! The stream primitives in the catalog, and the limits of their parameters.

use super::{
    Fifo, FifoConfig, FrameArbiter, FrameDemux, FrameFifo, OutputQueue, PassFifo, ReadySlice, SkidBuffer,
};
use crate::entry::{Entry, Parameters as _, Variant};
use crate::limits::Limit;
pub(super) use crate::limits::WIDTH;

/// Elements of a memory, whose pointers wrap at a power of two.
pub(super) const DEPTH: Limit = Limit::number("depth", [2, 65536], "places, a power of two").power_of_two();
/// How early `almost_full` rises; less than the depth.
pub(super) const MARGIN: Limit = Limit::number(
    "margin",
    [0, 65535],
    "elements that still fit when almost_full rises",
);
/// Inputs of an arbiter and outputs of a demultiplexer. One needs neither, but a generator may ask for it.
pub(super) const PORTS: Limit = Limit::number(
    "ports",
    [1, 64],
    "number of streams that are joined or told apart",
);

/// [`Fifo`].
pub(crate) const FIFO: Entry = Entry::part("fifo", "first in, first out", FifoConfig::parameters, |values| {
    Ok(Box::new(Fifo::new(FifoConfig::new(values)?)?))
});

/// [`PassFifo`].
pub(crate) const PASS_FIFO: Entry = entry!(part "pass_fifo", PassFifo(FifoConfig)?:
    "first in, first out, no latency while empty");

/// [`OutputQueue`].
pub(crate) const OUTPUT_QUEUE: Entry = Entry::part(
    "output_queue",
    "first in, first out, with a register at the output",
    |_| vec![WIDTH.parameter(32), DEPTH.parameter(16), MARGIN.parameter(0)],
    |values| {
        let [width, depth, margin] = [WIDTH, DEPTH, MARGIN].map(|limit| limit.of(values));
        Ok(Box::new(OutputQueue::new(width, depth, margin)?))
    },
);

/// [`SkidBuffer`].
pub(crate) const SKID_BUFFER: Entry = Entry::part(
    "skid_buffer",
    "register slice of a stream",
    |_| vec![WIDTH.parameter(32)],
    |values| Ok(Box::new(SkidBuffer::new(WIDTH.of(values))?)),
);

/// [`ReadySlice`].
pub(crate) const READY_SLICE: Entry = Entry::part(
    "ready_slice",
    "register slice of a stream's ready alone",
    SKID_BUFFER.parameters,
    |values| {
        let width = WIDTH.check("ready_slice", WIDTH.of(values))?;
        Ok(Box::new(ReadySlice::new(width)))
    },
);

/// [`FrameFifo`].
pub(crate) const FRAME_FIFO: Entry = Entry::part(
    "frame_fifo",
    "stores whole frames, drops what does not fit",
    |_| vec![WIDTH.parameter(32), DEPTH.parameter(16)],
    |values| Ok(Box::new(FrameFifo::new(WIDTH.of(values), DEPTH.of(values))?)),
);

/// [`FrameArbiter`].
pub(crate) const FRAME_ARBITER: Entry = Entry::part(
    "frame_arbiter",
    "joins streams of frames in turn",
    |_| vec![PORTS.parameter(2), WIDTH.parameter(32)],
    |values| Ok(Box::new(FrameArbiter::new(PORTS.of(values), WIDTH.of(values))?)),
);

/// [`FrameDemux`].
pub(crate) const FRAME_DEMUX: Entry = Entry::part(
    "frame_demux",
    "sends every frame to the output that is selected",
    FRAME_ARBITER.parameters,
    |values| Ok(Box::new(FrameDemux::new(PORTS.of(values), WIDTH.of(values))?)),
);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    FIFO.variant("fifo_fallthrough", "width=32 depth=4 margin=1"),
    FIFO.variant("fifo_fallthrough_2", "width=32 depth=2"),
    FIFO.variant("fifo_registered", "width=32 depth=4 registered=1 margin=3"),
    FIFO.variant("fifo_block", "width=32 depth=4 block=1 registered=1"),
    FIFO.variant("fifo_block_2", "width=32 depth=2 block=1 registered=1 margin=1"),
    FIFO.variant(
        "fifo_block_64",
        "width=61 depth=64 block=1 registered=1 margin=10",
    ),
    PASS_FIFO.variant("pass_fifo", "width=32 depth=4 margin=1"),
    PASS_FIFO.variant("pass_fifo_2", "width=32 depth=2"),
    PASS_FIFO.variant("pass_fifo_register", "width=32 depth=4 registered=1 margin=1"),
    PASS_FIFO.variant("pass_fifo_register_2", "width=32 depth=2 registered=1"),
    PASS_FIFO.variant(
        "pass_fifo_block",
        "width=32 depth=4 block=1 registered=1 margin=1",
    ),
    PASS_FIFO.variant(
        "pass_fifo_block_64",
        "width=61 depth=64 block=1 registered=1 margin=10",
    ),
    OUTPUT_QUEUE.variant("output_queue", "width=32 depth=4 margin=1"),
    OUTPUT_QUEUE.variant("output_queue_2", "width=61 depth=2"),
    SKID_BUFFER.variant("skid_buffer", "width=61"),
    FRAME_FIFO.variant("frame_fifo_8", "width=32 depth=8"),
    FRAME_FIFO.variant("frame_fifo_64", "width=61 depth=64"),
    FRAME_ARBITER.variant("frame_arbiter_1", "width=32 ports=1"),
    FRAME_ARBITER.variant("frame_arbiter_2", "width=32 ports=2"),
    FRAME_ARBITER.variant("frame_arbiter_5", "width=61 ports=5"),
    FRAME_DEMUX.variant("frame_demux_1", "width=32 ports=1"),
    FRAME_DEMUX.variant("frame_demux_2", "width=32 ports=2"),
    FRAME_DEMUX.variant("frame_demux_5", "width=61 ports=5"),
];

#[cfg(test)]
mod tests {
    use super::{FIFO, FRAME_ARBITER, FRAME_DEMUX, FRAME_FIFO, OUTPUT_QUEUE, PASS_FIFO, SIMULATED};
    use crate::catalog;
    use crate::entry::{Config, Variant};

    #[test]
    fn simulates_blocks_of_the_catalog_that_can_be_built() {
        for (name, entry, values) in SIMULATED.iter().map(Variant::complete) {
            assert!(catalog::find(entry.name).is_some(), "{name}");
            let known = entry.values(Config::Reference);
            assert!(
                values.keys().eq(known.keys()),
                "{name} sets a parameter that {} does not have",
                entry.name
            );
            let built = (entry.build)(&values).map(|_| ());
            assert_eq!(built, Ok(()), "{name}");
        }
    }

    #[test]
    fn refuses_what_cannot_be_built() {
        let beyond = "it must be less than the depth, 16";
        let block = "it must be 1 with block RAM, which reads into a register";
        for (entry, name, value, reason) in [
            (FIFO, "depth", 12, "it must be a power of two"),
            (FIFO, "width", 0, "it must be from 1 to 4096"),
            (FIFO, "margin", 16, beyond),
            (FIFO, "block", 1, block),
            (PASS_FIFO, "depth", 12, "it must be a power of two"),
            (OUTPUT_QUEUE, "margin", 16, beyond),
            (
                FRAME_FIFO,
                "depth",
                12,
                "it must be a power of two from 2 to 65536",
            ),
            (FRAME_ARBITER, "ports", 0, "it must be from 1 to 64"),
            (FRAME_DEMUX, "ports", 0, "it must be from 1 to 64"),
        ] {
            let values = entry.with(Config::Reference, &[(name, value)]);
            let refused = (entry.build)(&values).err().map(|error| error.reason);
            assert_eq!(refused.as_deref(), Some(reason), "{}", entry.name);
        }
    }
}
