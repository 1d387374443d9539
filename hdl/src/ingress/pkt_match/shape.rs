//! Parameters of the matching engine, and the numbers that follow from them.

use super::entry::{NAME, parameters};
use crate::entry::{Checked, Config, ParameterError, Values};
use crate::stream::AxisShape;

/// Word of the frame that carries the message id (bytes 44 to 47: behind the flags of SLMP).
pub(super) const MESSAGE_ID_WORD: usize = 11;
/// Where the message id is in an IP payload, in words from the payload's base (bytes 10 to 13 of the payload).
pub(super) const MESSAGE_ID_IN_PAYLOAD: usize = 2;
/// Words of the frame that start with an Ethernet type: behind the addresses, and behind one and two VLAN tags.
pub(super) const HEADER_WORDS: [usize; 3] = [3, 4, 5];
/// Width of the word number of a payload's base, and of the message id in it.
pub(super) const PAYLOAD_BASE_WIDTH: usize = 5;
/// The largest base of a payload: two VLAN tags and an IPv4 header of 15 words.
const LARGEST_PAYLOAD_BASE: usize = 4 + 2 + 15;

/// Parameters of the matching engine, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchShape {
    /// Widths of the three packet streams.
    pub axis: AxisShape,
    /// Number of rulesets.
    pub rulesets: usize,
    /// Rules of a ruleset; the last one is the end-of-message rule.
    pub rules: usize,
    /// Beats of a frame that the rules can look at.
    pub beats: usize,
    /// Beats that the engine can hold.
    pub buffer_beats: usize,
    /// Width of the tag.
    pub tag_width: usize,
    /// Bits of the message id that go into the tag.
    pub message_id_width: usize,
    /// Whether byte 44 is the most significant byte of the message id.
    pub message_id_network_order: bool,
    /// Whether rules may count from the start of the IP payload, and the message id does.
    pub ip_relative: bool,
}

impl MatchShape {
    /// Checks parameter values.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn new(values: &Values) -> Result<Self, ParameterError> {
        let checked = Checked::new(NAME, &parameters(Config::Reference), values)?;
        let get = |name: &str| checked.get(name) as usize;
        let refuse = |parameter: &str, reason: String| checked.refuse(parameter, reason);
        let data = get("data_width");
        if !data.is_power_of_two() {
            return Err(refuse(
                "data_width",
                "it is a power of two: 64, 128, 256, 512 or 1024".into(),
            ));
        }
        let message_id_width = get("message_id_width");
        let tag_width = get("tag_width");
        if tag_width < message_id_width + 3 {
            let needed = message_id_width + 3;
            let reason =
                format!("message id ({message_id_width}), end of message (1) and ruleset (2) need {needed}");
            return Err(refuse("tag_width", reason));
        }
        let beat_bytes = data / 8;
        let beats = get("inspected_bytes").div_ceil(beat_bytes);
        let frame_beats = get("mtu").div_ceil(beat_bytes);
        let wanted = get("buffer_frames") * frame_beats;
        if wanted > MAX_BUFFER_BEATS {
            let most = MAX_BUFFER_BEATS / frame_beats;
            let reason = format!("with this mtu and data_width it is at most {most}");
            return Err(refuse("buffer_frames", reason));
        }
        Ok(Self {
            axis: AxisShape {
                data,
                id: get("id_width"),
                dest: get("dest_width"),
                user: get("user_width"),
            },
            rulesets: get("rulesets"),
            rules: get("rules"),
            beats,
            buffer_beats: wanted.max(beats + DECISION_BEATS).next_power_of_two(),
            tag_width,
            message_id_width,
            message_id_network_order: get("message_id_network_order") == 1,
            ip_relative: get("ip_relative") == 1,
        })
    }

    /// Words of 32 bits in a beat.
    pub fn lanes(self) -> usize {
        self.axis.data / 32
    }

    /// Width of the number of a word within its beat.
    pub(crate) fn lane_width(self) -> usize {
        self.lanes().trailing_zeros() as usize
    }

    /// Words that the rules can look at: whole beats are inspected.
    pub fn words(self) -> usize {
        self.beats * self.lanes()
    }

    /// Beat that carries the message id.
    pub(crate) fn message_id_beat(self) -> usize {
        MESSAGE_ID_WORD / self.lanes()
    }

    /// Word within its beat that carries the message id.
    pub(crate) fn message_id_lane(self) -> usize {
        MESSAGE_ID_WORD % self.lanes()
    }

    /// The last word of a frame that may carry the message id.
    fn last_message_id_word(self) -> usize {
        if self.ip_relative {
            LARGEST_PAYLOAD_BASE + MESSAGE_ID_IN_PAYLOAD
        } else {
            MESSAGE_ID_WORD
        }
    }

    /// Width of the number of the word that carries the message id: its lane and its beat.
    pub(super) fn id_word_width(self) -> usize {
        self.lane_width() + self.beat_number_width()
    }

    /// Width of the number of a word that a rule looks at, with the base of a payload added, which may lie behind
    /// what is inspected.
    pub(super) fn place_width(self) -> usize {
        let largest = self.words() - 1 + LARGEST_PAYLOAD_BASE;
        let needed = (usize::BITS - largest.leading_zeros()) as usize;
        needed.max(self.lane_width() + self.beat_number_width())
    }

    /// Width of the beat of such a word.
    pub(super) fn place_beat_width(self) -> usize {
        self.place_width() - self.lane_width()
    }

    /// Beats are numbered within their frame up to this number, which stands for all later ones.
    pub(crate) fn last_beat_number(self) -> usize {
        self.beats.max(self.last_message_id_word() / self.lanes() + 1)
    }

    /// Width of a beat's number.
    pub(crate) fn beat_number_width(self) -> usize {
        (usize::BITS - self.last_beat_number().leading_zeros()) as usize
    }

    /// Number of rules in all rulesets.
    pub(crate) fn all_rules(self) -> usize {
        self.rulesets * self.rules
    }
}

/// Beats that a buffer can hold at most: the largest FIFO.
const MAX_BUFFER_BEATS: usize = 1 << 16;

/// Beats that are on their way while a frame is decided: five of the pipeline, and room in which the
/// input may go on while its ready signal, which is a register, catches up.
const DECISION_BEATS: usize = 11;
