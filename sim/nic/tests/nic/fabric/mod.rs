//! `spinneret fabric`: many NICs on one clock.

mod applications;

use crate::kit::{Process, captured, handlers, json, ok, root, runtime, spinneret};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use spinneret_host::{Nic, OpenDevice};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longest that anything takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(100);

/// A folder with topologies, sockets and results.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(ok(tempfile::tempdir()))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A topology; `EXAMPLES` in it stands for the folder of example handlers.
    pub(crate) fn topology(&self, text: &str) -> PathBuf {
        let examples = runtime("examples");
        let path = self.path("topology.toml");
        ok(fs::write(
            &path,
            text.replace("EXAMPLES", &examples.display().to_string()),
        ));
        path
    }
}

pub(crate) fn fabric() -> Command {
    let mut command = Command::new("timeout");
    command.args([
        &PATIENCE.as_secs().to_string(),
        env!("CARGO_BIN_EXE_spinneret"),
        "fabric",
    ]);
    command
}

/// The command until its end.
pub(crate) fn run(command: &mut Command) -> Output {
    command.output().expect("the command was built")
}

/// The command under `mpirun`.
pub(crate) fn on_ranks(mpirun: &str, ranks: usize) -> Command {
    let mut command = Command::new("timeout");
    command.args([&PATIENCE.as_secs().to_string(), mpirun, "-n", &ranks.to_string()]);
    if mpirun.ends_with("openmpi") {
        command.arg("--oversubscribe");
        command.envs([
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ]);
    }
    command.args([env!("CARGO_BIN_EXE_spinneret"), "fabric"]);
    command
}

/// Its JSON, without what depends on the wall's clock.
pub(crate) fn result(output: &Output) -> Value {
    let mut result = json(output);
    result["wall_seconds"] = Value::Null;
    if let Some(nics) = result["nics"].as_object_mut() {
        nics.values_mut()
            .for_each(|nic| nic["summary"]["time"] = Value::Null);
    }
    result
}

/// A program on a NIC.
pub(crate) type Application = Box<dyn FnOnce(Nic) + Send>;

