//! Memory of the cluster and of the host, through the driver.

use crate::fake::{Fake, program};
use crate::{card, nic, ok, open, port};
use proptest::prelude::*;
use rustix::io::Errno;
use spinneret_host::chardev::Abilities;
use spinneret_host::{Counter, Device as _, DeviceError, Nic, Options};
use spinneret_regmap::model::Variant;
use spinneret_regmap::{cl, events, guard, her};
use std::time::Duration;

#[test]
fn variables_and_counters_of_handlers_are_there_to_read() {
    let (nic, fake) = nic();
    let context = open(&nic, "count", &port(1));
    let step = ok(context.variable("step"));
    assert_eq!(ok(step.load::<u64>(0)), 0x0123_4567_89ab_cdef);
    assert!(fake.driver().words > 0, "a word is one call");
    ok(step.store(0, u64::MAX - 1));
    assert_eq!(
        fake.driver().memory_at(step.address().into())[..8],
        (u64::MAX - 1).to_le_bytes()
    );
    let data = ok(context.variable("__host_data")).address() + 128 + 8 * 2;
    fake.driver().memory_at(data.into())[..8].copy_from_slice(&[60, 0, 0, 0, 6, 0, 0, 0]);
    assert_eq!(ok(context.handler_counter(2)), Counter { sum: 60, count: 6 });
}

/// What an HPU of the fake writes when it pushes a value.
fn push(fake: &Fake, queue: u32, hpu: u32, number: u32, counter: u32) {
    let place = u64::from(queue + 8 * (32 * hpu + number % 32));
    let tag = number << 4 | counter;
    fake.driver().memory_at(place)[..4].copy_from_slice(&(1000 * hpu + number).to_le_bytes());
    fake.driver().memory_at(place + 4)[..4].copy_from_slice(&tag.to_le_bytes());
}

#[test]
fn values_of_counters_come_in_order_or_are_counted_as_lost() {
    let (nic, fake) = nic();
    let context = open(&nic, "count", &port(1));
    let at = ok(context.variable("__counter_queue")).address();
    let mut queue = ok(context.counter_queue());
    assert_eq!(ok(queue.pop(3)), None);
    for number in 1..=4 {
        push(&fake, at, 0, number, 3);
        push(&fake, at, 1, number, 3 + number % 2);
    }
    let taken: Vec<_> = std::iter::from_fn(|| ok(queue.pop(3))).collect();
    assert_eq!(taken, [1, 2, 3, 4, 1002, 1004]);
    ok(queue.clear(4));
    assert_eq!((ok(queue.pop(4)), ok(queue.lost())), (None, 0));
    // 31 values fit; with the next one the HPU may be changing the oldest place.
    for number in 5..36 {
        push(&fake, at, 0, number, 3);
    }
    assert_eq!((ok(queue.pop(3)), ok(queue.lost())), (Some(5), 0));
    ok(queue.clear(3));
    for number in 36..=67 {
        push(&fake, at, 0, number, 3);
    }
    assert_eq!((ok(queue.pop(3)), ok(queue.lost())), (Some(37), 1));
    // The host has not read for several rounds.
    ok(queue.clear(3));
    for number in 68..=1000 {
        push(&fake, at, 0, number, 3);
    }
    let taken: Vec<_> = std::iter::from_fn(|| ok(queue.pop(3))).collect();
    assert_eq!(taken.last(), Some(&1000));
    assert_eq!(taken.len() as u64 + ok(queue.lost()) - 1, 1000 - 67);
    assert!(taken.windows(2).all(|pair| pair[1] == pair[0] + 1), "{taken:?}");
}

