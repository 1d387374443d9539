//! `spinneret serve` in a process of its own.

use anyhow::{Context as _, Result, ensure};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Between two attempts.
pub(crate) const PAUSE: Duration = Duration::from_millis(3);
/// Longest that a server takes to accept a client.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    folder: TempDir,
}

impl Server {
    /// Starts a server with these options, and waits for its socket.
    ///
    /// # Errors
    /// If it ends.
    pub(crate) fn start(spinneret: &Path, options: &[&str]) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let child = Command::new(spinneret)
            .arg("serve")
            .args(options)
            .arg(folder.path().join("nic"))
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", spinneret.display()))?;
        let mut server = Self { child, folder };
        while !server.socket().exists() {
            let is_running = server.child.try_wait()?.is_none();
            ensure!(is_running, "{} ended at once", spinneret.display());
            std::thread::sleep(PAUSE);
        }
        Ok(server)
    }

    /// Its socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("nic")
    }

    /// The number of its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It is our child, so both can only fail if it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Connects to a server as soon as it accepts.
///
/// # Errors
/// The last one, if it never does.
pub(crate) fn connect<C, E: Display>(socket: &Path, connect: impl Fn(&Path) -> Result<C, E>) -> Result<C> {
    let begun = Instant::now();
    loop {
        match connect(socket) {
            Ok(client) => return Ok(client),
            Err(error) => ensure!(begun.elapsed() < PATIENCE, "{}: {error}", socket.display()),
        }
        std::thread::sleep(PAUSE);
    }
}
