//! The registers with bus models, how these behave, and random accesses.

use super::contract::{Activity, Surroundings};
use super::ports::Layout;
use crate::bench::Finish;
use spinneret_regmap::cl;
use spinneret_sim::prelude::*;

/// The block with everything around it.
#[derive(Debug)]
pub struct Bench<M: Model> {
    /// The simulation.
    pub sim: Simulation<M>,
    /// Who accesses the registers.
    pub master: LiteMaster,
    /// What is around the block.
    pub around: Surroundings,
    /// What the block has.
    pub layout: Layout,
}

impl<M: Model> Bench<M> {
    /// Puts everything around the block and resets it; nothing happens by itself.
    pub fn new(sim: Simulation<M>) -> Self {
        Self::with(sim, MasterConfig::default(), Activity::default())
    }

    /// The same with pauses and activity.
    pub fn with(mut sim: Simulation<M>, config: MasterConfig, activity: Activity) -> Self {
        let master = sim.axil_master("s_axil", config);
        let around = Surroundings::attach(&mut sim, activity);
        sim.reset();
        Self {
            sim,
            master,
            around,
            layout: Layout::of::<M>(),
        }
    }

    /// Writes a word, and waits for the answer.
    ///
    /// # Panics
    /// If the block breaks its contract, as for all that follow.
    pub fn write(&mut self, offset: u32, data: u32) -> LiteWriteDone {
        self.write_with(LiteWrite::new(offset.into(), data.into()))
    }

    /// Writes, and waits for the answer.
    pub fn write_with(&mut self, write: LiteWrite) -> LiteWriteDone {
        self.master.write(write);
        self.settle();
        self.master.take_writes().remove(0)
    }

    /// Reads a word, and waits for the answer.
    pub fn read(&mut self, offset: u32) -> LiteReadDone {
        self.master.read(LiteRead::new(offset.into()));
        self.settle();
        self.master.take_reads().remove(0)
    }

    /// Waits until everything is answered.
    pub fn settle(&mut self) {
        while !self.master.is_idle() {
            self.sim.cycle();
        }
        // A word of standard output is taken while its read is answered; two clocks are ample.
        self.sim.run(2);
    }
}

impl<M: Model> Finish for Bench<M> {}

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

/// An access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A write of the bytes with a strobe.
    Write {
        /// Address of a byte of the word.
        address: u32,
        /// The data.
        data: u32,
        /// Bytes that are written.
        strobes: u8,
    },
    /// A read.
    Read {
        /// Address of a byte of the word.
        address: u32,
    },
}

impl Access {
    /// Queues it.
    pub fn send(self, master: &LiteMaster) {
        match self {
            Self::Write {
                address,
                data,
                strobes,
            } => master.write(LiteWrite::new(address.into(), data.into()).strobed(strobes)),
            Self::Read { address } => master.read(LiteRead::new(address.into())),
        };
    }
}

/// Makes random accesses, most of them to words that there are.
#[derive(Debug)]
pub struct Traffic {
    rng: ChaCha8Rng,
    words: Vec<u32>,
    address_width: u32,
}

impl Traffic {
    /// Accesses to a block of that layout.
    pub fn new(layout: &Layout, rng: ChaCha8Rng) -> Self {
        Self {
            rng,
            words: layout.words(),
            address_width: layout.address_width,
        }
    }

    /// The next access.
    pub fn access(&mut self) -> Access {
        let address = self.address();
        if self.rng.random() {
            return Access::Read { address };
        }
        let data = match self.rng.random_range(0..8) {
            0 => 0,
            1 => 1,
            2 => u32::MAX,
            _ => self.rng.random(),
        };
        let strobes = match self.rng.random_range(0..4) {
            0 | 1 => 0xf,
            _ => self.rng.random_range(0..16),
        };
        Access::Write {
            address,
            data,
            strobes,
        }
    }

    fn address(&mut self) -> u32 {
        let word = self.words[self.rng.random_range(0..self.words.len())];
        let any = self.rng.random::<u32>() >> (u32::BITS - self.address_width);
        match self.rng.random_range(0..20) {
            0 | 1 => any,
            // A word of another address: one bit differs.
            2 | 3 => word ^ 1 << self.rng.random_range(0..self.address_width),
            // A neighbour, which may be a hole.
            4 => (word + 4 * self.rng.random_range(1..4)) & (u32::MAX >> (u32::BITS - self.address_width)),
            5 | 6 => cl::FIFO.offset,
            7 => word + self.rng.random_range(0..4),
            _ => word,
        }
    }
}
