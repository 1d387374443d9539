//! Contexts come and go, and registers hold what they should.

use crate::fake::{Fake, program};
use crate::{books, card, nic, ok, open, port};
use rustix::io::Errno;
use spinneret_host::chardev::{Card, CardError};
use spinneret_host::{Device as _, DeviceError, ErrorKind, Nic, Options, Rule, Ruleset};
use spinneret_regmap::matching::encode_field;
use spinneret_regmap::model::Variant;
use spinneret_regmap::{cl, her, her_meta, me};
use std::path::Path;

#[test]
fn a_program_is_loaded_and_its_context_is_in_the_registers() {
    let (nic, fake) = nic();
    fake.driver().longest = 100;
    let context = open(&nic, "count", &port(7000));
    let mut driver = fake.driver();
    for segment in &program().segments {
        let memory = driver.memory_at(segment.address.into());
        assert_eq!(memory[..segment.bytes.len()], segment.bytes);
    }
    let [_, handler, _] = ok(program().find("count"));
    let area = driver.areas[0].as_ref().expect("it is mapped");
    let (address, bytes) = (area.address, area.bytes);
    assert!(address > u64::from(u32::MAX), "both halves count");
    assert_eq!((context.host_memory().address(), bytes), (address, 1 << 20));
    for (field, wanted) in [
        ("host_mem_addr_0", address as u32),
        ("host_mem_addr_1", (address >> 32) as u32),
        ("host_mem_size", bytes),
        ("hh_addr", 0),
        ("ph_addr", handler.address),
        ("ph_size", handler.size),
        ("handler_mem_addr", context.handler_memory().address()),
        ("handler_mem_size", context.handler_memory().len()),
    ] {
        let register = her_meta::offset(field, 0).expect("it is there");
        assert_eq!(driver.registers.value(register), Some(wanted), "{field}");
    }
    for (register, wanted) in [
        (cl::FETCH_ENABLE, 3),
        (cl::AUX_RESET, 0),
        (her::VALID.offset, 1),
        (me::VALID.offset, 1),
    ] {
        assert_eq!(driver.registers.value(register), Some(wanted), "{register:#x}");
    }
}

#[test]
fn rules_are_in_the_registers_byte_swapped() {
    let (nic, fake) = nic();
    let context = open(&nic, "count", &port(7000));
    let held = |place| {
        let driver = fake.driver();
        [me::idx, me::mask, me::start, me::end].map(|register| {
            let register = register(0, place).expect("it is there");
            driver.registers.value(register).expect("it is there")
        })
    };
    let rule = |rule: Rule| {
        let [mask, start, end] = [rule.mask, rule.start, rule.end].map(encode_field);
        [rule.idx, mask, start, end]
    };
    let port = Rule::udp_destination_port(7000, 7000);
    assert_eq!(held(1), [9, 0x0000_ffff, 0x0000_581b, 0x0000_581b]);
    assert_eq!(
        [0, 1, 2, 3].map(held),
        [Rule::IPV4, port, Rule::ALWAYS, Rule::ALWAYS].map(rule)
    );
    ok(context.set_ruleset(&Ruleset::any().rule(port)));
    assert_eq!([0, 1, 2].map(held), [port, Rule::NEVER, Rule::NEVER].map(rule));
    assert_eq!(
        fake.driver().registers.value(me::mode(0).expect("it is there")),
        Some(1)
    );
    ok(context.close());
    assert_eq!([0, 1, 2].map(held), [rule(Rule::NEVER); 3]);
}

#[test]
fn reopening_a_context_leaks_nothing() {
    let (nic, fake) = nic();
    let descriptors = || std::fs::read_dir("/proc/self/fd").expect("Linux tells").count();
    let maps = || {
        std::fs::read_to_string("/proc/self/maps")
            .expect("Linux tells")
            .matches("rw-s")
            .count()
    };
    let mut before = (0, 0);
    for life in 0..1000 {
        let context = open(&nic, "copy", &port(7000));
        assert_eq!(context.number(), 0, "in life {life}");
        assert_eq!(ok(context.host_memory().load::<u64>(64)), 0, "it is clean");
        ok(context.host_memory().store(64, u64::MAX));
        ok(context.close());
        if life == 0 {
            before = (descriptors(), maps());
        }
    }
    assert!(fake.driver().areas.iter().all(Option::is_none));
    assert_eq!(fake.driver().books, books(1, 1000, 1000));
    // Other tests of this process have descriptors and mappings of their own, at most a few at a time.
    let after = (descriptors(), maps());
    assert!(
        after.0 < before.0 + 100 && after.1 < before.1 + 100,
        "{before:?} to {after:?}"
    );
    drop(nic);
    assert_eq!(fake.driver().books.open, 0);
}

