//! How the bus models around an egress path behave.

use super::judge::LineFaults;
use spinneret_sim::axi::Latency;
use spinneret_sim::stream::Pause;

/// How the bus models around an egress path behave.
#[derive(Clone, Debug, Default)]
pub struct Behaviour {
    /// Gaps between commands.
    pub command: Pause,
    /// Backpressure of reads.
    pub address: Pause,
    /// Gaps between lines.
    pub data: Pause,
    /// Cycles from a read to its first line.
    pub latency: Latency,
    /// Which lines fail.
    pub faults: LineFaults,
    /// Backpressure of the wire.
    pub wire: Pause,
    /// Cycles in which the last error is cleared: those that would be a pause.
    pub clear: Pause,
}

impl Behaviour {
    /// Everything ready, and lines after that many cycles.
    pub fn after(cycles: u64) -> Self {
        Self {
            latency: Latency::exactly(cycles),
            ..Self::default()
        }
    }
}

/// The behaviours that random tests go through, each with its name.
pub fn behaviours() -> Vec<(&'static str, Behaviour)> {
    let random = |percent| Pause::Random { percent };
    let bursty = |busy, idle| Pause::Bursty { busy, idle };
    let latency = |least, most| Latency { least, most };
    let clear = random(5);
    vec![
        ("nothing waits", Behaviour::after(1)),
        (
            "memory far away, few errors",
            Behaviour {
                latency: Latency::exactly(40),
                faults: LineFaults::Random(5),
                clear: clear.clone(),
                ..Behaviour::default()
            },
        ),
        (
            "everything pauses",
            Behaviour {
                command: random(30),
                address: random(30),
                data: random(30),
                latency: latency(1, 30),
                faults: LineFaults::Random(20),
                wire: random(30),
                clear: clear.clone(),
            },
        ),
        (
            "bursts of everything",
            Behaviour {
                command: bursty(40, 60),
                address: bursty(20, 40),
                data: bursty(40, 20),
                latency: latency(1, 100),
                faults: LineFaults::Random(10),
                wire: bursty(60, 100),
                clear: clear.clone(),
            },
        ),
        (
            "the wire is slow",
            Behaviour {
                latency: latency(1, 10),
                faults: LineFaults::Random(3),
                wire: random(75),
                clear: clear.clone(),
                ..Behaviour::default()
            },
        ),
        (
            "the memory is slow",
            Behaviour {
                address: random(50),
                data: random(75),
                latency: latency(10, 80),
                faults: LineFaults::Random(3),
                clear: clear.clone(),
                ..Behaviour::default()
            },
        ),
        (
            "many errors",
            Behaviour {
                latency: latency(1, 20),
                faults: LineFaults::Random(200),
                wire: bursty(10, 10),
                clear,
                ..Behaviour::default()
            },
        ),
    ]
}
