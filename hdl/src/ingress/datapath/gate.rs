//! Lets matched frames in while there is room for them, and marks their beats. It has an entry in the catalog, for tests and
//! proofs of its own.

use crate::entry::{Checked, Entry, ParameterError, Variant};
use crate::ingress::dma::BeatFields;
use crate::stream::{FifoConfig, OutputQueue, PassFifo, StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// The gate of the matched path: what comes in is taken at once, and a frame that finds no room is dropped whole.
///
/// ```text
/// s ------> marks ---> admitted? ---> queue (no clock while empty) ---> register ---> m
///                         |
///                     verdicts (FIFO)
///                         |
/// meta_s --------------> admitted? ---> metas (FIFO) ------------------------------> meta_m
/// ```
///
/// The first beat of a frame decides. It needs room for the longest frame that fits a slot and one beat more,
/// which is all that ever enters of a longer one, and a place for its metadata. So frames never stop within
/// the gate, and the matching engine is never held back: unmatched frames after do not wait. With `stall` a
/// frame waits for room instead.
///
/// Metadata comes once for each frame, in order, and goes the way of its frame.
#[module(
    shape: GateShape,
    error = ParameterError,
    beat = shape.beat(),
    meta = shape.tag + shape.length,
    limit = shape.large_beats,
)]
pub struct AdmissionGate {
    /// Beats of matched frames: {the frame is bad, tlast, tkeep, tdata}.
    pub s: StreamIn<{ beat.last.at + 2 }>,
    /// Metadata of matched frames: {tag, length}.
    pub meta_s: StreamIn<{ meta }>,
    /// Marked beats of admitted frames.
    pub m: StreamOut<{ beat.width }>,
    /// Metadata of admitted frames.
    pub meta_m: StreamOut<{ meta }>,
    /// A frame is dropped.
    pub dropped: Wire<Out, bool>,
    queue: Checked<PassFifo<{ shape.queue(beat.width).with_margin(limit) }>>,
    /// The beat at the output: whether it is admitted and what takes it are decided in different clocks.
    out_data: Reg<{ beat.width }>,
    out_valid: Reg<bool, Reset>,
    verdicts: Checked<OutputQueue<1, { VERDICTS }, 0>>,
    metas: Checked<OutputQueue<{ meta }, { shape.packets }, 0>>,
    in_frame: Reg<bool, Reset>,
    admitted: Reg<bool>,
    /// Number of the beat within its frame; stays at the number of beats of the largest slot.
    number: Reg<{ address_width(limit + 1) }, Reset>,
    /// An earlier beat of the frame had lanes without a byte.
    partial: Reg<bool>,
    /// Of the beats after the slot, one was bad, or had bytes.
    spoiled: Reg<bool>,
    spilled: Reg<bool>,
    /// Frames between the first beat at the gate and the metadata that leaves it.
    under_way: Reg<{ address_width(shape.packets + 1) }, Reset>,
    places: Reg<bool, Reset>,
}

/// Frames whose verdict waits for their metadata, which comes two clocks after them at most.
const VERDICTS: usize = 8;

#[kernel(AdmissionGate)]
fn update() {
    let (beat, limit, packets) = (shape.beat(), shape.large_beats, shape.packets);
    let keep = s.data.field(beat.keep);
    let last = s.data.flag(beat.last);
    /// The first beat decides for its frame.
    let first = !in_frame;
    let room = !queue.almost_full && places;
    let verdict = if first { room } else { admitted };
    s.ready = if shape.stall {
        verdicts.s.ready && (in_frame || room)
    } else {
        verdicts.s.ready
    };
    let accept = s.valid && s.ready;
    if accept {
        in_frame = !last;
        admitted = verdict;
    }
    verdicts.s.data = verdict.word();
    verdicts.s.valid = accept && first;
    dropped = accept && first && !verdict;
    /// Bytes fill the lanes from the lowest on, and only the last of them may leave lanes free.
    let gap = ((keep >> 1_usize) & !keep).any() || (!first && partial && keep.any());
    let bad = gap || (last && s.data[beat.last.at + 1]);
    /// Of the beats after the largest slot only the last of the frame enters, for all of them.
    let beyond = number == limit;
    let over = beyond && (keep.any() || spilled);
    if accept {
        partial = !keep.all() || (!first && partial);
        spoiled = beyond && (bad || spoiled);
        spilled = over;
        if last {
            number = 0;
        } else if !beyond {
            number = number + 1;
        }
    }
    /// {cut, over, bad, beyond, last, strobes, data}
    queue.s.data = cat!(
        last || number == limit - 1,
        over,
        bad || (beyond && spoiled),
        beyond,
        s.data.slice(0, beat.last.at + 1)
    );
    queue.s.valid = accept && verdict && (!beyond || last);
    assert!(
        !queue.s.valid || queue.s.ready,
        "a beat enters only with room for its frame"
    );
    let free = !out_valid || m.ready;
    queue.m.ready = free;
    if free {
        out_valid = queue.m.valid;
        out_data = queue.m.data;
    }
    m.valid = out_valid;
    m.data = out_data;
    /// Metadata of frames that are dropped ends here.
    meta_s.ready = verdicts.m.valid && metas.s.ready;
    verdicts.m.ready = meta_s.valid && metas.s.ready;
    metas.s.data = meta_s.data;
    metas.s.valid = meta_s.valid && verdicts.m.valid && verdicts.m.data.any();
    assert!(
        !metas.s.valid || metas.s.ready,
        "each admitted frame has a place for its metadata"
    );
    meta_m = metas.m;
    /// Frames inside, so that there is a place for the metadata of each.
    let enters = accept && first && verdict;
    let leaves = metas.m.valid && meta_m.ready;
    if enters && !leaves {
        under_way = under_way + 1;
        places = under_way != packets - 1;
    } else if leaves && !enters {
        under_way = under_way - 1;
        places = true;
    } else {
        places = under_way != packets;
    }
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
    pub(super) fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        let needed = self.large_beats + 1;
        if self.queue_beats < needed {
            let reason = format!("it must be at least {needed}, for a frame that fills a large slot");
            return Err(checked.refuse("queue_beats", reason));
        }
        Ok(())
    }

    /// A beat with its marks.
    fn beat(self) -> BeatFields {
        BeatFields::new(self.data)
    }

    /// The queue of beats: block RAM if it is deep. A register comes after it.
    fn queue(self, width: usize) -> FifoConfig {
        /// Beats that distributed RAM is used for.
        const DISTRIBUTED: usize = 64;
        FifoConfig::by_depth(width, self.queue_beats, DISTRIBUTED).behind_a_register()
    }
}

/// [`AdmissionGate`].
pub(crate) const GATE_ENTRY: Entry = entry!(part GateShape::BLOCK, AdmissionGate(GateShape)?:
    "admits matched frames while there is room, and marks their beats");

/// Models for the testbenches.
pub(crate) const GATE_SIMULATED: &[Variant] = &[
    GATE_ENTRY.variant(GATE_ENTRY.name, ""),
    GATE_ENTRY.variant("admission_gate_stall", "stall=1"),
    // Slots of one beat; few places, so that those for metadata run out first.
    GATE_ENTRY.variant("admission_gate_1", "large_beats=1 queue_beats=16 packets=4"),
    GATE_ENTRY.variant(
        "admission_gate_block",
        "large_beats=24 queue_beats=128 packets=16",
    ),
];
