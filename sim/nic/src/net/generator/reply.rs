//! Checks what `udp_ping` and `icmp_ping` answer.

use super::NUMBER_BYTES;
use super::recipe::Recipe;
use etherparse::checksum::Sum16BitWords;
use etherparse::{Icmpv4Type, Ipv4Header, NetSlice, SlicedPacket, TransportSlice};

/// The difference of a reply from the expected one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("wrong reply: {0}")]
pub struct ReplyError(String);

impl Recipe {
    /// Checks a reply to any of the recipe's packets, and gives the number of that packet. The number is in the payload, so
    /// the order of replies does not matter, and nothing has to be kept.
    ///
    /// # Errors
    /// If it is no such reply, with what is wrong.
    pub fn check_reply(&self, reply: &[u8]) -> Result<u32, ReplyError> {
        let payload = Parsed::of(reply)?.payload;
        let number = payload.first_chunk::<NUMBER_BYTES>();
        let number = u32::from_be_bytes(*number.ok_or_else(|| wrong("it has no payload"))?);
        if u64::from(number) >= self.packets() {
            return Err(wrong(format!(
                "its payload has the number {number}, which was not sent"
            )));
        }
        check_reply(&self.frame(number), reply)?;
        Ok(number)
    }
}

/// Checks the reply of `udp_ping` or `icmp_ping` to a request: an Ethernet frame with IPv4 and UDP or ICMP in which
/// MAC addresses, IP addresses and ports have changed places, with the same payload and right lengths and checksums.
/// Padding of short frames is ignored.
///
/// # Errors
/// If it is no such reply, with what is wrong.
pub fn check_reply(request: &[u8], reply: &[u8]) -> Result<(), ReplyError> {
    let sent = Parsed::of(request).map_err(|ReplyError(problem)| wrong(format!("no request: {problem}")))?;
    let got = Parsed::of(reply)?;
    got.check_checksums()?;
    equal("destination MAC address", got.macs[0], sent.macs[1])?;
    equal("source MAC address", got.macs[1], sent.macs[0])?;
    equal("source IP address", got.ip.source, sent.ip.destination)?;
    equal("destination IP address", got.ip.destination, sent.ip.source)?;
    match (&sent.transport, &got.transport) {
        (TransportSlice::Udp(sent), TransportSlice::Udp(got)) => {
            equal("source port", got.source_port(), sent.destination_port())?;
            equal("destination port", got.destination_port(), sent.source_port())?;
        }
        (TransportSlice::Icmpv4(sent), TransportSlice::Icmpv4(got)) => {
            let Icmpv4Type::EchoRequest(asked) = sent.icmp_type() else {
                return Err(wrong("the request is no echo request"));
            };
            equal("ICMP header", got.icmp_type(), Icmpv4Type::EchoReply(asked))?;
        }
        _ => return Err(wrong("request and reply are not both UDP or both ICMP")),
    }
    if sent.payload != got.payload {
        let at = sent
            .payload
            .iter()
            .zip(got.payload)
            .position(|(sent, got)| sent != got);
        let at = at.unwrap_or(sent.payload.len().min(got.payload.len()));
        let (sent, got) = (sent.payload.len(), got.payload.len());
        return Err(wrong(format!(
            "the payload differs from byte {at} on; {sent} bytes were sent and {got} came back"
        )));
    }
    Ok(())
}

/// A frame with UDP, TCP or ICMP over IPv4.
struct Parsed<'f> {
    /// Destination and source.
    macs: [[u8; 6]; 2],
    ip: Ipv4Header,
    /// Complement of the sum over the IP header's bytes as they came: the parsed one has no place for the reserved flag.
    ip_sum: u16,
    transport: TransportSlice<'f>,
    payload: &'f [u8],
    /// Bytes behind the IP header, without padding.
    ip_payload_bytes: usize,
}

impl<'f> Parsed<'f> {
    fn of(frame: &'f [u8]) -> Result<Self, ReplyError> {
        let packet = SlicedPacket::from_ethernet(frame).map_err(|error| wrong(error.to_string()))?;
        let (Some((destination, rest)), Some(NetSlice::Ipv4(ip)), Some(transport)) =
            (frame.split_first_chunk::<6>(), packet.net, packet.transport)
        else {
            return Err(wrong("it is not UDP, TCP or ICMP over IPv4"));
        };
        let source = rest.first_chunk::<6>().ok_or_else(|| wrong("it has no source"))?;
        let payload = match &transport {
            TransportSlice::Udp(udp) => udp.payload(),
            TransportSlice::Tcp(tcp) => tcp.payload(),
            TransportSlice::Icmpv4(icmp) => icmp.payload(),
            _ => return Err(wrong("it is not UDP, TCP or ICMP over IPv4")),
        };
        Ok(Self {
            macs: [*destination, *source],
            ip: ip.header().to_header(),
            ip_sum: Sum16BitWords::new()
                .add_slice(ip.header().slice())
                .ones_complement(),
            payload,
            ip_payload_bytes: ip.payload().payload.len(),
            transport,
        })
    }

