//! What the back-end asks of the system, so that tests can answer in the driver's place.

use crate::device::Mapping;
use rustix::io::Errno;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Files of the system.
pub trait System: fmt::Debug {
    /// The device file, when it is open.
    type File: DeviceFile;

    /// Opens a device file and locks it; [`WouldBlock`](io::ErrorKind::WouldBlock) if another program has it locked.
    ///
    /// # Errors
    /// If there is none, or it cannot be opened.
    fn open(&self, path: &Path) -> io::Result<Self::File>;

    /// Folders of the auxiliary devices that the driver can serve; none if there is no such bus.
    ///
    /// # Errors
    /// If the bus cannot be looked at.
    fn auxiliary_devices(&self) -> io::Result<Vec<PathBuf>>;

    /// The folder with the registers of a device file, where its driver says which it is.
    fn folder(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }

    /// Whether there is such a file.
    fn exists(&self, path: &Path) -> bool;

    /// Reads a text file of sysfs.
    ///
    /// # Errors
    /// If it is gone, or the driver refuses.
    fn read_text(&self, path: &Path) -> io::Result<String>;

    /// Writes a text file of sysfs, in one piece.
    ///
    /// # Errors
    /// As [`read_text`](Self::read_text).
    fn write_text(&self, path: &Path, text: &str) -> io::Result<()>;

    /// Bytes of a page of memory.
    fn page_bytes(&self) -> u32;
}

/// An open device file.
pub trait DeviceFile: fmt::Debug {
    /// Goes to an address of the cluster; the position that comes back is another one.
    ///
    /// # Errors
    /// If there is no memory, or the cluster is in reset.
    fn seek(&mut self, address: u64) -> io::Result<u64>;

    /// Reads words from where it is, fewer than asked for if the driver likes.
    ///
    /// # Errors
    /// If the cluster is in reset, or the driver goes.
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize>;

    /// Writes words to where it is, fewer than asked for if the driver likes.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Where the host memory of a context is for the card.
    ///
    /// # Errors
    /// If there is no such context, or the file is of another driver.
    fn query(&mut self, context: u32) -> io::Result<DmaArea>;

    /// Reads 8 bytes, the lower half first.
    ///
    /// # Errors
    /// If there is no memory at that address.
    fn read_word(&mut self, address: u64) -> io::Result<u64>;

    /// Writes 8 bytes, the lower half first.
    ///
    /// # Errors
    /// As [`read_word`](Self::read_word).
    fn write_word(&mut self, address: u64, data: u64) -> io::Result<()>;

    /// Takes host memory for a context and maps it; it is a number of whole pages, all 0.
    ///
    /// # Errors
    /// If there is not so much, or it is in use.
    fn map(&mut self, context: u32, bytes: u32) -> io::Result<Mapping>;

    /// Gives the host memory of a context back.
    fn unmap(&mut self, context: u32, mapping: Mapping);

    /// What the card can do, if the file is one of our own driver. The calls below are for such files alone.
    ///
    /// # Errors
    /// If the card is gone.
    fn abilities(&mut self) -> io::Result<Option<Abilities>> {
        Ok(None)
    }

    /// Reads a control register.
    ///
    /// # Errors
    /// If the card has none there, or is gone.
    fn read_register(&mut self, offset: u32) -> io::Result<u32> {
        let _ = offset;
        Err(Errno::NOTTY.into())
    }

    /// Writes a control register.
    ///
    /// # Errors
    /// As [`read_register`](Self::read_register), or if the driver refuses the value.
    fn write_register(&mut self, offset: u32, value: u32) -> io::Result<()> {
        let _ = (offset, value);
        Err(Errno::NOTTY.into())
    }

    /// Waits for events, but not longer than that: a bit for each line that had one since the last call.
    ///
    /// # Errors
    /// If the card is gone.
    fn wait_event(&mut self, limit: Duration) -> io::Result<u32> {
        let _ = limit;
        Err(Errno::NOTTY.into())
    }
}

/// What a card behind our own driver can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// It has the registers that the public design does not have.
    pub extensions: bool,
    /// Its events are interrupts.
    pub interrupts: bool,
}

/// Host memory of a context as the driver describes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DmaArea {
    /// Its address for the card.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
    /// It is mapped by somebody.
    pub is_enabled: bool,
}
