//! The cells of packets: which are free, and which queue may take one.

use super::SchedulerShape;
use crate::entry::ParameterError;
use crate::stream::{Fifo, FifoConfig, StreamOut};
use spinneret_verilog::prelude::*;

/// Free cells in distributed RAM; more are in block RAM.
const DISTRIBUTED: usize = 128;

/// Gives cells to packets: each queue has one of its own, the others are shared.
#[module(shape: SchedulerShape, error = ParameterError)]
pub struct CellPool {
    /// A free cell; none until all are free after reset.
    pub free: StreamOut<{ shape.cell() }>,
    /// Queue of the packet that takes it.
    pub queue: Wire<In, { shape.queue() }>,
    /// Its own cell is taken, as of the clock before: the packet takes a shared one.
    pub is_shared: Wire<Out, bool>,
    /// The packet cannot have one.
    pub is_full: Wire<Out, bool>,
    /// The cell `back` is free.
    pub returns: Wire<In, bool>,
    /// It.
    pub back: Wire<In, { shape.cell() }>,
    /// The queue that had it.
    pub back_queue: Wire<In, { shape.queue() }>,
    /// It is the queue's own one.
    pub back_own: Wire<In, bool>,
    /// After reset: the cells become free, one a clock.
    pub fills: Wire<Out, bool>,
    /// Counts meanwhile, and comes to each queue.
    pub filled: Wire<Out, { shape.queue() }>,
    /// Queues that have no cell for another packet.
    pub full: Wire<Out, { shape.queues }>,
    cells: Checked<Fifo<{ FifoConfig::by_depth(shape.cell(), shape.cells, DISTRIBUTED) }>>,
    count: Reg<{ shape.cell() }, Reset>,
    is_filled: Reg<bool, Reset>,
    /// Queues whose own cell is taken, shared cells that are, and whether those are all.
    holds: [Reg<bool, Reset>; shape.queues],
    shared: Reg<{ shape.cell() }, Reset>,
    is_short: Reg<bool, Reset>,
}

#[kernel(CellPool, suffix = shape.suffix())]
fn update() {
    let all_held = word_of(holds.iter().copied());
    full = all_held & is_short.repeat(shape.queues);
    is_shared = reg(all_held[queue]);
    is_full = is_shared && is_short;
    is_short = shared == (shape.cells - shape.queues) as u64;

    free.data = cells.m.data;
    free.valid = cells.m.valid && is_filled;
    cells.m.ready = free.ready && is_filled;
    let takes = free.valid && free.ready;
    for (number, held) in holds.iter().enumerate() {
        if takes && !is_shared && queue == number as u64 {
            *held = true;
        } else if returns && back_own && back_queue == number as u64 {
            *held = false;
        }
    }
    let (more, less) = (takes && is_shared, returns && !back_own);
    if more && !less {
        shared = shared + 1;
    } else if less && !more {
        shared = shared - 1;
    }

    fills = !is_filled;
    filled = count.slice(0, shape.queue());
    cells.s.valid = fills || returns;
    cells.s.data = if fills { count } else { back };
    if fills && cells.s.ready {
        count = count + 1;
        is_filled = count.all();
    }
    assert!(!returns || cells.s.ready, "each cell is free once");
}
