//! Memory that is shared with a device.

#![allow(unsafe_code)]

use rustix::fs::{FileType, MemfdFlags, SealFlags, fcntl_add_seals, fstat, ftruncate, memfd_create};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{Ordering, fence};

/// A shared mapping of a file or of anonymous memory. Child processes do not inherit it.
///
/// There are no references to its bytes. All accesses are volatile and atomic, in units of up to 8 bytes at multiples of their
/// size. The device sees writes in program order.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<c_void>,
    bytes: usize,
}

// SAFETY: the mapping is owned, and addresses are the same in all threads of a process.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps bytes of a file; the offset is a multiple of a page's size.
    ///
    /// # Errors
    /// If the file cannot be mapped.
    pub fn new(file: impl AsFd, offset: u64, bytes: usize) -> io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the system chooses the place, so nothing that is there already is replaced.
        Self::own(
            unsafe { mmap(null_mut(), bytes, access, MapFlags::SHARED, file, offset)? },
            bytes,
        )
    }

    /// Allocates zeroed bytes, at least 1.
    ///
    /// # Errors
    /// The system is out of memory.
    pub fn anonymous(bytes: usize) -> io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the system chooses the place, so nothing that is there already is replaced.
        Self::own(
            unsafe { mmap_anonymous(null_mut(), bytes, access, MapFlags::SHARED)? },
            bytes,
        )
    }

    /// Takes ownership of a new mapping.
    fn own(start: *mut c_void, bytes: usize) -> io::Result<Self> {
        let start = NonNull::new(start).ok_or_else(|| io::Error::other("memory was mapped to address 0"))?;
        let mapping = Self { start, bytes };
        // SAFETY: the range was mapped just now, and the advice changes nothing in this process.
        unsafe { madvise(start.as_ptr(), bytes, Advice::LinuxDontFork)? };
        Ok(mapping)
    }

    /// Returns its size in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether its size is 0.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Returns a pointer to the first byte, valid as long as the mapping. The device writes to the memory at any time.
    pub fn start(&self) -> NonNull<u8> {
        self.start.cast()
    }

    /// Reads bytes, lowest address first.
    ///
    /// # Panics
    /// If they are not all within the mapping.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) {
        self.check(offset, bytes.len());
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done;
            let unit = unit(at, bytes.len() - done);
            let into = &mut bytes[done..done + unit];
            match unit {
                8 => into.copy_from_slice(&self.load::<u64>(at).to_ne_bytes()),
                4 => into.copy_from_slice(&self.load::<u32>(at).to_ne_bytes()),
                2 => into.copy_from_slice(&self.load::<u16>(at).to_ne_bytes()),
                _ => into[0] = self.load(at),
            }
            done += unit;
        }
        // Later reads see data at least as new.
        fence(Ordering::Acquire);
    }

    /// Writes bytes, lowest address first.
    ///
    /// # Panics
    /// As [`read`](Self::read).
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        self.check(offset, bytes.len());
        // Earlier writes are visible first.
        fence(Ordering::Release);
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done;
            let unit = unit(at, bytes.len() - done);
            let from = &bytes[done..done + unit];
            match *from {
                [a, b, c, d, e, f, g, h] => self.store(at, u64::from_ne_bytes([a, b, c, d, e, f, g, h])),
                [a, b, c, d] => self.store(at, u32::from_ne_bytes([a, b, c, d])),
                [a, b] => self.store(at, u16::from_ne_bytes([a, b])),
                _ => self.store(at, from[0]),
            }
            done += unit;
        }
    }

    fn check(&self, offset: usize, bytes: usize) {
        let end = offset.checked_add(bytes);
        assert!(
            end.is_some_and(|end| end <= self.bytes),
            "{bytes} bytes at {offset:#x} are not within the {} bytes of the mapping",
            self.bytes
        );
    }

    fn load<T: Copy>(&self, offset: usize) -> T {
        // SAFETY: `read` has checked that the bytes are within the mapping, and `unit` that they are aligned; every pattern
        // of bits is a value of the integers that it is called for.
        unsafe { self.start.byte_add(offset).cast::<T>().read_volatile() }
    }

    fn store<T: Copy>(&self, offset: usize, value: T) {
        // SAFETY: as in `load`.
        unsafe { self.start.byte_add(offset).cast::<T>().write_volatile(value) }
    }
}

/// Zeroed memory in an anonymous file (memfd) that other processes can map, sealed against shrinking.
#[derive(Debug)]
pub struct SharedMemory {
    /// The file, or why there is none.
    file: io::Result<OwnedFd>,
    mapping: Mapping,
}

