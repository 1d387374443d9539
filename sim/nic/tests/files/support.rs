//! Files, and the commands that carry them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longest that a command takes for anything that it is waited for; the first receiver compiles its handlers.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(5);

/// A folder with a file to send, and place for what is received.
pub(crate) struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    pub(crate) fn new() -> Self {
        let files = Self {
            folder: tempfile::tempdir().expect("there is room"),
        };
        std::fs::create_dir(files.path("inbox")).expect("there is room");
        files
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file with bytes that do not repeat soon.
    pub(crate) fn make(&self, name: &str, bytes: usize) -> Vec<u8> {
        let mut state = 0x2545_f491_u32 ^ name.bytes().map(u32::from).sum::<u32>();
        let content: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(bytes)
        .collect();
        std::fs::write(self.path(name), &content).expect("there is room");
        content
    }

    /// What is in the folder for received files, temporary files included.
    pub(crate) fn received(&self) -> Vec<PathBuf> {
        let found = std::fs::read_dir(self.path("inbox")).expect("it was made");
        found.map(|entry| entry.expect("it is there").path()).collect()
    }

    /// Starts `spinneret receive inbox/got` at a free port, which is told by [`Process::address`].
    pub(crate) fn receive(&self, more: &[&str]) -> Process {
        self.receive_at("127.0.0.1:0", more)
    }

    pub(crate) fn receive_at(&self, at: &str, more: &[&str]) -> Process {
        let mut command = spinneret();
        command.arg("receive").arg(self.path("inbox/got"));
        self.start(command.args(["--udp", at]).args(more))
    }

    /// Starts `spinneret send FILE`.
    pub(crate) fn send(&self, file: &str, to: &str, more: &[&str]) -> Process {
        let mut command = spinneret();
        command.arg("send").arg(self.path(file));
        self.start(command.args(["--to", to]).args(more))
    }

    /// Starts a command that writes what it says to a file.
    pub(crate) fn start(&self, command: &mut Command) -> Process {
        let (file, said) = tempfile::NamedTempFile::new_in(self.folder.path())
            .expect("there is room")
            .keep()
            .expect("it is ours");
        let other = file.try_clone().expect("it is open");
        let child = command.stdout(file).stderr(other).spawn();
        Process {
            child: child.expect("the command was built"),
            said,
        }
    }
}

pub(crate) fn spinneret() -> Command {
    Command::new(env!("CARGO_BIN_EXE_spinneret"))
}

/// A command that may write no file of more than so many KiB.
pub(crate) fn limited(kibibytes: u32) -> Command {
    let mut command = Command::new("bash");
    let script = r#"trap "" XFSZ; ulimit -f "$0"; exec "$@""#;
    command.args([
        "-c",
        script,
        &kibibytes.to_string(),
        env!("CARGO_BIN_EXE_spinneret"),
    ]);
    command
}

/// A command that runs, and is killed with the test.
pub(crate) struct Process {
    child: Child,
    said: PathBuf,
}

/// How a command has ended: its exit code, and what it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) said: String,
}

impl Process {
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(&self.said).expect("it is text")
    }

    /// Waits until it says something: all that it has said.
    pub(crate) fn says(&mut self, what: &str) -> String {
        let begun = Instant::now();
        loop {
            let said = self.said();
            if said.contains(what) {
                return said;
            }
            let status = self.child.try_wait().expect("it is ours");
            assert!(status.is_none(), "it ended with {status:?}: {said}");
            assert!(begun.elapsed() < PATIENCE, "it does not say {what}, but: {said}");
            sleep(LOOK);
        }
    }

    /// Where a receiver waits.
    pub(crate) fn address(&mut self) -> String {
        let said = self.says("\n");
        let address = said.trim().strip_prefix("waiting at ");
        address.unwrap_or_else(|| panic!("{said}")).to_owned()
    }

    /// Ends it without a chance to do anything.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it is ours");
    }

    /// Ends it as Ctrl-C does.
    pub(crate) fn interrupt(self) -> Ended {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.expect("kill is there").success());
        self.end()
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ended {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                let (code, said) = (status.code(), self.said());
                return Ended { code, said };
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end: {}", self.said());
            sleep(LOOK);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    pub(crate) fn assert_success(&self) {
        assert_eq!(self.code, Some(0), "{}", self.said);
    }

    /// It failed on its way, in one line that says this.
    pub(crate) fn assert_failed(&self, with: &str) {
        self.assert_error(1, with);
    }

    /// It could not begin, in words that say this.
    pub(crate) fn assert_refused(&self, with: &str) {
        self.assert_error(2, with);
    }

    fn assert_error(&self, code: i32, with: &str) {
        let errors = self.said.matches("error: ").count();
        assert_eq!((self.code, errors), (Some(code), 1), "{}", self.said);
        assert!(self.said.contains(with), "{with} is not in: {}", self.said);
    }
}

/// Waits, where nothing can be watched.
pub(crate) fn pause(milliseconds: u64) {
    sleep(Duration::from_millis(milliseconds));
}

pub(crate) fn read(path: impl AsRef<Path>) -> Vec<u8> {
    let path = path.as_ref();
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs a command of the system: whether it succeeded.
pub(crate) fn succeeds<A: AsRef<OsStr>>(program: &str, arguments: &[A]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}
