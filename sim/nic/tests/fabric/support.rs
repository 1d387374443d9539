//! A fabric in another process, and programs that use its NICs.

use serde_json::Value;
use spinneret_host::{Nic, OpenDevice};
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
        Self(tempfile::tempdir().expect("there is room"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A topology; `EXAMPLES` in it stands for the folder of example handlers.
    pub(crate) fn topology(&self, text: &str) -> PathBuf {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/examples");
        let path = self.path("topology.toml");
        std::fs::write(&path, text.replace("EXAMPLES", &examples.display().to_string()))
            .expect("there is room");
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
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let mut result: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
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
