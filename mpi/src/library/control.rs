//! Control frames between hosts: the sender announces a message, and the receiver grants it an id.
//!
//! Both are UDP datagrams between ports [`PORT`]. The sender repeats an announcement until it is granted, and the receiver
//! repeats the grant for each repeated announcement, so a lost frame only costs time.

use etherparse::checksum::Sum16BitWords;
use etherparse::{NetSlice, PacketBuilder, SlicedPacket, TransportSlice};
use std::net::Ipv4Addr;

/// UDP port of the library.
pub const PORT: u16 = 9331;
/// The first word: "MPC2".
const MAGIC: u32 = 0x3243_504d;
/// Time to live of the IPv4 header.
const TTL: u8 = 64;
/// Words of an announcement, and of a grant.
const ANNOUNCEMENT: usize = 6;
const GRANT: usize = 2;
/// Most announcements or grants in a frame, which has 1500 bytes behind the header of Ethernet.
pub(super) const MOST: usize = 60;

/// The content of a control frame: one message or many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// Messages that are to be sent.
    Announce(Vec<Announcement>),
    /// Messages that may be sent now.
    Grant(Vec<Grant>),
}

/// Permission to send a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// The number of the announcement.
    pub(super) number: u32,
    /// The id of the message; 0 if it is too long for its receive.
    pub(super) id: u32,
}

/// A message that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Announcement {
    /// Messages from this host to that one are counted from 0 on.
    pub(super) number: u32,
    pub(super) communicator: u32,
    pub(super) tag: i32,
    pub(super) bytes: u32,
    /// Payload of all segments but the last.
    pub(super) unit: u32,
    /// UDP port that segments come from.
    pub(super) port: u16,
}

/// The addresses of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) mac: [u8; 6],
    pub(super) ip: Ipv4Addr,
}

impl Control {
    /// Builds the frame.
    pub(super) fn frame(&self, from: Host, to: Host) -> Vec<u8> {
        let mut words = vec![MAGIC];
        match self {
            Self::Announce(announcements) => {
                words.push(0);
                words.extend(announcements.iter().flat_map(|what| what.words()));
            }
            Self::Grant(grants) => {
                words.push(1);
                words.extend(grants.iter().flat_map(|grant| [grant.number, grant.id]));
            }
        }
        let payload: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let builder = PacketBuilder::ethernet2(from.mac, to.mac)
            .ipv4(from.ip.octets(), to.ip.octets(), TTL)
            .udp(PORT, PORT);
        let mut frame = Vec::with_capacity(builder.size(payload.len()));
        builder
            .write(&mut frame, &payload)
            .expect("a vector takes all bytes, and the payload fits into a frame");
        frame
    }

    /// Parses a frame: its source, its destination and the content. Returns `None` if it is no control frame, or damaged.
    pub(super) fn parse(frame: &[u8]) -> Option<([Ipv4Addr; 2], Self)> {
        let packet = SlicedPacket::from_ethernet(frame).ok()?;
        let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Udp(udp))) = (packet.net, packet.transport)
        else {
            return None;
        };
        // The header as it is: parsed, it has no reserved bits.
        let header_sum = Sum16BitWords::new()
            .add_slice(ip.header().slice())
            .ones_complement();
        let (ip, udp, payload) = (ip.header().to_header(), udp.to_header(), udp.payload());
        let checksum = udp
            .calc_checksum_ipv4_raw(ip.source, ip.destination, payload)
            .ok()?;
        let is_whole = header_sum == 0 && udp.checksum == checksum;
        if !is_whole || udp.destination_port != PORT || !packet.link_exts.is_empty() {
            return None;
        }
        let (words, []) = payload.as_chunks() else {
            return None;
        };
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let [from, to] = [ip.source, ip.destination].map(Ipv4Addr::from);
        let control = match words.split_first_chunk()? {
            ([MAGIC, 0], rest) => Self::Announce(each(rest, Announcement::of)?),
            ([MAGIC, 1], rest) => Self::Grant(each(rest, |[number, id]: [u32; GRANT]| {
                Some(Grant { number, id })
            })?),
            _ => return None,
        };
        Some(([from, to], control))
    }
}

impl Announcement {
    fn words(self) -> [u32; ANNOUNCEMENT] {
        let Self {
            number,
            communicator,
            tag,
            bytes,
            unit,
            port,
        } = self;
        [number, communicator, tag as u32, bytes, unit, port.into()]
    }

    fn of([number, communicator, tag, bytes, unit, port]: [u32; ANNOUNCEMENT]) -> Option<Self> {
        Some(Self {
            number,
            communicator,
            tag: tag as i32,
            bytes,
            unit,
            port: u16::try_from(port).ok()?,
        })
    }
}

/// Parses records of `WORDS` words: at least one, and no incomplete one.
fn each<const WORDS: usize, T>(words: &[u32], what: impl Fn([u32; WORDS]) -> Option<T>) -> Option<Vec<T>> {
    match words.as_chunks() {
        ([], _) => None,
        (records, []) => records.iter().map(|record| what(*record)).collect(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Announcement, Control, Grant, Host, MOST};
    use std::net::Ipv4Addr;

    #[test]
    fn control_frames_round_trip_and_damaged_ones_are_dropped() {
        let host = |number| Host {
            mac: [2, 0, 0, 0, 0, number],
            ip: Ipv4Addr::new(10, 128, 0, number),
        };
        let announcement = Announcement {
            number: 7,
            communicator: 3,
            tag: -5,
            bytes: 1 << 25,
            unit: 1462,
            port: 40_001,
        };
        let most = Control::Announce(vec![announcement; MOST]);
        assert!(most.frame(host(1), host(2)).len() <= 1514);
        let grant = Grant {
            number: 9,
            id: 0xffff_fff1,
        };
        for control in [
            Control::Announce(vec![announcement]),
            Control::Announce(vec![announcement; 3]),
            Control::Grant(vec![grant]),
            Control::Grant(vec![grant; 5]),
        ] {
            let frame = control.frame(host(1), host(2));
            let ends = [host(1).ip, host(2).ip];
            assert_eq!(Control::parse(&frame), Some((ends, control)));
            for bit in 8 * 12..8 * frame.len() {
                let mut damaged = frame.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(Control::parse(&damaged), None, "bit {bit}");
            }
            for length in 0..frame.len() {
                assert_eq!(Control::parse(&frame[..length]), None, "{length} B");
            }
        }
    }
}
