//! What a compiler's stub does.

use super::apis::{MOST_BYTES, MPI, Mpi, RESERVE, Reserved};
use crate::support::Bench;
use spinneret_rpc::clib::Config;
use spinneret_rpc::emissary::Id;
use spinneret_rpc::server::Counts;
use spinneret_rpc::{Buffer, Client, Emissary, Version, opcode};
use std::rc::Rc;
use std::sync::Arc;

/// An argument as a stub has it.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Int(i32),
    Long(i64),
    Double(f64),
    Pointer(u64),
    /// With what ends it.
    String(Option<&'static [u8]>),
}

/// What a compiler makes of a call.
pub(super) fn packed(id: Id, values: &[Value]) -> Vec<u8> {
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
pub(super) fn call(
    client: &Client<Arc<Buffer>>,
    id: Id,
    buffer: &[u8],
    sent: &[&[u8]],
) -> (u64, Vec<Vec<u8>>) {
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

pub(super) fn id(api: u16, function: u16, sends: u16, receives: u16) -> Id {
    Id {
        api,
        function,
        sends,
        receives,
    }
}

pub(super) fn bench() -> Bench {
    Bench::with(Version::V23, 4, Config::default, |server| {
        let emissary = Emissary::with_transfers(MOST_BYTES);
        emissary.register(MPI, Rc::new(Mpi::default())).unwrap();
        emissary.register(RESERVE, Rc::new(Reserved)).unwrap();
        server.add(opcode::EMISSARY, Rc::new(emissary));
    })
}

/// Runs calls, and gives what the server counted.
pub(super) fn with_bench(calls: impl FnOnce(&Client<Arc<Buffer>>)) -> Counts {
    let bench = bench();
    calls(&bench.client);
    bench.stop().0
}
