//! Parameters of the ingress path, and the numbers that follow from them.

use crate::entry::{Checked, Config, Parameter, ParameterError, Parameters as _, Values};
use crate::ingress::dma::{BeatFields, DmaShape};
use crate::ingress::her_gen::HerShape;
use crate::ingress::pkt_match::MatchShape;
use crate::ingress::slots::PoolLayout;
use crate::stream::FifoConfig;
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
        let dma = inner(&[("tag_width", tag), ("burst_beats", burst_beats)]);
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
        Ok(shape)
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

/// Parameters of the gate; those of its own in the catalog are small, so that every queue fills often.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "admission_gate", check)]
pub struct GateShape {
    /// Width of a beat in bits, a power of two.
    #[parameter(32, range = 16..=1024, power_of_two, name = "data_width")]
    pub data: usize,
    /// Width of a length in bits.
    #[parameter(16, range = 1..=32, name = "length_width")]
    pub length: usize,
    /// Width of a tag in bits.
    #[parameter(8, range = 1..=128, name = "tag_width")]
    pub tag: usize,
    /// Beats of a large slot.
    #[parameter(3, range = 1..=4095)]
    pub large_beats: usize,
    /// Beats of matched frames that can wait, a power of two.
    #[parameter(8, range = 4..=4096, power_of_two)]
    pub queue_beats: usize,
    /// Frames whose metadata can wait, a power of two.
    #[parameter(8, range = 2..=1024, power_of_two)]
    pub packets: usize,
    /// 1: a frame waits for room, 0: it is dropped when there is none.
    #[parameter(0)]
    pub stall: bool,
}

impl GateShape {
    /// The longest frame that is admitted fits.
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        let needed = self.large_beats + 1;
        if self.queue_beats < needed {
            let reason = format!("it must be at least {needed}, for a frame that fills a large slot");
            return Err(checked.refuse("queue_beats", reason));
        }
        Ok(())
    }

    /// A beat with its marks.
    pub(super) fn beat(self) -> BeatFields {
        BeatFields::new(self.data)
    }

    /// The queue of beats: block RAM if it is deep. A register comes after it.
    pub(super) fn queue(self, width: usize) -> FifoConfig {
        /// Beats that distributed RAM is used for.
        const DISTRIBUTED: usize = 64;
        FifoConfig::by_depth(width, self.queue_beats, DISTRIBUTED).behind_a_register()
    }
}
