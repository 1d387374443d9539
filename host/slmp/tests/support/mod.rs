//! What the tests share: names for segments, and a link that loses, doubles and delays by seed.

#![allow(dead_code, unreachable_pub)]

pub mod link;

use spinneret_slmp::memory::Cause;
use spinneret_slmp::udp::{self, Event, Listener, UdpError};
use spinneret_slmp::wire::{Flags, Header};
use spinneret_slmp::{Confirm, Receiver, ReceiverConfig, SenderConfig, Statistics};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

// Every test program uses a part of this.

pub const EOM: Flags = Flags::EOM;
pub const SYN: Flags = Flags::SYN;
pub const ALICE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(10, 7, 0, 1), 40_001);
pub const BOB: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(10, 7, 0, 2), 40_001);
pub const ID: u32 = 0x0102_0304;

pub fn header(flags: Flags, offset: u32) -> Header {
    Header {
        flags,
        message_id: ID,
        offset,
    }
}

pub fn ack(flags: Flags, offset: u32) -> Header {
    header(flags | Flags::ACK, offset)
}

pub fn datagram(header: Header, payload: &[u8]) -> Vec<u8> {
    [&header.emit(), payload].concat()
}

/// Bytes that differ from place to place.
pub fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 + at / 251) as u8).collect()
}

pub const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

pub const fn us(microseconds: u64) -> Duration {
    Duration::from_micros(microseconds)
}

/// Two places of 1000 bytes.
pub fn receiver(confirm: Confirm) -> Receiver {
    let config = ReceiverConfig {
        places: 2,
        capacity_bytes: 1000,
        confirm,
    };
    Receiver::new(config).expect("two places are few enough")
}

/// Gives the receiver a segment of `message` and checks what it is counted under and answered with.
#[track_caller]
pub fn gives(receiver: &mut Receiver, header: Header, payload: &[u8], cause: Cause, acks: &[Header]) {
    let before = receiver.counters().clone();
    let outcome = receiver.receive(Duration::ZERO, ALICE, &datagram(header, payload));
    assert_eq!(
        (outcome.cause, outcome.acks().collect::<Vec<_>>()),
        (cause, acks.to_vec())
    );
    for one in Cause::ALL {
        let expected = before[*one] + u64::from(*one == cause);
        assert_eq!(receiver.counters()[*one], expected, "the counter {one:?}");
    }
    assert_eq!(
        receiver.counters().acks_sent(),
        before.acks_sent() + acks.len() as u64
    );
}

/// Gives the receiver one segment a line and checks what it is counted under and answered with:
/// `FLAGS OFFSET PAYLOAD -> CAUSE`, then `, FLAGS OFFSET` for each acknowledgement.
///
/// Flags are `-`, `SYN`, `EOM` or `EOM+SYN`. `#ID` before them names another message than most tests have.
#[track_caller]
pub fn exchange(receiver: &mut Receiver, script: &str) {
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (segment, outcome) = line.split_once(" -> ").expect(line);
        let (message_id, segment) = match segment.strip_prefix('#').and_then(|rest| rest.split_once(' ')) {
            Some((id, segment)) => (id.parse().expect(line), segment),
            None => (ID, segment),
        };
        let mut outcome = outcome.split(", ");
        let cause = outcome.next().expect(line);
        let cause = Cause::ALL
            .iter()
            .find(|one| format!("{one:?}") == cause)
            .expect(line);
        let acks: Vec<Header> = outcome
            .map(|ack| parse_segment(message_id, ack).0.acknowledgement())
            .collect();
        let (header, payload) = parse_segment(message_id, segment);
        gives(receiver, header, payload.as_bytes(), *cause, &acks);
    }
}

/// Reads `FLAGS OFFSET`, and what follows.
fn parse_segment(message_id: u32, text: &str) -> (Header, &str) {
    let mut words = text.split(' ');
    let flags = match words.next() {
        Some("-") => Flags::NONE,
        Some("SYN") => SYN,
        Some("EOM") => EOM,
        Some("EOM+SYN") => EOM | SYN,
        other => panic!("flags {other:?} in {text}"),
    };
    let header = Header {
        flags,
        message_id,
        offset: words.next().expect(text).parse().expect(text),
    };
    (header, words.next().unwrap_or_default())
}

pub fn taken(receiver: &mut Receiver) -> Option<Vec<u8>> {
    receiver.take_complete().map(|received| received.data)
}

/// Any free port of this machine.
pub const HERE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);

pub fn socket() -> UdpSocket {
    UdpSocket::bind(HERE).expect("there is a free port")
}

pub fn v4(address: SocketAddr) -> SocketAddrV4 {
    match address {
        SocketAddr::V4(address) => address,
        SocketAddr::V6(address) => panic!("{address} is no address of IPv4"),
    }
}

pub fn address_of(socket: &UdpSocket) -> SocketAddrV4 {
    v4(socket.local_addr().expect("it is bound"))
}

/// A listener that waits longer for a message than this machine stops a thread.
pub fn listener(config: ReceiverConfig) -> (Listener, SocketAddrV4) {
    listener_that_waits(Duration::from_secs(60), config)
}

pub fn listener_that_waits(idle: Duration, config: ReceiverConfig) -> (Listener, SocketAddrV4) {
    let listener = Listener::bind(HERE, config, idle).expect("there is a free port");
    let address = v4(listener.local_address().expect("it is bound"));
    (listener, address)
}

pub fn send(to: SocketAddrV4, message: &[u8], config: SenderConfig) -> Result<Statistics, UdpError> {
    udp::send(&socket(), to, message, config, |_| ControlFlow::Continue(()))
}

/// Receives in another thread until told to stop.
pub fn serve<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    mut listener: Listener,
    stop: &'scope AtomicBool,
) -> ScopedJoinHandle<'scope, Vec<Event>> {
    scope.spawn(move || {
        let mut events = Vec::new();
        while let Some(event) = listener.next_event(|_| stopped(stop)).expect("the socket works") {
            events.push(event);
        }
        events
    })
}

pub fn complete(events: Vec<Event>) -> Vec<Vec<u8>> {
    let data = events.into_iter().map(|event| match event {
        Event::Complete(received) => received.data,
        Event::GivenUp(given_up) => panic!("given up: {given_up:?}"),
    });
    data.collect()
}

pub fn stopped(stop: &AtomicBool) -> ControlFlow<()> {
    if stop.load(Ordering::Relaxed) {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// Stops the other threads of a test when it is dropped, also when the test fails: it would wait for them forever.
pub struct Stop<'a>(pub &'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
