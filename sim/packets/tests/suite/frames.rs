//! Frames that tests are made of.

use spinneret_packets::{checked_protocol, echo_request, udp};

#[test]
fn checksums_are_right_and_each_wrong_byte_is_found() {
    for (mut frame, name) in [(udp(53, b"odd"), "udp"), (echo_request(7, b"even"), "icmp")] {
        assert_eq!(checked_protocol(&frame), Ok(Some(name)));
        for at in 24..frame.len() {
            frame[at] ^= 4;
            assert!(checked_protocol(&frame).is_err(), "byte {at} of {name}");
            frame[at] ^= 4;
        }
        frame[12] = 0x86;
        assert_eq!(checked_protocol(&frame), Ok(None), "no protocol that is known");
    }
}
