//! `spinneret serve` for tests.

use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest that a process takes for anything.
pub(crate) const PROCESS: Duration = Duration::from_secs(60);

/// `spinneret serve`, which is ended with the test.
pub(crate) struct Server {
    child: Child,
    socket: PathBuf,
    _folder: tempfile::TempDir,
}

impl Server {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let socket = folder.path().join("nic.sock");
        let child = Command::new(env!("CARGO_BIN_EXE_spinneret"))
            .arg("serve")
            .arg(&socket)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command was built");
        let begun = Instant::now();
        while UnixStream::connect(&socket).is_err() {
            assert!(begun.elapsed() < PROCESS, "nobody listens");
            std::thread::sleep(Duration::from_millis(5));
        }
        Self {
            child,
            socket,
            _folder: folder,
        }
    }

    /// The number of its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn name(&self) -> String {
        format!("unix:{}", self.socket.display())
    }

    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Waits for its end: whether it succeeded, and what it printed.
    pub(crate) fn end(mut self) -> (bool, String) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                break status;
            }
            assert!(begun.elapsed() < PROCESS, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        let mut printed = String::new();
        let pipes = (self.child.stdout.take(), self.child.stderr.take());
        pipes
            .0
            .expect("it is piped")
            .read_to_string(&mut printed)
            .expect("it is text");
        pipes
            .1
            .expect("it is piped")
            .read_to_string(&mut printed)
            .expect("it is text");
        (status.success(), printed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let (true, Some(mut said)) = (std::thread::panicking(), self.child.stderr.take()) {
            let mut text = String::new();
            let _ = said.read_to_string(&mut text);
            println!("the server said: {text}");
        }
    }
}
