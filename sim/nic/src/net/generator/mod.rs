//! Traffic made from a description such as `udp,size=64..1500,rate=10Gbps,count=1e5`.
//!
//! [`Recipe`] is the description. Every frame is a function of the recipe and the frame's number, and carries that
//! number, so that a reply can be checked without keeping the request: memory stays flat whatever the count.

mod recipe;
mod reply;

pub use recipe::{MAX_SIZE_BYTES, Protocol, Rate, Recipe, RecipeError, WIRE_OVERHEAD_BYTES};
pub use reply::{ReplyError, check_reply};

use super::{NetError, Next, Source};
use etherparse::{IpHeaders, IpNumber, Ipv4Header, PacketBuilder};
use recipe::{mix, port};

const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// The packets of a [`Recipe`], one after the other.
#[derive(Clone, Debug)]
pub struct Generator {
    recipe: Recipe,
    /// Number of the next packet.
    number: u64,
    /// Bits that the packets before it take on the wire.
    sent_bits: u128,
    /// When the burst that it belongs to begins.
    burst_ps: u64,
    /// When the first one comes.
    start_ps: u64,
}

impl Generator {
    /// A generator at its first packet, which comes at the start.
    pub fn new(recipe: Recipe) -> Self {
        Self {
            recipe,
            number: 0,
            sent_bits: 0,
            burst_ps: 0,
            start_ps: 0,
        }
    }

    /// The same, with its first packet at that time.
    #[must_use]
    pub fn starting_at(mut self, start_ps: u64) -> Self {
        self.start_ps = start_ps;
        self
    }

    /// The recipe.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// When the next packet comes. It is exact: nothing is rounded twice, however many packets there are.
    fn at_ps(&self) -> u64 {
        let (units, per_second) = match self.recipe.rate {
            Rate::Unlimited => return 0,
            Rate::BitsPerSecond(rate) => (self.sent_bits, rate.get()),
            Rate::PacketsPerSecond(rate) => (u128::from(self.number), rate.get()),
        };
        let at_ps = units.saturating_mul(PS_PER_SECOND) / u128::from(per_second);
        u64::try_from(at_ps).unwrap_or(u64::MAX)
    }
}

impl Source for Generator {
    fn next(&mut self, _now_ps: u64) -> Result<Next, NetError> {
        if self.number >= self.recipe.packets() {
            return Ok(Next::End);
        }
        let bytes = self.recipe.frame(self.number as u32);
        // The packets of a burst are there together; the time between bursts keeps the rate.
        if self.number.is_multiple_of(self.recipe.burst.get().into()) {
            self.burst_ps = self.at_ps();
        }
        self.number += 1;
        self.sent_bits += 8 * (bytes.len() + WIRE_OVERHEAD_BYTES) as u128;
        Ok(Next::Packet {
            at_ps: self.burst_ps.saturating_add(self.start_ps),
            bytes,
        })
    }

    fn total(&self) -> Option<u64> {
        self.recipe.count
    }
}

/// Bytes of payload that carry the packet's number, most significant first. The pattern is behind them.
const NUMBER_BYTES: usize = 4;

const ETHERNET_BYTES: usize = 14;
const IPV4_BYTES: usize = 20;
const TTL: u8 = 64;
const TCP_WINDOW: u16 = 0xffff;

impl Protocol {
    /// Bytes of its header.
    fn header_bytes(self) -> usize {
        match self {
            Self::Udp | Self::Icmp => 8,
            Self::Tcp => 20,
        }
    }

    /// Bytes of all headers.
    fn headers_bytes(self) -> usize {
        ETHERNET_BYTES + IPV4_BYTES + self.header_bytes()
    }

    fn number(self) -> IpNumber {
        match self {
            Self::Udp => IpNumber::UDP,
            Self::Icmp => IpNumber::ICMP,
            Self::Tcp => IpNumber::TCP,
        }
    }
}

