//! Queues of commands, one for each context, which share a path by weight.
//!
//! ```text
//!  commands ==> jobs, by id --------------------+==> part of the job ==> m
//!     +=======> ids, a queue for each context --^        |
//!                                                        v
//!               virtual times <-- bytes / weight --------+--> counters, credit
//! ```
//!
//! # Contract
//! - **Room:** there is a place for each command that can be open, so no command ever waits for one of another context.
//! - **Shares:** the virtual time of a context grows with the bytes of each part, divided by its weight; a part of less than 64 bytes counts as
//!   64. The context with the lowest one is next. While it has no work, or a limit holds it, its time keeps up with the others, so a pause saves nothing.
//! - **Bound:** while two contexts have work and no limit holds them, the bytes over weight that they got differ by at most those of the
//!   longest part of each.
//! - **Parts:** copies leave in parts that end at multiples of 2^[`PART`] bytes of the host; words and packets as they are.
//! - **Limit** of packets: each context has a credit, to which its rate comes in each clock, up to 2^[`BURST`] bytes. A packet leaves while it is
//!   not negative, and costs its bytes, so that it may become negative. Rate 0: no limit.
//! - **Order:** commands of a context leave in theirs.
//! - **Latency:** 7 clocks from a command to its first part. **Throughput:** a part in 8 clocks.
//! - **Reset** empties the queues and clears counters, and keeps weights and rates.

use super::super::context_registers::initial;
use super::super::scheduler::{PRICE, is_before, price_of};
use super::super::steps::LONGEST;
use super::super::{
    COMMAND_WORDS, ContextBytesIn, ContextSettingIn, ContextShape, HOST_ADDRESS, OFFSET, RATE, RATE_FRACTION,
    WEIGHT, WORD,
};
use super::{NoteFields, OWN_ID};
use crate::stream::StreamOut;
use spinneret_regmap::shares;
use spinneret_verilog::prelude::*;

/// Bytes of the longest part of a copy, as a power of two.
pub const PART: usize = 10;
/// Bits of the number of a line of the host.
pub(super) const HOST_LINE: usize = HOST_ADDRESS - OFFSET;
/// The most bytes of words.
pub(super) const DIRECT_BYTES: usize = 16;
/// Bytes that a context can save for later, as a power of two.
pub const BURST: usize = 12;
/// Bits of the number of bytes of the longest copy.
pub(super) const BYTES: usize = LONGEST + 1;
/// Bits of the bytes of what leaves at once; a packet that says more is refused by the egress path.
const SIZE: usize = 16;
/// The least that anything costs: 2 to the power of this.
const LEAST: usize = 6;
/// The lowest bits of size times price, which are left out.
const FRACTION: usize = 6;
/// Bits of virtual time. It wraps; times of contexts with work differ by less than half of it.
const TIME: usize = SIZE + PRICE - FRACTION + 3;
/// Bits of a credit: with its sign, and room for what comes in above the burst.
const CREDIT: usize = SIZE + RATE_FRACTION + 2;

/// The commands of some queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// Copies between memory and the host.
    Copies,
    /// Words for the host.
    Words,
    /// Packets to be sent.
    Packets,
}

/// Some queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueShape {
    /// Clusters that give commands.
    pub clusters: usize,
    /// Their contexts.
    pub contexts: ContextShape,
    /// Their commands.
    pub traffic: Traffic,
}

impl QueueShape {
    /// Bits of an id.
    pub(super) fn id(self) -> usize {
        address_width(self.clusters) + OWN_ID
    }

    /// Bits of a job.
    pub(super) fn job(self) -> usize {
        match self.traffic {
            Traffic::Copies => CopyJob::new().width,
            Traffic::Words => WordsJob::new().width,
            Traffic::Packets => COMMAND_WORDS * WORD,
        }
    }

    /// Bits of what leaves.
    pub(super) fn output(self) -> usize {
        match self.traffic {
            Traffic::Copies => PartFields::new(self).width,
            Traffic::Words => self.job() + NoteFields::new(self).width,
            Traffic::Packets => self.job() + self.id(),
        }
    }

    /// The bytes are counted.
    fn counts(self) -> bool {
        self.traffic != Traffic::Words
    }

