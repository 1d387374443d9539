//! Conversations between two hosts, as frames with times.

use super::frames::{self, Route};
use super::shipped::TrafficError;
use super::trace::{Nanoseconds, Trace};
use etherparse::{TcpHeader, TcpOptionElement, TcpOptions};

/// UDP port of the domain name system.
const DNS_PORT: u16 = 53;
/// UDP port of SLMP.
const SLMP_PORT: u16 = 9330;
/// Most payload that an SLMP packet carries, in bytes.
const SLMP_PAYLOAD_BYTES: usize = 1462;
/// Most payload that a TCP segment carries, in bytes; small enough for IPv6.
const TCP_PAYLOAD_BYTES: usize = 1440;
const TCP_WINDOW: u16 = 0xfaf0;

/// When the receiver of an SLMP message must acknowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acknowledge {
    Nothing,
    FirstAndLast,
    EveryPacket,
}

/// A request and its answer that find the link address of an IPv4 or IPv6 neighbour.
pub(super) fn resolve(trace: &mut Trace, at: Nanoseconds, route: Route) -> Result<(), TrafficError> {
    let later = at + trace.microseconds(20..90);
    let of = if route.version == frames::Version::V4 {
        frames::arp
    } else {
        frames::neighbour
    };
    trace.pass(at, route, of(route, false)?);
    trace.pass(later, route.back(), of(route.back(), true)?);
    Ok(())
}

/// Echo requests of one size and their replies.
pub(super) fn ping(
    trace: &mut Trace,
    mut at: Nanoseconds,
    route: Route,
    count: u16,
    payload_bytes: usize,
) -> Result<(), TrafficError> {
    let id = trace.number(1..0x1_0000) as u16;
    for sequence in 1..=count {
        let payload = trace.bytes(payload_bytes);
        for (route, reply) in [(route, false), (route.back(), true)] {
            let frame = frames::echo(route, trace.packet_id(), reply, (id, sequence), &payload)?;
            trace.pass(at, route, frame);
            at += trace.microseconds(30..80);
        }
        at += trace.microseconds(900..1100);
    }
    Ok(())
}

/// A question for the addresses of a name, and the answer.
pub(super) fn look_up(
    trace: &mut Trace,
    at: Nanoseconds,
    route: Route,
    labels: &[&str],
) -> Result<(), TrafficError> {
    let id = trace.number(0..0x1_0000) as u16;
    let port = trace.number(32768..61000) as u16;
    let mut name: Vec<u8> = Vec::new();
    for label in labels {
        name.push(label.len() as u8);
        name.extend(label.bytes());
    }
    // End of the name, type A, class IN.
    name.extend([0, 0, 1, 0, 1]);
    let message = |flags: u16, answers: u16| {
        let header: Vec<u8> = [id, flags, 1, answers, 0, 0]
            .into_iter()
            .flat_map(u16::to_be_bytes)
            .collect();
        [header, name.clone()].concat()
    };
    let question = message(0x0100, 0);
    let mut answer = message(0x8180, 1);
    // The name again (as a pointer), type A, class IN, an hour, four bytes of address.
    answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0x0e, 0x10, 0, 4, 192, 0, 2, 17]);
    let later = at + trace.microseconds(200..900);
    let frame = frames::udp(route, trace.packet_id(), (port, DNS_PORT), &question)?;
    trace.pass(at, route, frame);
    let frame = frames::udp(route.back(), trace.packet_id(), (DNS_PORT, port), &answer)?;
    trace.pass(later, route.back(), frame);
    Ok(())
}

/// Datagrams to one port, one for each frame size; sizes that are too small for the headers are padded.
pub(super) fn datagrams(
    trace: &mut Trace,
    mut at: Nanoseconds,
    route: Route,
    port: u16,
    frame_sizes: impl IntoIterator<Item = usize>,
) -> Result<(), TrafficError> {
    let from = trace.number(32768..61000) as u16;
    for size in frame_sizes {
        let payload = trace.bytes(size.saturating_sub(route.header_bytes() + 8));
        let frame = frames::udp(route, trace.packet_id(), (from, port), &payload)?;
        trace.pass(at, route, frame);
        at += trace.microseconds(5..40);
    }
    Ok(())
}

/// An SLMP message and its acknowledgements.
pub(super) fn slmp_message(
    trace: &mut Trace,
    mut at: Nanoseconds,
    route: Route,
    (message_id, message_bytes): (u32, usize),
    acknowledge: Acknowledge,
) -> Result<(), TrafficError> {
    let port = trace.number(32768..61000) as u16;
    let message = trace.bytes(message_bytes);
    let packets = message_bytes.div_ceil(SLMP_PAYLOAD_BYTES);
    for (number, payload) in message.chunks(SLMP_PAYLOAD_BYTES).enumerate() {
        let (first, last) = (number == 0, number + 1 == packets);
        let synchronise = match acknowledge {
            Acknowledge::Nothing => false,
            Acknowledge::FirstAndLast => first || last,
            Acknowledge::EveryPacket => true,
        };
        let flags = u16::from(last) << 15 | u16::from(synchronise) << 14;
        let offset = (number * SLMP_PAYLOAD_BYTES) as u32;
        let packet = [&slmp_header(flags, message_id, offset), payload].concat();
        let frame = frames::udp(route, trace.packet_id(), (port, SLMP_PORT), &packet)?;
        trace.pass(at, route, frame);
        if synchronise {
            let later = at + trace.microseconds(8..25);
            let answer = slmp_header(flags | 0x2000, message_id, offset);
            let frame = frames::udp(route.back(), trace.packet_id(), (SLMP_PORT, port), &answer)?;
            trace.pass(later, route.back(), frame);
        }
        at += trace.microseconds(10..60);
    }
    Ok(())
}

