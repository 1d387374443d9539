//! Configuration of a sender, its steps, errors and statistics, and its timers.

use crate::frame::{HEADERS_BYTES, MIN_FRAME_BYTES};
use crate::wire::{Header, MAX_PAYLOAD};
use std::fmt;
use std::ops::Range;
use std::time::Duration;
use thiserror::Error;

/// Which segments ask to be acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// None: there is no confirmation of delivery.
    None,
    /// The first and the last. All are retransmitted if the last is not acknowledged.
    Message,
    /// All, with at most this many unacknowledged. Only lost segments are retransmitted.
    Window(u16),
}

/// Configuration of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderConfig {
    /// Which segments ask to be acknowledged.
    pub mode: Mode,
    /// Payload of all segments but the last, 1 to [`MAX_PAYLOAD`].
    pub segment_bytes: usize,
    /// Maximum rate in bits per second, counted as Ethernet frames without their check sequence.
    pub rate_bits_per_s: Option<u64>,
    /// Timeout for an acknowledgement before the first round-trip time is measured.
    pub initial_timeout: Duration,
    /// Minimum of the timeout beyond the smoothed round-trip time.
    pub min_timeout: Duration,
    /// Maximum timeout for an acknowledgement.
    pub max_timeout: Duration,
    /// Time without any progress after which the sender gives up.
    pub give_up: Duration,
    /// Whether unacknowledged segments are sent again. If not, the message fails `give_up` after its last progress.
    pub retransmit: bool,
}

impl Default for SenderConfig {
    /// Full segments over a local network, 64 unacknowledged.
    fn default() -> Self {
        Self {
            mode: Mode::Window(64),
            segment_bytes: MAX_PAYLOAD,
            rate_bits_per_s: None,
            initial_timeout: Duration::from_millis(50),
            min_timeout: Duration::from_millis(5),
            max_timeout: Duration::from_secs(1),
            give_up: Duration::from_secs(5),
            retransmit: true,
        }
    }
}

/// A message cannot be sent like this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SenderConfigError {
    /// No payload, or more than fits.
    #[error("segments cannot have {0} bytes of payload: set `segment_bytes` to 1 to {MAX_PAYLOAD}")]
    SegmentBytes(usize),
    /// A window of nothing.
    #[error("a window of 0 segments sends nothing: set it to 1 or more")]
    Window,
    /// A rate of nothing.
    #[error("at 0 bits per second nothing is sent: leave `rate_bits_per_s` out for no limit")]
    Rate,
    /// Timeouts that are 0 or contradict each other.
    #[error(
        "timeouts contradict each other: `initial_timeout` ({initial:?}) and `min_timeout` ({min:?}) have to be above 0 \
         and at most `max_timeout` ({max:?})"
    )]
    Timeouts {
        /// The initial one.
        initial: Duration,
        /// The shortest.
        min: Duration,
        /// The longest.
        max: Duration,
    },
    /// Offsets have 32 bits.
    #[error(
        "a message of {0} bytes is too long: SLMP carries less than 4 GiB, so send it as several messages"
    )]
    TooLong(u64),
}

impl SenderConfig {
    /// The number of segments of a message of `length` bytes.
    pub(super) fn segments(&self, length: u64) -> Result<u32, SenderConfigError> {
        if !(1..=MAX_PAYLOAD).contains(&self.segment_bytes) {
            return Err(SenderConfigError::SegmentBytes(self.segment_bytes));
        }
        if self.mode == Mode::Window(0) {
            return Err(SenderConfigError::Window);
        }
        if self.rate_bits_per_s == Some(0) {
            return Err(SenderConfigError::Rate);
        }
        let (initial, min, max) = (self.initial_timeout, self.min_timeout, self.max_timeout);
        if initial.is_zero() || min.is_zero() || initial.max(min) > max {
            return Err(SenderConfigError::Timeouts { initial, min, max });
        }
        let length = u32::try_from(length).map_err(|_| SenderConfigError::TooLong(length))?;
        // An empty message is one empty segment.
        Ok(length.div_ceil(self.segment_bytes as u32).max(1))
    }
}

/// A segment to send: the header, and behind it a part of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The header.
    pub header: Header,
    /// Which bytes of the message follow it.
    pub range: Range<usize>,
}

/// The next step of the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Step {
    /// Send this, and poll again.
    Send(Segment),
    /// Poll again at this time, or after an acknowledgement.
    Wait(Duration),
    /// The message is delivered, or, without acknowledgements, sent.
    Done,
    /// It will not be delivered.
    Failed(SendError),
}

/// The sender gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "gave up after {after:?} without progress, with {acknowledged} of {awaited} acknowledgements: {cause}"
)]
pub struct SendError {
    /// The time that it waited for progress.
    pub after: Duration,
    /// Segments that were acknowledged.
    pub acknowledged: u32,
    /// Segments with a requested acknowledgement.
    pub awaited: u32,
    /// The likely cause.
    pub cause: Silence,
}

/// The likely reason for missing acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// There was no acknowledgement at all.
    NoAnswer,
    /// Only the one of the whole message is missing.
    NotDelivered,
    /// They stopped in the middle.
    Stopped,
    /// Some are missing, and segments are sent only once.
    Lost,
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAnswer => {
                "nothing ever answered; check that a receiver runs there, has room, and is reached at UDP port 9330"
            }
            Self::NotDelivered => {
                "all but the end was acknowledged, so the receiver has lost a part of the message (was it restarted?) \
                 or could not store it; send the message again"
            }
            Self::Stopped => {
                "the receiver or the network stopped in the middle; check that the receiver still runs and has memory \
                 for the whole message"
            }
            Self::Lost => {
                "a segment or its acknowledgement was lost, and `retransmit` is off; send the message again or more slowly"
            }
        })
    }
}

