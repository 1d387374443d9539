//! Host memory, byte by byte, with the contents that the test expects.

use super::page::{PAGE_BYTES, Page, Wrong};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;
use thiserror::Error;

/// Host memory of 2^64 bytes, with the contents that the test expects; clones share one state.
///
/// The test declares which bytes the DMA has to write ([`expect`](Self::expect)); [`check`](Self::check) compares
/// them with what the DMA has written. Bytes that were never written depend on their address and the seed, so that a
/// byte from a wrong address is noticed.
///
/// ```
/// use spinneret_sim::dma::HostMemory;
///
/// let host = HostMemory::new(1);
/// host.expect(0x1000, &[1, 2, 3]);
/// host.write(0x1000, &[1, 2]);
/// let difference = host.check().unwrap_err();
/// assert_eq!(
///     difference.to_string(),
///     "host memory: 1 byte is wrong: 0x1002 was not written, 0x03 was expected"
/// );
/// ```
#[derive(Clone, Debug)]
pub struct HostMemory {
    state: Rc<RefCell<State>>,
}

#[derive(Debug)]
struct State {
    seed: u64,
    /// Whether what the DMA writes is compared with the expected contents.
    is_compared: bool,
    pages: BTreeMap<u64, Box<Page>>,
    /// Numbers of pages that are 0 until they are written.
    zeros: Vec<Range<u64>>,
    /// Numbers of pages whose bytes are in a [`Backing`].
    backed: Vec<(Range<u64>, Rc<dyn Backing>)>,
    /// A bus that serves all accesses of the DMA instead.
    bus: Option<Rc<dyn HostBus>>,
    /// Numbers of the pages that may differ from the expected contents, each once.
    touched: Vec<u64>,
}

/// Memory shared with something else, such as another process. It is read and written directly, and never compared.
pub trait Backing: fmt::Debug {
    /// Reads bytes from an offset on.
    fn read(&self, offset: u64, bytes: &mut [u8]);
    /// Writes bytes from an offset on.
    fn write(&self, offset: u64, bytes: &[u8]);
}

/// How many wrong bytes are listed.
const LISTED: usize = 4;

/// The DMA did not write what it had to, or wrote something else.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("host memory: {}", Listing(self))]
pub struct Difference {
    /// How many bytes are wrong.
    pub bytes: usize,
    /// The first wrong bytes, each with the reason.
    first: Vec<(u64, Wrong)>,
}

impl Difference {
    /// The lowest address with a wrong byte.
    pub fn address(&self) -> u64 {
        self.first.first().map_or(0, |(address, _)| *address)
    }
}

impl HostMemory {
    /// A memory that was never written.
    pub fn new(seed: u64) -> Self {
        Self::with(seed, true)
    }

    /// The same without expectations, for hardware whose writes are unknown: it uses no more memory than is written.
    pub fn not_compared(seed: u64) -> Self {
        Self::with(seed, false)
    }

    fn with(seed: u64, is_compared: bool) -> Self {
        let state = State {
            seed,
            is_compared,
            pages: BTreeMap::new(),
            zeros: Vec::new(),
            backed: Vec::new(),
            bus: None,
            touched: Vec::new(),
        };
        Self {
            state: Rc::new(RefCell::new(state)),
        }
    }

    /// The host writes bytes, for the DMA to read.
    pub fn set(&self, address: u64, bytes: &[u8]) {
        self.state
            .borrow_mut()
            .each_page(address, bytes, false, Page::set);
    }

    /// The DMA has to write these bytes before the next [`check`](Self::check).
    ///
    /// Of two expectations for one byte the later counts.
    pub fn expect(&self, address: u64, bytes: &[u8]) {
        self.state
            .borrow_mut()
            .each_page(address, bytes, true, Page::expect);
    }

    /// The DMA writes bytes.
    pub fn write(&self, address: u64, bytes: &[u8]) {
        let mut state = self.state.borrow_mut();
        match state.is_compared {
            true => state.each_page(address, bytes, true, Page::write),
            false => state.each_page(address, bytes, false, Page::set),
        }
    }

    /// Reads bytes from an address on.
    pub fn read_to(&self, address: u64, bytes: &mut [u8]) {
        let state = self.state.borrow();
        for (number, offset, range) in parts(address, bytes.len()) {
            if let Some((backing, start)) = state.backing(number) {
                backing.read(start + offset as u64, &mut bytes[range]);
                continue;
            }
            match state.pages.get(&number) {
                Some(page) => page.read(offset, &mut bytes[range]),
                None if state.is_zero(number) => bytes[range].fill(0),
                None => Page::new(number, state.seed).read(offset, &mut bytes[range]),
            }
        }
    }

