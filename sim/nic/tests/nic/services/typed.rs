//! Typed services: stubs in C pack what the host unpacks, and the reverse.

use super::Bench;
use super::sample::{Host, SampleService, Seen, UNIT_EIGHT, UNIT_FOUR, release, sample};
use crate::kit::{ok, program, runtime};
use spinneret_host::{Options, Ruleset};
use spinneret_nic::Simulated;
use spinneret_rpc::{Copies, Offer, Refusal, Services, ServicesError, Status, opcode};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// The request to the handler of `runtime/tests/typed`: `enum kind` there.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
enum Kind {
    Values,
    Note,
    Sum,
    Fill,
    Reverse,
    Handles,
    Tickets,
    Secret,
    Mix,
    Raw,
    Touch,
    FaultLater,
    Touches,
    Later,
    Copy,
}

/// A NIC whose handlers make typed calls.
struct Typed {
    bench: Bench,
    services: Services<Simulated>,
    seen: Rc<RefCell<Seen>>,
}

impl Typed {
    fn new(offer: &Offer) -> Self {
        let bench = Bench::new();
        let options = Options {
            host_bytes: 2 << 20,
            ..Options::default()
        };
        let context = bench.context_of("typed", 1, &options);
        let seen = Rc::default();
        let service = SampleService::new(Host::new(&seen));
        let services = ok(Services::open(context, offer, |server| {
            server.add(opcode::SPINNERET, Rc::new(service));
        }));
        Self {
            bench,
            services,
            seen,
        }
    }

    /// One packet there and back: the words behind kind, count and number.
    fn ask(&mut self, kind: Kind, count: u32, number: u32, rest: &[u32]) -> [u32; 13] {
        let rest: Vec<u8> = rest.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.bench.push_to(1, [kind as u32, count, number], &rest);
        self.bench.wait(&mut self.services, 1)[0].rest
    }
}

const DONE: u32 = Status::DONE.raw();

#[test]
fn the_header_of_the_handler_is_up_to_date() {
    let path = runtime("tests/typed/sample.h");
    if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
        ok(std::fs::write(&path, sample::C_HEADER));
    }
    assert!(
        ok(std::fs::read_to_string(path)) == sample::C_HEADER,
        "runtime/tests/typed/sample.h differs from the trait: run it with SPINNERET_UPDATE_DOCS=1"
    );
}

#[test]
fn values_strings_and_data_arrive_unchanged_both_ways() {
    for copies in [Copies::Words, Copies::Bits, Copies::Host] {
        let mut typed = Typed::new(&Offer {
            copies,
            ..Offer::default()
        });
        assert_eq!(typed.ask(Kind::Values, 0, 0, &[])[..2], [DONE, 1]);
        assert_eq!(typed.ask(Kind::Mix, 0, 0, &[])[..2], [DONE, 1]);
        // In the packet up to 48 bytes with the NUL, outside of it above; the limit is 1000 with the NUL.
        for length in [0, 1, 46, 47, 48, 200, 999] {
            assert_eq!(typed.ask(Kind::Note, length, 0, &[])[0], DONE, "{length}");
            let text = typed.seen.borrow_mut().texts.pop().unwrap_or_default();
            let wanted: String = ('a'..='z').cycle().take(length as usize).collect();
            assert_eq!(text, wanted);
        }
        assert_eq!(
            typed.ask(Kind::Note, 1000, 0, &[])[0],
            Status::TEXT.raw(),
            "refused at the handler"
        );
        for count in [0, 1, 23, 24, 25, 100] {
            let [status, low, high, ..] = typed.ask(Kind::Sum, count, 3, &[]);
            let sum: u32 = (0..count).map(|number| number % 128 + 3).sum();
            assert_eq!((status, low, high), (DONE, sum, 0), "{count}");
        }
        for (rows, unit) in [
            (0, UNIT_FOUR),
            (12, UNIT_FOUR),
            (13, UNIT_FOUR),
            (6, UNIT_EIGHT),
            (50, UNIT_EIGHT),
        ] {
            let answer = typed.ask(Kind::Fill, rows, unit.raw(), &[]);
            assert_eq!(answer[..2], [DONE, 0], "{rows} rows");
        }
        for count in [0, 1, 12, 13, 500] {
            let answer = typed.ask(Kind::Reverse, count, 0, &[]);
            assert_eq!(answer[..3], [DONE, 0, count]);
        }
        let (counts, _) = ok(typed.services.close());
        assert!(counts.refusals.is_empty(), "{counts:?}");
    }
}

