//! MPI's datatypes: descriptions of where in memory the parts of a message lie.

use crate::error::int;
use crate::functions::{first, first_mut};
use crate::session::Session;
use crate::{Combiner, Error, Mpi};
use std::cell::Cell;
use std::ffi::CString;
use std::rc::Rc;

/// A datatype. One that was made here is freed when it is dropped; types that were derived from it stay as they are.
#[derive(Debug)]
pub struct Datatype {
    pub(crate) session: Rc<Session>,
    pub(crate) raw: u64,
    is_owned: bool,
    is_committed: Cell<bool>,
}

/// Sizes of a datatype in bytes, as MPI gives them. They cannot be computed from how a type was made: MPIs round differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// Bytes of a message of one element.
    pub size: i64,
    /// Where an element begins, relative to its address, with what it was resized to.
    pub lower_bound: i64,
    /// Distance from an element to the next; it may be negative.
    pub extent: i64,
    /// Where the first byte lies.
    pub true_lower_bound: i64,
    /// Distance from the first byte to the one after the last.
    pub true_extent: i64,
}

impl Mpi {
    /// Returns a predefined type by its name in C, such as `MPI_FLOAT_INT`.
    ///
    /// # Errors
    /// If this MPI has no such type: those of Fortran and some of C are optional.
    pub fn named(&self, name: &str) -> Result<Datatype, Error> {
        let missing = || Error::Argument {
            call: "named",
            reason: format!("this MPI has no {name}"),
        };
        let (text, mut raw) = (CString::new(name).map_err(|_| missing())?, 0);
        // SAFETY: the name ends with a zero, and the handle has a place.
        match unsafe { (self.session.functions.named)(text.as_ptr().cast(), &mut raw) } {
            0 => Ok(Datatype::new(&self.session, raw, false, true)),
            _ => Err(missing()),
        }
    }

    /// Makes a type by one of MPI's constructors. The numbers are those that [`Combiner`] lists; the children stay as they
    /// are.
    ///
    /// # Errors
    /// If the numbers do not belong to the constructor, a count or length is negative, or MPI refuses.
    pub fn make(
        &self,
        combiner: Combiner,
        integers: &[i64],
        addresses: &[i64],
        children: &[&Datatype],
    ) -> Result<Datatype, Error> {
        make(&self.session, combiner, integers, addresses, children)
    }

    /// Wraps a type that the program around this one has made: the bytes of an `MPI_Datatype`, the lowest first, and zeros.
    /// It is not freed here.
    ///
    /// # Safety
    /// It is the handle of a type in this MPI, and is not freed as long as the result is used.
    pub unsafe fn datatype(&self, handle: u64) -> Datatype {
        Datatype::new(&self.session, handle, false, false)
    }
}

impl Datatype {
    fn new(session: &Rc<Session>, raw: u64, is_owned: bool, is_committed: bool) -> Self {
        Self {
            session: Rc::clone(session),
            raw,
            is_owned,
            is_committed: Cell::new(is_committed),
        }
    }

    /// MPI's handle, as [`Mpi::datatype`] takes it. It is valid as long as this value lives.
    pub fn handle(&self) -> u64 {
        self.raw
    }

    /// Lets MPI prepare the type for messages, unless it has. [`Datatype::pack`] and [`Datatype::unpack`] call it.
    ///
    /// # Errors
    /// If MPI refuses.
    pub fn commit(&self) -> Result<(), Error> {
        if !self.is_committed.get() {
            // SAFETY: the handle is alive.
            let code = unsafe { (self.session.functions.commit)(self.raw) };
            self.session.check("MPI_Type_commit", code)?;
            self.is_committed.set(true);
        }
        Ok(())
    }

    /// Returns the sizes.
    ///
    /// # Errors
    /// If MPI refuses.
    pub fn bounds(&self) -> Result<Bounds, Error> {
        bounds(&self.session, self.raw)
    }

    /// Makes a type of this one alone; see [`Mpi::make`].
    ///
    /// # Errors
    /// As [`Mpi::make`].
    pub fn make(&self, combiner: Combiner, integers: &[i64], addresses: &[i64]) -> Result<Self, Error> {
        make(&self.session, combiner, integers, addresses, &[self])
    }

