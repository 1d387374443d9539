//! Faulty programs under each MPI: each exits with a message that names the fault and its place.

#[path = "../../../mpi/sys/tests/support/launch.rs"]
mod launch;

use launch::{Ended, Program, each_mpi};

const PROGRAM: &str = env!("CARGO_BIN_EXE_molly-wrong");

/// The lines that say something of molly's; a launcher has much to say on top.
fn said(ended: &Ended) -> Vec<&str> {
    let words = ["molly", "rank", "grid"];
    let is_ours = |line: &&str| words.iter().any(|word| line.contains(word)) && line.contains("; ");
    ended.errors.lines().filter(is_ours).collect()
}

#[test]
fn invalid_arguments_under_mpi_are_reported_once_with_exit_code_2() {
    each_mpi(
        "invalid_arguments_under_mpi_are_reported_once_with_exit_code_2",
        |mpi| {
            for (case, parts) in [
                (
                    "an element that is not there",
                    &[
                        "molly/src/programs.rs:",
                        ": `a` has no element [",
                        "; it is accessed where the loops' variables are [",
                    ][..],
                ),
                (
                    "a field of nobody",
                    &[
                        "`transposition` (molly/command/src/bin/molly-wrong.rs:",
                        ") runs on rank 0 of the grid 2, and `a` was made at molly/command/src/bin/molly-wrong.rs:",
                        " as a whole; make it with `Rank::field` of that rank",
                    ],
                ),
                (
                    "a limit",
                    &[
                        "molly/src/programs.rs:",
                        ": there is no plan for `molly::programs::five` in 1000 operations of isl; allow more in ",
                    ],
                ),
            ] {
                let ended = mpi.run(2, &[case]);
                assert_eq!(ended.code, Some(2), "{mpi:?}, {case}: {ended:?}");
                let said = said(&ended);
                assert_eq!(said.len(), 1, "{mpi:?}, {case}: {ended:?}");
                assert!(parts.iter().all(|part| said[0].contains(part)), "{said:?}");
            }
        },
    );
}

#[test]
fn deadlock_error_names_both_calls() {
    each_mpi("deadlock_error_names_both_calls", |mpi| {
        let ended = mpi.run(2, &["another call"]);
        assert_eq!(ended.code, Some(1), "{mpi:?}: {ended:?}");
        // Either may be the first whose patience ends.
        let (gather, five) = (
            "`gather` (molly/command/src/bin/molly-wrong.rs:",
            "`five` (molly/command/src/bin/molly-wrong.rs:",
        );
        let is_told = |line: &&str| {
            let calls = [
                [
                    format!("rank 0 is in {gather}"),
                    format!("rank 1 was last in {five}"),
                ],
                [
                    format!("rank 1 is in {five}"),
                    format!("rank 0 was last in {gather}"),
                ],
            ];
            calls
                .iter()
                .any(|both| both.iter().all(|call| line.contains(call)))
        };
        assert!(ended.errors.lines().any(|line| is_told(&line)), "{ended:?}");
    });
}

#[test]
fn default_grid_uses_all_started_ranks() {
    let alone = Program::new(&["nothing"]).with("MOLLY_GEOMETRY", "2").run();
    let words = "the grid 2 has 2 ranks, and 1 were started; start 2, or name another grid\n";
    assert_eq!((alone.code, &alone.output[..]), (Some(2), ""), "{alone:?}");
    assert!(alone.errors.ends_with(words), "{alone:?}");
    each_mpi("default_grid_uses_all_started_ranks", |mpi| {
        let three = mpi.launch(2, &["nothing"]).with("MOLLY_GEOMETRY", "3x1");
        let ended = three.run();
        assert_eq!(ended.code, Some(2), "{mpi:?}: {ended:?}");
        let words = "the grid 3x1 has 3 ranks, and 2 were started; start 3, or name another grid";
        assert_eq!(said(&ended), [words], "{mpi:?}: {ended:?}");
        // Ranks that own nothing are right.
        let ended = mpi.run(2, &["nothing"]);
        assert_eq!(ended.code, Some(0), "{mpi:?}: {ended:?}");
    });
}
