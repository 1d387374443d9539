//! `fopen`, `fclose`, `remove`, `rename`.

use super::FAILED;
use crate::clib::files::Failure;
use crate::clib::{Libc, refused};
use crate::server::Call;
use std::rc::Rc;

/// What of a failure is counted; C's answers do not tell why.
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
pub(in crate::clib) async fn open(libc: Rc<Libc>, mut call: Call) {
    let path = call.receive_stream(libc.limits.path).await;
    let mode = call.receive().await.to_bytes();
    let handle = path.and_then(|path| count(&call, libc.files.borrow_mut().open(&path, &mode)));
    call.send(&[handle.unwrap_or(0).into()]).await;
}

/// `> handle < status`.
pub(in crate::clib) async fn close(libc: Rc<Libc>, mut call: Call) {
    let [name, ..] = call.receive().await.0;
    let closed = libc.files.borrow_mut().close(name);
    let status = status(&call, closed);
    call.send(&[status]).await;
}

/// `> S(path) < status`.
pub(in crate::clib) async fn remove(libc: Rc<Libc>, mut call: Call) {
    let path = call.receive_stream(libc.limits.path).await;
    let status = path.map_or(FAILED, |path| match libc.permissions.remove {
        true => status(&call, libc.files.borrow().remove(&path)),
        false => status(&call, Err(Failure::Refused(refused::NOT_ALLOWED))),
    });
    call.send(&[status]).await;
}

/// `> S(old) > S(new) < status`.
pub(in crate::clib) async fn rename(libc: Rc<Libc>, mut call: Call) {
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
