//! A page of host memory: its contents, the expected contents, and which bytes were written.

/// Bytes of a page; no descriptor leaves the page of its first byte.
pub(super) const PAGE_BYTES: u64 = 4096;

const BYTES: usize = PAGE_BYTES as usize;

/// A page of host memory.
#[derive(Clone, Debug)]
pub(super) struct Page {
    /// The contents.
    actual: [u8; BYTES],
    /// The expected contents, if anything was written or expected since the last comparison.
    compared: Option<Box<Compared>>,
    /// Whether it may differ from the expected contents.
    pub(super) touched: bool,
}

/// The expected contents of a page.
#[derive(Clone, Debug)]
struct Compared {
    /// The expected contents.
    wanted: [u8; BYTES],
    /// Which bytes the DMA has written since the last comparison.
    written: [bool; BYTES],
    /// Which bytes the DMA has to write until the next comparison.
    expected: [bool; BYTES],
}

/// How a byte is not as it has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// It was not written.
    Missing {
        /// The expected value.
        wanted: u8,
    },
    /// It was written unexpectedly.
    Unexpected {
        /// The value that was written.
        found: u8,
    },
    /// It was written with another value.
    Different {
        /// The value that was written.
        found: u8,
        /// The expected value.
        wanted: u8,
    },
}

impl Page {
    /// The page with that number, as the host has left it.
    pub(super) fn new(number: u64, seed: u64) -> Box<Self> {
        let mut actual = [0; BYTES];
        let first = number * (PAGE_BYTES / 8);
        for (index, bytes) in actual.chunks_exact_mut(8).enumerate() {
            bytes.copy_from_slice(&pattern(first + index as u64, seed));
        }
        Self::of(actual)
    }

    /// A page of zeros.
    pub(super) fn zeros() -> Box<Self> {
        Self::of([0; BYTES])
    }

    fn of(actual: [u8; BYTES]) -> Box<Self> {
        Box::new(Self {
            actual,
            compared: None,
            touched: false,
        })
    }

    fn compared(&mut self) -> &mut Compared {
        self.compared.get_or_insert_with(|| {
            Box::new(Compared {
                wanted: self.actual,
                written: [false; BYTES],
                expected: [false; BYTES],
            })
        })
    }

    pub(super) fn read(&self, offset: usize, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.actual[offset..offset + bytes.len()]);
    }

    /// The host writes.
    pub(super) fn set(&mut self, offset: usize, bytes: &[u8]) {
        self.actual[offset..offset + bytes.len()].copy_from_slice(bytes);
        if let Some(compared) = &mut self.compared {
            compared.wanted[offset..offset + bytes.len()].copy_from_slice(bytes);
        }
    }

    /// The DMA writes.
    pub(super) fn write(&mut self, offset: usize, bytes: &[u8]) {
        self.compared().written[offset..offset + bytes.len()].fill(true);
        self.actual[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    /// Records bytes that the DMA has to write.
    pub(super) fn expect(&mut self, offset: usize, bytes: &[u8]) {
        let compared = self.compared();
        compared.wanted[offset..offset + bytes.len()].copy_from_slice(bytes);
        compared.expected[offset..offset + bytes.len()].fill(true);
    }

    /// The contents are the expected ones from now on.
    pub(super) fn adopt(&mut self) {
        self.compared = None;
    }

    /// Whether the DMA has written what it had to, and nothing else.
    pub(super) fn is_right(&self) -> bool {
        self.compared
            .as_ref()
            .is_none_or(|compared| self.actual == compared.wanted && compared.written == compared.expected)
    }

    /// The wrong bytes, each with its offset.
    pub(super) fn wrong(&self) -> impl Iterator<Item = (usize, Wrong)> {
        let all = self
            .compared
            .iter()
            .flat_map(|compared| (0..BYTES).map(move |offset| (offset, compared)));
        all.filter_map(|(offset, compared)| Some((offset, self.wrong_at(offset, compared)?)))
    }

    fn wrong_at(&self, offset: usize, compared: &Compared) -> Option<Wrong> {
        let (found, wanted) = (self.actual[offset], compared.wanted[offset]);
        match (compared.written[offset], compared.expected[offset]) {
            (false, true) => Some(Wrong::Missing { wanted }),
            (true, false) => Some(Wrong::Unexpected { found }),
            (true, true) if found != wanted => Some(Wrong::Different { found, wanted }),
            _ => None,
        }
    }
}

/// Eight bytes that depend on their address and a seed alone, by the splitmix64 generator of Steele, Lea and
/// Flood.
fn pattern(word: u64, seed: u64) -> [u8; 8] {
    let mut z = word
        .wrapping_add(seed.rotate_left(32))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(seed);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)).to_le_bytes()
}
