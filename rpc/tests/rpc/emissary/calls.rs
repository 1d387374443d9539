//! Calls that are answered.

use super::{Value, bench, call, id, packed, with_bench};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use spinneret_rpc::emissary::{
    Api, FAILURE, Head, Malformed, Outcome, RegisterError, Reply, Request, refused,
};
use spinneret_rpc::server::Refusal;
use spinneret_rpc::{Emissary, opcode};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// `MPI_Send` of one int, with tag 5 to rank 1, byte by byte.
#[rustfmt::skip]
const SEND_OF_ONE_INT: [u8; 112] = [
    112, 0, 0, 0, 9, 0, 0, 0,
    0x40, 0, 2, 0, 0, 0, 3, 0, 0x20, 0, 2, 0, 0, 0, 3, 0, 0x20, 0, 2, 0, 0, 0, 3, 0, 0x20, 0, 2, 0, 0x20, 0, 2, 0,
    0, 0, 3, 0, 0, 0, 0, 0,
    0, 0, 1, 0, 1, 0, 3, 0,
    0, 0x80, 0, 0, 0x10, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0,
    0, 0x80, 0, 0, 0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
    0x78, 0x56, 0x34, 0x12, 0, 0x7f, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0,
    0x21, 0x43, 0, 0, 0, 0, 0, 0,
];

#[test]
fn a_send_and_a_receive_byte_by_byte() {
    let sends = id(MPI, SEND, 1, 0);
    assert_eq!(sends.word(), 0x0003_0001_0001_0000);
    let address = 0x10_0000_8000;
    let int = |value| Value::Int(value);
    let values = [
        Value::Pointer(address),
        int(4),
        Value::Pointer(address),
        int(1),
        Value::Pointer(INT),
        int(1),
        int(5),
        Value::Pointer(0x4321),
    ];
    assert_eq!(packed(sends, &values), SEND_OF_ONE_INT);
    let receives = id(MPI, RECV, 0, 1);
    let mut values = values.to_vec();
    values.push(Value::Pointer(0));
    let buffer = packed(receives, &values);
    assert_eq!((buffer.len(), buffer[0]), (120, 120));
    let counts = with_bench(|client| {
        assert_eq!(
            call(client, sends, &SEND_OF_ONE_INT, &[&[9, 8, 7, 6]]),
            (0, vec![])
        );
        assert_eq!(call(client, receives, &buffer, &[]), (0, vec![vec![9, 8, 7, 6]]));
    });
    assert_eq!((counts.calls, counts.refusals.len()), (2, 0));
}

/// The proposal converts doubles by their value to an integer: fractions and signs are lost.
#[test]
fn doubles_keep_their_bits_and_unrepresentable_results_fail() {
    let counts = with_bench(|client| {
        let ask = |function, values: &[f64]| {
            let id = id(RESERVE, function, 0, 0);
            let values: Vec<Value> = values.iter().copied().map(Value::Double).collect();
            call(client, id, &packed(id, &values), &[]).0
        };
        assert_eq!(f64::from_bits(ask(SUM, &[-1.25, 0.5])), -0.75);
        assert_eq!(ask(BAR, &[6.0]), 12);
        for value in [0.2, -3.0, f64::NAN, f64::INFINITY, 1e17] {
            assert_eq!(ask(BAR, &[value]), FAILURE, "{value}");
        }
    });
    assert_eq!(counts.of(refused::RESULT), 5);
    assert!(f64::from_bits(FAILURE).is_nan());
    assert_eq!((FAILURE as i32, FAILURE as i64), (-1, -1));
}

