//! Calls in the encoding of Emissary APIs, as stubs that other compilers make send them: the newest proposal, pull request
//! 218473 of LLVM.
//!
//! ```text
//!  client                                         server
//!    > S(arguments)                                 decoded, checked; transfers are planned
//!    > S(data) for each transfer to the host        into memory of the call
//!                                                   the API: typed arguments, inputs and outputs; it may wait
//!    < S(data) for each transfer to the device      what the API has filled in
//!    < P{d0 = result}
//! ```
//!
//! Nothing of a client is used before it is checked, and no address of the device is ever one of the host: an [`Api`]
//! gets the memory of a transfer for every pointer that leads into one. The server answers a request that it cannot
//! serve with [`FAILURE`], with nothing in the memory that it sends back, and counts it by name.

use crate::opcode::{self, emissary as key};
use crate::server::{Answer, Call, CallMode, Refusal, Service};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use thiserror::Error;

mod request;

pub use crate::opcode::emissary::MOST_ARGUMENTS;
pub use request::{Reply, Request};

/// The answer to a call that was not done. As a number of any width it is -1, as a double it is none (by its bits) or
/// larger than any integer (by its value), and it is no address: of the results that these APIs have, none that means
/// success.
pub const FAILURE: u64 = u64::MAX;

/// Numbers of APIs are below this; 0 is none.
pub const APIS: u16 = 64;

/// Bytes of an argument buffer at most.
const MOST_BYTES: usize = 64 << 10;

/// Why calls of this encoding are not done, besides what every service refuses. An API adds its own.
pub mod refused {
    use crate::server::Refusal;

    /// The argument buffer is not what the encoding says.
    pub const ARGUMENTS: Refusal = Refusal::new("arguments malformed");
    /// Transfers without address or length, over one another, too long, or not of the length that was said.
    pub const TRANSFERS: Refusal = Refusal::new("transfers malformed");
    /// The API is not registered.
    pub const API: Refusal = Refusal::new("no such API");
    /// The API has no such function.
    pub const FUNCTION: Refusal = Refusal::new("no such function of the API");
    /// An argument is missing, or has another type than the function's.
    pub const TYPE: Refusal = Refusal::new("argument of another type");
    /// A pointer leads to no memory that comes or goes with the call.
    pub const POINTER: Refusal = Refusal::new("pointer outside of the transfers");
    /// A string was cut before its end.
    pub const STRING: Refusal = Refusal::new("string without an end");
    /// The result is no whole number, and the stub takes no other.
    pub const RESULT: Refusal = Refusal::new("result cannot be said");
}

/// The outcome of a function: its result, or a refusal.
pub type Outcome<'a> = Pin<Box<dyn Future<Output = Result<Reply, Refusal>> + 'a>>;

/// Host functions that handlers call. It runs on the server's thread and must not block it; what it awaits parks the
/// call.
pub trait Api {
    /// Does a function of a request.
    fn call<'a>(&'a self, request: &'a mut Request) -> Outcome<'a>;
}

/// Why an API was not registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RegisterError {
    /// The number is none of an API.
    #[error("{0} is no number of an API: they go from 1 to {last}", last = APIS - 1)]
    Number(u16),
    /// Another one has the number.
    #[error("API {0} is registered already: give this one another number")]
    Taken(u16),
}

/// A service for the class [`opcode::EMISSARY`].
pub struct Emissary {
    apis: RefCell<BTreeMap<u16, Rc<dyn Api>>>,
    most_bytes: usize,
}

impl Default for Emissary {
    /// Transfers of 1 MiB in a call.
    fn default() -> Self {
        Self::with_transfers(1 << 20)
    }
}

impl Emissary {
    /// A service without APIs, for calls that transfer at most `most_bytes` bytes.
    pub fn with_transfers(most_bytes: usize) -> Self {
        Self {
            apis: RefCell::default(),
            most_bytes,
        }
    }

    /// Gives an API its number. The same one again is none that is refused.
    ///
    /// # Errors
    /// If the number is 0 or too large, or another API has it: that stays.
    pub fn register(&self, number: u16, api: Rc<dyn Api>) -> Result<(), RegisterError> {
        if number == 0 || number >= APIS {
            return Err(RegisterError::Number(number));
        }
        let mut apis = self.apis.borrow_mut();
        let there = apis.entry(number).or_insert_with(|| Rc::clone(&api));
        match Rc::ptr_eq(there, &api) {
            true => Ok(()),
            false => Err(RegisterError::Taken(number)),
        }
    }

