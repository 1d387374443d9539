//! The application in the catalog.

use super::{SpinneretApp, StatisticsReporter};
use crate::entry::{Checked, Config, Entry, Parameter, ParameterError, Values, Variant};
use spinneret_verilog::prelude::Block;

/// Name of the block.
pub(super) const NAME: &str = "spinneret_app";

/// The application.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "the application: everything between Corundum's interface 0 and the cluster",
    shipped: false,
    parameters,
    derived,
    build: |values| Ok(Box::new(SpinneretApp::new(values)?)),
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

/// Name of the reporter of statistics.
const REPORTER: &str = "statistics_reporter";

/// The reporter of statistics, by itself.
pub(crate) const REPORTER_ENTRY: Entry = Entry {
    name: REPORTER,
    doc: "reports counters to Corundum's statistics",
    shipped: false,
    parameters: reporter_parameters,
    derived,
    build: build_reporter,
};

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[REPORTER_ENTRY.model(REPORTER, &[])];

fn reporter_parameters(_: Config) -> Vec<Parameter> {
    vec![
        Parameter::new("counters", 19, [9, 1024], "counters"),
        Parameter::new("first_level", 13, [0, 1023], "the first counter that is a level"),
        Parameter::new("levels", 4, [0, 1024], "counters that are levels"),
        Parameter::new(
            "first_statistic",
            2048,
            [0, 3072],
            "number of the first statistic",
        ),
    ]
}

fn build_reporter(values: &Values) -> Result<Box<dyn Block>, ParameterError> {
    let checked = Checked::new(REPORTER, &reporter_parameters(Config::Board), values)?;
    let get = |name: &str| checked.get(name) as usize;
    let levels = get("first_level")..get("first_level") + get("levels");
    Ok(Box::new(StatisticsReporter::new(
        get("counters"),
        levels,
        checked.get("first_statistic"),
    )))
}
