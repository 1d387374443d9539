//! The system calls of this back-end, as traits that tests implement in place of the driver.

use crate::device::{DeviceError, Mapping};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, io};

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
    /// If the bus cannot be read.
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
    /// If it does not exist any more, or the driver refuses.
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
    /// Seeks to an address of the cluster; the returned position is not the address.
    ///
    /// # Errors
    /// If there is no memory, or the cluster is in reset.
    fn seek(&mut self, address: u64) -> io::Result<u64>;

    /// Reads words at the current address, possibly fewer than requested.
    ///
    /// # Errors
    /// If the cluster is in reset, or the driver goes.
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize>;

    /// Writes words at the current address, possibly fewer than requested.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Returns the address of the host memory of a context on the card.
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

    /// Allocates and maps zeroed host memory for a context, in whole pages.
    ///
    /// # Errors
    /// There is not enough memory, or the context has some already.
    fn map(&mut self, context: u32, bytes: u32) -> io::Result<Mapping>;

    /// Frees the host memory of a context.
    fn unmap(&mut self, context: u32, mapping: Mapping);

    /// Returns the features of the card, if the file belongs to our driver. The calls below need such a file.
    ///
    /// # Errors
    /// If the card was removed.
    fn abilities(&mut self) -> io::Result<Option<Abilities>> {
        Ok(None)
    }

    /// Reads a control register.
    ///
    /// # Errors
    /// If the card has none there, or was removed.
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

    /// Returns a file of the host memory of a context, for another process to map.
    ///
    /// # Errors
    /// If the context has none, or the card was removed.
    fn lend(&self, context: u32) -> io::Result<OwnedFd> {
        let _ = context;
        Err(Errno::NOTTY.into())
    }

    /// Waits for events, up to a limit. Returns a bit for each line with an event since the last call.
    ///
    /// # Errors
    /// If the card was removed.
    fn wait_event(&mut self, limit: Duration) -> io::Result<u32> {
        let _ = limit;
        Err(Errno::NOTTY.into())
    }
}

/// Features of a card with our driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// It has the registers that FPsPIN does not have.
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
    /// It is mapped by a process.
    pub is_enabled: bool,
}

// Errors of the system, with advice.

/// Why there is no card behind a device file.
#[derive(Debug, thiserror::Error)]
pub enum CardError {
    /// There is no such file.
    #[error(
        "there is no {0}: load the driver with `modprobe spinneret`, or `modprobe mqnic_app_pspin` for /dev/pspin0, and look into \
         `dmesg` if it is there already"
    )]
    NoFile(PathBuf),
    /// The user may not use it.
    #[error(
        "no permission for {0}: run as root, or let a udev rule give it to a group of yours \
         (KERNEL==\"pspin0\", GROUP=\"spinneret\", MODE=\"0660\"): {1}"
    )]
    Permission(PathBuf, #[source] io::Error),
    /// Another program uses it.
    #[error(
        "the card at {0} is in use by another program: end it, or let `spinneret share {0}` open the card for all of them"
    )]
    Busy(PathBuf),
    /// A program that does not lock it uses it.
    #[error(
        "host memory of context {1} at {0} is mapped already: end the program that uses the card; if there is \
         none, a mapping has failed, and the driver has to be loaded anew"
    )]
    Mapped(PathBuf, u32),
    /// It is the file of something else.
    #[error(
        "{0} is no device file of a NIC's driver: {1}; it is usually /dev/spinneret0, or /dev/pspin0 of mqnic_app_pspin"
    )]
    Foreign(PathBuf, #[source] io::Error),
    /// It cannot be opened for another reason.
    #[error("{0} cannot be opened: {1}")]
    Open(PathBuf, #[source] io::Error),
    /// The bus cannot be read.
    #[error("/sys/bus/auxiliary/devices, where the driver shows its registers, cannot be read: {0}")]
    Bus(io::Error),
    /// There are no registers.
    #[error(
        "there is no mqnic.app_12340100.* in /sys/bus/auxiliary/devices: load the drivers mqnic and mqnic_app_pspin"
    )]
    NoDriver,
    /// There are several cards.
    #[error(
        "there are {0} cards with PsPIN, and the driver serves one: take the others out, or unbind them from mqnic"
    )]
    ManyCards(usize),
    /// The driver is of another version.
    #[error(
        "the driver has no register {0}: it is not loaded, or does not have the registers of the public design"
    )]
    NoRegister(PathBuf),
    /// A register does not answer.
    #[error("the registers of the card do not answer: {0}")]
    Registers(DeviceError),
}