    /// The bytes from an address on.
    pub fn read(&self, address: u64, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.read_to(address, &mut bytes);
        bytes
    }

    /// Discards an area of whole pages: they are as if never written.
    pub fn forget(&self, area: Range<u64>) {
        let numbers = pages(&area);
        let mut state = self.state.borrow_mut();
        state.pages.retain(|number, _| !numbers.contains(number));
        state.touched.retain(|number| !numbers.contains(number));
        let is_apart = |area: &Range<u64>| area.end <= numbers.start || numbers.end <= area.start;
        state.zeros.retain(is_apart);
        state.backed.retain(|(area, _)| is_apart(area));
    }

    /// Zeroes an area of whole pages, which uses no memory until it is accessed.
    pub fn zero(&self, area: Range<u64>) {
        self.forget(area.clone());
        self.state.borrow_mut().zeros.push(pages(&area));
    }

    /// Backs an area of whole pages with shared memory; nothing can be expected there. [`forget`](Self::forget) ends
    /// it.
    pub fn back(&self, area: Range<u64>, backing: Rc<dyn Backing>) {
        self.state.borrow_mut().backed.push((pages(&area), backing));
    }

    /// Routes all accesses of the DMA to a bus instead of this memory. Nothing is compared then.
    pub fn connect(&self, bus: Rc<dyn HostBus>) {
        self.state.borrow_mut().bus = Some(bus);
    }

    /// The DMA writes bytes, if they are there.
    pub(super) fn dma_write(&self, address: u64, bytes: &[u8]) -> Result<(), Refused> {
        let bus = self.state.borrow().bus.clone();
        match bus {
            Some(bus) => bus.write(address, bytes),
            None => {
                self.write(address, bytes);
                Ok(())
            }
        }
    }

    /// The DMA reads bytes, if they are there.
    pub(super) fn dma_read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Refused> {
        let bus = self.state.borrow().bus.clone();
        match bus {
            Some(bus) => bus.read(address, bytes),
            None => {
                self.read_to(address, bytes);
                Ok(())
            }
        }
    }

    /// Compares what the DMA has written since the last comparison with what it had to write.
    ///
    /// The contents become the expected ones, and a new comparison begins.
    ///
    /// # Errors
    /// If a byte was not written, was written with another value, or was written unexpectedly.
    pub fn check(&self) -> Result<(), Difference> {
        let mut state = self.state.borrow_mut();
        let mut difference = Difference {
            bytes: 0,
            first: Vec::new(),
        };
        let mut touched = std::mem::take(&mut state.touched);
        touched.sort_unstable();
        for number in touched {
            let page = state.page(number);
            if !page.is_right() {
                difference.add(number, page);
            }
            page.adopt();
            page.touched = false;
        }
        if difference.bytes == 0 {
            Ok(())
        } else {
            Err(difference)
        }
    }

    /// Accepts the contents as expected, for after a reset, when it is unknown how much was written.
    pub fn adopt(&self) {
        // The differences are ignored on purpose.
        self.check().ok();
    }

    /// Discards everything that was written, set or expected.
    pub fn clear(&self) {
        let mut state = self.state.borrow_mut();
        state.pages.clear();
        state.zeros.clear();
        state.backed.clear();
        state.touched.clear();
    }
}

/// The pages that an area contains completely.
fn pages(area: &Range<u64>) -> Range<u64> {
    area.start.div_ceil(PAGE_BYTES)..area.end / PAGE_BYTES
}

impl State {
    /// Whether a page is 0 until it is written.
    fn is_zero(&self, number: u64) -> bool {
        self.zeros.iter().any(|area| area.contains(&number))
    }

    /// The backing of a page and the offset in it, if it has one.
    fn backing(&self, number: u64) -> Option<(&Rc<dyn Backing>, u64)> {
        let found = self.backed.iter().find(|(area, _)| area.contains(&number));
        found.map(|(area, backing)| (backing, (number - area.start) * PAGE_BYTES))
    }

    fn page(&mut self, number: u64) -> &mut Page {
        let (seed, is_zero) = (self.seed, self.is_zero(number));
        self.pages.entry(number).or_insert_with(|| match is_zero {
            true => Page::zeros(),
            false => Page::new(number, seed),
        })
    }

