//! The testbench of `pspin_ctrl_regs`.
//!
//! ```text
//!  LiteMaster => s_axil [pspin_ctrl_regs] outputs, stdout => Environment
//!                                         live inputs     <=
//! ```
//!
//! The environment drives the inputs that registers show, and compares every output in every cycle with the contract:
//! the table's model in `spinneret_regmap`, with the clocks that the block promises around it.

mod contract;
mod ports;

use crate::bench::Finish;
use spinneret_regmap::{cl, me};
use spinneret_sim::prelude::*;

pub use contract::{Activity, Environment};
pub use ports::Layout;

/// The block with everything around it.
#[derive(Debug)]
pub struct Bench<M: Model> {
    /// The simulation.
    pub sim: Simulation<M>,
    /// The AXI4-Lite master.
    pub master: LiteMaster,
    /// Environment of the block.
    pub around: Environment,
    /// Parameters of the block.
    pub layout: Layout,
}

impl<M: Model> Bench<M> {
    /// Connects the models to the block and resets it; all models are idle.
    pub fn new(sim: Simulation<M>) -> Self {
        Self::with(sim, MasterConfig::default(), Activity::default())
    }

    /// The same with pauses and activity.
    pub fn with(mut sim: Simulation<M>, config: MasterConfig, activity: Activity) -> Self {
        let master = sim.axil_master("s_axil", config);
        let around = Environment::attach(&mut sim, activity);
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

/// Stimulus of the registers.
#[derive(Clone, Debug)]
pub struct Stimulus {
    /// The AXI4-Lite master.
    pub master: MasterConfig,
    /// Activity of inputs and standard output.
    pub activity: Activity,
    /// Chance in percent of a reset after a batch of accesses, in the middle of the last ones.
    pub reset_percent: u32,
}

/// Every stimulus, with a name.
pub fn stimuli() -> Vec<(&'static str, Stimulus)> {
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
    let stimulus = |pauses, skew, live_percent, stdout_percent, reset_percent| Stimulus {
        master: MasterConfig { pauses, skew },
        activity: Activity {
            live_percent,
            stdout_percent,
        },
        reset_percent,
    };
    let never = MasterPauses::default;
    vec![
        ("no pauses", stimulus(never(), Skew::Together, 20, 5, 0)),
        ("skewed", stimulus(never(), skewed, 50, 30, 0)),
        ("slow answers", stimulus(slow_answers, Skew::Together, 50, 5, 0)),
        ("slow requests", stimulus(slow_requests, skewed, 50, 5, 0)),
        (
            "all pause",
            stimulus(MasterPauses::all(&random(40)), skewed, 90, 20, 0),
        ),
        ("bursts", stimulus(MasterPauses::all(&bursty), skewed, 30, 2, 0)),
        (
            "resets",
            stimulus(MasterPauses::all(&random(30)), skewed, 50, 20, 25),
        ),
    ]
}

/// Random accesses, most of them to existing words.
struct Traffic {
    rng: ChaCha8Rng,
    words: Vec<u32>,
    address_width: u32,
}

impl Traffic {
    fn new(layout: &Layout, rng: ChaCha8Rng) -> Self {
        Self {
            rng,
            words: layout.words(),
            address_width: layout.address_width,
        }
    }

    /// Queues the next access.
    fn send(&mut self, master: &LiteMaster) {
        let address = u64::from(self.address());
        if self.rng.random() {
            master.read(LiteRead::new(address));
            return;
        }
        let data: u32 = match self.rng.random_range(0..8) {
            0 => 0,
            1 => 1,
            2 => u32::MAX,
            _ => self.rng.random(),
        };
        let strobes = match self.rng.random_range(0..4) {
            0 | 1 => 0xf,
            _ => self.rng.random_range(0..16),
        };
        master.write(LiteWrite::new(address, data.into()).strobed(strobes));
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

/// Accesses that are queued together.
const BATCH: u64 = 40;

crate::counts! {
    /// Accesses by outcome.
    pub struct Totals {
        /// Writes that were answered with OKAY.
        pub written: u64,
        /// Reads that were answered with OKAY.
        pub read: u64,
        /// Accesses that were answered with an error.
        pub refused: u64,
        /// Accesses that a reset took away.
        pub forgotten: u64,
        /// Words of standard output that were read.
        pub printed: u64,
        /// Resets.
        pub resets: u64,
        /// Clocks.
        pub cycles: u64,
    }
}

impl Totals {
    /// All accesses that were sent.
    pub fn accesses(&self) -> u64 {
        self.written + self.read + self.refused + self.forgotten
    }
}

/// Sends that many random accesses through a block; every output is compared in every clock.
///
/// # Panics
/// If the block breaks its contract.
pub fn run_round<M: Model>(mut sim: Simulation<M>, stimulus: Stimulus, accesses: u64) -> Totals {
    sim.set_cycle_limit(u64::MAX);
    let mut rng = sim.rng("round");
    let Stimulus {
        master,
        activity,
        reset_percent,
    } = stimulus;
    let mut bench = Bench::with(sim, master, activity);
    let mut traffic = Traffic::new(&bench.layout, bench.sim.rng("traffic"));
    let mut totals = Totals::default();
    let mut left = accesses;
    while left > 0 {
        let batch = left.min(BATCH);
        left -= batch;
        for _ in 0..batch {
            traffic.send(&bench.master);
        }
        let resets = rng.random_range(0..100) < reset_percent;
        let until = if resets {
            rng.random_range(0..4 * batch)
        } else {
            u64::MAX
        };
        run_batch(&mut bench, until, &mut totals);
        totals.forgotten += batch - count(&mut bench, &mut totals);
    }
    totals.cycles = bench.sim.cycle_count();
    totals
}

/// Runs until everything is answered, or for `until` clocks and then resets.
fn run_batch<M: Model>(bench: &mut Bench<M>, until: u64, totals: &mut Totals) {
    for _ in 0..until {
        if bench.master.is_idle() {
            bench.sim.run(2);
            return;
        }
        bench.sim.cycle();
    }
    bench.master.clear();
    bench.sim.reset();
    totals.resets += 1;
    // Accesses that had started are sent again or forgotten; either way they end in the next batch.
    bench.master.clear();
    bench.settle();
}

/// Counts what was answered, and checks what standard output gave.
fn count<M: Model>(bench: &mut Bench<M>, totals: &mut Totals) -> u64 {
    let writes = bench.master.take_writes();
    let reads = bench.master.take_reads();
    let okay = |response: Response| u64::from(response == Response::Okay);
    let written: u64 = writes.iter().map(|done| okay(done.response)).sum();
    let read: u64 = reads.iter().map(|done| okay(done.response)).sum();
    let all = (writes.len() + reads.len()) as u64;
    let printed = bench.around.take_printed();
    let answers = reads
        .iter()
        .filter(|done| done.address & !3 == u64::from(cl::FIFO.offset))
        .filter(|done| done.data != u64::from(u32::MAX));
    let answers: Vec<u32> = answers.map(|done| done.data as u32).collect();
    // A reset forgets answers to reads whose word was taken, never vice versa.
    let mut taken = printed.iter();
    for answer in &answers {
        assert!(
            taken.any(|word| word == answer),
            "a read gave {answer:#x}, which was not taken, or out of order"
        );
    }
    totals.written += written;
    totals.read += read;
    totals.refused += all - written - read;
    totals.printed += answers.len() as u64;
    all
}

/// Accesses whose throughput is measured.
const MANY: u64 = 1000;

/// Clocks that accesses take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// From address and data of a write to its response.
    pub write_latency: u64,
    /// From the address of a read to its data.
    pub read_latency: u64,
    /// Clocks from the first to the last of 1001 responses to writes, while as many reads go on.
    pub writes: u64,
    /// The same of reads.
    pub reads: u64,
    /// All clocks of the simulation.
    pub cycles: u64,
}

/// Measures a block whose accesses never pause.
///
/// # Panics
/// If the block breaks its contract.
pub fn measure<M: Model>(sim: Simulation<M>) -> Measured {
    let mut bench = Bench::new(sim);
    let write_latency = bench.write(me::MASK.offset, 1).latency_cycles();
    let read_latency = bench.read(me::MASK.offset).latency_cycles();
    for number in 0..=MANY {
        let offset = u64::from(me::MASK.offset) + 4 * (number % 16);
        bench.master.write(LiteWrite::new(offset, number));
        bench.master.read(LiteRead::new(offset));
    }
    bench.settle();
    let span = |cycles: Vec<u64>| match (cycles.first(), cycles.last()) {
        (Some(first), Some(last)) => last - first,
        _ => 0,
    };
    Measured {
        write_latency,
        read_latency,
        writes: span(
            bench
                .master
                .take_writes()
                .iter()
                .map(|done| done.response_cycle)
                .collect(),
        ),
        reads: span(
            bench
                .master
                .take_reads()
                .iter()
                .map(|done| done.response_cycle)
                .collect(),
        ),
        cycles: bench.sim.cycle_count(),
    }
}
