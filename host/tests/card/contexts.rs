//! Contexts come and go, and registers hold what they should.

use crate::program::program;
use crate::support::{books, card, nic, ok, open, port};
use spinneret_host::{Nic, Rule, Ruleset};
use spinneret_regmap::matching::encode_field;
use spinneret_regmap::model::Variant;
use spinneret_regmap::{cl, her, her_meta, me};

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
fn a_thousand_lives_of_a_context_leave_nothing_behind() {
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
fn handlers_that_are_left_are_stopped_because_their_memory_goes() {
    let (nic, fake) = nic();
    open(&nic, "count", &port(7000)).leave();
    drop(nic);
    assert_eq!(fake.driver().registers.value(cl::AUX_RESET), Some(1));
    assert_eq!(fake.driver().books, books(0, 1, 1));
    let nic = ok(Nic::new(ok(card(&fake))));
    assert_eq!(open(&nic, "count", &port(7000)).number(), 0);
}

#[test]
fn registers_of_ours_are_used_if_the_driver_has_them() {
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

    let fake = crate::fake::Fake::new(Variant::Extended);
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
fn what_handlers_print_is_read_without_waiting() {
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
