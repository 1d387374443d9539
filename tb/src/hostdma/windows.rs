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

/// What the guard lets pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The window of each context.
    pub windows: Vec<Window>,
    /// Whether only the window of the context that asks counts.
    pub by_context: bool,
}

impl Guard {
    /// A guard that lets nothing pass.
    pub fn closed(contexts: usize) -> Self {
        Self {
            windows: vec![Window::default(); contexts],
            by_context: false,
        }
    }

    /// Whether all of these bytes may be moved by a burst with that user signal.
    ///
    /// # Panics
    /// If the context counts and the burst has any user signal.
    pub fn allows(&self, user: Option<u64>, address: u64, len: u64) -> bool {
        let mut windows = self.windows.iter();
        if !self.by_context {
            return windows.any(|window| window.holds(address, len));
        }
        let user = user.unwrap_or_else(|| panic!("a burst to {address:#x} has to say which context asks"));
        let contexts = self.windows.len().max(2).next_power_of_two() as u64;
        let own = windows.nth((user % contexts) as usize);
        own.is_some_and(|window| window.holds(address, len))
    }
}

#[cfg(test)]
mod tests {
    use super::{Guard, Window};

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
        let mut both = Guard::closed(2);
        both.windows = vec![Window::new(0, 10), Window::new(10, 10)];
        let allow = |address, len| both.allows(None, address, len);
        assert!(allow(0, 10) && allow(10, 10) && !allow(9, 2));
    }

    #[test]
    fn the_lowest_bits_of_the_user_signal_are_the_context() {
        let mut guard = Guard::closed(3);
        guard.windows[1] = Window::new(100, 10);
        assert!(guard.allows(Some(2), 100, 10));
        guard.by_context = true;
        for (user, allowed) in [
            (0, false),
            (1, true),
            (2, false),
            (3, false),
            (5, true),
            (13, true),
        ] {
            assert_eq!(guard.allows(Some(user), 100, 10), allowed, "{user}");
        }
        assert!(!guard.allows(Some(1), 100, 11));
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
