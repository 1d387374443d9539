//! Speed with host memory that takes 18 clocks (450 ns) to answer, and any number of accesses at once. The limits of the
//! NIC's ports are measured with the whole NIC.

use super::receiver::{self, FULL, Message, Receiver};
use crate::bench::{make, runtime};
use crate::slmp::Segment;
use spinneret_cluster::Config;
use spinneret_mpi::Layout;
use spinneret_mpi::nic::NicLayout;
use spinneret_mpi::nic::memory::{TABLE, request};
use spinneret_mpi_sys::Tree;
use std::fs;
use std::path::{Path, PathBuf};

/// The clock of the reference design's cluster.
const CLOCK_HZ: u64 = 40_000_000;
/// Clocks until host memory has answered, and until a frame has left.
const HOST_CLOCKS: u64 = 18;

/// Clocks of an HPU for a segment in the middle of a message, and clocks between segments with 16 HPUs.
fn measure(messages: usize, tree: &Tree, count: u64, unit: u32) -> (f64, f64) {
    measure_on(Receiver::new(), messages, tree, count, unit)
}

fn measure_on(mut receiver: Receiver, messages: usize, tree: &Tree, count: u64, unit: u32) -> (f64, f64) {
    receiver.bench.host_clocks = HOST_CLOCKS;
    receiver.bench.send_clocks = HOST_CLOCKS;
    let messages: Vec<Message> = (0..messages)
        .map(|slot| receiver.post(slot, tree, count, unit))
        .collect();
    let cut: Vec<Vec<Segment>> = messages.iter().map(Message::segments).collect();
    let rounds = cut[0].len();
    let segments: Vec<Segment> = (0..rounds)
        .flat_map(|round| cut.iter().map(move |segments| segments[round].clone()))
        .collect();
    receiver.send(&segments, |number| (number % 2) as u32);
    assert!(messages.iter().all(|message| receiver.is_complete(message)));
    // In the middle, when the code is in the cache and all messages are known.
    let runs: Vec<[u64; 2]> = receiver.bench.runs().map(|run| [run.begun, run.ended]).collect();
    let middle = &runs[runs.len() / 4..runs.len() * 3 / 4];
    let hpu = middle.iter().map(|[begun, ended]| ended - begun).sum::<u64>() as f64 / middle.len() as f64;
    let between = (middle[middle.len() - 1][1] - middle[0][1]) as f64 / middle.len() as f64;
    (hpu, between)
}

fn report(what: &str, tree: &Tree, count: u64, unit: u32, most: f64) {
    let (hpu, between) = measure(8, tree, count, unit);
    tell(what, hpu, between, unit, most);
}

fn tell(what: &str, hpu: f64, between: f64, unit: u32, most: f64) {
    let rate = f64::from(unit) * 8.0 * CLOCK_HZ as f64 / between / 1e9;
    println!(
        "{what}: {hpu:.0} clocks of an HPU, one segment every {between:.1} clocks, {rate:.2} Gb/s simulated"
    );
    assert!(between <= most, "{what}: {between} clocks");
}

#[test]
fn segments_take_few_clocks() {
    report("simple", &receiver::simple(), 1, FULL, 31.0);
    report("complex", &receiver::complex(), 1, FULL, 42.0);
    for (block, most) in [(128, 48.0), (256, 44.0), (512, 40.0), (1024, 36.0)] {
        let column = receiver::hvector(65_536 / block, 2 * block, receiver::bytes(block), 0);
        report(&format!("blocks of {block} B"), &column, 1, FULL, most);
    }
    let table: Vec<(i64, i64)> = (0..150)
        .map(|index| (1, index * 900 + index * index % 300))
        .collect();
    report(
        "table of 432 B",
        &receiver::hindexed(&table, receiver::bytes(432), 0),
        1,
        FULL,
        60.0,
    );
}

/// All HPUs work on one message, and meet at its record.
#[test]
fn one_message_is_as_fast_as_many() {
    let (hpu, between) = measure(1, &receiver::complex(), 4, FULL);
    tell("one complex message", hpu, between, FULL, 42.0);
    let (hpu, between) = measure(1, &receiver::simple(), 4, FULL);
    tell("one simple message", hpu, between, FULL, 33.0);
}

/// Handlers with code for one type: their ELF file.
fn specialise(name: &str, tree: &Tree) -> PathBuf {
    let layout = Layout::of(tree, 1).expect("it has a layout");
    let form = NicLayout::new(&layout).expect("it fits");
    let mut words = [0; request::SIZE / 4];
    form.put(&mut words, 0, 0);
    let levels = words[request::KIND / 4];
    assert!(levels < TABLE, "{name} has a table");
    let words = words.map(|word| format!("{word}u")).join(", ");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("special").join(name);
    let runtime = runtime().canonicalize().expect("it is there");
    fs::create_dir_all(&folder).expect("there is room");
    let special = runtime.join("tests/mpi_special/special.h");
    let source = format!(
        "#define SPECIAL_WORDS {words}\n#define SPECIAL_LEVELS {levels}\n#include \"{}\"\n",
        special.display()
    );
    let makefile = format!(
        "HANDLER = {name}\nSPIN_CFLAGS = -fno-jump-tables -Wno-missing-braces\ninclude {}/spin.mk\n",
        runtime.display()
    );
    fs::write(folder.join(format!("{name}.c")), source).expect("there is room");
    fs::write(folder.join("Makefile"), makefile).expect("there is room");
    make(&folder, &folder.join("build"))
}

/// Measures the gain of code for one type, which docs/host/mpi.md shows to be too small.
#[test]
fn specialised_code_gains_little() {
    let column = receiver::hvector(512, 256, receiver::bytes(128), 0);
    for (name, tree) in [
        ("simple", receiver::simple()),
        ("complex", receiver::complex()),
        ("blocks_of_128", column),
    ] {
        let (any, _) = measure(8, &tree, 1, FULL);
        let receiver = Receiver::with(&specialise(name, &tree), Config::default());
        let (special, _) = measure_on(receiver, 8, &tree, 1, FULL);
        let gain = 100.0 * (any - special) / any;
        println!("{name}: {any:.0} clocks of an HPU, {special:.0} with code for the type: {gain:.1} % less");
        assert!((0.0..10.0).contains(&gain), "{name}: {gain} %");
    }
}
