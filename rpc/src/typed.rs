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
//! `#[call(NUMBER)]` names a function for ever; `ticket` adds stubs that do not wait, and `off` wants the application's
//! permission.
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
//! LENGTH is a product of values, numbers, and `size(handle)`. The result is nothing, one of the values, or a `Result`
//! of it, whose
//! error is a [`Status`].

use crate::handle::Handle;
use crate::layout::{INLINE, INLINE_BYTES, NEXT_BYTES, Packet};
use crate::server::{Call, CallMode, Refusal};

pub use crate::opcode::Status;

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
    pub fn handles(&self, opcode: u32) -> Option<CallMode> {
        self.find(opcode).map(|_| CallMode::Async)
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

/// The alignment of data in a packet.
const ALIGNMENT: u32 = 4;
/// Bytes of a packet.
const PACKET_BYTES: u32 = NEXT_BYTES as u32;

/// Where data of some length are to be written.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    is_inline: bool,
    at: u32,
    bytes: u32,
}

/// Bytes of a packet that are allocated to data in order.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor(u32);

impl Cursor {
    /// Allocates `bytes` bytes, if there is room.
    fn take(&mut self, bytes: u32) -> Result<u32, Status> {
        let start = self.0.next_multiple_of(ALIGNMENT);
        if bytes > INLINE_BYTES || start + bytes > PACKET_BYTES {
            return Err(Status::LENGTH);
        }
        self.0 = start + bytes;
        Ok(start)
    }
}

/// A call with its first packet, as a private copy.
#[derive(Debug)]
pub struct Request {
    call: Call,
    bytes: [u8; NEXT_BYTES],
    data: Cursor,
    answer: Cursor,
}

impl Request {
    /// Takes the packet of a call.
    pub async fn receive(mut call: Call) -> Self {
        let bytes = call.receive().await.to_bytes();
        Self {
            call,
            bytes,
            data: Cursor::default(),
            answer: Cursor::default(),
        }
    }

    /// Which function is called.
    pub fn opcode(&self) -> u32 {
        self.call.opcode()
    }

    /// Asks whether the function is allowed, and notes how long its packets are without data.
    ///
    /// # Errors
    /// If it is not.
    pub fn begin(&mut self, gate: &Gate, request_bytes: u32, answer_bytes: u32) -> Result<(), Status> {
        self.skip(request_bytes, answer_bytes);
        gate.check(self.opcode())
    }

    /// Notes how long the packets are without data.
    pub(crate) fn skip(&mut self, request_bytes: u32, answer_bytes: u32) {
        self.data = Cursor(request_bytes);
        self.answer = Cursor(answer_bytes);
    }

    /// The value at an offset.
    ///
    /// # Errors
    /// If its type has no such value.
    pub fn value<T: Word>(&self, at: u32) -> Result<T, Status> {
        let at = at as usize;
        T::read(&self.bytes[at..at + T::BYTES])
    }

    /// The string whose slice is at an offset.
    ///
    /// # Errors
    /// If it has more bytes than the cap, no NUL at its end, another one, or is no UTF-8.
    pub async fn text(&mut self, at: u32, cap: u32) -> Result<String, Status> {
        let bytes: u32 = self.value(at + 4)?;
        if bytes == 0 || bytes > cap {
            return Err(Status::TEXT);
        }
        let mut text = self.fetch(at, bytes).await?;
        match text.pop() == Some(0) && !text.contains(&0) {
            true => String::from_utf8(text).map_err(|_| Status::TEXT),
            false => Err(Status::TEXT),
        }
    }

    /// The elements whose slice is at an offset; their number is a product.
    ///
    /// # Errors
    /// If there are as many as that neither there, nor inside of the port's part of the bulk area.
    pub async fn input<T: Word>(&mut self, at: u32, elements: &[i64]) -> Result<Vec<T>, Status> {
        let bytes = self.expect::<T>(at, elements)?;
        elements_of(&self.fetch(at, bytes).await?)
    }

    /// Where elements are to be written, and as many zeros.
    ///
    /// # Errors
    /// As for [`input`](Self::input).
    pub fn output<T: Word>(&mut self, at: u32, elements: &[i64]) -> Result<(Slice, Vec<T>), Status> {
        let bytes = self.expect::<T>(at, elements)?;
        let slice = self.place(at, bytes)?;
        Ok((slice, vec![T::zero(); bytes as usize / T::BYTES]))
    }

    /// The elements whose slice is at an offset, and where they are to be written again.
    ///
    /// # Errors
    /// As for [`input`](Self::input).
    pub async fn input_and_output<T: Word>(
        &mut self,
        at: u32,
        elements: &[i64],
    ) -> Result<(Slice, Vec<T>), Status> {
        let data = self.input(at, elements).await?;
        let slice = self.place(at, (data.len() * T::BYTES) as u32)?;
        Ok((slice, data))
    }

    /// Puts elements where they are to be written.
    ///
    /// # Errors
    /// If they do not fit there.
    pub async fn put<T: Word>(
        &mut self,
        reply: &mut Reply,
        slice: Slice,
        elements: &[T],
    ) -> Result<(), Status> {
        let mut bytes = vec![0; slice.bytes as usize];
        for (place, element) in bytes.chunks_exact_mut(T::BYTES).zip(elements) {
            element.write(place);
        }
        let fits = match slice.is_inline {
            true => {
                reply.data(slice.at, &bytes);
                true
            }
            false => self.call.write_bulk(slice.at, &bytes).await,
        };
        fits.then_some(()).ok_or(Status::OUTSIDE)
    }

