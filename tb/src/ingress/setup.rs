//! What a path was generated with, as far as its bench depends on it.

use super::contexts::CONTEXTS;
use super::slots::{Class, SlotMap};
use crate::parameters::Parameters;
use spinneret_regmap::message_id;
use spinneret_rules::MatcherParams;
use spinneret_sim::model::Model;

/// What a path was generated with, as far as its bench depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Bytes of a beat, at most 64.
    pub beat_bytes: usize,
    /// Width of `tuser` in bits.
    pub user_bits: u32,
    /// The matching engine.
    pub matcher: MatcherParams,
    /// Width of the message id in a HER in bits.
    pub her_message_id_bits: u32,
    /// Whether bits 3:2 of that are the context.
    pub context_in_message_id: bool,
    /// The slots of the packet buffer.
    pub slots: SlotMap,
    /// Beats of matched frames that can wait for the bus.
    pub queue_beats: u64,
    /// Matched packets that can be under way.
    pub packets: u64,
    /// Whether matched frames wait for room or a slot instead of being dropped.
    pub stall: bool,
}

impl Setup {
    /// That of a model in the catalog.
    ///
    /// # Panics
    /// If there is no such model, or the bench cannot test it.
    pub fn of<M: Model>() -> Self {
        let parameters = Parameters::of::<M>();
        let get = |name| parameters.get(name);
        for (name, modelled) in [
            ("contexts", CONTEXTS as u64),
            ("message_id_width", 32),
            ("message_id_network_order", 0),
            ("transfer_limit", 0),
        ] {
            assert_eq!(get(name), modelled, "the bench does not model this {name}");
        }
        let beat_bytes = get("data_width") as usize / 8;
        assert!(
            beat_bytes <= 64,
            "the bench does not model beats of {beat_bytes} bytes"
        );
        Self {
            beat_bytes,
            user_bits: get("user_width") as u32,
            matcher: parameters.matcher(),
            her_message_id_bits: get("her_message_id_width") as u32,
            context_in_message_id: get("context_in_message_id") == 1,
            slots: SlotMap::new(
                get("buffer_base"),
                (get("large_slot_size"), get("large_slots")),
                (get("small_slot_size"), get("small_slots")),
            ),
            queue_beats: get("queue_beats"),
            packets: get("packets"),
            stall: get("stall") == 1,
        }
    }

    /// Beats of a small slot: longer frames take a large one.
    pub fn small_beats(&self) -> usize {
        self.slots[Class::Small].bytes as usize / self.beat_bytes
    }

    /// Bytes at the start of a frame that rules look at.
    pub fn inspected_bytes(&self) -> usize {
        4 * self.matcher.inspected_words()
    }

    /// Packets that can be under way so that each certainly finds a slot of its class. One less than there are slots:
    /// one that has just been freed is not in its list yet.
    pub fn certain_packets(&self) -> u64 {
        let counts = Class::ALL.map(|class| self.slots[class].count);
        counts[0].min(counts[1]) - 1
    }

    /// Cycles after a reset until every slot can be given out; the slots are filled in one a cycle.
    pub fn opening_cycles(&self) -> u64 {
        let largest = Class::ALL.map(|class| self.slots[class].count);
        76 + largest[0].max(largest[1])
    }

    /// The message id of a HER.
    pub fn her_message_id(&self, message_id: u32, context: usize) -> u64 {
        let id = u64::from(message_id);
        let id = if self.context_in_message_id {
            message_id::compose(id, context as u32)
        } else {
            id
        };
        id & ((1 << self.her_message_id_bits) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Setup;
    use crate::ingress::slots::SlotMap;
    use spinneret_models::{PspinIngressDatapath, PspinIngressDatapathBoard, PspinIngressDatapathSmall};
    use spinneret_rules::MatcherParams;

    #[test]
    fn setups_are_those_of_the_catalog() {
        let reference = Setup {
            beat_bytes: 64,
            user_bits: 16,
            matcher: MatcherParams::REFERENCE,
            her_message_id_bits: 32,
            context_in_message_id: false,
            slots: SlotMap::new(0x1c10_0000, (1536, 256), (128, 1024)),
            queue_beats: 64,
            packets: 128,
            stall: false,
        };
        assert_eq!(Setup::of::<PspinIngressDatapath>(), reference);
        assert_eq!((reference.small_beats(), reference.inspected_bytes()), (2, 128));
        let board = Setup {
            user_bits: 97,
            matcher: MatcherParams::BOARD,
            her_message_id_bits: 10,
            context_in_message_id: true,
            queue_beats: 2048,
            ..reference
        };
        assert_eq!(Setup::of::<PspinIngressDatapathBoard>(), board);
        let small = Setup::of::<PspinIngressDatapathSmall>();
        assert_eq!((small.small_beats(), small.inspected_bytes()), (12, 64));
        assert_eq!(small.slots, SlotMap::new(0x1c10_0400, (9664, 5), (192, 11)));
    }

    #[test]
    fn a_message_id_has_its_context_between_its_bits() {
        let reference = Setup::of::<PspinIngressDatapath>();
        assert_eq!(reference.her_message_id(0x8765_4321, 3), 0x8765_4321);
        let small = Setup::of::<PspinIngressDatapathSmall>();
        assert_eq!(small.her_message_id(0x8765_43a5, 2), 0x299);
    }
}