    /// Contexts have a limit.
    fn limits(self) -> bool {
        self.traffic == Traffic::Packets
    }
}

/// Tells modules of different queues apart.
fn suffix(shape: QueueShape) -> String {
    format!(
        "{:?}_{}_{}",
        shape.traffic,
        shape.contexts.contexts,
        1 << shape.id()
    )
    .to_lowercase()
}

/// A copy.
#[record]
pub struct CopyJob {
    /// Address in the host.
    pub host: Field<{ HOST_ADDRESS }>,
    /// Address in memory.
    pub memory: Field<{ WORD }>,
    /// Bytes.
    pub bytes: Field<{ BYTES }>,
}

/// Words for the host.
#[record]
pub struct WordsJob {
    /// The line.
    pub line: Field<{ HOST_LINE }>,
    /// Bytes that are written.
    pub strobe: Field<{ DIRECT_BYTES }>,
    /// The bytes.
    pub data: Field<{ 8 * DIRECT_BYTES }>,
}

/// A part of a copy.
#[record(shape: QueueShape)]
pub struct PartFields {
    /// Address in the host.
    pub host: Field<{ HOST_ADDRESS }>,
    /// Address in memory.
    pub memory: Field<{ WORD }>,
    /// Bytes: 1 to 2^[`PART`].
    pub bytes: Field<{ PART + 1 }>,
    /// It is the last part of its copy.
    pub last: Field<1>,
    /// Whose it is.
    pub note: Field<{ NoteFields::new(shape).width }>,
}

/// Queues of commands, one for each context, which share a path by weight.
#[module(
    shape: QueueShape,
    contexts: usize = shape.contexts.contexts,
    context: usize = shape.contexts.context(),
    id: usize = shape.id(),
    job: usize = shape.job(),
    note: NoteFields = NoteFields::new(shape),
)]
pub struct ContextQueues {
    /// A command comes.
    pub valid: Wire<In, bool>,
    /// Whose it is, as [`NoteFields`] says.
    pub whose: Wire<In, { note.width }>,
    /// It: a [`CopyJob`], a [`WordsJob`] or the words of a packet's command.
    pub work: Wire<In, { job }>,
    /// The next part or command: [`PartFields`], {[`NoteFields`], words}, or {id, packet}.
    pub m: StreamOut<{ shape.output() }>,
    /// Weights.
    pub weight: ContextSettingIn<{ context }, { WEIGHT }>,
    /// Rates, if there is a limit.
    pub rate: Optional<ContextSettingIn<{ context }, { RATE }>, { shape.limits() }>,
    /// Bytes that have left, but of words.
    pub bytes: Optional<ContextBytesIn<{ context }>, { shape.counts() }>,
    #[new(Ram::new(RamStyle::Distributed, contexts, WEIGHT).holding("weights", vec![initial(&shares::WEIGHT).into(); contexts]))]
    weights: Ram,
    jobs: Ram<{ RamStyle::Distributed }, { 1 << id }, { job }>,
    /// Rest of the oldest job of each context, if a part of it has left.
    rests:
        Optional<Ram<{ RamStyle::Distributed }, { contexts }, { job }>, { shape.traffic == Traffic::Copies }>,
    ids: Ram<{ RamStyle::Distributed }, { contexts << id }, { id }>,
    /// Commands that came and that are done, of each context.
    tails: [Reg<{ id + 1 }, Reset>; contexts],
    heads: [Reg<{ id + 1 }, Reset>; contexts],
    begun: Optional<Reg<{ contexts }, Reset>, { shape.traffic == Traffic::Copies }>,
    times: [Reg<{ TIME }, Reset>; contexts],
    /// Virtual time of the context that was next.
    now: Reg<{ TIME }, Reset>,
    /// Every context has been visited since the reset.
    started: Reg<bool, Reset>,
    visit: Reg<{ context }, Reset>,
    /// A context was chosen, and its times are not those of afterwards yet.
    busy: Reg<bool, Reset>,
    chosen: Reg<{ context }>,
    present: Reg<bool, Reset>,
    held: Reg<{ shape.output() }>,
    rest: Optional<Reg<{ job }>, { shape.traffic == Traffic::Copies }>,
    size: Reg<{ SIZE }>,
    ends: Reg<bool>,
    #[new(Optional::new(shape.counts(), || Ram::new(RamStyle::Distributed, contexts, 2 * WORD).with_reads(2)))]
    totals: Optional<Ram>,
    #[new(Optional::new(shape.limits(), || Ram::new(RamStyle::Distributed, contexts, RATE).holding("zero", Vec::new())))]
    rates: Optional<Ram>,
    credits: Optional<Ram<{ RamStyle::Distributed }, { contexts }, { CREDIT }>, { shape.limits() }>,
    /// Contexts that no limit holds.
    free: Optional<Reg<{ contexts }, Reset>, { shape.limits() }>,
    /// The chosen one is still to pay.
    pays: Optional<Reg<bool, Reset>, { shape.limits() }>,
}

