//! What such a program takes: the library, its compiler, handlers, a fabric.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longest that anything takes, on a machine with much else to do: a second is usual.
const PATIENCE: Duration = Duration::from_secs(400);

/// An MPI of this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mpi {
    compiler: &'static str,
    launcher: &'static str,
}

/// Those that there are; the others are skipped, with a word.
pub(crate) fn mpis() -> impl Iterator<Item = Mpi> {
    let both = ["openmpi", "mpich"].map(|name| match name {
        "openmpi" => ("mpicc.openmpi", "mpirun.openmpi"),
        _ => ("mpicc.mpich", "mpirun.mpich"),
    });
    both.into_iter().filter_map(|(compiler, launcher)| {
        let is_there = Command::new(launcher).arg("--version").output().is_ok();
        if !is_there {
            spinneret_skip::skip(module_path!(), &format!("{launcher} is not installed"));
        }
        is_there.then_some(Mpi { compiler, launcher })
    })
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn succeeds(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?} does not run: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}:\n{said}");
}

/// The folder of the library for C. Cargo builds it for no test of another crate, so it is asked to build a test that needs
/// it, with the features that crates have when the whole workspace is tested: most is there already then.
fn library() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_spinneret"))
        .parent()
        .expect("it is in a folder");
    let profile = if folder.ends_with("release") {
        "release"
    } else {
        "dev"
    };
    let target = folder.parent().expect("profiles have folders of their own");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root());
    cargo.args(["build", "--quiet", "--workspace", "--test", "rank_header"]);
    cargo.args(["--profile", profile, "--target-dir"]);
    succeeds(cargo.arg(target));
    folder.join("deps")
}

/// A folder with a program, and the handlers for it.
pub(crate) struct Built {
    folder: TempDir,
    handlers: PathBuf,
    mpi: Mpi,
}

impl Built {
    pub(crate) fn new(mpi: Mpi, source: &Path) -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let library = library();
        let mut compiler = Command::new(mpi.compiler);
        compiler.args([
            "-std=c11",
            "-D_POSIX_C_SOURCE=200809L",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Werror",
        ]);
        for include in ["mpi/include", "host/include"] {
            compiler.arg("-I").arg(root().join(include));
        }
        compiler.arg(source).arg("-o").arg(folder.path().join("program"));
        compiler.arg("-L").arg(&library).arg("-lspinneret_rank");
        // This kind of path comes before LD_LIBRARY_PATH, in which cargo puts a folder with what was built before.
        let found = format!("-Wl,--disable-new-dtags,-rpath,{}", library.display());
        succeeds(compiler.arg(found));
        let handlers = root().join("runtime/examples/mpi_types");
        let handlers = spinneret_nic::run::program(&handlers, 2).unwrap_or_else(|error| panic!("{error}"));
        Self {
            folder,
            handlers,
            mpi,
        }
    }

    /// Runs it on so many ranks, with a NIC for each.
    pub(crate) fn run(&self, ranks: usize, fabric: &[&str], arguments: &[&str]) -> Output {
        self.run_with_digest(ranks, fabric, arguments).0
    }

    /// The same, and the fabric's line with the digest of all frames.
    pub(crate) fn run_with_digest(
        &self,
        ranks: usize,
        fabric: &[&str],
        arguments: &[&str],
    ) -> (Output, String) {
        let sockets = self.folder.path().join(format!("nics{ranks}"));
        let served = serve(&sockets, ranks, fabric);
        let begun = Instant::now();
        while (0..ranks).any(|rank| !sockets.join(format!("nic{rank}")).exists()) {
            assert!(begun.elapsed() < PATIENCE, "there is no fabric");
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut launcher = Command::new("timeout");
        launcher.args([&PATIENCE.as_secs().to_string(), self.mpi.launcher]);
        launcher.args(["-n", &ranks.to_string()]);
        if self.mpi.launcher.ends_with("openmpi") {
            launcher.arg("--oversubscribe");
            launcher.envs([
                ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
                ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ]);
        }
        launcher.arg(self.folder.path().join("program"));
        launcher.arg(&sockets).arg(&self.handlers).args(arguments);
        let output = launcher.output().expect("there is a launcher");
        let served = served.wait_with_output().expect("it runs");
        let (ended, said) = (served.status, String::from_utf8_lossy(&output.stderr));
        assert!(ended.success(), "the fabric ended with {ended}: {said}");
        let printed = String::from_utf8_lossy(&served.stdout);
        let digest = printed.lines().find(|line| line.starts_with("digest "));
        let digest = digest.expect("the fabric prints one").to_owned();
        (output, digest)
    }
}

fn serve(sockets: &Path, nics: usize, more: &[&str]) -> Child {
    let mut fabric = Command::new("timeout");
    fabric.args([
        &PATIENCE.as_secs().to_string(),
        env!("CARGO_BIN_EXE_spinneret"),
        "fabric",
    ]);
    // Fewer rounds than with the usual latency, so that much that goes on at once on few processors does not take long.
    fabric.args(["--nics", &nics.to_string(), "--latency", "2 us", "--sockets"]);
    fabric.arg(sockets).args(more);
    fabric.stdin(Stdio::null()).stdout(Stdio::piped());
    fabric.spawn().expect("the command was built")
}
