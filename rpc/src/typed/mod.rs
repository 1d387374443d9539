//! Typed services: functions of the host that handlers call by stubs, both made of one trait.
//!
//! ```
//! use spinneret_rpc::Status;
//!
//! /// Counts what handlers saw.
//! #[spinneret_rpc::service(api = 64, prefix = "tally")]
//! pub trait Tally {
//!     /// Adds to a line of the tally, and gives its sum.
//!     #[call(1)]
//!     fn add(&self, line: &str, amount: u32) -> u64;
//!
//!     /// Adds many numbers; it may take its time.
//!     #[call(2, ticket)]
//!     async fn add_all(&self, count: u32, #[len(count)] numbers: &[u32]) -> Result<u64, Status>;
//! }
//!
//! #[derive(Debug, Default)]
//! struct Paper;
//!
//! impl Tally for Paper {
//!     fn add(&self, line: &str, amount: u32) -> u64 {
//!         println!("{line}: {amount} more");
//!         u64::from(amount)
//!     }
//!
//!     async fn add_all(&self, _: u32, numbers: &[u32]) -> Result<u64, Status> {
//!         let sum = numbers.iter().map(|number| u64::from(*number)).sum();
//!         if sum > 1_000_000 { Err(Status::failed(1)) } else { Ok(sum) }
//!     }
//! }
//!
//! // What the server answers by, and what handlers include.
//! let service = TallyService::new(Paper);
//! assert!(tally::C_HEADER.contains("spin_status_t tally_add(const char *line, uint32_t amount, uint64_t *result)"));
//! # let _ = service;
//! ```
//!
//! | of the trait `Tally` | comes |
//! |---|---|
//! | `Tally` | the trait, which the host implements |
//! | `TallyService` | the [`Service`](crate::Service) for [`opcode::SPINNERET`](crate::opcode::SPINNERET) that checks, unpacks, calls and packs |
//! | `tally::C_HEADER` | the stubs in C |
//! | `tally::FUNCTIONS`, `tally::ADD`, ... | each [`Function`], to [allow](Gate::allow) those that are off |
//!
//! `#[call(NUMBER)]` names a function for ever; `ticket` adds stubs that do not wait, and `off` wants the application's permission.
//! An `async` function may wait for anything without holding other calls: it is parked.
//!
//! | parameter | goes | as |
//! |---|---|---|
//! | `u8` to `u64`, `i8` to `i64`, `f32`, `f64`, `bool` | to the host | the value |
//! | `Kind`, of `handles(Kind { FIRST, SECOND = 8 })` | to the host | a [`Handle`](crate::handle::Handle) of that kind, predefined or of a table of the host; the numbers are sizes |
//! | `&mut T` of those | back | the value |
//! | `&str`, `#[cap(BYTES)] &str` | to the host | at most 1024 bytes, or the cap, with the NUL |
//! | `#[len(LENGTH)] &[T]` of numbers | to the host | as many elements as LENGTH says |
//! | `#[out(LENGTH)] &mut [T]` | back | zeros at first |
//! | `#[inout(LENGTH)] &mut [T]` | both | |
//!
//! LENGTH is a product of values, numbers, and `size(handle)`. The result is nothing, one of the values, or a `Result` of it, whose
//! error is a [`Status`].

mod request;

pub use crate::status::Status;
pub use request::Reply;
pub use request::Word;
pub use request::{Request, Slice};

use crate::server::Way;

/// A function that handlers call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// As it is called in C.
    pub name: &'static str,
    /// Its opcode.
    pub opcode: u32,
    /// All that handlers and host have to agree on.
    pub text: &'static str,
    /// The version: a hash of the text.
    pub hash: u64,
    /// It wants the application's permission.
    pub is_off: bool,
}

/// The functions of a service, and which of them are allowed.
#[derive(Clone, Debug)]
pub struct Gate {
    functions: &'static [Function],
    allowed: Vec<u32>,
}

impl Gate {
    /// All functions but those that are off.
    pub fn new(functions: &'static [Function]) -> Self {
        let is_on = |function: &&Function| !function.is_off;
        Self {
            functions,
            allowed: functions
                .iter()
                .filter(is_on)
                .map(|function| function.opcode)
                .collect(),
        }
    }

    /// Allows one that is off.
    pub fn allow(&mut self, function: Function) {
        self.allowed.push(function.opcode);
    }

    /// Whether there is such a function, for [`Service::handles`](crate::Service::handles).
    pub fn handles(&self, opcode: u32) -> Option<Way> {
        self.find(opcode).map(|_| Way::Stepwise)
    }

    /// The version of a function, for [`Service::version`](crate::Service::version).
    pub fn version(&self, opcode: u32) -> Option<u64> {
        self.find(opcode).map(|function| function.hash)
    }

    fn find(&self, opcode: u32) -> Option<&Function> {
        self.functions.iter().find(|function| function.opcode == opcode)
    }

    fn check(&self, opcode: u32) -> Result<(), Status> {
        match self.allowed.contains(&opcode) {
            true => Ok(()),
            false => Err(Status::OFF),
        }
    }
}
