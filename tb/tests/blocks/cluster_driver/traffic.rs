//! HPUs that behave like the runtime, with random handlers.

use spinneret_isa::cause::STOPPED;
use spinneret_models::ClusterDriver;
use spinneret_regmap::pspin::{HANDLER_BASE, PACKET_BASE, dma, driver as register, l1_address};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::Finish;
use spinneret_tb::cluster::driver::{Access, Bench, CONTEXTS, Done, HPUS, Hpu, SLOT_BYTES, Words};
use std::collections::VecDeque;

pub(super) type Driver = Bench<ClusterDriver>;

/// A task of random memories; the number makes its words unlike those of others.
pub(super) fn task(rng: &mut ChaCha8Rng, number: u32) -> Words {
    let mut words: Words = rng.random();
    let bytes = |rng: &mut ChaCha8Rng| match rng.random_range(0..8) {
        0 => 0,
        1 => rng.random(),
        _ => rng.random_range(1..4000),
    };
    words[2] = HANDLER_BASE + rng.random_range(0..0x8_0000);
    words[3] = bytes(rng);
    words[5] = rng.random_range(0..SLOT_BYTES + 200);
    for scratchpad in 0..4 {
        words[6 + scratchpad] = l1_address(scratchpad, 0x1_4400 + rng.random_range(0..0x8000));
        words[10 + scratchpad] = bytes(rng);
    }
    if rng.random() {
        words[9] = HANDLER_BASE + rng.random_range(0..0x8_0000);
    }
    words[17] = PACKET_BASE + rng.random_range(0..0x4_0000);
    words[20] = rng.random_range(1..9000);
    words[21] = number << 20 >> 12 & 0xf_ffff ^ rng.random_range(0..256);
    words
}

/// A step of a program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// An access.
    Access(Access),
    /// Reads the number of the last copy that is done, until no copy is under way.
    Copies,
    /// Does something else for some clocks.
    Think(u32),
    /// For ever.
    Loop,
    /// The handler is over.
    Exit,
}

/// A step of an HPU.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) steps: VecDeque<Step>,
    pub(super) pause: u32,
}

/// An address and a length, mostly inside of a range.
pub(super) fn memory(rng: &mut ChaCha8Rng, hpu: &Hpu) -> [u32; 2] {
    let ranges: Vec<_> = hpu
        .ranges()
        .into_iter()
        .filter(|[first, end]| first < end)
        .collect();
    let [first, end] = ranges[rng.random_range(0..ranges.len())];
    let address = rng.random_range(first..end);
    let bytes = rng.random_range(0..=end - address);
    match rng.random_range(0..30) {
        0 => [address, end - address + 1],
        1 => [first - 1, bytes.max(1)],
        2 => [address | 1 << rng.random_range(29..32), bytes],
        3 => [address, bytes.wrapping_neg()],
        4 => [first, end - first],
        5 | 6 => [address ^ rng.random_range(1..4) << 23, bytes],
        7 => [address, bytes | 1 << 23],
        _ => [address, bytes],
    }
}

/// A handler.
pub(super) fn handler(rng: &mut ChaCha8Rng, hpu: &Hpu, loops: bool) -> VecDeque<Step> {
    let mut steps = VecDeque::new();
    let user = |access: Access| Step::Access(access.by_user());
    let command = |word: u32| register::COMMAND + 4 * word;
    for _ in 0..rng.random_range(0..20) {
        match rng.random_range(0..16) {
            0..3 => steps.push_back(user(Access::load(4 * rng.random_range(0..20)))),
            3 | 4 => {
                let kind = rng.random_range(0..4);
                let [address, bytes] = memory(rng, hpu);
                let mut words: [u32; 7] = rng.random();
                match kind {
                    0 => words[2..4].copy_from_slice(&[address, bytes]),
                    _ => words[2..5].copy_from_slice(&[
                        address,
                        u32::from(rng.random_range(0..20) == 0),
                        bytes,
                    ]),
                }
                let stores = (0..7).map(|word| user(Access::store(command(word), words[word as usize])));
                steps.extend(stores);
                steps.push_back(user(Access::store(
                    register::INFO,
                    kind << 1 | rng.random::<u32>() << 3,
                )));
                let times = if rng.random_range(0..4) == 0 { 6 } else { 1 };
                steps.extend((0..times).map(|_| user(Access::load(register::ISSUE))));
            }
            5 | 6 => {
                let [source, bytes] = memory(rng, hpu);
                let [destination, room] = memory(rng, hpu);
                for (offset, word) in [
                    (dma::SOURCE, source),
                    (dma::DESTINATION, destination),
                    (dma::BYTES, bytes.min(room)),
                ] {
                    steps.push_back(user(Access::store(offset, word).of_dma()));
                }
                let times = if rng.random_range(0..8) == 0 { 20 } else { 1 };
                steps.extend((0..times).map(|_| user(Access::load(dma::START).of_dma())));
            }
            7 => steps.push_back(Step::Copies),
            8 => steps.push_back(user(Access::store(register::WAIT, rng.random_range(0..8)))),
            9 => steps.push_back(user(Access::load(register::WAIT))),
            10 => {
                steps.push_back(user(Access::store(register::TEST, rng.random_range(0..8))));
                steps.extend((0..3).map(|_| user(Access::load(register::TEST))));
            }
            11 => steps.push_back(user(Access::load(register::INFO + 4 * rng.random_range(0..8)))),
            12 => steps.push_back(user(
                Access::load([dma::SOURCE, dma::DESTINATION, dma::BYTES][rng.random_range(0..3)]).of_dma(),
            )),
            13 => steps.push_back(Step::Think(rng.random_range(1..100))),
            _ if rng.random_range(0..20) == 0 => {
                let access = Access::load(4 * rng.random_range(0..64));
                let access = if rng.random() {
                    access
                } else {
                    Access::store(access.offset, 1)
                };
                let is_register = access.offset < register::ISSUE || access.offset >= register::COMMAND_END;
                let access = if is_register { access } else { access.of_dma() };
                steps.push_back(user(access));
            }
            _ => {}
        }
    }
    steps.push_back(if loops { Step::Loop } else { Step::Exit });
    steps
}

