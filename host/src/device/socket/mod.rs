//! A simulated NIC in another process, over a Unix socket.
//!
//! The client sends a request and waits for its reply. Both have a length (4 bytes, little-endian) and a message. Host memory
//! is shared: the client maps the file that it receives for each context.
//!
//! The server has the NIC, and manages the contexts of all clients: each reaches the memory of its own contexts. Registers can only be
//! read; one that writes them, which the library does not, has the NIC alone. When a client exits, however it does, the server
//! closes its contexts.

mod client;
mod peer;
mod server;

pub use client::{Client, ConnectError};
pub use peer::Served;
pub use server::{Listener, Server};

use super::{Address, Area, DeviceError, ManagedContext};
use crate::options::{Options, Share, Usage};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use spinneret_regmap::matching::{Rule, RuleRegisters};
use spinneret_rules::{Join, Ruleset};
use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Version of these messages; both sides have to have the same.
pub const VERSION: u32 = 7;
/// Bytes of the cluster's memory in one message; longer accesses are split, because each word is an access of its own, and
/// other work has to go on between messages.
const WORDS_PIECE: usize = 4 << 10;
/// Most frames in one message.
const FRAMES_PIECE: usize = 64;
/// Largest message: an ELF file with debug information. The server may hold it twice.
const LIMIT: usize = 8 << 20;

/// A request of the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Request {
    Hello {
        version: u32,
    },
    ReadRegister {
        offset: u32,
    },
    WriteRegister {
        offset: u32,
        value: u32,
    },
    ReadCluster {
        address: u32,
        bytes: u32,
    },
    WriteCluster {
        address: u32,
        bytes: Vec<u8>,
    },
    Load {
        name: String,
        file: Vec<u8>,
    },
    OpenArea {
        context: u32,
        bytes: u32,
    },
    CloseArea {
        context: u32,
    },
    Wait {
        nanoseconds: u64,
    },
    Transmit {
        frame: Vec<u8>,
    },
    Receive,
    OpenContext {
        name: String,
        file: Vec<u8>,
        handlers: String,
        rules: Rules,
        options: Options,
    },
    SetRules {
        context: u32,
        rules: Rules,
    },
    CloseContext {
        context: u32,
    },
    SetShare {
        context: u32,
        share: Share,
    },
    Usage {
        context: u32,
    },
}

/// A ruleset: the registers of each rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Rules {
    joins_all: bool,
    rules: Vec<[u32; 5]>,
    end_of_message: [u32; 5],
}

impl From<&Ruleset> for Rules {
    fn from(rules: &Ruleset) -> Self {
        let words = |rule: &Rule| {
            let RuleRegisters {
                idx,
                mask,
                start,
                end,
                relative,
            } = rule.to_registers();
            [idx, mask, start, end, relative]
        };
        Self {
            joins_all: rules.join == Join::And,
            rules: rules.rules.iter().map(words).collect(),
            end_of_message: words(&rules.end_of_message),
        }
    }
}

impl From<&Rules> for Ruleset {
    fn from(rules: &Rules) -> Self {
        let rule = |[idx, mask, start, end, relative]: &[u32; 5]| {
            let registers = RuleRegisters {
                idx: *idx,
                mask: *mask,
                start: *start,
                end: *end,
                relative: *relative,
            };
            registers.to_rule()
        };
        Self {
            join: if rules.joins_all { Join::And } else { Join::Or },
            rules: rules.rules.iter().map(rule).collect(),
            end_of_message: rule(&rules.end_of_message),
        }
    }
}

/// A reply of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Reply {
    /// Version of the server, and properties of its NIC.
    Hello {
        version: u32,
        shape: [u32; 2],
        tells_contexts: bool,
        address: Option<Address>,
    },
    /// Another client has the NIC alone, or there are too many.
    Busy,
    Done,
    Word(u32),
    Bytes(Vec<u8>),
    Usage(Usage),
    /// Address of host memory on the NIC. Its file is attached, unless the size is 0.
    Area(Area),
    /// Current time on the NIC.
    Time {
        nanoseconds: u64,
    },
    Failed(DeviceError),
    /// Whether there was room for a frame.
    Sent(bool),
    /// Frames that came.
    Frames(Vec<Vec<u8>>),
    /// A context. The file of its host memory is attached, unless its size is 0.
    Context(ManagedContext),
}

