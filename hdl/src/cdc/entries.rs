//! The crossings in the catalog, and the limits of their parameters.

use super::{AsyncFifo, AxiCrossing, BusSync, LevelSync, LinkReset, LinkedFifos, ResetSync};
use crate::axi::{AxiExtras, AxiShape, UserWidths};
use crate::entry::{Entry, Parameter, Variant};
use crate::limits::Limit;
pub(super) use crate::limits::WIDTH;

/// Places of a queue: with fewer its Gray pointers have no two highest bits to compare, and it is distributed RAM.
pub(super) const DEPTH: Limit = Limit::number("depth", [4, 1024], "places, a power of two").power_of_two();
/// An address.
pub(super) const ADDRESS: Limit = Limit::bits("address_width", [1, 64], "width of an address in bits");
/// A beat, a whole number of bytes.
pub(super) const DATA: Limit =
    Limit::bits("data_width", [8, 1024], "width of a beat in bits, a power of two").power_of_two();
/// An id.
pub(super) const ID: Limit = Limit::bits("id_width", [1, 32], "width of an id in bits");
/// Atomic operations.
pub(super) const ATOP: Limit = Limit::number("atop", [0, 1], "1: with atomic operations");
/// The user signals of addresses.
pub(super) const USER: Limit = Limit::bits(
    "user_width",
    [0, 64],
    "width of the user signals of addresses in bits; 0: there are none",
);

/// Accesses of AXI4-Lite that can be on their way.
const LITE_DEPTH: usize = 4;

/// [`AsyncFifo`].
pub(crate) const ASYNC_FIFO: Entry = Entry::part(
    "async_fifo",
    "first in, first out, from one clock to another",
    |_| vec![WIDTH.parameter(32), DEPTH.parameter(16)],
    |values| Ok(Box::new(AsyncFifo::new(WIDTH.of(values), DEPTH.of(values))?)),
);

/// [`LevelSync`].
pub(crate) const LEVEL_SYNC: Entry = Entry::part(
    "level_sync",
    "bits into another clock, each for itself",
    |_| vec![WIDTH.parameter(32)],
    |values| {
        let width = WIDTH.check("level_sync", WIDTH.of(values))?;
        Ok(Box::new(LevelSync::new(width)))
    },
);

/// [`ResetSync`].
pub(crate) const RESET_SYNC: Entry = entry!(part "reset_sync", ResetSync(): "a reset into another clock");

/// [`BusSync`].
pub(crate) const BUS_SYNC: Entry = Entry::part(
    "bus_sync",
    "words into another clock, one at a time",
    LEVEL_SYNC.parameters,
    |values| {
        let width = WIDTH.check("bus_sync", WIDTH.of(values))?;
        Ok(Box::new(BusSync::new(width)))
    },
);

/// [`AxiCrossing`].
pub(crate) const AXI_CROSSING: Entry = Entry::part(
    "axi_crossing",
    "AXI4 from one clock to another",
    |_| {
        vec![
            ADDRESS.parameter(32),
            DATA.parameter(64),
            ID.parameter(4),
            DEPTH.parameter(16),
            ATOP.parameter(0),
            USER.parameter(0),
        ]
    },
    |values| {
        let shape = AxiShape {
            address: ADDRESS.of(values),
            data: DATA.of(values),
            id: ID.of(values),
            extras: AxiExtras {
                atop: ATOP.of(values) == 1,
                user: UserWidths::addresses(USER.of(values)),
                ..AxiExtras::NONE
            },
        };
        Ok(Box::new(AxiCrossing::new(shape, DEPTH.of(values))?))
    },
);

/// [`AxiCrossing`] of AXI4-Lite, with as few places as there can be.
pub(crate) const AXI_LITE_CROSSING: Entry = Entry::part(
    "axi_lite_crossing",
    "AXI4-Lite from one clock to another",
    |_| {
        let data = Parameter {
            doc: "width of data in bits, a power of two",
            ..DATA.parameter(32)
        };
        vec![ADDRESS.parameter(24), data]
    },
    |values| {
        let shape = AxiShape::lite(ADDRESS.of(values), DATA.of(values));
        Ok(Box::new(AxiCrossing::new(shape, LITE_DEPTH)?))
    },
);

/// [`LinkReset`].
pub(crate) const LINK_RESET: Entry = Entry::part(
    "link_reset",
    "resets of both sides of a set of crossings",
    RESET_SYNC.parameters,
    |_| Ok(Box::new(LinkReset::new())),
);

/// [`LinkedFifos`].
pub(crate) const LINKED_FIFOS: Entry = Entry::part(
    "linked_fifos",
    "queues there and back between two clocks, with their resets",
    ASYNC_FIFO.parameters,
    |values| Ok(Box::new(LinkedFifos::new(WIDTH.of(values), DEPTH.of(values))?)),
);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ASYNC_FIFO.variant("async_fifo", "width=32 depth=16"),
    ASYNC_FIFO.variant("async_fifo_4", "width=61 depth=4"),
    LEVEL_SYNC.variant("level_sync", "width=4"),
    RESET_SYNC.variant("reset_sync", ""),
    BUS_SYNC.variant("bus_sync", "width=32"),
    AXI_CROSSING.variant("axi_crossing", "atop=1 user_width=4"),
    AXI_CROSSING.variant("axi_crossing_4", "depth=4 data_width=512"),
    AXI_LITE_CROSSING.variant("axi_lite_crossing", ""),
    LINK_RESET.variant("link_reset", ""),
    LINKED_FIFOS.variant("linked_fifos", "depth=4"),
];
