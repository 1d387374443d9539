//! Distributions of times in little memory.

/// Buckets of each power of two; a value is known to one part in so many.
const PER_DOUBLING: u64 = 128;

/// How often values came, so exact that every percentile is within half a percent; minimum, maximum and mean are exact, and
/// values below 256 as well.
///
/// It grows with the number of doublings, not with the number of values: 64 KiB at most.
///
/// ```
/// let mut cycles = spinneret_nic::report::Histogram::default();
/// (1..=1000).for_each(|value| cycles.add(value));
/// assert_eq!(cycles.maximum(), Some(1000));
/// assert!(cycles.percentile(50.0).unwrap().abs_diff(500) <= 5);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    sum: u128,
    minimum: u64,
    maximum: u64,
}

impl Histogram {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        let bucket = bucket(value);
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.minimum = if self.count == 0 {
            value
        } else {
            self.minimum.min(value)
        };
        self.maximum = self.maximum.max(value);
        self.count += 1;
        self.sum += u128::from(value);
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The smallest value.
    pub fn minimum(&self) -> Option<u64> {
        (self.count > 0).then_some(self.minimum)
    }

    /// The largest value.
    pub fn maximum(&self) -> Option<u64> {
        (self.count > 0).then_some(self.maximum)
    }

    /// The mean of all values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The smallest value that is not exceeded by `percent` of all values, 0 to 100.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let share = percent.clamp(0.0, 100.0) / 100.0;
        let rank = ((share * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Some(middle(bucket).clamp(self.minimum, self.maximum));
            }
        }
        Some(self.maximum)
    }
}

/// Values below two doublings have buckets of their own; above, the highest bits of a value choose.
fn bucket(value: u64) -> usize {
    let shift = (value / PER_DOUBLING).checked_ilog2().unwrap_or(0);
    (u64::from(shift) * PER_DOUBLING + (value >> shift)) as usize
}

/// The value in the middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let shift = (bucket / PER_DOUBLING).saturating_sub(1);
    let low = (bucket - shift * PER_DOUBLING) << shift;
    low + (1 << shift >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_has_no_percentiles() {
        let empty = Histogram::default();
        assert_eq!(
            (empty.percentile(50.0), empty.minimum(), empty.maximum()),
            (None, None, None)
        );
        assert_eq!(empty.mean(), None);
    }

    #[test]
    fn the_largest_values_have_a_bucket() {
        let mut one = Histogram::default();
        one.add(u64::MAX);
        assert_eq!(one.percentile(100.0), Some(u64::MAX));
        assert!(one.buckets.len() * 8 <= 64 << 10, "{} buckets", one.buckets.len());
    }

    proptest! {
        #[test]
        fn every_value_lies_near_the_middle_of_its_bucket(value: u64, shift in 0..64) {
            let value = value >> shift;
            let error = middle(bucket(value)).abs_diff(value);
            prop_assert!(error <= value / 200, "{value} is off by {error}");
        }

        #[test]
        fn percentiles_are_within_one_percent(
            mut values in prop::collection::vec((any::<u64>(), 0..64).prop_map(|(value, shift)| value >> shift), 1..300),
            percent in 0.0..=100.0_f64,
        ) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|value| histogram.add(*value));
            values.sort_unstable();
            let rank = (percent / 100.0 * values.len() as f64).ceil() as usize;
            let exact = values[rank.clamp(1, values.len()) - 1];
            let found = histogram.percentile(percent).unwrap();
            prop_assert!(found.abs_diff(exact) <= exact / 100, "{found} for {exact}");
            prop_assert_eq!(histogram.minimum(), values.first().copied());
            prop_assert_eq!(histogram.maximum(), values.last().copied());
        }
    }
}
