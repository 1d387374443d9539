//! `printf` and `fprintf`.

use super::FAILED;
use crate::clib::files::{STDERR, STDOUT};
use crate::clib::format::{Item, Packing, argument_bytes, bind, render};
use crate::clib::{Libc, refused};
use crate::opcode;
use crate::server::Call;
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
    let result = match (libc.files.borrow_mut().stream(name), text) {
        (None, _) => {
            call.refuse(refused::HANDLE);
            FAILED
        }
        (Some(stream), None) => {
            stream.fail();
            FAILED
        }
        (Some(stream), Some(text)) => match stream.write(&text) == text.len() {
            true => text.len() as u64,
            false => FAILED,
        },
    };
    call.send(&[result, 0]).await;
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
