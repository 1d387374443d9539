//! Several programs and processes on one NIC.

use crate::kit::{self, Served, contexts, exchange, ok, open, open_small, port};
use spinneret_host::{Nic, Options, Program};
use spinneret_nic::Simulated;
use spinneret_nic::nic::Backend;
use spinneret_packets::udp;
use spinneret_regmap::pspin::{ENTRY, HANDLER_CLOCKS, PROGRAM_BASE};
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Longest time on the NIC that a test waits for something.
const PATIENCE: Duration = Duration::from_millis(50);

/// A NIC for several programs, and the simulation behind it.
fn shared() -> (Nic<Simulated>, Simulated) {
    kit::shared(Backend::Model, HANDLER_CLOCKS)
}

/// Leaves its bytes wherever it may, and counts tasks of each HPU in a thread-local variable.
const UNTIDY: &str = "#include <handler.h>\n\
     volatile uint32_t tasks[16], started, wrong;\n\
     static __thread uint32_t here = 7;\n\
     void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **memory) {\n\
         *hh = *ph = *th = NULL; *memory = NULL; started += 1;\n\
     }\n\
     __handler__ void app_ph(handler_args_t *args) {\n\
         volatile uint32_t stack[300];\n\
         for (uint32_t word = 0; word < 300; ++word) { stack[word] = 0xa5a5a5a5; }\n\
         volatile uint32_t *pad = (volatile uint32_t *)args->task->scratchpad[args->cluster_id];\n\
         for (uint32_t word = 0; word < 64; ++word) { pad[word] = stack[word]; }\n\
         tasks[args->hpu_gid] = ++here - 7;\n\
         bool is_right = rt_core_id() == args->hpu_id && rt_cluster_id() == args->cluster_id && rt_cluster_count() == 2;\n\
         if (!is_right || started != 1) { amo_send_add((volatile int32_t *)&wrong, 1); }\n\
     }\n";

/// Counts words that are not 0 in the lower part of its stack and in its scratchpad, which it never writes.
const CURIOUS: &str = "#include <handler.h>\n\
     volatile uint32_t looked, found;\n\
     __handler__ void app_ph(handler_args_t *args) {\n\
         uint32_t l1 = SPIN_L1_ADDR + (args->cluster_id << SPIN_L1_SHIFT);\n\
         volatile uint32_t *stack = (volatile uint32_t *)(l1 + SPIN_AREA_OFFSET + args->hpu_id * SPIN_AREA_SIZE);\n\
         volatile uint32_t *pad = (volatile uint32_t *)args->task->scratchpad[args->cluster_id];\n\
         volatile uint32_t *memory = (volatile uint32_t *)args->task->handler_mem;\n\
         uint32_t words = 0;\n\
         for (uint32_t word = 0; word < 256; ++word) { words += (stack[word] != 0) + (pad[word] != 0) + (memory[word] != 0); }\n\
         amo_send_add((volatile int32_t *)&found, (int32_t)words);\n\
         amo_send_add((volatile int32_t *)&looked, 1);\n\
     }\n";

#[test]
fn programs_run_beside_each_other() {
    let (nic, simulated) = shared();
    let ping = open(&nic, &kit::program("examples/udp_ping"), "udp_ping", &port(1));
    let program = contexts();
    let count = open(&nic, &program, "count", &port(2));
    let copy = open(&nic, &program, "copy", &port(3));
    let total = ok(count.variable("total"));
    assert_ne!(
        total.address(),
        program.variables["total"].address,
        "it was moved"
    );
    let packets = (0..60).map(|number: u8| udp(1 + u16::from(number % 3), &[number; 100]));
    let [wire, host] = exchange(&simulated, packets);
    assert_eq!((wire.len(), host.len()), (20, 0), "each ping is answered");
    assert_eq!(ok(total.load::<u32>(0)), 20);
    assert_eq!(ok(count.handler_counter(2)).sum, 200);
    let lines = ok(nic.stdout().lines());
    assert_eq!(lines.len(), 20, "strings of a program that was moved: {lines:?}");
    assert!(
        lines.iter().all(|printed| printed.line.starts_with("packet ")),
        "{lines:?}"
    );
    let mut copied = [0; 100];
    ok(copy.host_memory().read(64, &mut copied));
    assert!(copied.iter().all(|byte| *byte == copied[0] && byte % 3 == 2));
    drop((total, ping));
    let [wire, host] = exchange(&simulated, (0..6).map(|_| udp(1, b"nobody")));
    assert_eq!((wire.len(), host.len()), (0, 6));
}

