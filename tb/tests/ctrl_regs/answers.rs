//! Responses to every kind of access.

use crate::{answer, calm};
use spinneret_models::{PspinCtrlRegs, PspinCtrlRegsBoard, PspinCtrlRegsOdd};
use spinneret_regmap::bar::CONTROL_REGISTERS;
use spinneret_regmap::{caps, cl, events, guard, me, reset_word, stats};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::case;
use spinneret_tb::regs::{Activity, Bench};

spinneret_tb::each_model! {
    [PspinCtrlRegs, PspinCtrlRegsBoard, PspinCtrlRegsOdd]:
        1 registers_begin_with_what_the_table_says,
        1 bytes_are_written_by_their_strobes,
        1 illegal_accesses_are_refused_without_effect,
        1 the_lowest_two_bits_of_an_address_are_ignored,
        1 every_word_of_the_window_is_at_one_address_only,
        2 addresses_beyond_the_window_reach_nothing;
}

const OKAY: Response = Response::Okay;
const ERROR: Response = Response::SlaveError;

fn registers_begin_with_what_the_table_says<M: Model>(run: &mut TestRun) {
    let mut bench = calm::<M>(run);
    assert_eq!(
        answer(bench.read(cl::AUX_RESET)),
        (1, OKAY),
        "clusters are held in reset"
    );
    assert_eq!(
        answer(bench.read(me::START.offset)),
        (1, OKAY),
        "rules match nothing"
    );
    for offset in bench.layout.words() {
        if let Some(value) = reset_word(offset) {
            assert_eq!(answer(bench.read(offset)), (value.into(), OKAY), "{offset:#x}");
        }
    }
    // The same after a reset in the middle of everything.
    for offset in bench.layout.words() {
        bench.master.write(LiteWrite::new(offset.into(), 0xffff_ffff));
    }
    bench.settle();
    bench.master.take_writes();
    bench.sim.reset();
    for offset in bench.layout.words() {
        if let Some(value) = reset_word(offset) {
            assert_eq!(answer(bench.read(offset)), (value.into(), OKAY), "{offset:#x}");
        }
    }
}

fn bytes_are_written_by_their_strobes<M: Model>(run: &mut TestRun) {
    let mut bench = calm::<M>(run);
    let offset = me::MASK.offset;
    let mut expected = 0_u64;
    for strobes in 0..16_u8 {
        let data = 0x0101_0101 * u64::from(strobes + 1);
        let write = LiteWrite::new(offset.into(), data).strobed(strobes);
        assert_eq!(bench.write_with(write).response, OKAY, "strobes {strobes:04b}");
        for byte in (0..4).filter(|byte| strobes >> byte & 1 == 1) {
            expected = expected & !(0xff << (8 * byte)) | data & 0xff << (8 * byte);
        }
        assert_eq!(
            answer(bench.read(offset)),
            (expected, OKAY),
            "strobes {strobes:04b}"
        );
    }
    let nothing = LiteWrite::new(offset.into(), 0).strobed(0);
    assert_eq!(bench.write_with(nothing).response, OKAY);
    assert_eq!(answer(bench.read(offset)), (expected, OKAY));
    let nowhere = LiteWrite::new(0x0010, 0).strobed(0);
    assert_eq!(
        bench.write_with(nowhere).response,
        ERROR,
        "there is no such register"
    );
}

fn illegal_accesses_are_refused_without_effect<M: Model>(run: &mut TestRun) {
    let mut bench = calm::<M>(run);
    let read_only = [
        cl::FIFO.offset,
        stats::CLUSTER.offset,
        stats::MPQ.offset,
        stats::EGRESS_DMA_ERROR,
    ];
    for offset in read_only {
        assert_eq!(bench.write(offset, u32::MAX).response, ERROR, "{offset:#x}");
        assert_eq!(bench.read(offset).response, OKAY, "{offset:#x}");
    }
    for offset in [
        0x0010, 0x0020, 0x0ffc, 0x1018, 0x2154, 0x3014, 0x4130, 0x5048, 0xf054, 0xfffc,
    ] {
        assert_eq!(bench.write(offset, u32::MAX).response, ERROR, "{offset:#x}");
        assert_eq!(answer(bench.read(offset)), (0, ERROR), "{offset:#x}");
    }
    // In the public design the second of these is another address of the first.
    assert_eq!(answer(bench.read(me::VALID.offset)), (0, OKAY));
}

