//! How fast messages land, in simulated time, with all that is in the way: hosts, both NICs, the cable, host memory.
//!
//! A test is content with one element of 110 592 B in each message and one window; the paper's messages have 2 to 20, which
//! SPINNERET_MPI_COUNT asks for, with all windows. Short messages are slower, by what it takes to begin and to end.

use super::support::{Exchange, Exchanged, complex, exchange, simple};
use spinneret_fabric::Faults;
use spinneret_mpi::Layout;
use spinneret_nic::mpi::blocks;

/// Elements of a message, if more than one is asked for.
fn asked() -> Option<u64> {
    let count = std::env::var("SPINNERET_MPI_COUNT").ok()?;
    Some(count.parse().expect("SPINNERET_MPI_COUNT is a number"))
}

fn count() -> u64 {
    asked().unwrap_or(1)
}

fn measure(what: &str, how: &Exchange) -> Exchanged {
    let done = exchange(how);
    println!(
        "{what}, {} messages, window {}, segments of {} B, loss {:.0} %: {:.1} us, {:.2} Gb/s simulated; HPU load {:.2?}, {:?}, {} accepted, {} duplicates",
        how.layouts.len(),
        how.window,
        how.unit,
        100.0 * how.faults.loss,
        done.time.as_secs_f64() * 1e6,
        done.gbps(),
        done.load,
        done.counts,
        done.accepted,
        done.duplicates,
    );
    done
}

fn sixteen(layout: Layout, window: u16) -> Exchange {
    Exchange {
        rounds: 2,
        ..Exchange::sixteen(layout, window)
    }
}

#[test]
fn sixteen_messages_one_segment_of_each_at_a_time() {
    let simple = measure("simple", &sixteen(simple(count()), 1));
    let complex = measure("complex", &sixteen(complex(count()), 1));
    // One context does not leave a cluster without work.
    for done in [&simple, &complex] {
        assert!(done.load.iter().all(|load| *load >= 0.7), "{:?}", done.load);
    }
    let (simple, complex) = (simple.gbps(), complex.gbps());
    assert!(simple >= 10.0 && complex >= 8.0, "{simple} and {complex} Gb/s");
}

#[test]
fn sixteen_messages_with_windows() {
    let windows: &[u16] = if asked().is_some() { &[4, 16, 64] } else { &[4] };
    for &window in windows {
        let simple = measure("simple", &sixteen(simple(count()), window)).gbps();
        let complex = measure("complex", &sixteen(complex(count()), window)).gbps();
        // The paper's lengths are twice as long and more.
        let least = if asked().is_some() { 14.0 } else { 13.5 };
        assert!(simple >= least && complex >= 11.0, "{simple} and {complex} Gb/s");
    }
}

/// All segments are of one message, so HPUs meet at its record, and all wait while it begins and ends.
#[test]
fn one_message_alone() {
    let alone = |layout: Layout| Exchange {
        window: 64,
        rounds: 2,
        ..Exchange::of(vec![layout])
    };
    let simple = measure("simple", &alone(simple(4 * count()))).gbps();
    let complex = measure("complex", &alone(complex(4 * count()))).gbps();
    assert!(simple >= 10.0 && complex >= 9.0, "{simple} and {complex} Gb/s");
}

#[test]
fn strided_blocks() {
    let lengths: &[i64] = if asked().is_some() {
        &[128, 256, 512, 1024]
    } else {
        &[128]
    };
    for &block in lengths {
        let column = blocks(block, count() as i64 * 110_592).expect("it has a layout");
        let rate = measure(&format!("blocks of {block} B"), &sixteen(column, 16)).gbps();
        assert!(rate >= 9.0, "{rate} Gb/s");
    }
}

#[test]
fn a_bad_cable_costs_little() {
    let faults = Faults {
        loss: 0.05,
        duplication: 0.01,
        reordering: 0.01,
        ..Faults::default()
    };
    let windows: &[u16] = if asked().is_some() { &[4, 16, 64] } else { &[16] };
    for &window in windows {
        let good = measure("complex", &sixteen(complex(count()), window)).gbps();
        let bad = Exchange {
            faults,
            ..sixteen(complex(count()), window)
        };
        let bad = measure("complex", &bad).gbps();
        println!(
            "window {window}: {:.0} % of the rate without faults",
            100.0 * bad / good
        );
        // Of short messages the ends are a large part, and who loses an end waits for a timeout.
        let least = if asked().is_some() { 0.9 } else { 0.75 };
        assert!(bad >= least * good, "{bad} of {good} Gb/s");
    }
}