#[test]
fn thread_local_variables_stay_with_their_program() {
    let (nic, simulated) = shared();
    let ping = open(&nic, &kit::program("examples/udp_ping"), "udp_ping", &port(1));
    let untidy = open(&nic, &kit::compiled(UNTIDY), "app", &port(2));
    let again = open(&nic, &kit::compiled(UNTIDY), "app", &port(3));
    exchange(
        &simulated,
        (0..90).map(|number: u8| udp(1 + u16::from(number % 2), &[number; 60])),
    );
    let tasks = ok(untidy.variable("tasks"));
    let of_hpu = (0..16).map(|hpu| ok(tasks.load::<u32>(4 * hpu)));
    assert_eq!(of_hpu.sum::<u32>(), 45);
    exchange(&simulated, (0..9).map(|number: u8| udp(3, &[number; 60])));
    assert_eq!(
        ok(untidy.variable("wrong").and_then(|wrong| wrong.load::<u32>(0))),
        0
    );
    assert_eq!(
        ok(again
            .variable("started")
            .and_then(|started| started.load::<u32>(0))),
        1,
        "both are of one program"
    );
    drop(ping);
}

#[test]
fn nothing_is_left_for_the_next_program() {
    let (nic, simulated) = shared();
    let ping = open(&nic, &kit::program("examples/udp_ping"), "udp_ping", &port(1));
    let curious = kit::compiled(CURIOUS);
    for round in 0..2 {
        let untidy = open(&nic, &kit::compiled(UNTIDY), "app", &port(2));
        ok(untidy.handler_memory().write(0, &[0xa5; 4096]));
        exchange(&simulated, (0..40).map(|number: u8| udp(2, &[number; 60])));
        let place = untidy.handler_memory().address();
        drop(untidy);
        let next = open(&nic, &curious, "app", &port(2));
        let again = next.handler_memory().address();
        assert!(
            again.abs_diff(place) < 2048,
            "it gets memory of the other: {place:#x}, {again:#x}"
        );
        exchange(&simulated, (0..40).map(|number: u8| udp(2, &[number; 60])));
        let [looked, found] =
            ["looked", "found"].map(|name| ok(next.variable(name).and_then(|word| word.load::<u32>(0))));
        assert_eq!((looked, found), (40, 0), "round {round}");
    }
    drop(ping);
}

#[test]
fn a_program_is_replaced_while_packets_of_another_flow() {
    let (nic, simulated) = shared();
    let ping = open(&nic, &kit::program("examples/udp_ping"), "udp_ping", &port(1));
    let (count, untidy) = (contexts(), kit::compiled(UNTIDY));
    let (mut replies, mut sent) = (0, 0);
    for round in 0..8 {
        let frames = 20;
        // They are on their way while contexts are opened and closed.
        (0..frames).for_each(|number: u8| simulated.borrow_mut().receive(udp(1, &[number; 200])));
        sent += usize::from(frames);
        let context = match round % 2 {
            0 => open(&nic, &count, "count", &port(2)),
            _ => open(&nic, &untidy, "app", &port(2)),
        };
        let [wire, host] = exchange(&simulated, (0..4).map(|number: u8| udp(2, &[number; 60])));
        (0..frames).for_each(|number: u8| simulated.borrow_mut().receive(udp(1, &[number; 200])));
        sent += usize::from(frames);
        drop(context);
        let [more, bypassed] = exchange(&simulated, []);
        replies += wire.len() + more.len();
        assert_eq!(host.len() + bypassed.len(), 0, "round {round}");
    }
    assert_eq!(replies, sent);
    drop(ping);
}

#[test]
fn a_failed_init_fails_the_tasks_of_its_program_only() {
    let (nic, simulated) = shared();
    let broken = kit::compiled(
        "#include <handler.h>\n\
         volatile uint32_t ran;\n\
         void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **memory) {\n\
             *hh = *ph = *th = NULL; *memory = NULL; *(volatile uint32_t *)SPIN_L2_ADDR = 1;\n\
         }\n\
         __handler__ void app_ph(handler_args_t *args) { ran += args->hpu_id < 8; }\n",
    );
    let ping = open(&nic, &kit::program("examples/udp_ping"), "udp_ping", &port(1));
    let context = open(&nic, &broken, "app", &port(2));
    let [wire, _] = exchange(
        &simulated,
        (0..20).map(|number: u8| udp(1 + u16::from(number % 2), &[number; 60])),
    );
    assert_eq!(wire.len(), 10);
    assert_eq!(ok(context.variable("ran").and_then(|ran| ran.load::<u32>(0))), 0);
    assert_eq!(ok(nic.packets_inside()), Some(0), "their packets are freed");
    drop(ping);
}

