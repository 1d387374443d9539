//! The frame check sequence: CRC-32 of IEEE 802.3, 3.2.9, with the lowest bit of a byte first.

use super::BYTE;
use spinneret_verilog::prelude::*;

/// Bits of the sum.
pub(super) const CRC: usize = 32;
/// The sum before the first byte.
pub(super) const FIRST: u64 = 0xffff_ffff;
/// The sum after a frame with its right FCS.
pub(super) const RESIDUE: u64 = 0xdebb_20e3;
/// The polynomial, reflected.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// The sum after one more byte.
fn next(sum: u32, byte: u8) -> u32 {
    let step = |sum: u32, _| sum >> 1 ^ (POLYNOMIAL & (sum & 1).wrapping_neg());
    (0..BYTE).fold(sum ^ u32::from(byte), step)
}

/// The bits of {sum, byte} whose parity is a bit of the next sum, since that is linear.
fn taps(bit: usize) -> u64 {
    let of_byte = (0..BYTE).map(|from| next(0, 1 << from));
    let of_sum = (0..CRC).map(|from| next(1 << from, 0));
    (0..)
        .zip(of_byte.chain(of_sum))
        .map(|(from, sum)| u64::from(sum >> bit & 1) << from)
        .sum()
}

/// The sum after one more byte.
#[kernel]
pub(super) fn next_sum(sum: Sig, byte: Sig) -> Sig {
    let all = cat!(sum, byte);
    word_of((0..CRC).map(|bit| (all & taps(bit)).parity()))
}

#[cfg(test)]
mod tests {
    use super::{FIRST, RESIDUE, next, taps};

    #[test]
    fn the_sum_is_that_of_the_catalogue_of_crcs() {
        // Check value of CRC-32/ISO-HDLC.
        let sum = b"123456789"
            .iter()
            .fold(FIRST as u32, |sum, byte| next(sum, *byte));
        assert_eq!(!sum, 0xcbf4_3926);
        let with_fcs = (!sum).to_le_bytes();
        let residue = with_fcs.iter().fold(sum, |sum, byte| next(sum, *byte));
        assert_eq!(u64::from(residue), RESIDUE);
    }

    #[test]
    fn each_bit_is_the_parity_of_its_taps() {
        for (sum, byte) in [
            (0x1234_5678_u32, 0x9a_u8),
            (u32::MAX, 0),
            (0, 0xff),
            (0x8000_0001, 0x55),
        ] {
            let all = u64::from(sum) << 8 | u64::from(byte);
            let bits = (0..32).map(|bit| ((all & taps(bit)).count_ones() & 1) << bit);
            assert_eq!(bits.sum::<u32>(), next(sum, byte));
        }
    }
}
