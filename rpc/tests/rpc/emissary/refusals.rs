//! What is not done, whatever stands in a buffer.

use super::calls::{FOO, Mpi, RESERVE, Reserved, TURN};
use super::stub::{Value, bench, call, id, packed, with_bench};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use spinneret_rpc::Emissary;
use spinneret_rpc::emissary::{Api, FAILURE, Head, Malformed, RegisterError, refused};
use spinneret_rpc::server::Refusal;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The proposal answers 0 then, which is `MPI_SUCCESS`.
#[test]
fn what_is_not_done_is_no_success() {
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
fn the_first_of_a_number_stays_registered() {
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
fn what_is_wrong_with_a_buffer_is_said() {
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

/// Whatever stands in a buffer is answered, and the port can be used again. What a client sends behind it is what the id says.
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
