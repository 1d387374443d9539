//! Sizes of a matching engine.

use spinneret_regmap::matching::WORD_BYTES;
use thiserror::Error;

/// Sizes of a matching engine, as its hardware was generated with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatcherParams {
    /// Width of the stream in bits: a power of two from 64 to 1024.
    pub data_width_bits: usize,
    /// Number of rulesets, 1 to 4: the tag has two bits for the ruleset.
    pub rulesets: usize,
    /// Rules of a ruleset with the end-of-message rule, which is the last: 2 to 8.
    pub rules_per_ruleset: usize,
    /// Bytes of a frame that must be inspected, 4 to 256; whole beats are.
    pub inspected_bytes: usize,
    /// Whether rules may count from the start of the IP payload, and the message id does.
    pub ip_relative: bool,
}

impl MatcherParams {
    /// The reference configuration: 512 bit, 4 rulesets of 3 rules and the end-of-message rule, words 0 to 31.
    pub const REFERENCE: Self = Self {
        data_width_bits: 512,
        rulesets: 4,
        rules_per_ruleset: 4,
        inspected_bytes: 66,
        ip_relative: false,
    };
    /// The sizes of the board configuration: as the reference configuration, with rules relative to the IP payload.
    pub const BOARD: Self = Self {
        ip_relative: true,
        ..Self::REFERENCE
    };

    /// Checks that hardware can be generated with these sizes.
    ///
    /// # Errors
    /// Names the first parameter that is out of its range, and the range.
    pub fn validate(&self) -> Result<(), ParamsError> {
        let power = self.data_width_bits.is_power_of_two();
        let check = |parameter, value, possible, wanted| {
            if possible {
                Ok(())
            } else {
                Err(ParamsError {
                    parameter,
                    value,
                    wanted,
                })
            }
        };
        let width = self.data_width_bits;
        check(
            "data width",
            width,
            power && (64..=1024).contains(&width),
            "a power of two from 64 to 1024",
        )?;
        check(
            "rulesets",
            self.rulesets,
            (1..=4).contains(&self.rulesets),
            "1 to 4",
        )?;
        let rules = self.rules_per_ruleset;
        check(
            "rules per ruleset",
            rules,
            (2..=8).contains(&rules),
            "2 to 8, the last being end of message",
        )?;
        let inspected = self.inspected_bytes;
        check(
            "inspected bytes",
            inspected,
            (4..=256).contains(&inspected),
            "4 to 256",
        )
    }

    /// Bytes of one beat of the stream.
    pub fn beat_bytes(&self) -> usize {
        self.data_width_bits / 8
    }

    /// Beats that a frame takes on the stream.
    pub fn beats(&self, frame_bytes: usize) -> usize {
        frame_bytes.div_ceil(self.beat_bytes())
    }

    /// Whole words of an IP payload that rules can look at, counted from its word 0, if the payload starts at an offset.
    pub fn inspected_payload_words(&self, payload_start: usize) -> usize {
        let inspected_bytes = self.inspected_words() * WORD_BYTES;
        inspected_bytes.saturating_sub(payload_start) / WORD_BYTES
    }

    /// Words of a frame that rules can look at, counted from word 0: those of the beats that are inspected.
    pub fn inspected_words(&self) -> usize {
        self.beats(self.inspected_bytes) * self.beat_bytes() / WORD_BYTES
    }
}

/// A size that no hardware can be generated with.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{parameter} {value} is not possible for the matcher: it must be {wanted}")]
pub struct ParamsError {
    /// Which size.
    pub parameter: &'static str,
    /// Its value.
    pub value: usize,
    /// The values that are possible.
    pub wanted: &'static str,
}
