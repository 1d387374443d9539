//! Reads the words of tasks and of feedback from the cells, one a clock.

use super::super::{CELL, QUEUE, TASK_ORIGIN, TaskOrigin, WORD, message_of};
use super::{
    ADDRESS_WORD, COPIED_WORD, HANDLER_WORDS, INDEX, ReturnJobIn, SIZE_WORD, SchedulerShape, TaskJobIn,
};
use crate::ingress::her_gen::FeedbackOut;
use crate::stream::FrameOut;
use spinneret_verilog::prelude::*;

/// Where a word goes on its way from the RAM.
#[record(shape: SchedulerShape)]
struct Way {
    /// To each cluster.
    to: Field<{ shape.clusters }>,
    /// It is the second word of a feedback.
    feedback: Field<1>,
    /// It is the last one of its task.
    is_last: Field<1>,
    /// It is not the word of the RAM, but `other`.
    is_other: Field<1>,
    /// Word that is in no cell.
    other: Field<{ TaskOrigin::new().width }>,
}

/// Gives tasks to the clusters and packets back, one after another; packets first.
#[module(shape: SchedulerShape, way: Way = Way::new(shape), origin: TaskOrigin = TaskOrigin::new())]
pub struct TaskWords {
    /// A task.
    pub job: TaskJobIn<{ shape }>,
    /// A packet that is done.
    pub returned: ReturnJobIn<{ shape.queue() }, { shape.cell() }>,
    /// Reads the RAM.
    pub reads: Wire<Out, bool>,
    /// Cell and number of the word.
    pub address: Wire<Out, { shape.cell() + INDEX }>,
    /// The word that was read.
    pub data: Wire<In, { WORD }>,
    /// Tasks for each cluster.
    pub task: [FrameOut<{ WORD }>; shape.clusters],
    /// Packets that are done.
    pub feedback: FeedbackOut<{ WORD }, { WORD }, { shape.queue() }>,
    /// The next word of a task; 0: none is under way.
    position: Reg<5, Reset>,
    /// The words of a packet that is done: the second is next, and both were read.
    is_second: Reg<bool, Reset>,
    is_returned: Reg<bool, Reset>,
    /// Cell and number of a word, and words on their way: to the RAM, from it, and at the output.
    place: Reg<{ shape.cell() + INDEX }>,
    asked: Reg<{ way.width }, Reset>,
    read: Reg<{ way.width }, Reset>,
    valid: [Reg<bool, Reset>; shape.clusters],
    gives: Reg<bool, Reset>,
    is_last: Reg<bool>,
    word: Reg<{ WORD }>,
    /// The word before it.
    last_word: Reg<{ WORD }>,
}

#[kernel(TaskWords, suffix = shape.suffix())]
fn update() {
    /// The output is free, or empties in this clock.
    let blocked = valid.iter().zip(&task).map(|(valid, task)| *valid && !task.ready);
    let moves = !(word_of(blocked).any() || gives && !feedback.ready);
    /// A packet that is done goes before the next task.
    let returns = returned.valid && !is_returned && !position.any();
    let tells = job.valid && !returns;
    let ends = position == TASK_ORIGIN as u64;

    let is = |number: u64| position == number;
    let is_handler = position.slice(1, 4) == 0;
    let is_of_packet = is(COPIED_WORD) || is(ADDRESS_WORD) || is(SIZE_WORD);
    let handler = cat!(lit(HANDLER_WORDS >> 3, 2), job.stage, position[0]);
    let number = if is_handler { handler } else { position };
    let cell = if is_of_packet { job.cell } else { job.first };
    let home = job.queue.slice(0, shape.cluster()) & (shape.clusters as u64 - 1);
    let from = pack!(origin {
        packet: job.cell.resize(CELL),
        message: job.queue.resize(QUEUE),
        stage: job.stage,
        frees: job.frees,
    });
    let others = [
        (is(18), home.resize(origin.width)),
        (
            is(19),
            message_of(job.queue, shape.own_queue()).resize(origin.width),
        ),
        (ends, from),
    ];
    let clusters = (0..shape.clusters).map(|number| tells && job.cluster == number as u64);
    let next = pack!(way {
        to: word_of(clusters),
        feedback: returns && is_second,
        is_last: ends,
        is_other: is(4) || is(18) || is(19) || ends,
        other: first(&others, constant(lit(0, origin.width))),
    });
    job.ready = moves && tells && ends;
    let taken = gives && feedback.ready;
    returned.ready = taken;
    if taken {
        is_returned = false;
    }
    if moves {
        let second = constant(lit(COPIED_WORD, INDEX));
        if returns {
            place = cat!(
                returned.cell,
                if is_second {
                    second
                } else {
                    lit(ADDRESS_WORD, INDEX)
                }
            );
            is_second = !is_second;
            is_returned = is_second;
        } else {
            place = cat!(cell, number);
            if tells {
                position = if ends { lit(0, INDEX) } else { position + 1 };
            }
        }
        (asked, read) = (next, asked);
        let sends = read.field(way.to);
        for (number, valid) in valid.iter().enumerate() {
            *valid = sends[number];
        }
        gives = read.flag(way.feedback);
        is_last = read.flag(way.is_last);
        let other = read.field(way.other).resize(WORD);
        (word, last_word) = (if read.flag(way.is_other) { other } else { data }, word);
    }
    reads = moves;
    address = place;

    for (task, valid) in task.iter().zip(&valid) {
        task.valid = *valid;
        task.data = word;
        task.last = is_last;
    }
    feedback.valid = gives;
    feedback.her_addr = last_word;
    feedback.her_size = word;
    feedback.msgid = returned.queue;
}
