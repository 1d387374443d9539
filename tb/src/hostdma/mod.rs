//! The host DMA, `pspin_hostmem_dma`, between bus models and its reference models.
//!
//! ```text
//! WriteRequest, ReadRequest -> AxiMaster -> [ host DMA ] -> CorundumDma -> HostMemory
//!                                                |  |
//!                                  two RamPorts -+  +- Counters
//!
//! WriteModel: pieces of bursts in the ring -> descriptors -> bytes in host memory, responses
//! ReadModel:  descriptors, beats
//! ```
//!
//! Every descriptor, status and answer is compared in the cycle in which it comes; host memory and the counters
//! are compared whenever nothing is in flight. The host DMA's [`Setup`] determines the expectations of the bench.

mod config;
mod plan;
mod read_model;
mod round;
mod write_model;

use crate::bench::Finish;
use read_model::ReadModel;
use spinneret_sim::dma::{RamPort, SegmentedRam, Status, Transfer};
use spinneret_sim::prelude::*;
use write_model::WriteModel;

pub use config::{Counters, Guard, HalfCounters, Setup, Stimulus, Window, stimuli};
pub use plan::{Piece, WritePlan, is_possible, span};
pub use round::{Latencies, Rates, Totals, Traffic, latencies, rates, run_round};

/// The host DMA with bus models on all its ports; all outputs are checked.
#[derive(Debug)]
pub struct HostDmaBench<M: Model> {
    /// The simulation; [`cycle`](Self::cycle) of the bench runs it.
    pub sim: Simulation<M>,
    /// Parameters of the host DMA.
    pub setup: Setup,
    /// The cluster; bursts are sent by [`write`](Self::write) and [`read`](Self::read) of the bench.
    pub cluster: AxiMaster,
    /// Host memory.
    pub host: HostMemory,
    /// The DMA that writes to the host.
    pub writes: CorundumDma,
    /// The DMA that reads from the host.
    pub reads: CorundumDma,
    /// The ports of the RAM that the host DMA writes.
    pub ram_writes: RamPort,
    /// The ports of the RAM that the host DMA reads.
    pub ram_reads: RamPort,
    /// The last write that was answered.
    pub last_write: Option<WriteDone>,
    /// The last read that was answered.
    pub last_read: Option<ReadDone>,
    /// Descriptors that were taken, of writes and of reads.
    pub descriptors: [u64; 2],
    write_model: WriteModel,
    read_model: ReadModel,
    /// Counters at the last reset that they outlived.
    counted_before: Counters,
    /// Rate of unsolicited statuses, of writes and of reads.
    unsolicited: [u32; 2],
    /// Transfers up to the last reset.
    taken: [[u64; 2]; 2],
    read_ram: SegmentedRam,
    guard: Option<Guard>,
}

impl<M: Model> HostDmaBench<M> {
    /// Puts bus models around a host DMA and resets it; the guard, if there is one, lets nothing pass.
    ///
    /// # Panics
    /// If the design lacks the ports of the host DMA.
    pub fn new(mut sim: Simulation<M>, stimulus: Stimulus) -> Self {
        let setup = Setup::of::<M>();
        sim.set_cycle_limit(u64::MAX);
        let stimulus = stimulus.fit(&setup);
        let host = HostMemory::new(sim.seed().0);
        let ram = || SegmentedRam::new(setup.ram, sim.seed());
        let (write_ram, read_ram) = (ram(), ram());
        let unsolicited = [stimulus.writes.unsolicited, stimulus.reads.unsolicited];
        let config = MasterConfig {
            pauses: stimulus.cluster,
            skew: stimulus.skew,
        };
        let bench = Self {
            cluster: sim.axi_master("s_axi", config),
            writes: sim.corundum_dma(Transfer::ToHost, &host, &write_ram, stimulus.writes),
            reads: sim.corundum_dma(Transfer::FromHost, &host, &read_ram, stimulus.reads),
            ram_writes: sim.ram_write_port("ram_wr", &write_ram, stimulus.ram_writes),
            ram_reads: sim.ram_read_port("ram_rd", &read_ram, stimulus.ram_reads),
            last_write: None,
            last_read: None,
            descriptors: [0; 2],
            write_model: WriteModel::new(setup),
            read_model: ReadModel::new(setup),
            counted_before: Counters::default(),
            unsolicited,
            taken: [[0; 2]; 2],
            guard: setup.windows.map(Guard::closed),
            read_ram,
            host,
            setup,
            sim,
        };
        let mut bench = bench;
        bench.reset();
        bench
    }

    /// Simulates a cycle and checks all outputs.
    ///
    /// # Panics
    /// At the first error.
    pub fn cycle(&mut self) {
        self.sim.cycle();
        let observed = self.observe();
        self.sim.expect(observed);
    }

