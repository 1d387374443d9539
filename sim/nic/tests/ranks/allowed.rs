//! What MPI allows, and what the host does where the NIC has no room.

use super::build::{Built, mpis, root};

#[test]
fn what_mpi_allows_is_as_mpi_does_it() {
    let source = root().join("sim/nic/tests/ranks/allowed.c");
    for mpi in mpis() {
        let built = Built::new(mpi, &source);
        let output = built.run(2, &[], &[]);
        let printed = String::from_utf8_lossy(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{mpi:?}: {printed}{said}");
        let mut lines: Vec<&str> = printed.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["rank 0: all allowed", "rank 1: all allowed"], "{said}");
    }
}
