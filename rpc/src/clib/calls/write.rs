//! `fwrite`, `fputs`, `fputc`, `puts`.

use crate::clib::files::{STDERR, STDOUT};
use crate::clib::{Libc, refused};
use crate::opcode;
use crate::server::Call;
use std::rc::Rc;

/// `> [stream] > S(bytes) < written`.
pub(in crate::clib) async fn write(libc: Rc<Libc>, mut call: Call) {
    let name = match call.opcode() {
        opcode::WRITE_TO_STREAM => call.receive().await.0[0],
        opcode::WRITE_TO_STDERR => STDERR,
        _ => STDOUT,
    };
    let bytes = call.receive_stream(libc.limits.stream).await;
    let written = match (libc.files.borrow_mut().stream(name), bytes) {
        (None, _) => {
            call.refuse(refused::HANDLE);
            0
        }
        (Some(stream), None) => {
            stream.fail();
            0
        }
        (Some(stream), Some(mut bytes)) => {
            if call.opcode() == opcode::WRITE_TO_STDOUT_NEWLINE {
                bytes.push(b'\n');
            }
            stream.write(call.port(), &bytes)
        }
    };
    call.send(&[written as u64]).await;
}
