//! The whole NIC with spinneret's own clusters.

use clap::Parser as _;
use spinneret_interop::run::{Arguments, run};

fn is_right(arguments: &[&str]) -> bool {
    let all = ["interop", "--own"].into_iter().chain(arguments.iter().copied());
    run(&Arguments::parse_from(all)).unwrap_or_else(|error| panic!("{error:#}"))
}

/// Handlers that answer, that count in shared memory, and that write to the host.
#[test]
fn handlers_do_on_the_own_clusters_what_they_do_on_the_model_in_the_same_time() {
    let examples = ["udp_ping", "icmp_ping", "histogram", "copy_to_host"];
    let named = examples.iter().flat_map(|name| ["--example", name]);
    let step = ["--step", "examples", "--packets", "40"];
    let arguments: Vec<_> = step.into_iter().chain(named).collect();
    assert!(is_right(&arguments));
}

#[test]
fn operations_of_the_model_cost_what_they_cost_on_the_own_clusters() {
    assert!(is_right(&["--step", "costs"]));
}