impl Recipe {
    /// The packet with this number, with lengths and checksums.
    pub fn frame(&self, number: u32) -> Vec<u8> {
        let size = self.size_bytes(number);
        let payload = self.payload(number, size - self.protocol.headers_bytes());
        let mut ip = Ipv4Header {
            identification: number as u16,
            time_to_live: TTL,
            protocol: self.protocol.number(),
            source: self.src.octets(),
            destination: self.dst.octets(),
            ..Ipv4Header::default()
        };
        ip.header_checksum = ip.calc_header_checksum();
        let (sport, dport) = (port(&self.sport, number), port(&self.dport, number));
        let builder =
            PacketBuilder::ethernet2(self.smac, self.mac).ip(IpHeaders::Ipv4(ip, Default::default()));
        let mut frame = Vec::with_capacity(size);
        let written = match self.protocol {
            Protocol::Udp => builder.udp(sport, dport).write_to_vec(&mut frame, &payload),
            Protocol::Icmp => builder
                .icmpv4_echo_request(sport, number as u16)
                .write_to_vec(&mut frame, &payload),
            Protocol::Tcp => {
                let tcp = builder.tcp(sport, dport, number, TCP_WINDOW).psh().ack(0);
                tcp.write_to_vec(&mut frame, &payload)
            }
        };
        written.expect("frames of a recipe are far below the limits of their headers");
        frame
    }

