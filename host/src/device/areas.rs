//! Host memory of the contexts of a device whose driver is this process.

use super::{Area, DeviceError, Mapping, SharedMemory};
use rustix::param::page_size;
use spinneret_regmap::CONTEXTS;
use std::io;
use std::os::fd::OwnedFd;

/// Host memory of each context that has any. In the device's address space that of context n begins at the spacing times n + 1.
#[derive(Debug)]
pub(super) struct Areas {
    spacing: u64,
    memory: [Option<SharedMemory>; CONTEXTS as usize],
}

impl Areas {
    pub(super) fn new(spacing: u64) -> Self {
        Self {
            spacing,
            memory: [const { None }; CONTEXTS as usize],
        }
    }

    pub(super) fn address(&self, context: u32) -> u64 {
        self.spacing * (u64::from(context) + 1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.memory.iter().all(Option::is_none)
    }

    /// Allocates memory for a context, whole pages. `attach` gives the device the memory at its address.
    ///
    /// # Errors
    /// The context does not exist or has memory, or there is no more: an error of `no_memory`, from the bytes and the reason.
    pub(super) fn open(
        &mut self,
        context: u32,
        bytes: u32,
        no_memory: impl Fn(usize, io::Error) -> DeviceError,
        attach: impl FnOnce(u64, &SharedMemory) -> io::Result<()>,
    ) -> Result<Area, DeviceError> {
        let address = self.address(context);
        let Some(place) = self.memory.get_mut(context as usize) else {
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
        let failed = |source| no_memory(size, source);
        let bytes = u32::try_from(size).map_err(|_| failed(io::ErrorKind::InvalidInput.into()))?;
        if u64::from(bytes) > self.spacing {
            return Err(failed(io::Error::other(format!(
                "the device has {} bytes for a context at most",
                self.spacing
            ))));
        }
        let memory = SharedMemory::new(size).map_err(failed)?;
        attach(address, &memory).map_err(failed)?;
        *place = Some(memory);
        Ok(Area { address, bytes })
    }

    /// Gives the memory of a context back, if it has any.
    pub(super) fn close(&mut self, context: u32) -> Option<SharedMemory> {
        self.memory.get_mut(context as usize)?.take()
    }

    pub(super) fn mapping(&self, context: u32) -> Option<&Mapping> {
        Some(self.memory.get(context as usize)?.as_ref()?.mapping())
    }

    /// A file of a context's memory.
    ///
    /// # Errors
    /// There is no memory, or it has no file.
    pub(super) fn file(&self, context: u32) -> Result<OwnedFd, DeviceError> {
        let refused = |why: String| DeviceError::Refused(format!("host memory of context {context}: {why}"));
        let memory = self.memory.get(context as usize).and_then(Option::as_ref);
        let memory = memory.ok_or_else(|| refused("it was not taken".to_owned()))?;
        let file = memory.file().map_err(|error| refused(error.to_string()))?;
        file.try_clone_to_owned()
            .map_err(|error| refused(error.to_string()))
    }
}
