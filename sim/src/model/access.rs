//! Reading and driving the ports of an [`Instance`].
//!
//! The `unsafe` here relies on the guarantees about port addresses in `instance.rs`.

use super::instance::Changed;
use super::{Direction, Instance, PortHandle, RawPort};
use num_bigint::BigUint;
use std::slice;

impl Instance {
    /// The value of a port as little-endian bytes: 1, 2, 4 or 8 of them, or a multiple of 4.
    #[inline]
    pub fn bytes(&self, port: PortHandle) -> &[u8] {
        let raw = self.storage[port.index];
        // SAFETY: the model stores the port in that many bytes, and they are not written before this borrow of the
        // instance ends.
        unsafe { slice::from_raw_parts(raw.data, raw.bytes) }
    }

    /// Drives an input with little-endian bytes; missing bytes are zero.
    ///
    /// # Panics
    /// If the port is an output, or the bytes have ones beyond the port's width.
    #[inline]
    pub fn set_bytes(&mut self, port: PortHandle, value: &[u8]) {
        let info = &self.infos[port.index];
        assert!(
            info.direction == Direction::Input,
            "`{}` of {} is an output",
            info.name,
            self.model
        );
        if !fits(value, info.width) {
            panic!(
                "{}",
                self.too_wide(info, format!("0x{:x}", BigUint::from_bytes_le(value)))
            );
        }
        let raw = self.storage[port.index];
        let count = value.len().min(raw.bytes);
        // SAFETY: the model stores the port in that many bytes, and they are not accessed otherwise while the
        // instance is borrowed exclusively.
        let storage = unsafe { slice::from_raw_parts_mut(raw.data, raw.bytes) };
        let is_same = storage[..count] == value[..count] && storage[count..].iter().all(|byte| *byte == 0);
        if !is_same {
            storage[..count].copy_from_slice(&value[..count]);
            storage[count..].fill(0);
            self.changes(raw);
        }
    }

    /// An input has another value than before.
    #[inline]
    fn changes(&mut self, port: RawPort) {
        let change = match port.followed {
            true => Changed::Followed,
            false => Changed::Unfollowed,
        };
        self.changed = self.changed.max(change);
    }

    /// The value of a port of at most 128 bits.
    ///
    /// # Panics
    /// If the port is wider.
    #[inline]
    pub fn value(&self, port: PortHandle) -> u128 {
        // Most ports are small; copies of a constant length take one instruction.
        match *self.bytes(port) {
            [byte] => byte.into(),
            [a, b] => u16::from_le_bytes([a, b]).into(),
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
            [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]).into(),
            ref bytes => self.wide_value(port, bytes),
        }
    }

    fn wide_value(&self, port: PortHandle, bytes: &[u8]) -> u128 {
        let mut value = [0; 16];
        assert!(
            bytes.len() <= value.len(),
            "port `{}` is wider than 128 bits",
            self.info(port).name
        );
        value[..bytes.len()].copy_from_slice(bytes);
        u128::from_le_bytes(value)
    }

    /// Drives an input; bits above 128 are zero.
    ///
    /// # Panics
    /// If the port is an output or the value does not fit.
    #[inline]
    pub fn set_value(&mut self, port: PortHandle, value: u128) {
        // Inputs that are driven every cycle mostly keep their value.
        let stays = port.width <= 128 && self.value(port) == value;
        if !stays || self.infos[port.index].direction != Direction::Input {
            self.set_bytes(port, &value.to_le_bytes());
        }
    }

    /// Whether a port of one bit is high.
    #[inline]
    pub fn is_high(&self, port: PortHandle) -> bool {
        self.bytes(port)[0] != 0
    }

    /// Drives an input of one bit.
    ///
    /// # Panics
    /// If the port is an output.
    #[inline]
    pub fn set_high(&mut self, port: PortHandle, high: bool) {
        let info = &self.infos[port.index];
        if info.width > 1 || info.direction != Direction::Input {
            return self.set_bytes(port, &[u8::from(high)]);
        }
        if self.is_high(port) != high {
            self.set(port.index, high);
        }
    }

    /// The value of the port with that number, as the typed accessors read it.
    ///
    /// # Panics
    /// If there is no such port, or the type is not that of its storage.
    #[inline]
    pub fn get<V: Value>(&self, index: usize) -> V {
        let raw = self.storage[index];
        assert_eq!(raw.bytes, size_of::<V::Raw>(), "the type does not fit the port");
        // SAFETY: the model stores the port in as many bytes as the type has; every bit pattern is valid for the raw
        // type, and no alignment is assumed.
        V::from_raw(unsafe { raw.data.cast::<V::Raw>().read_unaligned() })
    }

    /// Drives the port with that number, as the typed accessors do.
    ///
    /// # Panics
    /// If there is no such port, the type is not that of its storage, or the value does not fit.
    #[inline]
    pub fn set<V: Value>(&mut self, index: usize, value: V) {
        let (raw, info) = (self.storage[index], &self.infos[index]);
        assert_eq!(raw.bytes, size_of::<V::Raw>(), "the type does not fit the port");
        if value.needed_bits() > info.width {
            panic!("{}", self.too_wide(info, value.hex()));
        }
        // SAFETY: as for reading, and the instance is borrowed exclusively.
        unsafe { raw.data.cast::<V::Raw>().write_unaligned(value.into_raw()) };
        // For most designs that are driven in this way, a comparison would take longer than the evaluation.
        self.changes(raw);
    }
}