/// Statistics of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Segments sent, including retransmissions.
    pub segments: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Acknowledgements of segments that were not acknowledged before.
    pub acks: u64,
    /// Acknowledgements of segments that were acknowledged before.
    pub duplicate_acks: u64,
    /// Acknowledgements that answer no segment of this message.
    pub strange_acks: u64,
    /// Retransmissions after a timeout.
    pub timeouts: u64,
    /// Retransmissions because later segments were acknowledged.
    pub overtaken: u64,
    /// Bytes of the message that are known to have arrived.
    pub acknowledged_bytes: u64,
    /// Smoothed round-trip time, once there is one.
    pub smoothed_round_trip: Option<Duration>,
}

/// Round-trip time as measured, and the timeout that follows from it.
#[derive(Clone, Debug)]
pub(super) struct Timeout {
    min: Duration,
    max: Duration,
    /// Smoothed round-trip time and its mean deviation.
    measured: Option<(Duration, Duration)>,
    current: Duration,
    backed_off_at: Option<Duration>,
    /// How many times the usual time beyond a round trip an overtaken segment may take, and when this has grown.
    allowance: u32,
    allowed_at: Duration,
}

/// The greatest allowance.
const MAX_ALLOWANCE: u32 = 4;

impl Timeout {
    pub(super) fn new(config: &SenderConfig) -> Self {
        Self {
            min: config.min_timeout,
            max: config.max_timeout,
            measured: None,
            current: config.initial_timeout,
            backed_off_at: None,
            allowance: 1,
            allowed_at: Duration::ZERO,
        }
    }

    pub(super) fn current(&self) -> Duration {
        self.current
    }

    pub(super) fn smoothed(&self) -> Option<Duration> {
        self.measured.map(|(smoothed, _)| smoothed)
    }

    /// How long after its transmission an overtaken segment counts as lost, once a round trip was measured. This is more than one
    /// round trip, because handlers on many cores finish out of order.
    pub(super) fn patience(&self) -> Option<Duration> {
        self.measured
            .map(|(smoothed, deviation)| smoothed + (smoothed / 2 + deviation * 2) * self.allowance)
    }

    /// Both transmissions of a segment were acknowledged, so the second one was too early. Overtaken segments get more time, once in a
    /// round trip (RFC 8985, section 6.2, does the same after a DSACK).
    pub(super) fn was_too_early(&mut self, now: Duration) {
        let Some((smoothed, _)) = self.measured else {
            return;
        };
        if now >= self.allowed_at + smoothed && self.allowance < MAX_ALLOWANCE {
            self.allowance += 1;
            self.allowed_at = now;
        }
    }

    /// Adds the round-trip time of a segment that was sent once, and ends a back-off. Retransmitted segments do not count (Karn's
    /// rule), because an acknowledgement does not identify the transmission.
    pub(super) fn measure(&mut self, sample: Duration) {
        let (smoothed, deviation) = match self.measured {
            None => (sample, sample / 2),
            Some((smoothed, deviation)) => (
                (smoothed * 7 + sample) / 8,
                (deviation * 3 + smoothed.abs_diff(sample)) / 4,
            ),
        };
        self.measured = Some((smoothed, deviation));
        // A link with a constant round-trip time still needs a margin, as in Linux.
        self.current = (smoothed + (deviation * 4).max(self.min)).min(self.max);
    }

    /// Doubles the timeout, because a segment was not acknowledged in time.
    ///
    /// Ignores segments that were sent before the last doubling, because they were lost together.
    pub(super) fn back_off(&mut self, sent_at: Duration, now: Duration) {
        if self.backed_off_at.is_none_or(|last| sent_at >= last) {
            self.current = self.current.saturating_mul(2).min(self.max);
            self.backed_off_at = Some(now);
        }
    }
}

/// Maximum burst in segments after a late wake-up.
const BURST: u32 = 16;

/// When the next segment may be sent.
#[derive(Clone, Debug)]
pub(super) struct Pacer {
    rate_bits_per_s: Option<u64>,
    ready_at: Duration,
    has_started: bool,
}

impl Pacer {
    pub(super) fn new(rate_bits_per_s: Option<u64>) -> Self {
        Self {
            rate_bits_per_s,
            ready_at: Duration::ZERO,
            has_started: false,
        }
    }

    /// When the next segment may be sent.
    pub(super) fn ready_at(&self) -> Duration {
        self.ready_at
    }

    /// Notes that a segment with a payload was sent.
    pub(super) fn sent(&mut self, now: Duration, payload_bytes: usize) {
        let Some(rate) = self.rate_bits_per_s else {
            return;
        };
        let bits = 8 * (HEADERS_BYTES + payload_bytes).max(MIN_FRAME_BYTES) as u128;
        let nanoseconds = (bits * 1_000_000_000).div_ceil(rate.into());
        let gap = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
        let catch_up = if self.has_started {
            gap.saturating_mul(BURST)
        } else {
            Duration::ZERO
        };
        self.has_started = true;
        self.ready_at = self
            .ready_at
            .max(now.saturating_sub(catch_up))
            .saturating_add(gap);
    }
}
