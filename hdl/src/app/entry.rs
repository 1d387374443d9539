//! The application in the catalog.

use super::SpinneretApp;
use crate::catalog::{Config, Entry, Parameter, Values};

/// Name of the block.
pub(super) const NAME: &str = "spinneret_app";

/// The application.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "the application: everything between Corundum's interface 0 and the cluster",
    shipped: false,
    parameters,
    derived,
    build: SpinneretApp::build,
};

/// Parameters, which are the same in all configurations.
pub(super) fn parameters(_: Config) -> Vec<Parameter> {
    let places = "places of a FIFO to the cluster's clock, a power of two";
    vec![
        Parameter::new("clusters", 2, [1, 8], "clusters of PsPIN").carried_by("N_CLUSTERS"),
        Parameter::new("queues", 16, [1, 16], "message processing queues of PsPIN").carried_by("N_MPQ"),
        Parameter::new("burst_places", 16, [4, 512], places),
        Parameter::new("word_places", 8, [4, 512], places),
        Parameter::new(
            "first_statistic",
            2048,
            [0, 3072],
            "number of our first statistic in Corundum's",
        ),
        Parameter::new(
            "core_clock_khz",
            250_000,
            [1, 1_000_000],
            "frequency of the core's clock",
        ),
        Parameter::new(
            "cluster_clock_khz",
            40_000,
            [1, 1_000_000],
            "frequency of the cluster's clock",
        ),
        Parameter::new(
            "bar_timeout",
            65_536,
            [16, 1 << 30],
            "clocks after which an access to a silent cluster is answered",
        ),
        Parameter::new(
            "stub",
            0,
            [0, 1],
            "1: the cluster is the stand-in, as software can read",
        ),
    ]
}

/// No parameters follow from these.
fn derived(_: &Values) -> Vec<(&'static str, u64)> {
    Vec::new()
}
