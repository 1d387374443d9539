//! What the system's error numbers mean here, and what to do about them.

use crate::device::DeviceError;
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};

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
        "no permission for {path}: run as root, or let a udev rule give it to a group of yours \
         (KERNEL==\"pspin0\", GROUP=\"spinneret\", MODE=\"0660\"): {source}"
    )]
    Permission {
        /// The device file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Somebody else has it.
    #[error("the card at {0} is in use by another program")]
    Busy(PathBuf),
    /// Somebody who does not lock it has it.
    #[error(
        "host memory of context {context} at {path} is mapped already: end the program that uses the card; if there is \
         none, a mapping has failed, and the driver has to be loaded anew"
    )]
    Mapped {
        /// The device file.
        path: PathBuf,
        /// The context.
        context: u32,
    },
    /// It is the file of something else.
    #[error(
        "{path} is no device file of a NIC's driver: {source}; it is usually /dev/spinneret0, or /dev/pspin0 of mqnic_app_pspin"
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It cannot be opened for another reason.
    #[error("{path} cannot be opened: {source}")]
    Open {
        /// The device file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The bus cannot be looked at.
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
            Some(Errno::ACCESS | Errno::PERM) => Self::Permission { path, source },
            Some(Errno::WOULDBLOCK | Errno::BUSY) => Self::Busy(path),
            Some(Errno::NOTTY) => Self::Foreign { path, source },
            _ => Self::Open { path, source },
        }
    }

    /// Why the driver's first question was not answered.
    pub(super) fn foreign(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match Errno::from_io_error(&source) {
            Some(Errno::NODEV) => Self::NoFile(path),
            _ => Self::Foreign { path, source },
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
