//! The application in the catalog.

use super::{AppParameters, SpinneretApp, StatisticsReporter};
use crate::entry::{Entry, Parameters as _, Variant};
use spinneret_verilog::prelude::*;

/// The application.
pub(crate) const ENTRY: Entry = Entry::part(
    AppParameters::BLOCK,
    "the application: everything between Corundum's interface 0 and the cluster",
    AppParameters::parameters,
    |values| Ok(Box::new(SpinneretApp::new(values)?)),
);

/// The reporter of statistics, alone.
pub(crate) const REPORTER_ENTRY: Entry = Entry::part(
    "statistics_reporter",
    "reports counters to Corundum's statistics",
    ReporterShape::parameters,
    |values| {
        let shape = ReporterShape::new(values)?;
        let levels = shape.first_level..shape.first_level + shape.levels;
        let reporter = StatisticsReporter::new(shape.counters, levels, shape.first_statistic);
        Ok(Box::new(reporter))
    },
);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[REPORTER_ENTRY.model(REPORTER_ENTRY.name, &[])];

#[derive(Parameters)]
#[parameters(block = REPORTER_ENTRY.name)]
struct ReporterShape {
    /// Counters.
    #[parameter(19, range = 9..=1024)]
    counters: usize,
    /// The first counter that is a level.
    #[parameter(13, range = 0..=1023)]
    first_level: usize,
    /// Counters that are levels.
    #[parameter(4, range = 0..=1024)]
    levels: usize,
    /// Number of the first statistic.
    #[parameter(2048, range = 0..=3072)]
    first_statistic: u64,
}
