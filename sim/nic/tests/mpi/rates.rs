//! How fast messages land, in simulated time, with all that is in the way: hosts, both NICs, the cable, host memory.
//!
//! A part of the paper's message lengths is enough here; SPINNERET_MPI_COUNT asks for so many elements in each message.

use super::support::{Exchange, Exchanged, bytes, complex, exchange, hvector, simple};
use spinneret_fabric::Faults;
use spinneret_mpi::Layout;

fn count() -> u64 {
    let count = std::env::var("SPINNERET_MPI_COUNT");
    count.map_or(1, |count| count.parse().expect("SPINNERET_MPI_COUNT is a number"))
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
        window,
        rounds: 2,
        ..Exchange::of(vec![layout; 16])
    }
}

#[test]
fn probe() {
    let w: u16 = std::env::var("W").map_or(16, |w| w.parse().expect("number"));
    measure(
        "simple",
        &Exchange {
            rounds: 1,
            ..sixteen(simple(count()), w)
        },
    );
    measure(
        "complex",
        &Exchange {
            rounds: 1,
            ..sixteen(complex(count()), w)
        },
    );
}

#[test]
fn sixteen_messages() {
    for (window, least) in [(1, [10.0, 8.0]), (4, [14.0, 11.0]), (16, [14.0, 11.0])] {
        let rates = [
            measure("simple", &sixteen(simple(count()), window)).gbps(),
            measure("complex", &sixteen(complex(count()), window)).gbps(),
        ];
        println!("{rates:?} of {least:?}");
    }
}

#[test]
fn strided_blocks() {
    for block in [128, 256, 1024] {
        let column =
            Layout::of(&hvector(110_592 / block, 2 * block, bytes(block), 0), 1).expect("it has a layout");
        measure(&format!("blocks of {block} B"), &sixteen(column, 16));
    }
}

#[test]
fn a_bad_cable() {
    let faults = Faults {
        loss: 0.05,
        duplication: 0.01,
        reordering: 0.01,
        ..Faults::default()
    };
    for window in [4, 16, 64] {
        let good = measure("complex", &sixteen(complex(count()), window)).gbps();
        let bad = Exchange {
            faults,
            ..sixteen(complex(count()), window)
        };
        let bad = measure("complex", &bad).gbps();
        println!("window {window}: {:.0} %", 100.0 * bad / good);
    }
}
