//! Patterns of pauses that every block has to stand.

use spinneret_sim::stream::Pause;

/// Pauses of the sources and of the sinks.
pub fn patterns() -> Vec<(Pause, Pause)> {
    let half = Pause::Random { percent: 50 };
    let often = Pause::Random { percent: 80 };
    let seldom = Pause::Random { percent: 10 };
    let bursts = Pause::Bursty { busy: 20, idle: 20 };
    vec![
        (Pause::Never, Pause::Never),
        (half.clone(), Pause::Never),
        (Pause::Never, half.clone()),
        (half.clone(), half),
        (seldom.clone(), often.clone()),
        (often, seldom),
        (bursts.clone(), bursts.clone()),
        (Pause::Never, bursts),
    ]
}

/// A sink that is never ready.
pub const STALLED: Pause = Pause::AlwaysAfter(0);
