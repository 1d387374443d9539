//! Which frames belong together: those of one flow keep their order, so they all go one way.

use crate::digest::Digest;
use etherparse::{NetSlice, SlicedPacket, TransportSlice};

/// A number that is the same for all frames of a flow: of addresses, protocol and ports of IP, or else of both MAC addresses
/// and the type.
pub(super) fn hash(bytes: &[u8], salt: u64) -> u64 {
    let mut digest = Digest::default();
    digest.number(salt);
    let is_ip = SlicedPacket::from_ethernet(bytes).is_ok_and(|packet| take_in(&mut digest, &packet));
    if !is_ip {
        digest.bytes(&bytes[..14]);
    }
    // The lowest bits of an FNV depend on the lowest bits of what went in only.
    let value = digest.value();
    (value ^ (value >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

/// Whether it is a packet of IP, whose flow was taken in.
fn take_in(digest: &mut Digest, packet: &SlicedPacket<'_>) -> bool {
    match &packet.net {
        Some(NetSlice::Ipv4(ip)) => {
            digest.bytes(&ip.header().source());
            digest.bytes(&ip.header().destination());
            digest.number(u64::from(ip.header().protocol().0));
        }
        Some(NetSlice::Ipv6(ip)) => {
            digest.bytes(&ip.header().source());
            digest.bytes(&ip.header().destination());
            digest.number(u64::from(ip.payload().ip_number.0));
        }
        _ => return false,
    }
    match &packet.transport {
        Some(TransportSlice::Udp(udp)) => {
            digest.number(u64::from(udp.source_port()) << 16 | u64::from(udp.destination_port()));
        }
        Some(TransportSlice::Tcp(tcp)) => {
            digest.number(u64::from(tcp.source_port()) << 16 | u64::from(tcp.destination_port()));
        }
        _ => {}
    }
    true
}
