//! Programs that open and close NICs leave nothing behind, and threads may share them.

use crate::support::{Nic, message, ok, open, open_context, open_program};
use spinneret::*;
use std::fs;

/// Opening, using, closing.
const LIVES: u32 = 1000;
/// After so many everything that is kept for later is there.
const WARM: u32 = 100;
/// What may come and go with other tests of the process, in bytes and descriptors. Something that every life left behind
/// would be more.
const TOLERANCE: (u64, usize) = (512 << 10, 20);

/// Memory of this process that is its own, in bytes, and its descriptors.
fn usage() -> (u64, usize) {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    let descriptors = fs::read_dir("/proc/self/fd").expect("Linux tells").count();
    (1024 * kilobytes.expect("Linux tells"), descriptors)
}

#[test]
fn a_thousand_lives_leave_nothing_behind() {
    let nic = Nic::start();
    let mut before = (0, 0);
    for life in 0..LIVES {
        if life == WARM {
            before = usage();
        }
        let (handle, program) = (open(&nic), open_program(&nic));
        let context = open_context(handle, program);
        let mut value = 1;
        // SAFETY: the place is there.
        ok(unsafe { spinneret_host_load32(context, 64, &raw mut value) });
        assert_eq!(value, 0, "in life {life}");
        ok(spinneret_host_store32(context, 64, life));
        // Every other life leaves its context to the NIC.
        if life.is_multiple_of(2) {
            ok(spinneret_close_context(context));
        }
        ok(spinneret_program_close(program));
        ok(spinneret_close(handle));
    }
    let after = usage();
    println!("after {WARM} lives {before:?}, after {LIVES} {after:?} (bytes, descriptors)");
    assert!(
        after.0 < before.0 + TOLERANCE.0,
        "memory grows: {before:?} to {after:?}"
    );
    assert!(
        after.1 < before.1 + TOLERANCE.1,
        "descriptors: {before:?} to {after:?}"
    );
    let books = nic.fake.driver().books;
    assert_eq!((books.mapped, books.unmapped), (LIVES, LIVES));
}

#[test]
fn threads_share_a_nic_and_one_of_them_closes_it() {
    let nic = Nic::start();
    let handle = open(&nic);
    let context = open_context(handle, open_program(&nic));
    let number = context.addr();
    let busy = std::thread::spawn(move || {
        let context = std::ptr::without_provenance_mut(number);
        while spinneret_host_store32(context, 0, 1) == SPINNERET_OK {}
        message()
    });
    ok(spinneret_wait(handle, 2_000_000));
    ok(spinneret_close(handle));
    let end = busy.join().expect("it does not panic");
    assert!(end.contains("is no context that is open"), "{end}");
    // The context may have been closed by the other thread, a moment after.
    let begun = std::time::Instant::now();
    while nic.fake.driver().books.unmapped == 0 {
        assert!(begun.elapsed().as_secs() < 10, "the context stays");
        std::thread::yield_now();
    }
}
