//! Says what an address of the BAR reaches.

use spinneret_regmap::bar::{ADDRESS_BITS, Target, WINDOWS, Window};
use spinneret_verilog::prelude::*;

/// Width of an address of the cluster in bits.
pub const CLUSTER_ADDRESS_BITS: usize = 32;
/// Bits of an address within a word.
pub const BYTE_BITS: usize = 2;

/// A window as the decoder sees it: a power of two of bytes, at a multiple of its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Aligned {
    /// Bits of an address within the window.
    bits: usize,
    /// The bits of the BAR's address above those.
    number: u64,
    /// The same bits of the cluster's address; none for the control registers.
    cluster: Option<u64>,
}

/// Says what an address of the BAR reaches, as `spinneret_regmap::bar` has it.
///
/// Combinational. Windows that a narrower BAR cannot address do not exist.
#[hardware(width: usize, windows = WINDOWS.iter().filter_map(Aligned::of))]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct WindowDecoder {
    /// A word of the BAR: its address without the lowest two bits.
    pub word: Wire<In, { width - BYTE_BITS }>,
    /// It is in the window of the control registers.
    pub to_registers: Wire<Out, bool>,
    /// It is in a window of the cluster.
    pub to_cluster: Wire<Out, bool>,
    /// The cluster's address of the word; only with `to_cluster`.
    pub cluster_address: Wire<Out, { CLUSTER_ADDRESS_BITS }>,
    #[new(windows.filter(|window| window.is_reached_by(width)).collect())]
    _windows: Vec<Aligned>,
}

impl Aligned {
    /// The window, unless it reaches nothing.
    fn of(window: &Window) -> Option<Self> {
        let bits = window.size_bytes.trailing_zeros() as usize;
        let cluster = match window.target {
            Target::Pspin { address } => Some(u64::from(address) >> bits),
            Target::ControlRegisters => None,
            Target::Nothing => return None,
        };
        let number = u64::from(window.start) >> bits;
        Some(Self {
            bits,
            number,
            cluster,
        })
    }

    /// Whether addresses of that many bits can name its first byte.
    fn is_reached_by(&self, width: usize) -> bool {
        self.number << self.bits < 1 << width.min(ADDRESS_BITS as usize)
    }
}

impl Logic for WindowDecoder {
    #[kernel(suffix = self.word.width() + BYTE_BITS)]
    fn update(&mut self) {
        let width = self.word.width();
        self.to_registers.next = false;
        self.to_cluster.next = false;
        self.cluster_address.next = 0.into();
        for window in self._windows.clone() {
            let words = window.bits - BYTE_BITS;
            let above = lit(window.cluster.unwrap_or(0), CLUSTER_ADDRESS_BITS - window.bits);
            if width <= words {
                /// The window is at least as large as the BAR.
                self.to_cluster.next = true;
                self.cluster_address.next = cat!(above, self.word.val().resize(words), lit(0, BYTE_BITS));
            } else if window.cluster.is_some() {
                if self.word.val().slice(words, width - words) == window.number {
                    self.to_cluster.next = true;
                    self.cluster_address.next =
                        cat!(above, self.word.val().slice(0, words), lit(0, BYTE_BITS));
                }
            } else {
                self.to_registers.next = self.word.val().slice(words, width - words) == window.number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::WindowDecoder;
    use spinneret_regmap::bar::{self, Destination, WINDOWS};
    use spinneret_verilog::prelude::*;

    fn decode(decoder: &mut WindowDecoder, address: u32) -> Destination {
        decoder.word.next = lit(u64::from(address) / 4, decoder.word.width());
        decoder.word.update_all();
        decoder.update();
        match (decoder.to_registers.val(), decoder.to_cluster.val()) {
            (false, false) => Destination::Nothing,
            (false, true) => Destination::Pspin(decoder.cluster_address.val().low_u64() as u32),
            (true, false) => Destination::ControlRegister(address % 0x1_0000),
            (true, true) => panic!("{address:#x} is in two windows"),
        }
    }

    #[test]
    fn windows_are_powers_of_two_at_multiples_of_their_size() {
        for window in WINDOWS
            .iter()
            .filter(|window| window.target != bar::Target::Nothing)
        {
            assert!(window.size_bytes.is_power_of_two(), "{window:?}");
            assert_eq!(window.start % window.size_bytes, 0, "{window:?}");
        }
    }

    #[test]
    fn addresses_reach_what_the_register_map_says() {
        let edges = WINDOWS
            .iter()
            .flat_map(|window| [window.start, window.start + 0x1234, window.last() & !3]);
        for width in [16, 20, 22, 23, 24, 25, 32] {
            let mut decoder = WindowDecoder::new(width);
            let beyond = [0x100_0000, 0x140_0000, 0x180_0000, 0xff80_0000];
            for address in edges.clone().chain(beyond) {
                if u64::from(address) < 1 << width {
                    assert_eq!(
                        decode(&mut decoder, address),
                        bar::decode(address),
                        "{width} bits, {address:#x}"
                    );
                }
            }
        }
    }
}
