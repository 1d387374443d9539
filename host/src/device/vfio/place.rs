//! Places on the PCI bus, and what the system's files say of the functions there.

use super::failure::VfioError;
use spinneret_regmap::pci;
use std::io;
use std::path::{Path, PathBuf};

/// Where the system shows PCI functions.
const DEVICES: &str = "/sys/bus/pci/devices";
/// Those of the driver by which programs have functions, under the root of the system's files.
const BOUND: &str = "sys/bus/pci/drivers/vfio-pci";
/// Where it gives groups of the IOMMU.
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
        return Err(VfioError::Foreign {
            place: place.to_owned(),
            vendor,
            device: id,
        });
    }
    let driver = link(&device.join("driver"));
    if driver.as_deref() != Some("vfio-pci") {
        return Err(VfioError::Driver {
            place: place.to_owned(),
            driver,
        });
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

#[cfg(test)]
mod tests {
    use super::{first_bound, is_place};
    use spinneret_regmap::pci;

    #[test]
    fn a_place_is_written_as_the_system_writes_it() {
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
    fn the_first_function_of_ours_is_found_among_others() -> std::io::Result<()> {
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
