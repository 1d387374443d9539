//! Does commands and copies of handlers in a small complex, one after another.
//!
//! ```text
//!  command =+=> send
//!           +=> job ==> request ==> host
//!  copy ======> job      read, host_in ==> turn of bytes ==> write, host_out
//! ```
//!
//! # Contract
//! - **Packets** (kind 1) go to `send` as they are, and are done at `sent`.
//! - **Copies of packets** (tags below 32) are done at once: a packet stays where it is.
//! - **Copies** of HPUs, copies from and to the host (kind 0: words 0, 1 address in the host, 2 address in memory, 3 bytes, 4 bit 0: to the
//!   host), and words for the host (kind 2: words 0, 1 address, of which bits 5:0 are ignored, 2 bit 0: a write, bits 9:1 bytes,
//!   16 at most; words 3 to 6 the bytes) are done one after another. Copies and commands take turns. A copy between host and memory of no bytes or of more than 1 MiB,
//!   and words of no bytes, do nothing.
//! - **Host:** a request for each part of 1 KiB, then its data: of a write at `host_out`, 8 bytes a beat from the first byte
//!   of the part on, with `last`; of a read at `host_in` in the same form. Beats of a write follow its request and come before
//!   the next one.
//! - **Memory** that does not exist is read as 0 and not written.
//! - **Throughput:** 8 bytes in 4 clocks, of a read from the host in 2.
//! - **Done:** a write to the host with its last beat, others with their last write of memory. `done_failed` of a copy is 0.
//! - **Reset** forgets everything.

use super::{
    DATA, DATA_BYTES, PLACE, SMALL_CONTEXT, SMALL_LENGTH, SMALL_OWN_QUEUE, SMALL_PART, SMALL_PART_BITS,
    SmallHost, SmallRead, SmallWrite, WITHIN,
};
use crate::egress::CommandOut;
use crate::hpu::cluster::{CommandIn, CopyIn, HOST_ADDRESS, LONGEST, OWN_ID, WORD};
use crate::stream::{FrameOut, StreamIn};
use spinneret_verilog::prelude::*;

/// Bits of the number of a word in a part.
const COUNT: usize = SMALL_PART.ilog2() as usize - WITHIN;
/// Most bytes of words for the host.
const DIRECT: u64 = 16;
/// Bits of a place after the last byte of a copy.
const END: usize = WORD + 1;
/// Bits of the number of a copy, and the highest one: it is of an HPU.
const TAG: usize = 6;

/// The steps of a job.
#[derive(Copy, Clone, PartialEq, Eq, Debug, LogicState)]
enum Step {
    /// There is none.
    Idle,
    /// A part is requested of the host.
    Request,
    /// A word is asked for.
    Source,
    /// It comes in the next clock.
    Wait,
    /// It is there.
    Take,
    /// A word is written.
    Emit,
    /// The job is done.
    Ended,
}

/// Commands and copies of handlers.
#[module]
pub struct SmallCopier {
    /// Copies of packets and of HPUs.
    pub copy: CopyIn,
    /// Commands.
    pub command: CommandIn,
    /// Packets to be sent.
    pub send: CommandOut<{ OWN_ID }, { HOST_ADDRESS }, { WORD }>,
    /// One of them is sent.
    pub sent: Wire<In, bool>,
    /// Its id.
    pub sent_id: Wire<In, { OWN_ID }>,
    /// Requests for the host.
    pub host: SmallHost,
    /// Bytes for the host.
    pub host_out: FrameOut<{ DATA }>,
    /// Bytes from the host.
    pub host_in: StreamIn<{ DATA }>,
    /// Reads of memory.
    pub read: SmallRead,
    /// Writes of memory.
    pub write: SmallWrite,
    /// No job is under way.
    pub idle: Wire<Out, bool>,
    #[new(Reg::reset_to(Step::Idle))]
    step: Reg<Step>,
    /// The last job was a command.
    was_command: Reg<bool, Reset>,
    /// The copy of a packet that is done, if there is one.
    packet_tag: Reg<{ TAG }>,
    packet_done: Reg<bool, Reset>,
    /// Number of the job, and its kind.
    tag: Reg<{ TAG }>,
    is_copy: Reg<bool>,
    is_direct: Reg<bool>,
    from_host: Reg<bool>,
    to_host: Reg<bool>,
    own_context: Reg<{ SMALL_CONTEXT }>,
    address: Reg<{ 2 * WORD }>,
    part: Reg<{ SMALL_LENGTH - SMALL_PART_BITS + 1 }>,
    /// Places of the next words, and of the word in its part.
    source: Reg<{ PLACE }>,
    destination: Reg<{ PLACE }>,
    count: Reg<{ COUNT }>,
    /// Bytes by which a word is turned to the left; the first byte of the next word that is written; the end, from the start of that word.
    turn: Reg<{ WITHIN }>,
    from: Reg<{ WITHIN }>,
    after: Reg<{ END }>,
    /// Bytes that the host has still to give.
    left: Reg<{ SMALL_LENGTH }>,
    /// The first word that is read comes before the first one that is written.
    leads: Reg<bool>,
    /// The last two words that were read, turned.
    current: Reg<{ DATA }>,
    previous: Reg<{ DATA }>,
}

