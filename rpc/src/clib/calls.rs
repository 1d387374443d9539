//! The calls of libc: packets of each call, in their order.

use crate::clib::files::{Failure, STDERR, STDOUT};
use crate::clib::format::{Item, Packing, argument_bytes, bind, render};
use crate::clib::stream::{BlockingTask, Stream};
use crate::clib::{Libc, refused};
use crate::layout::Packet;
use crate::opcode::{self, TEST_INCREMENT, TEST_INTERFACE, TEST_STREAM};
use crate::server::{Answer, Call, CallMode, End, Refusal, Service};
use std::ffi::OsStr;
use std::future::poll_fn;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::task::Poll;

/// C's answer of failure where there is an integer, and `EOF`.
const FAILED: u64 = u64::MAX;

// Reading, writing and state of streams: `fread`, `fgets`, `fwrite`, `feof` and similar.

/// `> size, stream < S(bytes) < count`.
pub(super) async fn read(libc: Rc<Libc>, mut call: Call) {
    let [wanted, name, ..] = call.receive().await.0;
    let bytes = take(&libc, &call, name, wanted, None).await;
    call.send_stream(&bytes).await;
    call.send(&[bytes.len() as u64]).await;
}

/// `> count, stream < S(line and NUL)`, without a NUL if there is no line.
pub(super) async fn line(libc: Rc<Libc>, mut call: Call) {
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

/// Reads up to `wanted` bytes, or to a delimiter.
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
pub(super) async fn write(libc: Rc<Libc>, mut call: Call) {
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
pub(super) async fn of_stream(libc: Rc<Libc>, mut call: Call) {
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
                // A loop that reads until the end or an error has to terminate.
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

// `printf` and `fprintf`.

/// `> [stream] > S(format) < bytes of arguments > S(arguments)`, for each string, the last one first, `< 0, address
/// > S(string)`, and `< result, 0`.
pub(super) async fn print(libc: Rc<Libc>, mut call: Call) {
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
    let result = write_text(&libc, &call, name, text);
    call.send(&[result, 0]).await;
}

/// Writes text, if there is any, and gives the result of `printf`.
fn write_text(libc: &Libc, call: &Call, name: u64, text: Option<Vec<u8>>) -> u64 {
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

/// `> S(u32 stream, u32 bytes of the format, format, arguments packed, strings) < result`: [`opcode::PRINT`]. The
/// strings are those
/// that are not null, in their order, each up to its NUL.
pub(super) async fn print_short(libc: Rc<Libc>, mut call: Call) {
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
    let result = write_text(&libc, &call, name, text);
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

/// Receives format, arguments and strings, and renders them. If one is refused, this still receives the others.
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

/// The strings that are not null, in their order. Together they have at most as many bytes as are printed.
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

// Files: `fopen`, `fclose`, `remove`, `rename`.

/// Counts the failure if it is a refusal; C's answers do not give the reason.
fn count<T>(call: &Call, result: Result<T, Failure>) -> Option<T> {
    if let Err(Failure::Refused(refusal)) = result {
        call.refuse(refusal);
    }
    result.ok()
}

/// 0 for success.
fn status(call: &Call, result: Result<(), Failure>) -> u64 {
    count(call, result).map_or(FAILED, |()| 0)
}

/// `> S(path) > mode < handle`.
pub(super) async fn open(libc: Rc<Libc>, mut call: Call) {
    let path = call.receive_stream(libc.limits.path).await;
    let mode = call.receive().await.to_bytes();
    let handle = path.and_then(|path| count(&call, libc.files.borrow_mut().open(&path, &mode)));
    call.send(&[handle.unwrap_or(0).into()]).await;
}

/// `> handle < status`.
pub(super) async fn close(libc: Rc<Libc>, mut call: Call) {
    let [name, ..] = call.receive().await.0;
    let closed = libc.files.borrow_mut().close(name);
    let status = status(&call, closed);
    call.send(&[status]).await;
}

/// `> S(path) < status`.
pub(super) async fn remove(libc: Rc<Libc>, mut call: Call) {
    let path = call.receive_stream(libc.limits.path).await;
    let status = path.map_or(FAILED, |path| match libc.permissions.remove {
        true => status(&call, libc.files.borrow().remove(&path)),
        false => status(&call, Err(Failure::Refused(refused::NOT_ALLOWED))),
    });
    call.send(&[status]).await;
}

/// `> S(old) > S(new) < status`.
pub(super) async fn rename(libc: Rc<Libc>, mut call: Call) {
    let from = call.receive_stream(libc.limits.path).await;
    let to = call.receive_stream(libc.limits.path).await;
    let status = from
        .zip(to)
        .map_or(FAILED, |(from, to)| match libc.permissions.rename {
            true => status(&call, libc.files.borrow().rename(&from, &to)),
            false => status(&call, Err(Failure::Refused(refused::NOT_ALLOWED))),
        });
    call.send(&[status]).await;
}

// Calls that reach beyond streams: the end of the client, commands, functions and memory of the host.

/// `> anything < anything > status`.
pub(super) async fn exit(libc: Rc<Libc>, mut call: Call) {
    let status = farewell(&mut call).await as i32;
    end(&call, libc.permissions.exit, End::Exit(status));
}

/// `> anything < anything > anything`.
pub(super) async fn abort(libc: Rc<Libc>, mut call: Call) {
    farewell(&mut call).await;
    end(&call, libc.permissions.abort, End::Abort);
}

/// The client waits for an answer, so that all it has said before has arrived.
async fn farewell(call: &mut Call) -> u64 {
    call.receive().await;
    call.send(&[]).await;
    call.receive().await.0[0]
}

fn end(call: &Call, is_allowed: bool, end: End) {
    match is_allowed {
        true => call.end(end),
        false => call.refuse(refused::NOT_ALLOWED),
    }
}

/// `> S(command) < status`. The command runs in parallel with the server.
pub(super) async fn system(libc: Rc<Libc>, mut call: Call) {
    let command = call.receive_stream(libc.limits.path).await;
    let status = match command {
        Some(command) if libc.permissions.system => {
            let folder = libc.host.borrow().folder.clone();
            match BlockingTask::start(move || run(&command, folder)) {
                Ok(work) => work.await.map_or(FAILED, |status| status as u64),
                Err(_) => FAILED,
            }
        }
        Some(_) => {
            call.refuse(refused::NOT_ALLOWED);
            FAILED
        }
        None => FAILED,
    };
    call.send(&[status]).await;
}

/// Runs a command in the folder, without input, and gives its status as C has it.
fn run(command: &[u8], folder: Option<PathBuf>) -> io::Result<i32> {
    let command = command.split(|byte| *byte == 0).next().unwrap_or_default();
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(OsStr::from_bytes(command))
        .stdin(Stdio::null());
    if let Some(folder) = folder {
        shell.current_dir(folder);
    }
    Ok(shell.status()?.into_raw())
}

/// `> S(arguments) > number of the function < result`.
pub(super) async fn host_call(libc: Rc<Libc>, mut call: Call) {
    let arguments = call.receive_stream(libc.limits.stream).await;
    let [number, ..] = call.receive().await.0;
    let result = match (libc.host.borrow_mut().functions.get_mut(&number), arguments) {
        (Some(function), Some(arguments)) => function(&arguments),
        (Some(_), None) => FAILED,
        (None, _) => {
            call.refuse(refused::FUNCTION);
            FAILED
        }
    };
    call.send(&[result]).await;
}

/// `> bytes < address`, or 0.
pub(super) async fn malloc(libc: Rc<Libc>, mut call: Call) {
    let [bytes, ..] = call.receive().await.0;
    let address = match &mut libc.host.borrow_mut().heap {
        Some(heap) => heap.allocate(bytes).unwrap_or(0),
        None => {
            call.refuse(refused::NOT_ALLOWED);
            0
        }
    };
    call.send(&[address]).await;
}

/// `> address`, without an answer.
pub(super) async fn free(libc: Rc<Libc>, mut call: Call) {
    let [address, ..] = call.receive().await.0;
    let is_freed = match &mut libc.host.borrow_mut().heap {
        Some(heap) => heap.free(address),
        None => false,
    };
    if !is_freed && address != 0 {
        call.refuse(refused::NOT_ALLOWED);
    }
}

// The opcodes of LLVM's tests of its RPC.

/// Longest stream that is sent back.
const STREAM_BYTES: usize = 1 << 20;

/// The calls of LLVM's own tests, for the class of libc.
#[derive(Clone, Copy, Debug, Default)]
pub struct TestCalls;

impl Service for TestCalls {
    fn handles(&self, opcode: u32) -> Option<CallMode> {
        match opcode {
            TEST_INCREMENT => Some(CallMode::Immediate),
            TEST_INTERFACE | TEST_STREAM => Some(CallMode::Async),
            _ => None,
        }
    }

    fn at_once(&self, _: u32, request: &Packet) -> Option<Packet> {
        Some(Packet::of(&[request.0[0].wrapping_add(1)]))
    }

    fn call(self: Rc<Self>, call: Call) -> Answer {
        match call.opcode() {
            TEST_INTERFACE => Box::pin(interface(call)),
            _ => Box::pin(stream(call)),
        }
    }
}

/// The steps of one side in [`TEST_INTERFACE`] after the flag, except for the last step, which the flag chooses.
const STEPS: [Step; 8] = {
    use Step::{Receive, Send};
    [Receive, Send, Receive, Send, Receive, Receive, Send, Send]
};

#[derive(Clone, Copy)]
enum Step {
    Receive,
    Send,
}

/// Sends and receives in every order. Each side sends the number after the newest one that it knows.
async fn interface(mut call: Call) {
    let [ends_with_receive, ..] = call.receive().await.0;
    let last = match ends_with_receive {
        0 => Step::Send,
        _ => Step::Receive,
    };
    let mut count = 0_u64;
    for step in STEPS.into_iter().chain([last]) {
        match step {
            Step::Receive => [count, ..] = call.receive().await.0,
            Step::Send => {
                count = count.wrapping_add(1);
                call.send(&[count]).await;
            }
        }
    }
}

async fn stream(mut call: Call) {
    let bytes = call.receive_stream(STREAM_BYTES).await.unwrap_or_default();
    call.send_stream(&bytes).await;
}
