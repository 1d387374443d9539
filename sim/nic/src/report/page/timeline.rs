//! Activity over time, in a bounded number of equal spans of simulated time.

use super::super::summary::Occupancy;
use serde::Serialize;

/// Spans at most; when time goes beyond the last one, neighbours are joined and each is twice as long.
const SPANS: usize = 240;
/// The first length of a span: a microsecond.
const FIRST_PS: u64 = 1_000_000;

/// Points of the NIC, in the order in which a packet passes them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// From the wire.
    WireIn,
    /// To a handler.
    Taken,
    /// Done with.
    Freed,
    /// From a handler or the host to the wire.
    Sent,
    /// To the host, without a match or passed by a handler.
    ToHost,
}

const STAGES: usize = 5;

/// One span.
#[derive(Clone, Debug, Default)]
struct Span {
    stages: [u64; STAGES],
    /// Picoseconds in which a handler ran, by HPU.
    busy_ps: Vec<u64>,
    queued: u64,
    slots_small: u64,
    slots_large: u64,
    latencies: u64,
    latency_sum_ps: u64,
    latency_max_ps: u64,
}

impl Span {
    fn join(&mut self, other: &Self) {
        for (sum, more) in self.stages.iter_mut().zip(other.stages) {
            *sum += more;
        }
        for (sum, more) in self.busy_ps.iter_mut().zip(&other.busy_ps) {
            *sum += more;
        }
        self.queued = self.queued.max(other.queued);
        self.slots_small = self.slots_small.max(other.slots_small);
        self.slots_large = self.slots_large.max(other.slots_large);
        self.latencies += other.latencies;
        self.latency_sum_ps = self.latency_sum_ps.saturating_add(other.latency_sum_ps);
        self.latency_max_ps = self.latency_max_ps.max(other.latency_max_ps);
    }
}

/// A run in spans.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    spans: Vec<Span>,
    each_ps: u64,
    hpus: usize,
}

impl Timeline {
    /// Of a NIC with that many HPUs.
    pub(crate) fn new(hpus: usize) -> Self {
        Self {
            spans: Vec::new(),
            each_ps: FIRST_PS,
            hpus,
        }
    }

    /// The span of a moment.
    fn at(&mut self, at_ps: u64) -> &mut Span {
        while at_ps / self.each_ps >= SPANS as u64 {
            self.each_ps *= 2;
            let pairs = self.spans.chunks(2).map(|pair| {
                let mut joined = pair[0].clone();
                pair[1..].iter().for_each(|other| joined.join(other));
                joined
            });
            self.spans = pairs.collect();
        }
        let place = (at_ps / self.each_ps) as usize;
        while self.spans.len() <= place {
            self.spans.push(Span {
                busy_ps: vec![0; self.hpus],
                ..Span::default()
            });
        }
        &mut self.spans[place]
    }

    /// A packet passed a point.
    pub(crate) fn passed(&mut self, at_ps: u64, stage: Stage) {
        self.at(at_ps).stages[stage as usize] += 1;
    }

    /// A packet was freed after this latency.
    pub(crate) fn latency(&mut self, at_ps: u64, latency_ps: u64) {
        let span = self.at(at_ps);
        span.latencies += 1;
        span.latency_sum_ps = span.latency_sum_ps.saturating_add(latency_ps);
        span.latency_max_ps = span.latency_max_ps.max(latency_ps);
    }

    /// A handler ran on an HPU.
    pub(crate) fn ran(&mut self, hpu: usize, [begun_ps, ended_ps]: [u64; 2]) {
        // First the end, so that the length of a span is what it stays.
        self.at(ended_ps);
        let mut from_ps = begun_ps;
        while from_ps < ended_ps {
            let until_ps = ended_ps.min((from_ps / self.each_ps + 1) * self.each_ps);
            if let Some(busy) = self.at(from_ps).busy_ps.get_mut(hpu) {
                *busy += until_ps - from_ps;
            }
            from_ps = until_ps;
        }
    }

    /// Fill levels of the NIC.
    pub(crate) fn occupancy(&mut self, at_ps: u64, occupancy: &Occupancy) {
        let span = self.at(at_ps);
        span.queued = span.queued.max(occupancy.queued);
        span.slots_small = span.slots_small.max(occupancy.slots_small);
        span.slots_large = span.slots_large.max(occupancy.slots_large);
    }

