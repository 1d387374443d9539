//! Calls that are answered.

use super::apis::{BAR, INT, MPI, RECV, RESERVE, SEND, SUM, TEXT};
use super::stub::{Value, call, id, packed, with_bench};
use spinneret_rpc::emissary::{FAILURE, refused};
use spinneret_rpc::opcode;
use std::collections::BTreeMap;

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
fn doubles_are_their_bits_and_those_that_cannot_be_said_are_failures() {
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
fn who_waits_holds_nobody_and_gets_its_own_result() {
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

/// The proposal rebuilds the registers of a variadic call by hand, cuts strings, and takes a null string for the next one.
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
