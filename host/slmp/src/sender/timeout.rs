//! How long to wait for an acknowledgement (RFC 6298).

use super::SenderConfig;
use std::time::Duration;

/// Round-trip time as measured, and the timeout that follows from it.
#[derive(Clone, Debug)]
pub(super) struct Timeout {
    min: Duration,
    max: Duration,
    /// Smoothed round-trip time and its mean deviation.
    measured: Option<(Duration, Duration)>,
    current: Duration,
    backed_off_at: Option<Duration>,
}

impl Timeout {
    pub(super) fn new(config: &SenderConfig) -> Self {
        Self {
            min: config.min_timeout,
            max: config.max_timeout,
            measured: None,
            current: config.initial_timeout,
            backed_off_at: None,
        }
    }

    pub(super) fn current(&self) -> Duration {
        self.current
    }

    pub(super) fn smoothed(&self) -> Option<Duration> {
        self.measured.map(|(smoothed, _)| smoothed)
    }

    /// How long after it was sent a segment counts as lost that others have overtaken, once a round trip was measured. It is
    /// more than one round trip, because handlers on many cores finish in another order than they begin.
    pub(super) fn patience(&self) -> Option<Duration> {
        self.measured
            .map(|(smoothed, deviation)| smoothed + smoothed / 2 + deviation * 2)
    }

    /// Takes the round-trip time of a segment that was sent once: Karn's rule, because an acknowledgement does not say
    /// which transmission it answers. This ends a back-off.
    pub(super) fn measure(&mut self, sample: Duration) {
        let (smoothed, deviation) = match self.measured {
            None => (sample, sample / 2),
            Some((smoothed, deviation)) => (
                (smoothed * 7 + sample) / 8,
                (deviation * 3 + smoothed.abs_diff(sample)) / 4,
            ),
        };
        self.measured = Some((smoothed, deviation));
        // A link whose round-trip time never varies still needs some air, as in Linux.
        self.current = (smoothed + (deviation * 4).max(self.min)).min(self.max);
    }

    /// Doubles the timeout, because a segment was not acknowledged in time.
    ///
    /// Segments that were sent before the last doubling say nothing new: they were lost together.
    pub(super) fn back_off(&mut self, sent_at: Duration, now: Duration) {
        if self.backed_off_at.is_none_or(|last| sent_at >= last) {
            self.current = self.current.saturating_mul(2).min(self.max);
            self.backed_off_at = Some(now);
        }
    }
}
