use super::ports::{COMMAND_ID, any_of_each, bit_of, lowest};
use super::registers::{GATHERED, PLACE};
use super::{COMMAND, COMMANDS, CopyRequest, Decision, DriverOfferIn, DriverRangeIn, RangeCheck};
use crate::hpu::cluster::{COMMAND_WORDS, Command, HPU, HPUS, PIPELINES, QUEUE, SLOT, WORD};
use crate::stream::StreamOut;
use spinneret_regmap::pspin::{dma, driver as register};
use spinneret_verilog::prelude::*;

/// The steps of a start.
#[derive(Copy, Clone, PartialEq, Eq, Debug, LogicState)]
enum Step {
    /// The next HPU that wants something is waited for.
    Idle,
    /// Registers are gathered.
    Gather,
    /// The memory that they name is checked.
    Check,
    /// The next offer of the HPU is accepted or refused.
    Decided,
    /// The command or copy leaves.
    Leaves,
}

/// Starts commands and copies, one at a time.
///
/// ```text
///  offers --> who wants --> next --> gather words --> check ranges --> decide --(access)--> command, copy
/// ```
#[module]
pub struct DriverStarts {
    /// Offers.
    pub offer: [DriverOfferIn; PIPELINES],
    /// HPUs that trapped: what they wanted to start is dropped.
    pub trapped: Wire<In, { HPUS }>,
    /// Protection ranges.
    pub range: DriverRangeIn,
    /// HPUs whose task has ended and waits; they start nothing.
    pub ended: Wire<In, { HPUS }>,
    /// Commands that are under way.
    pub open: Wire<In, { 1 << COMMAND_ID }>,
    /// HPUs that can start no further copy.
    pub full: Wire<In, { HPUS }>,
    /// {HPU, is of the copy engine, place} of registers that are gathered.
    pub gather: [Wire<Out, { HPU + 1 + PLACE }>; GATHERED],
    /// Their words.
    pub gathered: [Wire<In, { WORD }>; GATHERED],
    /// The start that is decided.
    pub decision: Decision,
    /// Its offer took place in the clock before.
    pub begins: Wire<In, bool>,
    /// Number of the command.
    pub number: Wire<Out, { COMMAND }>,
    /// It is sent: it has a kind.
    pub is_sent: Wire<Out, bool>,
    /// The queue of the HPU's task.
    pub queue: Wire<In, { QUEUE }>,
    /// Commands.
    pub command: Command,
    /// Copies.
    pub copy: StreamOut<{ CopyRequest::new().width }>,
    check: RangeCheck,
    /// HPUs that want to start something, a copy, and in user mode.
    wants: Reg<{ HPUS }, Reset>,
    wants_copy: Reg<{ HPUS }>,
    wants_user: Reg<{ HPUS }>,
    #[new(Reg::reset_to(Step::Idle))]
    step: Reg<Step>,
    count: Reg<{ PLACE - 1 }>,
    /// The next HPU that may start what it wants, after the last one.
    next: Reg<{ HPU }>,
    hpu: Reg<{ HPU }>,
    is_copy: Reg<bool>,
    is_user: Reg<bool>,
    free: Reg<{ COMMAND }>,
    kind: Reg<2>,
    task_queue: Reg<{ QUEUE }>,
    /// Words of the command; of a copy, bytes are word 0, the source is word 4, the destination word 6.
    words: Reg<{ COMMAND_WORDS * WORD }>,
}

/// The place of a register.
fn place_of(offset: u32) -> usize {
    offset as usize / 4 % (1 << PLACE)
}

/// The word of a command that has the same place as a register of a copy.
fn copy_word(offset: u32) -> usize {
    (place_of(offset) + (1 << PLACE) - place_of(register::COMMAND)) % (1 << PLACE)
}

