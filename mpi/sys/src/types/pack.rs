//! Bytes of memory in the order of a type, and back.

use super::{Bounds, Datatype};
use crate::Error;
use crate::error::int;
use crate::functions::{first, first_mut};

/// Elements of a type lie in an area of memory: the address of the first is `origin`, from the area's begin, and the others are
/// extents away. An area that does not hold all their bytes is refused. That rests on the bounds that MPI gives; Open MPI 4.1.4
/// gives wrong ones for types with a stride of exactly -1 byte.
impl Datatype {
    /// How many bytes [`Datatype::pack`] may write for so many elements.
    ///
    /// # Errors
    /// If they are more than MPI can count.
    pub fn pack_size(&self, count: usize) -> Result<usize, Error> {
        self.commit()?;
        let total = packed_bytes(&self.bounds()?, count);
        int("bytes of packed elements", total)?;
        let (count, mut bytes) = (int("elements", count)?, 0);
        // SAFETY: the handle is alive, and the number has a place.
        let code = unsafe { (self.session.functions.pack_size)(self.raw, count, &mut bytes) };
        self.session.check("MPI_Pack_size", code)?;
        Ok(usize::try_from(bytes).unwrap_or(0))
    }

    /// Takes the bytes of so many elements, and writes them one after the other from a position on, which moves behind them.
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
        // SAFETY: all bytes of the elements are in the memory, and so many fit behind the position. The address of the first
        // may be none of ours, if its bytes are not where it is.
        let code = unsafe {
            let address = first(memory).wrapping_add(origin);
            let (to, pack) = (first_mut(packed), self.session.functions.pack);
            pack(self.raw, address, place.count, to, place.size, &mut moved)
        };
        self.session.check("MPI_Pack", code)?;
        *position = usize::try_from(moved).unwrap_or(*position);
        Ok(())
    }

    /// Puts bytes from a position on, which moves behind them, where so many elements have them.
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

    /// Makes it ready for messages of one element at a byte of some memory, and says how many bytes that has.
    pub(crate) fn check_in(&self, call: &'static str, memory: usize, at: usize) -> Result<usize, Error> {
        self.commit()?;
        let bounds = self.bounds()?;
        check_reach(call, &bounds, memory, at, 1)?;
        let bytes = packed_bytes(&bounds, 1);
        int("bytes of a message", bytes).map(|_| bytes)
    }

    /// Checks what both need, and makes numbers of MPI's of them; nothing if there is nothing to do.
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

/// How many bytes so many elements are when they are packed; the largest number if it cannot be said.
fn packed_bytes(bounds: &Bounds, count: usize) -> usize {
    let size = usize::try_from(bounds.size).unwrap_or(usize::MAX);
    size.saturating_mul(count)
}

/// Fails if elements reach out of their memory.
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

/// The first byte of all elements, and that behind the last, from the begin of an area.
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
    fn elements_may_lie_before_and_behind_their_address() {
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