    /// The number, and a pattern that differs from packet to packet and from byte to byte; what was asked for, over them.
    fn payload(&self, number: u32, length: usize) -> Vec<u8> {
        let key = mix(self.seed.wrapping_add(1) ^ mix(number.into()));
        let mut payload = number.to_be_bytes().to_vec();
        let words = (0..).flat_map(|word: u64| mix(key ^ word).to_be_bytes());
        payload.extend(words.take(length - NUMBER_BYTES));
        payload[..self.start.len()].copy_from_slice(&self.start);
        payload
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::generator::{MAX_SIZE_BYTES, WIRE_OVERHEAD_BYTES};
    use crate::net::{Generator, Next, Source};
    use etherparse::{SlicedPacket, TransportSlice};
    use proptest::prelude::*;

    /// The headers are right by etherparse's own checks: its reader was not told what its writer wrote.
    fn assert_is_whole(frame: &[u8]) {
        let packet = SlicedPacket::from_ethernet(frame).unwrap();
        let Some(etherparse::NetSlice::Ipv4(ip)) = packet.net else {
            panic!("no IPv4 in {frame:02x?}");
        };
        let header = ip.header().to_header();
        assert_eq!(header.header_checksum, header.calc_header_checksum());
        assert_eq!(usize::from(header.total_len), frame.len() - ETHERNET_BYTES);
        match packet.transport.unwrap() {
            TransportSlice::Udp(udp) => {
                let computed = udp
                    .to_header()
                    .calc_checksum_ipv4(&header, udp.payload())
                    .unwrap();
                assert_eq!(udp.checksum(), computed);
                assert_eq!(
                    usize::from(udp.length()),
                    frame.len() - ETHERNET_BYTES - IPV4_BYTES
                );
            }
            TransportSlice::Tcp(tcp) => {
                let computed = tcp
                    .to_header()
                    .calc_checksum_ipv4(&header, tcp.payload())
                    .unwrap();
                assert_eq!(tcp.checksum(), computed);
            }
            TransportSlice::Icmpv4(icmp) => {
                assert_eq!(icmp.checksum(), icmp.icmp_type().calc_checksum(icmp.payload()));
            }
            other => panic!("{other:?}"),
        }
    }

    fn packets(text: &str, limit: usize) -> Vec<(u64, Vec<u8>)> {
        let mut generator = Generator::new(text.parse().unwrap());
        let next = move || match generator.next(0).unwrap() {
            Next::Packet { at_ps, bytes } => Some((at_ps, bytes)),
            Next::WithRoom(_) | Next::Nothing => panic!("a generator always knows"),
            Next::End => None,
        };
        std::iter::from_fn(next).take(limit).collect()
    }

    proptest! {
        #[test]
        fn frames_have_correct_sizes_and_checksums(
            protocol in prop::sample::select(vec!["udp", "icmp", "tcp"]),
            size in 60..=MAX_SIZE_BYTES, number: u32, seed: u64, src: [u8; 4], sport: u16,
        ) {
            let src = std::net::Ipv4Addr::from(src);
            let recipe: Recipe = format!("{protocol},size={size},seed={seed},src={src},sport={sport}").parse().unwrap();
            let frame = recipe.frame(number);
            prop_assert_eq!(frame.len(), usize::from(size));
            assert_is_whole(&frame);
        }

        #[test]
        fn a_payload_starts_with_the_given_bytes(start in prop::collection::vec(any::<u8>(), 1..=22), number: u32) {
            let hex: String = start.iter().map(|byte| format!("{byte:02x}")).collect();
            let frame = format!("udp,payload={hex}").parse::<Recipe>().unwrap().frame(number);
            assert_is_whole(&frame);
            prop_assert_eq!(&frame[42..42 + start.len()], &start[..]);
        }

        #[test]
        fn rates_are_kept_exactly(rate in 1_000_000u64..400_000_000_000, burst in 1u64..40) {
            let packets = packets(&format!("udp,size=64..1500,rate={rate}bps,burst={burst},count=200"), 300);
            prop_assert_eq!(packets.len(), 200);
            let mut bits = 0u128;
            for (number, (at_ps, frame)) in packets.iter().enumerate() {
                if (number as u64).is_multiple_of(burst) {
                    prop_assert_eq!(u128::from(*at_ps), bits * 1_000_000_000_000 / u128::from(rate));
                } else {
                    prop_assert_eq!(*at_ps, packets[number - 1].0);
                }
                bits += 8 * (frame.len() + WIRE_OVERHEAD_BYTES) as u128;
            }
        }
    }

    #[test]
    fn each_size_of_the_list_and_no_other_is_generated() {
        let mut sizes = [0u32; 1501];
        for (_, frame) in packets("udp,size=64|100..103|1500,count=6000", 6000) {
            sizes[frame.len()] += 1;
        }
        for (sizes, expected) in [
            (&sizes[64..65], 2000),
            (&sizes[1500..], 2000),
            (&sizes[100..104], 500),
        ] {
            for found in sizes {
                assert!(found.abs_diff(expected) < expected / 5, "{sizes:?}");
            }
        }
        assert_eq!(sizes.iter().sum::<u32>(), 6000);
        assert_eq!(sizes.iter().filter(|found| **found > 0).count(), 6);
    }

    #[test]
    fn ports_of_a_range_take_turns() {
        let frames = packets("udp,sport=9..10,dport=65533..65535,count=7", 10);
        let port = |frame: &[u8], at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
        let ports: Vec<[u16; 2]> = frames
            .iter()
            .map(|(_, frame)| [port(frame, 34), port(frame, 36)])
            .collect();
        assert_eq!(ports[..3], [[9, 65533], [10, 65534], [9, 65535]]);
        assert_eq!(ports[3..6], [[10, 65533], [9, 65534], [10, 65535]]);
        assert_eq!(ports[6], ports[0]);
    }

    #[test]
    fn packets_per_second_are_exact() {
        let packets = packets("icmp,pps=3,count=7", 10);
        let times: Vec<u64> = packets.iter().map(|(at_ps, _)| *at_ps).collect();
        assert_eq!(
            times[..4],
            [0, 333_333_333_333, 666_666_666_666, 1_000_000_000_000]
        );
        assert_eq!(times[6], 2_000_000_000_000);
    }

    #[test]
    fn the_packets_depend_only_on_the_recipe_and_its_seed() {
        assert_eq!(packets("udp,size=64..1500", 50), packets("udp,size=64..1500", 50));
        assert_ne!(
            packets("udp,size=64..1500", 50),
            packets("udp,size=64..1500,seed=2", 50)
        );
        let same_size = packets("udp", 2);
        assert_ne!(same_size[0].1[46..], same_size[1].1[46..]);
    }

    #[test]
    fn a_recipe_without_a_count_is_endless() {
        let generator = Generator::new("udp".parse().unwrap());
        assert_eq!(generator.total(), None);
        assert_eq!(packets("udp", 1000).len(), 1000);
        assert_eq!(Generator::new("udp,count=9".parse().unwrap()).total(), Some(9));
    }
}
