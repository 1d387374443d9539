//! Reads the words of tasks and of feedback from the cells, two a clock.

use super::super::{CELL, PAIR, QUEUE, TASK_PAIR, TaskOrigin, WORD, message_of};
use super::{
    BYTES_PAIR, HANDLER_PAIR, HANDLER_PAIRS, LAST_PAIR, PACKET_PAIR, ReturnJobIn, SIZE_PAIR, SchedulerShape,
    TaskJobIn,
};
use crate::ingress::her_gen::FeedbackOut;
use crate::stream::FrameOut;
use spinneret_verilog::prelude::*;

/// Where a pair goes on its way from the RAM.
#[record(shape: SchedulerShape)]
struct Way {
    /// To each cluster.
    to: Field<{ shape.clusters }>,
    /// It is a feedback.
    feedback: Field<1>,
    /// It is the last one of its task: message and origin, and nothing of the RAM.
    is_last: Field<1>,
    /// Its second word is the home cluster.
    is_home: Field<1>,
    /// Origin of its task.
    origin: Field<{ TaskOrigin::new().width }>,
}

/// Gives tasks to the clusters and packets back. Each reads pairs; those of packets go first.
#[module(shape: SchedulerShape, way: Way = Way::new(shape), origin: TaskOrigin = TaskOrigin::new())]
pub struct TaskWords {
    /// A task.
    pub job: TaskJobIn<{ shape }>,
    /// A packet that is done.
    pub returned: ReturnJobIn<{ shape.queue() }, { shape.cell() }>,
    /// Reads the RAM.
    pub reads: Wire<Out, bool>,
    /// Cell and number of the pair.
    pub address: Wire<Out, { shape.cell() + TASK_PAIR }>,
    /// The pair that was read.
    pub data: Wire<In, { PAIR }>,
    /// Tasks for each cluster.
    pub task: [FrameOut<{ PAIR }>; shape.clusters],
    /// Packets that are done.
    pub feedback: FeedbackOut<{ WORD }, { WORD }, { shape.queue() }>,
    /// The task whose pairs are read, and the next one of them.
    holds: Reg<bool, Reset>,
    position: Reg<{ TASK_PAIR }, Reset>,
    packet_cell: Reg<{ shape.cell() }>,
    first_cell: Reg<{ shape.cell() }>,
    queue: Reg<{ shape.queue() }>,
    stage: Reg<2>,
    frees: Reg<bool>,
    cluster: Reg<{ shape.cluster() }>,
    /// The pair of the packet that is done was read.
    is_returned: Reg<bool, Reset>,
    /// Cell and number of a pair, and pairs on their way: to the RAM, from it, and at the output.
    place: Reg<{ shape.cell() + TASK_PAIR }>,
    asked: Reg<{ way.width }, Reset>,
    read: Reg<{ way.width }, Reset>,
    valid: [Reg<bool, Reset>; shape.clusters],
    gives: Reg<bool, Reset>,
    is_last: Reg<bool>,
    pair: Reg<{ PAIR }>,
}

#[kernel(TaskWords, suffix = shape.suffix())]
fn update() {
    /// The output is free, or empties in this clock.
    let blocked = valid.iter().zip(&task).map(|(valid, task)| *valid && !task.ready);
    let moves = !(or_all(blocked) || gives && !feedback.ready);
    let returns = returned.valid && !is_returned;
    let tells = holds && !returns;
    let ends = position == LAST_PAIR;

    /// The next task, when the last pair of this one is read.
    let is_free = !holds || moves && tells && ends;
    job.ready = is_free;
    if is_free {
        holds = job.valid;
        (packet_cell, first_cell, queue) = (job.cell, job.first, job.queue);
        (stage, frees, cluster) = (job.stage, job.frees, job.cluster);
    }

    let is = |number: u64| position == number;
    let is_of_packet = is(PACKET_PAIR) || is(SIZE_PAIR);
    let number = first(
        &[
            (
                is(HANDLER_PAIR),
                constant(lit(HANDLER_PAIRS, TASK_PAIR)) | stage.resize(TASK_PAIR),
            ),
            (is(SIZE_PAIR), constant(lit(BYTES_PAIR, TASK_PAIR))),
        ],
        position,
    );
    let clusters = (0..shape.clusters).map(|number| tells && cluster == number as u64);
    let from = pack!(origin {
        packet: packet_cell.resize(CELL),
        message: queue.resize(QUEUE),
        stage,
        frees,
    });
    let next = pack!(way {
        to: word_of(clusters),
        feedback: returns,
        is_last: tells && ends,
        is_home: tells && is(BYTES_PAIR),
        origin: from,
    });
    let taken = gives && feedback.ready;
    returned.ready = taken;
    if taken {
        is_returned = false;
    }
    if moves {
        place = if returns {
            cat!(returned.cell, lit(PACKET_PAIR, TASK_PAIR))
        } else {
            cat!(if is_of_packet { packet_cell } else { first_cell }, number)
        };
        if returns {
            is_returned = true;
        }
        if tells {
            position = if ends { lit(0, TASK_PAIR) } else { position + 1 };
        }
        (asked, read) = (next, asked);
        let sends = read.field(way.to);
        for (number, valid) in valid.iter().enumerate() {
            *valid = sends[number];
        }
        gives = read.flag(way.feedback);
        is_last = read.flag(way.is_last);

        let from = read.field(way.origin);
        let message = from.slice(origin.message.at, shape.queue());
        let home = message.slice(0, shape.cluster()) & (shape.clusters as u64 - 1);
        let (low, high) = data.split_at(WORD);
        let low = if read.flag(way.is_last) {
            message_of(message, shape.own_queue()).resize(WORD)
        } else {
            low
        };
        let others = [
            (read.flag(way.is_last), from.resize(WORD)),
            (read.flag(way.is_home), home.resize(WORD)),
        ];
        pair = cat!(first(&others, high), low);
    }
    reads = moves;
    address = place;

    for (task, valid) in task.iter().zip(&valid) {
        task.valid = *valid;
        task.data = pair;
        task.last = is_last;
    }
    let (first_word, second_word) = pair.split_at(WORD);
    feedback.valid = gives;
    feedback.her_addr = first_word;
    feedback.her_size = second_word;
    feedback.msgid = returned.queue;
}
