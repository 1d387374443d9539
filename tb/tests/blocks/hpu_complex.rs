//! `hpu_complex`: the clusters as a whole. Random malicious handlers, with resets in full traffic, and resets of HPUs.

use spinneret_models::ComplexBench;
use spinneret_regmap::pspin::{HANDLER_BASE, L1_CONTEXTS, PROGRAM_BASE, l1_address};
use spinneret_sim::prelude::*;
use spinneret_tb::complex::{Resets, run_round};
use spinneret_tb::hpu::Program;

/// Packets of a round.
const PACKETS: u64 = 500;

fn round(run: &mut TestRun, resets: Resets) {
    let totals = run_round(run.simulation(), PACKETS, resets);
    let is_varied = [
        totals.handlers,
        totals.failed,
        totals.stopped,
        totals.sent,
        totals.bursts,
    ];
    assert!(is_varied.iter().all(|count| *count > 0), "{totals:?}");
    assert_eq!(totals.resets > 0, resets != Resets::None, "{totals:?}");
}

#[test]
fn malicious_handlers_reach_only_their_own() {
    run_test(0x0001_c0de, |run| round(run, Resets::None));
}

#[test]
fn clusters_are_reset_in_full_traffic() {
    run_test(0x0002_c0de, |run| round(run, Resets::Clusters));
}

#[test]
fn everything_is_reset_in_full_traffic() {
    run_test(0x0003_c0de, |run| round(run, Resets::All));
}

/// Hart 0 reads one word before it is reset, and another one afterwards.
#[test]
fn no_thread_gets_the_answer_of_one_before_its_reset() {
    const WORDS: [u32; 2] = [0x1111_1111, 0x2222_2222];
    let phase = l1_address(0, L1_CONTEXTS);
    let program = Program::assemble(&format!(
        "
        .org 0x80
            csrrs x3, mhartid, x0
            bne   x3, x0, stays
            li    x1, {phase}
            li    x2, {HANDLER_BASE}
            lw    x4, 0(x1)
            addi  x5, x4, 1
            sw    x5, 0(x1)
            slli  x4, x4, 6
            add   x2, x2, x4
            lw    x6, 0(x2)
            sw    x6, 4(x1)
        stays:
            j     stays
        "
    ));
    run_test(0x0004_c0de, |run| {
        let mut sim = run.simulation::<ComplexBench>();
        let host = sim.axi_master("host", MasterConfig::default());
        let write = |sim: &mut Simulation<ComplexBench>, address: u32, bytes: &[u8]| {
            host.write(WriteRequest::bytes(0, address.into(), bytes, 64));
            while !host.is_idle() {
                sim.cycle();
            }
            assert_eq!(host.take_writes().len(), 1);
        };
        sim.reset();
        let words: Vec<u8> = program.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        write(&mut sim, PROGRAM_BASE, &words);
        for (number, word) in (0..).zip(WORDS) {
            write(&mut sim, HANDLER_BASE + 64 * number, &word.to_le_bytes());
        }
        let mut seen = [0; 2];
        for clocks in 1..160 {
            write(&mut sim, phase, &[0; 8]);
            for (enable, length) in [(1_u64, clocks), (0, 1 + clocks % 3), (1, 400), (0, 10)] {
                sim.set("fetch_enable", enable);
                (0..length).for_each(|_| sim.cycle());
            }
            host.read(ReadRequest::bytes(0, phase.into(), 8, 64));
            while !host.is_idle() {
                sim.cycle();
            }
            let read = host.take_reads().remove(0).bytes();
            let [phase, word] =
                [0, 4].map(|at| u32::from_le_bytes(read[at..at + 4].try_into().expect("a word")));
            // It may be reset before it says that it has begun.
            assert!(phase == 1 || phase == 2, "phase {phase} after {clocks} clocks");
            assert_eq!(word, WORDS[phase as usize - 1], "after {clocks} clocks");
            seen[phase as usize - 1] += 1;
        }
        assert!(seen.iter().all(|count| *count > 10), "{seen:?}");
        sim.finish();
    });
}