    /// A call: its answer. The streams that the client sends and waits for are those that its id says, also if it is
    /// refused.
    async fn answer(&self, call: &mut Call) -> Result<u64, Refusal> {
        // One that is too long was counted.
        let Some(buffer) = call.receive_stream(MOST_BYTES).await else {
            return Ok(FAILURE);
        };
        let head = Head::read(&buffer).map_err(|_| refused::ARGUMENTS)?;
        if head.id().has_transfers() != (call.opcode() == opcode::EMISSARY_CALL_WITH_DATA) {
            return Err(refused::ARGUMENTS);
        }
        let Id { sends, receives, .. } = head.id();
        let mut request = Request::new(head, self.most_bytes);
        for number in 0..usize::from(sends) {
            let Ok(made) = &mut request else {
                call.stream(None).await;
                continue;
            };
            let room = made.areas.sent_bytes(number);
            match call.stream(Some(room as u64)).await {
                Some(bytes) if bytes.len() == room => made.areas.take(number, bytes),
                _ => request = Err(refused::TRANSFERS),
            }
        }
        let answer = match &mut request {
            Ok(request) => self.run(request).await,
            Err(refusal) => Err(*refusal),
        };
        for number in 0..usize::from(receives) {
            let bytes = match (&request, &answer) {
                (Ok(request), Ok(_)) => request.areas.returned(number),
                _ => &[],
            };
            call.send_stream(bytes).await;
        }
        answer
    }

    async fn run(&self, request: &mut Request) -> Result<u64, Refusal> {
        let api = self.apis.borrow().get(&request.api()).map(Rc::clone);
        match api {
            Some(api) => api.call(request).await?.word(),
            None => Err(refused::API),
        }
    }
}

impl Service for Emissary {
    fn handles(&self, number: u32) -> Option<CallMode> {
        matches!(number, opcode::EMISSARY_CALL | opcode::EMISSARY_CALL_WITH_DATA).then_some(CallMode::Async)
    }

    fn call(self: Rc<Self>, mut call: Call) -> Answer {
        Box::pin(async move {
            let answer = self.answer(&mut call).await;
            let word = answer.unwrap_or_else(|refusal| {
                call.refuse(refusal);
                FAILURE
            });
            call.send(&[word]).await;
        })
    }
}

impl fmt::Debug for Emissary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emissary")
            .field("apis", &self.apis.borrow().keys().collect::<Vec<_>>())
            .field("most_bytes", &self.most_bytes)
            .finish()
    }
}

// The encoding of arguments.

/// Where parts of the buffer begin.
mod field {
    pub(super) const DATA_BYTES: usize = 0;
    pub(super) const COUNT: usize = 4;
    pub(super) const KEYS: usize = 8;
}

/// The first argument: the function, and the numbers of transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id {
    /// The API.
    pub api: u16,
    /// The function of it.
    pub function: u16,
    /// Transfers to the host.
    pub sends: u16,
    /// Transfers to the device.
    pub receives: u16,
}

impl Id {
    /// From the word of an argument.
    pub fn from_word(word: u64) -> Self {
        let part = |shift: u32| (word >> shift) as u16;
        Self {
            api: part(48),
            function: part(32),
            sends: part(16),
            receives: part(0),
        }
    }

    /// The word of an argument.
    pub fn word(self) -> u64 {
        let part = |value: u16, shift: u32| u64::from(value) << shift;
        part(self.api, 48) | part(self.function, 32) | part(self.sends, 16) | part(self.receives, 0)
    }

    /// Whether data move with the call.
    pub fn has_transfers(self) -> bool {
        self.sends != 0 || self.receives != 0
    }
}

/// Why a buffer is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// It ends too early.
    #[error("the buffer has {bytes} B, and byte {end} is needed")]
    Short {
        /// Its bytes.
        bytes: usize,
        /// Behind the part that is missing.
        end: usize,
    },
    /// There is no id, or too much else.
    #[error("there are {0} arguments; 1 to {most} are possible", most = MOST_ARGUMENTS + 1)]
    Count(u32),
    /// The first argument is no integer of 64 bits.
    #[error("the key of the id is {0:#010x}, and should be {id:#010x}", id = key::INTEGER_64)]
    Id(u32),
    /// A type that no value can have.
    #[error(
        "argument {argument} has the key {key:#010x}, which is none of an integer, a double, a pointer or a string"
    )]
    Key {
        /// Which; the id is 0.
        argument: usize,
        /// Its key.
        key: u32,
    },
    /// The values end elsewhere than the buffer says.
    #[error("the values end at byte {end}, and the buffer says {said}")]
    DataBytes {
        /// Where they end.
        end: usize,
        /// The key in the buffer.
        said: usize,
    },
    /// There are bytes after the last string.
    #[error("{0} B are left behind the last string")]
    Rest(usize),
}

