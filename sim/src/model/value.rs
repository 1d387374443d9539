//! Rust types whose memory is that of a port.

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
    use super::sealed::Sealed;

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
