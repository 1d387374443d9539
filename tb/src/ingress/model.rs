//! What has to become of every packet.
//!
//! ```text
//! send -> matcher's model -+-> bypass: the sink compares it
//!                          +-> matched, in order -+-> HER, with its bytes in memory
//!                                                 +-> dropped, counted by cause
//! ```
//!
//! A packet that is bad, too large or without context is known as such when it is sent, and a refused write
//! when it happens. Whether there was room or a slot depends on time, which is not modelled: where both were
//! certain (calm traffic, or a path that waits for both), every packet's fate is predicted, else HERs have to be
//! a subsequence in order and the counters have to add up.

use super::contexts::{Contexts, FIELDS};
use super::counters::{Cause, Drops};
use super::packet::Packet;
use super::setup::Setup;
use super::slots::Class;
use super::writes::Use;
use spinneret_packets::reference::matcher::{MatchResult, ReferenceMatcher, RuleTable};
use spinneret_sim::axi::Memory;
use std::collections::VecDeque;
use std::rc::Rc;

/// Names of the HER's own fields, in front of those of its context.
pub(super) const HER_FIELDS: [&str; 5] = ["msgid", "is_eom", "addr", "size", "xfer_size"];

/// A packet that matches.
#[derive(Clone, Debug)]
struct Matched {
    packet: Rc<Packet>,
    message_id: u32,
    end_of_message: bool,
    context: Option<usize>,
    /// Why it has to be dropped if it gets as far.
    cause: Option<Cause>,
}

/// What was predicted since the last comparison.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prediction {
    pub(super) matched: u64,
    pub(super) bypassed: u64,
    pub(super) hers: u64,
    /// Packets that got a slot and no HER.
    pub(super) failed: u64,
    /// Dropped packets by cause, if every packet's fate is certain.
    pub(super) drops: Drops,
    /// Packets with a reason to be dropped, by cause.
    pub(super) most: Drops,
}

/// The reference model.
#[derive(Debug)]
pub(super) struct Model {
    setup: Setup,
    matcher: ReferenceMatcher,
    contexts: Option<Contexts>,
    /// Whether there certainly is room and a slot for every packet.
    pub(super) calm: bool,
    matched: VecDeque<Matched>,
    pub(super) predicted: Prediction,
}

impl Model {
    pub(super) fn new(setup: Setup, calm: bool) -> Self {
        let matcher = ReferenceMatcher::new(&setup.matcher);
        Self {
            setup,
            matcher: matcher.unwrap_or_else(|error| panic!("{error}")),
            contexts: None,
            calm,
            matched: VecDeque::new(),
            predicted: Prediction::default(),
        }
    }

    /// Whether no packet is dropped for lack of room or of a slot, so that each one's fate is predicted.
    pub(super) fn is_certain(&self) -> bool {
        self.calm || self.setup.stall
    }

    /// Rules for the packets that follow.
    pub(super) fn latch_rules(&mut self, rules: Option<RuleTable>) {
        self.matcher.latch(rules);
    }

    /// Contexts for the packets that follow.
    pub(super) fn latch_contexts(&mut self, contexts: Option<Contexts>) {
        self.contexts = contexts;
    }

    /// A packet is sent; whether it matches.
    pub(super) fn send(&mut self, packet: &Rc<Packet>) -> MatchResult {
        let result = self.matcher.classify(&packet.bytes);
        let MatchResult::Matched {
            ruleset,
            eom,
            message_id,
            ..
        } = result
        else {
            self.predicted.bypassed += 1;
            return result;
        };
        let context = self.contexts.as_ref().and_then(|all| all.of_ruleset(ruleset));
        let cause = [
            (Cause::BadFrame, packet.is_bad()),
            (
                Cause::Oversize,
                packet.length() > self.setup.slots[Class::Large].bytes,
            ),
            (Cause::NoContext, context.is_none()),
        ];
        let cause = cause
            .into_iter()
            .find_map(|(cause, holds)| holds.then_some(cause));
        if let Some(cause) = cause {
            self.predicted.most[cause] += 1;
        }
        self.predicted.matched += 1;
        self.matched.push_back(Matched {
            packet: Rc::clone(packet),
            message_id,
            end_of_message: eom,
            context,
            cause,
        });
        result
    }

    /// A packet that has got a slot is dropped.
    pub(super) fn fail(&mut self, used: Use) -> Result<(), String> {
        self.predicted.failed += 1;
        if !self.is_certain() {
            return Ok(());
        }
        let Some(matched) = self.matched.pop_front() else {
            return Err(format!("{:#x} was written for no packet", used.slot.address));
        };
        let cause = if used.error {
            Some(Cause::WriteError)
        } else {
            matched.cause
        };
        let Some(cause) = cause else {
            let bytes = matched.packet.length();
            return Err(format!(
                "a sound packet of {bytes} bytes at {:#x} gets no HER",
                used.slot.address
            ));
        };
        self.predicted.drops[cause] += 1;
        Ok(())
    }

    /// The cluster takes a HER, the values of which are those of [`HER_FIELDS`] and of the context.
    pub(super) fn her(&mut self, values: &[u64], used: Use, memory: &Memory) -> Result<(), String> {
        self.predicted.hers += 1;
        let mut first = None;
        while let Some(matched) = self.matched.pop_front() {
            match self.compare(&matched, values, used, memory) {
                Ok(()) => return Ok(()),
                Err(difference) if self.is_certain() => return Err(difference),
                Err(difference) => drop(first.get_or_insert(difference)),
            }
        }
        let first = first.unwrap_or_else(|| "there is none".to_owned());
        Err(format!("a HER for no packet; the first it could be: {first}"))
    }

    /// Matched packets of which nothing is known yet; when nothing is under way they were dropped early.
    pub(super) fn take_dropped(&mut self) -> usize {
        let count = self.matched.len();
        self.matched.clear();
        count
    }

    /// Forgets all packets.
    pub(super) fn reset(&mut self) {
        self.matched.clear();
        self.predicted = Prediction::default();
    }

    fn compare(&self, matched: &Matched, values: &[u64], used: Use, memory: &Memory) -> Result<(), String> {
        let length = matched.packet.length();
        let text = |what: String| Err(format!("HER of a packet of {length} bytes: {what}"));
        let (Some(context), None) = (matched.context, matched.cause) else {
            return text(format!("it has to be dropped: {:?}", matched.cause));
        };
        let Some(contexts) = &self.contexts else {
            return text("no contexts are loaded".to_owned());
        };
        let own = [
            self.setup.her_message_id(matched.message_id, context),
            matched.end_of_message.into(),
            used.slot.address,
            length,
            length,
        ];
        let wanted = own.iter().chain(&contexts.fields[context]);
        let names = HER_FIELDS.iter().chain(&FIELDS);
        if let Some((name, (found, wanted))) = names
            .zip(values.iter().zip(wanted))
            .find(|(_, (found, wanted))| found != wanted)
        {
            return text(format!("{name} is {found:#x}, not {wanted:#x}"));
        }
        let fits_small = matched.packet.beats() <= self.setup.small_beats();
        let in_small = used.slot.class == Class::Small;
        if in_small && !fits_small || self.calm && fits_small && !in_small {
            return text(format!("it has a {:?} slot", used.slot.class));
        }
        if used.bytes != length {
            return text(format!("{} bytes are written", used.bytes));
        }
        let bytes = &matched.packet.bytes[..length as usize];
        match memory.first_difference(used.slot.address, bytes) {
            Some(address) => text(format!("the byte at {address:#x} is wrong")),
            None => Ok(()),
        }
    }
}
