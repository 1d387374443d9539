//! Calls in the encoding of Emissary APIs: literal bytes, the faults of the proposal that ours has not, and arbitrary bytes.

use crate::support::Bench;
use calls::{INT, MOST_BYTES, MPI, Mpi, RECV, RESERVE, Reserved, SEND, TURN};
use spinneret_rpc::clib::Config;
use spinneret_rpc::emissary::{FAILURE, Id, refused};
use spinneret_rpc::server::Counts;
use spinneret_rpc::{Buffer, Client, Emissary, Version, opcode};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

pub(crate) mod calls;

/// An argument as a stub has it.
#[derive(Clone, Debug)]
enum Value {
    Int(i32),
    Long(i64),
    Double(f64),
    Pointer(u64),
    /// With what ends it.
    String(Option<&'static [u8]>),
}

/// Encodes a call as a compiler does.
fn packed(id: Id, values: &[Value]) -> Vec<u8> {
    let id = Value::Long(id.word() as i64);
    let all = || std::iter::once(&id).chain(values);
    let count = all().count() as u32;
    let mut bytes = [0, count].map(u32::to_le_bytes).concat();
    for value in all() {
        let key: u32 = match value {
            Value::Int(_) => 0x0002_0020,
            Value::Long(_) => 0x0002_0040,
            Value::Double(_) => 0x0001_0040,
            Value::Pointer(_) => 0x0003_0000,
            Value::String(_) => 0x0003_0001,
        };
        bytes.extend(key.to_le_bytes());
    }
    let mut strings: Vec<u8> = Vec::new();
    let mut put = |value: &[u8]| {
        bytes.resize(bytes.len().next_multiple_of(value.len()), 0);
        bytes.extend(value);
    };
    for value in all() {
        match value {
            Value::Int(value) => put(&value.to_le_bytes()),
            Value::Long(value) => put(&value.to_le_bytes()),
            Value::Double(value) => put(&value.to_le_bytes()),
            Value::Pointer(value) => put(&value.to_le_bytes()),
            Value::String(text) => {
                let text = text.unwrap_or_default();
                put(&(text.len() as u32).to_le_bytes());
                strings.extend(text);
            }
        }
    }
    let length = bytes.len() as u32;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    bytes.extend(strings);
    bytes
}

/// A call of a stub: the result, and the streams that came back.
fn call(client: &Client<Arc<Buffer>>, id: Id, buffer: &[u8], sent: &[&[u8]]) -> (u64, Vec<Vec<u8>>) {
    let number = match id.has_transfers() {
        true => opcode::EMISSARY_CALL_WITH_DATA,
        false => opcode::EMISSARY_CALL,
    };
    let Ok(mut port) = client.open(number);
    port.send_stream(buffer).unwrap();
    sent.iter().for_each(|bytes| port.send_stream(bytes).unwrap());
    let back = (0..id.receives).map(|_| {
        let mut bytes = vec![0; MOST_BYTES];
        let length = port.receive_stream(&mut bytes).unwrap();
        bytes.truncate(length as usize);
        bytes
    });
    let back = back.collect();
    let mut word = [0];
    port.receive(&mut word).unwrap();
    (word[0], back)
}

fn id(api: u16, function: u16, sends: u16, receives: u16) -> Id {
    Id {
        api,
        function,
        sends,
        receives,
    }
}

fn bench() -> Bench {
    Bench::with(Version::V23, 4, Config::default, |server| {
        let emissary = Emissary::with_transfers(MOST_BYTES);
        emissary.register(MPI, Rc::new(Mpi::default())).unwrap();
        emissary.register(RESERVE, Rc::new(Reserved)).unwrap();
        server.add(opcode::EMISSARY, Rc::new(emissary));
    })
}

/// Runs calls, and gives what the server counted.
fn with_bench(calls: impl FnOnce(&Client<Arc<Buffer>>)) -> Counts {
    let bench = bench();
    calls(&bench.client);
    bench.stop().0
}

// Data that move with a call.

/// An address on the device, and what is there.
type Sent<'b> = (u64, &'b [u8]);

/// An address on the device, and how many bytes go there.
type Back = (u64, i64);

