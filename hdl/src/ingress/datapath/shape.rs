//! Parameters of the ingress path, the numbers that follow from them, and its entry in the catalog.

use super::{GateShape, PspinIngressDatapath};
use crate::entry::{Checked, Config, Entry, Parameter, ParameterError, Parameters as _, Values, Variant};
use crate::ingress::dma::{self, DmaShape};
use crate::ingress::her_gen::HerShape;
use crate::ingress::pkt_match::MatchShape;
use crate::ingress::slots::PoolLayout;
use spinneret_regmap::pspin::packet_size::SIZE_BITS;
use spinneret_verilog::prelude::*;

/// Beats of a small slot at most; all of them are inspected before a packet starts.
const MOST_SMALL_BEATS: u64 = 16;

/// Parameters of the ingress path, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatapathShape {
    /// The matching engine.
    pub matcher: MatchShape,
    /// The slots of the packet buffer.
    pub slots: PoolLayout,
    /// The write engine.
    pub dma: DmaShape,
    /// The HER generator.
    pub her: HerShape,
    /// Parameters that none of them has.
    pub path: PathShape,
}

/// Parameters of the ingress path that none of its parts has.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathShape {
    /// Width of the message id in a HER, and of that in the feedback, in bits.
    #[parameter(32, board = 10, range = 1..=32)]
    pub her_message_id_width: u64,
    /// Beats of matched frames that can wait for the bus, a power of two.
    // On a board the wire brings 100 Gb/s and the cluster takes 20 Gb/s at 40 MHz: a burst of 64 full frames waits here.
    #[parameter(64, board = 2048, range = 4..=4096, power_of_two)]
    pub queue_beats: usize,
    /// Matched packets that can be in flight to their last response, a power of two.
    #[parameter(128, range = 4..=1024, power_of_two)]
    pub packets: usize,
    /// 1: a matched frame waits for room or a slot, 0: it is dropped when there is none.
    #[parameter(0)]
    pub stall: bool,
    /// 1: an input resets all that lies after the matching engine, with the cluster.
    #[parameter(0, board = 1)]
    pub cluster_reset: bool,
}

/// Parameters of the parts that follow from others here.
const DERIVED: &[&str] = &["burst_beats", "tag_message_id_width"];

/// Parameters of the slots for which the public design has no names here.
const UNNAMED: &[&str] = &[
    "large_slot_size",
    "large_slots",
    "small_slot_size",
    "small_slots",
    "alignment",
];

impl DatapathShape {
    /// Name of the block.
    pub(super) const BLOCK: &str = "pspin_ingress_datapath";

    /// Parameters with their values in a configuration: those of the parts, and its own.
    ///
    /// Shared parameters have one value, which must suit all parts.
    pub(super) fn parameters(config: Config) -> Vec<Parameter> {
        let parts = [
            MatchShape::parameters(config),
            DmaShape::parameters(config),
            HerShape::parameters(config),
            PoolLayout::parameters(config),
            PathShape::parameters(config),
        ];
        let mut all: Vec<Parameter> = Vec::new();
        for mut parameter in parts.concat() {
            if DERIVED.contains(&parameter.name) {
                continue;
            }
            if let Some(earlier) = all.iter_mut().find(|earlier| earlier.name == parameter.name) {
                earlier.min = earlier.min.max(parameter.min);
                earlier.max = earlier.max.min(parameter.max);
                continue;
            }
            if UNNAMED.contains(&parameter.name) {
                parameter.verilog = None;
            }
            all.push(parameter);
        }
        all
    }

