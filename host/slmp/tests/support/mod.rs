//! What the tests share: names for segments, and a link that loses, doubles and delays by seed.

// Every test program uses a part of this.
#![allow(dead_code, unreachable_pub)]

pub mod link;
pub mod receiving;
pub mod sockets;

use spinneret_slmp::wire::{Flags, Header};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

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
