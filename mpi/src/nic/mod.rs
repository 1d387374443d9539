//! Layouts as handlers on the NIC read them.

use crate::Layout;
use crate::layout::{Level, Shape, Strided, Table};
use memory::{LEVEL_WORDS, MAX_SEGMENTS, MOST_BYTES, RUN_BYTES, TABLE, request};

pub mod memory;

pub use memory::c_header;

/// Runs in a part of the index of a table, about.
const RUNS_OF_A_PART: u64 = 8;

/// Why a layout cannot be the NIC's. The host can still unpack it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NicLayoutError {
    /// The message is too long.
    #[error(
        "a message of {bytes} B is too long for the NIC, which takes {MOST_BYTES} B less 1; it is received on the host"
    )]
    TooLong {
        /// Its bytes.
        bytes: u64,
    },
    /// It reaches too far.
    #[error(
        "the type reaches from byte {first} to {end}, and the NIC takes 2 GiB to both sides; it is received on the host"
    )]
    TooFar {
        /// The lowest byte.
        first: i64,
        /// The byte after the highest.
        end: i64,
    },
    /// Segments are too short or too long for the message.
    #[error(
        "a message of {bytes} B has more than {MAX_SEGMENTS} segments of {unit} B; use longer ones, up to 1462 B"
    )]
    TooManySegments {
        /// Bytes of the message.
        bytes: u64,
        /// Bytes of a segment.
        unit: u32,
    },
}

/// Division by a number that is known beforehand, of numbers below [`MOST_BYTES`].
///
/// With `l` the bits of `d - 1` and `m` = 2^(26 + l) / d, rounded up, `m * d` is at most `d` - 1, so less than 2^l, above
/// 2^(26 + l). So for `n` below 2^26, `n * m / 2^(26 + l)` is less than 1 / d above `n / d`, and has the same integer part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    /// `m`; 2^27 at most.
    pub reciprocal: u32,
    /// `l`.
    pub shift: u32,
}

impl Divisor {
    /// The divisor for a number from 1 to [`MOST_BYTES`].
    pub fn new(number: u32) -> Self {
        let number = u64::from(number).clamp(1, MOST_BYTES);
        let shift = u64::BITS - (number - 1).leading_zeros();
        Self {
            reciprocal: (1_u64 << (26 + shift)).div_ceil(number) as u32,
            shift,
        }
    }

    /// As handlers divide.
    pub fn divide(self, number: u32) -> u32 {
        let product = u64::from(number << 6) * u64::from(self.reciprocal);
        (product >> 32 >> self.shift) as u32
    }
}

/// How a message is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// Bytes of the message.
    pub bytes: u32,
    /// Bytes of each segment but the last.
    pub unit: u32,
}

impl Segments {
    /// Cuts a message.
    ///
    /// # Errors
    /// If it is too long, or there are too many.
    pub fn new(bytes: u64, unit: u32) -> Result<Self, NicLayoutError> {
        let length = u32::try_from(bytes).ok().filter(|_| bytes < MOST_BYTES);
        let length = length.ok_or(NicLayoutError::TooLong { bytes })?;
        if !(1..=1462).contains(&unit) || bytes.div_ceil(unit.into()) > MAX_SEGMENTS as u64 {
            return Err(NicLayoutError::TooManySegments { bytes, unit });
        }
        Ok(Self { bytes: length, unit })
    }

    /// Writes them into the words of a request.
    pub fn put(self, words: &mut [u32; request::SIZE / 4]) {
        let divisor = Divisor::new(self.unit);
        words[request::LENGTH / 4] = self.bytes;
        words[request::UNIT / 4] = self.unit;
        words[request::UNIT_RECIPROCAL / 4] = divisor.reciprocal;
        words[request::UNIT_SHIFT / 4] = divisor.shift;
        words[request::LAST / 4] = self.bytes.div_ceil(self.unit).saturating_sub(1);
    }
}

/// A layout in the NIC's form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NicLayout {
    kind: u32,
    run: u32,
    /// Where the first run is, modulo 2^32.
    start: u32,
    levels: Vec<[u32; LEVEL_WORDS]>,
    table: Vec<[u32; 2]>,
    index: Vec<u32>,
    index_shift: u32,
    extent: u32,
}