    /// Applies a function page by page; `touch` marks the pages for comparison.
    fn each_page(
        &mut self,
        address: u64,
        bytes: &[u8],
        touch: bool,
        action: impl Fn(&mut Page, usize, &[u8]),
    ) {
        for (number, offset, range) in parts(address, bytes.len()) {
            if let Some((backing, start)) = self.backing(number) {
                backing.write(start + offset as u64, &bytes[range]);
                continue;
            }
            let page = self.page(number);
            let newly = touch && !page.touched;
            page.touched |= touch;
            action(page, offset, &bytes[range]);
            if newly {
                self.touched.push(number);
            }
        }
    }
}

impl Difference {
    /// Adds what is wrong in the page with that number.
    fn add(&mut self, number: u64, page: &Page) {
        for (offset, wrong) in page.wrong() {
            self.bytes += 1;
            if self.first.len() < LISTED {
                self.first.push((number * PAGE_BYTES + offset as u64, wrong));
            }
        }
    }
}

/// `2 bytes are wrong: 0x10 was not written, 0x01 was expected; 0x11 is 0x02, not 0x03`.
struct Listing<'a>(&'a Difference);

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { bytes, first } = self.0;
        let (noun, verb) = if *bytes == 1 {
            ("byte", "is")
        } else {
            ("bytes", "are")
        };
        write!(f, "{bytes} {noun} {verb} wrong")?;
        for (index, (address, wrong)) in first.iter().enumerate() {
            write!(f, "{} {address:#x} ", if index == 0 { ":" } else { ";" })?;
            match wrong {
                Wrong::Missing { wanted } => write!(f, "was not written, {wanted:#04x} was expected")?,
                Wrong::Unexpected { found } => {
                    write!(f, "was written with {found:#04x}, which was not expected")?;
                }
                Wrong::Different { found, wanted } => write!(f, "is {found:#04x}, not {wanted:#04x}")?,
            }
        }
        if *bytes > first.len() {
            write!(f, "; and more")?;
        }
        Ok(())
    }
}

/// Splits bytes from an address on into pages: number of the page, offset in it, and range of the bytes.
fn parts(address: u64, count: usize) -> impl Iterator<Item = (u64, usize, Range<usize>)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let here = address.wrapping_add(start as u64);
        let offset = (here % PAGE_BYTES) as usize;
        let length = (PAGE_BYTES as usize - offset).min(count - start);
        let range = start..start + length;
        start += length;
        (length > 0).then_some((here / PAGE_BYTES, offset, range))
    })
}

/// Memory of a host, by the addresses that the device has for it.
///
/// A bus in front of host memory. Bytes are moved all or none: a rejected access changes nothing.
pub trait HostBus: fmt::Debug {
    /// Reads bytes from an address on.
    ///
    /// # Errors
    /// If one of them is not there.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Refused>;

    /// Writes bytes from an address on.
    ///
    /// # Errors
    /// If one of them is not there.
    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Refused>;
}

/// The host refused an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The reason, as a code of Corundum's status.
    pub code: u8,
}

impl Refused {
    /// No device responds at that address: an unsupported request of PCI Express.
    pub const UNSUPPORTED_REQUEST: Self = Self { code: 10 };
}

#[cfg(test)]
mod tests {
    use super::{Backing, HostMemory};
    use std::cell::RefCell;
    use std::rc::Rc;

    fn text(host: &HostMemory) -> String {
        host.check()
            .map_or_else(|error| error.to_string(), |()| "right".to_owned())
    }

    #[test]
    fn unwritten_bytes_depend_on_address_and_seed() {
        let (one, other) = (HostMemory::new(1), HostMemory::new(2));
        assert_eq!(one.read(0xffa, 12), HostMemory::new(1).read(0xffa, 12));
        assert_ne!(one.read(0xffa, 12), other.read(0xffa, 12));
        assert_ne!(one.read(0, 64), one.read(64, 64));
        assert_ne!(one.read(0, 64), one.read(4096, 64));
        assert_eq!(one.read(3, 5)[..], one.read(0, 8)[3..]);
        assert_eq!(text(&one), "right");
    }

    #[derive(Debug)]
    struct Elsewhere(RefCell<Vec<u8>>);

    impl Backing for Elsewhere {
        fn read(&self, offset: u64, bytes: &mut [u8]) {
            bytes.copy_from_slice(&self.0.borrow()[offset as usize..][..bytes.len()]);
        }

        fn write(&self, offset: u64, bytes: &[u8]) {
            self.0.borrow_mut()[offset as usize..][..bytes.len()].copy_from_slice(bytes);
        }
    }

