//! The running MPI, and the texts of its errors.

use crate::error::{Class, Error};
use crate::functions::Functions;
use std::fmt::Display;
use std::io::Write as _;
use std::time::Duration;
use std::{process, thread};

/// Bytes for what MPI says of itself and of errors; longer texts are cut.
pub(crate) const TEXT_BYTES: usize = 8192;

/// MPI between start and end.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) functions: &'static Functions,
    /// Whether it was started here, and has to be ended here.
    pub(crate) is_ours: bool,
}

impl Session {
    /// Converts MPI's code of a call to a result.
    pub(crate) fn check(&self, call: &'static str, code: i32) -> Result<(), Error> {
        check(self.functions, call, code)
    }

    pub(crate) fn complain(&self, why: &dyn Display) {
        let (mut rank, mut size, mut world) = (-1, -1, 0);
        let functions = self.functions;
        // SAFETY: MPI runs, and the arguments are places for numbers.
        unsafe {
            (functions.world)(&mut world);
            (functions.rank)(world, &mut rank);
            (functions.size)(world, &mut size);
        }
        // In one piece, because other ranks write as well.
        let text = format!("spinneret: rank {rank} of {size}: {why}; all ranks are ended\n");
        let _ = std::io::stderr().write_all(text.as_bytes());
        // MPICH's launcher throws away what it has not read when it learns of the end.
        thread::sleep(Duration::from_millis(200));
    }

    /// For values that cannot be given up in order while a panic unwinds.
    pub(crate) fn abort_by_panic(&self) -> ! {
        self.complain(&"it panicked");
        // The code of a Rust program that panics.
        self.abort(101)
    }

    pub(crate) fn abort(&self, code: i32) -> ! {
        let code = if code == 0 { 1 } else { code };
        // SAFETY: MPI runs.
        unsafe { (self.functions.abort)(code) };
        // MPI may return if it cannot end the others.
        process::exit(code)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if thread::panicking() && self.is_ours {
            self.abort_by_panic();
        }
        if self.is_ours {
            // SAFETY: MPI runs, and this is the last that could use it. There is no caller to return an error to.
            unsafe { (self.functions.finalize)() };
        }
    }
}

/// Converts MPI's code of a call to a result, before there is a session.
pub(crate) fn check(functions: &Functions, call: &'static str, code: i32) -> Result<(), Error> {
    if code == 0 {
        return Ok(());
    }
    let mut class = 0;
    let mut text = vec![0; TEXT_BYTES];
    // SAFETY: the text has room for as many bytes, and the class is a place for a number.
    unsafe { (functions.error)(code, &mut class, text.as_mut_ptr(), TEXT_BYTES as i32) };
    Err(Error::Call {
        call,
        class: Class::from_number(class),
        text: one_line(&text),
    })
}

/// The words of a C string, without the ends of its lines.
pub(crate) fn one_line(text: &[u8]) -> String {
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let text = String::from_utf8_lossy(&text[..end]);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