impl SharedMemory {
    /// Allocates bytes, at least 1, lazily. If no such file can be created, for example because of `ulimit -f`, the memory is
    /// private to this process.
    ///
    /// # Errors
    /// If the system gives no more.
    pub fn new(bytes: usize) -> io::Result<Self> {
        let file = sealed_file(bytes);
        let mapping = match &file {
            Ok(file) => Mapping::new(file, 0, bytes)?,
            Err(_) => Mapping::anonymous(bytes)?,
        };
        Ok(Self { file, mapping })
    }

    /// Returns the file, for another process.
    ///
    /// # Errors
    /// Why there is none.
    pub fn file(&self) -> Result<BorrowedFd<'_>, &io::Error> {
        self.file.as_ref().map(AsFd::as_fd)
    }

    /// Returns the mapping.
    pub fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// Maps memory of another process.
    ///
    /// # Errors
    /// If the file is shorter, or cannot be mapped.
    pub fn map(file: impl AsFd, bytes: usize) -> io::Result<Mapping> {
        let found = fstat(&file)?;
        let size = found.st_size;
        // The driver of a device checks the size itself.
        let is_long = FileType::from_raw_mode(found.st_mode) != FileType::RegularFile
            || u64::try_from(size).is_ok_and(|size| size >= bytes as u64);
        match is_long {
            true => Mapping::new(file, 0, bytes),
            false => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a file of {size} bytes for {bytes} bytes of memory"),
            )),
        }
    }
}

fn sealed_file(bytes: usize) -> io::Result<OwnedFd> {
    let file = memfd_create("spinneret", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    ftruncate(&file, bytes as u64)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

/// Size of the next atomic access at an offset. Mappings begin at a page, so the offset determines the alignment.
fn unit(offset: usize, left: usize) -> usize {
    [8, 4, 2]
        .into_iter()
        .find(|unit| offset.is_multiple_of(*unit) && *unit <= left)
        .unwrap_or(1)
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is ours, and nothing refers to it. Unmapping a whole mapping does not fail.
        let unmapped = unsafe { munmap(self.start.as_ptr(), self.bytes) };
        debug_assert_eq!(unmapped, Ok(()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::FileExt as _;

    const BYTES: usize = 4096;

    fn file() -> std::fs::File {
        let file = tempfile::tempfile().expect("there is room");
        file.set_len(BYTES as u64).expect("there is room");
        file
    }

    proptest! {
        #[test]
        fn what_is_written_on_one_side_is_read_on_the_other(start in 0..64_usize, bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let file = file();
            let [one, other] = [(); 2].map(|()| Mapping::new(&file, 0, BYTES).expect("it can be mapped"));
            one.write(start, &bytes);
            let mut read = vec![0; bytes.len()];
            other.read(start, &mut read);
            prop_assert_eq!(&read, &bytes);
            let mut whole = vec![0; BYTES];
            file.read_exact_at(&mut whole, 0).expect("it is there");
            prop_assert_eq!(&whole[start..start + bytes.len()], &bytes[..]);
            prop_assert!(whole[..start].iter().chain(&whole[start + bytes.len()..]).all(|byte| *byte == 0));
        }
    }

    #[test]
    fn memory_of_another_process_is_the_same_and_keeps_its_size() {
        let memory = SharedMemory::new(BYTES).expect("there is room");
        let file = memory.file().expect("there is one");
        let other = SharedMemory::map(file, BYTES).expect("it can be mapped");
        other.write(8, &[1, 2, 3]);
        let mut read = [9; 5];
        memory.mapping().read(7, &mut read);
        assert_eq!(read, [0, 1, 2, 3, 0]);
        assert!(ftruncate(file, 0).is_err());
        let error = SharedMemory::map(file, BYTES + 1).unwrap_err();
        assert_eq!(error.to_string(), "a file of 4096 bytes for 4097 bytes of memory");
    }

    #[test]
    fn aligned_words_are_accessed_atomically() {
        assert_eq!([unit(0, 100), unit(8, 8), unit(8, 7), unit(12, 8)], [8, 8, 4, 4]);
        assert_eq!([unit(6, 8), unit(6, 1), unit(7, 8)], [2, 1, 1]);
    }

    #[test]
    #[should_panic(expected = "2 bytes at 0xfff are not within the 4096 bytes")]
    fn nothing_is_accessed_behind_the_end() {
        Mapping::new(file(), 0, BYTES)
            .expect("it can be mapped")
            .write(BYTES - 1, &[0, 0]);
    }
}
