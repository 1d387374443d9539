//! Messages between threads that are put into their place in fields, as a NIC does it, and sent from there: for tests of
//! how early that may begin, and how long it may last.
//!
//! From the moment at which a message is expected until it is there, its place holds bytes that nobody has written, and
//! gets them anew whenever another message comes or goes. So whoever reads there too early, or writes there too late,
//! computes something else than the serial run. What was sent from a place is compared with what is there when it has to
//! be gone.

use super::Threads;
use crate::error::Result;
use crate::memory::Memory;
use crate::transport::{Line, Place, Placing, Transport as _};
use spinneret_molly_model::Columns;
use std::ptr::NonNull;
use std::sync::Arc;

/// What is in the place of a message that is expected.
const NOTHING: u8 = 0xa5;

/// A line of a cache: as fields want their memory.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Cells {
    _bytes: [u8; 64],
}

/// Memory of this process. A rank keeps what its fields have had, as messages may still be expected there after a failure.
#[derive(Debug, Clone)]
pub(crate) struct Heap(Arc<Leaked>);

#[derive(Debug)]
struct Leaked(NonNull<[Cells]>);

// SAFETY: it is bytes that are this field's alone.
#[allow(unsafe_code)]
unsafe impl Send for Leaked {}
// SAFETY: nothing can be done with it but to ask where it is.
#[allow(unsafe_code)]
unsafe impl Sync for Leaked {}

impl Heap {
    fn new(bytes: usize) -> Self {
        let cells = vec![Cells { _bytes: [0; 64] }; bytes.div_ceil(64)].into_boxed_slice();
        Self(Arc::new(Leaked(NonNull::from(Box::leak(cells)))))
    }
}

impl Drop for Leaked {
    fn drop(&mut self) {
        // SAFETY: `new` has leaked it, and nobody else frees it.
        #[allow(unsafe_code)]
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

// SAFETY: the cells have values, are aligned, stay where they are, and only a place that is expected is written to.
#[allow(unsafe_code)]
unsafe impl Memory for Heap {
    fn start(&self) -> NonNull<u8> {
        self.0.0.cast()
    }

    fn bytes(&self) -> usize {
        64 * self.0.0.len()
    }
}

/// Puts bytes into a place, one after the other.
fn put(place: &Place, mut bytes: impl Iterator<Item = u8>) {
    for at in place.pieces.iter().flat_map(Clone::clone) {
        if let Some(byte) = bytes.next() {
            // SAFETY: a rank expects messages in memory of its own fields, which it keeps, and accesses the place only
            // when the message has come.
            #[allow(unsafe_code)]
            unsafe {
                place.start.add(at).write(byte);
            }
        }
    }
}

/// The bytes of a place, one after the other.
fn taken(place: &Place) -> Vec<u8> {
    let places = place.pieces.iter().flat_map(Clone::clone);
    // SAFETY: as in `put`; and nothing is expected there.
    #[allow(unsafe_code)]
    places.map(|at| unsafe { place.start.add(at).read() }).collect()
}

impl Threads {
    /// Something else comes into all places where messages are expected.
    pub(crate) fn disturb(&self) {
        let expected = self.lines.iter().flat_map(|line| &line.expected);
        expected.for_each(|place| put(place, std::iter::repeat(NOTHING)));
    }
}

impl Placing for Threads {
    fn memory(&mut self, bytes: usize, _line: usize) -> Result<Box<dyn Memory>> {
        let memory = Heap::new(bytes);
        self.memory.push(memory.clone());
        Ok(Box::new(memory))
    }

    fn owns(&self, _memory: &dyn Memory) -> bool {
        true
    }

    fn takes(&self, line: &Line, pieces: Option<usize>, columns: Columns) -> bool {
        !line.is_send || (pieces.is_some() && columns != Columns::Packed)
    }

    fn expect(&mut self, line: usize, place: &Place) -> Result<()> {
        self.lines[line].expected.push_back(place.clone());
        self.disturb();
        Ok(())
    }

    fn placed(&mut self, line: usize) -> Result<usize> {
        let place = self.lines[line].expected.pop_front();
        let bytes = self.take(line)?;
        if let Some(place) = place {
            put(&place, bytes.iter().copied());
        }
        let count = bytes.len();
        self.give_back(line);
        self.disturb();
        Ok(count)
    }

    fn start_from(&mut self, line: usize, place: &Place) -> Result<()> {
        let bytes = taken(place);
        self.lines[line].buffer.clone_from(&bytes);
        self.lines[line].leaving.push_back((place.clone(), bytes));
        self.start(line)
    }

    fn departed(&mut self, line: usize) -> Result<()> {
        let Some((place, bytes)) = self.lines[line].leaving.pop_front() else {
            return Err(self.wrong("nothing was sent from a place", line));
        };
        self.taken_up_to(line, self.lines[line].leaving.len())?;
        match taken(&place) == bytes {
            true => Ok(()),
            false => Err(self.wrong("a place was written before its message was gone", line)),
        }
    }
}