    /// `count` elements, one after the other.
    ///
    /// # Errors
    /// If the count is negative, or MPI refuses.
    pub fn contiguous(&self, count: i64) -> Result<Self, Error> {
        self.make(Combiner::Contiguous, &[count], &[])
    }

    /// `count` blocks of `length` elements, with a stride in extents.
    ///
    /// # Errors
    /// If a count or length is negative, or MPI refuses.
    pub fn vector(&self, count: i64, length: i64, stride: i64) -> Result<Self, Error> {
        self.make(Combiner::Vector, &[count, length, stride], &[])
    }

    /// `count` blocks of `length` elements, with a stride in bytes.
    ///
    /// # Errors
    /// If a count or length is negative, or MPI refuses.
    pub fn hvector(&self, count: i64, length: i64, stride: i64) -> Result<Self, Error> {
        self.make(Combiner::Hvector, &[count, length], &[stride])
    }

    /// Blocks of (length in elements, start in bytes).
    ///
    /// # Errors
    /// If a length is negative, or MPI refuses.
    pub fn hindexed(&self, blocks: &[(i64, i64)]) -> Result<Self, Error> {
        let lengths = blocks.iter().map(|(length, _)| *length);
        let integers: Vec<i64> = [blocks.len() as i64].into_iter().chain(lengths).collect();
        let starts: Vec<i64> = blocks.iter().map(|(_, start)| *start).collect();
        self.make(Combiner::Hindexed, &integers, &starts)
    }

    /// The same elements, with another lower bound and extent in bytes.
    ///
    /// # Errors
    /// If MPI refuses.
    pub fn resized(&self, lower_bound: i64, extent: i64) -> Result<Self, Error> {
        self.make(Combiner::Resized, &[], &[lower_bound, extent])
    }
}

fn make(
    session: &Rc<Session>,
    combiner: Combiner,
    integers: &[i64],
    addresses: &[i64],
    children: &[&Datatype],
) -> Result<Datatype, Error> {
    let call = combiner.call();
    let [integer_count, address_count, child_count] = check(combiner, integers)?;
    if [integers.len(), addresses.len(), children.len()] != [integer_count, address_count, child_count] {
        let reason = format!(
            "{} integers, {} addresses and {} types; give {integer_count}, {address_count} and {child_count}",
            integers.len(),
            addresses.len(),
            children.len()
        );
        return Err(Error::Argument { call, reason });
    }
    let length = int("numbers of a datatype", integers.len())?;
    let children: Vec<u64> = children.iter().map(|child| child.raw).collect();
    let (integers, addresses, children) = (first(integers), first(addresses), first(&children));
    let mut raw = 0;
    // SAFETY: there are as many of each as the constructor reads, and the children are alive.
    let code =
        unsafe { (session.functions.make)(combiner as i32, length, integers, addresses, children, &mut raw) };
    session.check(call, code)?;
    Ok(Datatype::new(session, raw, true, false))
}

