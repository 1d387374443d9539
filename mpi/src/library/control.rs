//! What the hosts say to each other before a message: the sender announces it, and the receiver grants it an id.
//!
//! Both go by UDP between ports [`PORT`]. The sender repeats an announcement until it is granted, and the receiver repeats
//! the grant for each announcement that comes again, so neither may be lost for good.

use std::net::Ipv4Addr;

/// UDP port of the library.
pub const PORT: u16 = 9331;
/// The first word: "MPC2".
const MAGIC: u32 = 0x3243_504d;
/// Bytes of the headers of Ethernet, IPv4 and UDP.
const HEADERS: usize = 42;
/// Words of an announcement, and of a grant.
const ANNOUNCEMENT: usize = 6;
const GRANT: usize = 2;
/// Most announcements or grants in a frame, which has 1500 bytes behind the header of Ethernet.
pub(super) const MOST: usize = 60;

/// What a host says, of one message or many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// There are messages.
    Announce(Vec<Announcement>),
    /// They may come.
    Grant(Vec<Grant>),
}

/// That a message may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// The number of its announcement.
    pub(super) number: u32,
    /// Its id; 0 if it is not wanted, because it is too long.
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

/// A host, as frames name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) mac: [u8; 6],
    pub(super) ip: Ipv4Addr,
}

impl Control {
    /// The frame.
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
        let length = (8 + 4 * words.len()) as u16;
        let mut frame = Vec::with_capacity(HEADERS + 4 * words.len());
        frame.extend(to.mac);
        frame.extend(from.mac);
        frame.extend([0x08, 0x00, 0x45, 0]);
        frame.extend((20 + length).to_be_bytes());
        frame.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
        frame.extend(from.ip.octets());
        frame.extend(to.ip.octets());
        let checksum = !sum(&frame[14..34]);
        frame[24..26].copy_from_slice(&checksum.to_be_bytes());
        frame.extend(PORT.to_be_bytes());
        frame.extend(PORT.to_be_bytes());
        frame.extend(length.to_be_bytes());
        frame.extend([0, 0]);
        frame.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        // The checksum of UDP covers all that is not in the header of IP.
        let pseudo = [&frame[26..34], &[0, 17], &length.to_be_bytes(), &frame[34..]].concat();
        let checksum = match !sum(&pseudo) {
            0 => 0xffff,
            checksum => checksum,
        };
        frame[40..42].copy_from_slice(&checksum.to_be_bytes());
        frame
    }

    /// What a frame says and whose it is: from where, and to where. Nothing if it is none of these, or not whole.
    pub(super) fn parse(frame: &[u8]) -> Option<([Ipv4Addr; 2], Self)> {
        let is_udp = frame.get(12..15)? == [0x08, 0x00, 0x45] && *frame.get(23)? == 17;
        let half = |at: usize| Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]));
        let length = half(38)?;
        let datagram = frame.get(34..34 + usize::from(length))?;
        if !is_udp || half(36)? != PORT || datagram.len() < 8 || sum(&frame[14..34]) != 0xffff {
            return None;
        }
        let pseudo = [&frame[26..34], &[0, 17], &length.to_be_bytes(), datagram].concat();
        if sum(&pseudo) != 0xffff {
            return None;
        }
        let (words, []) = datagram[8..].as_chunks() else {
            return None;
        };
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let [from, to] =
            [26, 30].map(|at| Ipv4Addr::new(frame[at], frame[at + 1], frame[at + 2], frame[at + 3]));
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

/// What records of so many words say, if there are only whole ones, and one at least.
fn each<const WORDS: usize, T>(words: &[u32], what: impl Fn([u32; WORDS]) -> Option<T>) -> Option<Vec<T>> {
    match words.as_chunks() {
        ([], _) => None,
        (records, []) => records.iter().map(|record| what(*record)).collect(),
        _ => None,
    }
}

/// The ones' complement sum of bytes in network order; 0xffff over what holds a right checksum.
fn sum(bytes: &[u8]) -> u16 {
    let word = |word: &[u8]| u32::from(word[0]) << 8 | word.get(1).copied().map_or(0, u32::from);
    let sum: u32 = bytes.chunks(2).map(word).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::{Announcement, Control, Grant, Host, MOST};
    use std::net::Ipv4Addr;

    #[test]
    fn what_is_said_is_understood_and_damage_is_not() {
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
