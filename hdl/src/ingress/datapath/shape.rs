//! Parameters of the ingress path, and the numbers that follow from them.

use super::entry::{NAME, parameters};
use crate::entry::{Checked, Config, ParameterError, Values};
use crate::ingress::dma::DmaShape;
use crate::ingress::her_gen::HerShape;
use crate::ingress::pkt_match::MatchShape;
use crate::ingress::slots::PoolLayout;

/// Beats of a small slot at most: so many are looked at before a packet starts.
const MOST_SMALL_BEATS: usize = 16;

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
    /// Beats of a large slot.
    pub large_beats: usize,
    /// Beats of a small slot.
    pub small_beats: usize,
    /// Beats of matched frames that can wait for the bus.
    pub queue_beats: usize,
    /// Matched packets that can be under way, from the matching engine to the last response.
    pub packets: usize,
    /// Whether matched frames wait for room instead of being dropped.
    pub stall: bool,
    /// Whether the matched path can be reset by itself.
    pub cluster_reset: bool,
}

impl DatapathShape {
    /// Checks parameter values.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn new(values: &Values) -> Result<Self, ParameterError> {
        let checked = Checked::new(NAME, &parameters(Config::Reference), values)?;
        let here = |error| ParameterError {
            block: NAME.into(),
            ..error
        };
        let slots = PoolLayout::new(NAME, values)?;
        let beat_bytes = checked.get("data_width") / 8;
        if checked.get("alignment") < beat_bytes {
            let reason = format!("slots start at whole beats, so it is {beat_bytes} at least");
            return Err(checked.refuse("alignment", reason));
        }
        let large_beats = (slots.large.size / beat_bytes) as usize;
        let small_beats = (slots.small.size / beat_bytes) as usize;
        if small_beats > MOST_SMALL_BEATS {
            let most = MOST_SMALL_BEATS as u64 * beat_bytes;
            let reason = format!("with this data_width it is {most} at most");
            return Err(checked.refuse("small_slot_size", reason));
        }
        check_queues(checked, large_beats)?;
        // A burst may be as long as what is looked at anyway.
        let burst_beats = small_beats.max(2).next_power_of_two();
        let tag = checked.get("message_id_width") + 3;
        let inner = |settings: &[(&str, u64)]| {
            let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), *value));
            values.clone().into_iter().chain(settings).collect::<Values>()
        };
        let dma = inner(&[
            ("tag_width", tag),
            ("burst_beats", burst_beats as u64),
            ("mtu", 1500),
        ]);
        let her = inner(&[
            ("tag_width", tag),
            ("tag_message_id_width", checked.get("message_id_width")),
            ("message_id_width", checked.get("her_message_id_width")),
        ]);
        let dma = DmaShape::new(&dma).map_err(here)?;
        if slots.large.size >= 1 << dma.length {
            let reason = format!("a length of {} bits does not reach it", dma.length);
            return Err(checked.refuse("large_slot_size", reason));
        }
        Ok(Self {
            matcher: MatchShape::new(values).map_err(here)?,
            slots,
            dma,
            her: HerShape::new(&her).map_err(|error| here(named_here(error)))?,
            large_beats,
            small_beats,
            queue_beats: checked.get("queue_beats") as usize,
            packets: checked.get("packets") as usize,
            stall: checked.get("stall") == 1,
            cluster_reset: checked.get("cluster_reset") == 1,
        })
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

/// The queues have sizes that can be built, and the longest frame that is admitted fits.
pub(super) fn check_queues(checked: Checked, large_beats: usize) -> Result<(), ParameterError> {
    for name in ["queue_beats", "packets"] {
        if !checked.get(name).is_power_of_two() {
            return Err(checked.refuse(name, "it is a power of two".into()));
        }
    }
    let needed = large_beats + 1;
    if checked.get("queue_beats") < needed as u64 {
        let reason = format!("a frame that fills a large slot needs {needed} places");
        return Err(checked.refuse("queue_beats", reason));
    }
    Ok(())
}
