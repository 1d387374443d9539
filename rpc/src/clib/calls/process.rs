//! Calls that reach beyond streams: the client's end, commands, functions and memory of the host.

use super::FAILED;
use crate::clib::blocking::Elsewhere;
use crate::clib::{Libc, refused};
use crate::server::{Call, End};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::rc::Rc;

/// `> anything < anything > status`.
pub(in crate::clib) async fn exit(libc: Rc<Libc>, mut call: Call) {
    let status = farewell(&mut call).await as i32;
    end(&call, libc.permissions.exit, End::Exit(status));
}

/// `> anything < anything > anything`.
pub(in crate::clib) async fn abort(libc: Rc<Libc>, mut call: Call) {
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

/// `> S(command) < status`. The command runs beside the server.
pub(in crate::clib) async fn system(libc: Rc<Libc>, mut call: Call) {
    let command = call.receive_stream(libc.limits.path).await;
    let status = match command {
        Some(command) if libc.permissions.system => {
            let folder = libc.host.borrow().folder.clone();
            match Elsewhere::start(move || run(&command, folder)) {
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
pub(in crate::clib) async fn host_call(libc: Rc<Libc>, mut call: Call) {
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
pub(in crate::clib) async fn malloc(libc: Rc<Libc>, mut call: Call) {
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
pub(in crate::clib) async fn free(libc: Rc<Libc>, mut call: Call) {
    let [address, ..] = call.receive().await.0;
    let is_freed = match &mut libc.host.borrow_mut().heap {
        Some(heap) => heap.free(address),
        None => false,
    };
    if !is_freed && address != 0 {
        call.refuse(refused::NOT_ALLOWED);
    }
}
