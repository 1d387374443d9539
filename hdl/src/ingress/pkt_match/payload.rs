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
#[hardware(shape: MatchShape, words = HEADER_WORDS.len())]
#[derive(LogicBlock, Describe, Clone, Debug)]
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
    kind: [Wire<Local, 16>; words],
    /// The word says that a VLAN tag follows.
    tagged: [Wire<Local, bool>; words],
    is_ipv6: [Wire<Local, bool>; words],
    is_ip: [Wire<Local, bool>; words],
    /// Where the payload is if this word starts the IP header: base, lane before it, message id.
    places: [Wire<Local, { place_width(shape) }>; words],
    /// All words before the inspected one said that a VLAN tag follows.
    looking: Wire<Local, bool>,
    was_looking: Optional<Reg<bool>, { LAST_WORD >= shape.lanes() }>,
    /// The word is in this beat, and all before it said that a VLAN tag follows.
    here: [Wire<Local, bool>; words],
    now_found: Wire<Local, bool>,
    now_place: Wire<Local, { place_width(shape) }>,
    found_value: Reg<bool>,
    place: Reg<{ place_width(shape) }>,
}

/// Where the parts of a place are: base, lane of the word before it, message id; offset and width.
fn parts(shape: MatchShape) -> [(usize, usize); 3] {
    let (base, lane) = (PAYLOAD_BASE_WIDTH, shape.lane_width());
    [(0, base), (base, lane), (base + lane, base)]
}

/// Width of a place.
fn place_width(shape: MatchShape) -> usize {
    2 * PAYLOAD_BASE_WIDTH + shape.lane_width()
}

/// A place of which the base and the word of the message id are known.
fn place(shape: MatchShape, base: usize, id: usize) -> Word {
    let word = |number: usize, width| lit(number as u64, width);
    Word::cat(&[
        word(id, PAYLOAD_BASE_WIDTH),
        word((base - 1) % shape.lanes(), shape.lane_width()),
        word(base, PAYLOAD_BASE_WIDTH),
    ])
}

/// Where the payload is after `tags` tags and a header of `words` words.
fn place_of(shape: MatchShape, tags: usize, words: usize) -> Word {
    let base = ETHERNET_WORDS + tags + words;
    place(shape, base, base + MESSAGE_ID_IN_PAYLOAD)
}

/// The place of the message id in a frame without IP header.
fn no_place(shape: MatchShape) -> Word {
    place(shape, ETHERNET_WORDS, MESSAGE_ID_WORD)
}

impl Logic for PayloadFinder {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk => self.was_looking, self.found_value, self.place);
        /// Meaning of each word if it were the first that names no VLAN tag.
        for word in 0..self.kind.len() {
            self.kind[word].next = self.beat_headers.val().slice(HEADER_BITS * word, 16).swap_bytes();
            self.tagged[word].next = (self.kind[word].val() == VLAN[0]) | (self.kind[word].val() == VLAN[1]);
            self.is_ipv6[word].next = (self.kind[word].val() == IPV6)
                & (self.beat_headers.val().slice(HEADER_BITS * word + 20, 4) == 6);
            self.is_ip[word].next = self.is_ipv6[word].val()
                | ((self.kind[word].val() == IPV4)
                    & (self.beat_headers.val().slice(HEADER_BITS * word + 20, 4) == 4)
                    & (self.beat_headers.val().slice(HEADER_BITS * word + 16, 4) >= 5));
            if self.is_ipv6[word].val() {
                self.places[word].next = place_of(self._shape, word, IPV6_WORDS);
            } else {
                for (offset, width) in parts(self._shape) {
                    self.places[word].next.set_slice(
                        offset,
                        width,
                        self.beat_headers
                            .val()
                            .slice(HEADER_BITS * word + 16, 4)
                            .resize(width)
                            + place_of(self._shape, word, 0).slice(offset, width),
                    );
                }
            }
        }
        /// The words one after the other, as far as they are in this beat. Wide beats have them all in the first, so
        /// that nothing of earlier beats counts.
        self.looking.next = true;
        self.now_found.next = false;
        self.now_place.next = no_place(self._shape);
        if LAST_WORD >= self._shape.lanes() {
            self.looking.next = (self.beat_number.val() == 0) | self.was_looking.q.val();
            if self.beat_number.val() != 0 {
                self.now_found.next = self.found_value.q.val();
                self.now_place.next = self.place.q.val();
            }
        }
        for word in 0..self.kind.len() {
            self.here[word].next = self.looking.val();
            if LAST_WORD >= self._shape.lanes() {
                self.here[word].next = self.looking.val()
                    & (self.beat_number.val() == (HEADER_WORDS[word] / self._shape.lanes()) as u64);
            }
            if self.here[word].val() {
                if self.is_ip[word].val() {
                    self.now_found.next = true;
                    self.now_place.next = self.places[word].val();
                }
                self.looking.next = self.tagged[word].val();
            }
        }
        if self.accept.val() & (self.beat_number.val() <= (LAST_WORD / self._shape.lanes()) as u64) {
            if LAST_WORD >= self._shape.lanes() {
                self.was_looking.d.next = self.looking.val();
            }
            self.found_value.d.next = self.now_found.val();
            self.place.d.next = self.now_place.val();
        }
        self.found.next = self.found_value.q.val();
        self.base.next = self.place.q.val().slice(0, PAYLOAD_BASE_WIDTH);
        self.back_lane.next = self
            .place
            .q
            .val()
            .slice(PAYLOAD_BASE_WIDTH, self._shape.lane_width());
        self.id_word.next = self
            .place
            .q
            .val()
            .slice(PAYLOAD_BASE_WIDTH + self._shape.lane_width(), PAYLOAD_BASE_WIDTH)
            .resize(self._shape.id_word_width());
    }
}
