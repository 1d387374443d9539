//! The host library on simulated NICs.

use crate::kit::{contexts, exchange, nic, ok, open, port, program};
use spinneret_host::{Counter, Error, ErrorKind, Nic, Options, Rule, Ruleset};
use spinneret_packets::udp;
use std::time::Duration;

/// Where the payload of a UDP packet begins.
const PAYLOAD: usize = 42;

/// Longest that is waited for something.
const PATIENCE: Duration = Duration::from_millis(10);

#[test]
fn contexts_have_separate_handlers_and_memory() {
    let (nic, simulated) = nic();
    let program = contexts();
    let count = open(&nic, &program, "count", &port(1));
    let copy = open(&nic, &program, "copy", &port(2));
    let fetch = open(&nic, &program, "fetch", &port(3));
    let other = open(&nic, &program, "copy", &port(4));
    ok(fetch.host_memory().write(0, b"!"));
    let packets = (0..40).map(|number: u8| udp(1 + u16::from(number % 4), &[number; 100]));
    let [wire, host] = exchange(&simulated, packets);
    assert!(host.is_empty());
    assert_eq!(ok(count.handler_memory().load::<u32>(0)), 10);
    assert_eq!(wire.len(), 10, "fetch answers");
    assert!(
        wire.iter()
            .all(|out| out.bytes[PAYLOAD..=PAYLOAD + 1] == [b'!', out.bytes[PAYLOAD + 1]])
    );
    for (context, kind) in [(&copy, 1), (&other, 3)] {
        let mut copied = [0; 100];
        ok(context.host_memory().read(64, &mut copied));
        // Whichever packet was the last: packets of one context overtake each other.
        assert!(
            copied.iter().all(|byte| *byte == copied[0] && byte % 4 == kind),
            "{copied:?}"
        );
    }
    assert_eq!(ok(count.host_memory().load::<u64>(64)), 0, "nobody wrote there");
}

#[test]
fn access_to_another_contexts_memory_is_a_fault() {
    let (nic, simulated) = nic();
    let program = contexts();
    let stray = open(&nic, &program, "stray", &port(1));
    let copy = open(&nic, &program, "copy", &port(2));
    let fetch = open(&nic, &program, "fetch", &port(3));
    let count = open(&nic, &program, "count", &port(4));
    let before = ok(nic.counters());
    let own = stray.host_memory().address() + 128;
    let others = [&copy, &fetch, &count].map(|context| context.host_memory().address() + 128);
    let addresses = others.into_iter().chain([own]);
    exchange(
        &simulated,
        addresses.map(|address| udp(1, &address.to_le_bytes())),
    );
    assert_eq!(
        ok(stray.handler_memory().load::<u32>(0)),
        4,
        "all four handlers came to their ends"
    );
    assert_eq!(
        ok(stray.host_memory().load::<u64>(128)),
        0x0053_5452_4159,
        "its own memory it reaches"
    );
    for context in [&copy, &fetch, &count] {
        assert_eq!(
            ok(context.host_memory().load::<u64>(128)),
            0,
            "context {}",
            context.number()
        );
    }
    let counted = ok(nic.counters()).since(&before);
    assert_eq!(counted.get("host_write.outside"), Some(3), "{counted}");
    ok(fetch.host_memory().write(0, b"!"));
    let [wire, _] = exchange(&simulated, (2..5).map(|number| udp(number, b"goes on")));
    assert_eq!(wire[0].bytes[PAYLOAD], b'!');
    assert_eq!(
        ok(copy.host_memory().load::<u32>(64)),
        u32::from_le_bytes(*b"goes")
    );
    assert_eq!(ok(count.handler_memory().load::<u32>(0)), 1);
}

#[test]
fn closing_a_context_keeps_the_others() {
    let (nic, simulated) = nic();
    let program = contexts();
    let mut all: Vec<_> = (0..4)
        .map(|number| open(&nic, &program, "count", &port(number)))
        .collect();
    exchange(&simulated, (0..4).map(|number| udp(number, &[0; 20])));
    drop(all.remove(1));
    let [_, host] = exchange(&simulated, (0..4).map(|number| udp(number, &[0; 20])));
    assert_eq!(host.len(), 1);
    for context in &all {
        assert_eq!(
            ok(context.handler_memory().load::<u32>(0)),
            2,
            "context {}",
            context.number()
        );
    }
    let anew = open(&nic, &program, "copy", &port(1));
    assert_eq!(anew.number(), 1);
    exchange(&simulated, [udp(1, b"anew")]);
    assert_eq!(
        ok(anew.host_memory().load::<u32>(64)),
        u32::from_le_bytes(*b"anew")
    );
}

