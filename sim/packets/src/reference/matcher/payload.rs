//! Where the IP payload of a frame starts.
//!
//! ```text
//! 0           12         14 + 4 * tags          14 + 4 * tags + header
//! addresses   0..2 tags  type  IP header        payload
//! ```

/// Bytes of an Ethernet header without tags.
const ETHERNET_BYTES: usize = 14;
/// Bytes of a VLAN tag.
const TAG_BYTES: usize = 4;
/// VLAN tags that are understood, one behind the other.
const MAX_TAGS: usize = 2;
/// Tag protocol identifiers: of a customer's and of a provider's VLAN.
const TAGS: [u16; 2] = [0x8100, 0x88a8];
/// Ethernet type of IPv4.
const IPV4: u16 = 0x0800;
/// Ethernet type of IPv6.
const IPV6: u16 = 0x86dd;
/// Bytes of the IPv6 header; extension headers are payload.
const IPV6_BYTES: usize = 40;
/// Fewest words of an IPv4 header.
const MIN_IHL: u8 = 5;

/// The offset of the first byte of the IPv4 or IPv6 payload, behind up to two VLAN tags.
///
/// `None` if the frame is not IP: another Ethernet type, a third tag, a version that is not that of the type, an
/// IPv4 header length below 5, or the frame ends before the first byte of the IP header. A frame that ends later than
/// that, but within the IP header, is IP and has no byte of payload: the offset lies behind its end.
///
/// ```
/// use spinneret_packets::reference::matcher::ip_payload_start;
///
/// let mut frame = vec![0; 64];
/// frame[12..15].copy_from_slice(&[0x08, 0x00, 0x46]);
/// assert_eq!(ip_payload_start(&frame), Some(14 + 24));
/// ```
pub fn ip_payload_start(frame: &[u8]) -> Option<usize> {
    let mut header = ETHERNET_BYTES;
    let mut kind = type_before(frame, header)?;
    for _ in 0..MAX_TAGS {
        if TAGS.contains(&kind) {
            header += TAG_BYTES;
            kind = type_before(frame, header)?;
        }
    }
    let first = *frame.get(header)?;
    let (version, ihl) = (first >> 4, first & 0xf);
    match (kind, version) {
        (IPV4, 4) if ihl >= MIN_IHL => Some(header + 4 * usize::from(ihl)),
        (IPV6, 6) => Some(header + IPV6_BYTES),
        _ => None,
    }
}

/// The Ethernet type in the two bytes before an offset.
fn type_before(frame: &[u8], offset: usize) -> Option<u16> {
    let bytes = frame.get(offset - 2..)?.first_chunk()?;
    Some(u16::from_be_bytes(*bytes))
}
