//! What is wrong when the kernel does not give a PCI function, and what to do about it.

use crate::device::DeviceError;
use spinneret_regmap::pci;
use std::io;
use std::path::PathBuf;

/// Why there is no NIC at a place of the PCI bus.
#[derive(Debug, thiserror::Error)]
pub enum VfioError {
    /// It is no place.
    #[error(
        "`{0}` is no place on the PCI bus: write it as 0000:00:03.0, as `lspci -D` does, with `,slower=1000` behind it for a NIC whose \
         time passes so much slower"
    )]
    Place(String),
    /// Nothing is there.
    #[error("there is no PCI device {0}: `lspci -D` lists those that there are")]
    NoDevice(String),
    /// Something else is there.
    #[error(
        "{place} is {vendor:04x}:{device:04x}, and a NIC of spinneret is {:04x}:{:04x}",
        pci::VENDOR,
        pci::DEVICE
    )]
    Foreign {
        /// The place.
        place: String,
        /// Its vendor.
        vendor: u32,
        /// Its device.
        device: u32,
    },
    /// Another driver has it, or none.
    #[error(
        "{place} is {}, not to vfio-pci: as root, `modprobe vfio-pci`, then `echo vfio-pci > \
         /sys/bus/pci/devices/{place}/driver_override`{} and `echo {place} > /sys/bus/pci/drivers_probe`",
        driver.as_ref().map_or("bound to no driver".to_owned(), |driver| format!("bound to {driver}")),
        driver.as_ref().map_or(String::new(), |_| format!(", `echo {place} > /sys/bus/pci/devices/{place}/driver/unbind`"))
    )]
    Driver {
        /// The place.
        place: String,
        /// The driver that has it.
        driver: Option<String>,
    },
    /// There is no IOMMU.
    #[error(
        "{0} is behind no IOMMU, so the kernel gives it to nobody: turn it on in the firmware, and boot with \
         `intel_iommu=on` or, for AMD, without `amd_iommu=off`"
    )]
    NoIommu(String),
    /// Its group is used by others.
    #[error(
        "the IOMMU cannot tell {place} from {}, so all of them have to be bound to vfio-pci or to no driver",
        others.join(", ")
    )]
    NotViable {
        /// The place.
        place: String,
        /// The others of its group.
        others: Vec<String>,
    },
    /// Somebody has it.
    #[error("{0} is in use by another program")]
    Busy(String),
    /// The user may not use it.
    #[error("no permission for {path}: run as root, or give the file to yourself (`chown`): {source}")]
    Permission {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Some other call failed.
    #[error("{what} failed: {source}")]
    Call {
        /// What was tried.
        what: String,
        /// What the system says.
        source: io::Error,
    },
    /// It is not as a NIC of ours is.
    #[error("{place} is no NIC that this library knows: {what}")]
    Shape {
        /// The place.
        place: String,
        /// What is missing.
        what: String,
    },
}

impl VfioError {
    /// The result of something that was tried.
    pub(super) fn call(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Call {
            what: what.into(),
            source,
        }
    }
}

/// Why there is no host memory of that size.
pub(super) fn memory(bytes: usize, source: &io::Error) -> DeviceError {
    let hint = match source.kind() {
        // The kernel keeps all of it in memory, and counts it.
        io::ErrorKind::OutOfMemory => ": raise what may be locked, `ulimit -l`",
        io::ErrorKind::InvalidInput => ": the IOMMU has no room for it",
        _ => "",
    };
    DeviceError::NoMemory(format!(
        "{bytes} bytes of host memory cannot be given to the NIC: {source}{hint}"
    ))
}
