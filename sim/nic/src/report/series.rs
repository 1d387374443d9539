//! Figures over time in little memory.

/// Points of a series at most; twice as many are thinned out to half.
const POINTS: usize = 1024;

/// Some values that follow one another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// When the first of them was.
    pub(crate) at_ps: u64,
    pub(crate) minimum: f64,
    pub(crate) maximum: f64,
    sum: f64,
    count: u64,
}

impl Point {
    pub(crate) fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    fn join(&mut self, other: &Self) {
        self.at_ps = self.at_ps.min(other.at_ps);
        self.minimum = self.minimum.min(other.minimum);
        self.maximum = self.maximum.max(other.maximum);
        self.sum += other.sum;
        self.count += other.count;
    }
}

/// Values over time; if there are many, minimum, mean and maximum of as many neighbours each.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    points: Vec<Point>,
    /// Values that make a point.
    each: u64,
}

impl Default for Series {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            each: 1,
        }
    }
}

impl Series {
    pub(crate) fn add(&mut self, at_ps: u64, value: f64) {
        let point = Point {
            at_ps,
            minimum: value,
            maximum: value,
            sum: value,
            count: 1,
        };
        if let Some(last) = self.points.last_mut().filter(|last| last.count < self.each) {
            return last.join(&point);
        }
        if self.points.len() == 2 * POINTS {
            self.thin();
        }
        self.points.push(point);
    }

    /// The points, by time.
    pub(crate) fn points(&self) -> &[Point] {
        &self.points
    }

    /// Whether every value is a point.
    pub(crate) fn is_exact(&self) -> bool {
        self.each == 1
    }

    pub(crate) fn maximum(&self) -> f64 {
        self.points.iter().map(|point| point.maximum).fold(0.0, f64::max)
    }

    fn thin(&mut self) {
        self.each *= 2;
        self.points = self
            .points
            .chunks(2)
            .map(|pair| {
                let mut joined = pair[0];
                pair[1..].iter().for_each(|other| joined.join(other));
                joined
            })
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_kept_as_they_are() {
        let mut series = Series::default();
        (0..2000).for_each(|number| series.add(number, number as f64));
        assert!(series.is_exact());
        assert_eq!(series.points().len(), 2000);
    }

    #[test]
    fn many_values_keep_their_extremes_sum_and_order() {
        let mut series = Series::default();
        let values = 100_000;
        (0..values).for_each(|number| series.add(number, (number * 7919 % values) as f64));
        let points = series.points();
        assert!((POINTS..=2 * POINTS).contains(&points.len()), "{}", points.len());
        assert!(points.is_sorted_by_key(|point| point.at_ps));
        assert_eq!(points.iter().map(|point| point.count).sum::<u64>(), values);
        assert_eq!(
            points.iter().map(|point| point.sum).sum::<f64>(),
            (values * (values - 1) / 2) as f64
        );
        assert_eq!(series.maximum(), (values - 1) as f64);
        assert!(
            points
                .iter()
                .all(|point| point.minimum <= point.mean() && point.mean() <= point.maximum)
        );
    }
}