impl CardError {
    /// Why the device file could not be opened.
    pub(super) fn opening(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match Errno::from_io_error(&source) {
            Some(Errno::NOENT | Errno::NODEV | Errno::NXIO) => Self::NoFile(path),
            Some(Errno::ACCESS | Errno::PERM) => Self::Permission(path, source),
            Some(Errno::WOULDBLOCK | Errno::BUSY) => Self::Busy(path),
            Some(Errno::NOTTY) => Self::Foreign(path, source),
            _ => Self::Open(path, source),
        }
    }

    /// Why the driver's first question was not answered.
    pub(super) fn foreign(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match Errno::from_io_error(&source) {
            Some(Errno::NODEV) => Self::NoFile(path),
            _ => Self::Foreign(path, source),
        }
    }
}

const GONE: &str = "the driver was unloaded, or the card is off the bus";

/// Why a register could not be accessed.
pub(super) fn register(source: &io::Error) -> DeviceError {
    match Errno::from_io_error(source) {
        Some(Errno::NODEV | Errno::NXIO | Errno::NOENT) => DeviceError::Gone(GONE.to_owned()),
        Some(Errno::INVAL) => DeviceError::Refused(
            "the driver refuses the value; it says why in `dmesg` (contexts are enabled only if their host memory is as it \
             was mapped)"
                .to_owned(),
        ),
        Some(Errno::ACCESS | Errno::PERM) => DeviceError::Refused(format!(
            "no permission: the files of registers belong to root, so run as root, or let a udev rule change that ({source})"
        )),
        _ => DeviceError::Refused(source.to_string()),
    }
}

/// Why memory of the cluster could not be accessed.
pub(super) fn memory(action: &str, address: u32, source: &io::Error) -> DeviceError {
    match Errno::from_io_error(source) {
        Some(Errno::NODEV) => DeviceError::Gone(GONE.to_owned()),
        Some(Errno::PERM) => {
            DeviceError::Refused("the cluster is held in reset (cl.ctrl[1] is 1)".to_owned())
        }
        Some(Errno::INVAL | Errno::FAULT) => {
            DeviceError::Refused(format!("the driver knows no memory at {address:#010x}"))
        }
        _ if source.kind() == io::ErrorKind::UnexpectedEof => {
            DeviceError::Refused(format!("the driver's {action} ends early"))
        }
        _ => DeviceError::Refused(source.to_string()),
    }
}

/// Why there is no host memory for a context.
pub(super) fn host_memory(context: u32, bytes: u32, source: io::Error) -> DeviceError {
    match Errno::from_io_error(&source) {
        Some(Errno::NODEV) => DeviceError::Gone(GONE.to_owned()),
        Some(Errno::AGAIN) => DeviceError::Refused(format!(
            "host memory of context {context} is in use by another program"
        )),
        Some(Errno::NOMEM) => DeviceError::NoMemory(format!(
            "the kernel has no {bytes} bytes in one piece: ask for fewer, or reserve memory with cma= on its command line"
        )),
        Some(Errno::IO) => DeviceError::Refused(format!(
            "the driver could not map the host memory of context {context}: as published it maps that of context 0 only. \
             Open other contexts without host memory, or change the driver (docs/host/library.md); it has to be loaded anew \
             now"
        )),
        _ => DeviceError::Refused(format!("host memory of context {context}: {source}")),
    }
}