#[test]
fn a_port_has_exactly_64_kib() {
    let mut typed = Typed::new(&Offer::default());
    let [status, low, ..] = typed.ask(Kind::Sum, 32768, 0, &[]);
    assert_eq!((status, low), (DONE, 256 * (127 * 64)));
    let answer = typed.ask(Kind::Fill, 8192, UNIT_EIGHT.raw(), &[]);
    assert_eq!(answer[..2], [DONE, 0]);
    let [status, ..] = typed.ask(Kind::Sum, 32769, 0, &[]);
    assert_eq!(status, Status::ROOM.raw(), "refused at the handler");
    assert_eq!(typed.ask(Kind::Sum, 1, 9, &[])[..2], [DONE, 9]);
}

#[test]
fn statuses_are_separate_from_results() {
    let mut typed = Typed::new(&Offer::default());
    let off = Status::OFF.raw();
    assert_eq!(
        typed.ask(Kind::Secret, 0, 0, &[0, 7])[..2],
        [off, 7],
        "the result is not touched"
    );
    assert_eq!(typed.ask(Kind::Touch, 0, 13, &[])[0], Status::failed(1300).raw());
    assert_eq!(typed.ask(Kind::Touch, 0, 12, &[])[0], DONE);
    assert_eq!(typed.seen.borrow().touched, [12]);
    let handle = Status::HANDLE.raw();
    let wanted = [DONE, DONE, handle, DONE, handle, DONE, handle, 1];
    assert_eq!(typed.ask(Kind::Handles, 0, 0, &[])[..8], wanted);
    // An invalid size.
    assert_eq!(typed.ask(Kind::Fill, 4, 4, &[])[0], handle);
    let (counts, _) = ok(typed.services.close());
    let counted: Vec<u64> = [Status::OFF, Status::FAILED, Status::HANDLE]
        .iter()
        .map(|status| counts.of(Refusal::new(status.name())))
        .collect();
    assert_eq!(counted, [1, 1, 4]);
}

#[test]
fn an_unclaimed_ticket_does_not_block_its_port() {
    for ports_per_hpu in [1, 2] {
        let mut typed = Typed::new(&Offer {
            ports_per_hpu,
            ..Offer::default()
        });
        // The second call of an HPU with one port needs the port, so the first one's answer is lost.
        let is_kept = ports_per_hpu == 2;
        if !is_kept {
            release(&typed.seen);
        }
        typed.bench.push_to(1, [Kind::Tickets as u32, 0, 0], &[]);
        ok(typed.services.wait(Duration::from_millis(1)));
        assert_eq!(
            typed.seen.borrow().touched,
            if is_kept { &[5][..] } else { &[5, 6] }
        );
        release(&typed.seen);
        let rest = typed
            .bench
            .wait(&mut typed.services, 1)
            .pop()
            .map(|answer| answer.rest)
            .unwrap_or_default();
        let dropped = Status::DROPPED.raw();
        let wanted = match is_kept {
            true => [0, DONE, DONE, 42, 21, dropped, 1, 2, dropped, DONE],
            false => [1, DONE, dropped, 0, 0, dropped, 2, 1, dropped, DONE],
        };
        // Whether the first look came too early is known only if the call was held.
        let known = if is_kept { 0 } else { 1 };
        assert_eq!(rest[known..10], wanted[known..], "{ports_per_hpu} ports");
        let (counts, _) = ok(typed.services.close());
        assert!(counts.refusals.is_empty(), "{counts:?}");
    }
}

#[test]
fn a_failed_handler_releases_the_port_of_its_ticket() {
    let mut typed = Typed::new(&Offer::default());
    release(&typed.seen);
    for _ in 0..20 {
        typed.bench.push_to(1, [Kind::FaultLater as u32, 0, 0], &[]);
    }
    ok(typed.services.wait(Duration::from_micros(200)));
    for number in 0..20 {
        assert_eq!(typed.ask(Kind::Touch, 0, 100 + number, &[])[0], DONE);
    }
    assert_eq!(typed.seen.borrow().touched, Vec::from_iter(100..120));
}

#[test]
fn a_deferred_call_slows_others_by_less_than_5_percent() {
    let mut typed = Typed::new(&Offer::default());
    let time = |typed: &mut Typed| {
        let [clocks, refused, ..] = typed.ask(Kind::Touches, 400, 0, &[]);
        assert_eq!(refused, 0);
        f64::from(clocks)
    };
    // The first ones bring the program into the caches of both clusters.
    let warm: Vec<f64> = (0..4).map(|_| time(&mut typed)).collect();
    let alone = warm[3];
    typed.bench.push_to(1, [Kind::Later as u32, 0, 0], &[]);
    ok(typed.services.wait(Duration::from_micros(200)));
    let beside: Vec<f64> = (0..4).map(|_| time(&mut typed)).collect();
    assert_eq!(typed.seen.borrow().parked, 1, "it is asked once, and waits");
    for clocks in beside {
        let change = (clocks - alone) / alone;
        println!("400 calls: {alone} clocks alone, {clocks} beside a parked one");
        assert!(
            change.abs() < 0.05,
            "{alone} clocks alone, {clocks} beside a parked call"
        );
    }
    release(&typed.seen);
    let answers = typed.bench.wait(&mut typed.services, 1);
    assert_eq!(answers[0].rest[..3], [DONE, 2, 1]);
}

