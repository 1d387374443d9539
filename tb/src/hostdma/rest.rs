//! The host DMA at rest: when nothing is under way, every byte and every counter is known.

use super::bench::HostDmaBench;
use super::counters::Counters;
use spinneret_sim::axi::{ReadRequest, WriteRequest};
use spinneret_sim::dma::{DmaFaults, Latency, Pause};
use spinneret_sim::model::Model;

/// Cycles in which something goes on, with the longest pauses of any test.
const PATIENCE: u64 = 10_000;
/// Cycles in which the counters come to rest.
const REST_CYCLES: u64 = 8;
/// Cycles in which a burst would be taken into use for which there is no room.
const FULL_CYCLES: u64 = 100;
/// Where the last bursts of a test go.
const FILL_ADDRESS: u64 = 0x5_0000_0000;

impl<M: Model> HostDmaBench<M> {
    /// Runs until every burst is answered; compares host memory and the counters.
    ///
    /// # Panics
    /// At the first difference, and if a burst is not answered.
    pub fn settle(&mut self) {
        self.wait_for_at_most([0, 0]);
        // What was in flight at a reset of this side has no burst any more, and is waited for as well.
        let deadline = self.sim.cycle_count() + PATIENCE;
        while self.write_model.drains() || self.read_model.drains() {
            assert!(
                self.sim.cycle_count() < deadline,
                "{}: old descriptors stay in flight",
                M::NAME
            );
            self.cycle();
        }
        self.compare();
    }

    /// Runs until at most so many writes and reads are under way.
    ///
    /// # Panics
    /// If bursts are not answered.
    pub fn wait_for_at_most(&mut self, [writes, reads]: [usize; 2]) {
        let (mut before, mut deadline) = (([0, 0], [0, 0]), 0);
        loop {
            let now = self.under_way();
            if now[0] <= writes && now[1] <= reads {
                return;
            }
            // A burst may have thousands of descriptors.
            let progress = (now, self.descriptors);
            if progress != before || deadline == 0 {
                (before, deadline) = (progress, self.sim.cycle_count() + PATIENCE);
            }
            assert!(
                self.sim.cycle_count() < deadline,
                "{}: {} writes and {} reads are not answered, {} and {} descriptors are in flight (seed {})",
                M::NAME,
                now[0],
                now[1],
                self.writes.in_flight(),
                self.reads.in_flight(),
                self.sim.seed()
            );
            self.cycle();
        }
    }

    /// Compares host memory and the counters when nothing is under way.
    fn compare(&mut self) {
        for dma in [&self.writes, &self.reads] {
            dma.set_strays(0);
        }
        self.run(REST_CYCLES);
        if let Err(difference) = self.host.check() {
            panic!("{}: {difference} (seed {})", M::NAME, self.sim.seed());
        }
        let expected = Counters {
            writes: self.write_model.counters,
            reads: self.read_model.counters,
        };
        assert_eq!(self.counters(), expected, "counters (seed {})", self.sim.seed());
        assert_eq!(self.ram_reads.stalls(), 0, "the RAM's data waits");
        for (dma, strays) in [(&self.writes, self.strays[0]), (&self.reads, self.strays[1])] {
            dma.set_strays(strays);
        }
    }

    /// All tags are in flight at the same time, and all lines of both rings are in use: nothing is lost, and nothing
    /// more is taken into use while as many bursts wait.
    ///
    /// The bursts are at this address and behind it, in a page of their own each.
    ///
    /// # Panics
    /// If something is lost.
    pub fn fill(&mut self, address: u64) {
        for dma in [&self.writes, &self.reads] {
            dma.set_faults(DmaFaults::Never);
            dma.set_pause(Pause::Never);
            dma.set_spread(0);
            dma.set_latency(Latency::exactly(PATIENCE / 2));
        }
        self.open_windows(address);
        let bus = self.setup.beat_bytes;
        let bytes = |transfers: u64| (self.setup.lines() / transfers * bus) as usize;
        let (written, read) = (bytes(self.setup.writes), bytes(self.setup.reads));
        let data: Vec<u8> = (0..written).map(|index| index as u8).collect();
        for number in 0..2 * self.setup.writes {
            self.write(WriteRequest::bytes(
                0,
                address + 4096 * number,
                &data,
                bus as usize,
            ));
        }
        let behind = address + 2 * 4096 * self.setup.writes;
        for number in 0..2 * self.setup.reads {
            self.read(ReadRequest::bytes(0, behind + 4096 * number, read, bus as usize));
        }
        let all = [self.setup.writes as usize, self.setup.reads as usize];
        let deadline = self.sim.cycle_count() + PATIENCE;
        while [self.writes.in_flight(), self.reads.in_flight()] != all {
            assert!(
                self.sim.cycle_count() < deadline,
                "tags or lines are lost: {} writes and {} reads are in flight of {all:?}",
                self.writes.in_flight(),
                self.reads.in_flight()
            );
            self.cycle();
        }
        self.run(FULL_CYCLES);
        for dma in [&self.writes, &self.reads] {
            dma.set_latency(Latency::exactly(0));
        }
        self.settle();
    }

    /// Ends the test: nothing may be left anywhere.
    ///
    /// # Panics
    /// If something is, or is wrong.
    pub fn finish(mut self) {
        self.settle();
        self.fill(FILL_ADDRESS);
        self.sim.finish();
    }
}