    fn check_checksums(&self) -> Result<(), ReplyError> {
        if self.ip_sum != 0 {
            let found = self.ip.header_checksum;
            return Err(wrong(format!("the IP checksum is {found:x}, which is wrong")));
        }
        let too_long = |_| wrong("it is too long");
        match &self.transport {
            TransportSlice::Udp(udp) => {
                equal("UDP length", udp.length().into(), self.ip_payload_bytes)?;
                let header = udp.to_header();
                let computed = header
                    .calc_checksum_ipv4(&self.ip, self.payload)
                    .map_err(too_long)?;
                // 0 says that the sender computed none, which is allowed but not what was sent.
                equal("UDP checksum", udp.checksum(), computed)
            }
            TransportSlice::Icmpv4(icmp) => {
                let computed = icmp.icmp_type().calc_checksum(self.payload);
                equal("ICMP checksum", icmp.checksum(), computed)
            }
            _ => Ok(()),
        }
    }
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), ReplyError> {
    if found == expected {
        return Ok(());
    }
    Err(wrong(format!("the {what} is {found:x?}, not {expected:x?}")))
}

fn wrong(problem: impl Into<String>) -> ReplyError {
    ReplyError(problem.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The expected behaviour of the handlers.
    fn answer(request: &[u8]) -> Vec<u8> {
        let mut reply = request.to_vec();
        reply[..12].rotate_left(6);
        reply[26..34].rotate_left(4);
        match reply[23] {
            17 => reply[34..38].rotate_left(2),
            _ => {
                reply[34] = 0;
                // The sum loses 0x0800, so its complement gains it, with the carry around.
                let sum = u16::from_be_bytes([reply[36], reply[37]]);
                let (sum, carry) = sum.overflowing_add(0x0800);
                // Both are zero in ones' complement; a checksum of something is written as the other one.
                let sum = Some(sum + u16::from(carry))
                    .filter(|sum| *sum != u16::MAX)
                    .unwrap_or(0);
                reply[36..38].copy_from_slice(&sum.to_be_bytes());
            }
        }
        reply
    }

    proptest! {
        #[test]
        fn only_correct_replies_are_accepted_in_any_order(
            protocol in prop::sample::select(vec!["udp", "icmp"]), number in 0u32..1000, seed: u64, flip: prop::sample::Index,
        ) {
            let recipe: Recipe = format!("{protocol},size=60..1514,seed={seed},count=1000").parse().unwrap();
            let request = recipe.frame(number);
            let mut reply = answer(&request);
            prop_assert_eq!(recipe.check_reply(&reply), Ok(number));
            reply.resize(reply.len() + 4, 0);
            prop_assert_eq!(check_reply(&request, &reply), Ok(()));
            reply.truncate(request.len());
            prop_assert!(check_reply(&request, &request).is_err());
            // No bit may change that anything depends on: the IP checksum finds most, and the rest is compared.
            let bit = flip.index(8 * reply.len());
            reply[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(check_reply(&request, &reply).is_err(), "bit {}", bit);
            prop_assert!(recipe.check_reply(&reply).is_err());
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let recipe: Recipe = "udp".parse().unwrap();
            prop_assert!(recipe.check_reply(&bytes).is_err());
            prop_assert!(check_reply(&bytes, &bytes).is_err());
        }
    }

    #[test]
    fn errors_name_the_difference() {
        let recipe: Recipe = "udp,size=100,count=5".parse().unwrap();
        let request = recipe.frame(3);
        type Damage = fn(&mut Vec<u8>);
        let cases: [(Damage, &str); 6] = [
            (
                |reply| reply[0] ^= 2,
                "wrong reply: the destination MAC address is",
            ),
            (|reply| reply[35] ^= 1, "wrong reply: the UDP checksum is"),
            (
                |reply| reply[34..38].rotate_left(2),
                "wrong reply: the source port is",
            ),
            (|reply| reply[25] ^= 1, "wrong reply: the IP checksum is"),
            (
                |reply| reply[12] = 9,
                "wrong reply: it is not UDP, TCP or ICMP over IPv4",
            ),
            (
                |reply| reply[50..54].rotate_left(2),
                "wrong reply: the payload differs from byte 8 on; 58 bytes were sent",
            ),
        ];
        for (damage, expected) in cases {
            let mut reply = answer(&request);
            damage(&mut reply);
            let found = check_reply(&request, &reply).unwrap_err().to_string();
            assert!(found.starts_with(expected), "{found}");
        }
        let other: Recipe = "udp,size=100,count=9".parse().unwrap();
        let found = recipe
            .check_reply(&answer(&other.frame(7)))
            .unwrap_err()
            .to_string();
        assert_eq!(
            found,
            "wrong reply: its payload has the number 7, which was not sent"
        );
    }
}
