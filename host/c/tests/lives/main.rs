//! Programs that open and close NICs leave nothing behind. The test has a process of its own, because it looks at all of
//! the process.

#[path = "../../../tests/card/driver.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod driver;
#[path = "../../../tests/card/fake.rs"]
mod fake;
#[path = "../interface/support.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod support;

use spinneret::*;
use std::fs;
use support::{Nic, ok, open, open_context, open_program};

/// Opening, using, closing.
const LIVES: u32 = 1000;
/// After so many everything that is kept for later is there.
const WARM: u32 = 100;
/// What the heap may grow by, because it is never filled the same way.
const TOLERANCE_BYTES: u64 = 256 << 10;

/// Memory of this process that is its own, in bytes, and its descriptors.
///
/// The NIC's thread closes its end of a socket a little later than we do ours.
fn usage() -> (u64, usize) {
    std::thread::sleep(std::time::Duration::from_millis(500));
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    let descriptors = fs::read_dir("/proc/self/fd").expect("Linux tells").count();
    (1024 * kilobytes.expect("Linux tells"), descriptors)
}

#[test]
fn opening_and_closing_leaks_nothing() {
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
        after.0 < before.0 + TOLERANCE_BYTES,
        "memory grows: {before:?} to {after:?}"
    );
    assert_eq!(after.1, before.1, "descriptors");
    let books = nic.fake.driver().books;
    assert_eq!((books.mapped, books.unmapped), (LIVES, LIVES));
}
