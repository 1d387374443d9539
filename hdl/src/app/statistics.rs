//! Reports counters to Corundum's statistics.

use crate::COUNTER_WIDTH;
use crate::entry::{Entry, Variant};
use spinneret_verilog::prelude::*;

/// The reporter in the catalog.
pub(crate) const REPORTER_ENTRY: Entry = entry!(part "statistics_reporter", StatisticsReporter(ReporterShape):
    "reports counters to Corundum's statistics");

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[REPORTER_ENTRY.variant(REPORTER_ENTRY.name, "")];

/// Parameters of the reporter.
#[derive(Parameters, Clone, Copy, Debug)]
#[parameters(block = REPORTER_ENTRY.name)]
pub struct ReporterShape {
    /// Counters.
    #[parameter(19, range = 9..=1024)]
    pub counters: usize,
    /// The first counter that is a level.
    // A level goes up and down, and is not reported.
    #[parameter(13, range = 0..=1023)]
    pub first_level: usize,
    /// Counters that are levels.
    #[parameter(4, range = 0..=1024)]
    pub levels: usize,
    /// Number of the first statistic.
    #[parameter(2048, range = 0..=3072)]
    pub first_statistic: u64,
}

/// Width of an increment in bits.
pub const INCREMENT_BITS: usize = 24;
/// Width of the number of a statistic in bits.
pub const ID_BITS: usize = 12;

/// Increments of statistics.
#[interface]
pub struct StatisticsOut {
    /// The increment.
    pub tdata: Wire<Out, { INCREMENT_BITS }>,
    /// The number of its statistic.
    pub tid: Wire<Out, { ID_BITS }>,
    /// The increment is there.
    pub tvalid: Wire<Out, bool>,
    /// It is taken.
    pub tready: Wire<In, bool>,
}

/// Looks at one counter after the other, and reports by how much each has grown since it was last reported.
///
/// ```text
/// counters ==> multiplexer ==> now --> now - base ==> growth ==> m_axis_stat {number, increment}
///                 ^ number               ^                           |
///                 +---- step   RAM of what is reported <== base + increment
/// ```
///
/// # Contract
/// - **Behaviour**: an increment {number of the counter + `first_statistic`, growth} leaves for every counter that has grown.
///   Nothing is lost: what is not reported now is in a later increment, and a counter may wrap.
/// - **Rate**: a counter takes 8 clocks, and as long as its increment waits at the output.
/// - **Limits**: an increment says 2^24 - 1 at most, and the rest follows. Growth is lost only if it is 2^32 or more
///   between two reads.
/// - **Reset**: all counters count as reported with 0. Counters have no other reset: a restart looks
///   like a wrap.
#[module(shape: ReporterShape, index = address_width(shape.counters))]
pub struct StatisticsReporter {
    /// The counters side by side, counter 0 in the lowest bits.
    pub counters: Wire<In, { shape.counters * COUNTER_WIDTH }>,
    /// Increments.
    pub m_axis_stat: StatisticsOut,
    reported: Ram<{ RamStyle::Distributed }, { 1 << index }, { COUNTER_WIDTH }>,
    /// Entries that are not cleared yet, counted upwards; the highest bit says that all are.
    cleared: Reg<{ index + 1 }, Reset>,
    number: Reg<{ index }, Reset>,
    /// Step of the work on a counter, of eight.
    step: Reg<3, Reset>,
    /// Of each group of counters the one that the number chooses, side by side.
    group: Reg<{ shape.counters.div_ceil(GROUP) * COUNTER_WIDTH }>,
    increment: Reg<{ INCREMENT_BITS }>,
    valid: Reg<bool, Reset>,
}

/// Counters among which the first stage chooses.
const GROUP: usize = 8;

/// Step in which the increment is known: the counter has come through two stages of the multiplexer and the register
/// after it, and the growth has followed.
const INCREMENT: u64 = 5;
/// Step in which the increment is offered, until it is taken.
const OFFER: u64 = 6;
/// Last step.
const NEXT: u64 = 7;

/// The word of that number among words side by side.
#[kernel]
fn word_at(words: Sig, number: Sig) -> Sig {
    words.at(
        cat!(number, lit(0, COUNTER_WIDTH.ilog2() as usize)),
        COUNTER_WIDTH,
    )
}

#[kernel(
    StatisticsReporter {
        counters, m_axis_stat, reported, cleared, number, step, group, increment, valid, shape
    },
)]
fn update() {
    let (count, index) = (shape.counters, number.width());
    reported.read_addr = number;
    /// The value that was reported.
    let base = reg(reported.read_data);
    /// Reported values are cleared first.
    let ready = cleared[index];
    if ready {
        reported.write(
            valid && m_axis_stat.tready,
            number,
            base + increment.resize(COUNTER_WIDTH),
        );
    } else {
        reported.write(true, cleared.slice(0, index), lit(0, COUNTER_WIDTH));
        cleared = cleared + 1;
    }
    let (member, of_group) = number.split_at(GROUP.ilog2() as usize);
    /// The counter of this number, in two stages.
    for first in (0..count).step_by(GROUP) {
        let members = counters.slice(first * COUNTER_WIDTH, GROUP.min(count - first) * COUNTER_WIDTH);
        group.slice(first / GROUP * COUNTER_WIDTH, COUNTER_WIDTH) = word_at(members, member);
    }
    let now = reg(word_at(group, of_group));
    let growth = reg(now - base);
    let stays = step == OFFER && valid && !m_axis_stat.tready;
    if step == INCREMENT {
        let beyond = growth[INCREMENT_BITS..COUNTER_WIDTH].any();
        increment = growth[0..INCREMENT_BITS] | beyond.repeat(INCREMENT_BITS);
        valid = growth.any() && (number < shape.first_level || number >= shape.first_level + shape.levels);
    } else if m_axis_stat.tready {
        valid = false;
    }
    if ready && !stays {
        step = step + 1;
        if step == NEXT {
            number = if number == count - 1 {
                lit(0, index)
            } else {
                number + 1
            };
        }
    }
    m_axis_stat.tdata = increment;
    m_axis_stat.tid = number.resize(ID_BITS) + shape.first_statistic;
    m_axis_stat.tvalid = valid;
}