    /// Simulates some cycles.
    pub fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.cycle();
        }
    }

    /// Changes the windows of the guard, if there is one; nothing may be inside. Those that are left out do not
    /// count.
    ///
    /// # Panics
    /// If there are more windows than contexts.
    pub fn set_windows(&mut self, windows: &[Window]) {
        let Some(guard) = &mut self.guard else { return };
        let own = &mut guard.windows;
        assert!(windows.len() <= own.len(), "{} windows", windows.len());
        own.fill(Window::default());
        own[..windows.len()].copy_from_slice(windows);
        let enabled = own
            .iter()
            .rev()
            .fold(0u8, |all, window| all << 1 | u8::from(window.enabled));
        let base: Vec<u8> = own.iter().flat_map(|window| window.base.to_le_bytes()).collect();
        let size: Vec<u8> = own.iter().flat_map(|window| window.size.to_le_bytes()).collect();
        self.sim.set("guard_enabled", enabled);
        self.sim.set_bytes("guard_base", &base);
        self.sim.set_bytes("guard_size", &size);
        self.run(4);
    }

    /// Chooses whether only the window of the context that asks counts, if there is a guard; nothing may be inside.
    /// While it does, every burst has to have a user signal.
    pub fn set_by_context(&mut self, by_context: bool) {
        let Some(guard) = &mut self.guard else { return };
        guard.by_context = by_context;
        self.sim.set("guard_by_context", by_context);
        self.run(4);
    }

    /// Lets everything pass the guard, if there is one, that is less than 3 GiB after that address.
    pub fn open_windows(&mut self, address: u64) {
        let base = address & !0x3fff_ffff;
        self.set_by_context(false);
        self.set_windows(&[Window::new(base, u32::MAX)]);
    }

    /// The guard, if there is one.
    pub fn guard(&self) -> Option<&Guard> {
        self.guard.as_ref()
    }

    /// Sends a write and records the prediction; returns its number.
    pub fn write(&mut self, request: WriteRequest) -> u64 {
        let beats = match request.atop {
            0b11_0001 => Some(request.burst.beats.div_ceil(2)),
            atop if atop & 0b10_0000 != 0 => Some(request.burst.beats),
            _ => None,
        };
        let number = self.cluster.write(request.clone());
        self.write_model.send(number, &request, self.guard.as_ref());
        if let Some(beats) = beats {
            self.read_model.send_atomic(number, beats);
        }
        number
    }

    /// Sends a read and records the prediction; returns its number.
    pub fn read(&mut self, request: ReadRequest) -> u64 {
        let number = self.cluster.read(request);
        self.read_model.send(number, &request, self.guard.as_ref());
        number
    }

    /// Writes and reads that were sent and are not answered.
    pub fn under_way(&self) -> [usize; 2] {
        [self.write_model.left(), self.read_model.left()]
    }

    /// Returns the counts since the last reset of either side.
    pub fn counters(&self) -> Counters {
        Counters::read(&self.sim).since(&self.counted_before)
    }

    /// Resets the host DMA in whatever it does, and Corundum's DMA with it; bursts that are not answered are
    /// forgotten.
    pub fn reset(&mut self) {
        self.set_dma_reset(true);
        self.sim.reset();
        self.set_dma_reset(false);
        self.forget();
        self.write_model.reset();
        self.read_model.reset();
        self.counted_before = Counters::default();
        // Writes in flight may or may not have reached memory.
        self.host.adopt();
    }

    /// Resets the host DMA alone, where Corundum's DMA has a reset of its own.
    ///
    /// # Panics
    /// If it has not.
    pub fn reset_alone(&mut self) {
        assert!(self.setup.drain, "{} is reset together with the DMA", M::NAME);
        let modelled = [self.write_model.counters.bursts, self.read_model.counters.bursts];
        self.sim.reset();
        // Counters go on; bursts that were answered inside and not yet at the port may have been counted.
        let counted = self.counters();
        for ((counted, modelled), left) in [counted.writes.bursts, counted.reads.bursts]
            .into_iter()
            .zip(modelled)
            .zip(self.under_way())
        {
            assert!(
                (modelled..=modelled + left as u64).contains(&counted),
                "{}: {counted} bursts are counted, {modelled} were answered and {left} were under way (seed {})",
                M::NAME,
                self.sim.seed()
            );
        }
        self.counted_before = Counters::read(&self.sim);
        self.forget();
        // A descriptor that was not taken stays valid.
        let offered = self.offered();
        self.write_model.reset_alone(offered[0]);
        self.read_model.reset_alone(offered[1]);
        let statuses = self.observe_statuses(|status| !status.unsolicited);
        if let Err(difference) = statuses {
            panic!("{}, in reset: {difference} (seed {})", M::NAME, self.sim.seed());
        }
        self.taken = self.taken();
    }

    /// Forgets what the cluster has sent.
    fn forget(&mut self) {
        self.cluster.clear();
        self.cluster.take_writes();
        self.cluster.take_reads();
    }

    /// Returns the addresses and beats that the host DMA has taken, of writes and of reads.
    fn taken(&self) -> [[u64; 2]; 2] {
        let writes = self.cluster.write_monitor().map(|monitor| monitor.counts());
        let reads = self.cluster.read_monitor().map(|monitor| monitor.counts());
        [
            writes.map_or([0; 2], |counts| [counts.address.beats, counts.data.beats]),
            reads.map_or([0; 2], |counts| [counts.address.beats, counts.data.beats]),
        ]
    }

    /// Returns whether a descriptor is valid, for writes and for reads.
    fn offered(&self) -> [bool; 2] {
        let dut = self.sim.dut.instance();
        [Transfer::ToHost, Transfer::FromHost].map(|transfer| {
            let [prefix, _] = transfer.prefixes();
            let valid = dut.find(&format!("{prefix}_valid"));
            valid.is_some_and(|port| dut.is_high(port))
        })
    }

    /// Puts Corundum's DMA into its own reset or takes it out, if it has one; only the host DMA sees it.
    pub fn hold_dma(&mut self, held: bool) {
        if self.setup.drain {
            self.sim.set("dma_rstn", !held);
        }
    }

    /// The same, and the models of the DMA and of the RAM forget what they do at the next reset.
    fn set_dma_reset(&mut self, reset: bool) {
        self.hold_dma(reset);
        if self.setup.drain {
            self.writes.set_survives_reset(!reset);
            self.reads.set_survives_reset(!reset);
            self.ram_writes.set_survives_reset(!reset);
            self.ram_reads.set_survives_reset(!reset);
        }
    }

    /// Checks new statuses. In reset, unsolicited statuses are not counted.
    fn observe_statuses(&mut self, counts: impl Fn(&Status) -> bool) -> Result<(), String> {
        while let Some(status) = self.writes.next_status() {
            if counts(&status) {
                self.write_model.status(&status)?;
            }
        }
        while let Some(status) = self.reads.next_status() {
            if counts(&status) {
                self.read_model.status(&status, &self.read_ram)?;
            }
        }
        Ok(())
    }

    /// Checks the outputs of the last cycle.
    fn observe(&mut self) -> Result<(), String> {
        while let Some(accepted) = self.writes.next_accepted() {
            self.descriptors[0] += 1;
            self.write_model.descriptor(&accepted, &self.host)?;
        }
        while let Some(accepted) = self.reads.next_accepted() {
            self.descriptors[1] += 1;
            self.read_model.descriptor(&accepted)?;
        }
        self.observe_statuses(|_| true)?;
        for done in self.cluster.take_writes() {
            self.write_model.response(&done)?;
            self.last_write = Some(done);
        }
        for done in self.cluster.take_reads() {
            self.read_model.done(&done, &self.host)?;
            self.last_read = Some(done);
        }
        let drains = [self.write_model.drains(), self.read_model.drains()];
        if drains != [false, false] {
            let (before, now) = (self.taken, self.taken());
            if (drains[0] && before[0] != now[0]) || (drains[1] && before[1] != now[1]) {
                return Err(
                    "something is taken while descriptors from before the reset are in flight".into(),
                );
            }
        }
        Ok(())
    }
}