#[test]
fn long_data_take_at_most_30_percent_longer_than_a_copy() {
    let mut typed = Typed::new(&Offer::default());
    let [copy, call, status, ..] = typed.ask(Kind::Copy, 65536, 0, &[]);
    println!("64 KiB: {copy} clocks for the copy alone, {call} for the call");
    assert_eq!(status, DONE);
    assert!(
        10 * call <= 13 * copy,
        "{call} clocks for a call whose copy takes {copy}"
    );
}

#[test]
fn malformed_calls_are_refused_by_name() {
    let mut typed = Typed::new(&Offer::default());
    let call = |function: u32| 0x7341_0000 | function;
    let inline = u32::MAX;
    let cases: [(&str, u32, &[u32], Status); 13] = [
        ("no such function", call(77), &[1], Status::NOBODY),
        (
            "a flag of 2",
            call(1),
            &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2],
            Status::VALUE,
        ),
        ("longer than it says", call(3), &[1, 4, inline, 6], Status::LENGTH),
        (
            "longer than a packet",
            call(3),
            &[1, 25, inline, 50],
            Status::LENGTH,
        ),
        (
            "a product that overflows",
            call(3),
            &[1, 0x8000_0000, 0, 0],
            Status::LENGTH,
        ),
        (
            "longer than there is",
            call(3),
            &[1, 40000, 0, 80000],
            Status::ROOM,
        ),
        ("behind the area", call(3), &[1, 32, 65536, 64], Status::OUTSIDE),
        (
            "reaches out of the area",
            call(3),
            &[1, 32, 65480, 64],
            Status::OUTSIDE,
        ),
        (
            "an end that wraps around",
            call(3),
            &[1, 32, 0xffff_fff8, 64],
            Status::OUTSIDE,
        ),
        ("between words", call(3), &[1, 32, 4, 64], Status::OUTSIDE),
        ("no NUL", call(2), &[1, inline, 4, 0x6161_6161], Status::TEXT),
        (
            "a NUL inside",
            call(2),
            &[1, inline, 4, 0x0061_0061],
            Status::TEXT,
        ),
        ("no UTF-8", call(2), &[1, inline, 2, 0x00ff], Status::TEXT),
    ];
    for (what, opcode, words, status) in cases {
        let answer = typed.ask(Kind::Raw, 0, opcode, words);
        assert_eq!(answer[0], status.raw(), "{what}: {status}");
    }
    assert!(typed.seen.borrow().texts.is_empty());
    let (counts, _) = ok(typed.services.close());
    let refused: u64 = counts.refusals.values().sum();
    assert_eq!(refused, cases.len() as u64, "{counts:?}");
}

#[test]
fn a_stub_of_another_version_is_refused_by_name() {
    struct Newer;
    impl spinneret_rpc::Service for Newer {
        fn handles(&self, _: u32) -> Option<spinneret_rpc::CallMode> {
            None
        }
        fn version(&self, opcode: u32) -> Option<u64> {
            (opcode == sample::FILL.opcode).then_some(sample::FILL.hash ^ 1)
        }
        fn call(self: Rc<Self>, _: spinneret_rpc::Call) -> spinneret_rpc::server::Answer {
            Box::pin(async {})
        }
    }
    for is_on_thread in [false, true] {
        let bench = Bench::new();
        let program = program("tests/typed");
        let options = Options::default();
        let context = ok(bench
            .nic
            .open_context(&program, "typed", &Ruleset::never(), &options));
        let offer = Offer::default();
        let error = match is_on_thread {
            true => Services::on_thread(context, &offer, |server| {
                server.add(opcode::SPINNERET, Rc::new(Newer))
            }),
            false => Services::open(context, &offer, |server| {
                server.add(opcode::SPINNERET, Rc::new(Newer))
            }),
        };
        let error = error.map(|_| ()).unwrap_err();
        assert!(
            matches!(&error, ServicesError::OtherVersion { function, .. } if function == "sample_fill"),
            "{error}"
        );
    }
}
