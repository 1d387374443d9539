//! How the surroundings of the registers behave.

use super::surroundings::Activity;
use spinneret_sim::axil::{MasterConfig, MasterPauses, Pause, Skew};

/// How the surroundings of the registers behave.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// Who accesses the registers.
    pub master: MasterConfig,
    /// What happens around the block.
    pub activity: Activity,
    /// Chance in percent of a reset behind a batch of accesses, in the middle of the last ones.
    pub reset_percent: u32,
}

/// Every behaviour, with a name.
pub fn behaviours() -> Vec<(&'static str, Behaviour)> {
    let random = |percent| Pause::Random { percent };
    let slow_answers = MasterPauses {
        response: random(70),
        read_data: random(70),
        ..MasterPauses::default()
    };
    let slow_requests = MasterPauses {
        write_address: random(60),
        write_data: random(60),
        read_address: random(60),
        ..MasterPauses::default()
    };
    let bursty = Pause::Bursty { busy: 12, idle: 12 };
    let skewed = Skew::Random { most: 6 };
    let behaviour = |pauses, skew, live_percent, stdout_percent, reset_percent| Behaviour {
        master: MasterConfig { pauses, skew },
        activity: Activity {
            live_percent,
            stdout_percent,
        },
        reset_percent,
    };
    let never = MasterPauses::default;
    vec![
        ("no pauses", behaviour(never(), Skew::Together, 20, 5, 0)),
        ("skewed", behaviour(never(), skewed, 50, 30, 0)),
        ("slow answers", behaviour(slow_answers, Skew::Together, 50, 5, 0)),
        ("slow requests", behaviour(slow_requests, skewed, 50, 5, 0)),
        (
            "all pause",
            behaviour(MasterPauses::all(&random(40)), skewed, 90, 20, 0),
        ),
        ("bursts", behaviour(MasterPauses::all(&bursty), skewed, 30, 2, 0)),
        (
            "resets",
            behaviour(MasterPauses::all(&random(30)), skewed, 50, 20, 25),
        ),
    ]
}