#[test]
fn variables_counters_and_output_of_handlers_can_be_read() {
    let (nic, simulated) = nic();
    let context = open(&nic, &contexts(), "count", &port(1));
    let mut stdout = nic.stdout();
    let before = ok(nic.counters());
    ok(ok(context.variable("step")).store(0, 5_u64));
    exchange(&simulated, (0..6).map(|_| udp(1, &[0; 20])));
    assert_eq!(ok(ok(context.variable("total")).load::<u32>(0)), 6);
    assert_eq!(ok(context.handler_memory().load::<u32>(0)), 30);
    assert_eq!(ok(context.handler_counter(2)), Counter { sum: 60, count: 6 });
    assert_eq!(ok(context.handler_counter(3)), Counter::default());
    let mut lines: Vec<_> = ok(stdout.lines())
        .into_iter()
        .map(|printed| printed.line)
        .collect();
    lines.sort_by_key(|line| (line.len(), line.clone()));
    assert_eq!(
        lines,
        [0, 5, 10, 15, 20, 25].map(|count| format!("packet {count}"))
    );
    let counted = ok(nic.counters()).since(&before);
    assert_eq!(counted.get("ingress.hers"), Some(6));
    assert_eq!(counted.get("ingress.hopes"), None);
    let error = context.variable("totale").unwrap_err().to_string();
    assert!(error.contains("no variable `totale` in L2; it has"), "{error}");
    assert!(error.contains("total"), "{error}");
}

#[test]
fn memory_accesses_are_checked() {
    let (nic, _) = nic();
    let context = open(&nic, &contexts(), "copy", &port(1));
    let (host, handler) = (context.host_memory(), context.handler_memory());
    for offset in [0, 60, host.len() - 8] {
        ok(host.store(offset / 8 * 8, 0x0123_4567_89ab_cdef_u64));
        assert_eq!(ok(host.load::<u32>(offset / 8 * 8 + 4)), 0x0123_4567);
    }
    for offset in 0..5 {
        ok(handler.store(0, u64::MAX));
        ok(handler.write(offset, &[1, 2, 3]));
        let mut read = [0; 8];
        ok(handler.read(0, &mut read));
        let mut wanted = [0xff; 8];
        wanted[offset as usize..][..3].copy_from_slice(&[1, 2, 3]);
        assert_eq!(read, wanted, "at {offset}");
    }
    let outside = |result: Result<(), Error>| {
        let error = result.unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Outside { .. }), "{error}");
    };
    outside(host.write(host.len() - 3, &[0; 4]));
    outside(host.read(u32::MAX, &mut [0; 4]));
    outside(host.store(host.len(), 0_u32));
    outside(handler.write(handler.len(), &[0]));
    outside(handler.load::<u64>(handler.len() - handler.len() % 8).map(|_| ()));
    for error in [
        host.load::<u64>(4).unwrap_err(),
        handler.load::<u32>(2).unwrap_err(),
    ] {
        assert!(matches!(error.kind, ErrorKind::Misaligned { .. }), "{error}");
    }
}

#[test]
fn waiting_ends_in_time() {
    let (nic, simulated) = nic();
    let context = open(&nic, &contexts(), "count", &port(1));
    simulated.borrow_mut().receive(udp(1, &[0; 20]));
    let memory = context.handler_memory();
    ok(nic.wait_until("a packet", PATIENCE, || Ok(memory.load::<u32>(0)? == 1)));
    let error = nic
        .wait_until("a second packet", PATIENCE, || Ok(memory.load::<u32>(0)? == 2))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "Nic::wait_until: a second packet did not happen within 10ms"
    );
}

