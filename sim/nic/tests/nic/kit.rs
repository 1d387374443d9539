//! Helpers for all tests: the command, processes that end with their test, and NICs in this process.

use rustix::process::{Pid, Signal};
use serde_json::Value;
use spinneret_host::{Context, Device, Nic, Options, Program, Rule, Ruleset};
use spinneret_nic::Simulated;
use spinneret_nic::nic::{Backend, NicConfig, Out};
use spinneret_packets::capture::{CaptureReader, Packet};
use std::cell::RefCell;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::{NamedTempFile, TempDir};

/// Longest time that a test waits for a process; the first one compiles its handlers.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Interval between two polls.
const POLL: Duration = Duration::from_millis(5);
/// Rules that send all packets to the handlers.
pub(crate) const ALL_PACKETS: &str = "[[ruleset]]\nrules = [\"always\"]\nend-of-message = \"never\"\n";

pub(crate) fn ok<T, E: Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The command, to be run in the root of the checkout.
pub(crate) fn spinneret() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spinneret"));
    command.current_dir(root());
    command
}

/// The program for tests that interrupt it at any time: it has the usual actions of signals also where the tests ignore them, as in
/// the background of a shell or under `nohup`.
pub(crate) fn interruptible() -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP,INT,TERM", env!("CARGO_BIN_EXE_spinneret")]);
    command.current_dir(root());
    command
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a command that must succeed.
pub(crate) fn succeeds(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?} does not run: {error}"));
    assert!(output.status.success(), "{command:?}:\n{}", stderr(&output));
    output
}

/// The folder of the programs that Cargo has built.
pub(crate) fn built() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_spinneret"));
    program.parent().expect("it is in a folder").to_owned()
}

/// Builds programs and tests of other crates, with the features of a test run of the whole workspace, when most is up to date.
/// Cargo does not build what a test of another crate needs.
pub(crate) fn build(targets: &[&str]) {
    let folder = built();
    let profile = if folder.ends_with("release") {
        "release"
    } else {
        "dev"
    };
    let target = folder.parent().expect("profiles have folders of their own");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root());
    cargo.args(["build", "--quiet", "--workspace", "--profile", profile]);
    succeeds(cargo.args(targets).arg("--target-dir").arg(target));
}

/// Builds the library for C, and returns the path of the archive.
pub(crate) fn library() -> PathBuf {
    build(&["--test", "interface"]);
    built().join("deps/libspinneret.a")
}

/// Runs a command and returns whether it succeeded.
pub(crate) fn can(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}

/// The JSON that a command has printed, which must have succeeded.
pub(crate) fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Packets of a stage in the summary of a run.
pub(crate) fn packets(summary: &Value, stage: &str) -> u64 {
    let mut stages = summary["stages"].as_array().into_iter().flatten();
    let found = stages.find(|found| found["stage"] == stage);
    found
        .and_then(|found| found["packets"].as_u64())
        .expect("the stage is counted")
}

/// The packets of a capture.
pub(crate) fn captured(path: impl AsRef<Path>) -> Vec<Packet> {
    ok(CaptureReader::open(path.as_ref())).map(ok).collect()
}

/// Interrupts a process as Ctrl-C does.
pub(crate) fn interrupt(child: &Child) {
    signal(child, Signal::INT);
}

fn signal(child: &Child, signal: Signal) {
    ok(rustix::process::kill_process(Pid::from_child(child), signal));
}

/// Polls until something is the case.
pub(crate) fn until(what: &str, mut is_done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_done() {
        assert!(begun.elapsed() < PATIENCE, "{what} takes too long");
        sleep(POLL);
    }
}

