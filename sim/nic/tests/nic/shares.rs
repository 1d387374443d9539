//! Shares of contexts: bounds on slots, rates and bytes of each path, on the model of the clusters and on their hardware.

use crate::kit::{self, Served, contexts, exchange, ok, open, port, shared};
use spinneret_cluster::{DataPath, Event};
use spinneret_host::{Context, Device as _, Nic, Share};
use spinneret_nic::Simulated;
use spinneret_nic::nic::Backend;
use spinneret_packets::udp;
use spinneret_regmap::pspin::HANDLER_CLOCKS;
use spinneret_regmap::shares::RATE_FRACTION;
use spinneret_regmap::{message_id, slots};

const BACKENDS: [Backend; 2] = [Backend::Model, Backend::Rtl];

/// Takes some time for each packet.
const SLOW: &str = "#include <handler.h>
    volatile uint32_t handled;
    __handler__ void app_ph(handler_args_t *args) {
        for (uint32_t step = 0; step < 1000; ++step) { asm volatile(\"\"); }
        amo_send_add((volatile int32_t *)&handled, 1);
    }\n";

/// Packets that come at once.
fn flood(simulated: &Simulated, packets: impl IntoIterator<Item = Vec<u8>>) -> usize {
    let mut nic = simulated.borrow_mut();
    packets.into_iter().for_each(|packet| nic.receive(packet));
    let limit = nic.now_ps() + 10_000_000_000;
    assert!(ok(nic.run_until_idle(limit)), "packets stay on their way");
    std::iter::from_fn(|| nic.take_wire()).count()
}

fn dropped(nic: &Nic<Simulated>, context: &Context<Simulated>) -> u32 {
    let name = format!("ingress.dropped_bound[{}]", context.number());
    ok(nic.counters())
        .get(&name)
        .expect("there is a counter for each context")
}

#[test]
fn a_bound_on_slots_drops_packets_of_its_context_only() {
    const BOUND: u32 = 3;
    for backend in BACKENDS {
        let (nic, simulated) = shared(backend, HANDLER_CLOCKS);
        let ping = open(&nic, &kit::program("examples/udp_ping"), "udp_ping", &port(1));
        let slow = open(&nic, &kit::compiled(SLOW), "app", &port(2));
        let handled = ok(slow.variable("handled"));
        let both = || (0..40).map(|number: u16| udp(1 + number % 2, &[7; 100]));
        assert_eq!(flood(&simulated, both()), 20);
        assert_eq!((ok(handled.load::<u32>(0)), dropped(&nic, &slow)), (20, 0));
        ok(slow.set_share(Share {
            slots: BOUND,
            ..Share::default()
        }));
        assert_eq!(
            flood(&simulated, both()),
            20,
            "{backend:?}: each ping is answered"
        );
        let taken = ok(handled.load::<u32>(0)) - 20;
        assert!((BOUND..20).contains(&taken), "{backend:?}: {taken} of 20");
        assert_eq!((dropped(&nic, &slow), dropped(&nic, &ping)), (20 - taken, 0));
        if backend == Backend::Rtl {
            assert_eq!(ok(slow.usage()).dropped_bound, 20 - taken);
        }
        // The next context of this number has no bound.
        drop(slow);
        let next = open(&nic, &kit::compiled(SLOW), "app", &port(2));
        assert_eq!(flood(&simulated, both()), 20);
        assert_eq!(dropped(&nic, &next), 20 - taken, "{backend:?}");
    }
}

#[test]
fn a_bound_on_slots_ends_with_its_program() {
    let (nic, simulated) = kit::nic();
    let context = open(&nic, &contexts(), "count", &port(1));
    let share = Share {
        slots: 1,
        ..Share::default()
    };
    ok(context.set_share(share));
    let bound = slots::BOUND.address(context.number()).expect("it is there");
    let read = || ok(simulated.borrow_mut().get(bound));
    assert_eq!(read(), 1);
    context.leave();
    drop(nic);
    drop(ok(Nic::new(simulated.clone())));
    assert_eq!(read(), 0);
}

#[test]
fn bytes_of_each_path_are_counted() {
    const TIMES: u64 = 5;
    for backend in BACKENDS {
        let (nic, simulated) = shared(backend, HANDLER_CLOCKS);
        let program = contexts();
        let copy = open(&nic, &program, "copy", &port(1));
        let fetch = open(&nic, &program, "fetch", &port(2));
        let packet = |port| udp(port, &[9; 300]);
        exchange(&simulated, (0..TIMES).flat_map(|_| [packet(1), packet(2)]));
        let mut moved = [[0; 3]; 2];
        for event in simulated.borrow_mut().take_events() {
            if let Event::Moved { message, path, bytes } = event {
                let context = usize::from(message_id::context(message) == fetch.number());
                moved[context][match path {
                    DataPath::HostWritten => 0,
                    DataPath::HostRead => 1,
                    DataPath::Sent => 2,
                }] += u64::from(bytes);
            }
        }
        let sent = packet(2).len() as u64;
        let expected = [[300, 0, 0], [0, 1, sent]].map(|paths| paths.map(|bytes| bytes * TIMES));
        assert_eq!(moved, expected, "{backend:?}");
        if backend == Backend::Rtl {
            let counted = [&copy, &fetch].map(|context| {
                let usage = ok(context.usage());
                [usage.host_written, usage.host_read, usage.sent]
            });
            assert_eq!(counted, expected);
        }
    }
}

#[test]
fn a_rate_limits_what_its_context_sends() {
    const RATE: u32 = 1 << (RATE_FRACTION - 4);
    let (nic, simulated) = shared(Backend::Rtl, HANDLER_CLOCKS);
    let program = kit::program("examples/udp_ping");
    let limited = open(&nic, &program, "udp_ping", &port(1));
    let _free = open(&nic, &program, "udp_ping", &port(2));
    let clocks = |port| {
        let before = simulated.borrow().now_ps();
        let packets = (0..10).map(|_| udp(port, &[7; 1000]));
        assert_eq!(flood(&simulated, packets), 10);
        let nic = simulated.borrow();
        (nic.now_ps() - before) / nic.config().cluster_ps
    };
    // The first task of a context clears its memory.
    for port in [1, 2] {
        clocks(port);
    }
    ok(limited.set_share(Share {
        egress_rate: RATE,
        ..Share::default()
    }));
    // All but the first few frames wait.
    let least = 8 * 1000 * 16;
    let [limited, free] = [1, 2].map(clocks);
    assert!(
        limited > least && free < limited / 4,
        "{limited} clocks, {free} without a limit"
    );
}

#[test]
fn what_the_model_does_not_have_is_refused() {
    let (nic, _) = shared(Backend::Model, HANDLER_CLOCKS);
    let context = open(&nic, &contexts(), "count", &port(1));
    let first = Share::default();
    for share in [
        Share { weight: 2, ..first },
        Share { budget: 100, ..first },
        Share {
            egress_rate: 1,
            slots: 3,
            ..first
        },
    ] {
        let error = context.set_share(share).expect_err("the model has no shares");
        assert!(error.to_string().contains("no shares of contexts"), "{error}");
    }
    let error = context.set_share(Share {
        slots: 0x1_0000,
        ..first
    });
    let error = error.expect_err("the register has 16 bits").to_string();
    assert!(
        error.contains("a bound on slots of 65536 is not possible: this process may set 0 to 65535"),
        "{error}"
    );
}

#[test]
fn processes_lower_what_the_owner_of_the_nic_allows() {
    let options = "--cluster rtl --weights 8,1,1,1 --slots 0,16,1,1 --egress-rates 0,512,1,1";
    let options: Vec<&str> = options.split(' ').collect();
    let server = Served::start(&options, &[]);
    let nic = ok(Nic::open(&server.name()));
    let [first, second] = [1, 2].map(|number| open(&nic, &contexts(), "count", &port(number)));
    let of_second = Share {
        slots: 16,
        egress_rate: 512,
        ..Share::default()
    };
    for (context, share, error) in [
        (
            &first,
            Share {
                weight: 8,
                ..Share::default()
            },
            None,
        ),
        (
            &first,
            Share {
                slots: 64,
                egress_rate: 9,
                ..Share::default()
            },
            None,
        ),
        (&second, of_second, None),
        (
            &second,
            Share {
                weight: 2,
                ..of_second
            },
            Some("a weight of 2 is not possible: this process may set 1 to 1"),
        ),
        (
            &second,
            Share {
                slots: 17,
                ..of_second
            },
            Some("a bound on slots of 17 is not possible: this process may set 1 to 16"),
        ),
        (
            &second,
            Share {
                egress_rate: 0,
                ..of_second
            },
            Some("a rate of packets to send of 0 is not possible: this process may set 1 to 512"),
        ),
    ] {
        match (context.set_share(share), error) {
            (Ok(()), None) => {}
            (Err(refused), Some(error)) => assert!(refused.to_string().contains(error), "{refused}"),
            (set, _) => panic!("{share:?}: {set:?}"),
        }
    }
    let bound = slots::BOUND.address(second.number()).expect("it is there");
    assert_eq!(ok(nic.device().read_register(bound)), 16);
}