/// Simulation costs real time; a second on an idle NIC does not.
#[test]
fn long_idle_waits_are_cheap() {
    let (nic, simulated) = nic();
    let context = open(&nic, &contexts(), "count", &port(1));
    let memory = context.handler_memory();
    let before = simulated.borrow().simulated_clocks();
    let second = Duration::from_secs(1);
    let error = nic.wait_until("a packet", second, || Ok(memory.load::<u32>(0)? == 1));
    assert!(error.is_err());
    assert!(nic.now() >= second);
    let clocks = simulated.borrow().simulated_clocks() - before;
    assert!(clocks < 100_000, "{clocks} clocks of 250 million were simulated");
}

#[test]
fn packets_of_a_closed_context_go_to_the_host() {
    let (nic, simulated) = nic();
    let context = open(&nic, &contexts(), "fetch", &port(7000));
    let packet = udp(7000, &[9; 30]);
    let [wire, host] = exchange(&simulated, [packet.clone()]);
    assert_eq!((wire.len(), host.len()), (1, 0));
    drop(context);
    let [wire, host] = exchange(&simulated, [packet.clone()]);
    assert_eq!((wire.len(), host.len()), (0, 1));
    assert_eq!(host[0].bytes, packet);
}

#[test]
fn rules_of_an_open_context_can_be_changed() {
    let (nic, simulated) = nic();
    let context = open(&nic, &contexts(), "fetch", &port(7000));
    let either = Ruleset::any()
        .rule(Rule::udp_destination_port(7001, 7001))
        .rule(Rule::udp_destination_port(8000, 8999));
    ok(context.set_ruleset(&either));
    let [wire, host] = exchange(
        &simulated,
        [7000, 7001, 8500, 9000].map(|port| udp(port, &[0; 20])),
    );
    assert_eq!((wire.len(), host.len()), (2, 2));
    let error = context
        .set_ruleset(&Ruleset::all().rule(Rule::udp_source_port(9, 8)))
        .unwrap_err();
    let wanted = "Context::set_ruleset, context 0: rule 1 matches nothing";
    assert!(error.to_string().starts_with(wanted), "{error}");
    assert_eq!(
        exchange(&simulated, [udp(8000, &[0; 20])])[0].len(),
        1,
        "the old rules stay"
    );
}

#[test]
fn a_reopened_nic_is_clean() {
    let (nic, simulated) = nic();
    open(&nic, &contexts(), "fetch", &port(7000)).leave();
    drop(nic);
    assert_eq!(
        exchange(&simulated, [udp(7000, &[0; 20])])[0].len(),
        1,
        "it was left there"
    );
    let nic = ok(Nic::new(simulated.clone()));
    assert_eq!(
        exchange(&simulated, [udp(7000, &[0; 20])])[1].len(),
        1,
        "it is gone"
    );
    assert_eq!(open(&nic, &contexts(), "count", &port(7000)).number(), 0);
}

#[test]
fn contexts_that_cannot_be_opened_are_explained() {
    let (nic, _) = nic();
    let all = contexts();
    let rules = port(7000);
    let refused = |program, name, options: &Options| {
        let error = nic.open_context(program, name, &rules, options).unwrap_err();
        (error.to_string(), error.kind)
    };
    let (message, _) = refused(&all, "conut", &Options::default());
    assert!(message.starts_with("Nic::open_context: "), "{message}");
    assert!(
        message.contains("has no handler `conut`; it has `count_ph`, `copy_ph`"),
        "{message}"
    );

    let greedy = Options {
        handler_bytes: Some(2 << 20),
        ..Options::default()
    };
    let (message, _) = refused(&all, "count", &greedy);
    let wanted = "Nic::open_context, context 0: no room for 2097152 bytes of handler memory: ";
    assert!(message.starts_with(wanted), "{message}");

    let four: Vec<_> = (0..4)
        .map(|number| open(&nic, &all, "count", &port(number)))
        .collect();
    let (message, kind) = refused(&all, "count", &Options::default());
    assert!(matches!(kind, ErrorKind::NoContext(4)), "{kind:?}");
    assert!(message.contains("all 4 contexts are in use"), "{message}");
    drop(four);

    let one = open(&nic, &all, "count", &rules);
    let other = program("examples/udp_ping");
    let (message, _) = refused(&other, "udp_ping", &Options::default());
    assert!(
        message.contains("contexts.elf, and all contexts share one program"),
        "{message}"
    );
    drop(one);
    assert_eq!(
        open(&nic, &other, "udp_ping", &rules).number(),
        0,
        "the cluster is free again"
    );
}
