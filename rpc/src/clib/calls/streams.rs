//! Reading, writing and state of streams: `fread`, `fgetc`, `fgets`, `fwrite`, `fputs`, `feof` and the like.

use super::FAILED;
use crate::clib::files::{STDERR, STDOUT};
use crate::clib::stream::Stream;
use crate::clib::{Libc, refused};
use crate::opcode;
use crate::server::{Call, Refusal};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

/// `> size, stream < S(bytes) < count`.
pub(in crate::clib) async fn read(libc: Rc<Libc>, mut call: Call) {
    let [wanted, name, ..] = call.receive().await.0;
    let bytes = take(&libc, &call, name, wanted, None).await;
    call.send_stream(&bytes).await;
    call.send(&[bytes.len() as u64]).await;
}

/// `> count, stream < S(line and NUL)`, without a NUL if there is no line.
pub(in crate::clib) async fn line(libc: Rc<Libc>, mut call: Call) {
    let [count, name, ..] = call.receive().await.0;
    // The count is an `int`, and the NUL is one of it.
    let wanted = (count as i32).checked_sub(1).filter(|wanted| *wanted >= 0);
    let line = match wanted {
        None => Vec::new(),
        Some(wanted) => {
            let mut line = take(&libc, &call, name, wanted as u64, Some(b'\n')).await;
            if wanted == 0 || !line.is_empty() {
                line.push(0);
            }
            line
        }
    };
    call.send_stream(&line).await;
}

/// Reads up to so many bytes, or to one that ends the reading.
async fn take(libc: &Libc, call: &Call, name: u64, wanted: u64, last: Option<u8>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let wanted = usize::try_from(wanted)
        .ok()
        .filter(|wanted| *wanted <= libc.limits.stream);
    poll_fn(|context| {
        let mut files = libc.files.borrow_mut();
        let Some(stream) = files.stream(name) else {
            call.refuse(refused::HANDLE);
            return Poll::Ready(());
        };
        match wanted {
            Some(wanted) => stream.poll_read(context, wanted, last, &mut bytes),
            None => {
                stream.fail();
                call.refuse(Refusal::TOO_LONG);
                Poll::Ready(())
            }
        }
    })
    .await;
    bytes
}

// `fwrite`, `fputs`, `fputc`, `puts`.

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

// `feof`, `ferror`, `clearerr`, `fseek`, `ftell`, `fflush`, `ungetc`.

/// `> stream and what belongs to it < int`, of `ungetc` the character first.
pub(in crate::clib) async fn of_stream(libc: Rc<Libc>, mut call: Call) {
    let words = call.receive().await.0;
    let name = match call.opcode() {
        opcode::UNGETC => words[1],
        _ => words[0],
    };
    let answer = match libc.files.borrow_mut().stream(name) {
        Some(stream) => answer(stream, &call, words),
        None => {
            call.refuse(refused::HANDLE);
            match call.opcode() {
                // Whoever reads until the end or an error has to come to one.
                opcode::FEOF | opcode::FERROR => 1,
                _ => FAILED,
            }
        }
    };
    call.send(&[answer]).await;
}

fn answer(stream: &mut Stream, call: &Call, words: [u64; 8]) -> u64 {
    let status = |worked| match worked {
        true => 0,
        false => FAILED,
    };
    match call.opcode() {
        opcode::FEOF => stream.is_at_end().into(),
        opcode::FERROR => stream.has_failed().into(),
        opcode::FSEEK => status(stream.seek(words[1] as i64, words[2] & u64::from(u32::MAX))),
        opcode::FTELL => stream.tell().unwrap_or(FAILED),
        opcode::FFLUSH => status(stream.flush(Some(call.port()))),
        opcode::UNGETC => match words[0] as i32 {
            -1 => FAILED,
            character => match stream.push_back(character as u8) {
                true => u64::from(character as u8),
                false => FAILED,
            },
        },
        _ => {
            stream.clear();
            0
        }
    }
}