/// A folder with handlers `NAME.c`, a Makefile, and rules that send all packets to them.
pub(crate) fn handlers(name: &str, source: &str) -> TempDir {
    let folder = ok(tempfile::tempdir());
    let makefile = format!("include {}\n", root().join("runtime/spin.mk").display());
    for (file, text) in [
        (format!("{name}.c"), format!("#include <handler.h>\n{source}")),
        ("Makefile".to_owned(), makefile),
        ("rules.toml".to_owned(), ALL_PACKETS.to_owned()),
    ] {
        ok(std::fs::write(folder.path().join(file), text));
    }
    folder
}

/// A process that is killed with its test. Its output goes to files.
pub(crate) struct Process {
    child: RefCell<Child>,
    out: NamedTempFile,
    err: NamedTempFile,
}

/// The exit code of a process, its standard output, and all of its output.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) said: String,
}

impl Process {
    pub(crate) fn start(command: &mut Command) -> Self {
        let [out, err] = [(); 2].map(|()| ok(NamedTempFile::new()));
        command.stdout(ok(out.reopen())).stderr(ok(err.reopen()));
        let child = command.stdin(Stdio::null()).spawn();
        Self {
            child: child
                .unwrap_or_else(|error| panic!("{command:?} does not run: {error}"))
                .into(),
            out,
            err,
        }
    }

    /// All output so far.
    pub(crate) fn said(&self) -> String {
        let read = |file: &NamedTempFile| ok(std::fs::read_to_string(file));
        read(&self.out) + &read(&self.err)
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.borrow().id()
    }

    pub(crate) fn has_ended(&self) -> bool {
        ok(self.child.borrow_mut().try_wait()).is_some()
    }

    /// Waits until the output contains something, and returns all output.
    pub(crate) fn says(&self, what: &str) -> String {
        until(what, || self.said().contains(what) || self.has_ended());
        let said = self.said();
        assert!(said.contains(what), "it ended without {what}: {said}");
        said
    }

    pub(crate) fn kill(&self) {
        let mut child = self.child.borrow_mut();
        ok(child.kill());
        ok(child.wait());
    }

    /// Waits until it catches Ctrl-C.
    pub(crate) fn catches(&self) {
        until("catching Ctrl-C", || {
            let status = ok(std::fs::read_to_string(format!("/proc/{}/status", self.id())));
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
            let caught = caught.map(|signals| ok(u64::from_str_radix(signals.trim(), 16)));
            caught.is_some_and(|signals| signals >> (Signal::INT.as_raw() - 1) & 1 == 1)
        });
    }

    /// Interrupts it as Ctrl-C does, and waits for its end.
    pub(crate) fn interrupt(&self) -> Ended {
        self.signal(Signal::INT)
    }

    /// Sends it a signal, and waits for its end.
    pub(crate) fn signal(&self, with: Signal) -> Ended {
        signal(&self.child.borrow(), with);
        self.end()
    }

    /// Waits for its end.
    pub(crate) fn end(&self) -> Ended {
        until("the end of a process", || self.has_ended());
        Ended {
            code: ok(self.child.borrow_mut().wait()).code(),
            out: ok(std::fs::read_to_string(&self.out)),
            said: self.said(),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let child = self.child.get_mut();
        let _ = child.kill();
        let _ = child.wait();
        if std::thread::panicking() {
            println!("{}", self.said());
        }
    }
}

impl Ended {
    pub(crate) fn assert_success(&self) {
        assert_eq!(self.code, Some(0), "{}", self.said);
    }

    /// The work began and failed, with one error that contains this.
    pub(crate) fn assert_failed(&self, with: &str) {
        self.assert_error(1, with);
    }

    /// The work could not begin, with one error that contains this.
    pub(crate) fn assert_refused(&self, with: &str) {
        self.assert_error(2, with);
    }

    /// The JSON that it has printed.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{}", self.said);
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.said))
    }

    fn assert_error(&self, code: i32, with: &str) {
        let errors = self.said.matches("error: ").count();
        assert_eq!((self.code, errors), (Some(code), 1), "{}", self.said);
        assert!(self.said.contains(with), "{with} is not in: {}", self.said);
    }
}

