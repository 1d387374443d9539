//! `AxiUpsizer`: random bursts byte by byte between a narrow master and a wide slave, by the rules of AXI on both sides, and each
//! line of its contract.

use spinneret_models::{AxiUpsizer, AxiUpsizer2, AxiUpsizer8};
use spinneret_sim::prelude::*;

spinneret_tb::each_model! {
    [AxiUpsizer, AxiUpsizer2, AxiUpsizer8]:
        1 bursts_arrive_byte_by_byte,
        2 a_burst_becomes_as_few_wide_beats_as_it_touches,
        3 one_narrow_beat_a_clock_passes_from_burst_to_burst,
        4 responses_are_those_of_the_wide_beats,
        5 a_reset_discards_everything;
}

/// Bursts of each kind in a run.
const BURSTS: usize = 100;
/// Bytes of memory that bursts use, from address 0.
const BYTES: u64 = 2 * 4096;
/// No burst touches two blocks of this size.
const BOUNDARY: u64 = 4096;

struct Tb<M: Model> {
    sim: Simulation<M>,
    master: AxiMaster,
    writes: AxiSlave,
    reads: AxiSlave,
    rng: ChaCha8Rng,
}

impl<M: Model> Tb<M> {
    fn new(run: &mut TestRun, pauses: MasterPauses, slave: &SlaveConfig) -> Self {
        let mut sim: Simulation<M> = run.simulation();
        let skew = Skew::Random { most: 3 };
        let master = sim.axi_master("s", MasterConfig { pauses, skew });
        let writes = sim.axi_write_slave("m", slave.clone());
        let shared = writes.shared_memory();
        let reads = AxiSlave::attach(&mut sim, "m", Half::Read, slave.clone(), shared).expect("a master");
        sim.reset();
        Self {
            master,
            writes,
            reads,
            rng: sim.rng("bursts"),
            sim,
        }
    }

    /// No side pauses, and the slave answers after a clock.
    fn fast(run: &mut TestRun) -> Self {
        let tb = Self::new(run, MasterPauses::default(), &SlaveConfig::default());
        tb.master.set_skew(Skew::Random { most: 0 });
        tb
    }

    /// Bytes of a narrow beat, and of a wide one.
    fn widths(&self) -> [u64; 2] {
        let bytes = |port| {
            self.sim
                .dut
                .instance()
                .find(port)
                .map_or(0, |port| port.width() as u64 / 8)
        };
        [bytes("s_wdata"), bytes("m_wdata")]
    }

    /// A burst with the port's width from any address on, of at most that many beats.
    fn burst(&mut self, most: u64) -> Burst {
        let size = self.widths()[0];
        let address = self.rng.random_range(0..BYTES);
        let room = (BOUNDARY - address % BOUNDARY).div_ceil(size);
        Burst {
            id: self.rng.random_range(0..2),
            address,
            beats: self.rng.random_range(1..=room.min(most)),
            size,
            kind: BurstKind::Incrementing,
        }
    }

    /// A write of random bytes, some of them without strobes.
    fn write(&mut self, burst: Burst) -> WriteRequest {
        let bus = burst.size;
        let rng = &mut self.rng;
        let beats = (0..burst.beats).map(|number| {
            let bytes = (0..bus).map(|_| rng.random()).collect();
            let strobes = if rng.random() { rng.random() } else { u128::MAX };
            (bytes, strobes & burst.lanes(number, bus))
        });
        let beats: Vec<_> = beats.collect();
        WriteRequest::new(burst, beats)
    }

    /// Ends the test; nothing is left but what the bus models recorded.
    fn end(self) {
        self.master.take_writes();
        self.master.take_reads();
        self.writes.take_bursts();
        self.reads.take_bursts();
        self.sim.finish();
    }

    fn wait(&mut self) {
        while !self.master.is_idle() {
            self.sim.cycle();
        }
    }
}

fn some(rng: &mut ChaCha8Rng) -> Pause {
    Pause::Random {
        percent: 25 * rng.random_range(0..4),
    }
}

fn bursts_arrive_byte_by_byte<M: Model>(run: &mut TestRun) {
    let mut rng = run.rng("pauses");
    for _ in 0..8 {
        let pauses = MasterPauses {
            write_address: some(&mut rng),
            write_data: some(&mut rng),
            response: some(&mut rng),
            read_address: some(&mut rng),
            read_data: some(&mut rng),
        };
        let slave = SlaveConfig {
            address: some(&mut rng),
            data: some(&mut rng),
            latency: Latency { least: 1, most: 20 },
            ..SlaveConfig::default()
        };
        let mut tb = Tb::<M>::new(run, pauses, &slave);
        let mut expected = Memory::default();
        let known: Vec<u8> = (0..BYTES).map(|_| rng.random()).collect();
        expected.fill(0, &known);
        tb.reads.memory_mut().fill(0, &known);
        for _ in 0..BURSTS {
            let burst = tb.burst(24);
            let write = tb.write(burst);
            for (number, beat) in (0..).zip(&write.beats) {
                let address = burst.beat_address(number);
                expected.write(address - address % burst.size, &beat.bytes, beat.strobes);
            }
            tb.master.write(write);
        }
        tb.wait();
        assert_eq!(tb.master.take_writes().len(), BURSTS);
        let bytes = BYTES as usize;
        assert_eq!(tb.reads.memory_mut().read(0, bytes), expected.read(0, bytes));
        for _ in 0..BURSTS {
            let burst = tb.burst(24);
            tb.master.read(ReadRequest::new(burst));
        }
        tb.wait();
        let done = tb.master.take_reads();
        assert_eq!(done.len(), BURSTS);
        for read in &done {
            let burst = read.burst;
            let mut wanted = Vec::new();
            for number in 0..burst.beats {
                let count = burst.lane_range(number, burst.size).len();
                wanted.extend(expected.read(burst.beat_address(number), count));
            }
            let seen: Vec<_> = read.bytes().into_iter().map(Some).collect();
            assert_eq!(seen, wanted, "{burst:x?}");
        }
        tb.end();
    }
}