/// Cycles in which something goes on, with the longest pauses of any test.
const PATIENCE: u64 = 10_000;
/// Cycles in which the counters come to rest.
const SETTLE_CYCLES: u64 = 8;
/// Cycles in which a burst would be taken into use for which there is no room.
const FULL_CYCLES: u64 = 100;
/// Address of the last bursts of a test.
const FILL_ADDRESS: u64 = 0x5_0000_0000;

impl<M: Model> HostDmaBench<M> {
    /// Runs until every burst is answered; compares host memory and the counters.
    ///
    /// # Panics
    /// At the first difference, and if a burst is not answered.
    pub fn settle(&mut self) {
        self.wait_for_at_most([0, 0]);
        // Wait also for transfers that outlived a reset of this side.
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

    /// Runs until at most this many writes and reads are in flight.
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

    /// Compares host memory and the counters when nothing is in flight.
    fn compare(&mut self) {
        for dma in [&self.writes, &self.reads] {
            dma.set_unsolicited(0);
        }
        self.run(SETTLE_CYCLES);
        if let Err(difference) = self.host.check() {
            panic!("{}: {difference} (seed {})", M::NAME, self.sim.seed());
        }
        let expected = Counters {
            writes: self.write_model.counters,
            reads: self.read_model.counters,
        };
        assert_eq!(self.counters(), expected, "counters (seed {})", self.sim.seed());
        assert_eq!(self.ram_reads.stalls(), 0, "the RAM's data waits");
        for (dma, unsolicited) in [
            (&self.writes, self.unsolicited[0]),
            (&self.reads, self.unsolicited[1]),
        ] {
            dma.set_unsolicited(unsolicited);
        }
    }

    /// All tags are in flight at the same time, and all lines of both rings are in use: nothing is lost, and nothing
    /// more is taken into use while as many bursts wait.
    ///
    /// The bursts are at this address and after it, in a page of their own each.
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
}

impl<M: Model> Finish for HostDmaBench<M> {
    fn finish(mut self) {
        self.settle();
        self.fill(FILL_ADDRESS);
        self.sim.finish();
    }
}
