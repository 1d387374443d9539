//! Programs in C: the example, in which columns go round a ring of ranks, and one each for what is allowed and refused.

use super::build::{Built, mpis, root};

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
        let source = root().join("sim/nic/tests/ranks").join(file);
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