/// Whether little-endian bytes have no ones at or above that bit.
#[inline]
fn fits(value: &[u8], width: usize) -> bool {
    let whole = width / 8;
    if value.len() <= whole {
        return true;
    }
    value[whole] >> (width % 8) == 0 && value[whole + 1..].iter().all(|byte| *byte == 0)
}

/// A type that holds the value of a port: `bool` for one bit, the smallest unsigned integer up to 64
/// bits, and an array of 32-bit words, lowest first, for wider ports.
pub trait Value: sealed::Sealed {}

impl<T: sealed::Sealed> Value for T {}

pub(super) mod sealed {
    /// How a value is kept in the model's memory.
    pub trait Sealed: Copy {
        /// The type in memory; every bit pattern must be valid for it.
        type Raw: Copy;
        /// From memory.
        fn from_raw(raw: Self::Raw) -> Self;
        /// To memory.
        fn into_raw(self) -> Self::Raw;
        /// How many bits the value needs, 0 if its topmost word is zero.
        fn needed_bits(self) -> usize;
        /// Hexadecimal text for messages.
        fn hex(self) -> String;
    }

    impl Sealed for bool {
        type Raw = u8;

        fn from_raw(raw: u8) -> Self {
            raw != 0
        }

        fn into_raw(self) -> u8 {
            u8::from(self)
        }

        fn needed_bits(self) -> usize {
            usize::from(self)
        }

        fn hex(self) -> String {
            format!("{:#x}", u8::from(self))
        }
    }

    macro_rules! integer {
        ($($integer:ty)*) => {$(
            impl Sealed for $integer {
                type Raw = Self;

                fn from_raw(raw: Self) -> Self {
                    raw
                }

                fn into_raw(self) -> Self {
                    self
                }

                fn needed_bits(self) -> usize {
                    (Self::BITS - self.leading_zeros()) as usize
                }

                fn hex(self) -> String {
                    format!("{self:#x}")
                }
            }
        )*};
    }

    integer!(u8 u16 u32 u64);

    impl<const N: usize> Sealed for [u32; N] {
        type Raw = Self;

        fn from_raw(raw: Self) -> Self {
            raw
        }

        fn into_raw(self) -> Self {
            self
        }

        fn needed_bits(self) -> usize {
            match self.last() {
                None | Some(0) => 0,
                Some(top) => (N - 1) * 32 + top.needed_bits(),
            }
        }

        fn hex(self) -> String {
            let words = self.iter().rev().map(|word| format!("{word:08x}"));
            format!("0x{}", words.collect::<Vec<_>>().join("_"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fits;
    use super::sealed::Sealed;

    #[test]
    fn sees_ones_beyond_the_width() {
        assert!(fits(&[], 1));
        assert!(fits(&[1], 1));
        assert!(!fits(&[2], 1));
        assert!(fits(&[0xff], 8));
        assert!(!fits(&[0xff, 1], 8));
        assert!(fits(&[0xff, 1, 0, 0], 9));
        assert!(!fits(&[0xff, 1, 0, 1], 9));
    }

    #[test]
    fn counts_bits() {
        assert_eq!(true.needed_bits(), 1);
        assert_eq!(0x1_00u16.needed_bits(), 9);
        assert_eq!(u64::MAX.needed_bits(), 64);
        assert_eq!([1, 0, 0x10].needed_bits(), 69);
        assert_eq!([u32::MAX, 0].needed_bits(), 0);
    }

    #[test]
    fn prints_wide_values_highest_word_first() {
        assert_eq!([0x1u32, 0xdead_beef].hex(), "0xdeadbeef_00000001");
    }
}
