//! Latency and throughput through the block.

use super::AppBench;
use super::driver::{Actions, Clocks, Context, READ_BYTES, Stimulus};
use super::packets::{CONTEXTS, from_host, from_wire, matched, unmatched};
use spinneret_regmap::ingress;
use spinneret_sim::prelude::*;

/// Frames of which the rate is measured.
const FRAMES: u64 = 64;
/// Frames before those, until everything flows.
const WARM_UP: u64 = 16;
/// Bytes of a beat.
const BEAT_BYTES: usize = 64;
/// Clocks in which any frame has passed.
const PATIENCE: u64 = 20_000;

/// A way through the block that is measured while nothing else goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// A packet of interface 0 that matches nothing, to the host.
    Packet,
    /// A frame of the host at interface 0, to the wire.
    Frame,
    /// A completion of interface 0, to the host.
    Completion,
    /// A packet of interface 1.
    OtherPacket,
    /// A frame of the host at interface 1.
    OtherFrame,
    /// A completion of interface 1.
    OtherCompletion,
}

impl Crossing {
    /// All values.
    pub const ALL: [Self; 6] = [
        Self::Packet,
        Self::Frame,
        Self::Completion,
        Self::OtherPacket,
        Self::OtherFrame,
        Self::OtherCompletion,
    ];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Packet => "unmatched packet, interface 0",
            Self::Frame => "frame of the host, interface 0",
            Self::Completion => "completion, interface 0",
            Self::OtherPacket => "packet, interface 1",
            Self::OtherFrame => "frame of the host, interface 1",
            Self::OtherCompletion => "completion, interface 1",
        }
    }

    /// The clocks that it takes, for a frame of that size.
    pub fn clocks(self, size: usize) -> u64 {
        match self {
            // The matching engine sees two beats of a packet before its first one goes on, if there are two. Joining passed
            // frames takes one clock.
            Self::Packet if size <= BEAT_BYTES => 6,
            Self::Packet => 7,
            Self::Frame | Self::Completion => 1,
            Self::OtherPacket | Self::OtherFrame | Self::OtherCompletion => 0,
        }
    }

    /// The stream that takes this way; completions are none.
    pub fn flow(self) -> Option<Flow> {
        let n = self.interface();
        match self {
            Self::Packet | Self::OtherPacket => Some(Flow::Packets(n)),
            Self::Frame | Self::OtherFrame => Some(Flow::Frames(n)),
            Self::Completion | Self::OtherCompletion => None,
        }
    }

    fn interface(self) -> usize {
        match self {
            Self::Packet | Self::Frame | Self::Completion => 0,
            Self::OtherPacket | Self::OtherFrame | Self::OtherCompletion => 1,
        }
    }
}

/// A stream through the block whose rate is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Packets of an interface that match nothing, to the host.
    Packets(usize),
    /// Frames of the host at an interface, to the wire.
    Frames(usize),
}

impl Flow {
    /// All values.
    pub const ALL: [Self; 4] = [
        Self::Packets(0),
        Self::Frames(0),
        Self::Packets(1),
        Self::Frames(1),
    ];

    fn streams<M: Model>(self, bench: &AppBench<M>) -> (&StreamSource, &StreamSink) {
        match self {
            Self::Packets(n) => (&bench.rx[n], &bench.to_host[n]),
            Self::Frames(n) => (&bench.tx[n], &bench.wire[n]),
        }
    }

    fn send<M: Model>(self, bench: &mut AppBench<M>, size: usize) {
        let mut rng = bench.sim.rng("measured frames");
        let bytes = unmatched(&mut rng, size);
        match self {
            Self::Packets(n) => bench.receive(n, from_wire(&mut rng, bytes)),
            Self::Frames(n) => bench.transmit(n, from_host(&mut rng, bytes)),
        }
    }
}

/// Returns the clocks from the first beat in to the first beat out, of a frame of this size. Nothing may be in flight, and
/// no bus model pauses. Completions have no size.
///
/// # Panics
/// If it does not come out.
pub fn measure_latency<M: Model>(bench: &mut AppBench<M>, crossing: Crossing, size: usize) -> u64 {
    let Some(flow) = crossing.flow() else {
        return completion_latency(bench, crossing.interface());
    };
    flow.send(bench, size);
    bench.run_until(PATIENCE, "a frame through the block", |bench| bench.is_passed());
    let (source, sink) = flow.streams(bench);
    let first = |span: Option<spinneret_sim::stream::Span>| span.map_or(0, |span| span.first_cycle);
    first(sink.monitor().last_frame()) - first(source.monitor().last_frame())
}