#[test]
fn a_program_without_room_is_refused() {
    let (nic, _) = shared();
    let large = kit::compiled(
        "#include <handler.h>\nvolatile uint8_t table[700000];\n__handler__ void app_ph(handler_args_t *args) { table[args->hpu_id] = 1; }\n",
    );
    let first = open(&nic, &large, "app", &port(1));
    let other = kit::compiled(
        "#include <handler.h>\nvolatile uint8_t other[400000];\n__handler__ void app_ph(handler_args_t *args) { other[args->hpu_id] = 1; }\n",
    );
    let error = nic
        .open_context(&other, "app", &port(2), &Options::default())
        .expect_err("it does not fit");
    let said = error.to_string();
    assert!(
        said.contains("no room for 400") && said.contains(" of 1048320 bytes are free"),
        "{said}"
    );
    drop(first);
    open(&nic, &other, "app", &port(2));
}

#[test]
fn processes_have_programs_of_their_own() {
    let packets = "udp,dport=7000,size=100,rate=20Mbps,count=200";
    let server = Served::start(&[], &["--generate", packets]);
    let [one, two, three] = [(); 3].map(|()| ok(Nic::open(&server.name())));
    // Packets start with the first context, so none is for the host.
    let count = open(&one, &contexts(), "count", &port(7000));
    let others = open(&two, &kit::program("examples/udp_ping"), "udp_ping", &port(9));
    let total = ok(count.variable("total"));
    ok(one.wait_until("the first packets", PATIENCE, || Ok(total.load::<u32>(0)? >= 20)));
    for _ in 0..5 {
        let context = open(&three, &contexts(), "copy", &port(8));
        ok(three.wait(Duration::from_micros(100)));
        let begun = three.now();
        ok(context.close());
        ok(three.wait(Duration::ZERO));
        let took = three.now() - begun;
        // Without a moment in which the NIC is empty it would take 10 ms. How soon this process sees it is a matter of the machine.
        assert!(took < Duration::from_millis(5), "closing takes {took:?}");
    }
    ok(one.wait_until("all packets", PATIENCE, || Ok(total.load::<u32>(0)? == 200)));
    drop(others);
    assert_eq!(ok(one.counters()).get("ingress.bypassed"), Some(0));
}

/// The part of another process in [`a_killed_process_frees_its_context`]; alone, it does nothing.
const OTHER: &str = "SPINNERET_TEST_NIC";

#[test]
fn part_of_another_process() {
    let Some(name) = std::env::var_os(OTHER) else {
        return;
    };
    let nic = ok(Nic::open(&name.to_string_lossy()));
    let _contexts: Vec<_> = (0..3)
        .map(|number| open_small(&nic, &contexts(), "copy", &port(7001 + number)))
        .collect();
    println!("open");
    std::thread::sleep(kit::PATIENCE);
}

#[test]
fn a_killed_process_frees_its_context() {
    for clusters in ["model", "rtl"] {
        let server = Served::start(&["--cluster", clusters], &["--generate", FOR_TWO]);
        kill_one(&server.name());
    }
}

/// Attempts to open a context until the server has noticed that another process has exited.
const ATTEMPTS: u32 = 1000;
/// Where `copy` puts packets.
const COPY: u32 = 64;

/// Packets for each context of [`kill_one`].
pub(crate) const FOR_TWO: &str = "udp,dport=7000..7003,size=106,rate=100Mbps,count=1e9";

/// Kills one of two processes that both have packets. Its tasks end, its contexts and their memory are free, and the other process
/// loses nothing.
pub(crate) fn kill_one(name: &str) {
    let nic = ok(Nic::open(name));
    let copy = open_small(&nic, &contexts(), "copy", &port(7000));
    let mut other = ok(Command::new(ok(std::env::current_exe()))
        .args(["tenants::part_of_another_process", "--exact", "--nocapture"])
        .env(OTHER, name)
        .stdout(Stdio::piped())
        .spawn());
    let mut said = std::io::BufReader::new(other.stdout.take().expect("it is piped"));
    let mut line = String::new();
    while !line.contains("open") {
        line.clear();
        assert_ne!(
            ok(std::io::BufRead::read_line(&mut said, &mut line)),
            0,
            "it opens its contexts"
        );
    }
    let options = Options {
        handler_bytes: Some(4096),
        ..Options::default()
    };
    let try_open = || nic.open_context(&contexts(), "copy", &port(1), &options);
    let error = try_open().expect_err("there is none").to_string();
    assert!(error.contains("all 4 contexts are in use"), "{error}");
    ok(other.kill());
    ok(other.wait());
    // The server answers when the contexts of a process that has exited are closed.
    let has_seen = (0..ATTEMPTS).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        try_open().is_ok()
    });
    assert!(has_seen, "its contexts are not free");
    let _freed = [(); 3].map(|()| ok(try_open()));
    let memory = copy.host_memory();
    for _ in 0..10 {
        ok(memory.store(COPY, 0_u64));
        ok(nic.wait_until("another packet", PATIENCE, || Ok(memory.load::<u64>(COPY)? != 0)));
    }
    let counters = ok(nic.counters());
    let dropped = counters
        .iter()
        .filter(|(name, _)| name.starts_with("ingress.dropped_"));
    assert_eq!(dropped.map(|(_, packets)| packets).sum::<u32>(), 0, "{counters}");
    // Each task has ended, those of the other process, too: it frees the slot of its packet.
    ok(copy.set_ruleset(&port(2)));
    ok(nic.wait_until("tasks end", PATIENCE, || {
        let counters = nic.counters()?;
        let [large, small] = ["large", "small"].map(|size| counters.get(&format!("ingress.{size}_used")));
        Ok([large, small] == [Some(0), Some(0)]
            && counters.get("ingress.hers") == counters.get("ingress.matched"))
    }));
}

