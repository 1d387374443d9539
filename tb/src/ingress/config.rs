//! Parameters of a path, its contexts, and its stimulus.

use super::slots::{Cause, Class, Counters, Drops, Refusals, Release, SlotMap};
use crate::bench::Parameters;
use spinneret_regmap::message_id;
use spinneret_rules::MatcherParams;
use spinneret_sim::prelude::*;

/// Parameters of a path that its bench depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Bytes of a beat, at most 64.
    pub beat_bytes: usize,
    /// Width of `tuser` in bits.
    pub user_bits: u32,
    /// Widths of `tid` and `tdest` in bits, if packets are announced with their side band.
    pub side_bits: Option<[u32; 2]>,
    /// Whether HERs have the sum of the IP payload.
    pub has_sum: bool,
    /// Execution contexts, at most [`CONTEXTS`].
    pub contexts: usize,
    /// The matching engine.
    pub matcher: MatcherParams,
    /// Width of the message id in a HER in bits.
    pub her_message_id_bits: u32,
    /// Whether bits 3:2 of that are the context.
    pub context_in_message_id: bool,
    /// Whether contexts can have a bound of slots.
    pub slot_bounds: bool,
    /// The slots of the packet buffer.
    pub slots: SlotMap,
    /// Beats of matched frames that can wait for the bus.
    pub queue_beats: u64,
    /// Matched packets that can be in flight.
    pub packets: u64,
    /// Whether matched frames wait for room or a slot instead of being dropped.
    pub stall: bool,
}

impl Setup {
    /// Reads the parameters of a model in the catalog.
    ///
    /// # Panics
    /// If there is no such model, or the bench cannot test it.
    pub fn of<M: Model>() -> Self {
        let parameters = Parameters::of::<M>();
        let get = |name| parameters.get(name);
        for (name, modelled) in [
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
            side_bits: (get("side_band") == 1)
                .then(|| ["id_width", "dest_width"].map(|name| get(name) as u32)),
            has_sum: get("payload_sum") == 1,
            contexts: get("contexts") as usize,
            matcher: parameters.matcher(),
            her_message_id_bits: get("her_message_id_width") as u32,
            context_in_message_id: get("context_in_message_id") == 1,
            slot_bounds: get("slot_bounds") == 1,
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

    /// Clocks from the first beat of a frame to its HER through an empty path, if the response comes one clock after the
    /// last beat.
    pub fn her_cycles(&self, size: usize) -> u64 {
        let beats = size.div_ceil(self.beat_bytes);
        let after_the_first = |most: usize| beats.min(most) - 1;
        let inspected = after_the_first(self.inspected_bytes() / self.beat_bytes);
        (8 + beats + inspected + after_the_first(self.small_beats())) as u64
    }

    /// Packets that can be in flight so that each certainly finds a slot of its class. One less than there are slots:
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

/// Stimulus of the path: pauses, responses, frees.
#[derive(Clone, Debug)]
pub struct Stimulus {
    /// Whether room and a slot are guaranteed for every packet, so that each outcome is predicted.
    pub uncongested: bool,
    /// Packets in flight at most, with those whose slot the cluster has; random traffic waits so long.
    pub most_under_way: u64,
    /// Gaps between beats from the wire.
    pub input: Pause,
    /// Backpressure of the NIC.
    pub nic: Pause,
    /// Backpressure of the cluster.
    pub her: Pause,
    /// The packet buffer.
    pub slave: SlaveConfig,
    /// Gaps between frees.
    pub feedback: Pause,
    /// Policy by which the cluster frees slots.
    pub release: Release,
    /// Large slots that the cluster has already when random traffic begins, so that there are few.
    pub occupied: u64,
    /// Wrong frees in percent of the good ones.
    pub bad_frees: u32,
}

/// No pauses, no errors, slots freed at once.
impl Default for Stimulus {
    fn default() -> Self {
        Self {
            uncongested: true,
            most_under_way: u64::MAX,
            input: Pause::Never,
            nic: Pause::Never,
            her: Pause::Never,
            slave: SlaveConfig::default(),
            feedback: Pause::Never,
            release: Release::AtOnce,
            occupied: 0,
            bad_frees: 0,
        }
    }
}

/// Packets by outcome since the last comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Unmatched packets, all of which came out.
    pub bypassed: u64,
    /// Matched packets.
    pub matched: u64,
    /// Those of them for which the cluster took a HER.
    pub hers: u64,
    /// Those that were dropped.
    pub drops: Drops,
    /// Frees that were refused.
    pub refused: Refusals,
}

impl Outcome {
    /// Returns the difference of two readings of the counters.
    pub(super) fn between(base: &Counters, now: &Counters) -> Self {
        let mut drops = Drops::default();
        for cause in Cause::ALL {
            drops[cause] = now.drops[cause] - base.drops[cause];
        }
        Self {
            bypassed: now.bypassed - base.bypassed,
            matched: now.matched - base.matched,
            hers: now.hers - base.hers,
            drops,
            refused: Refusals {
                no_start: now.refused.no_start - base.refused.no_start,
                not_out: now.refused.not_out - base.refused.not_out,
                early: now.refused.early - base.refused.early,
            },
        }
    }
}

/// Fields of a context, as in `her_gen_*` and `her_meta_*`; all have 32 bits but the one below.
pub use crate::her_gen::FIELDS;

/// The field of 64 bits.
const WIDE_FIELD: &str = "host_mem_addr";

/// Contexts of a path at most, as many as rulesets.
pub const CONTEXTS: usize = 4;

/// All contexts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contexts {
    /// Enabled contexts.
    pub enabled: [bool; CONTEXTS],
    /// The fields of each, in the order of [`FIELDS`].
    pub fields: [[u64; FIELDS.len()]; CONTEXTS],
}

impl Contexts {
    /// Contexts with these enabled, and random fields.
    pub fn random(rng: &mut ChaCha8Rng, enabled: [bool; CONTEXTS]) -> Self {
        let mut field = |name: &str| {
            let value: u64 = rng.random();
            if name == WIDE_FIELD { value } else { value >> 32 }
        };
        let fields = std::array::from_fn(|_| FIELDS.map(&mut field));
        Self { enabled, fields }
    }