#[kernel(DriverStarts)]
fn update() {
    let is_idle = step == Step::Idle;

    /// HPUs that have something to start.
    let wanting: Vec<_> = offer
        .iter()
        .map(|offer| {
            let is_under_way = !is_idle && hpu == offer.hpu;
            (bit_of(offer.hpu, offer.valid && !is_under_way), offer)
        })
        .collect();
    let new = wanting[0].0 | wanting[1].0;
    let flags = |flag: [Sig<bool>; PIPELINES]| {
        (wanting[0].0 & flag[0].repeat(HPUS)) | (wanting[1].0 & flag[1].repeat(HPUS))
    };
    wants_copy = (wants_copy & !new) | flags([offer[0].is_dma, offer[1].is_dma]);
    wants_user = (wants_user & !new) | flags([offer[0].is_user, offer[1].is_user]);
    let open_here = open.at(cat!(next, lit(0, COMMAND)), COMMANDS);
    let is_full = (full & wants_copy) | (!any_of_each(!open, COMMANDS) & !wants_copy);
    let can_start = wants & !ended & !is_full;
    let starts = is_idle && can_start[next] && !trapped[next];
    let after_last = word_of((0..HPUS).map(|number| hpu < number));
    let later = can_start & after_last;
    next = if later.any() {
        lowest(later, HPU)
    } else {
        lowest(can_start, HPU)
    };
    wants = (wants | new) & !trapped & !bit_of(next, starts);
    if is_idle {
        hpu = next;
        is_copy = wants_copy[next];
        is_user = wants_user[next];
        free = lowest(!open_here, COMMAND);
        count = 0;
    }

    /// Gather: its information first, then the words, the first one lowest.
    let gathers = step == Step::Gather;
    let place = cat!(count, lit(0, 1)) + place_of(register::INFO);
    gather[0] = cat!(hpu, is_copy, place);
    gather[1] = cat!(hpu, is_copy, place + 1);
    if gathers {
        count = count + 1;
        let before = words.slice(GATHERED * WORD, (COMMAND_WORDS - GATHERED) * WORD);
        words = cat!(gathered[1], gathered[0], before);
        if count == 0 {
            kind = gathered[0].slice(1, 2);
            task_queue = queue;
        }
    }
    let word = |number: usize| words.slice(WORD * number, WORD);
    let [source, destination, bytes] =
        [dma::SOURCE, dma::DESTINATION, dma::BYTES].map(|offset| word(copy_word(offset)));

    /// Check: a host copy names memory in word 2 with the bytes of word 3, a send in words 2 and 3 with those of word 4.
    let is_send = kind[0];
    check.range = range;
    check.hpu = hpu;
    check.address[0] = if is_copy { source } else { word(2) };
    check.address[1] = destination;
    check.bytes = first(&[(is_copy, bytes), (is_send, word(4))], word(3));
    check.has_second = is_copy;
    check.is_beyond = !is_copy && is_send && word(3).any();
    let names_memory = is_copy || !kind[1];
    let is_checked = is_user && names_memory;
    let is_gathered = gathers && count.all();
    check.start = is_gathered && is_checked;

    /// Decided.
    decision.valid = step == Step::Decided;
    decision.hpu = hpu;
    decision.allowed = check.allowed || !is_checked;
    number = free;
    is_sent = kind != 3;
    command.valid = step == Step::Leaves && !is_copy && is_sent;
    command.id = cat!(hpu, free);
    command.kind = kind;
    command.words = words;
    command.queue = task_queue;
    let request = CopyRequest::new();
    copy.valid = step == Step::Leaves && is_copy;
    copy.data = pack!(request {
        source,
        destination,
        bytes,
        tag: cat!(lit(1, 1), hpu.resize(SLOT))
    });
    let leaves = if is_copy {
        copy.ready
    } else {
        command.ready || !is_sent
    };
    let is_dropped = trapped[hpu];
    match step {
        Step::Idle => {
            if starts {
                step = Step::Gather;
            }
        }
        Step::Gather => {
            if is_dropped {
                step = Step::Idle;
            } else if check.start {
                step = Step::Check;
            } else if is_gathered {
                step = Step::Decided;
            }
        }
        Step::Check => {
            if is_dropped {
                step = Step::Idle;
            } else if check.done {
                step = Step::Decided;
            }
        }
        Step::Decided => {
            if begins {
                step = Step::Leaves;
            } else if decision.refused || is_dropped {
                step = Step::Idle;
            }
        }
        Step::Leaves => {
            if leaves {
                step = Step::Idle;
            }
        }
    }
}