    /// As JSON of the page.
    pub(super) fn view(&self) -> View {
        let stage = |stage: Stage| self.column(|span| span.stages[stage as usize]);
        let percent = |busy_ps: u64| (100 * busy_ps / self.each_ps).min(100) as u8;
        View {
            span_ns: self.each_ps / 1000,
            wire_in: stage(Stage::WireIn),
            taken: stage(Stage::Taken),
            freed: stage(Stage::Freed),
            sent: stage(Stage::Sent),
            to_host: stage(Stage::ToHost),
            queued: self.column(|span| span.queued),
            slots_small: self.column(|span| span.slots_small),
            slots_large: self.column(|span| span.slots_large),
            latency_mean_ns: self.latencies(|span| span.latency_sum_ps / span.latencies.max(1)),
            latency_max_ns: self.latencies(|span| span.latency_max_ps),
            busy_percent: (0..self.hpus)
                .map(|hpu| self.spans.iter().map(|span| percent(span.busy_ps[hpu])).collect())
                .collect(),
        }
    }

    /// In nanoseconds, where there are any.
    fn latencies(&self, picoseconds: impl Fn(&Span) -> u64) -> Vec<Option<u64>> {
        let nanoseconds = |span: &Span| (span.latencies > 0).then(|| picoseconds(span) / 1000);
        self.spans.iter().map(nanoseconds).collect()
    }

    fn column(&self, value: impl Fn(&Span) -> u64) -> Vec<u64> {
        self.spans.iter().map(value).collect()
    }
}

/// A timeline as the page has it: one value for each span.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct View {
    /// Length of a span in nanoseconds.
    pub(super) span_ns: u64,
    pub(super) wire_in: Vec<u64>,
    pub(super) taken: Vec<u64>,
    pub(super) freed: Vec<u64>,
    pub(super) sent: Vec<u64>,
    pub(super) to_host: Vec<u64>,
    /// The most packets that waited at once.
    pub(super) queued: Vec<u64>,
    pub(super) slots_small: Vec<u64>,
    pub(super) slots_large: Vec<u64>,
    /// Of packets that were freed in it.
    pub(super) latency_mean_ns: Vec<Option<u64>>,
    pub(super) latency_max_ns: Vec<Option<u64>>,
    /// By HPU.
    pub(super) busy_percent: Vec<Vec<u8>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_handler_is_counted_in_each_span_it_ran_in() {
        let mut timeline = Timeline::new(2);
        timeline.ran(1, [FIRST_PS / 2, 2 * FIRST_PS + FIRST_PS / 4]);
        assert_eq!(timeline.view().busy_percent, [vec![0, 0, 0], vec![50, 100, 25]]);
    }

    #[test]
    fn handlers_of_unknown_hpus_are_ignored() {
        let mut timeline = Timeline::new(1);
        timeline.ran(7, [0, FIRST_PS]);
        assert_eq!(timeline.view().busy_percent, [vec![0, 0]]);
    }

    proptest! {
        #[test]
        fn joining_spans_loses_nothing(
            events in proptest::collection::vec((0..1u64 << 40, 0..1u64 << 30), 1..200)
        ) {
            let mut timeline = Timeline::new(1);
            let mut most = 0;
            for (at_ps, length_ps) in &events {
                timeline.passed(*at_ps, Stage::WireIn);
                timeline.latency(*at_ps, *length_ps);
                timeline.ran(0, [*at_ps, at_ps + length_ps]);
                most = most.max(length_ps / 1000);
            }
            let view = timeline.view();
            prop_assert!(view.wire_in.len() <= SPANS);
            prop_assert_eq!(view.wire_in.iter().sum::<u64>(), events.len() as u64);
            prop_assert_eq!(view.latency_max_ns.iter().flatten().max(), Some(&most));
            let busy: u64 = timeline.spans.iter().map(|span| span.busy_ps[0]).sum();
            prop_assert_eq!(busy, events.iter().map(|(_, length_ps)| length_ps).sum::<u64>());
        }
    }
}
