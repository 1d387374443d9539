//! The reference model: what becomes of packets, and who writes into which slot.

use super::config::{CONTEXTS, Contexts, FIELDS, Setup};
use super::packet::Packet;
use super::slots::{Cause, Class, Drops, Slot, SlotMap};
use crate::pkt_match::folded;
use crate::reference::Pins;
use spinneret_packets::reference::matcher::{MatchResult, ReferenceMatcher, RuleTable, ip_payload_sum};
use spinneret_regmap::pspin::PACKET_BYTES;
use spinneret_regmap::pspin::packet_size::SIZE_BITS;
use spinneret_sim::prelude::*;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// Names of the HER's own fields, before those of its context.
pub(super) const HER_FIELDS: [&str; 5] = ["msgid", "is_eom", "addr", "size", "xfer_size"];

/// A packet that matches.
#[derive(Clone, Debug)]
struct Matched {
    packet: Rc<Packet>,
    message_id: u32,
    end_of_message: bool,
    context: Option<usize>,
    /// The cause for which a later stage drops it.
    cause: Option<Cause>,
}

/// Predictions since the last comparison.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prediction {
    pub(super) matched: u64,
    pub(super) bypassed: u64,
    pub(super) hers: u64,
    /// Packets that got a slot and no HER.
    pub(super) failed: u64,
    /// Dropped packets by cause, if every packet's outcome is certain.
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
    /// Most slots of each context; 0: no bound.
    pub(super) bounds: [u16; CONTEXTS],
    /// Whether room and a slot are guaranteed for every packet.
    pub(super) uncongested: bool,
    matched: VecDeque<Matched>,
    pub(super) predicted: Prediction,
}

impl Model {
    pub(super) fn new(setup: Setup, uncongested: bool) -> Self {
        let matcher = ReferenceMatcher::new(&setup.matcher);
        Self {
            setup,
            matcher: matcher.unwrap_or_else(|error| panic!("{error}")),
            contexts: None,
            bounds: [0; CONTEXTS],
            uncongested,
            matched: VecDeque::new(),
            predicted: Prediction::default(),
        }
    }

