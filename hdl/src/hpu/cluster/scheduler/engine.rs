//! The queues: which packets they hold, and what is next for their messages.

use super::super::{
    CELL, ContextSettingIn, ContextTotalsIn, QUEUE, TASK_CLOCKS, TaskEnd, TaskOrigin, WEIGHT,
};
use super::{CellPool, ClusterLoads, ContextShares, SchedulerShape};
use crate::entry::ParameterError;
use crate::stream::StreamIn;
use spinneret_verilog::prelude::*;

/// A packet whose words are in its cell.
#[interface(PacketIn, queue: usize, cell: usize)]
pub struct PacketOut {
    /// There is one.
    pub valid: Wire<Out, bool>,
    /// It is taken.
    pub ready: Wire<In, bool>,
    /// Its queue.
    pub queue: Wire<Out, { queue }>,
    /// It is the last one of its message.
    pub is_last: Wire<Out, bool>,
    /// Its context has a header handler.
    pub has_header: Wire<Out, bool>,
    /// A payload handler.
    pub has_payload: Wire<Out, bool>,
    /// A completion handler.
    pub has_completion: Wire<Out, bool>,
    /// There is a cell for the next packet. It stays until that is taken.
    pub cell_valid: Wire<In, bool>,
    /// It.
    pub cell: Wire<In, { cell }>,
}

/// A task for a cluster.
#[interface(TaskJobIn, shape: SchedulerShape)]
pub struct TaskJob {
    /// There is one.
    pub valid: Wire<Out, bool>,
    /// It is taken.
    pub ready: Wire<In, bool>,
    /// Cell of its packet.
    pub cell: Wire<Out, { shape.cell() }>,
    /// Cell with its context.
    pub first: Wire<Out, { shape.cell() }>,
    /// Its queue.
    pub queue: Wire<Out, { shape.queue() }>,
    /// 0 header, 1 payload, 2 completion handler.
    pub stage: Wire<Out, 2>,
    /// The packet is done with it.
    pub frees: Wire<Out, bool>,
    /// The cluster.
    pub cluster: Wire<Out, { shape.cluster() }>,
}

/// A packet that is done.
#[interface(ReturnJobIn, queue: usize, cell: usize)]
pub struct ReturnJob {
    /// There is one.
    pub valid: Wire<Out, bool>,
    /// Its feedback is taken.
    pub ready: Wire<In, bool>,
    /// Its cell.
    pub cell: Wire<Out, { cell }>,
    /// Its queue.
    pub queue: Wire<Out, { queue }>,
}

/// States of a queue. Bit 2: a handler has to end first; bit 1: it has something to do, else if a packet waits.
mod state {
    /// No message.
    pub(super) const FREE: u64 = 0;
    /// Payload handlers run, as packets come.
    pub(super) const PAYLOAD: u64 = 1;
    /// The completion handler is ready to run.
    pub(super) const COMPLETION: u64 = 2;
    /// The message is over, except for the cell of its first packet.
    pub(super) const OVER: u64 = 3;
    /// The header handler runs.
    pub(super) const HEADER: u64 = 4;
    /// The last packet has left the list, and payload handlers run.
    pub(super) const DRAINING: u64 = 5;
    /// The completion handler runs.
    pub(super) const COMPLETING: u64 = 6;
}

/// State of a queue and its message.
#[record(cell: usize, running: usize)]
struct Record {
    /// One of [`state`].
    state: Field<3>,
    /// Payload handlers that run.
    running: Field<{ running }>,
    /// The message has a payload handler, a completion handler.
    has_payload: Field<1>,
    has_completion: Field<1>,
    /// Packets wait: the first and the last one.
    waits: Field<1>,
    head: Field<{ cell }>,
    tail: Field<{ cell }>,
    /// The first packet of the message, and the last one that has left the list.
    first: Field<{ cell }>,
    last: Field<{ cell }>,
}

/// State of a packet.
#[record]
struct Packet {
    /// It is in its queue's own cell.
    is_own: Field<1>,
    is_last: Field<1>,
    has_header: Field<1>,
    has_payload: Field<1>,
    has_completion: Field<1>,
}

