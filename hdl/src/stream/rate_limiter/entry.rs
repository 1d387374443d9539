//! The rate limiter in the catalog.

use super::{RateLimiterShape, SpinneretRateLimiter};
use crate::entry::{Entry, Parameters as _, Variant};

/// [`SpinneretRateLimiter`].
pub(crate) const ENTRY: Entry = Entry::shipped(
    RateLimiterShape::BLOCK,
    "passes frames at a rate that is set, none of them cut",
    RateLimiterShape::parameters,
    |values| {
        Ok(Box::new(SpinneretRateLimiter::new(RateLimiterShape::new(
            values,
        )?)))
    },
);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(ENTRY.name, &[]),
    // A period and a credit that a test gets to the end of, and a group that is not full.
    ENTRY.model(
        "spinneret_rate_limiter_small",
        &[
            ("data_width", 32),
            ("id_width", 1),
            ("dest_width", 1),
            ("user_width", 1),
            ("period", 8),
            ("credit_width", 7),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::ENTRY;
    use crate::entry::Config;

    #[test]
    fn refuses_widths_that_do_not_fit() {
        let refused = |settings: &[(&str, u64)]| {
            let values = ENTRY.with(Config::Reference, settings);
            (ENTRY.build)(&values).err().map(|error| error.to_string())
        };
        assert_eq!(
            refused(&[("data_width", 12)]).as_deref(),
            Some("spinneret_rate_limiter: data_width = 12 is not possible: it must be a multiple of 8")
        );
        assert_eq!(
            refused(&[("credit_width", 7)]).as_deref(),
            Some(
                "spinneret_rate_limiter: credit_width = 7 is not possible: it must be at least 8, for two beats"
            )
        );
        assert_eq!(refused(&[("data_width", 8), ("credit_width", 2)]), None);
    }
}