/// Starts a fabric for applications, which are started then, each on a thread of its own.
pub(crate) fn with_applications(
    mut command: Command,
    folder: &Folder,
    applications: Vec<(&str, Application)>,
) -> Output {
    let child = command
        .arg("--json")
        .arg("--sockets")
        .arg(folder.path("nics"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command was built");
    let threads: Vec<JoinHandle<()>> = applications
        .into_iter()
        .map(|(name, application)| {
            let socket = folder.path("nics").join(name);
            std::thread::spawn(move || application(open(&socket)))
        })
        .collect();
    let output = child.wait_with_output().expect("it ends");
    for thread in threads {
        if let Err(panic) = thread.join() {
            eprintln!("{}", String::from_utf8_lossy(&output.stderr));
            std::panic::resume_unwind(panic);
        }
    }
    output
}

/// Opens a NIC as soon as it is there.
fn open(socket: &Path) -> Nic<OpenDevice> {
    let name = format!("unix:{}", socket.display());
    let begun = Instant::now();
    loop {
        match Nic::open(&name) {
            Ok(nic) => return nic,
            Err(error) if begun.elapsed() > PATIENCE => panic!("{error}"),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// A frame between two NICs.
pub(crate) fn frame(to: usize, from: usize, text: &[u8]) -> Vec<u8> {
    let address = spinneret_fabric::topology::mac_of;
    [&address(to)[..], &address(from), &[0x88, 0xb5], text].concat()
}

pub(crate) const TICK: Duration = Duration::from_micros(2);

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
fn results_do_not_depend_on_threads_or_ranks() {
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
fn a_failed_rank_ends_all() {
    for mpirun in ["mpirun.openmpi", "mpirun.mpich"] {
        if Command::new(mpirun).arg("--version").output().is_err() {
            spinneret_skip::skip(module_path!(), &format!("{mpirun} is not installed"));
            continue;
        }
        let folder = Folder::new();
        // No application connects, so it would take forever.
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
fn ctrl_c_works_during_start_up() {
    let folder = Folder::new();
    let mut command = spinneret();
    command.args([
        "fabric",
        "--nics",
        "2000",
        "--threads",
        "1",
        "--json",
        "--sockets",
    ]);
    let process = Process::start(command.arg(folder.path("nics")));
    process.says("2000 NICs wait for applications");
    let begun = Instant::now();
    let ended = process.interrupt();
    let took = begun.elapsed();
    println!("ended after {took:?}");
    assert!(took < Duration::from_secs(3), "it ended after {took:?}");
    ended.assert_success();
    assert!(!ended.out.is_empty(), "the result is printed all the same");
}

/// The command checks handlers of the topology, and names each with its NIC.
#[test]
fn failed_handlers_fail_the_command_unless_allowed() {
    let folder = Folder::new();
    let handlers = handlers(
        "bad",
        "__handler__ void bad_ph(handler_args_t *args) {\n\
         *(volatile uint32_t *)0x40000000 = args->task->pkt_mem_size;\n}\n",
    );
    let topology = folder.topology(&format!(
        "[[nic]]\nname = 'a'\ntransmit = 'icmp,count=3'\nto = 'b'\nafter = '400 us'\n\
         [[nic]]\nname = 'b'\nhandlers = '{}'\n[[cable]]\nbetween = ['a', 'b']\n",
        handlers.path().display()
    ));
    for (more, code) in [(&["--json"][..], 1), (&["--json", "--allow-faults"], 0)] {
        let output = run(fabric().arg(&topology).args(more));
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{told}");
        let is_told = told.contains("error: b: handlers failed 3 times: store not allowed in bad_ph, ");
        assert_eq!(is_told, code == 1, "{told}");
        let result: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        assert_eq!(result["nics"]["1"]["summary"]["faults"][0]["count"], 3);
    }
}

#[test]
fn trace_captures_and_plot_are_written() {
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
        serde_json::from_slice(&fs::read(trace).expect("it was written")).expect("it is JSON");
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
    let picture = fs::read_to_string(plot).expect("it was written");
    assert!(picture.contains("s to sink") && picture.contains("found a queue full"));
    assert!(captured(folder.path("sink.pcap")).len() > 100);
}

/// Lines for a NIC of two.
const TOPOLOGIES: &[&str] = &[
    "application = true",
    "transmit = 'udp,size=9999999'",
    "transmit = 'udp'\nto = 'c'",
    "handlers = 'nowhere'",
    "when-gone = 'explode'",
    "[[cable]]\nbetween = ['a', 'b']",
];

/// Arguments; FOLDER is an empty one.
const ARGUMENTS: &[&str] = &[
    "--nics 1 --sockets FOLDER/nics",
    "--nics 2",
    "--nics 2 --sockets FOLDER/nics --latency 5ns",
    "--nics 2 --sockets FOLDER/nics --rate fast",
    "--nics 2 --sockets FOLDER/nics --cluster-mhz 10",
    "--nics 3 --sockets FOLDER/nics --buffer 1KiB",
    "--nics 2 --sockets /proc/no",
    "/nowhere.toml",
    "/nowhere.toml --rate 1Gbps",
];

/// Handlers, options, and captures as NIC and file. SOURCE is a source of EXAMPLES/icmp_ping.
type Outputs = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

const OUTPUTS: &[Outputs] = &[
    ("h.elf", "", &[("a", "topology.toml")]),
    ("h.elf", "", &[("a", "h.elf")]),
    ("h.elf", "", &[("b", "./r.toml")]),
    ("h.elf", "", &[("b", "link")]),
    ("EXAMPLES/icmp_ping", "", &[("b", "SOURCE")]),
    ("h.elf", "", &[("a", "new"), ("b", "./new")]),
    ("h.elf", "--trace FOLDER/new", &[("a", "new")]),
    ("h.elf", "--plot FOLDER/new", &[("a", "new")]),
    ("h.elf", "", &[("a", "none/new")]),
    ("h.elf", "", &[("a", "/dev/full")]),
    ("h.elf", "--trace FOLDER/h.elf", &[]),
    ("h.elf", "--plot FOLDER/r.toml", &[]),
    ("h.elf", "--plot FOLDER/topology.toml", &[]),
];

/// The message of a refused command, with FOLDER for the folder.
fn refused(folder: &Folder, command: &mut Command, what: &str) -> String {
    let output = run(command);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{what}: {said}");
    assert!(
        output.stdout.is_empty() && said.starts_with("error: "),
        "{what}: {said}"
    );
    let root = ok(root().canonicalize());
    let said = said.replace(&folder.path("").display().to_string(), "FOLDER/");
    format!("{what}\n{}", said.replace(&root.display().to_string(), "ROOT"))
}

#[test]
fn invalid_topologies_and_arguments_are_refused() {
    let topologies = TOPOLOGIES.iter().map(|more| {
        let folder = Folder::new();
        let text =
            format!("[[nic]]\nname = 'a'\n{more}\n[[nic]]\nname = 'b'\n[[cable]]\nbetween = ['a', 'b']\n");
        refused(&folder, fabric().arg(folder.topology(&text)), more)
    });
    let arguments = ARGUMENTS.iter().map(|shown| {
        let folder = Folder::new();
        let text = shown.replace("FOLDER/", &folder.path("").display().to_string());
        let said = refused(&folder, fabric().args(text.split(' ')), shown);
        assert!(!folder.path("nics/nic0").exists(), "{shown}: no socket is left");
        said
    });
    insta::assert_snapshot!(topologies.chain(arguments).collect::<Vec<_>>().join("\n"));
}

/// Two NICs with handlers and rules of their own in the folder of the topology, and captures of them.
fn with_captures(folder: &Folder, captures: &[(&str, &str)]) -> String {
    let examples = runtime("examples/icmp_ping");
    let elf = ok(spinneret_nic::run::program(&examples, 2));
    fs::copy(elf, folder.path("h.elf")).expect("there is room");
    fs::copy(examples.join("rules.toml"), folder.path("r.toml")).expect("there is room");
    let mut text = "[[nic]]\nname = 'a'\ntransmit = 'icmp,count=3'\nto = 'b'\n[[nic]]\nname = 'b'\n\
                    handlers = 'h.elf'\nrules = 'r.toml'\n[[cable]]\nbetween = ['a', 'b']\n"
        .to_owned();
    for (at, file) in captures {
        text += &format!("[[capture]]\nat = '{at}'\nfile = '{file}'\n");
    }
    text
}

#[test]
fn outputs_overwrite_neither_inputs_nor_outputs() {
    let source = ok(runtime("examples/icmp_ping/icmp_ping.c").canonicalize());
    let source = source.display().to_string();
    let said = OUTPUTS.iter().map(|(handlers, options, captures)| {
        let what = format!("{handlers} {options} {captures:?}");
        let folder = Folder::new();
        let text = with_captures(&folder, captures)
            .replace("'h.elf'\nrules", &format!("'{handlers}'\nrules"))
            .replace("SOURCE", &source);
        std::os::unix::fs::symlink("r.toml", folder.path("link")).expect("there is room");
        let mut command = fabric();
        command.arg(folder.topology(&text));
        let options = options.replace("FOLDER/", &folder.path("").display().to_string());
        command.args(options.split_whitespace());
        let names = ["topology.toml", "h.elf", "r.toml"];
        let files = || names.map(|name| fs::read(folder.path(name)).expect("it is there"));
        let before = files();
        let said = refused(&folder, &mut command, &what);
        assert!(files() == before, "{what}");
        let left = fs::read_dir(folder.path("")).expect("it is ours").count();
        assert_eq!(left, names.len() + 1, "{what}");
        said
    });
    insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"));
}