    /// Sends the answer, and counts what is refused.
    pub async fn answer(&mut self, reply: Result<Reply, Status>) {
        let packet = reply.map_or_else(Reply::refusal, Reply::packet);
        if let Err(status) = reply {
            self.call.refuse(Refusal::new(status.name()));
        }
        self.call.send(&packet.0).await;
    }

    /// The number of bytes of the elements, if the slice at an offset has as many, and there is room for them.
    fn expect<T: Word>(&self, at: u32, elements: &[i64]) -> Result<u32, Status> {
        let number = |number: &i64| u32::try_from(*number).ok();
        let bytes = elements
            .iter()
            .map(number)
            .try_fold(T::BYTES as u32, |bytes, number| bytes.checked_mul(number?))
            .ok_or(Status::LENGTH)?;
        match self.value::<u32>(at + 4)? == bytes {
            true if bytes > self.call.bulk_bytes().max(INLINE_BYTES) => Err(Status::ROOM),
            true => Ok(bytes),
            false => Err(Status::LENGTH),
        }
    }

    /// The bytes of the slice at an offset.
    async fn fetch(&mut self, at: u32, bytes: u32) -> Result<Vec<u8>, Status> {
        match self.value(at)? {
            INLINE => {
                let start = self.data.take(bytes)? as usize;
                Ok(self.bytes[start..start + bytes as usize].to_vec())
            }
            place => self.call.read_bulk(place, bytes).await.ok_or(Status::OUTSIDE),
        }
    }

    fn place(&mut self, at: u32, bytes: u32) -> Result<Slice, Status> {
        let at: u32 = self.value(at)?;
        let is_inline = at == INLINE;
        let at = if is_inline { self.answer.take(bytes)? } else { at };
        Ok(Slice { is_inline, at, bytes })
    }
}

fn elements_of<T: Word>(bytes: &[u8]) -> Result<Vec<T>, Status> {
    bytes.chunks_exact(T::BYTES).map(T::read).collect()
}

// The answer to a request.

/// Where the result stands.
pub(crate) const RESULT_AT: u32 = 8;

/// The answer to a request: its status, its result, and what else it gives.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    bytes: [u8; NEXT_BYTES],
}

impl Reply {
    /// Of a function without a result.
    pub fn empty() -> Self {
        Self {
            bytes: [0; NEXT_BYTES],
        }
    }

    /// With a result.
    pub fn new<T: Word>(result: T) -> Self {
        let mut reply = Self::empty();
        reply.value(RESULT_AT, result);
        reply
    }

    /// Puts a value at an offset.
    pub fn value<T: Word>(&mut self, at: u32, value: T) {
        let at = at as usize;
        value.write(&mut self.bytes[at..at + T::BYTES]);
    }

    pub(crate) fn data(&mut self, at: u32, data: &[u8]) {
        let at = at as usize;
        self.bytes[at..at + data.len()].copy_from_slice(data);
    }

    fn packet(self) -> Packet {
        Packet::from_bytes(&self.bytes)
    }

    /// The answer to what is refused.
    fn refusal(status: Status) -> Packet {
        Packet::of(&[status.raw().into()])
    }
}

// Values of fixed width, as packets hold them.

/// A value of fixed width.
pub trait Word: Copy {
    /// Its bytes.
    const BYTES: usize;

    /// The value that a handler's variable holds before the host has answered.
    fn zero() -> Self;

    /// Reads as many bytes as it has, the lowest first.
    ///
    /// # Errors
    /// If its type has no such value.
    fn read(bytes: &[u8]) -> Result<Self, Status>;

    /// Writes as many bytes as it has.
    fn write(self, bytes: &mut [u8]);
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(
            impl Word for $number {
                const BYTES: usize = size_of::<Self>();

                fn zero() -> Self {
                    Self::from_le_bytes([0; size_of::<Self>()])
                }

                fn read(bytes: &[u8]) -> Result<Self, Status> {
                    bytes.try_into().map(Self::from_le_bytes).map_err(|_| Status::LENGTH)
                }

                fn write(self, bytes: &mut [u8]) {
                    bytes.copy_from_slice(&self.to_le_bytes());
                }
            }
        )*
    };
}

numbers!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

impl Word for bool {
    const BYTES: usize = 1;

    fn zero() -> Self {
        false
    }

    fn read(bytes: &[u8]) -> Result<Self, Status> {
        match u8::read(bytes)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Status::VALUE),
        }
    }

    fn write(self, bytes: &mut [u8]) {
        u8::from(self).write(bytes);
    }
}

impl<const KIND: u32> Word for Handle<KIND> {
    const BYTES: usize = 4;

    fn zero() -> Self {
        Self::predefined(0)
    }

    fn read(bytes: &[u8]) -> Result<Self, Status> {
        Self::from_raw(u32::read(bytes)?).ok_or(Status::HANDLE)
    }

    fn write(self, bytes: &mut [u8]) {
        self.raw().write(bytes);
    }
}
