//! Programs that are started through an MPI's launcher, and never wait for ever. The module around says which: `PROGRAM`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

/// How long a program may take. The slowest needs some seconds on two processors, and MPICH's ranks wait busily.
const LIMIT: Duration = Duration::from_secs(180);

/// An MPI by the names that Debian gives its programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Installed {
    OpenMpi,
    Mpich,
}

/// Runs a test with each MPI that is installed.
pub(crate) fn each_mpi(test: &str, run: impl Fn(Installed)) {
    for mpi in [Installed::OpenMpi, Installed::Mpich] {
        if mpi.is_there() {
            run(mpi);
        } else {
            spinneret_skip::skip(test, &format!("there is no {} (run `./dev setup`)", mpi.name()));
        }
    }
}

impl Installed {
    /// The name that it uses for itself.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH",
        }
    }

    pub(crate) fn compiler(self) -> &'static str {
        match self {
            Self::OpenMpi => "mpicc.openmpi",
            Self::Mpich => "mpicc.mpich",
        }
    }

    fn launcher(self) -> &'static str {
        match self {
            Self::OpenMpi => "mpirun.openmpi",
            Self::Mpich => "mpirun.mpich",
        }
    }

    pub(crate) fn is_there(self) -> bool {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders: Vec<_> = env::split_paths(&path).collect();
        let has = |name: &str| folders.iter().any(|folder| folder.join(name).is_file());
        has(self.compiler()) && has(self.launcher())
    }

    /// The named checks, or a misbehaviour, in `ranks` ranks.
    pub(crate) fn launch(self, ranks: usize, names: &[&str]) -> Program {
        let mut command = Command::new(self.launcher());
        if self == Self::OpenMpi {
            command.arg("--oversubscribe");
        }
        let ranks = ranks.to_string();
        command.args(["-n", &ranks, super::PROGRAM]);
        Program::prepare(command, names)
    }

    pub(crate) fn run(self, ranks: usize, names: &[&str]) -> Ended {
        self.launch(ranks, names).run()
    }
}

/// A program that is to be run.
#[derive(Debug)]
pub(crate) struct Program(Command);

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
    pub(crate) errors: String,
}

impl Program {
    /// Without a launcher.
    pub(crate) fn new(names: &[&str]) -> Self {
        Self::prepare(Command::new(super::PROGRAM), names)
    }

    fn prepare(mut command: Command, names: &[&str]) -> Self {
        command
            .args(names)
            // A layer that is kept from test to test, and not in the user's own folder.
            .env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .env("RUST_BACKTRACE", "0")
            .env_remove("SPINNERET_MPICC")
            .stdin(Stdio::null());
        Self(command)
    }

    /// The same, with a variable.
    pub(crate) fn with(mut self, variable: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(variable, value);
        self
    }

    /// Runs it to its end.
    pub(crate) fn run(mut self) -> Ended {
        let (mut output, mut errors) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        self.0.stdout(output.try_clone().unwrap());
        self.0.stderr(errors.try_clone().unwrap());
        let mut child = self.0.spawn().unwrap();
        let start = Instant::now();
        let code = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status.code();
            }
            if start.elapsed() > LIMIT {
                stop(&mut child);
                let (output, errors) = (text(&mut output), text(&mut errors));
                panic!("{:?} did not end in {LIMIT:?}: {output}\n{errors}", self.0);
            }
            thread::sleep(Duration::from_millis(5));
        };
        Ended {
            code,
            output: text(&mut output),
            errors: text(&mut errors),
        }
    }
}

/// Asks a launcher to end, so that it ends its ranks, and then does not ask any more.
fn stop(child: &mut Child) {
    let _ = Command::new("kill").arg(child.id().to_string()).status();
    for _ in 0..50 {
        if matches!(child.try_wait(), Ok(Some(_))) {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}