#[test]
fn four_contexts_have_their_own_host_memories() {
    let (nic, fake) = nic();
    let contexts = [1, 2, 3, 4].map(|number| open(&nic, "copy", &port(number)));
    for context in &contexts {
        ok(context.host_memory().store(8, context.number() + 10));
    }
    for context in &contexts {
        let driver = fake.driver();
        let area = driver.areas[context.number() as usize]
            .as_ref()
            .expect("it is mapped");
        let mut seen = [0; 4];
        std::os::unix::fs::FileExt::read_exact_at(&area.file, &mut seen, 8).expect("it is there");
        assert_eq!(u32::from_le_bytes(seen), context.number() + 10);
        let enabled = her::ctx_enabled(context.number()).expect("it is there");
        assert_eq!(driver.registers.value(enabled), Some(1));
    }
    let [one, two, three, four] = contexts;
    ok(two.close());
    assert_eq!(ok(three.host_memory().load::<u32>(8)), 12);
    assert_eq!(open(&nic, "count", &port(5)).number(), 1);
    for context in [one, three, four] {
        ok(context.close());
    }
    assert_eq!(
        fake.driver().registers.value(cl::AUX_RESET),
        Some(1),
        "nothing runs"
    );
    assert_eq!(fake.driver().books, books(1, 5, 5));
}

#[test]
fn dropping_a_card_stops_handlers_with_host_memory() {
    let (nic, fake) = nic();
    open(&nic, "count", &port(7000)).leave();
    drop(nic);
    assert_eq!(fake.driver().registers.value(cl::AUX_RESET), Some(1));
    assert_eq!(fake.driver().books, books(0, 1, 1));
    let nic = ok(Nic::new(ok(card(&fake))));
    assert_eq!(open(&nic, "count", &port(7000)).number(), 0);
}

#[test]
fn uses_extension_registers_if_available() {
    let (public, _) = nic();
    assert_eq!(ok(public.counters()).iter().count(), 0);
    let context = open(&public, "count", &port(1));
    let error = context
        .set_ruleset(&Ruleset::all().rule(Rule::ip_payload_destination_port(1, 1)))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("me.relative[0]") && error.contains("the driver gives no access"),
        "{error}"
    );

    let fake = Fake::new(Variant::Extended);
    let ours = ok(Nic::new(ok(card(&fake))));
    assert_eq!(ok(ours.counters()).get("ingress.hers"), Some(0));
    assert_eq!(
        fake.driver()
            .registers
            .value(spinneret_regmap::guard::ENFORCE.offset),
        Some(1)
    );
}

#[test]
fn reads_handler_output_without_blocking() {
    let (nic, fake) = nic();
    let mut stdout = nic.stdout();
    assert_eq!(ok(stdout.lines()), []);
    for character in *b"hi\n" {
        fake.driver()
            .registers
            .offer_stdout(Some(0x0001_0200 | u32::from(character)));
        let lines = ok(stdout.lines());
        assert_eq!(lines.len(), usize::from(character == b'\n'));
        if let [printed] = &lines[..] {
            assert_eq!(
                (printed.cluster, printed.hpu, printed.line.as_str()),
                (1, 2, "hi")
            );
        }
    }
}

/// The message of a card that cannot be opened, after something was changed.
fn refused(change: impl FnOnce(&Fake)) -> String {
    let fake = Fake::new(Variant::DropIn);
    change(&fake);
    let error = card(&fake).unwrap_err().to_string();
    assert_eq!(fake.driver().books.open, 0, "the file is closed again");
    error
}

#[test]
fn open_errors_say_what_to_do() {
    let fails = |error| refused(|fake| fake.driver().open_fails = Some(error));
    assert!(fails(Errno::NOENT).starts_with("there is no /dev/pspin0: load the driver with `modprobe"));
    let permission = fails(Errno::ACCESS);
    assert!(
        permission.contains("run as root, or let a udev rule") && permission.contains("GROUP="),
        "{permission}"
    );
    assert_eq!(
        fails(Errno::WOULDBLOCK),
        "the card at /dev/pspin0 is in use by another program: end it, or let `spinneret share /dev/pspin0` open the card for all of them"
    );
    assert!(fails(Errno::MFILE).starts_with("/dev/pspin0 cannot be opened: "));
    let none = refused(|fake| fake.driver().cards = 0);
    assert!(
        none.contains("load the drivers mqnic and mqnic_app_pspin"),
        "{none}"
    );
    assert!(refused(|fake| fake.driver().cards = 2).starts_with("there are 2 cards"));
    let other = Fake::new(Variant::DropIn);
    let error = Card::open(other, Path::new("/dev/pspin1")).unwrap_err();
    assert!(matches!(error, CardError::NoFile(_)), "{error}");
}