/// The proposal lets one server thread wait in `MPI_Recv`, and stores results by a number that is not the caller's.
#[test]
fn waiting_calls_do_not_block_others() {
    let counts = with_bench(|client| {
        let values = |tag: i32| {
            let (address, zero) = (Value::Pointer(0x1000), Value::Int(0));
            let count = Value::Int(1);
            let head = [
                address.clone(),
                Value::Int(8),
                address,
                count,
                Value::Pointer(INT),
                zero,
            ];
            [&head[..], &[Value::Int(tag), Value::Pointer(0x4321)]].concat()
        };
        let receives = id(MPI, RECV, 0, 1);
        let mut waiting = Vec::new();
        for tag in [1, 2] {
            let Ok(mut port) = client.open(opcode::EMISSARY_CALL_WITH_DATA);
            let buffer = packed(receives, &[&values(tag)[..], &[Value::Pointer(0)]].concat());
            port.send_stream(&buffer).unwrap();
            waiting.push((port, tag));
        }
        // Sent in the other order, from other ports.
        for tag in [2, 1] {
            let mut sent = values(tag);
            sent[1] = Value::Int(4);
            let sends = id(MPI, SEND, 1, 0);
            assert_eq!(
                call(client, sends, &packed(sends, &sent), &[&[tag as u8; 4]]).0,
                0
            );
        }
        for (mut port, tag) in waiting {
            // Of 8 bytes that may come, 4 have.
            let mut bytes = [0x55; 8];
            assert_eq!(port.receive_stream(&mut bytes), Ok(4));
            let tag = tag as u8;
            assert_eq!(bytes, [tag, tag, tag, tag, 0x55, 0x55, 0x55, 0x55]);
            let mut word = [1];
            port.receive(&mut word).unwrap();
            assert_eq!(word, [0]);
        }
    });
    assert_eq!((counts.calls, counts.refusals.len()), (4, 0));
}

/// The proposal rebuilds the registers of a variadic call manually, cuts strings, and treats a null string as the next
/// one.
#[test]
fn strings_and_numbers_of_one_call() {
    let counts = with_bench(|client| {
        let ask = |values: &[Value]| {
            let id = id(RESERVE, TEXT, 0, 0);
            call(client, id, &packed(id, values), &[]).0 as i64
        };
        let text = |text: &'static [u8]| Value::String(Some(text));
        assert_eq!(
            ask(&[
                text(b"value \0"),
                Value::Int(-7),
                Value::Double(-0.5),
                Value::Long(1 << 40)
            ]),
            6 + 2 + 4 + 13
        );
        assert_eq!(
            ask(&[Value::String(None), text(b"ab\0")]),
            6 + "Some([97, 98])".len() as i64
        );
        assert_eq!(ask(&[Value::String(None), Value::String(None)]), 6 + 4);
        assert_eq!(ask(&[text(b"cut")]), -1);
    });
    assert_eq!(counts.refusals, BTreeMap::from([(refused::STRING, 1)]));
}

// The functions that the tests register.

/// The numbers of the proposal.
pub(super) const MPI: u16 = 3;
pub(super) const SEND: u16 = 1;
pub(super) const RECV: u16 = 2;
pub(crate) const RESERVE: u16 = 5;
pub(super) const FOO: u16 = 1;
pub(super) const BAR: u16 = 2;

/// The tests' own numbers.
pub(super) const SUM: u16 = 10;
pub(super) const TURN: u16 = 11;
pub(super) const TEXT: u16 = 12;

/// Transfers of a call at most.
pub(super) const MOST_BYTES: usize = 4096;

/// Messages that are not received yet, and the calls that wait for some: one process that sends to itself.
#[derive(Default)]
pub(super) struct Mpi {
    messages: RefCell<BTreeMap<i64, Vec<u8>>>,
    waiting: RefCell<Vec<Waker>>,
}

impl Api for Mpi {
    fn call<'a>(&'a self, request: &'a mut Request) -> Outcome<'a> {
        Box::pin(async move {
            match request.function() {
                SEND => self.send(request),
                RECV => self.receive(request).await,
                _ => Err(refused::FUNCTION),
            }
        })
    }
}

/// The handle of `MPI_INT` in the program that the stub is for.
pub(super) const INT: u64 = 0x7f00_1234_5678;

impl Mpi {
    fn send(&self, request: &Request) -> Result<Reply, Refusal> {
        let data = request.input(0)?.ok_or(refused::POINTER)?;
        assert_eq!(
            (request.integer(1)?, request.handle(2)?),
            (data.len() as i64 / 4, INT)
        );
        self.messages
            .borrow_mut()
            .insert(request.integer(4)?, data.to_vec());
        self.waiting.borrow_mut().drain(..).for_each(Waker::wake);
        Ok(Reply::Integer(0))
    }

    async fn receive(&self, request: &mut Request) -> Result<Reply, Refusal> {
        let tag = request.integer(4)?;
        // A status is only written where it goes back.
        request.output(6)?;
        let data = poll_fn(|context| match self.messages.borrow_mut().remove(&tag) {
            Some(data) => Poll::Ready(data),
            None => {
                self.waiting.borrow_mut().push(context.waker().clone());
                Poll::Pending
            }
        });
        let data = data.await;
        let room = request.output(0)?.ok_or(refused::POINTER)?;
        room.get_mut(..data.len())
            .ok_or(refused::POINTER)?
            .copy_from_slice(&data);
        request.filled(0, data.len())?;
        Ok(Reply::Integer(0))
    }
}