/// The bytes of a program's code after the vectors, and of its data, by address.
fn image(program: &Program, skipped: u32) -> BTreeMap<u32, u8> {
    let segments = program.segments.iter();
    let bytes = segments.flat_map(|segment| (segment.address..).zip(segment.bytes.iter().copied()));
    bytes
        .filter(|(address, _)| *address < PROGRAM_BASE || *address >= skipped)
        .collect()
}

/// A moved program has the bytes that the linker gives the same objects at the other addresses.
#[test]
fn a_moved_program_is_as_if_linked_there() {
    const CODE: u32 = 0x1200;
    const DATA: u32 = 0x2_3f00;
    let map = ok(std::fs::read_to_string(kit::runtime("spin_map.ld")));
    let mut other = String::new();
    for line in map.lines() {
        let more = match line.split(' ').next() {
            Some("__spin_program" | "__spin_entry") => CODE,
            Some("__spin_l2") => DATA,
            _ => 0,
        };
        other += &line.replace(';', &format!(" + {more:#x};\n").replace(" + 0x0", ""));
    }
    for folder in ["examples/slmp", "tests/contexts", "tests/rpc", "tests/typed"] {
        let name = folder.split('/').next_back().unwrap_or(folder);
        let place = ok(tempfile::tempdir());
        ok(std::fs::write(place.path().join("spin_map.ld"), &other));
        let make = |build: &str, more: &str| {
            let output = place.path().join(build);
            let file = if kit::runtime(folder).join("Makefile").exists() {
                "Makefile"
            } else {
                "../../spin.mk"
            };
            kit::succeeds(
                Command::new("make")
                    .args([
                        "-s",
                        "-C",
                        &kit::runtime(folder).display().to_string(),
                        "-f",
                        file,
                    ])
                    .arg(format!("HANDLER={name}"))
                    .arg(format!("BUILD={}", output.display()))
                    .arg(format!("spin_board_ldflags={more}")),
            );
            ok(Program::open(&output.join(format!("{name}.elf"))))
        };
        let here = make("here", "");
        let there = make("there", &format!("-L{}", place.path().display()));
        let moved = ok(here.moved(CODE, DATA));
        let start = PROGRAM_BASE + ENTRY + CODE;
        let [moved_bytes, linked] = [image(&moved, start), image(&there, start)];
        for (address, byte) in &linked {
            assert_eq!(moved_bytes.get(address), Some(byte), "{folder}: {address:#010x}");
        }
        assert!(
            moved_bytes.len() >= linked.len() && linked.len() > 4000,
            "{folder}"
        );
        let handlers = |program: &Program| {
            program
                .functions
                .iter()
                .map(|function| (function.name.clone(), function.address))
                .collect::<BTreeSet<_>>()
        };
        assert_eq!(handlers(&moved), handlers(&there), "{folder}");
        assert_eq!(moved.variables, there.variables, "{folder}");
    }
}

#[test]
fn the_resident_runtime_is_up_to_date() {
    let folder = ok(tempfile::tempdir());
    let build = format!("BUILD={}", folder.path().display());
    kit::succeeds(
        Command::new("make")
            .arg("-s")
            .arg("-C")
            .arg(kit::runtime("resident"))
            .arg(build),
    );
    let built = ok(std::fs::read(folder.path().join("resident.elf")));
    assert!(
        built == ok(Program::resident()).file(),
        "run `make -C runtime/resident install`"
    );
}
