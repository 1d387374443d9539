//! The stream primitives in the catalog.

use super::{
    Fifo, FifoConfig, FifoOutput, FrameArbiter, FrameDemux, FrameFifo, OutputQueue, PassFifo, ReadySlice,
    SkidBuffer, limits,
};
use crate::entry::{Checked, Config, Entry, Parameter, ParameterError, Values, Variant};
use spinneret_verilog::prelude::*;

/// [`Fifo`].
pub(crate) const FIFO: Entry = Entry {
    name: "fifo",
    doc: "first in, first out",
    shipped: false,
    parameters: |_: Config| {
        vec![
            width(),
            depth(),
            parameter("block", 0, 0, 1, "1: memory in block RAM, 0: in distributed RAM"),
            parameter("registered", 0, 0, 1, "1: data from a register, 0: falls through"),
            margin(),
        ]
    },
    derived: |_| Vec::new(),
    build: |values| boxed(Fifo::new(fifo_config(values))),
};

/// [`PassFifo`].
pub(crate) const PASS_FIFO: Entry = Entry {
    name: "pass_fifo",
    doc: "first in, first out, no latency while empty",
    shipped: false,
    parameters: FIFO.parameters,
    derived: |_| Vec::new(),
    build: |values| boxed(PassFifo::new(fifo_config(values))),
};

/// [`OutputQueue`].
pub(crate) const OUTPUT_QUEUE: Entry = Entry {
    name: "output_queue",
    doc: "first in, first out, with a register at the output",
    shipped: false,
    parameters: |_: Config| vec![width(), depth(), margin()],
    derived: |_| Vec::new(),
    build: |values| {
        boxed(OutputQueue::with_margin(
            number(values, "width"),
            number(values, "depth"),
            number(values, "margin"),
        ))
    },
};

/// [`SkidBuffer`].
pub(crate) const SKID_BUFFER: Entry = Entry {
    name: "skid_buffer",
    doc: "register slice of a stream",
    shipped: false,
    parameters: |_: Config| vec![width()],
    derived: |_| Vec::new(),
    build: |values| boxed(SkidBuffer::new(number(values, "width"))),
};

/// [`ReadySlice`].
pub(crate) const READY_SLICE: Entry = Entry {
    name: "ready_slice",
    doc: "register slice of a stream's ready alone",
    shipped: false,
    parameters: SKID_BUFFER.parameters,
    derived: |_| Vec::new(),
    build: |values| {
        Checked::new("ready_slice", &[width()], values)?;
        boxed(Ok(ReadySlice::new(number(values, "width"))))
    },
};

/// [`FrameFifo`].
pub(crate) const FRAME_FIFO: Entry = Entry {
    name: "frame_fifo",
    doc: "stores whole frames, drops what does not fit",
    shipped: false,
    parameters: |_: Config| vec![width(), depth()],
    derived: |_| Vec::new(),
    build: |values| boxed(FrameFifo::new(number(values, "width"), number(values, "depth"))),
};

/// [`FrameArbiter`].
pub(crate) const FRAME_ARBITER: Entry = Entry {
    name: "frame_arbiter",
    doc: "joins streams of frames in turn",
    shipped: false,
    parameters: |_: Config| vec![ports(), width()],
    derived: |_| Vec::new(),
    build: |values| {
        boxed(FrameArbiter::new(
            number(values, "ports"),
            number(values, "width"),
        ))
    },
};