/// One of some words.
#[kernel]
fn pick(of: &[Sig], number: Sig) -> Sig {
    let places: Vec<_> = of
        .iter()
        .enumerate()
        .map(|(place, value)| (number == place, *value))
        .collect();
    first(&places[1..], of[0])
}

#[kernel(ContextQueues, suffix = suffix(shape))]
fn update() {
    /// A command comes.
    let of = note.of(whose);
    let place = pick(&tails, of.owner).slice(0, id);
    jobs.write(valid, of.id, work);
    ids.write(valid, cat!(of.owner, place), of.id);
    for (number, tail) in tails.iter().enumerate() {
        if valid && of.owner == number {
            *tail = *tail + 1;
        }
    }
    let works = word_of(tails.iter().zip(&heads).map(|(tail, head)| *tail != *head));
    /// Those of them that no limit holds.
    let mut candidates = works;
    if shape.limits() {
        candidates = works & *free;
    }
    visit = visit + 1;
    if visit.all() {
        started = true;
    }

    /// The context with the lowest time: pairs are compared, a level in a clock.
    let mut best: Vec<(Sig<bool>, Sig, Sig)> = Vec::new();
    for (number, time) in times.iter().enumerate() {
        best.push((candidates[number], constant(lit(number as u64, context)), *time));
    }
    let levels = context;
    for _ in 0..levels {
        let mut next = Vec::new();
        for pair in best.chunks(2) {
            let ((a_works, a, a_time), (b_works, b, b_time)) = (pair[0], pair[1]);
            let is_second = b_works && (!a_works || is_before(b_time, a_time));
            next.push((
                reg_reset(a_works || b_works, false),
                reg(if is_second { b } else { a }),
                reg(if is_second { b_time } else { a_time }),
            ));
        }
        best = next;
    }
    let (any, winner, winner_time) = best[0];
    let mut may = any && started;
    if shape.limits() {
        may = any && started && !*pays && free[winner];
    }
    let goes = may && !busy;
    if goes {
        busy = true;
        chosen = winner;
        now = winner_time;
    }

    /// Its oldest command, in three clocks.
    let asks_id = reg_reset(goes, false);
    let its_id = reg(ids.read(0, cat!(chosen, pick(&heads, chosen).slice(0, id))));
    let asks_job = reg_reset(asks_id, false);
    let stored = jobs.read(0, its_id);
    let mut oldest = stored;
    if shape.traffic == Traffic::Copies {
        let left = rests.read(0, chosen);
        oldest = if begun[chosen] { left } else { stored };
    }
    let its_job = reg(oldest);
    let cuts = reg_reset(asks_job, false);
    m.valid = present;
    m.data = held;
    let taken = present && m.ready;
    if taken {
        present = false;
    }
    for (number, head) in heads.iter().enumerate() {
        if taken && ends && chosen == number {
            *head = *head + 1;
        }
    }
    if cuts {
        present = true;
        if shape.traffic == Traffic::Copies {
            let (copy, part) = (CopyJob::new(), PartFields::new(shape));
            let all = copy.of(its_job);
            let (start, block) = all.host.split_at(PART);
            let ending = all.bytes.resize(BYTES + 1) + start.resize(BYTES + 1);
            let is_last = ending <= 1_u64 << PART;
            let room = constant(lit(1 << PART, PART + 1)) - start.resize(PART + 1);
            let its_bytes = if is_last {
                all.bytes.slice(0, PART + 1)
            } else {
                room
            };
            ends = is_last;
            size = its_bytes.resize(SIZE);
            held = pack!(part {
                host: all.host,
                memory: all.memory,
                bytes: its_bytes,
                last: is_last,
                note: pack!(note {
                    id: its_id,
                    owner: chosen
                })
            });
            *rest = pack!(copy {
                host: cat!(block + 1, lit(0, PART)),
                memory: all.memory + room.resize(WORD),
                bytes: all.bytes - room.resize(BYTES),
            });
        } else {
            ends = true;
            held = if shape.traffic == Traffic::Packets {
                cat!(its_id, its_job)
            } else {
                cat!(
                    pack!(note {
                        id: its_id,
                        owner: chosen
                    }),
                    its_job
                )
            };
            size = if shape.traffic == Traffic::Packets {
                let length = its_job.slice(4 * WORD, WORD);
                let above = length.slice(SIZE, WORD - SIZE).any();
                length.slice(0, SIZE) | above.repeat(SIZE)
            } else {
                constant(lit(1 << LEAST, SIZE))
            };
        }
    }
    if shape.traffic == Traffic::Copies {
        rests.write(taken, chosen, *rest);
        if taken {
            begun[chosen] = !ends;
        }
    }

    /// It pays.
    weights.write(weight.write, weight.context, weight.value);
    let price = reg(price_of(weights.read(0, chosen)));
    let (below, above) = size.split_at(LEAST);
    let is_least = !above.any();
    let cost = cat!(
        above | is_least.word().resize(SIZE - LEAST),
        below & (!is_least).repeat(LEAST)
    );
    let charge = reg(
        (cost.resize(SIZE + PRICE) * price.resize(SIZE + PRICE)).slice(FRACTION, SIZE + PRICE - FRACTION)
    );
    let pays_now = reg_reset(taken, false);
    let visited_time = pick(&times, visit);
    let keeps_up = !candidates[visit] && is_before(visited_time, now);
    for (number, time) in times.iter().enumerate() {
        if pays_now && chosen == number {
            *time = *time + charge.resize(TIME);
        } else if keeps_up && visit == number {
            *time = now;
        }
    }
    let mut settled = pays_now;
    for _ in 0..levels {
        settled = reg_reset(settled, false);
    }
    if settled {
        busy = false;
    }
    if shape.counts() {
        let count = totals.read(0, chosen) + size.resize(2 * WORD);
        totals.write(
            pays_now || !started,
            if started { chosen } else { visit },
            if started {
                count
            } else {
                constant(lit(0, 2 * WORD))
            },
        );
        bytes.bytes = totals.read(1, bytes.context);
    }

    /// Credits: a visit brings what comes in a round, and takes what is to be paid.
    if shape.limits() {
        rates.write(rate.write, rate.context, rate.value);
        let visited = reg(visit);
        let was_started = reg_reset(started, false);
        let income = reg(rates.read(0, visit));
        let credit = reg(credits.read(0, visit));
        let is_payer = *pays && chosen == visited;
        let is_full = !credit[CREDIT - 1]
            && credit
                .slice(BURST + RATE_FRACTION, CREDIT - 1 - BURST - RATE_FRACTION)
                .any();
        let comes = cat!(income, lit(0, context)).resize(CREDIT) & (!is_full).repeat(CREDIT);
        let costs = cat!(size, lit(0, RATE_FRACTION)).resize(CREDIT) & is_payer.repeat(CREDIT);
        let unlimited = !income.any();
        let balance = if unlimited {
            constant(lit(0, CREDIT))
        } else {
            credit + comes - costs
        };
        credits.write(
            true,
            visited,
            if was_started {
                balance
            } else {
                constant(lit(0, CREDIT))
            },
        );
        for number in 0..contexts {
            if visited == number as u64 {
                free[number] = !balance[CREDIT - 1];
            }
        }
        if is_payer {
            *pays = false;
        }
        if pays_now {
            *pays = true;
        }
    }
}