/// Returns how many integers, addresses and children a constructor takes, and checks what MPIs do not: MPICH takes some
/// negative counts, and parts that reach out of their array.
fn check(combiner: Combiner, integers: &[i64]) -> Result<[usize; 3], Error> {
    let refused = |reason| {
        let call = combiner.call();
        Err(Error::Argument { call, reason })
    };
    let number = |index: usize| usize::try_from(integers.get(index).copied().unwrap_or(0)).unwrap_or(0);
    let count = number(0);
    let times = |factor: usize, more: usize| count.saturating_mul(factor).saturating_add(more);
    // The numbers, and how many of the first integers are counts or lengths.
    let (numbers, lengths) = match combiner {
        Combiner::Dup => ([0, 0, 1], 0),
        Combiner::Contiguous => ([1, 0, 1], 1),
        Combiner::Vector => ([3, 0, 1], 2),
        Combiner::Hvector => ([2, 1, 1], 2),
        Combiner::Indexed => ([times(2, 1), 0, 1], times(1, 1)),
        Combiner::Hindexed => ([times(1, 1), count, 1], times(1, 1)),
        Combiner::IndexedBlock => ([times(1, 2), 0, 1], 2),
        Combiner::HindexedBlock => ([2, count, 1], 2),
        Combiner::Struct => ([times(1, 1), count, count], times(1, 1)),
        Combiner::Subarray => ([times(3, 2), 0, 1], times(3, 2)),
        Combiner::Darray => ([number(2).saturating_mul(4).saturating_add(4), 0, 1], 0),
        Combiner::Resized => ([0, 2, 1], 0),
        Combiner::Named | Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer => {
            return refused("MPI has this type already; use Mpi::named".to_owned());
        }
    };
    if let Some(length) = integers.iter().take(lengths).find(|length| **length < 0) {
        return refused(format!("a count or length of {length}; give 0 or more"));
    }
    if integers.len() != numbers[0] {
        return Ok(numbers);
    }
    if combiner == Combiner::Subarray {
        for index in 1..=count {
            let [size, length, start] = [0, 1, 2].map(|row| integers[index + row * count]);
            if length < 1 || start.saturating_add(length) > size {
                return refused(format!(
                    "{length} elements from {start} on are not in a dimension of {size}; give at least one that is"
                ));
            }
        }
    }
    let kinds = integers.iter().skip(3 + number(2)).take(number(2));
    if combiner == Combiner::Darray && kinds.into_iter().any(|kind| !(0..3).contains(kind)) {
        return refused("a distribution that is not 0 (block), 1 (cyclic) or 2 (none)".to_owned());
    }
    Ok(numbers)
}

pub(crate) fn bounds(session: &Session, raw: u64) -> Result<Bounds, Error> {
    let mut five = [0; 5];
    // SAFETY: the handle is alive, and there is room for five numbers.
    let code = unsafe { (session.functions.bounds)(raw, five.as_mut_ptr()) };
    session.check("MPI_Type_get_extent_x", code)?;
    let [size, lower_bound, extent, true_lower_bound, true_extent] = five;
    Ok(Bounds {
        size,
        lower_bound,
        extent,
        true_lower_bound,
        true_extent,
    })
}

impl Drop for Datatype {
    fn drop(&mut self) {
        if self.is_owned {
            // SAFETY: the handle is alive, and used no more; an error cannot be reported from here.
            unsafe { (self.session.functions.type_free)(self.raw) };
        }
    }
}

/// Packing. Elements are in an area of memory: the first has its address at `origin`, counted from the start of the
/// area, and the others are extents away. An area that does not hold all their bytes is refused. That relies on the
/// bounds that MPI gives; those of Open MPI 4.1.4 are wrong for types with a stride of exactly -1 byte.
impl Datatype {
    /// Copies the bytes of `count` elements, one after the other, to `position` of `packed`, and advances `position`.
    ///
    /// # Errors
    /// If the elements reach out of the memory, or there is no room for them; nothing is written then.
    pub fn pack(
        &self,
        memory: &[u8],
        origin: usize,
        count: usize,
        packed: &mut [u8],
        position: &mut usize,
    ) -> Result<(), Error> {
        let Some(place) = self.prepare("pack", memory.len(), origin, count, packed.len(), *position)? else {
            return Ok(());
        };
        let mut moved = place.position;
        // SAFETY: all bytes of the elements are in the memory, and that many fit after the position. The address of the
        // first element may be outside our memory, if its bytes are not where it is.
        let code = unsafe {
            let address = first(memory).wrapping_add(origin);
            let (to, pack) = (first_mut(packed), self.session.functions.pack);
            pack(self.raw, address, place.count, to, place.size, &mut moved)
        };
        self.session.check("MPI_Pack", code)?;
        *position = usize::try_from(moved).unwrap_or(*position);
        Ok(())
    }