impl NicLayout {
    /// Compiles a layout.
    ///
    /// # Errors
    /// If it is too large for the NIC's numbers.
    pub fn new(layout: &Layout) -> Result<Self, NicLayoutError> {
        let (bytes, first, end) = (layout.bytes(), layout.first(), layout.end());
        if bytes >= MOST_BYTES {
            return Err(NicLayoutError::TooLong { bytes });
        }
        if i32::try_from(first).is_err() || i32::try_from(end).is_err() {
            return Err(NicLayoutError::TooFar { first, end });
        }
        Ok(match layout.shape() {
            Shape::Empty => Self::plain(0, 0),
            Shape::Strided(strided) => Self::strided(strided),
            Shape::Table(table) => Self::table(table),
        })
    }

    /// The layout of `bytes` bytes in one piece.
    pub fn contiguous(bytes: u32) -> Self {
        Self::plain(bytes, 0)
    }

    fn plain(run: u32, start: u32) -> Self {
        Self {
            kind: 0,
            run,
            start,
            levels: Vec::new(),
            table: Vec::new(),
            index: Vec::new(),
            index_shift: 0,
            extent: 0,
        }
    }

    fn strided(strided: &Strided) -> Self {
        let mut form = Self::plain(strided.run.bytes as u32, strided.run.start as u32);
        // From the first run of all levels below to the last one, modulo 2^32.
        let mut below = 0_u32;
        for &Level { count, stride } in &strided.levels {
            let (count, stride) = (count as u32, stride as u32);
            let divisor = Divisor::new(count);
            let step = stride.wrapping_sub(below);
            form.levels
                .push([count, stride, divisor.reciprocal, divisor.shift, step]);
            below = below.wrapping_add((count - 1).wrapping_mul(stride));
        }
        form.kind = form.levels.len() as u32;
        form
    }

    fn table(table: &Table) -> Self {
        let mut form = Self::plain(table.element_bytes() as u32, 0);
        let mut before = 0;
        for run in table.runs() {
            form.table.push([before, run.start as u32]);
            before += run.bytes as u32;
        }
        form.table.push([before, 0]);
        let part = (table.element_bytes() * RUNS_OF_A_PART / table.runs().len() as u64).max(1);
        form.index_shift = part.ilog2();
        let mut run = 0;
        for start in (0..=u64::from(before)).step_by(1 << form.index_shift) {
            while u64::from(form.table[run + 1][0]) <= start && run + 2 < form.table.len() {
                run += 1;
            }
            form.index.push(run as u32);
        }
        form.index.push(table.runs().len() as u32 - 1);
        form.extent = table.extent() as u32;
        form.kind = TABLE;
        form
    }

    /// Bytes of handler memory that it needs in addition to the request.
    pub fn table_bytes(&self) -> usize {
        self.table.len() * RUN_BYTES + self.index.len() * 4
    }

    /// The words of its table.
    pub fn table_words(&self) -> Vec<u32> {
        let mut words = self.table.concat();
        words.extend(&self.index);
        words
    }

    /// Writes it into the words of a request, with the place of its table in handler memory and of the buffer in host memory.
    pub fn put(&self, words: &mut [u32; request::SIZE / 4], table: u32, buffer: u32) {
        let divisor = Divisor::new(self.run);
        words[request::BASE / 4] = buffer.wrapping_add(self.start);
        words[request::KIND / 4] = self.kind;
        words[request::RUN / 4] = self.run;
        words[request::RUN_RECIPROCAL / 4] = divisor.reciprocal;
        words[request::RUN_SHIFT / 4] = divisor.shift;
        if self.kind == TABLE {
            words[request::TABLE / 4] = table;
            words[request::RUNS / 4] = self.table.len() as u32 - 1;
            words[request::INDEX / 4] = table + (self.table.len() * RUN_BYTES) as u32;
            words[request::INDEX_SHIFT / 4] = self.index_shift;
            words[request::EXTENT / 4] = self.extent;
        }
        for (number, level) in self.levels.iter().enumerate() {
            words[request::LEVEL / 4 + number * LEVEL_WORDS..][..LEVEL_WORDS].copy_from_slice(level);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Divisor;
    use proptest::prelude::{prop_assert_eq, proptest};

    proptest! {
        #[test]
        fn reciprocals_divide(number in 0..1_u32 << 26, divisor in 1..=1_u32 << 26, small in 1..2000_u32) {
            for divisor in [divisor, small] {
                let quotient = |number| Divisor::new(divisor).divide(number);
                prop_assert_eq!(quotient(number), number / divisor);
                let multiple = number / divisor * divisor;
                prop_assert_eq!(quotient(multiple), number / divisor);
                prop_assert_eq!(quotient(multiple.saturating_sub(1)), multiple.saturating_sub(1) / divisor);
            }
        }
    }
}
