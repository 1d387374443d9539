//! A NIC with its own PCI function, through the kernel's `vfio-pci`, without a driver of spinneret in the kernel.
//!
//! ```text
//! Vfio ── Function ──► BAR 0, mapped: registers, L2 memory of the cluster
//!            ├───────► the IOMMU: only host memory of contexts, at addresses that are chosen here
//!            └───────► interrupts, an eventfd for each line of events
//! ```
//!
//! The kernel gives the function to one program at a time, and resets it however that program ends.

mod linux;
mod place;

pub use linux::PciFunction;
pub use place::VfioError;
pub(super) use place::first_bound;

use super::{Area, Device, DeviceError, Mapping, SharedMemory, has_feature, slower};
use rustix::param::page_size;
use spinneret_regmap::pspin::{HANDLER_BASE, HANDLER_BYTES, PROGRAM_BASE, PROGRAM_BYTES};
use spinneret_regmap::{CONTEXTS, REGISTER_BYTES, bar, caps, cl, events, find};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};
use std::{fmt, io};

/// Bytes of an access.
const WORD: usize = REGISTER_BYTES as usize;
/// Value of all reads of a function that does not answer.
const NOBODY: u32 = u32::MAX;
/// Spacing of contexts' host memory in the NIC's address space: that of context n begins at this times n + 1. It holds the
/// largest possible memory, above the 32-bit range, and below the 39 bits of the smallest IOMMUs.
const AREA_STRIDE: u64 = 1 << 33;
/// Number of polls until the cluster is in reset, and their interval.
const LOOKS: u32 = 1000;
const LOOK: Duration = Duration::from_micros(10);
/// Bit of `cl.status`: the cluster is in reset.
const HELD: u32 = 1 << 1;

/// A PCI function as the kernel exposes it.
pub trait Function: fmt::Debug {
    /// Reads a word of the application BAR.
    fn read(&self, offset: u32) -> u32;

    /// Writes a word of the application BAR.
    fn write(&self, offset: u32, value: u32);

    /// Maps memory for the function at an address.
    ///
    /// # Errors
    /// The kernel refuses.
    fn map(&self, address: u64, memory: &SharedMemory) -> io::Result<()>;

    /// Removes a mapping.
    ///
    /// # Errors
    /// The kernel refuses.
    fn unmap(&self, address: u64, bytes: u64) -> io::Result<()>;

    /// Waits for interrupts, up to a limit. Returns a bit for each vector since the last call.
    ///
    /// # Errors
    /// Waiting fails.
    fn wait(&self, limit: Duration) -> io::Result<u32>;
}

/// A NIC through `vfio-pci`. Dropping it resets the cluster before host memory is unmapped.
#[derive(Debug)]
pub struct Vfio<F: Function = PciFunction> {
    function: F,
    areas: [Option<SharedMemory>; CONTEXTS as usize],
    features: u32,
    opened: Instant,
    /// Factor by which time on the NIC is slower than wall-clock time.
    slower: u32,
}

impl Vfio {
    /// Opens the function at a PCI address, such as `0000:00:03.0`. With the suffix `,slower=N`, time on the NIC is N times slower
    /// than wall-clock time, as on a simulated one: all waits take N times as long.
    ///
    /// # Errors
    /// There is no such function, it is not a spinneret NIC, or the kernel refuses access.
    pub fn open(name: &str) -> Result<Self, VfioError> {
        let (place, slower) = slower(name).ok_or_else(|| VfioError::Place(name.to_owned()))?;
        Ok(Self::new(PciFunction::open(place)?, slower))
    }
}

impl<F: Function> Vfio<F> {
    /// Returns the NIC of a function, with the factor by which its time is slower than wall-clock time.
    pub fn new(function: F, slower: u32) -> Self {
        Self {
            features: function.read(in_bar(caps::FEATURES.offset)),
            function,
            areas: [const { None }; CONTEXTS as usize],
            opened: Instant::now(),
            slower: slower.max(1),
        }
    }

    fn has_feature(&self, name: &str) -> bool {
        has_feature(self.features, name)
    }

    /// Reads a word. If it is all ones, reads the magic number as well, to detect a function that does not answer.
    fn read_word(&self, offset: u32) -> Result<u32, DeviceError> {
        match self.function.read(offset) {
            NOBODY if self.function.read(in_bar(caps::MAGIC.offset)) == NOBODY => {
                Err(DeviceError::Gone(GONE.to_owned()))
            }
            word => Ok(word),
        }
    }

    /// Resets the cluster, and waits until it is in reset or does not answer.
    fn hold(&self) {
        self.function.write(in_bar(cl::FETCH_ENABLE), 0);
        self.function.write(in_bar(cl::AUX_RESET), 1);
        for _ in 0..LOOKS {
            if self.function.read(in_bar(cl::STATUS.offset)) & HELD != 0 {
                return;
            }
            std::thread::sleep(LOOK * self.slower);
        }
    }
}

/// The error for a function that does not answer.
const GONE: &str = "it answers all accesses with ones, as a function does that was removed or has failed";

/// Address of the host memory of a context on the NIC.
fn address(context: u32) -> u64 {
    AREA_STRIDE * (u64::from(context) + 1)
}

