//! `fread`, `fgetc`, `fgets`.

use crate::clib::{Libc, refused};
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