/// The functions of LLVM's tests, and more.
pub(crate) struct Reserved;

impl Api for Reserved {
    fn call<'a>(&'a self, request: &'a mut Request) -> Outcome<'a> {
        Box::pin(async move {
            match request.function() {
                FOO => Ok(Reply::Integer(request.integer(0)? + request.integer(1)?)),
                BAR => Ok(Reply::WholeDouble(request.double(0)? * 2.0)),
                SUM => Ok(Reply::Double(request.double(0)? + request.double(1)?)),
                TURN => turn(request),
                TEXT => text(request),
                _ => Err(refused::FUNCTION),
            }
        })
    }
}

/// Turns what the first pointer leads to around, to where the second does.
pub(super) fn turn(request: &mut Request) -> Result<Reply, Refusal> {
    let mut bytes = request.input(0)?.ok_or(refused::POINTER)?.to_vec();
    bytes.reverse();
    let to = request.output(1)?.ok_or(refused::POINTER)?;
    let length = to.len().min(bytes.len());
    to[..length].copy_from_slice(&bytes[..length]);
    Ok(Reply::Integer(length as i64))
}

/// How long a line is, of a string and whatever comes behind it.
pub(super) fn text(request: &mut Request) -> Result<Reply, Refusal> {
    let format = request.string(0)?.unwrap_or(b"(null)");
    let mut line = String::from_utf8_lossy(format).into_owned();
    for index in 1..request.arguments() {
        let number = request.integer(index).map(|value| value.to_string());
        let number = number.or_else(|_| request.double(index).map(|value| value.to_string()));
        line += &number.or_else(|_| request.string(index).map(|text| format!("{text:?}")))?;
    }
    Ok(Reply::Integer(line.len() as i64))
}

// Refusals.

/// The proposal answers 0 then, which is `MPI_SUCCESS`.
#[test]
fn malformed_calls_fail() {
    let good = packed(id(RESERVE, FOO, 0, 0), &[Value::Int(3), Value::Int(5)]);
    let with = |at: usize, bytes: &[u8]| {
        let mut buffer = good.clone();
        buffer[at..at + bytes.len()].copy_from_slice(bytes);
        buffer
    };
    let of = |api, function| packed(id(api, function, 0, 0), &[Value::Int(3), Value::Int(5)]);
    let double = packed(id(RESERVE, FOO, 0, 0), &[Value::Int(3), Value::Double(5.0)]);
    let cases: [(Vec<u8>, Refusal, &str); 20] = [
        (of(0, 1), refused::API, "API 0"),
        (of(4, 1), refused::API, "an API that nobody has"),
        (of(u16::MAX, 1), refused::API, "an API out of range"),
        (of(RESERVE, 0), refused::FUNCTION, "function 0"),
        (of(RESERVE, 99), refused::FUNCTION, "a function that is none"),
        (
            packed(id(RESERVE, FOO, 0, 0), &[Value::Int(3)]),
            refused::TYPE,
            "too few",
        ),
        (double, refused::TYPE, "a double for an integer"),
        (Vec::new(), refused::ARGUMENTS, "nothing"),
        (good[..20].to_vec(), refused::ARGUMENTS, "cut in the keys"),
        (
            good[..good.len() - 1].to_vec(),
            refused::ARGUMENTS,
            "cut in the values",
        ),
        ([&good[..], &[0]].concat(), refused::ARGUMENTS, "more behind"),
        (with(0, &[39]), refused::ARGUMENTS, "too short by its own words"),
        (
            with(0, &[255, 255, 255, 255]),
            refused::ARGUMENTS,
            "too long by its own words",
        ),
        (with(4, &[0]), refused::ARGUMENTS, "no arguments"),
        (
            with(4, &[255, 255, 255, 255]),
            refused::ARGUMENTS,
            "4 billion arguments",
        ),
        (with(8, &[0x20]), refused::ARGUMENTS, "an id of 32 bits"),
        (
            with(12, &[0, 0, 2, 0]),
            refused::ARGUMENTS,
            "an integer of 0 bits",
        ),
        (
            with(12, &[0x80, 0, 1, 0]),
            refused::ARGUMENTS,
            "a float of 128 bits",
        ),
        (with(12, &[0, 0, 0, 0]), refused::ARGUMENTS, "an unsupported type"),
        (
            with(12, &[1, 0, 3, 0]),
            refused::ARGUMENTS,
            "a string of 3 bytes that are not there",
        ),
    ];
    for (buffer, wanted, what) in cases {
        let counts = with_bench(|client| {
            let zero = id(0, 0, 0, 0);
            assert_eq!(call(client, zero, &buffer, &[]).0, FAILURE, "{what}");
            assert_eq!(call(client, zero, &good, &[]).0, 8, "{what}");
        });
        assert_eq!(counts.refusals, BTreeMap::from([(wanted, 1)]), "{what}");
    }
    let counts = with_bench(|client| assert_eq!(call(client, id(0, 0, 0, 0), &[0; 70_000], &[]).0, FAILURE));
    assert_eq!(counts.of(Refusal::TOO_LONG), 1);
    // The opcode and the id say both whether data move.
    let counts = with_bench(|client| {
        let moves = packed(id(RESERVE, FOO, 1, 0), &[Value::Pointer(8), Value::Int(0)]);
        assert_eq!(call(client, id(0, 0, 0, 0), &moves, &[]).0, FAILURE);
    });
    assert_eq!(counts.of(refused::ARGUMENTS), 1);
}

