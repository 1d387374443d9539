//! How fast packets reach the cluster and what the cluster does with them goes, through the crossing between the clocks.

use super::bench::AppBench;
use super::config::{Actions, Behaviour, Clocks, Context, READ_BYTES};
use super::packets::{CONTEXTS, from_wire, matched};
use spinneret_models::MqnicAppBlock;
use spinneret_regmap::ingress;
use spinneret_sim::prelude::*;

/// HERs before counting starts: more than all queues on their way hold.
const WARM_UP: u64 = 80;
/// HERs that are counted.
const COUNTED: u64 = 400;
/// Packets that wait at the wire, so that it is never idle.
const WAITING: usize = 40;
/// Clocks in which fewer packets than that go in.
const LOOK: u64 = 16;
/// Clocks in which all HERs of a measurement are taken.
const PATIENCE: u64 = 2_000_000;

/// What the stand-in does with every packet while its rate is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// It gives the packet back.
    Take,
    /// It sends the packet to the wire.
    Send,
    /// It copies the packet to host memory.
    Write,
    /// It reads 64 bytes of host memory.
    Read,
}

impl Work {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Take, Self::Send, Self::Write, Self::Read];

    /// What it is called in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Take => "matched packet to HER",
            Self::Send => "matched packet to HER to wire",
            Self::Write => "matched packet to host memory",
            Self::Read => "64 bytes of host memory to cluster",
        }
    }

    /// Whether host memory takes part.
    pub fn is_host(self) -> bool {
        matches!(self, Self::Write | Self::Read)
    }

    /// Bytes that are moved for each packet of that size.
    pub fn bytes(self, size: usize) -> u64 {
        match self {
            Self::Take | Self::Send | Self::Write => size as u64,
            Self::Read => READ_BYTES,
        }
    }

    fn actions(self) -> Actions {
        Actions {
            send: self == Self::Send,
            copy: self == Self::Write,
            read: self == Self::Read,
            print: false,
        }
    }
}

/// A block for [`measure_work`], whose surroundings never pause.
pub fn prepare_work(sim: Simulation<MqnicAppBlock>, clocks: Clocks) -> AppBench {
    let mut bench = AppBench::new(sim, clocks, &Behaviour::default());
    bench.bring_up(contexts(Work::Take));
    // Packets come faster than they are taken, so some are dropped.
    bench.model.complete = false;
    bench
}

/// Core clocks from one HER to the next when packets of that size come back to back, and Corundum's DMA takes so many
/// clocks until it moves bytes; nothing may be under way.
///
/// The wire never pauses: what the cluster has no time for is dropped at the gate, and what is measured is the rate at
/// which HERs are taken.
///
/// # Panics
/// If HERs do not come, or anything that comes out is wrong.
pub fn measure_work(bench: &mut AppBench, work: Work, size: usize, dma_clocks: u64) -> f64 {
    bench.writes.set_latency(Latency::exactly(dma_clocks));
    bench.reads.set_latency(Latency::exactly(dma_clocks));
    let contexts = contexts(work);
    bench.load_contexts(&contexts);
    bench.model.configure(contexts);
    let mut rng = bench.sim.rng("measured work");
    let bytes = matched(&mut rng, 0, size);
    if let (Work::Write, Some(context)) = (work, contexts[0]) {
        // All packets are the same, so it does not matter how many come.
        bench.host.expect(context.host_address, &bytes);
    }
    let frame = from_wire(&mut rng, bytes);
    let before = hers(bench).0;
    let mut feed = |wanted: u64| {
        let deadline = bench.now() + PATIENCE;
        loop {
            let (hers, now) = hers(bench);
            if hers - before >= wanted {
                return (hers, now);
            }
            assert!(now < deadline, "{work:?}: {} of {wanted} HERs", hers - before);
            while bench.rx[0].waiting() < WAITING {
                bench.receive(0, frame.clone());
            }
            bench.run(LOOK);
        }
    };
    let (first, start) = feed(WARM_UP);
    let (last, end) = feed(WARM_UP + COUNTED);
    bench.model.read[0] = work == Work::Read;
    bench.settle();
    (end - start) as f64 / (last - first) as f64
}

/// HERs that were taken, and the clock; each look takes the same time, so the clocks between two are exact.
fn hers(bench: &mut AppBench) -> (u64, u64) {
    let hers = bench.get(ingress::offset("hers")).into();
    (hers, bench.now())
}

fn contexts(work: Work) -> [Option<Context>; CONTEXTS] {
    std::array::from_fn(|number| Some(Context::new(number, work.actions())))
}