    /// Checks parameter values.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn new(values: &Values) -> Result<Self, ParameterError> {
        let block = Self::BLOCK;
        let checked = Checked::new(block, &Self::parameters(Config::Reference), values)?;
        let matcher = MatchShape::of(block, values)?;
        let slots = PoolLayout::read(checked)?;
        let path = PathShape::read(checked)?;
        let beat_bytes = matcher.data as u64 / 8;
        if slots.alignment < beat_bytes {
            let reason = format!("it must be at least {beat_bytes}: slots start at whole beats");
            return Err(checked.refuse("alignment", reason));
        }
        let small_beats = slots.small_slot_size / beat_bytes;
        if small_beats > MOST_SMALL_BEATS {
            let most = MOST_SMALL_BEATS * beat_bytes;
            let reason = format!("it must be at most {most} with this data_width");
            return Err(checked.refuse("small_slot_size", reason));
        }
        let inner = |settings: &[(&str, u64)]| {
            let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), *value));
            values.clone().into_iter().chain(settings).collect::<Values>()
        };
        let (id, tag) = (
            matcher.message_id_width as u64,
            matcher.message_id_width as u64 + 3,
        );
        // A burst may be as long as the beats that are inspected anyway.
        let burst_beats = small_beats.max(2).next_power_of_two();
        let record = tag + (matcher.side_width() + matcher.sum_width()) as u64;
        let dma = inner(&[("tag_width", record), ("burst_beats", burst_beats)]);
        let her = inner(&[
            ("tag_width", tag),
            ("tag_message_id_width", id),
            ("message_id_width", path.her_message_id_width),
        ]);
        let shape = Self {
            matcher,
            slots,
            dma: DmaShape::of(block, &dma)?,
            her: HerShape::of(block, &her).map_err(named_here)?,
            path,
        };
        shape.gate().check(checked)?;
        let length = shape.dma.length;
        let lengths = 1_u64 << length;
        if slots.large_slot_size >= lengths {
            let reason = format!("it must be less than {lengths}: a length has {length} bits");
            return Err(checked.refuse("large_slot_size", reason));
        }
        if matcher.payload_sum && slots.large_slot_size >> SIZE_BITS != 0 {
            let reason = format!("it must be less than {} with payload_sum", 1 << SIZE_BITS);
            return Err(checked.refuse("large_slot_size", reason));
        }
        Ok(shape)
    }

    /// Width of the tag that goes to the HER generator; before it, a packet's tag is {side band, sum, this}.
    pub(super) fn tag(self) -> usize {
        self.dma.tag - self.matcher.side_width() - self.matcher.sum_width()
    }

    /// Bits that are kept of a slot of the cluster: its context; 0 without bounds.
    pub(super) fn context(self) -> usize {
        if self.her.slot_bounds {
            HerShape::CONTEXT_BITS
        } else {
            0
        }
    }

    /// Beats of a small slot.
    pub(super) fn small_beats(self) -> usize {
        self.slots.small_slot_size as usize / self.dma.beat().keep.width
    }

    /// The gate for matched frames.
    pub(super) fn gate(self) -> GateShape {
        GateShape {
            data: self.dma.data,
            length: self.dma.length,
            tag: self.dma.tag,
            large_beats: self.slots.large_slot_size as usize / self.dma.beat().keep.width,
            queue_beats: self.path.queue_beats,
            packets: self.path.packets,
            stall: self.path.stall,
        }
    }
}

/// An error of the HER generator with the name that its parameter has here, where `message_id_width` is that of the
/// matching engine. The value is that of the parameter here already.
fn named_here(error: ParameterError) -> ParameterError {
    let parameter = match error.parameter.as_str() {
        "message_id_width" => "her_message_id_width".into(),
        _ => error.parameter,
    };
    ParameterError { parameter, ..error }
}

/// The ingress path.
pub(crate) const ENTRY: Entry = entry!(shipped DatapathShape::BLOCK, PspinIngressDatapath(DatapathShape)?:
    "from the wire to the cluster: matches packets, writes them into slots, makes HERs")
.derives(dma::ENTRY.derived);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.variant(ENTRY.name, ""),
    // Everything small, so that every queue fills and every slot is used often; jumbo slots.
    ENTRY.variant(
        "pspin_ingress_datapath_small",
        "data_width=128 inspected_bytes=64 buffer_frames=0 length_width=16 buffer_base=0x1c100400 large_slot_size=9664 large_slots=5 small_slot_size=192 \
         small_slots=11 bursts=4 her_queue=2 free_queue=2 queue_beats=1024 packets=8 her_message_id_width=10 context_in_message_id=1 slot_bounds=1",
    ),
    // The same path that waits for slots instead of dropping packets.
    ENTRY.variant("pspin_ingress_datapath_stall", "large_slots=4 small_slots=8 stall=1"),
    ENTRY.variant("pspin_ingress_datapath_board", "").of_boards(),
    // Narrow beats, with queues of as many bytes.
    ENTRY.variant("pspin_ingress_datapath_w64", "data_width=64 queue_beats=256"),
    ENTRY.variant("pspin_ingress_datapath_w128", "data_width=128 queue_beats=128"),
    ENTRY.variant("pspin_ingress_datapath_w256", "data_width=256"),
    // For an FPGA of 24,000 LUTs.
    ENTRY.variant(
        "pspin_ingress_datapath_lean",
        "data_width=64 inspected_bytes=64 buffer_frames=0 length_width=16 rulesets=2 contexts=2 buffer_size=32768 large_slots=16 \
         small_slots=64 bursts=8 her_queue=4 free_queue=2 queue_beats=256 packets=16 her_message_id_width=10 context_in_message_id=1",
    ),
    ENTRY.variant("pspin_ingress_datapath_sum", "payload_sum=1").of_boards(),
];