/// A word of a command.
#[kernel]
fn word(words: Sig, number: usize) -> Sig {
    words.slice(WORD * number, WORD)
}

/// A word turned to the left by some bytes.
#[kernel]
fn turned(value: Sig, by: Sig) -> Sig {
    (0..WITHIN).fold(value, |value, bit| {
        let (low, high) = value.split_at(DATA - (8 << bit));
        if by[bit] { cat!(low, high) } else { value }
    })
}

#[kernel(SmallCopier)]
fn update() {
    let is = |wanted: Step| step == wanted;
    let words = command.words;

    // Packets.
    let is_send = command.kind == 1;
    send.valid = command.valid && is_send;
    send.id = command.id;
    send.nid = word(words, 0);
    send.fid = word(words, 1);
    send.src_addr = words.slice(2 * WORD, 2 * WORD);
    send.length = word(words, 4);
    send.user_ptr = words.slice(5 * WORD, 2 * WORD);
    let is_of_hpu = copy.tag[TAG - 1];
    packet_done = copy.valid && !is_of_hpu;
    packet_tag = copy.tag;

    // The next job.
    let is_idle = is(Step::Idle);
    let (has_command, has_copy) = (command.valid && !is_send, copy.valid && is_of_hpu);
    let takes_copy = is_idle && has_copy && (!has_command || was_command);
    let takes_command = is_idle && has_command && !takes_copy;
    let bytes = word(words, 3);
    let is_words = command.kind == 2;
    let size = word(words, 2).slice(1, 9);
    let does_copy = command.kind == 0 && bytes.any() && bytes <= 1_u64 << LONGEST;
    let does_words = is_words && word(words, 2)[0] && size.any() && size <= DIRECT;
    let goes_out = is_words || word(words, 4)[0];
    // Words for the host stay in the command until they are sent.
    let ends_words = is(Step::Ended) && is_direct;
    command.ready = if is_send {
        send.ready
    } else {
        takes_command && !does_words || ends_words && !sent
    };
    copy.ready = takes_copy || !is_of_hpu;

    let memory = word(words, 2);
    let zero = constant(lit(0, WORD));
    let (from_address, to_address) = if takes_copy {
        (copy.source, copy.destination)
    } else {
        (
            if goes_out && !is_words { memory } else { zero },
            if goes_out { zero } else { memory },
        )
    };
    let length = first(&[(takes_copy, copy.bytes), (is_words, size.resize(WORD))], bytes);
    let (from_within, from_place) = from_address.split_at(WITHIN);
    let (to_within, to_place) = to_address.split_at(WITHIN);

    // The word to write.
    let lanes = (0..DATA_BYTES).map(|lane| {
        let at = 8 * lane;
        if turn <= lane {
            current.slice(at, 8)
        } else {
            previous.slice(at, 8)
        }
    });
    let lanes: Vec<_> = lanes.collect();
    let joined = cat_all(&lanes.into_iter().rev().collect::<Vec<_>>());
    let given = if is_direct {
        if count == 0 {
            words.slice(3 * WORD, DATA)
        } else {
            words.slice(5 * WORD, DATA)
        }
    } else {
        joined
    };
    let is_last = after <= DATA_BYTES;
    let ends_part = is_last || count.all();
    read.valid = is(Step::Source) && !from_host;
    read.place = source;
    write.valid = is(Step::Emit) && !to_host;
    write.place = destination;
    write.strobe = word_of((0..DATA_BYTES).map(|lane| from <= lane && after > lane));
    write.data = joined;
    host_out.valid = is(Step::Emit) && to_host;
    host_out.data = given;
    host_out.last = ends_part;
    let emits = is(Step::Emit) && if to_host { host_out.ready } else { write.ready };

    // Parts.
    let still = if to_host {
        after.slice(0, SMALL_LENGTH)
    } else {
        left
    };
    let is_whole = still >= SMALL_PART;
    let part_bytes = still.slice(0, SMALL_PART_BITS);
    host.valid = is(Step::Request);
    host.context = own_context;
    host.is_write = to_host;
    host.address = address;
    host.offset = cat!(part, lit(0, SMALL_PART_BITS - 1));
    host.bytes = if is_whole {
        constant(lit(SMALL_PART as u64, SMALL_PART_BITS))
    } else {
        part_bytes
    };
    let needs_word = left.any();
    host_in.ready = is(Step::Source) && from_host && needs_word;
    let is_given = host_in.valid && host_in.ready;
    let ends_source = count.all() || left <= DATA_BYTES;

    // Words that were read.
    let arrives = is(Step::Take) || is(Step::Source) && from_host && (is_given || !needs_word);
    if arrives {
        previous = current;
        current = turned(if from_host { host_in.data } else { read.data }, turn);
    }

    // Ends.
    let reports_copy = is(Step::Ended) && is_copy && !packet_done;
    let reports = is(Step::Ended) && !is_copy && !sent;
    copy.done = packet_done || reports_copy;
    copy.done_tag = if packet_done { packet_tag } else { tag };
    copy.done_failed = false;
    command.done = sent || reports;
    command.done_id = if sent { sent_id } else { tag.slice(0, OWN_ID) };
    idle = is_idle;

    match step {
        Step::Idle => {
            if takes_copy || takes_command {
                was_command = takes_command;
                is_copy = takes_copy;
                tag = if takes_copy {
                    copy.tag
                } else {
                    command.id.resize(TAG)
                };
                is_direct = takes_command && does_words;
                from_host = takes_command && !goes_out;
                to_host = takes_command && goes_out;
                own_context = command.queue.slice(SMALL_OWN_QUEUE, SMALL_CONTEXT);
                address = if is_words {
                    cat!(words.slice(6, 2 * WORD - 6), lit(0, 6))
                } else {
                    words.slice(0, 2 * WORD)
                };
                (part, count) = (0, 0);
                (source, destination) = (from_place, to_place);
                turn = to_within - from_within;
                leads = to_within < from_within;
                from = to_within;
                after = to_within.resize(END) + length.resize(END);
                left = length.slice(0, SMALL_LENGTH);
                step = if takes_copy {
                    if length.any() { Step::Source } else { Step::Ended }
                } else if does_copy || does_words {
                    Step::Request
                } else {
                    Step::Ended
                };
            }
        }
        Step::Request => {
            if host.ready {
                part = part + 1;
                step = if is_direct { Step::Emit } else { Step::Source };
            }
        }
        Step::Source => {
            if from_host && arrives {
                step = Step::Emit;
                if needs_word {
                    count = count + 1;
                    left = if left <= DATA_BYTES {
                        lit(0, SMALL_LENGTH)
                    } else {
                        left - DATA_BYTES
                    };
                    // The next part is requested after this word is written.
                    leads = ends_source;
                }
            } else if !from_host && read.ready {
                source = source + 1;
                step = Step::Wait;
            }
        }
        Step::Wait => step = Step::Take,
        Step::Take => {
            leads = false;
            step = if leads { Step::Source } else { Step::Emit };
        }
        Step::Emit => {
            if emits {
                destination = destination + 1;
                from = 0;
                after = after - DATA_BYTES;
                if !from_host {
                    count = count + 1;
                }
                step = if is_last {
                    Step::Ended
                } else if is_direct {
                    Step::Emit
                } else if to_host && ends_part || from_host && leads && needs_word {
                    Step::Request
                } else {
                    Step::Source
                };
                leads = false;
            }
        }
        Step::Ended => {
            if reports_copy || reports {
                step = Step::Idle;
            }
        }
    }
}