fn the_lowest_two_bits_of_an_address_are_ignored<M: Model>(run: &mut TestRun) {
    let mut bench = calm::<M>(run);
    let offset = me::IDX.offset;
    for low in 0..4 {
        let data = 0x1234_5670 + u64::from(low);
        assert_eq!(bench.write(offset + low, data as u32).response, OKAY);
        assert_eq!(answer(bench.read(offset + 3 - low)), (data, OKAY));
    }
}

#[test]
fn the_drop_in_has_none_of_the_extensions() {
    case(1, calm::<PspinCtrlRegs>, |bench| {
        let extensions = [cl::STATUS.offset, stats::ERROR_CLEAR.offset, 0x1100, 0x130c];
        let others = [
            me::RELATIVE.offset,
            guard::ENFORCE.offset,
            guard::BY_CONTEXT.offset,
            events::PENDING.offset,
            caps::MAGIC.offset,
        ];
        for offset in extensions.into_iter().chain(others) {
            assert_eq!(answer(bench.read(offset)), (0, ERROR), "{offset:#x}");
            assert_eq!(bench.write(offset, 1).response, ERROR, "{offset:#x}");
        }
    });
}

/// Constants that a model was generated with.
fn constants<M: Model>(run: &mut TestRun, expected: &[(&str, u64)]) {
    let mut bench = calm::<M>(run);
    assert_eq!(answer(bench.read(0xf000)), (0x4e49_5053, OKAY), "SPIN");
    assert_eq!(answer(bench.read(0xf004)), (0x0001_0300, OKAY), "version");
    for (name, value) in expected {
        let offset = caps::offset(name).expect("the table has it");
        assert_eq!(answer(bench.read(offset)), (*value, OKAY), "{name}");
        assert_eq!(bench.write(offset, 0).response, ERROR, "{name}");
    }
}

#[test]
fn constants_are_those_of_the_generated_hardware() {
    run_test(1, |run| {
        let common = [
            ("rulesets", 4),
            ("rules", 4),
            ("contexts", 4),
            ("data_width", 512),
            ("mtu", 1500),
            ("inspected_bytes", 66),
            ("buffer_base", 0x1c10_0000),
            ("buffer_size", 524_288),
            ("large_slots", 256),
            ("large_slot_size", 1536),
            ("small_slots", 1024),
            ("small_slot_size", 128),
            ("message_id_width", 10),
            ("host_tags", 64),
            ("cluster_clock_khz", 40_000),
        ];
        constants::<PspinCtrlRegsBoard>(run, &common);
        constants::<PspinCtrlRegsOdd>(run, &common);
        let board = [
            ("features", 0x5f),
            ("clusters", 2),
            ("mpqs", 16),
            ("core_clock_khz", 250_000),
        ];
        constants::<PspinCtrlRegsBoard>(run, &board);
        let odd = [
            ("features", 0x2a),
            ("clusters", 5),
            ("mpqs", 9),
            ("core_clock_khz", 322_265),
        ];
        constants::<PspinCtrlRegsOdd>(run, &odd);
    });
}

