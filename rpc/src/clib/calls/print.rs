//! `printf` and `fprintf`.

use super::FAILED;
use crate::clib::files::{STDERR, STDOUT};
use crate::clib::format::{Item, Packing, argument_bytes, bind, render};
use crate::clib::{Libc, refused};
use crate::opcode;
use crate::server::{Call, Refusal};
use std::rc::Rc;

/// `> [stream] > S(format) < bytes of arguments > S(arguments)`, for each string, the last one first, `< 0, address
/// > S(string)`, and `< result, 0`.
pub(in crate::clib) async fn print(libc: Rc<Libc>, mut call: Call) {
    let (packing, name) = match call.opcode() {
        opcode::PRINTF_TO_STDOUT => (Packing::Aligned, Some(STDOUT)),
        opcode::PRINTF_TO_STDERR => (Packing::Aligned, Some(STDERR)),
        opcode::PRINTF_TO_STREAM => (Packing::Aligned, None),
        opcode::PRINTF_TO_STDOUT_PACKED => (Packing::Packed, Some(STDOUT)),
        opcode::PRINTF_TO_STDERR_PACKED => (Packing::Packed, Some(STDERR)),
        _ => (Packing::Packed, None),
    };
    let name = match name {
        Some(name) => name,
        None => call.receive().await.0[0],
    };
    let text = text(&libc, &mut call, packing).await;
    let result = write(&libc, &call, name, text);
    call.send(&[result, 0]).await;
}

/// Writes text, if there is any, and gives the result of `printf`.
fn write(libc: &Libc, call: &Call, name: u64, text: Option<Vec<u8>>) -> u64 {
    match (libc.files.borrow_mut().stream(name), text) {
        (None, _) => {
            call.refuse(refused::HANDLE);
            FAILED
        }
        (Some(stream), None) => {
            stream.fail();
            FAILED
        }
        (Some(stream), Some(text)) => match stream.write(call.port(), &text) == text.len() {
            true => text.len() as u64,
            false => FAILED,
        },
    }
}

/// `> S(u32 stream, u32 bytes of the format, format, arguments packed, strings) < result`: [`opcode::PRINT`]. The strings are those
/// that are not null, in their order, each up to its NUL.
pub(in crate::clib) async fn print_short(libc: Rc<Libc>, mut call: Call) {
    let most = HEAD_BYTES + libc.limits.format + libc.limits.stream;
    let bytes = call.receive_stream(most).await.unwrap_or_default();
    let (name, text) = match bytes.split_first_chunk() {
        Some((head, rest)) => {
            let [name, format_bytes] = halves(*head);
            let text = short_text(&libc, rest, format_bytes as usize);
            if let Err(refusal) = text {
                call.refuse(refusal);
            }
            (name.into(), text.ok())
        }
        None => (STDOUT, None),
    };
    let result = write(&libc, &call, name, text);
    call.send(&[result]).await;
}

/// Bytes of the stream and the format's length.
const HEAD_BYTES: usize = 8;

fn halves([a, b, c, d, rest @ ..]: [u8; HEAD_BYTES]) -> [u32; 2] {
    [[a, b, c, d], rest].map(u32::from_le_bytes)
}

fn short_text(libc: &Libc, bytes: &[u8], format_bytes: usize) -> Result<Vec<u8>, Refusal> {
    let (format, rest) = bytes.split_at_checked(format_bytes).ok_or(refused::SHORT)?;
    let argument_bytes = argument_bytes(format, Packing::Packed);
    let (arguments, mut rest) = rest.split_at_checked(argument_bytes).ok_or(refused::SHORT)?;
    let items = bind(format, arguments, Packing::Packed);
    let mut strings = Vec::new();
    for item in &items {
        if let Item::String(_, 1..) = item {
            let end = rest.iter().position(|byte| *byte == 0).ok_or(refused::SHORT)?;
            strings.push(rest[..end].to_vec());
            rest = &rest[end + 1..];
        }
    }
    render(&items, &strings, libc.dialect, libc.limits.stream).map_err(|_| refused::WIDE)
}

/// Receives format, arguments and strings, and makes text of them. If one is refused, the others are received all the same.
async fn text(libc: &Libc, call: &mut Call, packing: Packing) -> Option<Vec<u8>> {
    let format = call.receive_stream(libc.limits.format).await;
    let argument_bytes = argument_bytes(format.as_deref().unwrap_or_default(), packing);
    call.send(&[argument_bytes as u64]).await;
    let arguments = call.receive_stream(argument_bytes).await;
    let (format, arguments) = (format?, arguments?);
    let items = bind(&format, &arguments, packing);
    let strings = strings(libc, call, &items).await?;
    let text = render(&items, &strings, libc.dialect, libc.limits.stream);
    if text.is_err() {
        call.refuse(refused::WIDE);
    }
    text.ok()
}

/// The strings that are not null, in their order. Together they have at most so many bytes as are printed.
async fn strings(libc: &Libc, call: &mut Call, items: &[Item<'_>]) -> Option<Vec<Vec<u8>>> {
    let (mut strings, mut left, mut is_whole) = (Vec::new(), libc.limits.stream, true);
    for item in items.iter().rev() {
        let Item::String(_, address @ 1..) = item else {
            continue;
        };
        call.send(&[0, *address]).await;
        match call.receive_stream(left).await {
            Some(string) => {
                left -= string.len();
                strings.push(string);
            }
            None => is_whole = false,
        }
    }
    strings.reverse();
    is_whole.then_some(strings)
}
