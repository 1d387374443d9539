//! Parameters of the matching engine, the numbers that follow from them, and its entry in the catalog.

use super::PspinPktMatch;
use crate::entry::{Checked, Entry, ParameterError, Variant};
use crate::stream::{AxisShape, SideFields};
use spinneret_regmap::pspin::packet_size::SUM_BITS;
use spinneret_verilog::prelude::*;

/// Word of the frame that carries the message id (bytes 44 to 47: after the flags of SLMP).
pub(super) const MESSAGE_ID_WORD: usize = 11;
/// Where the message id is in an IP payload, in words from the payload's base (bytes 10 to 13 of the payload).
pub(super) const MESSAGE_ID_IN_PAYLOAD: usize = 2;
/// Words of the frame that start with an Ethernet type: after the addresses, and after one and two VLAN tags.
pub(super) const HEADER_WORDS: [usize; 3] = [3, 4, 5];
/// Width of the word number of a payload's base, and of the message id in it.
pub(super) const PAYLOAD_BASE_WIDTH: usize = 5;
/// The smallest base of a payload, with an IPv4 header of 5 words, and the largest: two VLAN tags and 15 words.
pub(super) const SMALLEST_PAYLOAD_BASE: usize = 4 + 5;
pub(super) const LARGEST_PAYLOAD_BASE: usize = 4 + 2 + 15;

/// Parameters of the matching engine, checked.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "pspin_pkt_match", check)]
pub struct MatchShape {
    /// Width of a beat in bits, a power of two.
    #[parameter(512, range = 64..=1024, power_of_two, name = "data_width", verilog = "AXIS_IF_DATA_WIDTH")]
    pub data: usize,
    /// Width of tid in bits.
    #[parameter(1, range = 1..=64, name = "id_width", verilog = "AXIS_IF_RX_ID_WIDTH")]
    pub id: usize,
    /// Width of tdest in bits.
    #[parameter(8, range = 1..=64, name = "dest_width", verilog = "AXIS_IF_RX_DEST_WIDTH")]
    pub dest: usize,
    /// Width of tuser in bits.
    #[parameter(16, board = 97, range = 1..=256, name = "user_width", verilog = "AXIS_IF_RX_USER_WIDTH")]
    pub user: usize,
    /// Bytes of a frame that rules can look at, rounded up to whole beats.
    #[parameter(66, range = 4..=256, verilog = "UMATCH_MATCHER_LEN")]
    pub inspected_bytes: usize,
    /// Largest ordinary frame in bytes.
    #[parameter(1500, range = 64..=16384, verilog = "UMATCH_MTU")]
    pub mtu: usize,
    /// Frames of mtu bytes that the engine can hold while an output stalls.
    #[parameter(3, range = 0..=64, verilog = "UMATCH_BUF_FRAMES")]
    pub buffer_frames: usize,
    /// Width of the packet tag in bits.
    #[parameter(64, range = 4..=128, verilog = "TAG_WIDTH")]
    pub tag_width: usize,
    /// Bits of the message id in the tag.
    #[parameter(32, range = 1..=32, verilog = "MSG_ID_WIDTH")]
    pub message_id_width: usize,
    /// Rulesets; the lowest that matches wins.
    #[parameter(4, range = 1..=4)]
    pub rulesets: usize,
    /// Rules of a ruleset, of which the last marks the end of a message.
    #[parameter(4, range = 2..=8)]
    pub rules: usize,
    /// 1: frame byte 44 is the most significant byte of the message id, not the least.
    #[parameter(0)]
    pub message_id_network_order: bool,
    /// 1: a rule may count from the start of the IPv4 or IPv6 payload, and the message id does.
    #[parameter(0, board = 1)]
    pub ip_relative: bool,
    /// 1: an output has the side band of matched packets.
    #[parameter(0, board = 1)]
    pub side_band: bool,
    /// 1: a packet's metadata and its HER have the sum of its IP payload.
    #[parameter(0)]
    pub payload_sum: bool,
}