/// Clocks that a completion takes.
fn completion_latency<M: Model>(bench: &mut AppBench<M>, n: usize) -> u64 {
    bench.run(100);
    let completion = [1, 2, 0x8003];
    bench.model.completion(n, completion);
    let (before, came) = (bench.completions[n].counts().beats, bench.completed[n].total());
    bench.completions[n].send(&completion);
    bench.run_until(PATIENCE, "a completion into the block", |bench| {
        bench.completions[n].counts().beats > before
    });
    let taken = bench.now();
    bench.run_until(PATIENCE, "a completion out of the block", |bench| {
        bench.completed[n].total() > came
    });
    bench.now() - taken
}

/// Returns the clocks per frame of this size, back to back. Nothing may be in flight, and no bus model pauses.
///
/// # Panics
/// If a frame does not come out.
pub fn measure_rate<M: Model>(bench: &mut AppBench<M>, flow: Flow, size: usize) -> f64 {
    for _ in 0..WARM_UP + FRAMES {
        flow.send(bench, size);
    }
    let start = flow.streams(bench).1.total();
    let mut wait = |frames| {
        bench.run_until(PATIENCE, "frames through the block", |bench| {
            flow.streams(bench).1.total() >= start + frames
        });
        bench.now()
    };
    let (first, last) = (wait(WARM_UP), wait(WARM_UP + FRAMES));
    bench.run_until(PATIENCE, "the end of the frames", |bench| bench.is_passed());
    (last - first) as f64 / FRAMES as f64
}

/// HERs before counting starts: more than all queues on their way hold.
const WORK_WARM_UP: u64 = 80;
/// HERs that are counted.
const COUNTED: u64 = 400;
/// Packets that wait at the wire, so that it is never idle.
const WAITING: usize = 40;
/// Clocks in which fewer packets than that go in.
const LOOK: u64 = 16;
/// Clocks in which all HERs of a measurement are taken.
const WORK_PATIENCE: u64 = 2_000_000;

/// Work of the stand-in for each packet of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// It frees the packet.
    Take,
    /// It sends the packet to the wire.
    Send,
    /// It copies the packet to host memory.
    Write,
    /// It reads 64 bytes of host memory.
    Read,
}

impl Work {
    /// All values.
    pub const ALL: [Self; 4] = [Self::Take, Self::Send, Self::Write, Self::Read];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Take => "matched packet to HER",
            Self::Send => "matched packet to HER to wire",
            Self::Write => "matched packet to host memory",
            Self::Read => "64 bytes of host memory to cluster",
        }
    }

    /// Returns whether the work uses host memory.
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

/// A block for [`measure_work`], without pauses around it.
pub fn prepare_work<M: Model>(sim: Simulation<M>, clocks: Clocks) -> AppBench<M> {
    let mut bench = AppBench::new(sim, clocks, &Stimulus::default());
    bench.bring_up(contexts(Work::Take));
    // Packets come faster than they are taken, so some are dropped.
    bench.model.complete = false;
    bench
}

/// Core clocks from one HER to the next when packets of that size come back to back, and Corundum's DMA takes `dma_clocks`
/// clocks until it moves bytes; nothing may be in flight.
///
/// The wire never pauses: what the cluster has no time for is dropped at the gate, and what is measured is the rate at
/// which HERs are taken.
///
/// # Panics
/// If HERs do not come, or anything that comes out is wrong.
pub fn measure_work<M: Model>(bench: &mut AppBench<M>, work: Work, size: usize, dma_clocks: u64) -> f64 {
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
        let deadline = bench.now() + WORK_PATIENCE;
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
    let (first, start) = feed(WORK_WARM_UP);
    let (last, end) = feed(WORK_WARM_UP + COUNTED);
    bench.model.read[0] = work == Work::Read;
    bench.settle();
    (end - start) as f64 / (last - first) as f64
}

/// HERs that were taken, and the clock; each look takes the same time, so the clocks between two are exact.
fn hers<M: Model>(bench: &mut AppBench<M>) -> (u64, u64) {
    let hers = bench.get(ingress::offset("hers")).into();
    (hers, bench.now())
}

fn contexts(work: Work) -> [Option<Context>; CONTEXTS] {
    std::array::from_fn(|number| Some(Context::new(number, work.actions())))
}
