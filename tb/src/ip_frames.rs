//! Frames with IP headers after VLAN tags, right ones and wrong ones.

use crate::pkt_match::with_side_band;
use spinneret_sim::prelude::*;

/// The headers of a frame up to the IP payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Tag protocol identifiers of the VLAN tags, outermost first.
    pub tags: Vec<u16>,
    /// Ethernet type after them.
    pub kind: u16,
    /// First byte of the IP header: version and, for IPv4, header length in words.
    pub first: u8,
}

impl Headers {
    /// IPv4 after N tags of customers' VLANs, with a header of this many words.
    pub fn ipv4(tags: usize, words: u8) -> Self {
        Self {
            tags: vec![0x8100; tags],
            kind: 0x0800,
            first: 0x40 | words,
        }
    }

    /// IPv6 after N tags, of a provider's VLAN and of customers' VLANs.
    pub fn ipv6(tags: usize) -> Self {
        Self {
            tags: [0x88a8, 0x8100, 0x8100].into_iter().take(tags).collect(),
            kind: 0x86dd,
            first: 0x60,
        }
    }

    /// All headers that an IP payload may follow: 0 to 2 tags, IPv4 with 5 to 15 words, IPv6.
    pub fn all() -> Vec<Self> {
        let behind = |tags| {
            let ipv4 = (5..=15).map(move |words| Self::ipv4(tags, words));
            ipv4.chain([Self::ipv6(tags)])
        };
        (0..=2).flat_map(behind).collect()
    }

    /// Returns the offset of the payload, for valid headers.
    pub fn bytes(&self) -> usize {
        let ip = if self.kind == 0x86dd {
            40
        } else {
            4 * usize::from(self.first & 0xf)
        };
        14 + 4 * self.tags.len() + ip
    }

    /// Writes the headers over the start of a frame, as far as that goes.
    pub fn write(&self, frame: &mut [u8]) {
        let mut put = |offset: usize, bytes: &[u8]| {
            for (byte, value) in frame.iter_mut().skip(offset).zip(bytes) {
                *byte = *value;
            }
        };
        let mut offset = 12;
        for tag in &self.tags {
            put(offset, &tag.to_be_bytes());
            offset += 4;
        }
        put(offset, &self.kind.to_be_bytes());
        put(offset + 2, &[self.first]);
    }

    /// Random headers; most are right, the others miss it by one part.
    pub fn random(rng: &mut ChaCha8Rng) -> Self {
        let tags = match rng.random_range(0..10) {
            0..4 => 0,
            4..7 => 1,
            7..9 => 2,
            _ => 3,
        };
        let tags = (0..tags).map(|_| match rng.random_range(0..40) {
            0 => 0x9100,
            1 => rng.random(),
            2..20 => 0x88a8,
            _ => 0x8100,
        });
        let tags = tags.collect();
        let (kind, version) = match rng.random_range(0..20) {
            0 => (0x0806, 4),
            1 => (rng.random(), rng.random_range(0..16)),
            2 => (0x0800, rng.random_range(0..16)),
            3 => (0x86dd, rng.random_range(0..16)),
            4..8 => (0x86dd, 6),
            _ => (0x0800, 4),
        };
        let first = version << 4 | rng.random_range(0..16);
        Self { tags, kind, first }
    }
}

/// A frame of random headers, size and contents; many end near the end of their headers.
pub fn random_ip_frame(rng: &mut ChaCha8Rng, user_bits: u32) -> Frame {
    let headers = Headers::random(rng);
    let size = match rng.random_range(0..10) {
        0 => rng.random_range(1..=64),
        1 => rng.random_range(1..=1514),
        2..6 => headers.bytes() + rng.random_range(0..24),
        _ => rng.random_range(1..=200),
    };
    // Few distinct byte values, so that rules match now and then.
    let mut bytes: Vec<u8> = (0..size).map(|_| rng.random_range(0..4_u8)).collect();
    headers.write(&mut bytes);
    with_side_band(rng, bytes, user_bits)
}