    #[test]
    fn backed_bytes_are_read_and_written_in_the_backing_until_they_are_forgotten() {
        let host = HostMemory::not_compared(1);
        let before = host.read(0x2ffe, 4);
        let elsewhere = Rc::new(Elsewhere(RefCell::new(vec![0; 0x2000])));
        host.set(0x3000, &[1; 0x2000]);
        host.back(0x3000..0x5000, Rc::clone(&elsewhere) as Rc<dyn Backing>);
        host.write(0x3ffe, &[1, 2, 3]);
        host.set(0x2fff, &[8, 9]);
        assert_eq!(elsewhere.0.borrow()[0xffe..0x1002], [1, 2, 3, 0]);
        assert_eq!(elsewhere.0.borrow()[..2], [9, 0]);
        elsewhere.0.borrow_mut()[0x1fff] = 7;
        assert_eq!(host.read(0x4ffe, 2), [0, 7]);
        host.forget(0x3000..0x5000);
        assert_eq!(host.read(0x2ffe, 4), [before[0], 8, before[2], before[3]]);
    }

    #[test]
    fn expected_writes_pass_the_check() {
        let host = HostMemory::new(1);
        host.expect(0xffe, &[1, 2, 3, 4]);
        host.write(0xffe, &[1, 2]);
        host.write(0x1000, &[3, 4]);
        assert_eq!(text(&host), "right");
        assert_eq!(host.read(0xffe, 4), [1, 2, 3, 4]);
        // A new comparison begins: the same bytes written again are unexpected.
        host.write(0x1000, &[3]);
        assert_eq!(
            text(&host),
            "host memory: 1 byte is wrong: 0x1000 was written with 0x03, which was not expected"
        );
        assert_eq!(text(&host), "right", "it was said once");
    }

    #[test]
    fn every_kind_of_difference_is_reported_with_its_address() {
        let host = HostMemory::new(1);
        host.expect(0x2000, &[1, 2, 3]);
        host.write(0x2001, &[2, 4, 5, 6, 7]);
        let difference = host.check().unwrap_err();
        assert_eq!((difference.bytes, difference.address()), (5, 0x2000));
        assert_eq!(
            difference.to_string(),
            "host memory: 5 bytes are wrong: 0x2000 was not written, 0x01 was expected; 0x2002 is 0x04, \
             not 0x03; 0x2003 was written with 0x05, which was not expected; 0x2004 was written with \
             0x06, which was not expected; and more"
        );
    }

    #[test]
    fn rewriting_a_byte_with_the_same_value_is_reported() {
        let host = HostMemory::new(1);
        let there = host.read(0x10, 1);
        host.write(0x10, &there);
        assert!(text(&host).contains("was not expected"));
        host.expect(0x10, &there);
        assert!(text(&host).contains("was not written"));
    }

    #[test]
    fn the_later_of_two_expectations_counts() {
        let host = HostMemory::new(1);
        host.expect(8, &[1, 1]);
        host.expect(9, &[2]);
        host.write(8, &[1, 1]);
        host.write(9, &[2]);
        assert_eq!(text(&host), "right");
    }

    #[test]
    fn bytes_set_by_the_host_are_read_and_not_expected() {
        let host = HostMemory::new(1);
        host.set(0xfff, &[7, 8]);
        assert_eq!(host.read(0xfff, 2), [7, 8]);
        assert_eq!(text(&host), "right");
    }

    #[test]
    fn the_contents_can_be_accepted_as_expected() {
        let host = HostMemory::new(1);
        host.expect(0, &[1, 2]);
        host.write(0, &[1]);
        host.adopt();
        assert_eq!(text(&host), "right");
        host.clear();
        assert_eq!(host.read(0, 8), HostMemory::new(1).read(0, 8));
    }

    #[test]
    fn the_last_bytes_of_memory_are_accessible() {
        let host = HostMemory::new(1);
        host.expect(u64::MAX, &[1]);
        host.write(u64::MAX, &[1]);
        assert_eq!(text(&host), "right");
    }

    #[test]
    fn an_area_of_zeros_is_zero_until_it_is_written_or_forgotten() {
        let host = HostMemory::new(3);
        let noise = host.read(0x2000, 8);
        host.set(0x2000, &[7; 8]);
        host.zero(0x1000..0x4000);
        assert_eq!(host.read(0x1ffc, 8), [0; 8]);
        assert_ne!(host.read(0x4000, 8), [0; 8], "behind it");
        host.write(0x3ffe, &[1, 2]);
        assert_eq!(host.read(0x3ffc, 4), [0, 0, 1, 2]);
        host.forget(0x2000..0x3000);
        assert_eq!(host.read(0x2000, 8), noise);
        assert!(
            host.check().is_err(),
            "bytes written outside the area are still compared"
        );
    }
}
