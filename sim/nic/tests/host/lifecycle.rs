//! Contexts come and go, and leave nothing behind.

use crate::support::{contexts, exchange, nic, ok, open, port, program};
use spinneret_host::{ErrorKind, Nic, Options, Rule, Ruleset};
use spinneret_packets::udp;

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
fn rules_can_be_changed_while_a_context_is_there() {
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
fn a_nic_that_is_taken_anew_is_clean() {
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
fn what_cannot_be_opened_is_said() {
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
    let wanted =
        "Nic::open_context, context 0: not enough memory: 2097152 bytes of handler memory are not free";
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
