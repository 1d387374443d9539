//! `spinneret serve --pci` for tests.

use rustix::process::{Pid, Signal, kill_process};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use vfio_user::Client;

/// Longest that a process takes for anything.
const PROCESS: Duration = Duration::from_secs(60);

pub(crate) fn ok<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

/// The command, which is ended with the test.
pub(crate) struct Served {
    child: Option<Child>,
    folder: tempfile::TempDir,
}

impl Served {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let folder = ok(tempfile::tempdir());
        let child = Command::new(env!("CARGO_BIN_EXE_spinneret"))
            .args(["serve", "--pci"])
            .arg(folder.path().join("nic.sock"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let served = Self {
            child: Some(ok(child)),
            folder,
        };
        let begun = Instant::now();
        while !served.socket().exists() {
            assert!(begun.elapsed() < PROCESS, "nobody listens");
            std::thread::sleep(Duration::from_millis(5));
        }
        served
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("nic.sock")
    }

    /// A client, as soon as the one before it is forgotten.
    pub(crate) fn client(&self) -> Client {
        let begun = Instant::now();
        loop {
            match Client::new(&self.socket()) {
                Err(error) if begun.elapsed() > PROCESS => panic!("{error}"),
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
                Ok(client) => return client,
            }
        }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(self.child.as_ref().expect("it runs"))
    }

    /// Processor time of the process so far.
    pub(crate) fn processor(&self) -> Duration {
        let stat = ok(std::fs::read_to_string(format!("/proc/{}/stat", self.pid())));
        let behind_name = stat.rsplit(')').next().expect("there is a name");
        let times = behind_name.split_whitespace().skip(11).take(2);
        let ticks: u64 = times.map(|ticks| ok(ticks.parse::<u64>())).sum();
        Duration::from_millis(ticks * 10)
    }

    /// Asks for its end: what it printed.
    pub(crate) fn end(mut self) -> Output {
        ok(kill_process(self.pid(), Signal::INT));
        ok(self.child.take().expect("it runs").wait_with_output())
    }

    /// It dies in the middle of whatever it does.
    pub(crate) fn kill(&mut self) {
        let child = self.child.as_mut().expect("it runs");
        ok(child.kill());
        ok(child.wait());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            if let (true, Ok(output)) = (std::thread::panicking(), child.wait_with_output()) {
                println!("it said: {}", String::from_utf8_lossy(&output.stderr));
            }
        }
    }
}
