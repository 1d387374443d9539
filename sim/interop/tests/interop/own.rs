//! The whole NIC with spinneret's own clusters.

use clap::Parser as _;
use spinneret_interop::run::{Arguments, run};

/// Handlers that answer, that count in shared memory, and that write to the host.
#[test]
fn handlers_do_on_the_own_clusters_what_they_do_on_the_model() {
    let examples = ["udp_ping", "histogram", "copy_to_host"];
    let named = examples.iter().flat_map(|name| ["--example", name]);
    let arguments = ["interop", "--own", "--step", "examples", "--packets", "40"];
    let arguments = Arguments::parse_from(arguments.into_iter().chain(named));
    assert!(run(&arguments).unwrap_or_else(|error| panic!("{error:#}")));
}
