//! The memory of the virtual machine, by the addresses that the device has for it.

use rustix::fs::{SealFlags, fcntl_get_seals, fstat};
use rustix::io::Errno;
use spinneret_host::device::Mapping;
use spinneret_sim::dma::{HostBus, Refused};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::rc::{Rc, Weak};

/// Most simultaneous mappings: the protocol's default.
pub(crate) const MAX_MAPPINGS: usize = 65_535;
/// The device may read a mapping, and write it.
const READABLE: u32 = 1;
const WRITABLE: u32 = 2;

/// Guest memory that the device can reach; shared with the DMA.
///
/// Transfers are split at mappings, because a virtual IOMMU maps page by page. A transfer fails as a whole, as an
/// unsupported request, if one of its bytes is not mapped for its direction, or if the function is not bus master. No
/// address is kept: after [`unmap`](Self::unmap) returns, that memory is not accessed any more.
#[derive(Debug, Default)]
pub struct GuestMemory {
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    is_master: bool,
    /// By their first addresses; none overlaps another one.
    mappings: BTreeMap<u64, Mapped>,
    /// Mapped files by device and inode, each once.
    files: Vec<([u64; 2], Weak<Mapping>)>,
}

#[derive(Clone, Debug)]
struct Mapped {
    /// The last address.
    last: u64,
    flags: u32,
    /// The file and the offset of the mapping; none if its bytes cannot be reached.
    file: Option<(Rc<Mapping>, u64)>,
}

impl GuestMemory {
    /// Maps a part of a file. Without a file the addresses are reserved, and nothing responds there.
    ///
    /// # Errors
    /// `EINVAL` for an invalid range or one beyond the end of the file, `EEXIST` if it overlaps a mapping, `ENOSPC`
    /// if there are too many mappings.
    pub(crate) fn map(
        &self,
        flags: u32,
        [address, bytes]: [u64; 2],
        file: Option<(&OwnedFd, u64)>,
    ) -> Result<Reach, Errno> {
        let last = last(address, bytes)?;
        let mut state = self.state.borrow_mut();
        if state.mappings.len() >= MAX_MAPPINGS {
            return Err(Errno::NOSPC);
        }
        if state.overlapping(address, last).next().is_some() {
            return Err(Errno::EXIST);
        }
        let file = match file {
            Some((file, offset)) => state.file(file, offset, bytes)?.map(|mapping| (mapping, offset)),
            None => None,
        };
        let reach = match file {
            Some(_) => Reach::Mapped,
            None => Reach::Nothing,
        };
        state.mappings.insert(address, Mapped { last, flags, file });
        Ok(reach)
    }

    /// Unmaps a range; other parts of the mappings stay.
    ///
    /// # Errors
    /// `EINVAL` for an invalid range.
    pub(crate) fn unmap(&self, address: u64, bytes: u64) -> Result<(), Errno> {
        let last = last(address, bytes)?;
        let mut state = self.state.borrow_mut();
        let cut: Vec<u64> = state.overlapping(address, last).map(|(first, _)| first).collect();
        for first in cut {
            let Some(mapped) = state.mappings.remove(&first) else {
                continue;
            };
            if mapped.last > last {
                let file = mapped.file.clone();
                let file = file.map(|(mapping, offset)| (mapping, offset + (last + 1 - first)));
                state.mappings.insert(last + 1, Mapped { file, ..mapped });
            }
            if first < address {
                let last = address - 1;
                state.mappings.insert(first, Mapped { last, ..mapped });
            }
        }
        Ok(())
    }

    /// Unmaps everything.
    pub(crate) fn clear(&self) {
        self.state.borrow_mut().mappings.clear();
    }

    /// Sets whether the device may send requests.
    pub(crate) fn set_master(&self, is_master: bool) {
        self.state.borrow_mut().is_master = is_master;
    }
}

/// Result of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The device reaches its bytes.
    Mapped,
    /// The mapping has no file, or one that cannot be mapped safely.
    Nothing,
}

/// The last address of a range.
fn last(address: u64, bytes: u64) -> Result<u64, Errno> {
    let last = bytes.checked_sub(1).and_then(|more| address.checked_add(more));
    last.ok_or(Errno::INVAL)
}

impl State {
    /// Mappings that have one of these addresses.
    fn overlapping(&self, first: u64, last: u64) -> impl Iterator<Item = (u64, &Mapped)> {
        let before = self.mappings.range(..first).next_back();
        let before = before.filter(move |(_, mapped)| mapped.last >= first);
        let mappings = before.into_iter().chain(self.mappings.range(first..=last));
        mappings.map(|(first, mapped)| (*first, mapped))
    }

    /// Maps a file if it cannot shrink: after that, the next access would kill this process.
    fn file(&mut self, file: &OwnedFd, offset: u64, bytes: u64) -> Result<Option<Rc<Mapping>>, Errno> {
        let found = fstat(file)?;
        let size = u64::try_from(found.st_size).map_err(|_| Errno::INVAL)?;
        if offset.checked_add(bytes).is_none_or(|end| end > size) {
            return Err(Errno::INVAL);
        }
        if !fcntl_get_seals(file).is_ok_and(|seals| seals.contains(SealFlags::SHRINK)) {
            return Ok(None);
        }
        let key = [found.st_dev, found.st_ino];
        self.files.retain(|(_, mapping)| mapping.strong_count() > 0);
        let known = self.files.iter().find(|(known, _)| *known == key);
        if let Some(mapping) = known.and_then(|(_, mapping)| mapping.upgrade()) {
            // It may have grown since.
            if offset + bytes <= mapping.len() as u64 {
                return Ok(Some(mapping));
            }
        }
        let Ok(mapping) = Mapping::new(file, 0, size as usize) else {
            return Ok(None);
        };
        let mapping = Rc::new(mapping);
        self.files.push((key, Rc::downgrade(&mapping)));
        Ok(Some(mapping))
    }

    /// The parts of mappings that these addresses are: each with its file, the offset there, and its bytes. `None` if one of them
    /// is not there for that direction.
    fn parts(&self, address: u64, bytes: usize, direction: u32) -> Option<Vec<(&Mapping, usize, usize)>> {
        let mut parts = Vec::new();
        let mut left = bytes as u64;
        let mut at = address;
        while left > 0 {
            let (first, mapped) = self.mappings.range(..=at).next_back()?;
            let (mapping, offset) = mapped.file.as_ref()?;
            if !self.is_master || mapped.last < at || mapped.flags & direction == 0 {
                return None;
            }
            let now = (mapped.last - at).saturating_add(1).min(left);
            parts.push((&**mapping, (offset + (at - first)) as usize, now as usize));
            left -= now;
            at = at.wrapping_add(now);
        }
        Some(parts)
    }
}

impl HostBus for GuestMemory {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Refused> {
        let state = self.state.borrow();
        let parts = state.parts(address, bytes.len(), READABLE);
        let mut rest = bytes;
        for (mapping, offset, count) in parts.ok_or(Refused::UNSUPPORTED_REQUEST)? {
            let (now, later) = rest.split_at_mut(count);
            mapping.read(offset, now);
            rest = later;
        }
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Refused> {
        let state = self.state.borrow();
        let parts = state.parts(address, bytes.len(), WRITABLE);
        let mut rest = bytes;
        for (mapping, offset, count) in parts.ok_or(Refused::UNSUPPORTED_REQUEST)? {
            let (now, later) = rest.split_at(count);
            mapping.write(offset, now);
            rest = later;
        }
        Ok(())
    }
}