/// Sends a message.
fn send<M: Serialize>(stream: &mut impl Write, message: &M) -> io::Result<()> {
    let body = postcard::to_allocvec(message).map_err(io::Error::other)?;
    if body.len() > LIMIT {
        return Err(too_long(body.len()));
    }
    let mut frame = (body.len() as u32).to_le_bytes().to_vec();
    frame.extend(body);
    stream.write_all(&frame)
}

/// Receives a message, waiting for it.
fn receive<M: DeserializeOwned>(stream: &mut impl Read) -> io::Result<M> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut body = vec![0; checked_length(length)?];
    stream.read_exact(&mut body)?;
    decode(&body)
}

/// Takes the first message out of the received bytes; `None` if it is incomplete.
fn take<M: DeserializeOwned>(received: &mut Vec<u8>) -> io::Result<Option<M>> {
    let Some((length, rest)) = received.split_first_chunk() else {
        return Ok(None);
    };
    let length = checked_length(*length)?;
    let Some(body) = rest.get(..length) else {
        return Ok(None);
    };
    let message = decode(body)?;
    received.drain(..4 + length);
    Ok(Some(message))
}

fn checked_length(length: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_le_bytes(length) as usize;
    match length <= LIMIT {
        true => Ok(length),
        false => Err(too_long(length)),
    }
}

fn too_long(length: usize) -> io::Error {
    invalid(format!(
        "a message of {length} bytes; at most {LIMIT} are allowed"
    ))
}

fn decode<M: DeserializeOwned>(body: &[u8]) -> io::Result<M> {
    match postcard::take_from_bytes(body) {
        Ok((message, [])) => Ok(message),
        Ok(_) => Err(invalid("a message with bytes behind its end".to_owned())),
        Err(error) => Err(invalid(format!("a message that is none: {error}"))),
    }
}

fn invalid(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

// Bytes and file descriptors on the socket.

/// Sends some of the bytes, with a file attached to the first. Returns their number.
fn write(stream: &UnixStream, bytes: &[u8], file: Option<&OwnedFd>) -> io::Result<usize> {
    let files = file.map(AsFd::as_fd);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if let Some(file) = &files {
        // There is room for one.
        control.push(SendAncillaryMessage::ScmRights(std::slice::from_ref(file)));
    }
    Ok(sendmsg(
        stream,
        &[IoSlice::new(bytes)],
        &mut control,
        SendFlags::NOSIGNAL,
    )?)
}

/// Reads a stream, and keeps the files that are attached to it.
#[derive(Debug)]
struct Reader<'s> {
    stream: &'s UnixStream,
    files: &'s mut VecDeque<OwnedFd>,
}

impl Read for Reader<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received = recvmsg(self.stream, &mut [IoSliceMut::new(bytes)], &mut control, flags)?;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                self.files.extend(files);
            }
        }
        Ok(received.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn message_survives_any_segmentation() {
        let requests = [
            Request::Hello { version: VERSION },
            Request::WriteCluster {
                address: 9,
                bytes: vec![7; 300],
            },
        ];
        let mut sent = Vec::new();
        for request in &requests {
            send(&mut sent, request).expect("a vector takes everything");
        }
        for cut in 0..sent.len() {
            let mut received = sent[..cut].to_vec();
            let mut taken = Vec::new();
            for rest in [&sent[cut..], &[]] {
                while let Some(request) = take::<Request>(&mut received).expect("it is whole") {
                    taken.push(request);
                }
                received.extend(rest);
            }
            assert_eq!(taken, requests, "cut at {cut}");
        }
    }

    #[test]
    fn bytes_behind_a_message_are_refused() {
        let mut sent = Vec::new();
        send(&mut sent, &Request::Wait { nanoseconds: 9 }).expect("a vector takes everything");
        sent[0] += 1;
        sent.push(0);
        let error = take::<Request>(&mut sent).unwrap_err();
        assert_eq!(error.to_string(), "a message with bytes behind its end");
    }

    #[test]
    fn a_length_beyond_all_limits_is_refused_before_memory_is_taken() {
        let error = take::<Request>(&mut vec![0xff; 8]).unwrap_err();
        assert!(error.to_string().contains("4294967295 bytes"), "{error}");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(mut bytes: Vec<u8>) {
            let _ = take::<Request>(&mut bytes);
            let _ = receive::<Reply>(&mut &bytes[..]);
        }
    }
}
