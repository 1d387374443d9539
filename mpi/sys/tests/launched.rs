//! Whole programs under each MPI of this machine, with several ranks, and their error messages.

#[path = "support/launch.rs"]
mod launch;

use launch::{Ended, Installed, Program, each_mpi};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const PROGRAM: &str = env!("CARGO_BIN_EXE_spinneret-mpi-check");

impl Installed {
    /// The one that this is not, if it is installed.
    pub(crate) fn other(self) -> Option<Self> {
        let other = if self == Self::OpenMpi {
            Self::Mpich
        } else {
            Self::OpenMpi
        };
        other.is_there().then_some(other)
    }
}

/// The words of a rank that fails.
fn sentences(ended: &Ended) -> Vec<&str> {
    let lines = ended.errors.lines();
    lines.filter(|line| line.starts_with("spinneret")).collect()
}

fn write_program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn all_checks_pass_under_each_mpi() {
    each_mpi("all_checks_pass_under_each_mpi", |mpi| {
        for ranks in [1, 2, 4] {
            let ended = mpi.run(ranks, &[]);
            assert_eq!(ended.code, Some(0), "{mpi:?}, {ranks} ranks: {ended:?}");
            let checks = ended.output.lines().filter(|line| line.ends_with(": ok"));
            assert_eq!(checks.count(), 6, "{ended:?}");
        }
        let alone = Program::new(&[]).with("SPINNERET_MPICC", mpi.compiler()).run();
        assert_eq!(alone.code, Some(0), "{mpi:?} without a launcher: {alone:?}");
        let title = alone.output.lines().next().unwrap_or_default();
        assert!(
            title.starts_with("1 ranks, MPI ") && title.contains(mpi.name()),
            "{alone:?}"
        );
    });
}

#[test]
fn a_program_can_start_mpi_itself() {
    each_mpi("a_program_can_start_mpi_itself", |mpi| {
        let ended = mpi.run(2, &["attach"]);
        assert_eq!(ended.code, Some(0), "{mpi:?}: {ended:?}");
    });
}

#[test]
fn failing_rank_ends_all_ranks() {
    each_mpi("failing_rank_ends_all_ranks", |mpi| {
        let panicked = "spinneret: rank 1 of 2: it panicked; all ranks are ended";
        let left = "spinneret: rank 1 ended without ending MPI, so all ranks are ended";
        let failed = "spinneret: rank 1 of 2: it is out of luck; all ranks are ended";
        for (what, code, said) in [
            ("panic", 101, Some(panicked)),
            ("panic-in-flight", 101, Some(panicked)),
            ("exit", 1, Some(left)),
            ("leak", 1, Some(left)),
            ("error", 1, Some(failed)),
            ("abort", 42, None),
        ] {
            let ended = mpi.run(2, &[what]);
            assert_eq!(ended.code, Some(code), "{mpi:?}, {what}: {ended:?}");
            assert_eq!(sentences(&ended), Vec::from_iter(said), "{mpi:?}, {what}");
        }
    });
}

#[test]
fn reports_launcher_of_another_mpi() {
    each_mpi("reports_launcher_of_another_mpi", |mpi| {
        let Some(other) = mpi.other() else {
            return;
        };
        let program = mpi.launch(2, &[]).with("SPINNERET_MPICC", other.compiler());
        let ended = program.run();
        assert_ne!(ended.code, Some(0), "{ended:?}");
        let said = sentences(&ended);
        assert!(!said.is_empty(), "{ended:?}");
        for sentence in said {
            let start = format!(
                "spinneret-mpi-check: the launcher of {} started 2 ranks, but each is alone in its MPI, which is {}",
                mpi.name(),
                other.name()
            );
            assert!(sentence.starts_with(&start), "{sentence}");
        }
    });
}

#[test]
fn says_what_to_install() {
    let nothing = tempfile::tempdir().unwrap();
    let ended = Program::new(&[]).with("PATH", nothing.path()).run();
    assert_eq!(ended.code, Some(1));
    assert_eq!(
        ended.errors,
        "spinneret-mpi-check: there is no MPI here, looked for mpicc: install one (Debian: openmpi-bin and \
         libopenmpi-dev, or mpich and libmpich-dev), or name its C compiler in SPINNERET_MPICC\n"
    );
    let ended = Program::new(&[]).with("SPINNERET_MPICC", "/nowhere/mpicc").run();
    assert!(ended.errors.contains("looked for /nowhere/mpicc: "), "{ended:?}");
}

#[test]
fn says_what_is_wrong_with_a_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let compiler = folder.path().join("mpicc");
    for (text, said) in [
        (
            "#!/bin/sh\necho no licence >&2; exit 3\n",
            "does not compile the layer over MPI: no licence;",
        ),
        (
            "#!/bin/sh\nexit 3\n",
            "it said nothing, and ended with exit status: 3",
        ),
        ("#!/bin/sh\nexit 0\n", "it wrote nothing"),
        ("no program", "it does not start: "),
        // It writes something that is no library.
        (
            "#!/bin/sh\nwhile [ $# != 0 ]; do [ $1 = -o ] && echo nonsense >$2; shift; done; exit 0\n",
            "does not load: ",
        ),
    ] {
        write_program(&compiler, text);
        let ended = Program::new(&[]).with("SPINNERET_MPICC", &compiler).run();
        assert_eq!(ended.code, Some(1), "{text}: {ended:?}");
        assert!(ended.errors.contains(said), "{text}: {ended:?}");
        assert_eq!(sentences(&ended).len(), 1, "{ended:?}");
    }
}

#[test]
fn works_without_a_writable_cache() {
    each_mpi("works_without_a_writable_cache", |mpi| {
        let folder = tempfile::tempdir().unwrap();
        // Not even root can make a folder in a file.
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let ended = mpi.launch(2, &["start"]).with("XDG_CACHE_HOME", &file).run();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let program = Program::new(&[]).with("SPINNERET_MPICC", mpi.compiler());
        let program = program.with("XDG_CACHE_HOME", &file);
        let ended = program.with("TMPDIR", folder.path().join("nowhere")).run();
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let said = "spinneret-mpi-check: cannot write the layer over MPI into ";
        assert!(ended.errors.starts_with(said), "{ended:?}");
    });
}

#[test]
fn ranks_that_start_together_share_one_layer() {
    each_mpi("ranks_that_start_together_share_one_layer", |mpi| {
        let cache = tempfile::tempdir().unwrap();
        let run = || {
            let program = mpi.launch(4, &["start"]).with("XDG_CACHE_HOME", cache.path());
            let ended = program.run();
            assert_eq!(ended.code, Some(0), "{ended:?}");
        };
        let kept = || {
            let mut found = Vec::new();
            for folder in fs::read_dir(cache.path().join("spinneret/mpi")).unwrap() {
                for file in fs::read_dir(folder.unwrap().path()).unwrap() {
                    found.push(file.unwrap().path());
                }
            }
            found
        };
        run();
        let [layer] = &kept()[..] else {
            panic!("{:?}", kept());
        };
        // One that is broken is made again.
        let good = fs::read(layer).unwrap();
        fs::write(layer, "nonsense").unwrap();
        run();
        assert_eq!(fs::read(layer).unwrap().len(), good.len());
        assert_eq!(kept().len(), 1, "{:?}", kept());
    });
}