    /// Returns whether room and slots are guaranteed, so that the outcome of each packet is predicted.
    pub(super) fn is_certain(&self) -> bool {
        self.uncongested || self.setup.stall
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
            let bounded = matched.context.filter(|context| self.bounds[*context] > 0);
            matched.cause.or(bounded.map(|_| Cause::Bound))
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

    /// The cluster takes a HER, the values of which are those of [`HER_FIELDS`] and of the context. `side` was announced last for
    /// its slot.
    pub(super) fn her(
        &mut self,
        values: &[u64],
        side: Option<u128>,
        used: Use,
        memory: &Memory,
    ) -> Result<(), String> {
        self.predicted.hers += 1;
        let mut first = None;
        while let Some(matched) = self.matched.pop_front() {
            match self.compare(&matched, values, side, used, memory) {
                Ok(()) => return Ok(()),
                Err(difference) if self.is_certain() => return Err(difference),
                Err(difference) => drop(first.get_or_insert(difference)),
            }
        }
        let first = first.unwrap_or_else(|| "there is none".to_owned());
        Err(format!("a HER for no packet; the first it could be: {first}"))
    }

    /// Matched packets of which nothing is known yet; when nothing is in flight they were dropped early.
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

    fn compare(
        &self,
        matched: &Matched,
        values: &[u64],
        side: Option<u128>,
        used: Use,
        memory: &Memory,
    ) -> Result<(), String> {
        let length = matched.packet.length();
        let text = |what: String| Err(format!("HER of a packet of {length} bytes: {what}"));
        let (Some(context), None) = (matched.context, matched.cause) else {
            return text(format!("it has to be dropped: {:?}", matched.cause));
        };
        let Some(contexts) = &self.contexts else {
            return text("no contexts are loaded".to_owned());
        };
        let mut values = values.to_vec();
        let mut size = length;
        if self.setup.has_sum {
            size |= u64::from(ip_payload_sum(&matched.packet.bytes)) << SIZE_BITS;
            values[3] = values[3] & ((1 << SIZE_BITS) - 1) | folded(values[3] >> SIZE_BITS) << SIZE_BITS;
        }
        let own = [
            self.setup.her_message_id(matched.message_id, context),
            matched.end_of_message.into(),
            used.slot.address,
            size,
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
        let wanted = self.setup.side_bits.map(|bits| matched.packet.side(bits));
        if side != wanted {
            return text(format!(
                "its side band was announced as {side:x?}, not {wanted:x?}"
            ));
        }
        let fits_small = matched.packet.beats() <= self.setup.small_beats();
        let in_small = used.slot.class == Class::Small;
        if in_small && !fits_small || self.uncongested && fits_small && !in_small {
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

/// Side bands that were announced last, by the places of slots.
#[derive(Debug)]
pub(super) struct Announced {
    /// Bytes at whose multiples slots start.
    unit: u64,
    sides: HashMap<u64, u128>,
}

impl Announced {
    pub(super) fn new(map: SlotMap) -> Self {
        let sizes = map[Class::Small].bytes | map[Class::Large].bytes;
        Self {
            unit: 1 << sizes.trailing_zeros(),
            sides: HashMap::new(),
        }
    }

    /// That of the packet in the slot at this address of the packet buffer.
    pub(super) fn of(&self, slot: u64) -> Option<u128> {
        let place = slot % u64::from(PACKET_BYTES) / self.unit;
        self.sides.get(&place).copied()
    }
}

impl crate::reference::Reference for Announced {
    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        if pins.high("packet_valid") {
            self.sides
                .insert(pins.value("packet_place"), pins.wide("packet_side"));
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.sides.clear();
    }

    fn inside(&self) -> usize {
        0
    }
}

/// A packet in a slot: from the first burst at the slot's start to the next such burst.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) slot: Slot,
    /// Whether a burst was refused.
    pub(super) error: bool,
    /// Bytes that strobes named.
    pub(super) bytes: u64,
    /// Bursts of all packets up to its last one.
    last_burst: u64,
}

/// The use of a slot.
#[derive(Clone, Copy, Debug)]
struct State {
    /// Number of the latest use.
    number: u64,
    /// Address at which its next burst starts.
    next: u64,
    /// Whether the cluster owns it.
    live: bool,
}

/// The uses of all slots in the order in which they began, which is the order of the packets.
#[derive(Debug)]
pub(super) struct SlotUses {
    map: SlotMap,
    beat_bytes: u64,
    slots: HashMap<Slot, State>,
    /// Uses that no HER and no later HER has settled, the first with the number below.
    open: VecDeque<Use>,
    first: u64,
    bursts: u64,
    live: usize,
    /// Uses in which a burst was refused.
    pub(super) errors: u64,
}

impl SlotUses {
    /// No slot is in use.
    pub(super) fn new(setup: &Setup) -> Self {
        Self {
            map: setup.slots,
            beat_bytes: setup.beat_bytes as u64,
            slots: HashMap::new(),
            open: VecDeque::new(),
            first: 0,
            bursts: 0,
            live: 0,
            errors: 0,
        }
    }

    /// A burst was written, or refused.
    pub(super) fn burst(&mut self, written: &SlaveBurst) -> Result<(), String> {
        let burst = &written.burst;
        let wrong = |what: &str| Err(format!("{what}: {burst:x?}"));
        let Some(slot) = self.map.around(burst.address) else {
            return wrong("a burst outside of the packet buffer");
        };
        let end = burst.address + burst.beats * burst.size;
        if end > self.map.end(slot) {
            return wrong("a burst beyond the end of its slot");
        }
        if burst.kind != BurstKind::Incrementing || burst.size != self.beat_bytes || burst.id != 0 {
            return wrong("a burst that is not INCR of whole beats with id 0");
        }
        self.bursts += 1;
        let state = self.slots.get(&slot).copied();
        if state.is_some_and(|state| state.live) {
            return wrong("a burst into a slot that the cluster has");
        }
        let number = if burst.address == slot.address {
            self.begin(slot)
        } else if let Some(state) = state.filter(|state| state.next == burst.address) {
            state.number
        } else {
            return wrong("a burst that continues no packet");
        };
        let state = State {
            number,
            next: end,
            live: false,
        };
        self.slots.insert(slot, state);
        let Some(open) = number
            .checked_sub(self.first)
            .and_then(|n| self.open.get_mut(n as usize))
        else {
            return wrong("a burst of a packet behind which others are complete already");
        };
        let error = written.response != Response::Okay;
        self.errors += u64::from(error && !open.error);
        open.error |= error;
        open.bytes += written.bytes;
        open.last_burst = self.bursts;
        Ok(())
    }

    fn begin(&mut self, slot: Slot) -> u64 {
        self.open.push_back(Use {
            slot,
            error: false,
            bytes: 0,
            last_burst: 0,
        });
        self.first + self.open.len() as u64 - 1
    }

    /// A HER hands a slot to the cluster: its use, after those that failed before it. `answered` is the
    /// number of write responses so far.
    pub(super) fn hand_over(
        &mut self,
        address: u64,
        answered: u64,
        mut failed: impl FnMut(Use),
    ) -> Result<Use, String> {
        let slot = self
            .map
            .at(address)
            .ok_or_else(|| format!("a HER for {address:#x}, where no slot starts"))?;
        let state = self.slots.get_mut(&slot);
        let state = state.ok_or_else(|| format!("a HER for {address:#x}, where nothing was written"))?;
        if state.live {
            return Err(format!("a HER for {address:#x}, which the cluster has already"));
        }
        let Some(index) = state.number.checked_sub(self.first) else {
            return Err(format!(
                "a HER for {address:#x} out of order, or for a packet that failed"
            ));
        };
        state.live = true;
        self.live += 1;
        self.open.drain(..index as usize).for_each(&mut failed);
        self.first += index + 1;
        let done = self.open.pop_front().ok_or("the uses of slots are out of step")?;
        if done.error {
            return Err(format!("a HER for {address:#x}, where a write was refused"));
        }
        if done.last_burst > answered {
            return Err(format!(
                "a HER for {address:#x} before its last write was answered"
            ));
        }
        Ok(done)
    }

    /// The path took a free of a slot; whether the cluster had it.
    pub(super) fn free(&mut self, slot: Slot) -> bool {
        let state = self.slots.get_mut(&slot).filter(|state| state.live);
        let had = state.map(|state| state.live = false).is_some();
        self.live -= usize::from(had);
        had
    }

    /// The uses that are left when nothing is in flight: they have failed.
    pub(super) fn take_failed(&mut self) -> impl Iterator<Item = Use> {
        self.first += self.open.len() as u64;
        self.open.drain(..)
    }

    /// Slots that the cluster has.
    pub(super) fn live(&self) -> usize {
        self.live
    }

    /// Forgets everything except the number of bursts, which the slave does not reset either.
    pub(super) fn reset(&mut self, answered: u64) {
        self.slots.clear();
        self.open.clear();
        (self.first, self.bursts) = (0, answered);
        (self.live, self.errors) = (0, 0);
    }
}
