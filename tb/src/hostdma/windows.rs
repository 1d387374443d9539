//! The windows of host memory that the guard lets transfers into.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// The window of an execution context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Whether it counts.
    pub enabled: bool,
    /// Address of its first byte.
    pub base: u64,
    /// Its bytes; a window ends at the end of memory at the latest.
    pub size: u32,
}

impl Window {
    /// A window that counts.
    pub fn new(base: u64, size: u32) -> Self {
        Self {
            enabled: true,
            base,
            size,
        }
    }

    /// Whether it holds all of these bytes.
    pub fn holds(&self, address: u64, len: u64) -> bool {
        let (base, size) = (u128::from(self.base), u128::from(self.size));
        let (address, len) = (u128::from(address), u128::from(len));
        self.enabled && base <= address && address + len <= base + size
    }

    /// A window near these addresses, with edges anywhere; some do not count, some are empty.
    pub fn random(rng: &mut ChaCha8Rng, first: u64, bytes: u64) -> Self {
        let start = rng.random_range(0..bytes);
        let size = match rng.random_range(0..8) {
            0 => 0,
            1 => rng.random_range(0..256),
            2 => rng.random_range(0..8192),
            _ => rng.random_range(0..bytes),
        };
        Self {
            enabled: rng.random_ratio(7, 8),
            base: first.wrapping_add(start),
            size: size as u32,
        }
    }
}

/// Whether one of the windows holds all of these bytes.
pub(super) fn allow(windows: &[Window], address: u64, len: u64) -> bool {
    windows.iter().any(|window| window.holds(address, len))
}

#[cfg(test)]
mod tests {
    use super::{Window, allow};

    #[test]
    fn all_bytes_have_to_be_inside() {
        let window = Window::new(100, 10);
        for (address, len, inside) in [
            (100, 10, true),
            (99, 2, false),
            (109, 1, true),
            (109, 2, false),
            (110, 1, false),
            (99, 1, false),
        ] {
            assert_eq!(window.holds(address, len), inside, "{len} bytes at {address}");
        }
    }

    #[test]
    fn windows_do_not_wrap_or_add_up() {
        assert!(Window::new(u64::MAX - 9, 100).holds(u64::MAX, 1));
        assert!(!Window::new(u64::MAX - 9, 100).holds(0, 1));
        let both = [Window::new(0, 10), Window::new(10, 10)];
        assert!(allow(&both, 0, 10) && allow(&both, 10, 10) && !allow(&both, 9, 2));
    }

    #[test]
    fn disabled_and_empty_windows_hold_nothing() {
        let disabled = Window {
            enabled: false,
            ..Window::new(0, 10)
        };
        assert!(!disabled.holds(0, 1));
        assert!(!Window::new(5, 0).holds(5, 1));
    }
}
