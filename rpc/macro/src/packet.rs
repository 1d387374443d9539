//! Where everything stands in the packets of a function.
//!
//! ```text
//! request: u32 NOBODY | values, slices, each at a multiple of its alignment | short data that go to the host
//! answer:  u32 status | 0 | result, 8 bytes | values, the same way          | short data that come back
//! ```
//!
//! A slice is {u32 where, u32 bytes}. A request that nobody takes comes back as it is, and then says so by its first word.

use crate::service::{Form, Function};
use syn::{Error, Result};

/// Bytes of a packet.
const PACKET_BYTES: u32 = 64;
/// Bytes before the first value of a request.
const REQUEST_HEAD: u32 = 4;
/// Bytes before the first value of an answer.
const ANSWER_HEAD: u32 = 16;
/// Bytes of a slice, and what it is aligned to.
const SLICE_BYTES: u32 = 8;
const SLICE_ALIGNMENT: u32 = 4;
/// What data of any length are aligned to.
const DATA_ALIGNMENT: u32 = 4;

/// Gives everything its place.
pub(crate) fn place(function: &mut Function) -> Result<()> {
    let (mut request, mut answer) = (REQUEST_HEAD, ANSWER_HEAD);
    for parameter in &mut function.parameters {
        let (end, bytes, alignment) = match &parameter.form {
            Form::Value(word) => (&mut request, word.bytes(), word.bytes()),
            Form::Text(_) | Form::Data(..) => (&mut request, SLICE_BYTES, SLICE_ALIGNMENT),
            Form::Out(word) => (&mut answer, word.bytes(), word.bytes()),
        };
        parameter.at = end.next_multiple_of(alignment);
        *end = parameter.at + bytes;
        if *end > PACKET_BYTES {
            let why = format!(
                "up to `{}` the values need {end} bytes, and a packet has {PACKET_BYTES}: pass them as data",
                parameter.name
            );
            return Err(Error::new(parameter.name.span(), why));
        }
    }
    function.request_bytes = request.next_multiple_of(DATA_ALIGNMENT);
    function.answer_bytes = answer.next_multiple_of(DATA_ALIGNMENT);
    Ok(())
}