#[test]
fn first_registration_of_a_number_wins() {
    let emissary = Emissary::default();
    let api: Rc<dyn Api> = Rc::new(Reserved);
    assert_eq!(emissary.register(RESERVE, Rc::clone(&api)), Ok(()));
    assert_eq!(emissary.register(RESERVE, Rc::clone(&api)), Ok(()));
    assert_eq!(
        emissary.register(RESERVE, Rc::new(Mpi::default())),
        Err(RegisterError::Taken(RESERVE))
    );
    for number in [0, 64, u16::MAX] {
        let refused = emissary.register(number, Rc::clone(&api));
        assert_eq!(refused, Err(RegisterError::Number(number)));
    }
    assert_eq!(emissary.register(63, api), Ok(()));
    assert_eq!(
        format!("{emissary:?}"),
        "Emissary { apis: [5, 63], most_bytes: 1048576 }"
    );
}

#[test]
fn malformed_buffer_errors_name_the_byte() {
    let words = |malformed: Malformed| malformed.to_string();
    assert_eq!(
        words(Head::read(&[1, 2]).unwrap_err()),
        "the buffer has 2 B, and byte 4 is needed"
    );
    let mut buffer = packed(id(1, 1, 0, 0), &[]);
    buffer[8] = 0x20;
    let wanted = "the key of the id is 0x00020020, and should be 0x00020040";
    assert_eq!(words(Head::read(&buffer).unwrap_err()), wanted);
}

/// The server answers any content of a buffer, and the port can be used again. The id says what a client sends after
/// it.
#[test]
fn arbitrary_buffers_are_answered() {
    let bench = bench();
    let good = packed(
        id(RESERVE, TURN, 1, 1),
        &[
            Value::Pointer(0x1000),
            Value::Int(6),
            Value::Pointer(0x2000),
            Value::Long(6),
            Value::Pointer(0x1000),
            Value::Pointer(0x2000),
            Value::Double(1.5),
            Value::String(Some(b"text\0")),
        ],
    );
    let changes = proptest::collection::vec((0..good.len(), any::<u8>()), 0..6);
    let bytes = proptest::collection::vec(any::<u8>(), 0..200);
    let input = (any::<bool>(), changes, bytes, 0..8_usize);
    let result = TestRunner::default().run(&input, |(is_changed, changes, bytes, cut)| {
        let mut buffer = bytes;
        if is_changed {
            buffer.clone_from(&good);
            changes.iter().for_each(|(at, byte)| buffer[*at] = *byte);
            buffer.truncate(good.len() - cut / 6);
        }
        let id = Head::read(&buffer).map_or(id(0, 0, 0, 0), |head| head.id());
        if id.sends <= 20 && id.receives <= 20 {
            let sent = vec![&b"abcdef"[..]; id.sends.into()];
            let (result, back) = call(&bench.client, id, &buffer, &sent);
            prop_assert!(result == 6 || result == FAILURE || result <= 6, "{result:#x}");
            prop_assert!(result != FAILURE || back.iter().all(Vec::is_empty));
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let counts = bench.stop().0;
    assert!(
        counts.of(refused::ARGUMENTS) > 0 && counts.calls > counts.refusals.values().sum(),
        "{counts:?}"
    );
}
