//! How fast time passes on a device whose name says so.

/// A name, and how many times slower than on the wall time passes there: `,slower=N` behind it says so.
pub(super) fn slower(name: &str) -> Option<(&str, u32)> {
    match name.split_once(",slower=") {
        Some((name, times)) => Some((name, times.parse().ok().filter(|times| *times > 0)?)),
        None => Some((name, 1)),
    }
}
