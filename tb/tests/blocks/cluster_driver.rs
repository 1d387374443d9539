//! `cluster_driver`: tasks on HPUs that behave like the runtime, with random handlers, and each line of its contract.

use spinneret_isa::cause::STOPPED;
use spinneret_models::ClusterDriver;
use spinneret_regmap::pspin::{PACKET_BASE, dma, driver as register, l1_address};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case};
use spinneret_tb::cluster::driver::{Access, Bench, Done, HPUS, Hpu, SHARED_END, SLOT_BYTES, SLOTS, Words};
use std::collections::VecDeque;

type Driver = Bench<ClusterDriver>;

/// A task of random memories; the number makes its words unlike those of others.
fn task(rng: &mut ChaCha8Rng, number: u32) -> Words {
    let mut words: Words = rng.random();
    let bytes = |rng: &mut ChaCha8Rng| match rng.random_range(0..8) {
        0 => 0,
        1 => rng.random(),
        _ => rng.random_range(1..4000),
    };
    words[2] = 0x1c00_0000 + rng.random_range(0..0x8_0000);
    words[3] = bytes(rng);
    words[5] = rng.random_range(0..SLOT_BYTES + 200);
    for scratchpad in 0..4 {
        words[6 + scratchpad] = l1_address(scratchpad, 0x1_4400 + rng.random_range(0..0x8000));
        words[10 + scratchpad] = bytes(rng);
    }
    words[17] = PACKET_BASE + rng.random_range(0..0x4_0000);
    words[20] = rng.random_range(1..9000);
    words[21] = number << 20 >> 12 & 0xf_ffff ^ rng.random_range(0..256);
    words
}

/// A step of a program.
#[derive(Clone, Copy, Debug)]
enum Step {
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
struct Program {
    steps: VecDeque<Step>,
    pause: u32,
}

/// An address and a length, mostly inside of a range.
fn memory(rng: &mut ChaCha8Rng, hpu: &Hpu) -> [u32; 2] {
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
        _ => [address, bytes],
    }
}

