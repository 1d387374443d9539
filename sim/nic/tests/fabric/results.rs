//! What comes out of a fabric.

use crate::support::{Folder, fabric, on_ranks, result, run};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Pings from some NICs to others, over a switch, with all faults.
fn pings(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let nics = random.random_range(2..5);
    let mode = ["store-and-forward", "cut-through"][random.random_range(0..2_usize)];
    let table = ["learning", "static"][random.random_range(0..2_usize)];
    let mut text = format!(
        "seed = {seed}\n[[switch]]\nname = 's'\nmode = '{mode}'\ntable = '{table}'\nbuffer = '20 KiB'\n"
    );
    for nic in 0..nics {
        text += &format!("[[nic]]\nname = 'n{nic}'\n");
        if nic % 2 == 1 {
            text += "handlers = 'EXAMPLES/icmp_ping'\n";
        } else {
            let to = random.random_range(0..nics / 2) * 2 + 1;
            let (size, rate) = (random.random_range(60..1400), random.random_range(5..60));
            text += &format!(
                "transmit = 'icmp,size={size},rate={rate}Gbps,count=40'\nto = 'n{to}'\nafter = '400 us'\n"
            );
        }
        let latency = random.random_range(200..2000);
        text += &format!(
            "[[cable]]\nbetween = ['n{nic}', 's']\nlatency = '{latency} ns'\n\
             faults = {{ loss = '2 %', duplication = '2 %', reordering = '5 %', corruption = '2 %' }}\n"
        );
    }
    text
}

#[test]
fn handlers_answer_and_neither_threads_nor_ranks_change_anything() {
    let fabrics = std::env::var("SPINNERET_FABRICS").map_or(Ok(2), |count| count.parse());
    for seed in 0..fabrics.expect("SPINNERET_FABRICS is a number of fabrics") {
        let folder = Folder::new();
        let topology = folder.topology(&pings(seed));
        let one = result(&run(fabric().arg(&topology).args(["--threads", "1", "--json"])));
        // Whom the pings go to differs from seed to seed.
        let nics = one["nics"].as_object().expect("there are NICs").values();
        let packets = |nic: &Value| nic["summary"]["handlers"][0]["packets"].as_u64();
        let handled: u64 = nics.filter_map(packets).sum();
        assert!(handled > 20, "seed {seed}: {handled} packets of 40 and more");
        let two = result(&run(fabric().arg(&topology).args(["--threads", "2", "--json"])));
        assert!(one == two, "seed {seed}: two threads");
        for mpirun in ["mpirun.openmpi", "mpirun.mpich"] {
            if Command::new(mpirun).arg("--version").output().is_err() {
                spinneret_skip::skip(module_path!(), &format!("{mpirun} is not installed"));
                continue;
            }
            let ranks = result(&run(on_ranks(mpirun, 2).arg(&topology).arg("--json")));
            assert!(one == ranks, "seed {seed}: {mpirun}");
        }
    }
}

#[test]
fn a_rank_that_dies_ends_all() {
    for mpirun in ["mpirun.openmpi", "mpirun.mpich"] {
        if Command::new(mpirun).arg("--version").output().is_err() {
            spinneret_skip::skip(module_path!(), &format!("{mpirun} is not installed"));
            continue;
        }
        let folder = Folder::new();
        // Nobody comes, so it would take for ever.
        let mut command = on_ranks(mpirun, 2);
        command
            .args(["--nics", "2", "--sockets"])
            .arg(folder.path("nics"));
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it was built");
        let begun = Instant::now();
        let socket = folder.path("nics/nic1");
        while !socket.exists() {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(20));
        }
        // The rank whose NIC that is has its socket's path among its arguments, as the other has; one is enough.
        let killed = Command::new("pkill")
            .args([
                "-KILL",
                "-n",
                "-f",
                &format!("spinneret fabric .*{}", folder.path("nics").display()),
            ])
            .status();
        assert!(killed.expect("there is pkill").success());
        let ended = child.wait().expect("it ends");
        assert!(!ended.success() && ended.code() != Some(124), "{mpirun}: {ended}");
    }
}

/// Making 2,000 NICs takes seconds; those that are not begun are not made.
#[test]
fn ctrl_c_is_heard_while_nics_are_made() {
    let folder = Folder::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_spinneret"));
    command.args([
        "fabric",
        "--nics",
        "2000",
        "--threads",
        "1",
        "--json",
        "--sockets",
    ]);
    command.arg(folder.path("nics"));
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it was built");
    let mut told = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut line = String::new();
    told.read_line(&mut line).expect("it tells something");
    assert!(line.contains("2000 NICs wait for applications"), "{line}");
    let begun = Instant::now();
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it is ours");
    let output = child.wait_with_output().expect("it ends");
    let took = begun.elapsed();
    println!("ended after {took:?}");
    assert!(took < Duration::from_secs(3), "it ended after {took:?}");
    assert_eq!(output.status.code(), Some(0), "an interruption is no failure");
    assert!(!output.stdout.is_empty(), "the result is printed all the same");
}