/// A value with its type.
#[derive(Clone, Debug, PartialEq)]
enum Argument {
    Integer32(i32),
    Integer64(i64),
    Double(f64),
    Pointer(u64),
    /// With its last byte; a null pointer has none.
    String(Option<Vec<u8>>),
}

/// A buffer whose id is known.
#[derive(Clone, Debug)]
pub struct Head<'b> {
    id: Id,
    keys: &'b [[u8; 4]],
    values: Reader<'b>,
    strings: &'b [u8],
}

impl<'b> Head<'b> {
    /// Reads as much as tells what is called.
    ///
    /// # Errors
    /// If the buffer ends before, or is no such buffer.
    pub fn read(bytes: &'b [u8]) -> Result<Self, Malformed> {
        let word = |at: usize| {
            let mut reader = Reader { bytes, at };
            reader.next().map(u32::from_le_bytes)
        };
        let (data, count) = (word(field::DATA_BYTES)?, word(field::COUNT)?);
        let (data_bytes, arguments) = (data as usize, count as usize);
        if !(1..=MOST_ARGUMENTS + 1).contains(&arguments) {
            return Err(Malformed::Count(count));
        }
        let short = |end| Malformed::Short {
            bytes: bytes.len(),
            end,
        };
        let (data, strings) = bytes.split_at_checked(data_bytes).ok_or(short(data_bytes))?;
        let end = field::KEYS + 4 * arguments;
        let (keys, _) = data
            .get(field::KEYS..end)
            .ok_or(Malformed::DataBytes {
                end,
                said: data_bytes,
            })?
            .as_chunks();
        if u32::from_le_bytes(keys[0]) != key::INTEGER_64 {
            return Err(Malformed::Id(u32::from_le_bytes(keys[0])));
        }
        let mut values = Reader { bytes: data, at: end };
        Ok(Self {
            id: Id::from_word(u64::from_le_bytes(values.next()?)),
            keys,
            values,
            strings,
        })
    }

    /// The function that is called.
    pub fn id(&self) -> Id {
        self.id
    }

    /// The arguments after the id.
    ///
    /// # Errors
    /// If anything is not what the encoding says.
    fn arguments(mut self) -> Result<Vec<Argument>, Malformed> {
        let mut arguments = Vec::with_capacity(self.keys.len() - 1);
        for (argument, key) in self.keys.iter().enumerate().skip(1) {
            arguments.push(match u32::from_le_bytes(*key) {
                key::INTEGER_32 => Argument::Integer32(i32::from_le_bytes(self.values.next()?)),
                key::INTEGER_64 => Argument::Integer64(i64::from_le_bytes(self.values.next()?)),
                key::DOUBLE => Argument::Double(f64::from_le_bytes(self.values.next()?)),
                key::POINTER => Argument::Pointer(u64::from_le_bytes(self.values.next()?)),
                key::STRING => Argument::String(self.string()?),
                key => return Err(Malformed::Key { argument, key }),
            });
        }
        let (end, said) = (self.values.at, self.values.bytes.len());
        match said == end || said == end.next_multiple_of(8) {
            true if self.strings.is_empty() => Ok(arguments),
            true => Err(Malformed::Rest(self.strings.len())),
            false => Err(Malformed::DataBytes { end, said }),
        }
    }

    /// The next of the strings.
    fn string(&mut self) -> Result<Option<Vec<u8>>, Malformed> {
        let length = u32::from_le_bytes(self.values.next()?) as usize;
        let cut = self.strings.split_at_checked(length);
        let (string, rest) = cut.ok_or(Malformed::Short {
            bytes: self.strings.len(),
            end: length,
        })?;
        self.strings = rest;
        Ok((length > 0).then(|| string.to_vec()))
    }
}

/// Takes values one after the other.
#[derive(Clone, Debug)]
struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Reader<'_> {
    /// The next value of this size, which begins at a multiple of it.
    fn next<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let start = self.at.next_multiple_of(N);
        let end = start + N;
        let value = self.bytes.get(start..end).and_then(|value| value.try_into().ok());
        self.at = end;
        value.ok_or(Malformed::Short {
            bytes: self.bytes.len(),
            end,
        })
    }
}