/// Steps of an event, one clock each. The next event is chosen in the last one already.
#[derive(Copy, Clone, PartialEq, Eq, Debug, LogicState)]
enum Step {
    /// Chooses the event, if none is under way.
    Choose,
    /// Reads the queue's record.
    Queue,
    /// Reads the packet's flags.
    Packet,
    /// Writes all that changes.
    Write,
}

/// Decides what is next for each queue: one event after another.
#[module(
    shape: SchedulerShape,
    error = ParameterError,
    record: Record = Record::new(shape.cell(), shape.running()),
    flags: Packet = Packet::new(),
    origin: TaskOrigin = TaskOrigin::new(),
    end: TaskEnd = TaskEnd::new(),
    sources: usize = shape.clusters + 2,
)]
pub struct QueueEngine {
    /// Packets.
    pub packet: PacketIn<{ shape.queue() }, { shape.cell() }>,
    /// Tasks that have ended, of each cluster.
    pub finished: [StreamIn<{ end.width }>; shape.clusters],
    /// A task to start.
    pub task: TaskJob<{ shape }>,
    /// A packet to return.
    pub returned: ReturnJob<{ shape.queue() }, { shape.cell() }>,
    /// Queues that have no cell for another packet.
    pub full: Wire<Out, { shape.queues }>,
    /// A packet waits for its feedback.
    pub active: Wire<Out, bool>,
    /// Weights of contexts, not 0.
    pub weight: ContextSettingIn<{ shape.context() }, { WEIGHT }>,
    /// Counters of contexts.
    pub totals: ContextTotalsIn<{ shape.context() }>,
    queues: Ram<{ RamStyle::Distributed }, { shape.queues }, { record.width }>,
    packets: Ram<{ RamStyle::Distributed }, { shape.cells }, { flags.width }>,
    /// The packet behind each one in its queue.
    behind: Ram<{ RamStyle::Distributed }, { shape.cells }, { shape.cell() }>,
    /// Chooses among the queues that have something to do.
    shares: ContextShares<{ shape }>,
    cells: Checked<CellPool<{ shape }>>,
    loads: ClusterLoads<{ shape }>,
    /// Packets inside.
    present: Reg<{ shape.cell() + 1 }, Reset>,
    #[new(Reg::reset_to(Step::Choose))]
    step: Reg<Step>,
    /// The event: the end of a task of each cluster, a packet, a step of a queue; and those behind it in turn.
    chosen: Reg<{ sources }>,
    later: Reg<{ sources }, Reset>,
    queue: Reg<{ shape.queue() }>,
    ended: Reg<{ shape.cell() }>,
    ended_stage: Reg<2>,
    ended_frees: Reg<bool>,
    ended_clocks: Reg<{ TASK_CLOCKS }>,
    ended_is_over: Reg<bool>,
    ended_failed: Reg<bool>,
    known: Reg<{ record.width }>,
    at: Reg<{ shape.cell() }>,
    found: Reg<{ flags.width }>,
    next: Reg<{ shape.cell() }>,
    is_first: Reg<bool>,
    is_only: Reg<bool>,
    is_single: Reg<bool>,
    none_runs: Reg<bool>,
    /// A task to start, and a packet to return.
    starts: Reg<bool, Reset>,
    job_cell: Reg<{ shape.cell() }>,
    job_first: Reg<{ shape.cell() }>,
    job_queue: Reg<{ shape.queue() }>,
    job_stage: Reg<2>,
    job_frees: Reg<bool>,
    job_cluster: Reg<{ shape.cluster() }>,
    returns: Reg<bool, Reset>,
    /// Its cell becomes free.
    done_frees: Reg<bool>,
    done_cell: Reg<{ shape.cell() }>,
    done_queue: Reg<{ shape.queue() }>,
    done_own: Reg<bool>,
}

/// Whether a queue has something to do.
#[kernel]
fn has_work(state: Sig, waits: Sig<bool>) -> Sig<bool> {
    !state[2] && (state[1] || waits)
}