    /// Copies bytes from `position` of `packed` to the places of `count` elements, and advances `position`.
    ///
    /// # Errors
    /// If the elements reach out of the memory, or there are not enough bytes; nothing is written then.
    pub fn unpack(
        &self,
        packed: &[u8],
        position: &mut usize,
        memory: &mut [u8],
        origin: usize,
        count: usize,
    ) -> Result<(), Error> {
        let Some(place) = self.prepare("unpack", memory.len(), origin, count, packed.len(), *position)?
        else {
            return Ok(());
        };
        let mut moved = place.position;
        // SAFETY: as for `pack`.
        let code = unsafe {
            let address = first_mut(memory).wrapping_add(origin);
            let (from, unpack) = (first(packed), self.session.functions.unpack);
            unpack(self.raw, from, place.size, &mut moved, address, place.count)
        };
        self.session.check("MPI_Unpack", code)?;
        *position = usize::try_from(moved).unwrap_or(*position);
        Ok(())
    }

    /// Commits the type, checks that one element at byte `at` is in the memory, and returns its packed size.
    pub(crate) fn check_in(&self, call: &'static str, memory: usize, at: usize) -> Result<usize, Error> {
        self.commit()?;
        let bounds = self.bounds()?;
        check_reach(call, &bounds, memory, at, 1)?;
        let bytes = packed_bytes(&bounds, 1);
        int("bytes of a message", bytes).map(|_| bytes)
    }

    /// Checks the arguments of both, and converts them to MPI's; `None` if there is nothing to copy.
    fn prepare(
        &self,
        call: &'static str,
        memory: usize,
        origin: usize,
        count: usize,
        packed: usize,
        position: usize,
    ) -> Result<Option<Place>, Error> {
        self.commit()?;
        let bounds = self.bounds()?;
        let bytes = packed_bytes(&bounds, count);
        // MPICH divides by the size of such types.
        if bytes == 0 && position <= packed {
            return Ok(None);
        }
        check_reach(call, &bounds, memory, origin, count)?;
        let refused = |reason| Err(Error::Argument { call, reason });
        if packed.checked_sub(position).is_none_or(|room| room < bytes) {
            return refused(format!(
                "the elements have {bytes} B, and the packed area has {packed} B, of which {position} are used"
            ));
        }
        Ok(Some(Place {
            count: int("elements", count)?,
            size: int("bytes of a packed area", packed)?,
            position: int("a position", position)?,
        }))
    }
}

/// Numbers as MPI takes them.
struct Place {
    count: i32,
    size: i32,
    position: i32,
}

/// The packed size of `count` elements; `usize::MAX` if it does not fit.
fn packed_bytes(bounds: &Bounds, count: usize) -> usize {
    let size = usize::try_from(bounds.size).unwrap_or(usize::MAX);
    size.saturating_mul(count)
}

/// Checks that the elements are in their memory.
fn check_reach(
    call: &'static str,
    bounds: &Bounds,
    memory: usize,
    origin: usize,
    count: usize,
) -> Result<(), Error> {
    let (first, end) = span(bounds, origin, count);
    if first >= 0 && end <= memory as i128 {
        return Ok(());
    }
    Err(Error::Argument {
        call,
        reason: format!(
            "the elements lie from byte {first} to {end} of an area of {memory} B; give one that holds them"
        ),
    })
}

/// The first byte of all elements, and the one after the last, from the start of an area.
fn span(bounds: &Bounds, origin: usize, count: usize) -> (i128, i128) {
    // Sizes are i64 and counts usize, so that no product is too large.
    let last = (count as i128 - 1) * i128::from(bounds.extent);
    let first = origin as i128 + i128::from(bounds.true_lower_bound);
    let end = first + i128::from(bounds.true_extent);
    (first + last.min(0), end + last.max(0))
}

#[cfg(test)]
mod tests {
    use super::span;
    use crate::Bounds;

    #[test]
    fn span_covers_elements_before_and_after_their_address() {
        let bounds = |extent, true_lower_bound| Bounds {
            size: 4,
            lower_bound: 0,
            extent,
            true_lower_bound,
            true_extent: 6,
        };
        assert_eq!(span(&bounds(10, 2), 100, 3), (102, 128));
        assert_eq!(span(&bounds(-10, -2), 100, 3), (78, 104));
        let far = span(&bounds(i64::MIN, i64::MIN), usize::MAX, usize::MAX);
        assert!(far.0 < far.1);
    }
}
