//! `feof`, `ferror`, `clearerr`, `fseek`, `ftell`, `fflush`, `ungetc`.

use super::FAILED;
use crate::clib::stream::Stream;
use crate::clib::{Libc, refused};
use crate::opcode;
use crate::server::Call;
use std::rc::Rc;

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
