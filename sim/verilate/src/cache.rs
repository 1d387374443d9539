//! A cache of built libraries for all build scripts of a target folder: Cargo reruns a script in another folder for
//! clippy and for each profile, but the models are the same.

use crate::{Error, FileContext};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process;
use std::time::SystemTime;

/// Name of the folder in Cargo's target folder.
const FOLDER: &str = "verilated";

/// Libraries kept of each name: the most recently used ones.
const KEPT: usize = 4;

/// Where libraries are kept.
#[derive(Clone, Debug)]
pub(crate) struct Cache(Option<PathBuf>);

impl Cache {
    /// The cache of the target folder around a build script's `OUT_DIR`: `target/PROFILE/build/PACKAGE/out`. Other
    /// folders have none.
    pub(crate) fn of(out_dir: &Path) -> Self {
        let build = out_dir.ancestors().nth(2);
        let is_cargos = build.is_some_and(|build| build.file_name().is_some_and(|name| name == "build"));
        let target = build.and_then(|build| build.ancestors().nth(2));
        Self(target.filter(|_| is_cargos).map(|target| target.join(FOLDER)))
    }

    /// Copies the library of that name and key to its place, if cached.
    pub(crate) fn fetch(&self, name: &str, key: &str, library: &Path) -> bool {
        let Some([kept, stamp]) = self.files(name, key) else {
            return false;
        };
        let is_it = fs::read_to_string(&stamp).is_ok_and(|of| of == key);
        if !is_it || fs::copy(kept, library).is_err() {
            return false;
        }
        // Only the order of use matters.
        let _ = File::options()
            .append(true)
            .open(stamp)
            .and_then(|stamp| stamp.set_modified(SystemTime::now()));
        true
    }

    /// Keeps a library.
    ///
    /// # Errors
    /// If it cannot be copied.
    pub(crate) fn store(&self, name: &str, key: &str, library: &Path) -> Result<(), Error> {
        let (Some(folder), Some([kept, stamp])) = (&self.0, self.files(name, key)) else {
            return Ok(());
        };
        fs::create_dir_all(folder).at("create", folder)?;
        // Files are renamed when they are complete, the stamp last. Concurrent writers store the same bytes.
        let part = folder.join(format!("{name}.{}.part", process::id()));
        fs::copy(library, &part).at("write", &part)?;
        fs::rename(&part, &kept).at("rename", &part)?;
        fs::write(&part, key).at("write", &part)?;
        fs::rename(&part, &stamp).at("rename", &part)?;
        prune(folder, name);
        Ok(())
    }

    /// The library, and the file that records its key.
    fn files(&self, name: &str, key: &str) -> Option<[PathBuf; 2]> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let stem = format!("{name}-{:016x}", hasher.finish());
        let folder = self.0.as_ref()?;
        Some(["a", "key"].map(|extension| folder.join(format!("{stem}.{extension}"))))
    }
}

/// Removes the least recently used libraries of a name. Ignore errors: a file that stays only takes space.
fn prune(folder: &Path, name: &str) {
    let mut stamps: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_stamp = path.extension().is_some_and(|extension| extension == "key");
        let stem = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if is_stamp && stem.rsplit_once('-').is_some_and(|(of, _)| of == name) {
            let used = entry.metadata().and_then(|file| file.modified());
            stamps.push((used.unwrap_or(SystemTime::UNIX_EPOCH), path));
        }
    }
    stamps.sort();
    for (_, stamp) in stamps.iter().rev().skip(KEPT) {
        let _ = fs::remove_file(stamp);
        let _ = fs::remove_file(stamp.with_extension("a"));
    }
}

#[cfg(test)]
mod tests {
    use super::{Cache, KEPT};
    use std::fs;

    #[test]
    fn a_library_comes_back_for_its_very_key_and_old_ones_are_forgotten() {
        let target = std::env::temp_dir().join(format!("spinneret-cache-{}", std::process::id()));
        let out = target.join("debug/build/package-1/out");
        fs::create_dir_all(&out).expect("there is room");
        let cache = Cache::of(&out);
        let (library, fetched) = (out.join("lib.a"), out.join("fetched.a"));
        for round in 0..KEPT + 2 {
            fs::write(&library, format!("library {round}")).expect("there is room");
            cache
                .store("model", &format!("key {round}"), &library)
                .expect("there is room");
            // Files written in the same tick would have no order.
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(!cache.fetch("model", "key 0", &fetched));
        assert!(!cache.fetch("model_2", "key 5", &fetched));
        assert!(cache.fetch("model", "key 5", &fetched));
        assert_eq!(fs::read(&fetched).expect("it is there"), b"library 5");
        let files = fs::read_dir(target.join("verilated")).expect("it is there");
        assert_eq!(files.count(), 2 * KEPT);
        fs::remove_dir_all(&target).expect("it is ours");
    }

    #[test]
    fn folders_that_are_not_cargos_have_no_cache() {
        let out = std::env::temp_dir();
        assert!(Cache::of(&out).0.is_none());
    }
}