/// Offset of a register in the application BAR.
fn in_bar(register: u32) -> u32 {
    bar::CONTROL_REGISTERS.start + register
}

/// Offset in the application BAR of words in the cluster's memory.
fn cluster_in_bar(address: u32, bytes: usize) -> Result<u32, DeviceError> {
    let end = u64::from(address) + bytes as u64;
    let windows = [
        (HANDLER_BASE, HANDLER_BYTES, bar::HANDLER_AND_PACKET_MEMORY.start),
        (PROGRAM_BASE, PROGRAM_BYTES, bar::PROGRAM_MEMORY.start),
    ];
    let is_in = |base: u32, size: u32| address >= base && end <= u64::from(base) + u64::from(size);
    let window = windows.iter().find(|(base, size, _)| is_in(*base, *size));
    match window.filter(|_| address.is_multiple_of(REGISTER_BYTES) && bytes.is_multiple_of(WORD)) {
        Some((base, _, start)) => Ok(start + (address - base)),
        None => Err(DeviceError::Refused(format!(
            "{bytes} bytes at {address:#010x} are no words of L2 handler memory or program memory"
        ))),
    }
}

impl<F: Function> Device for Vfio<F> {
    fn has_register(&self, offset: u32) -> bool {
        find(offset).is_some_and(|(register, _)| register.group != "events" || self.has_events())
    }

    fn read_register(&mut self, offset: u32) -> Result<u32, DeviceError> {
        self.read_word(in_bar(offset))
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        self.function.write(in_bar(offset), value);
        Ok(())
    }

    fn read_cluster(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let start = cluster_in_bar(address, bytes.len())?;
        for (offset, word) in (start..).step_by(WORD).zip(bytes.chunks_exact_mut(WORD)) {
            word.copy_from_slice(&self.read_word(offset)?.to_le_bytes());
        }
        Ok(())
    }

    fn write_cluster(&mut self, address: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        let start = cluster_in_bar(address, bytes.len())?;
        for (offset, word) in (start..).step_by(WORD).zip(bytes.as_chunks().0) {
            self.function.write(offset, u32::from_le_bytes(*word));
        }
        Ok(())
    }

    fn open_area(&mut self, context: u32, bytes: u32) -> Result<Area, DeviceError> {
        let Some(place) = self.areas.get_mut(context as usize) else {
            return Err(DeviceError::Refused(format!("there is no context {context}")));
        };
        if place.is_some() {
            return Err(DeviceError::Refused(format!(
                "context {context} has host memory already"
            )));
        }
        if bytes == 0 {
            return Ok(Area { address: 0, bytes });
        }
        let size = (bytes as usize).next_multiple_of(page_size());
        let failed = |source| place::memory(size, &source);
        let size_for_nic = u32::try_from(size).map_err(|_| failed(io::ErrorKind::InvalidInput.into()))?;
        let memory = SharedMemory::new(size).map_err(failed)?;
        self.function.map(address(context), &memory).map_err(failed)?;
        *place = Some(memory);
        Ok(Area {
            address: address(context),
            bytes: size_for_nic,
        })
    }

    fn close_area(&mut self, context: u32) {
        let place = self.areas.get_mut(context as usize);
        if let Some(memory) = place.and_then(Option::take) {
            // Ignore errors: memory that is still mapped stays pinned by the kernel until the function is closed.
            let _ = self
                .function
                .unmap(address(context), memory.mapping().len() as u64);
        }
    }

    fn host_mapping(&self, context: u32) -> Option<&Mapping> {
        Some(self.areas.get(context as usize)?.as_ref()?.mapping())
    }

    fn host_file(&self, context: u32) -> Result<OwnedFd, DeviceError> {
        let refused = |why: String| DeviceError::Refused(format!("host memory of context {context}: {why}"));
        let area = self.areas.get(context as usize).and_then(Option::as_ref);
        let area = area.ok_or_else(|| refused("it was not taken".to_owned()))?;
        let file = area.file().map_err(|error| refused(error.to_string()))?;
        file.try_clone_to_owned()
            .map_err(|error| refused(error.to_string()))
    }

    fn tells_contexts(&self) -> bool {
        self.has_feature("context_in_message_id")
    }

    fn now(&self) -> Duration {
        self.opened.elapsed() / self.slower
    }

    fn wall(&self, time: Duration) -> Duration {
        time.saturating_mul(self.slower)
    }

    fn wait(&mut self, time: Duration) -> Result<(), DeviceError> {
        std::thread::sleep(self.wall(time));
        Ok(())
    }

    fn has_events(&self) -> bool {
        self.has_feature("events")
    }

    fn wait_event(&mut self, limit: Duration) -> Result<u32, DeviceError> {
        let vectors = self.function.wait(self.wall(limit));
        let vectors = vectors
            .map_err(|source| DeviceError::Gone(format!("its interrupts cannot be waited for: {source}")))?;
        Ok(vectors & events::PENDING.bits.mask(0))
    }
}

impl<F: Function> Drop for Vfio<F> {
    fn drop(&mut self) {
        self.function.write(in_bar(events::ENABLE.offset), 0);
        if self.areas.iter().any(Option::is_some) {
            // Handlers may still write to memory that is about to be freed.
            self.hold();
        }
        (0..CONTEXTS).for_each(|context| self.close_area(context));
    }
}