/// Handlers of the topology are the command's to judge, and each is named with its NIC.
#[test]
fn handlers_that_fail_fail_the_command_unless_that_is_allowed() {
    let folder = Folder::new();
    let handlers = folder.path("bad");
    std::fs::create_dir(&handlers).expect("there is room");
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/spin.mk");
    let rules = "[[ruleset]]\nrules = [\"always\"]\nend-of-message = \"never\"\n";
    let source = "#include <handler.h>\n__handler__ void bad_ph(handler_args_t *args) {\n\
                  *(volatile uint32_t *)0x40000000 = args->task->pkt_mem_size;\n}\n";
    for (name, text) in [
        ("Makefile", format!("include {}\n", runtime.display()).as_str()),
        ("rules.toml", rules),
        ("bad.c", source),
    ] {
        std::fs::write(handlers.join(name), text).expect("there is room");
    }
    let topology = folder.topology(
        "[[nic]]\nname = 'a'\ntransmit = 'icmp,count=3'\nto = 'b'\nafter = '400 us'\n\
         [[nic]]\nname = 'b'\nhandlers = 'bad'\n[[cable]]\nbetween = ['a', 'b']\n",
    );
    for (more, code) in [(&["--json"][..], 1), (&["--json", "--allow-faults"], 0)] {
        let output = run(fabric().arg(&topology).args(more));
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{told}");
        let is_told =
            told.contains("error: b: handlers failed 3 times: store that is not allowed in bad_ph, ");
        assert_eq!(is_told, code == 1, "{told}");
        let result: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        assert_eq!(result["nics"]["1"]["summary"]["faults"][0]["count"], 3);
    }
}

#[test]
fn a_trace_holds_all_nics_and_captures_and_a_picture_are_written() {
    let folder = Folder::new();
    let text = "[[nic]]\nname = 'a'\ntransmit = 'icmp,size=1000,rate=90Gbps,count=60'\nto = 'sink'\nafter = '400 us'\n\
                [[nic]]\nname = 'b'\ntransmit = 'icmp,size=1000,rate=90Gbps,count=60'\nto = 'sink'\nafter = '400 us'\n\
                [[nic]]\nname = 'sink'\nhandlers = 'EXAMPLES/icmp_ping'\n[[switch]]\nname = 's'\nbuffer = '16 KiB'\ntable = 'static'\n\
                [[cable]]\nbetween = ['a', 's']\n[[cable]]\nbetween = ['b', 's']\n[[cable]]\nbetween = ['sink', 's']\n\
                [[capture]]\nat = 'sink'\nfile = 'sink.pcap'\n";
    let topology = folder.topology(text);
    let (trace, plot) = (folder.path("all.json"), folder.path("queues.svg"));
    let output = run(fabric()
        .arg(topology)
        .arg("--json")
        .arg("--trace")
        .arg(&trace)
        .arg("--plot")
        .arg(&plot));
    let result = result(&output);
    let dropped: u64 = (0..6)
        .filter_map(|cable| result["report"]["cables"][cable]["counts"]["queue_full"].as_u64())
        .sum();
    assert!(
        dropped > 0,
        "two that send at full rate do not fit into one cable"
    );
    let events: Value =
        serde_json::from_slice(&std::fs::read(trace).expect("it was written")).expect("it is JSON");
    let events = events["traceEvents"].as_array().expect("there are events");
    let names: BTreeSet<&str> = events
        .iter()
        .filter(|event| event["name"] == "process_name")
        .filter_map(|event| event["args"]["name"].as_str())
        .collect();
    assert_eq!(
        names.into_iter().collect::<Vec<_>>(),
        [
            "a: HPUs",
            "a: NIC",
            "b: HPUs",
            "b: NIC",
            "sink: HPUs",
            "sink: NIC"
        ]
    );
    assert!(
        events
            .iter()
            .any(|event| event["pid"] == 6 && event["name"] == "icmp_ping_ph")
    );
    let picture = std::fs::read_to_string(plot).expect("it was written");
    assert!(picture.contains("s to sink") && picture.contains("found a queue full"));
    let capture =
        spinneret_packets::capture::CaptureReader::open(&folder.path("sink.pcap")).expect("it was written");
    assert!(capture.count() > 100);
}