impl MatchShape {
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        let (id, needed) = (self.message_id_width, self.message_id_width + 3);
        if self.tag_width < needed {
            let reason = format!(
                "it must be at least {needed}: message id ({id}), end of message (1) and ruleset (2)"
            );
            return Err(checked.refuse("tag_width", reason));
        }
        if self.side_band && self.user < 2 {
            let reason = "it must be at least 2 with side_band: the error bit and one more";
            return Err(checked.refuse("user_width", reason.into()));
        }
        if self.payload_sum && !self.ip_relative {
            let reason = "it must be 0 without ip_relative, which finds the payload";
            return Err(checked.refuse("payload_sum", reason.into()));
        }
        let most = MAX_BUFFER_BEATS / self.frame_beats();
        if self.buffer_frames > most {
            let reason = format!("it must be at most {most} with this mtu and data_width");
            return Err(checked.refuse("buffer_frames", reason));
        }
        Ok(())
    }

    /// Widths of the three packet streams.
    pub fn axis(self) -> AxisShape {
        AxisShape {
            data: self.data,
            id: self.id,
            dest: self.dest,
            user: self.user,
        }
    }

    /// Width of the side band of a matched packet; 0 without the option.
    pub(crate) fn side_width(self) -> usize {
        if self.side_band {
            SideFields::new(self.axis()).width
        } else {
            0
        }
    }

    /// Width of the sum of a matched packet; 0 without the option.
    pub(crate) fn sum_width(self) -> usize {
        if self.payload_sum { SUM_BITS } else { 0 }
    }

    /// Beats of a frame that the rules can look at.
    pub fn beats(self) -> usize {
        self.inspected_bytes.div_ceil(self.data / 8)
    }

    /// Beats of the largest ordinary frame.
    fn frame_beats(self) -> usize {
        self.mtu.div_ceil(self.data / 8)
    }

    /// Beats that the engine can hold.
    pub fn buffer_beats(self) -> usize {
        let wanted = self.buffer_frames * self.frame_beats();
        wanted.max(self.beats() + DECISION_BEATS).next_power_of_two()
    }

    /// Words of 32 bits in a beat.
    pub fn lanes(self) -> usize {
        self.data / 32
    }

    /// Width of the number of a word within its beat.
    pub(crate) fn lane_width(self) -> usize {
        self.lanes().trailing_zeros() as usize
    }

    /// Words that the rules can look at: whole beats are inspected.
    pub fn words(self) -> usize {
        self.beats() * self.lanes()
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

    /// Width of the number of a word that a rule looks at, with the base of a payload added, which may lie after
    /// what is inspected.
    pub(super) fn place_width(self) -> usize {
        let largest = self.words() - 1 + LARGEST_PAYLOAD_BASE;
        bit_width(largest).max(self.lane_width() + self.beat_number_width())
    }

    /// Width of the beat of such a word.
    pub(super) fn place_beat_width(self) -> usize {
        self.place_width() - self.lane_width()
    }

    /// Beats are numbered within their frame up to this number, which stands for all later ones.
    pub(crate) fn last_beat_number(self) -> usize {
        self.beats().max(self.last_message_id_word() / self.lanes() + 1)
    }

    /// Width of a beat's number.
    pub(crate) fn beat_number_width(self) -> usize {
        bit_width(self.last_beat_number())
    }

    /// Number of rules in all rulesets.
    pub(crate) fn all_rules(self) -> usize {
        self.rulesets * self.rules
    }
}

/// Beats that a buffer can hold at most: the largest FIFO.
const MAX_BUFFER_BEATS: usize = 1 << 16;

/// Beats that are on their way while a frame is decided: five of the pipeline, and room in which the
/// input may continue while its ready signal, which is a register, catches up.
const DECISION_BEATS: usize = 11;

/// The matching engine.
pub(crate) const ENTRY: Entry = entry!(shipped MatchShape::BLOCK, PspinPktMatch(MatchShape)?:
    "sorts packets by rules, one beat a clock")
.derives(|values| {
    vec![(
        "AXIS_IF_KEEP_WIDTH",
        values.get("data_width").copied().unwrap_or(0) / 8,
    )]
});

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.variant(ENTRY.name, ""),
    ENTRY.variant("pspin_pkt_match_w64", "data_width=64"),
    ENTRY.variant(
        "pspin_pkt_match_w128",
        "data_width=128 rulesets=3 inspected_bytes=256 buffer_frames=0",
    ),
    ENTRY.variant(
        "pspin_pkt_match_w256",
        "data_width=256 rules=6 user_width=97 message_id_network_order=1",
    ),
    ENTRY.variant(
        "pspin_pkt_match_w1024",
        "data_width=1024 rulesets=2 rules=2 inspected_bytes=4 message_id_width=10",
    ),
    ENTRY.variant("pspin_pkt_match_ip", "").of_boards(),
    ENTRY.variant("pspin_pkt_match_sum", "payload_sum=1").of_boards(),
    ENTRY.variant(
        "pspin_pkt_match_sum_w64",
        "data_width=64 ip_relative=1 payload_sum=1",
    ),
    ENTRY.variant("pspin_pkt_match_ip_w64", "data_width=64 ip_relative=1"),
    ENTRY.variant(
        "pspin_pkt_match_ip_w128",
        "data_width=128 rulesets=3 rules=3 inspected_bytes=20 message_id_network_order=1 ip_relative=1",
    ),
    ENTRY.variant(
        "pspin_pkt_match_ip_w256",
        "data_width=256 rulesets=2 inspected_bytes=256 ip_relative=1",
    ),
    ENTRY.variant(
        "pspin_pkt_match_ip_w1024",
        "data_width=1024 rulesets=2 inspected_bytes=256 message_id_width=16 ip_relative=1",
    ),
];
