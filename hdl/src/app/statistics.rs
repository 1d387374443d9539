//! Reports counters to Corundum's statistics.

use crate::COUNTER_WIDTH;
use spinneret_verilog::prelude::*;
use std::ops::Range;

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
/// - **Behaviour**: an increment {number of the counter + `first_id`, growth} leaves for every counter that has grown.
///   Nothing is lost: what is not reported now is in a later increment, and a counter may wrap.
/// - **Rate**: a counter takes 8 clocks, and as long as its increment waits at the output.
/// - **Limits**: an increment says 2^24 - 1 at most, and the rest follows. Growth is lost only if it is 2^32 or more
///   between two reads.
/// - **Reset**: all counters count as reported with 0. Counters have no other reset: a restart looks
///   like a wrap.
/// # Parameters
/// `count` is more than eight. `levels` are the numbers of those that go up and down, which are not reported.
#[hardware(count: usize, levels: Range<usize>, first_id: u64, index = address_width(count))]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct StatisticsReporter {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// The counters side by side, counter 0 in the lowest bits.
    pub counters: Wire<In, { count * COUNTER_WIDTH }>,
    /// Increments.
    pub m_axis_stat: StatisticsOut,
    reported: Ram<{ RamStyle::Distributed }, { 1 << index }, { COUNTER_WIDTH }>,
    /// Entries that are not cleared yet, counted upwards; the highest bit says that all are.
    cleared: Reg<{ index + 1 }, Reset>,
    number: Reg<{ index }, Reset>,
    /// The operation on the counter in this clock, one of the constants below.
    step: Reg<3, Reset>,
    /// The counters in groups of eight, of which the number chooses one each.
    group: [Reg<{ COUNTER_WIDTH }>; count.div_ceil(GROUP)],
    now: Reg<{ COUNTER_WIDTH }>,
    /// The value that was reported.
    base: Reg<{ COUNTER_WIDTH }>,
    growth: Reg<{ COUNTER_WIDTH }>,
    increment: Reg<{ INCREMENT_BITS }>,
    valid: Reg<bool, Reset>,
    chosen: Wire<Local, { COUNTER_WIDTH }>,
    ready: Wire<Local, bool>,
    stays: Wire<Local, bool>,
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

impl Logic for StatisticsReporter {
    #[kernel]
    fn update(&mut self) {
        let count = self._count;
        let index = self.number.q.width();
        clocked!(self.clk, self.rst => self.cleared, self.number, self.step, self.valid);
        clocked!(self.clk => self.reported, self.group, self.now, self.base, self.growth, self.increment);
        /// Reported values are cleared first.
        self.ready.next = self.cleared.q.val().get_bit(index);
        self.reported.read_addr.next = self.number.q.val();
        if self.ready.val() {
            self.reported.write_enable.next = self.valid.q.val() && self.m_axis_stat.tready.val();
            self.reported.write_addr.next = self.number.q.val();
            self.reported.write_data.next = self.base.q.val() + self.increment.q.val().resize(COUNTER_WIDTH);
        } else {
            self.reported.write_enable.next = true;
            self.reported.write_addr.next = self.cleared.q.val().slice(0, index);
            self.reported.write_data.next = Word::zero(COUNTER_WIDTH);
            self.cleared.d.next = self.cleared.q.val() + 1;
        }

        /// The counter of this number, in two stages.
        for group in 0..count.div_ceil(GROUP) {
            for member in 0..GROUP.min(count - group * GROUP) {
                if self.number.q.val().slice(0, 3) == member as u64 {
                    self.group[group].d.next = self
                        .counters
                        .val()
                        .slice((group * GROUP + member) * COUNTER_WIDTH, COUNTER_WIDTH);
                }
            }
        }
        self.chosen.next = self.group[0].q.val();
        for group in 1..count.div_ceil(GROUP) {
            if self.number.q.val().slice(3, index - 3) == group as u64 {
                self.chosen.next = self.group[group].q.val();
            }
        }
        self.now.d.next = self.chosen.val();
        self.base.d.next = self.reported.read_data.val();
        self.growth.d.next = self.now.q.val() - self.base.q.val();
        if self.step.q.val() == INCREMENT {
            self.increment.d.next = self.growth.q.val().slice(0, INCREMENT_BITS)
                | fill(
                    self.growth
                        .q
                        .val()
                        .slice(INCREMENT_BITS, COUNTER_WIDTH - INCREMENT_BITS)
                        .any(),
                    INCREMENT_BITS,
                );
            self.valid.d.next = self.growth.q.val().any()
                && (self.number.q.val() < self._levels.start as u64
                    || self.number.q.val() >= self._levels.end as u64);
        } else if self.m_axis_stat.tready.val() {
            self.valid.d.next = false;
        }
        self.m_axis_stat.tdata.next = self.increment.q.val();
        self.m_axis_stat.tid.next = self.number.q.val().resize(ID_BITS) + self._first_id;
        self.m_axis_stat.tvalid.next = self.valid.q.val();

        self.stays.next = self.step.q.val() == OFFER && self.valid.q.val() && !self.m_axis_stat.tready.val();
        if self.ready.val() && !self.stays.val() {
            self.step.d.next = self.step.q.val() + 1;
            if self.step.q.val() == NEXT {
                self.number.d.next = self.number.q.val() + 1;
                if self.number.q.val() == (count - 1) as u64 {
                    self.number.d.next = 0.into();
                }
            }
        }
    }
}
