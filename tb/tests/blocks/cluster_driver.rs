//! `cluster_driver`: tasks on HPUs that behave like the runtime, with random handlers, and each line of its contract.

mod traffic;

use spinneret_regmap::pspin::{HANDLER_BASE, PACKET_BASE, dma, driver as register, l1_address};
use spinneret_tb::bench::case;
use spinneret_tb::cluster::driver::{Access, Done, HPUS, SHARED_END, SLOTS, Words};
use traffic::Driver;

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
        // The packets that follow are copied before that command is done.
        bench.delay = 20;
        [7, 5].into_iter().for_each(|hpu| end(bench, hpu));
        // The others are idle from their doorbells on, although they have not asked again.
        bench.push(plain(9));
        bench.run(100);
        assert!(bench.hpus[5].has_task() && !bench.hpus[7].has_task() && !bench.hpus[2].is_done());
        begin(bench, 5);
        end(bench, 5);
        bench.until(|bench| bench.hpus[2].is_done());
        bench.push(plain(10));
        begin(bench, 2);
        assert_eq!(bench.hpus[2].words()[21], 10);
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
        bench.delay = 4000;
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
            (SHARED_END, 1, false),
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
fn scratchpads_are_at_the_same_place_in_every_second_cluster() {
    check(|bench| {
        let mut words = plain(1);
        let [even, odd] = [0x1_8000, 0x1_9000];
        words[6..8].copy_from_slice(&[l1_address(0, even), l1_address(1, odd)]);
        words[10..12].copy_from_slice(&[0x100, 0x80]);
        bench.push(words);
        begin(bench, 0);
        for cluster in [0, 2, 4, 6] {
            let next = l1_address(cluster + 2, even + 0x80);
            for (address, bytes, allowed) in [
                (l1_address(cluster, even), 0x100, true),
                (l1_address(cluster, even + 0x100), 1, false),
                (l1_address(cluster, odd), 1, false),
                (l1_address(cluster + 1, odd), 0x80, true),
                (l1_address(cluster + 1, odd), 0x81, false),
                (l1_address(cluster + 1, even), 1, false),
                // From one of them into the next one, and outside of all L1.
                (l1_address(cluster, even), next - l1_address(cluster, even), false),
                (l1_address(cluster + 8, even), 1, false),
                // The stack is that of one cluster, and other memory is where its address says.
                (l1_address(cluster + 1, 0x800), 4, cluster == 0),
                (
                    PACKET_BASE + 0x40 + l1_address(cluster, 0) - l1_address(0, 0),
                    4,
                    cluster == 0,
                ),
                (
                    0x1c08_0000 + l1_address(cluster, 0) - l1_address(0, 0),
                    4,
                    cluster == 0,
                ),
            ] {
                for kind in [0, 1] {
                    let size = if kind == 0 { [bytes, 0] } else { [0, bytes] };
                    let may = may_start(bench, Some(kind), [address, size[0], size[1]]);
                    assert_eq!(may, allowed, "{kind:?} {address:x} {bytes:x}");
                }
            }
        }
        end(bench, 0);
        bench.run(300);
    });
}

#[test]
fn shared_data_is_that_of_the_program() {
    check(|bench| {
        let (own, first) = (HANDLER_BASE + 0x4_0040, HANDLER_BASE);
        // Address and bytes that the task names; whether its own shared data and that of the only program are inside.
        for (place, bytes, own_is, first_is) in [
            (own, 0x81, true, false),
            (first, 0x40, false, true),
            (own, 0, false, true),
            (l1_address(3, 0x1_4400), 0x81, false, true),
            (PACKET_BASE, 0x81, false, true),
            (own, 0xffff_ff00, false, false),
        ] {
            let mut words = plain(1);
            (words[9], words[13]) = (place, bytes);
            bench.push(words);
            begin(bench, 0);
            for (address, bytes, allowed) in [
                (own, 0x81, own_is),
                (own - 1, 1, false),
                (own + 0xc0, 1, false),
                (first, 0x40, first_is),
            ] {
                let may = may_start(bench, Some(1), [address, 0, bytes]);
                assert_eq!(may, allowed, "{address:#x}, {place:#x}, {bytes:#x}");
            }
            end(bench, 0);
        }
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
        bench.set_budget(0, 500);
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
fn each_context_has_its_budget() {
    check(|bench| {
        // Contexts 0 and 3 of two queues each; the budgets outlive a reset.
        bench.set_budget(0, 2000);
        bench.set_budget(3, 700);
        bench.reset();
        let queue = |context: u32| context << 10;
        for (hpu, context) in [(0, 0), (5, 3)] {
            bench.push(plain(queue(context)));
            begin(bench, hpu);
            bench.hpus[hpu].is_user = true;
            bench.hpus[hpu].done = None;
        }
        bench.until(|bench| bench.hpus[5].done == Some(Done::Stopped));
        assert_eq!(bench.hpus[0].done, None);
        bench.until(|bench| bench.hpus[0].done == Some(Done::Stopped));
        for hpu in [0, 5] {
            bench.hpus[hpu].is_user = false;
            end(bench, hpu);
        }
        bench.run(3);
        assert_eq!(bench.seen.stopped, 2);
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
            bench.run(13);
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

#[test]
fn the_task_of_an_hpu_that_is_reset_ends_and_fails() {
    check(|bench| {
        bench.push(plain(1));
        begin(bench, 2);
        bench.delay = 300;
        word(bench.access(2, Access::load(register::ISSUE)));
        // The copy that it wants to start is dropped.
        bench.access(2, Access::store(dma::BYTES, 64).of_dma());
        bench.offer(2, Access::load(dma::START).of_dma());
        bench.run(7);
        bench.reset_hpu(2);
        let copies = bench.seen.copies;
        bench.run(100);
        assert_eq!((bench.seen.copies, bench.get("asked")), (copies, 0));
        // The command goes on, and the task is done after it.
        bench.until(|bench| bench.hpus[2].is_done());
        assert_eq!(bench.seen.failed, 1);
        // It waits for no task until it asks again.
        bench.push(plain(2));
        bench.run(100);
        assert!(!bench.hpus[2].has_task());
        begin(bench, 2);
        assert_eq!(bench.hpus[2].words()[21], 2);
        end(bench, 2);
        bench.run(3);
    });
}

#[test]
fn an_hpu_that_is_reset_while_it_waits_gets_no_task() {
    check(|bench| {
        bench.offer(5, Access::load(0));
        bench.run(20);
        bench.reset_hpu(5);
        bench.run(3);
        bench.push(plain(1));
        bench.run(100);
        assert!(!bench.hpus[5].has_task());
        begin(bench, 5);
        end(bench, 5);
        bench.run(3);
    });
}
