//! Where the IP payload of a frame starts.
//!
//! ```text
//! word    3            4            5            of the frame
//! bytes  12 .. 14     16 .. 18     20 .. 22
//!        type  IHL    type  IHL    type  IHL     type IPv4 or IPv6: found; VLAN: look at the next word
//!         |     |
//!         +-----+--> found, base = 4 + tags + header words; the payload starts at byte 4 * base - 2
//! ```
//!
//! An IP header follows an Ethernet header of 14 bytes and up to two VLAN tags of 4 bytes, so the payload always
//! starts two bytes before a word of the frame. That word is what `base` counts.
//!
//! # Contract
//! - **Behaviour**: a type of 0x8100 or 0x88a8 is a VLAN tag, of which there are at most two. Type 0x0800 with version
//!   4 and a header length (IHL) of at least 5 is IPv4, type 0x86dd with version 6 is IPv6 with a header of 40 bytes;
//!   its extension headers belong to its payload. Anything else has no payload. Fragments are no exception.
//! - **Throughput and latency**: one beat a cycle, never a stall; the outputs belong to the beat of the cycle before,
//!   and to the beats of the frame after it.
//! - **Reset**: there is none; the first beat of a frame starts again.
//! - **Bad input**: bytes after the end of a frame may be read as a header, but then the payload is after the end
//!   as well, so that no rule sees it.
//!
//! Source: IEEE 802.1Q for tags, RFC 791 and RFC 8200 for headers. The FPsPIN paper names headers of fixed length as a
//! limit of its matcher.

use super::MatchShape;
use super::shape::{HEADER_WORDS, MESSAGE_ID_IN_PAYLOAD, MESSAGE_ID_WORD, PAYLOAD_BASE_WIDTH};
use spinneret_verilog::prelude::*;

/// Bits of a word of the headers that are inspected: a type and the byte after it.
pub(super) const HEADER_BITS: usize = 24;
/// Tag protocol identifiers of customer and service VLAN tags.
const VLAN: [u64; 2] = [0x8100, 0x88a8];
/// Ethernet type of IPv4.
const IPV4: u64 = 0x0800;
/// Ethernet type of IPv6.
const IPV6: u64 = 0x86dd;
/// Words of the fixed IPv6 header.
const IPV6_WORDS: usize = 10;
/// The last word that may hold a type.
const LAST_WORD: usize = HEADER_WORDS[HEADER_WORDS.len() - 1];
/// Added to tags and header words: the 16 bytes that end two bytes after the Ethernet header.
const ETHERNET_WORDS: usize = 4;

/// Finds the IPv4 or IPv6 payload of every frame after up to two VLAN tags.
///
/// One beat a cycle, never a stall. The outputs are those of the beat that was accepted last.
#[module(no_clock, shape: MatchShape, words = HEADER_WORDS.len())]
pub struct PayloadFinder {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Bytes 0 to 2 of each word of the beat that may hold a type, if the beat is the one that has that word.
    pub beat_headers: Wire<In, { HEADER_BITS * words }>,
    /// Number of the beat within its frame.
    pub beat_number: Wire<In, { shape.beat_number_width() }>,
    /// The beat is accepted in this cycle.
    pub accept: Wire<In, bool>,
    /// The frame has an IP header, and this beat or an earlier one shows where it ends.
    pub found: Wire<Out, bool>,
    /// The word of the frame that starts two bytes after the payload's start.
    pub base: Wire<Out, { PAYLOAD_BASE_WIDTH }>,
    /// Lane of the word before that one, which holds the first two bytes of the payload.
    pub back_lane: Wire<Out, { shape.lane_width() }>,
    /// The word of the frame that carries the message id.
    pub id_word: Wire<Out, { shape.id_word_width() }>,
    was_looking: Optional<Reg<bool>, { LAST_WORD >= shape.lanes() }>,
    is_found: Reg<bool>,
    place: Reg<{ 2 * PAYLOAD_BASE_WIDTH + shape.lane_width() }>,
}

/// A place: the word of the message id, the lane before the base, and the base.
fn place_of(shape: MatchShape, base: usize, id: usize) -> [Word; 3] {
    let word = |number: usize, width| lit(number as u64, width);
    [
        word(id, PAYLOAD_BASE_WIDTH),
        word((base - 1) % shape.lanes(), shape.lane_width()),
        word(base, PAYLOAD_BASE_WIDTH),
    ]
}

/// A header word as the first that names no VLAN tag.
struct Header {
    tagged: Sig<bool>,
    is_ip: Sig<bool>,
    /// Where the payload is if the IP header starts here.
    place: Sig<Word>,
}

/// Decodes a word behind `tags` VLAN tags.
#[kernel]
fn header(shape: MatchShape, tags: usize, word: Sig<Word>) -> Header {
    let kind = word.slice(0, 16).swap_bytes();
    let (length, version) = (word.slice(16, 4), word.slice(20, 4));
    let is_ipv6 = (kind == IPV6) & (version == 6);
    let is_ipv4 = (kind == IPV4) & (version == 4) & (length >= 5);
    let place = |words: usize| {
        let base = ETHERNET_WORDS + tags + words;
        place_of(shape, base, base + MESSAGE_ID_IN_PAYLOAD)
    };
    let place = if is_ipv6 {
        cat_words(place(IPV6_WORDS).map(constant))
    } else {
        cat_words(place(0).map(|part| length.resize(part.width()) + part))
    };
    Header {
        tagged: (kind == VLAN[0]) | (kind == VLAN[1]),
        is_ip: is_ipv6 | is_ipv4,
        place,
    }
}

#[kernel]
fn cat_words([id, lane, base]: [Sig<Word>; 3]) -> Sig<Word> {
    cat!(id, lane, base)
}

#[kernel(PayloadFinder)]
fn update() {
    let several_beats = LAST_WORD >= shape.lanes();
    let first_beat = beat_number == 0;
    /// The words one after the other, as far as they are in this beat. Wide beats have them all in the first, so
    /// that nothing of earlier beats counts.
    let mut looking = if several_beats {
        first_beat | *was_looking
    } else {
        true
    };
    let no_place = cat_words(place_of(shape, ETHERNET_WORDS, MESSAGE_ID_WORD).map(constant));
    let mut now_found = if several_beats {
        !first_beat & is_found
    } else {
        false
    };
    let mut now_place = if several_beats {
        if first_beat { no_place } else { place }
    } else {
        no_place
    };
    for (tags, word) in HEADER_WORDS.into_iter().enumerate() {
        let header = header(shape, tags, beat_headers.slice(HEADER_BITS * tags, HEADER_BITS));
        /// The word is in this beat, and all before it said that a VLAN tag follows.
        let here = looking
            & if several_beats {
                beat_number == word / shape.lanes()
            } else {
                true
            };
        now_found = now_found | (here & header.is_ip);
        now_place = if here & header.is_ip {
            header.place
        } else {
            now_place
        };
        looking = if here { header.tagged } else { looking };
    }
    if accept & (beat_number <= LAST_WORD / shape.lanes()) {
        if several_beats {
            *was_looking = looking;
        }
        is_found = now_found;
        place = now_place;
    }
    found = is_found;
    base = place.slice(0, PAYLOAD_BASE_WIDTH);
    back_lane = place.slice(PAYLOAD_BASE_WIDTH, shape.lane_width());
    id_word = place
        .slice(PAYLOAD_BASE_WIDTH + shape.lane_width(), PAYLOAD_BASE_WIDTH)
        .resize(shape.id_word_width());
}