/// Turns bytes around, by transfers {address, length}.
fn turned(
    client: &Client<Arc<Buffer>>,
    sent: &[Sent<'_>],
    back: &[Back],
    pointers: [u64; 2],
) -> (u64, Vec<Vec<u8>>) {
    let id = id(RESERVE, TURN, sent.len() as u16, back.len() as u16);
    let mut values = Vec::new();
    for (address, bytes) in sent {
        values.extend([Value::Pointer(*address), Value::Int(bytes.len() as i32)]);
    }
    for (address, bytes) in back {
        values.extend([Value::Pointer(*address), Value::Long(*bytes)]);
    }
    values.extend(pointers.map(Value::Pointer));
    let bytes: Vec<&[u8]> = sent.iter().map(|(_, bytes)| *bytes).collect();
    call(client, id, &packed(id, &values), &bytes)
}

/// The proposal's host takes one transfer each way, and loses what is sent from an address that also receives.
#[test]
fn several_transfers_each_way_and_one_memory_for_both() {
    let counts = with_bench(|client| {
        let long: Vec<u8> = (0..=255).collect();
        let (result, back) = turned(
            client,
            &[(0x1000, b"first"), (0x2000, &long), (0x3000, b"")],
            &[(0x5000, 3), (0x2000, 256)],
            [0x2000, 0x2000],
        );
        assert_eq!(result, 256);
        let reversed: Vec<u8> = (0..=255).rev().collect();
        assert_eq!(back, [vec![0; 3], reversed]);
        assert_eq!(
            turned(client, &[(0x1000, b"abc")], &[(0x2000, 3)], [0x1000, 0x2000]).1,
            [b"cba"]
        );
    });
    assert_eq!((counts.calls, counts.refusals.len()), (2, 0));
}

/// The proposal gives pointers that are no key of its map to the host's library, as they are.
#[test]
fn pointers_lead_into_transfers_or_are_refused() {
    let counts = with_bench(|client| {
        let turned = |pointers| turned(client, &[(0x1000, b"abcdef")], &[(0x2000, 6)], pointers);
        // Into the middle of both.
        assert_eq!(turned([0x1002, 0x2003]), (3, vec![b"\0\0\0fed".to_vec()]));
        for pointers in [
            [0x1006, 0x2000],
            [0xfff, 0x2000],
            [0x1000, 0x2006],
            [0x1000, 0],
            [0, 0x2000],
            [0x2000, 0x2000],
        ] {
            assert_eq!(turned(pointers), (FAILURE, vec![vec![]]), "{pointers:x?}");
        }
        // A status on the device of which nothing was said.
        let receives = id(MPI, RECV, 0, 1);
        let (address, int) = (Value::Pointer(0x1000), Value::Int(4));
        let values = [
            &[address, int.clone()][..],
            &[Value::Pointer(0x1000), int.clone(), Value::Pointer(INT)],
        ]
        .concat();
        let values = [
            &values[..],
            &[int.clone(), int, Value::Pointer(1), Value::Pointer(0x7000)],
        ]
        .concat();
        assert_eq!(call(client, receives, &packed(receives, &values), &[]).0, FAILURE);
    });
    assert_eq!(counts.refusals, BTreeMap::from([(refused::POINTER, 7)]));
}

/// The client sends and gets the streams that its id says, whatever becomes of the call.
#[test]
fn invalid_transfers_are_refused() {
    let cases: [(&[Sent<'_>], &[Back], &str); 9] = [
        (&[(0, b"abc")], &[], "from nowhere"),
        (&[(u64::MAX - 1, b"abc")], &[], "over the end of memory"),
        (&[(0x1000, &[1; 4097])], &[], "too long"),
        (&[(0x1000, &[1; 4000])], &[(0x2000, 97)], "too long together"),
        (&[], &[(0x1000, -1)], "of less than nothing"),
        (&[], &[(0x1000, i64::MAX)], "of all memory"),
        (&[(0x1000, b"abcd"), (0x1002, b"ab")], &[], "over one another"),
        (&[(0x1000, b"abcd")], &[(0x1002, 8)], "over one another in part"),
        (&[(0x1000, b"abcd")], &[(0x1000, 5)], "back with more"),
    ];
    for (sent, back, what) in cases {
        let counts = with_bench(|client| {
            let empty = vec![vec![]; back.len()];
            assert_eq!(
                turned(client, sent, back, [0x1000, 0x1000]),
                (FAILURE, empty),
                "{what}"
            );
        });
        assert_eq!(
            counts.refusals,
            BTreeMap::from([(refused::TRANSFERS, 1)]),
            "{what}"
        );
    }
    let counts = with_bench(|client| {
        // Declared, and not there: as the proposal's Allreduce.
        let both = id(MPI, SEND, 1, 1);
        let buffer = packed(both, &[Value::Pointer(0x1000), Value::Int(4)]);
        assert_eq!(call(client, both, &buffer, &[b"abcd"]), (FAILURE, vec![vec![]]));
        // Another length than was said, and no length at all.
        let one = id(MPI, SEND, 1, 0);
        let buffer = packed(one, &[Value::Pointer(0x1000), Value::Int(4)]);
        assert_eq!(call(client, one, &buffer, &[b"abc"]).0, FAILURE);
        assert_eq!(call(client, one, &buffer, &[b"abcde"]).0, FAILURE);
        let buffer = packed(one, &[Value::Pointer(0x1000), Value::Double(4.0)]);
        assert_eq!(call(client, one, &buffer, &[b"abcd"]).0, FAILURE);
    });
    assert_eq!(counts.of(refused::TRANSFERS), 4);
}