/// The runtime's steps at the end of a task.
pub(super) fn epilogue(rng: &mut ChaCha8Rng, failure: Option<u32>) -> VecDeque<Step> {
    let mut steps: VecDeque<_> = failure
        .into_iter()
        .map(|cause| Step::Access(Access::store(register::ERROR, cause)))
        .collect();
    if rng.random() {
        steps.extend((0..4).map(|number| Step::Access(Access::store(register::WAIT, number))));
    }
    let doorbell = Access::load(register::DOORBELL);
    steps.push_back(Step::Access(if rng.random() {
        doorbell
    } else {
        Access::store(doorbell.offset, 0)
    }));
    steps
}

impl Program {
    /// Goes on with an HPU that offers nothing.
    pub(super) fn step(&mut self, rng: &mut ChaCha8Rng, bench: &mut Driver, number: usize, limited: bool) {
        let hpu = &mut bench.hpus[number];
        match hpu.done.take() {
            Some(Done::Word(_)) => {}
            Some(done) => {
                let cause = if done == Done::Stopped { STOPPED } else { 5 };
                hpu.is_user = false;
                self.steps = epilogue(rng, Some(cause));
                self.pause = 0;
            }
            None if hpu.is_busy() => return,
            None => {}
        }
        if self.pause > 0 {
            self.pause -= 1;
            return;
        }
        match self.steps.pop_front() {
            None if hpu.has_task() => {
                hpu.is_user = true;
                let loops = limited && rng.random_range(0..10) == 0;
                self.steps = handler(rng, hpu, loops);
            }
            None => {
                self.pause = rng.random_range(0..20);
                bench.offer(number, Access::load(0));
            }
            Some(Step::Access(access)) => bench.offer(number, access),
            Some(Step::Copies) if hpu.open() > 0 => {
                self.steps.push_front(Step::Copies);
                bench.offer(number, Access::load(dma::DONE).of_dma().by_user());
            }
            Some(Step::Copies) => {}
            Some(Step::Think(clocks)) => self.pause = clocks,
            // It makes no access, and so is stopped in its slot.
            Some(Step::Loop) => {
                self.steps.push_front(Step::Loop);
                bench.offer(number, Access::load(0).by_user());
            }
            Some(Step::Exit) => {
                hpu.is_user = false;
                let failure = (rng.random_range(0..10) == 0).then(|| rng.random());
                self.steps = epilogue(rng, failure);
            }
        }
    }
}

/// Tasks of random traffic.
pub(super) const TASKS: u32 = 300;

pub(super) fn random_traffic(run: &mut TestRun, [pace, delay, budget]: [u32; 3]) -> Driver {
    let mut rng = run.rng("traffic");
    let mut bench = Driver::new(run);
    (bench.pace, bench.delay) = (pace, delay);
    (0..CONTEXTS).for_each(|context| bench.set_budget(context, budget * (1 + context as u32 % 2)));
    let mut programs = vec![Program::default(); HPUS];
    for number in 0..TASKS {
        let words = task(&mut rng, number);
        bench.push(words);
    }
    while !bench.is_empty() {
        for (number, program) in programs.iter_mut().enumerate() {
            program.step(&mut rng, &mut bench, number, budget > 0);
        }
        bench.clock();
    }
    bench.run(3);
    assert_eq!(bench.seen.finished, TASKS);
    bench
}

#[test]
pub(super) fn random_tasks_are_those_of_the_model() {
    let patterns = [[100, 10, 0], [30, 100, 0], [90, 300, 8000], [100, 1, 2000]];
    spinneret_tb::bench::each(0x0001_c1d0, patterns, |run, pattern| {
        let bench = random_traffic(run, pattern);
        let seen = bench.seen;
        let common = [
            seen.failed,
            seen.commands,
            seen.copies,
            seen.refused_starts,
            seen.lost,
        ];
        assert!(common.iter().all(|count| *count > 10), "{seen:?}");
        assert!(
            seen.refused > 3 && (seen.full > 20 || pattern[1] < 300),
            "{seen:?}"
        );
        assert!(seen.stopped > 10 || pattern[2] == 0, "{seen:?}");
        bench.finish();
    });
}