fn slmp_header(flags: u16, message_id: u32, offset: u32) -> [u8; 10] {
    let mut header = [0; 10];
    header[..2].copy_from_slice(&flags.to_be_bytes());
    header[2..6].copy_from_slice(&message_id.to_be_bytes());
    header[6..].copy_from_slice(&offset.to_be_bytes());
    header
}

/// A TCP connection: handshake, a request, a longer answer with acknowledgements, and the end.
pub(super) fn connection(
    trace: &mut Trace,
    at: Nanoseconds,
    route: Route,
    port: u16,
    (request_bytes, answer_bytes): (usize, usize),
) -> Result<(), TrafficError> {
    let client = trace.number(32768..61000) as u16;
    let sequences = [trace.number(0..1 << 32) as u32, trace.number(0..1 << 32) as u32];
    let mut connection = Connection {
        trace,
        at,
        routes: [route, route.back()],
        ports: [client, port],
        sequences,
        acknowledged: [0; 2],
    };
    connection.send(
        CLIENT,
        Flags {
            syn: true,
            ..Flags::default()
        },
        &[],
    )?;
    connection.send(
        SERVER,
        Flags {
            syn: true,
            ack: true,
            ..Flags::default()
        },
        &[],
    )?;
    connection.acknowledge(CLIENT)?;
    for (sender, bytes) in [(CLIENT, request_bytes), (SERVER, answer_bytes)] {
        let data = connection.trace.bytes(bytes);
        let segments = data.chunks(TCP_PAYLOAD_BYTES).count();
        for (number, segment) in data.chunks(TCP_PAYLOAD_BYTES).enumerate() {
            let push = number + 1 == segments;
            connection.send(
                sender,
                Flags {
                    push,
                    ack: true,
                    ..Flags::default()
                },
                segment,
            )?;
            // Every second segment is acknowledged, and the last.
            if number % 2 == 1 || push {
                connection.acknowledge(1 - sender)?;
            }
        }
    }
    for sender in [CLIENT, SERVER] {
        connection.send(
            sender,
            Flags {
                fin: true,
                ack: true,
                ..Flags::default()
            },
            &[],
        )?;
    }
    connection.acknowledge(CLIENT)
}

const CLIENT: usize = 0;
const SERVER: usize = 1;

/// Flags of a TCP segment.
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    syn: bool,
    ack: bool,
    push: bool,
    fin: bool,
}

/// State of both ends of a TCP connection, client first.
struct Connection<'t> {
    trace: &'t mut Trace,
    at: Nanoseconds,
    routes: [Route; 2],
    ports: [u16; 2],
    sequences: [u32; 2],
    acknowledged: [u32; 2],
}

impl Connection<'_> {
    fn send(&mut self, sender: usize, flags: Flags, payload: &[u8]) -> Result<(), TrafficError> {
        let receiver = 1 - sender;
        let mut header = TcpHeader::new(
            self.ports[sender],
            self.ports[receiver],
            self.sequences[sender],
            TCP_WINDOW,
        );
        (header.syn, header.ack, header.psh, header.fin) = (flags.syn, flags.ack, flags.push, flags.fin);
        if flags.ack {
            header.acknowledgment_number = self.acknowledged[sender];
        }
        if flags.syn {
            let options = [
                TcpOptionElement::MaximumSegmentSize(TCP_PAYLOAD_BYTES as u16),
                TcpOptionElement::SelectiveAcknowledgementPermitted,
                TcpOptionElement::Noop,
                TcpOptionElement::WindowScale(7),
            ];
            header.options = TcpOptions::try_from_elements(&options)
                .map_err(|error| TrafficError::Frame(error.to_string()))?;
        }
        let frame = frames::tcp(self.routes[sender], self.trace.packet_id(), header, payload)?;
        self.trace.pass(self.at, self.routes[sender], frame);
        self.at += self.trace.microseconds(2..40);
        let consumed = payload.len() as u32 + u32::from(flags.syn) + u32::from(flags.fin);
        self.sequences[sender] = self.sequences[sender].wrapping_add(consumed);
        self.acknowledged[receiver] = self.sequences[sender];
        Ok(())
    }

    fn acknowledge(&mut self, sender: usize) -> Result<(), TrafficError> {
        self.send(
            sender,
            Flags {
                ack: true,
                ..Flags::default()
            },
            &[],
        )
    }
}