fn a_burst_becomes_as_few_wide_beats_as_it_touches<M: Model>(run: &mut TestRun) {
    let mut tb = Tb::<M>::fast(run);
    let [_, wide] = tb.widths();
    let bursts: Vec<_> = (0..50).map(|_| tb.burst(256)).collect();
    for burst in &bursts {
        let write = tb.write(*burst);
        tb.master.write(write);
        tb.master.read(ReadRequest::new(*burst));
    }
    tb.wait();
    for slave in [&tb.writes, &tb.reads] {
        let seen: Vec<_> = slave.take_bursts().iter().map(|seen| seen.burst).collect();
        let wanted = bursts.iter().map(|burst| {
            let narrow = burst.size;
            let first = burst.address - burst.address % wide;
            let end = burst.address - burst.address % narrow + burst.beats * narrow;
            Burst {
                address: first,
                beats: (end - first).div_ceil(wide),
                size: wide,
                ..*burst
            }
        });
        assert_eq!(seen, wanted.collect::<Vec<_>>());
    }
    tb.end();
}

fn one_narrow_beat_a_clock_passes_from_burst_to_burst<M: Model>(run: &mut TestRun) {
    let mut tb = Tb::<M>::fast(run);
    let [narrow, wide] = tb.widths();
    let beats = 2 * wide / narrow;
    let burst = |number: u64| Burst {
        id: 0,
        address: number * beats * narrow % BYTES,
        beats,
        size: narrow,
        kind: BurstKind::Incrementing,
    };
    for number in 0..40 {
        let write = tb.write(burst(number));
        tb.master.write(write);
    }
    let start = tb.sim.cycle_count();
    tb.wait();
    let writing = tb.sim.cycle_count() - start;
    assert!(
        writing <= 40 * beats + 10,
        "{writing} clocks for {} beats",
        40 * beats
    );
    for number in 0..40 {
        tb.master.read(ReadRequest::new(burst(number)));
    }
    let start = tb.sim.cycle_count();
    tb.wait();
    let reading = tb.sim.cycle_count() - start;
    assert!(
        reading <= 40 * beats + 10,
        "{reading} clocks for {} beats",
        40 * beats
    );
    tb.end();
}

fn responses_are_those_of_the_wide_beats<M: Model>(run: &mut TestRun) {
    let mut tb = Tb::<M>::fast(run);
    let [narrow, wide] = tb.widths();
    // The second of four wide beats fails.
    let faults = Faults::At(vec![(wide..=2 * wide - 1, Response::DecodeError)]);
    tb.writes.set_faults(faults.clone());
    tb.reads.set_faults(faults);
    tb.reads.memory_mut().fill(0, &vec![7; 4 * wide as usize]);
    let burst = |address, beats| Burst {
        id: 1,
        address,
        beats,
        size: narrow,
        kind: BurstKind::Incrementing,
    };
    let lanes = wide / narrow;
    tb.master.read(ReadRequest::new(burst(0, 4 * lanes)));
    for first in [0, wide] {
        let write = tb.write(burst(first, lanes));
        tb.master.write(write);
    }
    tb.wait();
    let read = tb.master.take_reads().remove(0);
    for (number, beat) in (0..).zip(&read.beats) {
        let wanted = match number / lanes {
            1 => Response::DecodeError,
            _ => Response::Okay,
        };
        assert_eq!(beat.response, wanted, "beat {number}");
    }
    let responses: Vec<_> = tb
        .master
        .take_writes()
        .iter()
        .map(|write| write.response)
        .collect();
    assert_eq!(responses, [Response::Okay, Response::DecodeError]);
    tb.end();
}

fn a_reset_discards_everything<M: Model>(run: &mut TestRun) {
    for clocks in 1..30 {
        let mut tb = Tb::<M>::fast(run);
        for _ in 0..3 {
            let burst = tb.burst(8);
            let write = tb.write(burst);
            tb.master.write(write);
            tb.master.read(ReadRequest::new(burst));
        }
        tb.sim.run(clocks);
        // The bus models begin again with the reset, and know nothing of what was under way.
        tb.sim.reset();
        tb.master.clear();
        tb.sim.run(40);
        let burst = tb.burst(8);
        let write = tb.write(burst);
        tb.master.write(write.clone());
        tb.wait();
        for (number, beat) in (0..).zip(&write.beats) {
            let address = burst.beat_address(number);
            let first = address - address % burst.size;
            for lane in (0..burst.size).filter(|lane| beat.strobes >> lane & 1 == 1) {
                let found = tb.reads.memory_mut().byte(first + lane);
                assert_eq!(
                    found,
                    Some(beat.bytes[lane as usize]),
                    "reset after {clocks} clocks"
                );
            }
        }
        tb.end();
    }
}
