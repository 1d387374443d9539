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
//! gets the memory of a transfer for every pointer that leads into one. What cannot be done is answered by [`FAILURE`],
//! with nothing in the memory that is sent back, and is counted by name.

mod arguments;
mod request;

pub use arguments::{Head, Id, MOST_ARGUMENTS, Malformed};
pub use request::{Reply, Request};

use crate::opcode;
use crate::server::{Answer, Call, Refusal, Service, Way};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use thiserror::Error;

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
    /// Nobody has registered the API.
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

/// What comes of a function: its result, or why there is none.
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
    /// A service without APIs, for calls that transfer so many bytes at most.
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
    fn handles(&self, number: u32) -> Option<Way> {
        matches!(number, opcode::EMISSARY_CALL | opcode::EMISSARY_CALL_WITH_DATA).then_some(Way::Stepwise)
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