/// [`FrameDemux`].
pub(crate) const FRAME_DEMUX: Entry = Entry {
    name: "frame_demux",
    doc: "sends every frame to the output that is selected",
    shipped: false,
    parameters: |_: Config| vec![ports(), width()],
    derived: |_| Vec::new(),
    build: |values| boxed(FrameDemux::new(number(values, "ports"), number(values, "width"))),
};

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    FIFO.model("fifo_fallthrough", &[("width", 32), ("depth", 4), ("margin", 1)]),
    FIFO.model("fifo_fallthrough_2", &[("width", 32), ("depth", 2)]),
    FIFO.model(
        "fifo_registered",
        &[("width", 32), ("depth", 4), ("registered", 1), ("margin", 3)],
    ),
    FIFO.model(
        "fifo_block",
        &[("width", 32), ("depth", 4), ("block", 1), ("registered", 1)],
    ),
    FIFO.model(
        "fifo_block_2",
        &[
            ("width", 32),
            ("depth", 2),
            ("block", 1),
            ("registered", 1),
            ("margin", 1),
        ],
    ),
    FIFO.model(
        "fifo_block_64",
        &[
            ("width", 61),
            ("depth", 64),
            ("block", 1),
            ("registered", 1),
            ("margin", 10),
        ],
    ),
    PASS_FIFO.model("pass_fifo", &[("width", 32), ("depth", 4), ("margin", 1)]),
    PASS_FIFO.model("pass_fifo_2", &[("width", 32), ("depth", 2)]),
    PASS_FIFO.model(
        "pass_fifo_block",
        &[
            ("width", 32),
            ("depth", 4),
            ("block", 1),
            ("registered", 1),
            ("margin", 1),
        ],
    ),
    PASS_FIFO.model(
        "pass_fifo_block_64",
        &[
            ("width", 61),
            ("depth", 64),
            ("block", 1),
            ("registered", 1),
            ("margin", 10),
        ],
    ),
    OUTPUT_QUEUE.model("output_queue", &[("width", 32), ("depth", 4), ("margin", 1)]),
    OUTPUT_QUEUE.model("output_queue_2", &[("width", 61), ("depth", 2)]),
    SKID_BUFFER.model("skid_buffer", &[("width", 61)]),
    FRAME_FIFO.model("frame_fifo_8", &[("width", 32), ("depth", 8)]),
    FRAME_FIFO.model("frame_fifo_64", &[("width", 61), ("depth", 64)]),
    FRAME_ARBITER.model("frame_arbiter_1", &[("width", 32), ("ports", 1)]),
    FRAME_ARBITER.model("frame_arbiter_2", &[("width", 32), ("ports", 2)]),
    FRAME_ARBITER.model("frame_arbiter_5", &[("width", 61), ("ports", 5)]),
    FRAME_DEMUX.model("frame_demux_1", &[("width", 32), ("ports", 1)]),
    FRAME_DEMUX.model("frame_demux_2", &[("width", 32), ("ports", 2)]),
    FRAME_DEMUX.model("frame_demux_5", &[("width", 61), ("ports", 5)]),
];

fn parameter(name: &'static str, value: usize, min: usize, max: usize, doc: &'static str) -> Parameter {
    Parameter {
        name,
        value: value as u64,
        min: min as u64,
        max: max as u64,
        verilog: None,
        doc,
    }
}

fn width() -> Parameter {
    parameter("width", 32, 1, limits::MAX_WIDTH, "width of the payload in bits")
}

fn depth() -> Parameter {
    parameter("depth", 16, 2, limits::MAX_DEPTH, "places, a power of two")
}

fn margin() -> Parameter {
    parameter(
        "margin",
        0,
        0,
        limits::MAX_DEPTH - 1,
        "elements that still fit when almost_full rises",
    )
}

/// Parameters of a FIFO as [`FIFO`] lists them.
fn fifo_config(values: &Values) -> FifoConfig {
    FifoConfig {
        width: number(values, "width"),
        depth: number(values, "depth"),
        storage: if number(values, "block") == 1 {
            RamStyle::Block
        } else {
            RamStyle::Distributed
        },
        output: if number(values, "registered") == 1 {
            FifoOutput::Registered
        } else {
            FifoOutput::Fallthrough
        },
        margin: number(values, "margin"),
    }
}

fn ports() -> Parameter {
    parameter(
        "ports",
        2,
        1,
        limits::MAX_PORTS,
        "number of streams that are joined or told apart",
    )
}

/// The value of a parameter; the blocks refuse what does not fit.
fn number(values: &Values, name: &str) -> usize {
    values
        .get(name)
        .map_or(0, |value| usize::try_from(*value).unwrap_or(usize::MAX))
}

fn boxed<B: Block + 'static>(block: Result<B, ParameterError>) -> Result<Box<dyn Block>, ParameterError> {
    Ok(Box::new(block?))
}

#[cfg(test)]
mod tests {
    use super::SIMULATED;
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
}
