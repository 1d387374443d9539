//! PCI addresses, and the functions at them in sysfs.

use crate::device::DeviceError;
use spinneret_regmap::pci;
use std::io;
use std::path::{Path, PathBuf};

/// Sysfs folder of PCI functions.
const DEVICES: &str = "/sys/bus/pci/devices";
/// Those of the driver by which programs have functions, under the root of the system's files.
const BOUND: &str = "sys/bus/pci/drivers/vfio-pci";
/// Folder of IOMMU groups.
pub(super) const GROUPS: &str = "/dev/vfio";

/// The first function that is ours and bound to `vfio-pci`, in the order of the bus.
pub(in super::super) fn first_bound(root: &Path) -> Option<String> {
    let folders = std::fs::read_dir(root.join(BOUND)).ok()?.flatten();
    let names = folders.filter_map(|folder| folder.file_name().into_string().ok());
    let mut places: Vec<String> = names.filter(|name| is_place(name)).collect();
    places.sort_unstable();
    let is_ours = |place: &String| {
        let folder = root.join(BOUND).join(place);
        let ids = ["vendor", "device"].map(|name| number(&folder.join(name)).ok());
        ids == [pci::VENDOR, pci::DEVICE].map(|id| Some(u32::from(id)))
    };
    places.into_iter().find(is_ours)
}

/// The group of a function that is ours and bound to `vfio-pci`.
pub(super) fn find(place: &str) -> Result<PathBuf, VfioError> {
    if !is_place(place) {
        return Err(VfioError::Place(place.to_owned()));
    }
    let device = Path::new(DEVICES).join(place);
    if !device.exists() {
        return Err(VfioError::NoDevice(place.to_owned()));
    }
    let [vendor, id] = ["vendor", "device"].map(|name| number(&device.join(name)));
    let (vendor, id) = (vendor?, id?);
    if [vendor, id] != [pci::VENDOR, pci::DEVICE].map(u32::from) {
        return Err(VfioError::Foreign(place.to_owned(), vendor, id));
    }
    let driver = link(&device.join("driver"));
    if driver.as_deref() != Some("vfio-pci") {
        return Err(VfioError::Driver(place.to_owned(), driver));
    }
    let group = link(&device.join("iommu_group")).ok_or_else(|| VfioError::NoIommu(place.to_owned()))?;
    Ok(Path::new(GROUPS).join(group))
}

/// Whether it is written as 0000:00:03.0, so that it names nothing but a function.
fn is_place(place: &str) -> bool {
    let form = b"hhhh:hh:hh.h";
    place.len() == form.len()
        && place.bytes().zip(form).all(|(byte, form)| match form {
            b'h' => byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase(),
            mark => byte == *mark,
        })
}

/// A number in a file of the system.
fn number(path: &Path) -> Result<u32, VfioError> {
    let failed = |source| VfioError::call(format!("reading {}", path.display()))(source);
    let text = std::fs::read_to_string(path).map_err(failed)?;
    let digits = text.trim().trim_start_matches("0x");
    u32::from_str_radix(digits, 16).map_err(|error| failed(io::Error::other(error)))
}

/// The last part of what a link of the system leads to.
fn link(path: &Path) -> Option<String> {
    let target = std::fs::read_link(path).ok()?;
    Some(target.file_name()?.to_str()?.to_owned())
}

/// Functions that share the group with one.
pub(super) fn others(place: &str) -> Vec<String> {
    let group = Path::new(DEVICES).join(place).join("iommu_group/devices");
    let entries = std::fs::read_dir(group).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name != place).collect()
}

// Errors of PCI functions, with advice.

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
        "{0} is {1:04x}:{2:04x}, and a NIC of spinneret is {vendor:04x}:{device:04x}",
        vendor = pci::VENDOR,
        device = pci::DEVICE
    )]
    Foreign(String, u32, u32),
    /// Another driver has it, or none.
    #[error(
        "{0} is {bound}, not to vfio-pci: as root, `modprobe vfio-pci`, then `echo vfio-pci > \
         /sys/bus/pci/devices/{0}/driver_override`{unbind} and `echo {0} > /sys/bus/pci/drivers_probe`",
        bound = .1.as_ref().map_or("bound to no driver".to_owned(), |driver| format!("bound to {driver}")),
        unbind = .1.as_ref().map_or(String::new(), |_| format!(", `echo {0} > /sys/bus/pci/devices/{0}/driver/unbind`", .0))
    )]
    Driver(String, Option<String>),
    /// There is no IOMMU.
    #[error(
        "{0} is behind no IOMMU, so the kernel gives it to nobody: turn it on in the firmware, and boot with \
         `intel_iommu=on` or, for AMD, without `amd_iommu=off`"
    )]
    NoIommu(String),
    /// Its group is used by others.
    #[error(
        "the IOMMU cannot tell {0} from {others}, so all of them have to be bound to vfio-pci or to no driver",
        others = .1.join(", ")
    )]
    NotViable(String, Vec<String>),
    /// Another program uses it.
    #[error(
        "{0} is in use by another program: end it, or let `spinneret share vfio:{0}` open it for all of them"
    )]
    Busy(String),
    /// The user may not use it.
    #[error("no permission for {0}: run as root, or give the file to yourself (`chown`): {1}")]
    Permission(PathBuf, #[source] io::Error),
    /// Some other call failed.
    #[error("{0} failed: {1}")]
    Call(String, #[source] io::Error),
    /// It is not like a known spinneret NIC.
    #[error("{0} is no NIC that this library knows: {1}")]
    Shape(String, String),
}

impl VfioError {
    /// The result of something that was tried.
    pub(super) fn call(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Call(what.into(), source)
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

#[cfg(test)]
mod tests {
    use super::{first_bound, is_place};
    use spinneret_regmap::pci;

    #[test]
    fn accepts_only_canonical_pci_addresses() {
        assert!(is_place("0000:00:03.0") && is_place("00ff:ab:1f.7"));
        for wrong in [
            "",
            "00:03.0",
            "0000:00:03.00",
            "0000:00:03-0",
            "0000:AB:03.0",
            "../../:00:03",
        ] {
            assert!(!is_place(wrong), "{wrong}");
        }
    }

    #[test]
    fn finds_the_first_spinneret_function() -> std::io::Result<()> {
        let root = tempfile::tempdir()?;
        assert_eq!(first_bound(root.path()), None, "there is no such driver");
        let ours = [pci::VENDOR, pci::DEVICE];
        for (place, [vendor, device]) in [
            ("0000:00:05.0", ours),
            ("0000:00:04.0", ours),
            ("0000:00:03.0", [0x8086, 0x1533]),
        ] {
            let folder = root.path().join(super::BOUND).join(place);
            std::fs::create_dir_all(&folder)?;
            std::fs::write(folder.join("vendor"), format!("{vendor:#06x}\n"))?;
            std::fs::write(folder.join("device"), format!("{device:#06x}\n"))?;
        }
        std::fs::write(root.path().join(super::BOUND).join("bind"), "")?;
        assert_eq!(first_bound(root.path()).as_deref(), Some("0000:00:04.0"));
        Ok(())
    }
}
