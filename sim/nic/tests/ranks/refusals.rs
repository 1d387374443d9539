//! What a program must not do: each is an error with a sentence, and the rank can be used afterwards.

use super::build::{Built, mpis, root};

#[test]
fn what_cannot_be_is_refused_in_words_and_nothing_breaks() {
    let source = root().join("sim/nic/tests/ranks/refusals.c");
    for mpi in mpis() {
        let built = Built::new(mpi, &source);
        let output = built.run(2, &[], &[]);
        let printed = String::from_utf8_lossy(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{mpi:?}: {printed}{said}");
        let mut lines: Vec<&str> = printed.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["rank 0: all refused", "rank 1: all refused"], "{said}");
    }
}