/// `spinneret serve`, which is killed with its test.
pub(crate) struct Served {
    pub(crate) process: Process,
    folder: TempDir,
}

impl Served {
    /// Starts it with a socket after the first arguments, and waits until it listens there.
    pub(crate) fn start(before: &[&str], after: &[&str]) -> Self {
        if before.iter().chain(after).any(|argument| *argument == "rtl") {
            // Builds the model of the clusters if there is none yet, which takes long on a busy machine.
            drop(ok(Simulated::new(NicConfig::with(Backend::Rtl))));
        }
        let folder = ok(tempfile::tempdir());
        let mut command = spinneret();
        command.arg("serve").args(before);
        command.arg(folder.path().join("nic.sock")).args(after);
        let process = Process::start(&mut command);
        process.says("the NIC is at ");
        Self { process, folder }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("nic.sock")
    }

    /// The name by which programs open the NIC.
    pub(crate) fn name(&self) -> String {
        format!("unix:{}", self.socket().display())
    }
}

/// A folder below `runtime/`.
pub(crate) fn runtime(folder: &str) -> PathBuf {
    root().join("runtime").join(folder)
}

/// The program of a folder below `runtime/`.
pub(crate) fn program(folder: &str) -> Program {
    ok(Program::open(&ok(spinneret_nic::run::program(
        &runtime(folder),
        2,
    ))))
}

/// Handlers of four kinds.
pub(crate) fn contexts() -> Program {
    program("tests/contexts")
}

/// A NIC, and the simulation behind it.
pub(crate) fn nic() -> (Nic<Simulated>, Simulated) {
    let simulated = ok(Simulated::new(NicConfig::default()));
    (ok(Nic::new(simulated.clone())), simulated)
}

/// A NIC for several programs, and the simulation behind it. With the model of the clusters, no handler takes more clocks than that.
pub(crate) fn shared(backend: Backend, watchdog: u32) -> (Nic<Simulated>, Simulated) {
    let mut config = NicConfig::with(backend);
    if backend != Backend::Rtl {
        config.cluster.watchdog = watchdog.into();
    }
    let simulated = ok(Simulated::new(config));
    (ok(Nic::shared(simulated.clone())), simulated)
}

/// Builds handlers `app`.
pub(crate) fn compiled(source: &str) -> Program {
    let folder = handlers("app", source);
    ok(Program::open(&ok(spinneret_nic::run::program(folder.path(), 2))))
}

/// UDP packets to a port, each a message.
pub(crate) fn port(port: u16) -> Ruleset {
    Ruleset::all().rule(Rule::udp_destination_port(port, port))
}

pub(crate) fn open<D: Device>(nic: &Nic<D>, program: &Program, name: &str, rules: &Ruleset) -> Context<D> {
    ok(nic.open_context(program, name, rules, &Options::default()))
}

/// The same with little memory on the NIC: where each word is an access of a bus, more takes long to clear.
pub(crate) fn open_small(nic: &Nic, program: &Program, name: &str, rules: &Ruleset) -> Context {
    let options = Options {
        handler_bytes: Some(4096),
        ..Options::default()
    };
    ok(nic.open_context(program, name, rules, &options))
}

/// Sends packets from the wire, slowly enough for all to be handled. Returns the frames for the wire and for the host.
pub(crate) fn exchange(nic: &Simulated, packets: impl IntoIterator<Item = Vec<u8>>) -> [Vec<Out>; 2] {
    let mut nic = nic.borrow_mut();
    for packet in packets {
        nic.receive(packet);
        let next = nic.now_ps() + 2_000_000;
        ok(nic.run_until(next));
    }
    let limit = nic.now_ps() + 10_000_000_000;
    assert!(ok(nic.run_until_idle(limit)), "packets stay on their way");
    let wire = std::iter::from_fn(|| nic.take_wire()).collect();
    [wire, std::iter::from_fn(|| nic.take_host()).collect()]
}
