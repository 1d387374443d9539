//! How a sender sends, and what it refuses.

use crate::wire::MAX_PAYLOAD;
use std::time::Duration;
use thiserror::Error;

/// Which segments ask to be acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// None: nothing is known of what arrives.
    None,
    /// The first and the last. All are sent again if the last is not acknowledged.
    Message,
    /// All, with at most this many unacknowledged. Only lost ones are sent again.
    Window(u16),
}

/// How a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderConfig {
    /// Which segments ask to be acknowledged.
    pub mode: Mode,
    /// Payload of all segments but the last, 1 to [`MAX_PAYLOAD`].
    pub segment_bytes: usize,
    /// Most bits per second, counted as Ethernet frames without their check sequence.
    pub rate_bits_per_s: Option<u64>,
    /// Time to wait for an acknowledgement before the first was measured.
    pub initial_timeout: Duration,
    /// What is waited at least beyond the smoothed round-trip time.
    pub min_timeout: Duration,
    /// Longest time to wait for an acknowledgement, whatever was measured, and however often it did not come.
    pub max_timeout: Duration,
    /// Time without any progress after which the sender gives up.
    pub give_up: Duration,
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
