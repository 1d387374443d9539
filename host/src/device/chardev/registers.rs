//! Which registers the driver has files for.

use super::{Abilities, CardError, System};
use spinneret_regmap::{find, words};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How registers are reached.
#[derive(Debug)]
pub(super) enum Registers {
    /// By files of the public driver, or of ours in its place.
    Files(RegisterFiles),
    /// By calls of our own driver.
    Calls(Abilities),
}

impl Registers {
    /// Whether the driver gives access to a register.
    pub(super) fn has(&self, offset: u32) -> bool {
        match self {
            Self::Files(files) => files.path(offset).is_some(),
            Self::Calls(card) => find(offset).is_some_and(|(register, _)| match register.group {
                "events" => card.interrupts,
                _ => card.extensions || !register.extension,
            }),
        }
    }
}

/// The files of registers, by offset.
#[derive(Debug)]
pub(super) struct RegisterFiles(BTreeMap<u32, PathBuf>);

impl RegisterFiles {
    /// Looks for the files in sysfs. Registers of the public design have to be there; those of ours may be.
    pub(super) fn find(system: &impl System, device: &Path) -> Result<Self, CardError> {
        let folder = match system.folder(device) {
            Some(folder) => folder,
            None => folder(system)?,
        };
        let mut files = BTreeMap::new();
        for word in words() {
            let register = word.register;
            let name = format!("{}/{}/{}", register.group, register.name, word.index);
            let path = folder.join(name);
            match system.exists(&path) {
                true => drop(files.insert(word.offset(), path)),
                false if register.extension => {}
                false => return Err(CardError::NoRegister(path)),
            }
        }
        Ok(Self(files))
    }

    /// The file of a register, if there is one.
    pub(super) fn path(&self, offset: u32) -> Option<&Path> {
        self.0.get(&offset).map(PathBuf::as_path)
    }
}

/// The folder of the only card that the driver serves.
fn folder(system: &impl System) -> Result<PathBuf, CardError> {
    let mut folders = system.auxiliary_devices().map_err(CardError::Bus)?;
    match (folders.pop(), folders.is_empty()) {
        (Some(folder), true) => Ok(folder),
        (Some(_), false) => Err(CardError::ManyCards(folders.len() + 1)),
        (None, _) => Err(CardError::NoDriver),
    }
}
