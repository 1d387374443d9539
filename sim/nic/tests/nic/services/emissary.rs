//! Emissary APIs from handlers in C: arguments of every form, and memory that moves with a call.

use super::Bench;
use super::sample::{Host, SampleService, Seen};
use crate::kit::ok;
use spinneret_host::Options;
use spinneret_nic::Simulated;
use spinneret_rpc::emissary::{Api, Outcome, Reply, Request, refused};
use spinneret_rpc::opcode::emissary::RESERVE;
use spinneret_rpc::{Copies, Emissary, Offer, Refusal, Services, opcode};
use std::cell::RefCell;
use std::rc::Rc;

/// The request to the handler of `runtime/tests/emissary`: `enum kind` there.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
enum Kind {
    Values,
    Sum,
    Turn,
    Text,
    Most,
    Wrong,
    Clocks,
}

/// The functions that its stubs call.
#[derive(Debug)]
struct Functions;

impl Api for Functions {
    fn call<'a>(&'a self, request: &'a mut Request) -> Outcome<'a> {
        Box::pin(async move {
            match request.function() {
                1 => values(request).map(Reply::Integer),
                2 => Ok(Reply::Double(request.double(0)? + request.double(1)?)),
                3 => reversed(request).map(Reply::Integer),
                4 => lengths(request).map(Reply::Integer),
                5 => (0..request.arguments())
                    .map(|index| request.integer(index))
                    .sum::<Result<i64, Refusal>>()
                    .map(Reply::Integer),
                6 => request.integer(0).map(|_| Reply::Integer(0)),
                _ => Err(refused::FUNCTION),
            }
        })
    }
}

/// Compares what the handler has given.
fn values(request: &Request) -> Result<i64, Refusal> {
    let integers = [
        1,
        -5,
        65535,
        i64::from(b'c'),
        -7,
        i64::from(4_000_000_000_u32 as i32),
        -1 << 40,
    ];
    for (index, wanted) in integers.into_iter().enumerate() {
        assert_eq!(request.integer(index)?, wanted, "argument {index}");
    }
    assert_eq!([request.double(7)?, request.double(8)?], [1.5, -2.25]);
    assert_ne!(request.handle(9)?, 0);
    assert_eq!(request.string(10)?, Some(&b"text"[..]));
    assert_eq!(request.string(11)?, None);
    assert_eq!((request.integer(12)?, request.arguments()), (-8, 13));
    Ok(0x1234_5678_9abc_def0)
}

fn reversed(request: &mut Request) -> Result<i64, Refusal> {
    let mut bytes = request.input(0)?.ok_or(refused::POINTER)?.to_vec();
    bytes.reverse();
    request
        .output(1)?
        .ok_or(refused::POINTER)?
        .copy_from_slice(&bytes);
    Ok(bytes.len() as i64)
}

fn lengths(request: &Request) -> Result<i64, Refusal> {
    let all = 0..request.arguments();
    all.map(|index| Ok(request.string(index)?.map_or(0, <[u8]>::len) as i64))
        .sum()
}

/// A NIC whose handlers make typed calls, and those of an Emissary API.
struct Calls {
    bench: Bench,
    services: Services<Simulated>,
}

impl Calls {
    fn new(copies: Copies) -> Self {
        let bench = Bench::new();
        let options = Options {
            host_bytes: 2 << 20,
            ..Options::default()
        };
        let context = bench.context_of("emissary", 1, &options);
        let offer = Offer {
            copies,
            ..Offer::default()
        };
        let seen: Rc<RefCell<Seen>> = Rc::default();
        let services = Services::open(context, &offer, |server| {
            let emissary = Emissary::default();
            ok(emissary.register(RESERVE, Rc::new(Functions)));
            server.add(opcode::EMISSARY, Rc::new(emissary));
            server.add(opcode::SPINNERET, Rc::new(SampleService::new(Host::new(&seen))));
        });
        Self {
            bench,
            services: ok(services),
        }
    }

    /// One packet there and back: the words behind kind, count and number.
    fn ask(&mut self, kind: Kind, count: u32, number: u32) -> [u32; 13] {
        self.bench.push_to(1, [kind as u32, count, number], &[]);
        self.bench.wait(&mut self.services, 1)[0].rest
    }
}

#[test]
fn arguments_of_every_form_arrive() {
    for copies in [Copies::Words, Copies::Bits, Copies::Host] {
        let mut calls = Calls::new(copies);
        assert_eq!(calls.ask(Kind::Values, 0, 0)[..2], [0x9abc_def0, 0x1234_5678]);
        assert_eq!(calls.ask(Kind::Sum, 0, 0)[0], 1);
        for bytes in [0, 1, 55, 56, 57, 63, 64, 65, 120, 121, 300] {
            assert_eq!(calls.ask(Kind::Turn, bytes, 3)[..2], [bytes, 1], "{bytes} bytes");
        }
        for length in [0, 1, 20, 31, 32, 33, 95, 96, 97, 299] {
            let constant = 75;
            assert_eq!(
                calls.ask(Kind::Text, length, 0)[..3],
                [length, 0, 2 * length + constant],
                "{length} characters"
            );
        }
        assert_eq!(calls.ask(Kind::Most, 0, 0)[..3], [32 * 33 / 2, 0, 1]);
        let (counts, _) = ok(calls.services.close());
        assert!(counts.refusals.is_empty(), "{counts:?}");
    }
}

#[test]
fn calls_that_are_refused_harm_no_other() {
    let mut calls = Calls::new(Copies::Words);
    for _ in 0..3 {
        assert_eq!(calls.ask(Kind::Wrong, 0, 0)[..5], [1; 5]);
        assert_eq!(calls.ask(Kind::Turn, 100, 0)[..2], [100, 1]);
    }
    let (counts, _) = ok(calls.services.close());
    for refusal in [refused::API, refused::FUNCTION, refused::TYPE, refused::POINTER] {
        assert_eq!(counts.of(refusal), 3, "{refusal}: {counts:?}");
    }
}

#[test]
fn a_call_takes_hardly_longer_than_a_typed_one() {
    let mut calls = Calls::new(Copies::Words);
    let [typed, emissary, failed, ..] = calls.ask(Kind::Clocks, 20, 0);
    println!(
        "{} clocks a typed call, {} one of an Emissary API",
        typed / 20,
        emissary / 20
    );
    assert_eq!(failed, 0);
    assert!(
        10 * emissary <= 11 * typed,
        "{emissary} clocks, and {typed} typed"
    );
}
