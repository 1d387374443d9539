//! The AXI4 master and its monitors on the host DMA, as far as that goes without Corundum's DMA: bursts that
//! are refused, writes of nothing, and atomic operations.

use spinneret_models::{PspinHostmemDma, PspinHostmemDmaBoard, PspinHostmemDmaSmall};
use spinneret_sim::axi::ReadBeat;
use spinneret_sim::prelude::*;
use std::collections::BTreeMap;

spinneret_tb::each_model! {
    [PspinHostmemDma, PspinHostmemDmaBoard, PspinHostmemDmaSmall]:
        1 refused_bursts_are_answered_by_the_rules_of_axi;
}

/// Reads in a run, and writes.
const BURSTS: u64 = 300;

/// AWATOP of an atomic comparison.
const COMPARE: u8 = 0x31;

/// A burst that the host DMA has to refuse, whether or not AXI allows it.
fn refused(rng: &mut ChaCha8Rng, bus: u64) -> Burst {
    let good = Burst {
        id: rng.random_range(0..8),
        address: 4096 * rng.random_range(0..1 << 40),
        beats: rng.random_range(1..=16),
        size: bus,
        kind: BurstKind::Incrementing,
    };
    let (kind, beats) = match rng.random_range(0..5) {
        0 => (BurstKind::Fixed, good.beats),
        1 => (BurstKind::Wrapping, 2 << rng.random_range(0..4)),
        2 => (BurstKind::Reserved, good.beats),
        3 => {
            let (beats, size) = (rng.random_range(1..=256), 2 * bus);
            return Burst { beats, size, ..good };
        }
        _ => {
            let (beats, address) = (rng.random_range(2..=64), good.address + 4096 - bus);
            return Burst {
                address,
                beats,
                ..good
            };
        }
    };
    Burst { kind, beats, ..good }
}

/// A burst without a strobe, anywhere within 4 KiB.
fn empty(rng: &mut ChaCha8Rng, bus: u64) -> Burst {
    let beats = rng.random_range(1..=16);
    let offset = rng.random_range(0..=4096 - beats * bus);
    Burst {
        id: rng.random_range(0..8),
        address: 4096 * rng.random_range(0..1 << 40) + offset,
        beats,
        size: bus,
        kind: BurstKind::Incrementing,
    }
}

/// A write that goes nowhere, and the response that it has to get.
fn write(rng: &mut ChaCha8Rng, bus: u64, has_atomics: bool) -> (WriteRequest, Response) {
    let request = |burst: Burst, is_strobed: bool| {
        let strobes = |number| if is_strobed { burst.lanes(number, bus) } else { 0 };
        let beats = (0..burst.beats).map(|number| (vec![0xee; bus as usize], strobes(number)));
        WriteRequest::new(burst, beats.collect::<Vec<_>>())
    };
    match rng.random_range(0..if has_atomics { 3 } else { 2 }) {
        0 => (request(empty(rng, bus), false), Response::Okay),
        1 => (request(refused(rng, bus), true).illegal(), Response::SlaveError),
        _ => {
            let atop = [0x10, 0x20, 0x30, COMPARE][rng.random_range(0..4)];
            let burst = empty(rng, bus);
            // The compared and the new value are equally long.
            let beats = if atop == COMPARE {
                burst.beats / 2 * 2
            } else {
                burst.beats
            };
            let beats = beats.max(1);
            let request = request(Burst { beats, ..burst }, true);
            (request.atomic(atop), Response::SlaveError)
        }
    }
}

/// Random pauses of all channels.
fn pauses(rng: &mut ChaCha8Rng) -> MasterPauses {
    let mut pause = || Pause::Random {
        percent: rng.random_range(0..60),
    };
    MasterPauses {
        write_address: pause(),
        write_data: pause(),
        response: pause(),
        read_address: pause(),
        read_data: pause(),
    }
}

/// Sends bursts that end in the host DMA, and looks at what comes back.
fn refused_bursts_are_answered_by_the_rules_of_axi<M: Model>(run: &mut TestRun) {
    let mut sim: Simulation<M> = run.simulation();
    let mut rng = run.rng(M::NAME);
    let config = MasterConfig {
        pauses: pauses(&mut rng),
        skew: Skew::Random { most: 8 },
    };
    let has_atomics = sim.dut.instance().find("s_axi_awatop").is_some();
    let master = sim.axi_master("s_axi", config);
    sim.dut.set("ram_wr_cmd_ready", 3u8).expect("two segments");
    if sim.dut.instance().find("dma_rstn").is_some() {
        sim.dut.set("dma_rstn", 1u8).expect("one bit");
    }
    sim.reset();
    let bus = master.bus_bytes() as u64;
    let mut responses = BTreeMap::new();
    let mut loads = BTreeMap::new();
    for _ in 0..BURSTS {
        let (request, response) = write(&mut rng, bus, has_atomics);
        let (atop, beats) = (request.atop, request.burst.beats);
        let number = master.write(request);
        responses.insert(number, response);
        match atop {
            0x20 | 0x30 => loads.insert(number, beats),
            COMPARE => loads.insert(number, (beats / 2).max(1)),
            _ => None,
        };
        let read = refused(&mut rng, bus);
        loads.insert(master.read(ReadRequest::new(read).illegal()), read.beats);
    }
    compare(&mut sim, &master, responses, loads);
}

/// Waits for all answers; every burst has to get its response, and as many beats as it asks for.
fn compare<M: Model>(
    sim: &mut Simulation<M>,
    master: &AxiMaster,
    responses: BTreeMap<u64, Response>,
    loads: BTreeMap<u64, u64>,
) {
    let port = |name| sim.dut.instance().find(name).expect("a port of the host DMA");
    let [commands, done] = ["ram_wr_cmd_valid", "ram_wr_done"].map(port);
    let descriptors = ["m_axis_write_desc_valid", "m_axis_read_desc_valid"].map(port);
    let mut written = 0;
    while !master.is_idle() {
        // The RAM takes every command, and has done it in the cycle after.
        let dut = sim.dut.instance_mut();
        dut.set_value(done, written);
        written = dut.value(commands);
        sim.cycle();
        let is_idle = descriptors
            .iter()
            .all(|valid| !sim.dut.instance().is_high(*valid));
        assert!(is_idle, "{} gives a descriptor", M::NAME);
    }
    let writes = master.take_writes().into_iter();
    let seen: BTreeMap<_, _> = writes.map(|write| (write.number, write.response)).collect();
    assert_eq!(seen, responses, "writes of {}", M::NAME);
    let beats = |read: &ReadDone| {
        let failed =
            |beat: &&ReadBeat| beat.response == Response::SlaveError && beat.bytes.iter().all(|b| *b == 0);
        (read.number, read.beats.iter().filter(failed).count() as u64)
    };
    let seen: BTreeMap<_, _> = master.take_reads().iter().map(beats).collect();
    assert_eq!(seen, loads, "reads of {}", M::NAME);
}
