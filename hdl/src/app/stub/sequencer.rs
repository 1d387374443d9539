//! Operations on a HER, one after another.

use super::shape::{ADDRESS, COMMAND_ID, HOST_ADDRESS, MESSAGE_ID, operation};
use spinneret_verilog::prelude::*;

/// A word of stdout that says that the host refused something: its lowest bits are the response.
const FAILURE: u64 = 0xdead_0000;

/// The steps of a HER, in their order.
#[derive(Copy, Clone, PartialEq, Eq, Debug, LogicState)]
enum Step {
    /// A line is read from the host.
    Fetch,
    /// The packet is copied to the host.
    Copy,
    /// The packet is sent.
    Send,
    /// The message id is printed.
    Print,
    /// The feedback is given.
    Answer,
}

/// A HER as it waits.
#[record]
pub(super) struct HerFields {
    /// Address of the packet.
    pub(super) address: Field<{ ADDRESS }>,
    /// Its bytes.
    pub(super) size: Field<{ ADDRESS }>,
    /// Bytes of it that a handler sees.
    pub(super) xfer_size: Field<{ ADDRESS }>,
    /// Message id.
    pub(super) message: Field<{ MESSAGE_ID }>,
    /// Address of the host memory.
    pub(super) host: Field<{ HOST_ADDRESS }>,
    /// Address of the handler memory.
    pub(super) handler: Field<{ ADDRESS }>,
    /// Operations: the lowest bits of the payload handler's address.
    pub(super) operations: Field<{ operation::COUNT }>,
}

/// Leads a HER through its steps: read from the host, copy to the host, send, print, feedback.
#[module]
pub struct HerSequencer {
    /// Bytes of a HER's packet; all of a HER stays until its feedback is taken.
    pub her_size: Wire<In, { ADDRESS }>,
    /// Its message id.
    pub her_message: Wire<In, { MESSAGE_ID }>,
    /// Its operations.
    pub her_operations: Wire<In, { operation::COUNT }>,
    /// The HER is there.
    pub her_valid: Wire<In, bool>,
    /// It is done in this cycle.
    pub her_done: Wire<Out, bool>,
    /// The read from the host begins.
    pub fetch_start: Wire<Out, bool>,
    /// It ends.
    pub fetch_done: Wire<In, bool>,
    /// The copy to the host begins.
    pub copy_start: Wire<Out, bool>,
    /// It ends.
    pub copy_done: Wire<In, bool>,
    /// The host refused something.
    pub failed: Wire<In, bool>,
    /// With `failed`: its response.
    pub code: Wire<In, 2>,
    /// Id of a command.
    pub command_id: Wire<Out, { COMMAND_ID }>,
    /// It is there.
    pub command_valid: Wire<Out, bool>,
    /// It is taken in this cycle.
    pub command_ready: Wire<In, bool>,
    /// A response is there.
    pub response_valid: Wire<In, bool>,
    /// Id of its command.
    pub response_id: Wire<In, { COMMAND_ID }>,
    /// A word for stdout.
    pub word: Wire<Out, { ADDRESS }>,
    /// It is there; there is no ready.
    pub word_valid: Wire<Out, bool>,
    /// The feedback is there.
    pub feedback_valid: Wire<Out, bool>,
    /// It is taken in this cycle.
    pub feedback_ready: Wire<In, bool>,
    #[new(Reg::reset_to(Step::Fetch))]
    step: Reg<Step>,
    /// The step has begun.
    begun: Reg<bool, Reset>,
    command: Reg<{ COMMAND_ID }, Reset>,
    /// The command is offered, or waits for its response.
    offers: Reg<bool, Reset>,
    sent: Reg<bool, Reset>,
    answers: Reg<bool, Reset>,
}

#[kernel(HerSequencer)]
fn update() {
    let taken = answers && feedback_ready;
    /// The step is to be done for this HER, and ends in this clock.
    let (wanted, ends) = (wire_bit(), wire_bit());
    match step {
        Step::Fetch => {
            wanted = her_operations[operation::FETCH];
            ends = fetch_done;
        }
        Step::Copy => {
            wanted = her_operations[operation::COPY] && her_size.any();
            ends = copy_done;
        }
        Step::Send => {
            wanted = her_operations[operation::SEND];
            ends = sent && response_valid && response_id == command;
        }
        Step::Print => {
            wanted = her_operations[operation::PRINT];
            ends = true;
        }
        Step::Answer => {
            wanted = true;
            ends = taken;
        }
    }
    let begins = her_valid && wanted && !begun;
    if begins {
        begun = true;
    }
    if her_valid && (!wanted || begun && ends) {
        begun = false;
        match step {
            Step::Fetch => step = Step::Copy,
            Step::Copy => step = Step::Send,
            Step::Send => step = Step::Print,
            Step::Print => step = Step::Answer,
            Step::Answer => step = Step::Fetch,
        }
    }
    fetch_start = begins && step == Step::Fetch;
    copy_start = begins && step == Step::Copy;
    /// A command has the number after that of the one before.
    if offers && command_ready {
        offers = false;
        sent = true;
    }
    if step == Step::Send {
        if begins {
            offers = true;
        }
        if begun && ends {
            sent = false;
            command = command + 1;
        }
    }
    command_id = command;
    command_valid = offers;
    /// Failures are printed when they happen.
    word = if failed {
        cat!(lit(FAILURE >> 2, ADDRESS - 2), code)
    } else {
        her_message.resize(ADDRESS)
    };
    word_valid = failed || begins && step == Step::Print;
    if begins && step == Step::Answer {
        answers = true;
    }
    if taken {
        answers = false;
    }
    feedback_valid = answers;
    her_done = taken;
}
