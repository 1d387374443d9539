//! Programs of MPI in C, each rank with its own NIC in one fabric.

use crate::kit::{build, built, ok, root, runtime, succeeds};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longest that anything takes, on a machine with much else to do: a second is usual.
const PATIENCE: Duration = Duration::from_secs(400);

/// An MPI of this machine.
#[derive(Clone, Copy, Debug)]
struct Mpi {
    compiler: &'static str,
    launcher: &'static str,
}

/// Those that there are; the others are skipped, with a word.
fn mpis() -> impl Iterator<Item = Mpi> {
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

/// A folder with a program, and the handlers for it.
struct Built {
    folder: TempDir,
    handlers: PathBuf,
    mpi: Mpi,
}

impl Built {
    fn new(mpi: Mpi, source: &Path) -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        build(&["--test", "rank_header"]);
        let library = built().join("deps");
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
        let handlers = ok(spinneret_nic::run::program(&runtime("examples/mpi_types"), 2));
        Self {
            folder,
            handlers,
            mpi,
        }
    }

    /// Runs it on so many ranks, with a NIC for each.
    fn run(&self, ranks: usize, fabric: &[&str], arguments: &[&str]) -> Output {
        self.run_with_digest(ranks, fabric, arguments).0
    }

    /// The same, and the fabric's line with the digest of all frames.
    fn run_with_digest(&self, ranks: usize, fabric: &[&str], arguments: &[&str]) -> (Output, String) {
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

/// Steps of the example.
const STEPS: &str = "4";

#[test]
fn columns_go_round_a_ring_with_both_mpis_and_on_bad_cables() {
    let source = root().join("mpi/examples/c/columns.c");
    for mpi in mpis() {
        let built = Built::new(mpi, &source);
        let bad = ["--loss", "5%", "--duplication", "1%", "--reordering", "1%"];
        for (ranks, fabric) in [(2, &[][..]), (4, &bad)] {
            let output = built.run(ranks, fabric, &[STEPS]);
            let printed = String::from_utf8_lossy(&output.stdout);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{mpi:?}, {ranks} ranks: {printed}{said}");
            for rank in 0..ranks {
                let line = format!("rank {rank}: {STEPS} columns placed by the NIC, 0 wrong");
                assert!(printed.contains(&line), "{mpi:?}: {printed}{said}");
            }
        }
    }
}

/// Simulated time and frames do not depend on when ranks were started or how busy the machine is, and neither on the MPI.
#[test]
fn time_and_frames_are_the_same_in_every_run() {
    let source = root().join("mpi/examples/c/columns.c");
    let mut times = Vec::new();
    for mpi in mpis() {
        let built = Built::new(mpi, &source);
        let (output, digest) = built.run_with_digest(3, &["--loss", "2%"], &[STEPS]);
        let printed = String::from_utf8_lossy(&output.stdout);
        let mut lines: Vec<String> = printed.lines().map(str::to_owned).collect();
        lines.sort();
        assert_eq!(lines.len(), 3, "{lines:?}");
        lines.push(digest);
        times.push(lines);
    }
    assert!(times.windows(2).all(|pair| pair[0] == pair[1]), "{times:#?}");
}

/// What MPI allows is as MPI does it; what a program must not do is an error with a sentence, and the rank can be used
/// afterwards.
#[test]
fn what_is_allowed_and_what_is_refused() {
    for what in ["allowed", "refused"] {
        let file = if what == "allowed" {
            "allowed.c"
        } else {
            "refusals.c"
        };
        let source = root().join("sim/nic/tests/nic/ranks").join(file);
        for mpi in mpis() {
            let output = Built::new(mpi, &source).run(2, &[], &[]);
            let printed = String::from_utf8_lossy(&output.stdout);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{mpi:?}: {printed}{said}");
            let mut lines: Vec<&str> = printed.lines().collect();
            lines.sort_unstable();
            assert_eq!(
                lines,
                [0, 1].map(|rank| format!("rank {rank}: all {what}")),
                "{said}"
            );
        }
    }
}
