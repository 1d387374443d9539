//! Cycles of the host DMA, counted.

use super::behaviour::Behaviour;
use super::bench::HostDmaBench;
use spinneret_sim::axi::{ReadRequest, WriteRequest};
use spinneret_sim::model::Model;
use spinneret_sim::simulation::Simulation;

/// Where the writes of a measurement go.
const ADDRESS: u64 = 0x4000_0000;
/// How far behind them the reads come from.
const READS_BEHIND: u64 = 0x4000_0000;
/// Bytes that are moved each way before counting starts: twice what a ring holds.
const WARM_UP: u64 = 2 * 16384;
/// Bytes each way that are counted, at least.
const COUNTED: u64 = 256 * 1024;
/// Fewest bursts that are counted.
const BURSTS: u64 = 1000;

/// Bytes a clock, with writes and reads at the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Of writes.
    pub writes: f64,
    /// Of reads.
    pub reads: f64,
}

/// Clocks that a burst takes which is alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latencies {
    /// From the transfer of AW to that of B, for a write.
    pub write: u64,
    /// From the transfer of AR to that of the last R, for a read.
    pub read: u64,
}

/// A host DMA with a DMA of that latency; nobody pauses, and all windows are open.
fn bench<M: Model>(sim: Simulation<M>, latency: u64) -> HostDmaBench<M> {
    let mut bench = HostDmaBench::new(sim, Behaviour::latency(latency));
    bench.open_windows(ADDRESS);
    bench
}

/// Counts the bytes a clock of bursts of that many bytes, which is a power of two, with a DMA of that latency; the
/// clocks that were simulated come with it.
///
/// # Panics
/// If a burst is lost or changed.
pub fn rates<M: Model>(sim: Simulation<M>, bytes: u64, latency: u64) -> (Rates, u64) {
    let mut bench = bench(sim, latency);
    let warm_up = (WARM_UP / bytes).max(1);
    let counted = (COUNTED / bytes).max(BURSTS);
    let bus = bench.setup.beat_bytes as usize;
    let data: Vec<u8> = (0..bytes).map(|index| index as u8).collect();
    for number in 0..2 * warm_up + counted {
        let address = ADDRESS + number * bytes;
        bench.write(WriteRequest::bytes(number % 16, address, &data, bus));
        let address = address + READS_BEHIND;
        bench.read(ReadRequest::bytes(number % 16, address, bytes as usize, bus));
    }
    // From the answer before the first that counts to the last that does, while bursts of both kinds follow.
    let mut starts = [None; 2];
    let mut ends = [None; 2];
    while ends.contains(&None) {
        bench.cycle();
        let sent = (2 * warm_up + counted) as usize;
        for (half, left) in bench.under_way().into_iter().enumerate() {
            let answered = (sent - left) as u64;
            let cycle = bench.sim.cycle_count();
            if answered >= warm_up {
                starts[half].get_or_insert((answered, cycle));
            }
            if answered >= warm_up + counted {
                ends[half].get_or_insert((answered, cycle));
            }
        }
    }
    let rate = |half: usize| {
        let ((first, start), (last, end)) =
            (starts[half].unwrap_or_default(), ends[half].unwrap_or_default());
        ((last - first) * bytes) as f64 / (end - start) as f64
    };
    let rates = Rates {
        writes: rate(0),
        reads: rate(1),
    };
    bench.settle();
    let cycles = bench.sim.cycle_count();
    bench.finish();
    (rates, cycles)
}

/// Counts the clocks of a write and of a read of that many bytes, each alone; the clocks that were simulated come
/// with it.
///
/// # Panics
/// If one is lost or changed.
pub fn latencies<M: Model>(sim: Simulation<M>, bytes: u64, latency: u64) -> (Latencies, u64) {
    let mut bench = bench(sim, latency);
    let bus = bench.setup.beat_bytes as usize;
    let data: Vec<u8> = (0..bytes).map(|index| index as u8).collect();
    bench.write(WriteRequest::bytes(1, ADDRESS, &data, bus));
    bench.settle();
    bench.read(ReadRequest::bytes(1, ADDRESS, bytes as usize, bus));
    bench.settle();
    let write = bench
        .last_write
        .map(|done| done.response_cycle - done.address_cycle);
    let read = bench
        .last_read
        .as_ref()
        .map(|done| done.last_cycle - done.address_cycle);
    let latencies = Latencies {
        write: write.unwrap_or_default(),
        read: read.unwrap_or_default(),
    };
    let cycles = bench.sim.cycle_count();
    bench.finish();
    (latencies, cycles)
}
