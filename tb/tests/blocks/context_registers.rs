//! `context_registers`: random lines against a model, in which every clock is compared.

use spinneret_hdl::hpu::cluster::{LINE_BYTES, READ_CLOCKS};
use spinneret_models::ContextRegisters;
use spinneret_regmap::{CONTEXTS, Register, pspin, shares};
use spinneret_sim::prelude::*;
use std::collections::VecDeque;

/// Words of a line.
const WORDS: usize = LINE_BYTES / 4;

/// The word of a register in the line of its context.
fn place(register: &Register) -> usize {
    register.offset as usize / 4
}

/// A line: mostly one of a context, else one around them or in a memory.
fn line(rng: &mut ChaCha8Rng) -> u32 {
    let of_context = shares::BASE + shares::STRIDE * rng.random_range(0..CONTEXTS);
    let address = match rng.random_range(0..10) {
        0 => shares::BASE + shares::STRIDE * CONTEXTS,
        1 => shares::BASE + (1 << rng.random_range(9..20)),
        2 => pspin::PROGRAM_BASE,
        3 => pspin::HANDLER_BASE + 64 * rng.random_range(0..4096),
        4 => pspin::L1_BASE,
        _ => of_context,
    };
    address / LINE_BYTES as u32
}

/// The context of a line; none if the line is in a memory, `Err` if there is nothing.
fn context(line: u32) -> Result<Option<usize>, ()> {
    let address = line * LINE_BYTES as u32;
    let number = address.wrapping_sub(shares::BASE) / shares::STRIDE;
    let is_around = address & pspin::PROGRAM_BASE == pspin::PROGRAM_BASE && address & 0x20_0000 != 0;
    match (is_around, number < CONTEXTS) {
        (true, true) => Ok(Some(number as usize)),
        (true, false) => Err(()),
        (false, _) => Ok(None),
    }
}

fn set_words(sim: &mut Simulation<ContextRegisters>, port: &str, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    sim.set_bytes(port, &bytes);
}

fn words(sim: &Simulation<ContextRegisters>, port: &str, count: usize) -> Vec<u32> {
    let mut words = sim.dut.get(port).expect("there is such a port").to_u32_digits();
    words.resize(count, 0);
    words
}

/// How often something was seen.
#[derive(Debug, Default)]
struct Seen {
    settings: u32,
    refused: u32,
    passed: u32,
    read: u32,
}

