//! The crossings in the catalog.

use super::{
    AsyncFifo, AxiCrossing, AxiExtras, AxiLiteCrossing, BusSync, LevelSync, LinkReset, LinkedFifos,
    ResetSync, limits,
};
use crate::axi::AxiShape;
use crate::entry::{Checked, Config, Entry, Parameter, ParameterError, Values, Variant};
use spinneret_verilog::prelude::*;

/// [`AsyncFifo`].
pub(crate) const ASYNC_FIFO: Entry = Entry {
    name: "async_fifo",
    doc: "first in, first out, from one clock to another",
    shipped: false,
    parameters: |_: Config| vec![width(), depth()],
    derived: |_| Vec::new(),
    build: |values| boxed(AsyncFifo::new(number(values, "width"), number(values, "depth"))),
};

/// [`LevelSync`].
pub(crate) const LEVEL_SYNC: Entry = Entry {
    name: "level_sync",
    doc: "bits into another clock, each for itself",
    shipped: false,
    parameters: |_: Config| vec![width()],
    derived: |_| Vec::new(),
    build: |values| {
        Checked::new("level_sync", &[width()], values)?;
        boxed(Ok(LevelSync::new(number(values, "width"))))
    },
};

/// [`ResetSync`].
pub(crate) const RESET_SYNC: Entry = Entry {
    name: "reset_sync",
    doc: "a reset into another clock",
    shipped: false,
    parameters: |_: Config| Vec::new(),
    derived: |_| Vec::new(),
    build: |_| boxed(Ok(ResetSync::new())),
};

/// [`BusSync`].
pub(crate) const BUS_SYNC: Entry = Entry {
    name: "bus_sync",
    doc: "words into another clock, one at a time",
    shipped: false,
    parameters: |_: Config| vec![width()],
    derived: |_| Vec::new(),
    build: |values| {
        Checked::new("bus_sync", &[width()], values)?;
        boxed(Ok(BusSync::new(number(values, "width"))))
    },
};

/// [`AxiCrossing`].
pub(crate) const AXI_CROSSING: Entry = Entry {
    name: "axi_crossing",
    doc: "AXI4 from one clock to another",
    shipped: false,
    parameters: |_: Config| {
        vec![
            parameter("address_width", 32, [1, 64], "width of an address in bits"),
            parameter(
                "data_width",
                64,
                [8, 1024],
                "width of a beat in bits, a power of two",
            ),
            parameter("id_width", 4, [1, 32], "width of an id in bits"),
            depth(),
            parameter("atop", 0, [0, 1], "1: with atomic operations"),
            parameter(
                "user_width",
                0,
                [0, 64],
                "width of the user signals of addresses in bits; 0: there are none",
            ),
        ]
    },
    derived: |_| Vec::new(),
    build: |values| {
        let shape = AxiShape {
            address: number(values, "address_width"),
            data: number(values, "data_width"),
            id: number(values, "id_width"),
        };
        let extras = AxiExtras {
            atop: number(values, "atop") == 1,
            user: number(values, "user_width"),
        };
        boxed(AxiCrossing::new(shape, number(values, "depth"), extras))
    },
};

/// [`AxiLiteCrossing`].
pub(crate) const AXI_LITE_CROSSING: Entry = Entry {
    name: "axi_lite_crossing",
    doc: "AXI4-Lite from one clock to another",
    shipped: false,
    parameters: |_: Config| {
        vec![
            parameter("address_width", 24, [1, 64], "width of an address in bits"),
            parameter(
                "data_width",
                32,
                [8, 1024],
                "width of data in bits, a power of two",
            ),
        ]
    },
    derived: |_| Vec::new(),
    build: |values| {
        boxed(AxiLiteCrossing::new(
            number(values, "address_width"),
            number(values, "data_width"),
        ))
    },
};

/// [`LinkReset`].
pub(crate) const LINK_RESET: Entry = Entry {
    name: "link_reset",
    doc: "resets of both sides of a set of crossings",
    shipped: false,
    parameters: |_: Config| Vec::new(),
    derived: |_| Vec::new(),
    build: |_| boxed(Ok(LinkReset::new())),
};

/// [`LinkedFifos`].
pub(crate) const LINKED_FIFOS: Entry = Entry {
    name: "linked_fifos",
    doc: "queues there and back between two clocks, with their resets",
    shipped: false,
    parameters: ASYNC_FIFO.parameters,
    derived: |_| Vec::new(),
    build: |values| boxed(LinkedFifos::new(number(values, "width"), number(values, "depth"))),
};

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ASYNC_FIFO.model("async_fifo", &[("width", 32), ("depth", 16)]),
    ASYNC_FIFO.model("async_fifo_4", &[("width", 61), ("depth", 4)]),
    LEVEL_SYNC.model("level_sync", &[("width", 4)]),
    RESET_SYNC.model("reset_sync", &[]),
    BUS_SYNC.model("bus_sync", &[("width", 32)]),
    AXI_CROSSING.model("axi_crossing", &[("atop", 1), ("user_width", 4)]),
    AXI_CROSSING.model("axi_crossing_4", &[("depth", 4), ("data_width", 512)]),
    AXI_LITE_CROSSING.model("axi_lite_crossing", &[]),
    LINK_RESET.model("link_reset", &[]),
    LINKED_FIFOS.model("linked_fifos", &[("depth", 4)]),
];

fn parameter(name: &'static str, value: u64, range: [u64; 2], doc: &'static str) -> Parameter {
    Parameter::new(name, value, range, doc)
}

fn width() -> Parameter {
    let range = [1, limits::MAX_WIDTH as u64];
    parameter("width", 32, range, "width of the payload in bits")
}

fn depth() -> Parameter {
    let range = [limits::MIN_DEPTH as u64, limits::MAX_DEPTH as u64];
    parameter("depth", 16, range, "places, a power of two")
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