#[kernel(QueueEngine, suffix = shape.suffix())]
fn update() {
    let (push, turn) = (shape.clusters, shape.clusters + 1);

    cells.queue = packet.queue;
    packet.cell = cells.free.data;
    packet.cell_valid = cells.free.valid;
    full = cells.full;

    let is_push = chosen[push];
    let is_turn = chosen[turn];
    let ends = !is_push && !is_turn;

    /// The first event that can take place behind the last one, or before it. An event whose last step changes whether another one can
    /// is over before that is chosen: one of the same kind, and the end of a task, as steps of queues return packets, too.
    let is_last = step == Step::Write;
    let may_end = !(returns || shares.busy || is_last && !is_push);
    let mut can: Vec<Sig<bool>> = finished
        .iter()
        .map(|finished| finished.valid && may_end)
        .collect();
    can.push(packet.valid && !cells.is_full && !(is_last && is_push));
    can.push(shares.valid && !starts && loads.has_room && !(is_last && is_turn));
    let after = word_of(can.iter().enumerate().map(|(number, can)| *can && later[number]));
    let among = if after.any() { after } else { word_of(can) };
    let behind_it = cat!(
        word_of((1..sources).map(|number| among.slice(0, number).any())),
        lit(0, 1)
    );
    match step {
        Step::Choose | Step::Write => {
            step = Step::Choose;
            if among.any() {
                chosen = among & !behind_it;
                later = behind_it;
                step = Step::Queue;
            }
        }
        Step::Queue => step = Step::Packet,
        Step::Packet => step = Step::Write,
    }

    /// The queue and its record.
    let reads = step == Step::Queue;
    let zero = constant(lit(0, end.width));
    let offers = finished.iter().enumerate().map(|(number, finished)| {
        finished.ready = reads && chosen[number];
        if chosen[number] { finished.data } else { zero }
    });
    let ending = end.of(or_all(offers));
    let offered = ending.origin;
    let message = offered.field(origin.message).resize(shape.queue());
    let its_cell = offered.field(origin.packet).resize(shape.cell());
    if reads && ends {
        let is_whole = message.resize(QUEUE) == offered.field(origin.message);
        let fits = its_cell.resize(CELL) == offered.field(origin.packet);
        assume!(is_whole && fits, "an origin comes back as it was given");
    }
    let named = first(&[(is_push, packet.queue), (is_turn, shares.next)], message);
    queues.read_addr = named;
    if reads {
        (queue, known) = (named, queues.read_data);
        (ended, ended_stage, ended_frees) =
            (its_cell, offered.field(origin.stage), offered.flag(origin.frees));
        (ended_clocks, ended_is_over, ended_failed) = (ending.clocks, ending.is_over, ending.failed);
    }
    let old = record.of(known);

    /// The packet: of the task that has ended, or that of the next step.
    let its = first(
        &[
            (!is_turn, ended),
            (old.state == state::OVER, old.first),
            (old.state == state::COMPLETION, old.last),
        ],
        old.head,
    );
    packets.read_addr = its;
    behind.read_addr = its;
    (at, found, next) = (its, packets.read_data, behind.read_data);
    is_first = its == old.first;
    is_only = old.head == old.tail;
    is_single = old.running == 1;
    none_runs = old.running == 0;

    /// Effects of the event.
    let is = |name: u64| old.state == name;
    let its = flags.of(found);
    let begins = is_turn && is(state::FREE);
    let has_payload = if begins { its.has_payload } else { old.has_payload };
    let has_completion = if begins {
        its.has_completion
    } else {
        old.has_completion
    };
    let starts_header = begins && its.has_header;
    let pops = begins && !its.has_header || is_turn && is(state::PAYLOAD);
    let completes = is_turn && is(state::COMPLETION);
    let closes = is_turn && is(state::OVER);
    let is_last = its.is_last;
    let frees = completes || pops && !(is_last && has_completion);
    let runs = starts_header || completes || pops && has_payload;
    let is_done = ends && ended_frees || frees && !runs;
    /// A step that returns a cell is given up while another one is on its way back, and packets may come in.
    let is_given_up = is_turn && returns && (is_done || closes);

    /// The record after it.
    let to = |name: u64| constant(lit(name, record.state.width));
    let drained = if has_completion {
        to(state::COMPLETION)
    } else {
        to(state::OVER)
    };
    let empties = none_runs && !has_payload;
    let new_state = first(
        &[
            (starts_header, to(state::HEADER)),
            (pops && !is_last, to(state::PAYLOAD)),
            (pops && !empties, to(state::DRAINING)),
            (pops, drained),
            (completes, to(state::COMPLETING)),
            (closes, to(state::FREE)),
            (ends && ended_stage == 0, to(state::PAYLOAD)),
            (ends && ended_stage == 2, to(state::OVER)),
            (ends && is(state::DRAINING) && is_single, drained),
        ],
        old.state,
    );
    let waited = old.waits;
    let waits = is_push || waited && !(pops && is_only);
    let running = if pops && has_payload {
        old.running + 1
    } else if ends && ended_stage == 1 {
        old.running - 1
    } else {
        old.running
    };
    let moved = if pops { next } else { old.head };
    let new = pack!(record {
        state: new_state,
        running,
        has_payload,
        has_completion,
        waits,
        head: if is_push && !waited { packet.cell } else { moved },
        tail: if is_push { packet.cell } else { old.tail },
        first: if begins { at } else { old.first },
        last: if pops { at } else { old.last },
    });
    let writes = step == Step::Write && !is_given_up;
    queues.write_enable = writes || cells.fills;
    queues.write_addr = if cells.fills { cells.filled } else { queue };
    queues.write_data = if cells.fills { lit(0, record.width) } else { new };
    shares.queue = queue;
    shares.writes = writes;
    shares.works = has_work(new_state, waits);
    shares.steps = is_turn;
    shares.begins = runs;
    shares.ends = ends;
    (shares.clocks, shares.is_over, shares.failed) = (ended_clocks, ended_is_over, ended_failed);
    shares.clears = cells.fills;
    shares.cleared = cells.filled.slice(shape.own_queue(), shape.context());
    shares.weight = weight;
    shares.totals = totals;

    /// A packet comes in.
    let comes = writes && is_push;
    packet.ready = comes;
    cells.free.ready = comes;
    let facts = pack!(flags {
        is_own: !cells.is_shared,
        is_last: packet.is_last,
        has_header: packet.has_header,
        has_payload: packet.has_payload,
        has_completion: packet.has_completion,
    });
    packets.write(comes, packet.cell, facts);
    behind.write(comes && waited, old.tail, packet.cell);

    /// A cell becomes free after the feedback; that of the first packet of a message when the message is over.
    let leaves = returned.ready;
    let is_over = writes && closes;
    cells.returns = leaves && done_frees || is_over;
    cells.back = if returns { done_cell } else { at };
    cells.back_queue = if returns { done_queue } else { queue };
    cells.back_own = if returns { done_own } else { its.is_own };
    if comes && !leaves {
        present = present + 1;
    } else if leaves && !comes {
        present = present - 1;
    }
    active = reg_reset(present.any(), false);

    /// The task.
    loads.home = queue.slice(0, shape.cluster()) & (shape.clusters as u64 - 1);
    loads.begins = writes && runs;
    loads.ends = chosen.slice(0, shape.clusters) & writes.repeat(shape.clusters);
    if writes && runs {
        starts = true;
        (job_cell, job_first, job_queue) = (at, if begins { at } else { old.first }, queue);
        job_stage = first(
            &[
                (starts_header, constant(lit(0, 2))),
                (completes, constant(lit(2, 2))),
            ],
            constant(lit(1, 2)),
        );
        (job_frees, job_cluster) = (frees, loads.cluster);
    } else if task.ready {
        starts = false;
    }
    task.valid = starts;
    (task.cell, task.first, task.queue) = (job_cell, job_first, job_queue);
    (task.stage, task.frees, task.cluster) = (job_stage, job_frees, job_cluster);

    /// The packet that is done.
    if writes && is_done {
        returns = true;
        (done_cell, done_queue, done_own) = (at, queue, its.is_own);
        done_frees = !is_first && !begins;
    } else if leaves {
        returns = false;
    }
    (returned.valid, returned.cell, returned.queue) = (returns, done_cell, done_queue);

    assert!(!(is_over && returns), "the first cell becomes free last");
}