#[test]
fn numbers_of_values_wrap_around() {
    let (nic, fake) = nic();
    let context = open(&nic, "count", &port(1));
    let at = ok(context.variable("__counter_queue")).address();
    let mut queue = ok(context.counter_queue());
    let last = (1 << 28) - 1;
    for number in last - 31..=last {
        push(&fake, at, 0, number, 0);
    }
    let mut taken = Vec::new();
    for next in 0..40 {
        taken.extend(std::iter::from_fn(|| ok(queue.pop(0))));
        push(&fake, at, 0, next, 0);
    }
    taken.extend(std::iter::from_fn(|| ok(queue.pop(0))));
    let wanted: Vec<u32> = (last - 30..=last).chain(0..40).collect();
    assert_eq!((taken, ok(queue.lost())), (wanted, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn accesses_complete_despite_short_transfers_and_signals(
        longest in 4..200_usize,
        interrupted in prop::sample::select(vec![0, 2, 3, 7]),
        offset in 0..100_u32,
        bytes in prop::collection::vec(any::<u8>(), 0..9000),
    ) {
        let (nic, fake) = nic();
        let context = open(&nic, "count", &port(1));
        fake.driver().longest = longest;
        fake.driver().interrupted = interrupted;
        let large = ok(context.variable("large"));
        ok(large.write(offset, &bytes));
        let mut read = vec![0; bytes.len()];
        ok(large.read(offset, &mut read));
        prop_assert_eq!(&read, &bytes);
        let mut driver = fake.driver();
        let memory = &driver.memory_at(large.address().into())[offset as usize..];
        prop_assert_eq!(&memory[..bytes.len()], &bytes[..]);
    }
}

#[test]
fn accesses_only_memory_of_the_driver() {
    let (nic, fake) = nic();
    let mut device = nic.device();
    ok(device.write_register(cl::AUX_RESET, 0));
    for (address, bytes) in [
        (0x1bff_fffc, 8),
        (0x1c0f_fffc, 8),
        (0x1c10_0000, 4),
        (0x1d00_7ffc, 8),
        (0x1d00_8000, 4),
        (u32::MAX - 3, 8),
        (0x1c00_0002, 4),
        (0x1c00_0000, 3),
    ] {
        let error = device.read_cluster(address, &mut vec![0; bytes]).unwrap_err();
        assert!(
            error.to_string().contains("the driver reaches nothing else"),
            "{error}"
        );
        assert_eq!(device.write_cluster(address, &vec![0; bytes]).unwrap_err(), error);
    }
    for (address, bytes) in [
        (0x1c0f_fff8, 8),
        (0x1d00_7ffc, 4),
        (0x1c00_0004, 8),
        (0x1d00_0000, 32 << 10),
    ] {
        ok(device.write_cluster(address, &vec![7; bytes]));
        assert_eq!(fake.driver().memory_at(address.into())[..bytes], vec![7; bytes]);
    }
    assert_eq!(fake.driver().words, 1, "only the first is a word of the driver");
}

#[test]
fn memory_cannot_be_reached_while_the_cluster_is_in_reset() {
    let (nic, _) = nic();
    let mut device = nic.device();
    for bytes in [4, 8, 100] {
        let error = device.read_cluster(0x1c00_0000, &mut vec![0; bytes]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the cluster is held in reset (cl.ctrl[1] is 1)"
        );
        assert_eq!(
            device.write_cluster(0x1c00_0000, &vec![0; bytes]).unwrap_err(),
            error
        );
    }
}

#[test]
fn host_memory_is_whole_pages_and_gone_with_its_context() {
    let (nic, fake) = nic();
    let opened = |host_bytes| {
        let options = Options {
            host_bytes,
            ..Options::default()
        };
        nic.open_context(program(), "copy", &port(1), &options)
    };
    let none = ok(opened(0));
    assert!(none.host_memory().is_empty());
    assert!(fake.driver().areas[0].is_none());
    drop(none);
    let large = ok(opened(8193));
    assert_eq!(large.host_memory().len(), 12288);
    let memory = large.host_memory();
    ok(memory.write(12280, &[1; 8]));
    drop(large);
    let gone = memory.load::<u32>(0).unwrap_err().to_string();
    assert!(
        gone.contains("not within the 0 bytes of host memory of context 0"),
        "{gone}"
    );
    let small = ok(opened(1));
    assert_eq!(small.host_memory().len(), 4096);
    let gone = memory.load::<u32>(12280).unwrap_err().to_string();
    assert!(gone.contains("not within the 4096 bytes"), "{gone}");
    drop(small);
    let error = opened(u32::MAX).unwrap_err().to_string();
    assert!(
        error.contains("not enough memory: 4294967295 bytes of host memory"),
        "{error}"
    );
}

// Our own driver in place of the public one: registers by calls, and events.

/// A machine on which nothing is in sysfs.
fn machine(extensions: bool, interrupts: bool) -> Fake {
    let fake = Fake::new(if extensions {
        Variant::Extended
    } else {
        Variant::DropIn
    });
    fake.driver().cards = 0;
    fake.driver().abilities = Some(Abilities {
        extensions,
        interrupts,
    });
    fake
}

#[test]
fn registers_are_calls_and_no_files() {
    let fake = machine(true, true);
    let nic = ok(Nic::new(ok(card(&fake))));
    let context = open(&nic, "count", &port(1));
    let opened = her::ctx_enabled(context.number()).expect("there is such a context");
    assert_eq!(nic.device().read_register(opened), Ok(1));
    assert_eq!(nic.device().read_register(guard::ENFORCE.offset), Ok(1));
    let everything = events::PENDING.bits.mask(0);
    assert_eq!(nic.device().read_register(events::ENABLE.offset), Ok(everything));
}

#[test]
fn registers_of_a_card_are_those_of_its_driver() {
    for (extensions, interrupts) in [(false, false), (true, false), (true, true)] {
        let card = ok(card(&machine(extensions, interrupts)));
        assert!(card.has_register(her::VALID.offset));
        assert_eq!(card.has_register(guard::ENFORCE.offset), extensions);
        assert_eq!(card.has_register(events::ENABLE.offset), interrupts);
        assert_eq!(card.has_events(), interrupts);
        assert!(!card.has_register(0x0ffc), "there is no such register");
    }
}

#[test]
fn events_end_a_wait() {
    let fake = machine(true, true);
    let mut card = ok(card(&fake));
    fake.driver().events = 0b10_0001;
    assert_eq!(card.wait_event(Duration::from_secs(3600)), Ok(0b10_0001));
    fake.driver().is_gone = true;
    let gone = card.wait_event(Duration::from_secs(3600));
    assert!(matches!(gone, Err(DeviceError::Gone(_))), "{gone:?}");
}

#[test]
fn polls_card_without_interrupts() {
    let mut card = ok(card(&machine(true, false))).slower(20);
    let begun = std::time::Instant::now();
    assert_eq!(card.wait_event(Duration::from_millis(1)), Ok(0));
    assert!(begun.elapsed() >= Duration::from_millis(20));
    assert!(card.now() < Duration::from_secs(1));
}

#[test]
fn node_of_another_program_is_in_use() {
    let fake = machine(true, true);
    fake.driver().open_fails = Some(Errno::BUSY);
    let error = card(&fake).unwrap_err().to_string();
    assert!(error.contains("let `spinneret share /dev/"), "{error}");
}