#[test]
fn live_registers_show_their_inputs() {
    case(1, calm::<PspinCtrlRegsBoard>, |bench| {
        bench.sim.set("cl_eoc_i", 2_u32);
        bench.sim.set("cl_busy_i", 1_u32);
        bench.sim.set("mpq_full_i", 0x8001_u32);
        bench
            .sim
            .dut
            .set("alloc_dropped_pkts", 0x1234_5678_u32)
            .expect("an input");
        bench
            .sim
            .dut
            .set("egress_dma_last_error", 0xb_u32)
            .expect("an input");
        bench.sim.set("cluster_running", 1_u32);
        bench.sim.set("cluster_held", 0_u32);
        // Every counter shows its place, the first is 1.
        let counters: Vec<u8> = (1..=62_u32).flat_map(u32::to_le_bytes).collect();
        let port = bench.sim.dut.instance().find("counters").expect("an input");
        bench.sim.dut.instance_mut().set_bytes(port, &counters);
        let expected = [
            (0x000c, 1),
            (0x1000, 2),
            (0x1004, 1),
            (0x1008, 0x8001),
            (0x100c, 0x1234_5678),
            (0x1010, 0xb),
            (0x1100, 1),
            (0x1140, 17),
            (0x1150, 21),
            (0x1180, 22),
            (0x1190, 26),
            (0x1200, 29),
            (0x1238, 43),
            (0x1280, 44),
            (0x12b8, 58),
            (0x1300, 59),
            (0x130c, 62),
        ];
        for (offset, value) in expected {
            assert_eq!(answer(bench.read(offset)), (value, OKAY), "{offset:#x}");
        }
        bench.sim.set("cluster_held", 1_u32);
        assert_eq!(answer(bench.read(cl::STATUS.offset)), (3, OKAY));
    });
}

/// Writes every word with a value of its own, then reads every word: an alias would show in the outputs, which
/// are compared in every clock, and in what is read.
fn every_word_of_the_window_is_at_one_address_only<M: Model>(run: &mut TestRun) {
    let activity = Activity {
        live_percent: 100,
        stdout_percent: 0,
    };
    let mut bench = Bench::with(run.simulation::<M>(), Default::default(), activity);
    let offsets: Vec<u32> = (0..CONTROL_REGISTERS.size_bytes).step_by(4).collect();
    for offset in &offsets {
        let data = u64::from(offset.wrapping_mul(0x9e37_79b1));
        bench.master.write(LiteWrite::new((*offset).into(), data));
        bench.master.read(LiteRead::new((*offset).into()));
    }
    bench.settle();
    let okay = |responses: Vec<Response>| responses.iter().filter(|r| **r == Response::Okay).count();
    let reads = bench
        .master
        .take_reads()
        .iter()
        .map(|done| done.response)
        .collect();
    let writes = bench
        .master
        .take_writes()
        .iter()
        .map(|done| done.response)
        .collect();
    let (written, read) = match bench.layout.is_extended() {
        // Without the words that are read only: cl.fifo, cl.status, stats, counters, slots.used, events.sent, constants.
        true => (152 + 1 + 16 + 1 + 17 + 4 + 3, 158 + 2 + 62 + 16 + 18 + 8 + 4 + 21),
        false => (152, 158),
    };
    assert_eq!((okay(writes), okay(reads)), (written, read));
    // Once more, with all of them holding what was written.
    for offset in &offsets {
        bench.master.read(LiteRead::new((*offset).into()));
    }
    bench.settle();
    assert_eq!(bench.master.take_reads().len(), offsets.len());
}

/// Addresses with a bit more than the window has reach nothing, also where the same offset in the window has a register.
fn addresses_beyond_the_window_reach_nothing<M: Model>(run: &mut TestRun) {
    let mut bench = calm::<M>(run);
    for bit in 16..bench.layout.address_width {
        for offset in bench.layout.words() {
            let address = u64::from(offset | 1 << bit);
            bench.master.write(LiteWrite::new(address, 0xffff_ffff));
            bench.master.read(LiteRead::new(address));
        }
        bench.settle();
        assert!(
            bench
                .master
                .take_writes()
                .iter()
                .all(|done| done.response == Response::SlaveError)
        );
        let reads = bench.master.take_reads();
        assert!(
            reads
                .iter()
                .all(|done| (done.response, done.data) == (Response::SlaveError, 0))
        );
    }
}