#[test]
fn lines_are_those_of_the_model() {
    run_test(0x0001_c0e7, |run| {
        let mut rng = run.rng("lines");
        let mut sim = run.simulation::<ContextRegisters>();
        sim.set_cycle_limit(u64::MAX);
        sim.reset();
        let mut settings = vec![[1, pspin::HANDLER_CLOCKS, 0]; CONTEXTS as usize];
        // Settings as reads of this clock and the next one see them.
        let mut seen_by_reads = VecDeque::from([settings.clone(), settings.clone()]);
        let mut setting: Option<(usize, [Option<u32>; 3])> = None;
        // Reads that were accepted, with the clock and the context if there is such a context.
        let mut reads: VecDeque<(u64, Option<usize>)> = VecDeque::new();
        let mut seen = Seen::default();
        let counters: Vec<Vec<u32>> = (0..CONTEXTS)
            .map(|_| (0..5).map(|_| rng.random()).collect())
            .collect();
        let bytes: Vec<[u64; 3]> = (0..CONTEXTS).map(|_| rng.random()).collect();
        for now in 0..20_000_u64 {
            if rng.random_range(0..2000) == 0 {
                // A reset keeps the settings.
                sim.set("write_valid", false);
                sim.set("read_valid", false);
                (0..READ_CLOCKS + 2).for_each(|_| sim.cycle());
                sim.reset();
                (setting, reads) = (None, VecDeque::new());
                seen_by_reads = VecDeque::from([settings.clone(), settings.clone()]);
            }
            let [written, read] = [line(&mut rng), line(&mut rng)];
            let data: Vec<u32> = (0..WORDS)
                .map(|_| rng.random::<u32>() >> rng.random_range(0..32))
                .collect();
            let strobe: u64 = rng.random::<u64>() | rng.random::<u64>() | rng.random::<u64>();
            let [writes, asks, ready, fails] = [0.7, 0.7, 0.6, 0.2].map(|some| rng.random_bool(some));
            for (port, value) in [
                ("write_valid", u64::from(writes)),
                ("write_line", written.into()),
                ("write_strobe", strobe),
                ("read_valid", asks.into()),
                ("read_line", read.into()),
                ("m_write_ready", ready.into()),
                ("m_write_failed", fails.into()),
                ("m_read_ready", ready.into()),
                ("m_read_failed", fails.into()),
            ] {
                sim.set(port, value);
            }
            set_words(&mut sim, "write_data", &data);
            // Data of memories, which are 0 in other clocks.
            let due = reads.front().filter(|(at, _)| *at == now).copied();
            let memory: Vec<u32> = match due {
                Some((_, None)) => (0..WORDS).map(|_| rng.random()).collect(),
                _ => vec![0; WORDS],
            };
            sim.set("m_read_data_valid", matches!(due, Some((_, None))));
            set_words(&mut sim, "m_read_data", &memory);
            sim.dut.eval();
            let asked = sim.get("totals_context") as usize;
            set_words(&mut sim, "totals_words", &counters[asked]);
            for (number, bytes) in bytes[asked].iter().enumerate() {
                assert_eq!(sim.get(&format!("bytes_{number}_context")) as usize, asked);
                sim.set(&format!("bytes_{number}_bytes"), *bytes);
            }
            sim.dut.eval();

            for (port, line, is_valid) in [("write", written, writes), ("read", read, asks)] {
                let get = |name: &str| sim.get(&format!("{port}_{name}")) == 1;
                let passes = sim.get(&format!("m_{port}_valid")) == 1;
                let expected = match context(line) {
                    Ok(Some(_)) => (true, false, false),
                    Err(()) => (true, true, false),
                    Ok(None) => (ready, fails, is_valid),
                };
                assert_eq!(
                    (get("ready"), get("failed"), passes),
                    expected,
                    "{port} of line {line:#x}"
                );
                seen.refused += u32::from(is_valid && context(line).is_err());
                seen.passed += u32::from(passes);
            }
            let shown = ["weight", "budget", "rate"].map(|name| {
                let is_set = sim.get(&format!("{name}_write")) == 1;
                is_set.then(|| sim.get(&format!("{name}_value")) as u32)
            });
            let at = sim.get("weight_context") as usize;
            for name in ["budget_context", "rate_context"] {
                assert_eq!(at, sim.get(name) as usize);
            }
            match setting.take() {
                Some((context, values)) => assert_eq!((at, shown), (context, values)),
                None => assert_eq!(shown, [None; 3]),
            }
            if let Some((_, of)) = due {
                reads.pop_front();
                let mut expected = memory;
                if let Some(context) = of {
                    expected = vec![0; WORDS];
                    let [weight, budget, rate] = seen_by_reads[0][context];
                    expected[place(&shares::EGRESS_RATE)] = rate;
                    let totals = [&shares::HOST_WRITTEN, &shares::HOST_READ, &shares::SENT];
                    for (register, bytes) in totals.into_iter().zip(bytes[context]) {
                        expected[place(register)] = bytes as u32;
                        expected[place(register) + 1] = (bytes >> 32) as u32;
                    }
                    expected[place(&shares::WEIGHT)] = weight;
                    expected[place(&shares::BUDGET)] = budget;
                    expected[place(&shares::TASKS)..][..5].copy_from_slice(&counters[context]);
                    seen.read += 1;
                }
                assert_eq!(words(&sim, "read_data", WORDS), expected);
            }
            assert_eq!(sim.get("read_data_valid") == 1, due.is_some());

            seen_by_reads.push_back(settings.clone());
            seen_by_reads.pop_front();
            let accepted = |line| match context(line) {
                Ok(Some(context)) => Some(Some(context)),
                Ok(None) if ready && !fails => Some(None),
                _ => None,
            };
            if asks && let Some(of) = accepted(read) {
                reads.push_back((now + READ_CLOCKS as u64, of));
            }
            if writes && let Ok(Some(context)) = context(written) {
                let is_whole = |register| strobe >> (4 * place(register)) & 15 == 15;
                let weight = data[place(&shares::WEIGHT)] & shares::MAX_WEIGHT;
                let values = [
                    (is_whole(&shares::WEIGHT) && weight != 0).then_some(weight),
                    is_whole(&shares::BUDGET).then_some(data[place(&shares::BUDGET)]),
                    is_whole(&shares::EGRESS_RATE)
                        .then_some(data[place(&shares::EGRESS_RATE)] & shares::EGRESS_RATE.bits.mask(0)),
                ];
                for (setting, value) in settings[context].iter_mut().zip(values) {
                    *setting = value.unwrap_or(*setting);
                }
                setting = Some((context, values));
                seen.settings += u32::from(values != [None; 3]);
            }
            sim.cycle();
        }
        assert!(
            [seen.settings, seen.refused, seen.passed, seen.read]
                .iter()
                .all(|count| *count > 500),
            "{seen:?}"
        );
    });
}