#[test]
fn a_card_has_one_owner_at_a_time() {
    let (nic, fake) = nic();
    let error = card(&fake).unwrap_err();
    assert!(matches!(error, CardError::Busy(_)), "{error}");
    drop(nic);
    let other = ok(fake.driver().map(0, 4096));
    let error = card(&fake).unwrap_err().to_string();
    assert!(
        error.contains("host memory of context 0 at /dev/pspin0 is mapped already"),
        "{error}"
    );
    drop(other);
    fake.driver().unmap(0);
    ok(Nic::new(ok(card(&fake))));
}

#[test]
fn failed_host_memory_leaves_no_context() {
    for (error, wanted) in [
        (
            Errno::NOMEM,
            "not enough memory: the kernel has no 1048576 bytes in one piece",
        ),
        (
            Errno::AGAIN,
            "host memory of context 0 is in use by another program",
        ),
        (Errno::IO, "as published it maps that of context 0 only"),
    ] {
        let (nic, fake) = nic();
        fake.driver().mapping_fails = Some(error);
        let refused = nic.open_context(program(), "count", &port(1), &Options::default());
        let message = refused.unwrap_err().to_string();
        assert!(message.starts_with("Nic::open_context, context 0: "), "{message}");
        assert!(message.contains(wanted), "{message}");
        assert_eq!(fake.driver().books.mapped, 0);
        fake.driver().mapping_fails = None;
        fake.driver().areas[0] = None;
        assert_eq!(open(&nic, "count", &port(1)).number(), 0);
    }
}

#[test]
fn driver_errors_name_the_register() {
    let (nic, fake) = nic();
    let context = open(&nic, "count", &port(1));
    // Somebody else writes to sysfs, which nothing can prevent.
    let size = her_meta::offset("host_mem_size", 0).expect("it is there");
    fake.driver().registers.write(size, 1, 0xf);
    let mut device = nic.device();
    assert!(matches!(
        device.write_register(me::mask(0, 0).expect("it is there"), 1),
        Err(DeviceError::Refused(_))
    ));
    drop(device);
    let error = context.close().unwrap_err().to_string();
    assert!(
        error.starts_with("Context::close, context 0: write of register her.valid (0x3000) failed"),
        "{error}"
    );
    assert!(error.contains("dmesg"), "{error}");
    assert_eq!(
        fake.driver().registers.value(cl::AUX_RESET),
        Some(1),
        "memory is freed after the handlers"
    );
    assert_eq!(fake.driver().books, books(1, 1, 1));
    ok(open(&nic, "count", &port(1)).close());
}

#[test]
fn every_call_detects_a_removed_driver() {
    let (nic, fake) = nic();
    let context = open(&nic, "count", &port(1));
    let total = ok(context.variable("total"));
    let host = context.host_memory();
    fake.driver().is_gone = true;
    let is_gone = |error: spinneret_host::Error| {
        let gone = match &error.kind {
            ErrorKind::Register { source, .. } | ErrorKind::Cluster { source, .. } => source,
            kind => panic!("{kind}"),
        };
        assert!(matches!(gone, DeviceError::Gone(_)), "{error}");
    };
    is_gone(total.load::<u32>(0).unwrap_err());
    is_gone(total.store(0, 1_u32).unwrap_err());
    is_gone(nic.stdout().lines().unwrap_err());
    is_gone(context.set_ruleset(&port(2)).unwrap_err());
    ok(host.load::<u32>(0));
    is_gone(context.close().unwrap_err());
    drop((total, host, nic));
    assert_eq!(fake.driver().books, books(0, 1, 1));
}

#[test]
fn a_read_that_ends_early_does_not_go_on_for_ever() {
    let (nic, fake) = nic();
    let context = open(&nic, "count", &port(1));
    fake.driver().longest = 3;
    let error = ok(context.variable("total"))
        .load::<u32>(0)
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("the driver's read ends early"), "{error}");
}

#[test]
fn retries_calls_after_signals() {
    let (nic, fake) = nic();
    fake.driver().interrupted = 2;
    let context = open(&nic, "copy", &port(1));
    ok(ok(context.variable("step")).load::<u64>(0));
    ok(context.close());
    assert_eq!(fake.driver().books, books(1, 1, 1));
}