    /// The context that serves packets of a ruleset: its own, else context 0, if one of them is enabled.
    pub fn of_ruleset(&self, ruleset: u8) -> Option<usize> {
        let own = usize::from(ruleset);
        [own, 0].into_iter().find(|context| self.enabled[*context])
    }

    /// Puts as many as the path has on the ports `her_gen_*`, without `her_gen_valid`.
    ///
    /// # Panics
    /// If the design has no such ports.
    pub fn drive(&self, dut: &mut Instance) {
        for (index, name) in FIELDS.iter().enumerate() {
            let bytes = if *name == WIDE_FIELD { 8 } else { 4 };
            let each = self
                .fields
                .iter()
                .flat_map(|context| context[index].to_le_bytes().into_iter().take(bytes));
            let value: Vec<u8> = each.collect();
            set(dut, &format!("her_gen_{name}"), &value);
        }
        let bits = (0..CONTEXTS).map(|context| u8::from(self.enabled[context]) << context);
        set(dut, "her_gen_ctx_enabled", &[bits.sum()]);
    }
}

/// Sets a port to the lowest bytes, as many as it has.
fn set(dut: &mut Instance, name: &str, value: &[u8]) {
    let port = dut.port(name, Direction::Input);
    let port = port.unwrap_or_else(|error| panic!("{error}"));
    dut.set_bytes(port, &value[..port.width().div_ceil(8)]);
}

#[cfg(test)]
mod tests {
    use super::{CONTEXTS, Setup};
    use crate::ingress::slots::SlotMap;
    use spinneret_models::{PspinIngressDatapath, PspinIngressDatapathBoard, PspinIngressDatapathSmall};
    use spinneret_rules::MatcherParams;

    #[test]
    fn setups_are_those_of_the_catalog() {
        let reference = Setup {
            beat_bytes: 64,
            user_bits: 16,
            side_bits: None,
            has_sum: false,
            contexts: CONTEXTS,
            matcher: MatcherParams::REFERENCE,
            her_message_id_bits: 32,
            context_in_message_id: false,
            slot_bounds: false,
            slots: SlotMap::new(0x1c10_0000, (1536, 256), (128, 1024)),
            queue_beats: 64,
            packets: 128,
            stall: false,
        };
        assert_eq!(Setup::of::<PspinIngressDatapath>(), reference);
        assert_eq!((reference.small_beats(), reference.inspected_bytes()), (2, 128));
        assert_eq!([64, 65, 1500].map(|size| reference.her_cycles(size)), [9, 12, 34]);
        let board = Setup {
            user_bits: 97,
            side_bits: Some([1, 8]),
            matcher: MatcherParams::BOARD,
            her_message_id_bits: 10,
            context_in_message_id: true,
            slot_bounds: true,
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
