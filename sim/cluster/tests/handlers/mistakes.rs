//! Mistakes about the public cluster that the runtime once made, put back one by one: the model must not forgive them.

use crate::bench::{Bench, make, runtime};
use spinneret_cluster::rv::Trap;
use spinneret_cluster::{Config, Event, SILENCE};
use std::fs;
use std::path::Path;

const PACKETS: u32 = 4;
/// Clocks that are enough for a packet, were it not for the mistake.
const PATIENCE: u64 = 20_000;
const WATCHDOG: u64 = 5_000;

/// A change of a file of the runtime.
type Change = (&'static str, &'static str, &'static str);

/// What came of packets, one by one.
#[derive(Debug)]
struct Came {
    sent: usize,
    freed: usize,
    traps: Vec<Trap>,
    /// Clocks of the last handler.
    clocks: u64,
}

/// Runs handlers that were built with a changed runtime.
fn with(changes: &[Change], folder: &str) -> Came {
    let place = tempfile::tempdir().expect("there is room for files");
    copy(&runtime(), place.path());
    for (file, right, wrong) in changes {
        let path = place.path().join(file);
        let text = fs::read_to_string(&path).expect("it was copied");
        assert_eq!(text.matches(right).count(), 1, "{file} has `{right}` once");
        fs::write(&path, text.replace(right, wrong)).expect("it can be written");
    }
    let elf = make(&place.path().join(folder), &place.path().join("build"));
    let config = Config {
        watchdog: WATCHDOG,
        ..Config::default()
    };
    let mut bench = Bench::with(&elf, config);
    for number in 0..PACKETS {
        bench.push(number, true, &[0; 98]);
        bench.run_for(PATIENCE);
    }
    let traps = bench.events.iter().filter_map(|event| match event {
        Event::Failed(fault) => Some(fault.trap),
        _ => None,
    });
    Came {
        sent: bench.sent.len(),
        freed: bench.freed.len(),
        traps: traps.collect(),
        clocks: bench.runs().last().map_or(0, |run| run.ended - run.begun),
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("it is a folder") {
        let entry = entry.expect("it can be read");
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &copied);
        } else {
            fs::copy(&path, &copied).expect("a file can be copied");
        }
    }
}

fn all() -> usize {
    PACKETS as usize
}

/// The handler prints a character.
const PRINTS: Change = (
    "examples/udp_ping/udp_ping.c",
    "    uint32_t start = cycles();\n",
    "    putchar('.');\n    uint32_t start = cycles();\n",
);
const INCLUDES: Change = (
    "examples/udp_ping/udp_ping.c",
    "#include <packets.h>\n",
    "#include <packets.h>\n#include <stdio.h>\n",
);

#[test]
fn without_a_mistake_all_is_well() {
    for changes in [&[][..], &[INCLUDES, PRINTS]] {
        let came = with(changes, "examples/udp_ping");
        assert_eq!(
            (came.sent, came.freed, came.traps.len()),
            (all(), all(), 0),
            "{came:?}"
        );
    }
}

#[test]
fn a_doorbell_that_is_read_first_ends_the_task() {
    let change = (
        "src/start.S",
        "    lw t2, HANDLER(t1)\n",
        "    lw t2, DOORBELL(t1)\n    lw t2, HANDLER(t1)\n",
    );
    let came = with(&[change], "examples/udp_ping");
    assert!(came.sent < all(), "{came:?}");
}

#[test]
fn a_trap_vector_in_the_middle_of_a_line_is_not_where_traps_go() {
    let change = (
        "src/start.S",
        "    .balign 256 /* mtvec keeps no more of an address */\n",
        "    .balign 4\n",
    );
    let came = with(&[change], "examples/udp_ping");
    assert!(came.freed < all(), "{came:?}");
}

#[test]
fn standard_output_where_there_is_none_hangs() {
    let change = (
        "include/spin_map.h",
        "#define SPIN_STDOUT_ADDR 0x1a104000\n",
        "#define SPIN_STDOUT_ADDR 0x1b206000\n",
    );
    let came = with(&[INCLUDES, PRINTS, change], "examples/udp_ping");
    assert_eq!(came.traps, [Trap::Custom(SILENCE); PACKETS as usize], "{came:?}");
}

#[test]
fn the_cycle_counter_is_not_for_handlers() {
    let change = (
        "include/pspin.h",
        "    asm volatile(\"ecall\" : \"=r\"(now) : \"r\"(number) : \"memory\");\n",
        "    (void)number;\n    asm volatile(\"rdcycle %0\" : \"=r\"(now));\n",
    );
    let came = with(&[change], "examples/udp_ping");
    assert_eq!(came.traps, [Trap::Illegal; PACKETS as usize], "{came:?}");
}

#[test]
fn a_cache_that_is_off_makes_handlers_slow() {
    let change = ("src/start.S", "    sw t1, ICACHE_ENABLE(t0)\n", "");
    let [slow, fast] = [&[change][..], &[]].map(|changes| with(changes, "examples/udp_ping").clocks);
    assert!(slow > 2 * fast, "{slow} clocks, {fast} with the cache");
}

#[test]
fn a_reservation_in_l2_is_refused_because_others_may_store_over_it() {
    let reserves = (
        "examples/udp_ping/udp_ping.c",
        "    uint32_t start = cycles();\n",
        "    volatile uint32_t *word = args->task->handler_mem;\n    while (store_conditional(word, load_reserved(word) + 1)) {\n    }\n    uint32_t start = cycles();\n",
    );
    let came = with(&[reserves], "examples/udp_ping");
    assert_eq!(came.traps, [Trap::LoadFault; PACKETS as usize], "{came:?}");
}
