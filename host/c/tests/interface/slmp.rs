//! Messages of SLMP from one program in C to another.

use crate::support::{fails, ok};
use spinneret::*;
use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;

const SECOND: u64 = 1_000_000_000;

/// A receiver at a port that was free, and its address.
fn listen() -> (*mut spinneret_receiver, CString) {
    let (mut receiver, mut port) = (null_mut(), 0);
    // SAFETY: the string and both places are there.
    ok(unsafe { spinneret_slmp_listen(c"127.0.0.1:0".as_ptr(), &raw mut receiver, &raw mut port) });
    let address = CString::new(format!("127.0.0.1:{port}")).expect("there is no 0 in it");
    (receiver, address)
}

#[test]
fn a_message_arrives_whole_and_waits_for_enough_room() {
    let (receiver, address) = listen();
    let message: Vec<u8> = (0..10_000_u32).map(|byte| byte as u8).collect();
    let sent = message.clone();
    let sender = std::thread::spawn(move || {
        // SAFETY: the string and the bytes are there.
        unsafe { spinneret_slmp_send(address.as_ptr(), sent.as_ptr().cast(), sent.len(), 16) }
    });
    let (mut buffer, mut size) = (vec![0_u8; message.len()], 0);
    let into: *mut c_void = buffer.as_mut_ptr().cast();
    // SAFETY: the places are there.
    unsafe {
        fails(
            spinneret_slmp_receive(receiver, into, 9999, &raw mut size, 10 * SECOND),
            SPINNERET_ERROR_ARGUMENT,
            "the message has 10000 bytes, and there is room for 9999",
        );
        assert_eq!(size, 10_000);
        let received = spinneret_slmp_receive(receiver, into, size, &raw mut size, 10 * SECOND);
        assert_eq!(received, 1);
        assert_eq!((size, &buffer), (10_000, &message));
        ok(sender.join().expect("it does not panic"));
        assert_eq!(spinneret_slmp_receive(receiver, into, size, &raw mut size, 1), 0);
    }
    ok(spinneret_slmp_close(receiver));
    fails(
        spinneret_slmp_close(receiver),
        SPINNERET_ERROR_ARGUMENT,
        "receiver of SLMP that is open",
    );
}

#[test]
fn what_cannot_be_sent_or_received_is_refused() {
    let (receiver, address) = listen();
    let mut other = null_mut();
    // SAFETY: strings and places are there.
    unsafe {
        fails(
            spinneret_slmp_listen(address.as_ptr(), &raw mut other, null_mut()),
            SPINNERET_ERROR_OPEN,
            "is another receiver running there?",
        );
        fails(
            spinneret_slmp_send(c"localhost".as_ptr(), null_mut(), 0, 1),
            SPINNERET_ERROR_ARGUMENT,
            "to is `localhost`, and should be an IPv4 address and a port",
        );
        fails(
            spinneret_slmp_send(address.as_ptr(), null_mut(), 0, 0),
            SPINNERET_ERROR_ARGUMENT,
            "a window of 0 segments sends nothing",
        );
    }
    ok(spinneret_slmp_close(receiver));
}

#[test]
fn the_library_tells_its_version() {
    // SAFETY: the string is there for ever.
    let version = unsafe { CStr::from_ptr(spinneret_version()) };
    assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
}
