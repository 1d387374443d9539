//! What is generated.

use std::net::Ipv4Addr;
use std::num::{NonZeroU32, NonZeroU64};
use std::ops::RangeInclusive;

/// Largest frame that can be asked for, without its check sequence. Larger than what the NIC takes, to see it refuse.
pub const MAX_SIZE_BYTES: u16 = 9216;

/// What a frame takes on the wire beside its bytes: preamble 8, check sequence 4, gap 12.
pub const WIRE_OVERHEAD_BYTES: usize = 24;

/// What the packets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// UDP datagrams.
    Udp,
    /// ICMP echo requests: the identifier is the source port, the sequence number the packet's number.
    Icmp,
    /// TCP segments with data, out of the blue: there is no connection.
    Tcp,
}

/// How fast they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// All at the start: as fast as the NIC takes them.
    Unlimited,
    /// So many bits a second on the wire, with [`WIRE_OVERHEAD_BYTES`], as links count: 100Gbps fills such a link.
    BitsPerSecond(NonZeroU64),
    /// So many packets a second.
    PacketsPerSecond(NonZeroU64),
}

/// Traffic, described.
///
/// It is written as the protocol and settings, separated by commas; everything but the protocol may be left out:
///
/// | word | meaning | if left out |
/// |---|---|---|
/// | `udp`, `icmp`, `tcp` | protocol, over IPv4; has to be there | |
/// | `size=64`, `size=64..1500`, `size=64\|512\|1000..1500` | bytes of the frame without its check sequence: one size, any of a range with both ends, or any of several | 64 |
/// | `rate=10Gbps` | rate on the wire: bps, kbps, Mbps, Gbps | as fast as the NIC takes them |
/// | `pps=1e6` | packets a second, instead of `rate` | |
/// | `burst=32` | so many together, then a pause that keeps the rate | 1 |
/// | `count=1e5` | packets | until the end of the run |
/// | `src=`, `dst=` | IPv4 addresses | 10.9.0.2, 10.9.0.1 |
/// | `sport=`, `dport=`, `dport=7000..7015` | ports: one, or those of a range, both ends included, one after the other | 40000, 9330 |
/// | `mac=`, `smac=` | MAC addresses of the NIC and of the sender | 02:00:00:00:00:01, 02:00:00:00:00:02 |
/// | `payload=68656c6c6f` | the first bytes behind the headers, in hexadecimal; as many as fit into the smallest frame | the packet's number, 4 bytes |
/// | `seed=` | chooses sizes and the rest of the payload | 1 |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// What the packets are.
    pub protocol: Protocol,
    /// Sizes of frames in bytes: any of these, and any size of it. Never empty.
    pub(super) sizes: Vec<RangeInclusive<u16>>,
    /// How fast they come.
    pub rate: Rate,
    /// How many come together.
    pub burst: NonZeroU32,
    /// How many there are; `None`: until nobody asks.
    pub count: Option<u64>,
    /// Sender's IP address.
    pub src: Ipv4Addr,
    /// Receiver's IP address.
    pub dst: Ipv4Addr,
    /// Sender's ports, taken in turns.
    pub sport: RangeInclusive<u16>,
    /// Receiver's ports, taken in turns.
    pub dport: RangeInclusive<u16>,
    /// Receiver's MAC address.
    pub mac: [u8; 6],
    /// Sender's MAC address.
    pub smac: [u8; 6],
    /// First bytes of the payload, in place of what is there else. Never more than the smallest frame holds.
    pub(super) start: Vec<u8>,
    /// Sizes and payload depend on it, and on nothing else.
    pub seed: u64,
}

impl Recipe {
    /// Packets of one size, everything else as if it was left out.
    pub(super) fn new(protocol: Protocol) -> Self {
        Self {
            protocol,
            sizes: vec![64..=64],
            rate: Rate::Unlimited,
            burst: NonZeroU32::MIN,
            count: None,
            src: Ipv4Addr::new(10, 9, 0, 2),
            dst: Ipv4Addr::new(10, 9, 0, 1),
            sport: 40_000..=40_000,
            dport: 9330..=9330,
            mac: [2, 0, 0, 0, 0, 1],
            smac: [2, 0, 0, 0, 0, 2],
            start: Vec::new(),
            seed: 1,
        }
    }

    /// How many packets there are, or how many numbers if there is no end.
    pub fn packets(&self) -> u64 {
        self.count.unwrap_or(MAX_COUNT)
    }

    /// Sizes of frames: any of these ranges, and any size of it.
    pub fn sizes(&self) -> &[RangeInclusive<u16>] {
        &self.sizes
    }

    /// Size of the packet with this number, in bytes.
    pub fn size_bytes(&self, number: u32) -> usize {
        let draw = mix(self.seed ^ mix(number.into()));
        let (choice, place) = (draw >> 32, draw & u64::from(u32::MAX));
        let range = &self.sizes[choice as usize % self.sizes.len()];
        let sizes = u64::from(range.end() - range.start()) + 1;
        (u64::from(*range.start()) + place % sizes) as usize
    }
}

/// The port of the packet with this number.
pub(super) fn port(ports: &RangeInclusive<u16>, number: u32) -> u16 {
    let count = u32::from(ports.end() - ports.start()) + 1;
    ports.start() + (number % count) as u16
}

/// Packets are told apart by a number of 32 bits.
pub(super) const MAX_COUNT: u64 = 1 << 32;

/// The finalizer of SplitMix64: every bit of the result depends on every bit of the value.
pub(super) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
