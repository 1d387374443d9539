use super::ports::{COMMAND_ID, bit_of};
use super::{DecisionIn, DecisionInHandles, DriverAccess, DriverOffer};
use crate::hpu::cluster::{
    COMMAND_WORDS, HPUS, PIPELINES, RegisterAccessIn, RegisterAccessInHandles, Turn, WORD,
};
use spinneret_regmap::pspin::{dma, driver as register};
use spinneret_verilog::prelude::*;

/// Decides on the accesses of both pipelines, and passes one a clock on.
///
/// `ready` and `refused` follow the offers and registers. If both offers can take place, that of the pipeline whose turn it is does.
#[module]
pub struct DriverAccesses {
    /// Accesses of the pipelines.
    pub s: [RegisterAccessIn; PIPELINES],
    /// HPUs with a task.
    pub held: Wire<In, { HPUS }>,
    /// Commands that are under way.
    pub open: Wire<In, { 1 << COMMAND_ID }>,
    /// The start that is decided.
    pub decision: DecisionIn,
    /// The access that took place in the clock before.
    pub m: DriverAccess,
    /// HPUs that offered a read of the handler's address in the clock before.
    pub asks: Wire<Out, { HPUS }>,
    /// The starts that were offered.
    pub offer: [DriverOffer; PIPELINES],
    /// The word of a task, one clock after `m`.
    pub task_word: Wire<In, { WORD }>,
    /// The word of another register, or 0, one clock after `m`.
    pub other_word: Wire<In, { WORD }>,
    turn: Turn,
}

/// The outcome of an offer.
struct Verdict {
    /// It can take place.
    can: Sig<bool>,
    refused: Sig<bool>,
    /// It starts something, and that is decided.
    is_decided: Sig<bool>,
    /// It starts something.
    starts: Sig<bool>,
    /// It waits for a task, or for a start.
    waits: Sig<bool>,
}

#[kernel]
fn verdict(s: &RegisterAccessInHandles, held: Sig, open: Sig, decision: &DecisionInHandles) -> Verdict {
    let is = |offset: u32| s.offset == offset;
    let is_held = held[s.hpu];
    let is_low = !s.is_dma && !s.offset[7];
    let starts = !s.is_write
        && if s.is_dma {
            is(dma::START)
        } else {
            is(register::ISSUE)
        };
    let is_decided = starts && decision.valid && decision.hpu == s.hpu;
    let id = cat!(s.hpu, s.data.slice(0, super::COMMAND));
    let is_blocked = !s.is_dma && is(register::WAIT) && s.is_write && open[id];
    let waits = (is_low && !is_held) || (starts && !is_decided);
    let is_end = is(register::DOORBELL) || is(register::ERROR);
    let words = (0..COMMAND_WORDS as u32).map(|word| is(register::COMMAND + 4 * word));
    let is_stored = or_all(words) || is(register::INFO) || is(register::WAIT) || is(register::TEST);
    let is_copy = is(dma::SOURCE) || is(dma::DESTINATION) || is(dma::BYTES);
    let exists = if s.is_dma {
        is_copy || (!s.is_write && (is(dma::START) || is(dma::DONE)))
    } else {
        is_stored
            || is_end
            || (!s.is_write && (is(register::ISSUE) || is_word(s.offset) || is_argument(s.offset)))
    };
    let is_locked = s.is_user && !s.is_dma && is_end;
    let is_missing = !exists && !(is_low && !is_held);
    Verdict {
        can: !waits && !is_blocked,
        refused: is_locked || is_missing || (is_decided && !decision.allowed),
        is_decided,
        starts,
        waits,
    }
}

#[kernel(DriverAccesses)]
fn update() {
    let verdicts: Vec<_> = s.iter().map(|s| verdict(s, held, open, &decision)).collect();
    let mut takes = Vec::new();
    let mut refuses = Vec::new();
    for (number, s_of) in s.iter().enumerate() {
        let (own, other) = (&verdicts[number], &verdicts[1 - number]);
        let is_first = if number == 1 { turn.second } else { !turn.second };
        let yields = !is_first && s[1 - number].valid && !other.waits;
        s_of.ready = own.can && !yields;
        s_of.refused = own.refused;
        turn.waits[number] = s_of.valid && own.can && yields;
        takes.push(s_of.valid && own.can && !yields && !own.refused);
        refuses.push(s_of.valid && own.refused && own.is_decided);
        offer[number].valid = reg_reset(s_of.valid && own.starts && !own.is_decided, false);
        offer[number].hpu = reg(s_of.hpu);
        offer[number].is_dma = reg(s_of.is_dma);
        offer[number].is_user = reg(s_of.is_user);
    }
    asks = or_all(s.iter().map(|s| reg_reset(bit_of(s.hpu, is_request(s)), 0)));
    decision.refused = reg_reset(refuses[0] || refuses[1], false);
    let second = takes[1];
    m.valid = reg_reset(takes[0] || second, false);
    m.hpu = reg(if second { s[1].hpu } else { s[0].hpu });
    m.is_dma = reg(if second { s[1].is_dma } else { s[0].is_dma });
    m.offset = reg(if second { s[1].offset } else { s[0].offset });
    m.is_write = reg(if second { s[1].is_write } else { s[0].is_write });
    m.data = reg(if second { s[1].data } else { s[0].data });
    let is_task = reg(!m.is_dma && is_word(m.offset));
    let word = (task_word & is_task.repeat(WORD)) | other_word;
    for s in s {
        s.read_data = word;
    }
}

/// The register is a word of the task.
#[kernel]
fn is_word(offset: Sig) -> Sig<bool> {
    offset < register::DOORBELL || offset == register::PACKET_SUM
}

/// The register is an argument of a handler.
#[kernel]
pub(super) fn is_argument(offset: Sig) -> Sig<bool> {
    let bits = (register::ARGS_END - register::ARGS).ilog2() as usize;
    offset.slice(bits, 8 - bits) == u64::from(register::ARGS >> bits)
}

/// The offer reads the handler's address.
#[kernel]
fn is_request(s: &RegisterAccessInHandles) -> Sig<bool> {
    s.valid && !s.is_dma && !s.is_write && s.offset == 0
}