/// A handler.
fn handler(rng: &mut ChaCha8Rng, hpu: &Hpu, loops: bool) -> VecDeque<Step> {
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
fn epilogue(rng: &mut ChaCha8Rng, failure: Option<u32>) -> VecDeque<Step> {
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
    fn step(&mut self, rng: &mut ChaCha8Rng, bench: &mut Driver, number: usize) {
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
                let loops = bench.budget > 0 && rng.random_range(0..10) == 0;
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
const TASKS: u32 = 200;

fn random_traffic(run: &mut TestRun, [pace, delay, budget]: [u32; 3]) -> Driver {
    let mut rng = run.rng("traffic");
    let mut bench = Driver::new(run);
    (bench.pace, bench.delay, bench.budget) = (pace, delay, budget);
    let mut programs = vec![Program::default(); HPUS];
    for number in 0..TASKS {
        let words = task(&mut rng, number);
        bench.push(words);
    }
    while !bench.is_empty() {
        for (number, program) in programs.iter_mut().enumerate() {
            program.step(&mut rng, &mut bench, number);
        }
        bench.clock();
    }
    bench.run(3);
    assert_eq!(bench.seen.finished, TASKS);
    bench
}

#[test]
fn random_tasks_are_those_of_the_model() {
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
        assert!(seen.stopped > 5 || pattern[2] == 0, "{seen:?}");
        bench.finish();
    });
}

/// A case for a line of the contract.
fn check(test: impl Fn(&mut Driver)) {
    case(0x0002_c1d0, Driver::new, test);
}

/// A task with few memories.
fn plain(number: u32) -> Words {
    let mut words: Words = std::array::from_fn(|word| number << 8 | word as u32);
    (words[2], words[3], words[5]) = (0x1c08_0000, 0x100, 100);
    (words[17], words[20]) = (PACKET_BASE + 0x40, 200);
    words[6..14].fill(0);
    words[21] = number;
    words
}

fn word(done: Done) -> u32 {
    match done {
        Done::Word(word) => word,
        other => panic!("{other:?}"),
    }
}

/// An HPU asks for a task, and has it.
fn begin(bench: &mut Driver, hpu: usize) {
    word(bench.access(hpu, Access::load(0)));
}

/// It ends it.
fn end(bench: &mut Driver, hpu: usize) {
    bench.access(hpu, Access::load(register::DOORBELL));
    bench.until(|bench| bench.hpus[hpu].is_done());
}

#[test]
fn twenty_tasks_fit_in() {
    check(|bench| {
        (0..SLOTS as u32 + 1).for_each(|number| bench.push(plain(number)));
        bench.run(25 * SLOTS);
        assert_eq!((bench.get("load"), bench.waiting()), (SLOTS as u64, 1));
        for number in 0..=SLOTS as u32 {
            begin(bench, 3);
            assert_eq!(bench.hpus[3].words()[21], number);
            end(bench, 3);
        }
        bench.run(3);
    });
}

#[test]
fn tasks_go_to_the_lowest_idle_hpu() {
    check(|bench| {
        [5, 2, 7]
            .into_iter()
            .for_each(|hpu| bench.offer(hpu, Access::load(0)));
        bench.run(20);
        (0..3).for_each(|number| bench.push(plain(number)));
        bench.until(|bench| [2, 5, 7].iter().all(|hpu| bench.hpus[*hpu].done.is_some()));
        for (number, hpu) in [2, 5, 7].into_iter().enumerate() {
            assert_eq!(bench.hpus[hpu].words()[21], number as u32);
        }
        // One whose command is under way gets no task.
        bench.delay = 2000;
        word(bench.access(2, Access::load(register::ISSUE)));
        bench.access(2, Access::load(register::DOORBELL));
        bench.offer(2, Access::load(0));
        [5, 7].into_iter().for_each(|hpu| end(bench, hpu));
        bench.offer(7, Access::load(0));
        bench.push(plain(9));
        bench.until(|bench| bench.hpus[7].done.is_some());
        end(bench, 7);
        bench.push(plain(10));
        bench.until(|bench| bench.hpus[2].done.is_some());
        end(bench, 2);
        bench.run(3);
    });
}

#[test]
fn low_registers_wait_for_a_task_and_others_do_not() {
    check(|bench| {
        let low = [4, register::DOORBELL, register::ERROR, 0x58, 0x7c];
        for (hpu, offset) in low.into_iter().enumerate() {
            bench.offer(hpu, Access::load(offset));
        }
        bench.access(6, Access::store(register::INFO, 0xffff_fff9));
        bench.access(6, Access::store(register::COMMAND, 7));
        assert_eq!(
            bench.access(6, Access::load(register::INFO)),
            Done::Word(0xffff_fff9)
        );
        assert_eq!(bench.access(6, Access::load(register::COMMAND)), Done::Word(7));
        bench.run(100);
        assert!((0..low.len()).all(|hpu| bench.hpus[hpu].done.is_none()));
        (0..low.len()).for_each(|hpu| bench.hpus[hpu].offer = None);
        assert_eq!(bench.get("asked"), 0);
        for hpu in 0..HPUS {
            bench.push(plain(hpu as u32));
            begin(bench, hpu);
        }
        bench.run(2);
        assert_eq!((bench.get("asked"), bench.get("idle")), (1, 0));
        (0..HPUS).for_each(|hpu| end(bench, hpu));
        bench.run(3);
    });
}

#[test]
fn what_does_not_exist_is_refused() {
    check(|bench| {
        bench.push(plain(0));
        begin(bench, 1);
        for offset in (0..0x100)
            .step_by(4)
            .filter(|offset| *offset != register::DOORBELL)
        {
            for access in [Access::load(offset), Access::store(offset, 0)] {
                // The bench knows which are refused; what exists takes place.
                let done = [access, access.by_user(), access.of_dma()].map(|access| bench.access(1, access));
                assert!(done[1] == Done::Refused || matches!(done[0], Done::Word(_)));
            }
        }
        for access in [
            Access::load(register::DOORBELL),
            Access::store(register::DOORBELL, 0),
        ] {
            assert_eq!(bench.access(1, access.by_user()), Done::Refused);
        }
        assert!(bench.seen.refused > 100);
        end(bench, 1);
        bench.run(50);
    });
}

#[test]
fn a_command_has_the_lowest_free_number() {
    check(|bench| {
        bench.push(plain(3));
        begin(bench, 4);
        bench.delay = 1;
        bench.pace = 0;
        let issue = |bench: &mut Driver| word(bench.access(4, Access::load(register::ISSUE)));
        assert_eq!(issue(bench), 0);
        // The second one waits for the first, which is not taken.
        bench.offer(4, Access::load(register::ISSUE));
        bench.run(100);
        assert_eq!(bench.hpus[4].done, None);
        bench.pace = 100;
        bench.delay = 400;
        bench.until(|bench| bench.hpus[4].done.is_some());
        let numbers = [issue(bench), issue(bench), issue(bench)];
        assert!(numbers.iter().all(|number| *number < 4));
        bench.offer(4, Access::load(register::ISSUE));
        bench.run(40);
        let open = bench.hpus[4].open();
        assert!(open == 4 && bench.hpus[4].done.is_none() || open < 4);
        bench.until(|bench| bench.hpus[4].done.is_some());
        (0..4).for_each(|number| _ = bench.access(4, Access::store(register::WAIT, number)));
        assert_eq!(bench.access(4, Access::load(register::WAIT)), Done::Word(0));
        // A kind that does not exist is done at once.
        bench.access(4, Access::store(register::INFO, 6));
        assert_eq!(issue(bench), 0);
        assert_eq!((issue(bench), bench.hpus[4].open()), (0, 0));
        end(bench, 4);
        bench.run(3);
    });
}

#[test]
fn copies_have_numbers_and_wait_while_there_are_too_many() {
    check(|bench| {
        bench.push(plain(3));
        begin(bench, 4);
        bench.run(50);
        bench.delay = 500;
        let start = Access::load(dma::START).of_dma();
        for number in 1..=15 {
            assert_eq!(bench.access(4, start), Done::Word(number));
        }
        while bench.hpus[4].open() > 0 {
            bench.access(4, Access::load(dma::DONE).of_dma());
        }
        assert_eq!(bench.access(4, Access::load(dma::DONE).of_dma()), Done::Word(15));
        end(bench, 4);
        bench.run(3);
    });
}

/// Whether a command or copy of these words may start in user mode.
fn may_start(bench: &mut Driver, kind: Option<u32>, words: [u32; 3]) -> bool {
    let places = match kind {
        None => [dma::SOURCE, dma::DESTINATION, dma::BYTES],
        Some(kind) => {
            bench.access(0, Access::store(register::INFO, kind << 1));
            [2, 3, 4].map(|word| register::COMMAND + 4 * word)
        }
    };
    for (offset, word) in places.into_iter().zip(words) {
        let store = Access::store(offset, word);
        bench.access(0, if kind.is_none() { store.of_dma() } else { store });
    }
    let access = match kind {
        None => Access::load(dma::START).of_dma(),
        Some(_) => Access::load(register::ISSUE),
    };
    bench.access(0, access.by_user()) != Done::Refused
}

#[test]
fn user_mode_names_its_own_memory_alone() {
    check(|bench| {
        let mut words = plain(1);
        // Beyond 512 MiB, and around the end of 32 bits: empty ranges.
        words[6..8].copy_from_slice(&[0x3c00_0000, 0xffff_ffc0]);
        words[10..12].copy_from_slice(&[0x1000, 0x80]);
        bench.push(words);
        begin(bench, 0);
        let base = 0x1c08_0000;
        for (address, bytes, allowed) in [
            (base, 0x100, true),
            (base + 0xff, 1, true),
            (base + 0x100, 1, false),
            (base, 0x101, false),
            (base - 1, 1, false),
            (base - 1, 0, true),
            (base + 0x80, 0xffff_ff81, false),
            (base + 0x2000_0000, 1, false),
            (0x3c00_0000, 4, false),
            (0, 4, false),
            (SHARED_END - 1, 1, true),
            (l1_address(1, 0x800 + 0x780), 4, false),
            (l1_address(1, 0x800), 0x780, true),
        ] {
            // The other end of a copy has room for 0x100 bytes.
            let fits = allowed && bytes <= 0x100;
            for (kind, words, allowed) in [
                (Some(0), [address, bytes, 0], allowed),
                (Some(1), [address, 0, bytes], allowed),
                (None, [address, base, bytes], fits),
                (None, [base, address, bytes], fits),
            ] {
                let may = may_start(bench, kind, words);
                assert_eq!(may, allowed, "{kind:?} {words:x?}");
            }
        }
        assert!(!may_start(bench, Some(1), [base, 1, 4]));
        assert!(may_start(bench, Some(1), [base, 1, 0]));
        assert!(may_start(bench, Some(2), [0, 0, 0]));
        end(bench, 0);
        bench.run(300);
    });
}

#[test]
fn a_task_is_done_after_its_commands_and_copies() {
    check(|bench| {
        bench.push(plain(5));
        begin(bench, 6);
        bench.delay = 300;
        bench.access(6, Access::load(register::ISSUE));
        bench.access(6, Access::load(dma::START).of_dma());
        bench.access(6, Access::store(register::ERROR, 77));
        bench.access(6, Access::store(register::DOORBELL, 0));
        // The bench refuses a report that comes too early.
        bench.until(|bench| bench.seen.finished == 1);
        assert_eq!((bench.seen.failed, bench.hpus[6].open()), (1, 0));
        bench.run(3);
    });
}

#[test]
fn the_watchdog_stops_once_and_drops_what_was_wanted() {
    check(|bench| {
        bench.push(plain(5));
        bench.budget = 500;
        begin(bench, 2);
        bench.hpus[2].is_user = true;
        // It waits for a command that another one holds up.
        bench.pace = 0;
        bench.access(3, Access::load(register::ISSUE));
        assert_eq!(
            bench.access(2, Access::load(register::ISSUE).by_user()),
            Done::Stopped
        );
        bench.pace = 100;
        bench.run(100);
        assert_eq!(bench.get("stop"), 0);
        assert_eq!(bench.hpus[2].open(), 0);
        bench.hpus[2].is_user = false;
        bench.access(2, Access::store(register::INFO, 4));
        bench.access(2, Access::load(register::ISSUE));
        end(bench, 2);
        bench.run(300);
        assert_eq!((bench.seen.stopped, bench.seen.commands), (1, 2));
    });
}

#[test]
fn offers_of_both_pipelines_take_turns() {
    check(|bench| {
        for hpu in [1, 5] {
            bench.push(plain(hpu as u32));
            begin(bench, hpu);
        }
        // HPU 0 asks all the time, which does not disturb HPU 4; HPUs 1 and 5 offer in the same clocks.
        bench.offer(0, Access::load(0));
        for _ in 0..50 {
            bench.offer(1, Access::load(4));
            bench.offer(5, Access::load(8));
            bench.offer(4, Access::load(register::INFO));
            bench.run(21);
            assert!([1, 4, 5].iter().all(|hpu| bench.hpus[*hpu].done.is_some()));
        }
        assert!(bench.seen.lost > 0);
        bench.hpus[0].offer = None;
        [1, 5].into_iter().for_each(|hpu| end(bench, hpu));
        bench.run(3);
    });
}

#[test]
fn a_reset_forgets_what_is_inside() {
    check(|bench| {
        for round in 0..3 {
            bench.delay = 300;
            (0..12).for_each(|number| bench.push(plain(number)));
            for hpu in 0..HPUS {
                begin(bench, hpu);
                bench.access(hpu, Access::load(register::ISSUE));
                let copy = bench.access(hpu, Access::load(dma::START).of_dma());
                assert_eq!(copy, Done::Word(round + 1));
            }
            (0..HPUS).for_each(|hpu| bench.offer(hpu, Access::load(register::DOORBELL)));
            bench.run(7 + round as usize);
            bench.reset();
            bench.run(5);
            assert_eq!(
                (bench.get("load"), bench.get("idle"), bench.get("asked")),
                (0, 1, 0)
            );
        }
    });
}
