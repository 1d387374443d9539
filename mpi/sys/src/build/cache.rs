//! Where compiled layers are kept.
//!
//! A layer is `<cache>/spinneret/mpi/<key>/libspinneret_mpi.so`. It is made in a folder of its own beside that name, and
//! renamed: ranks that start together may all make it, and whoever is last replaces a file by an equal one.

use crate::Error;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The name of the library in the folder of its key.
const FILE: &str = "libspinneret_mpi.so";

/// The folder for what can be made again: `XDG_CACHE_HOME`, or `.cache` in the user's own.
pub(super) fn of_user() -> Option<PathBuf> {
    // The standard of these folders says that relative ones do not count.
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}

/// A compiled layer.
#[derive(Debug)]
pub(super) struct Place {
    file: PathBuf,
    /// A folder that is removed with this, because nothing could be kept. What is loaded from it stays loaded.
    _temporary: Option<TempDir>,
}

impl Place {
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// What was made before.
    pub(super) fn kept(cache: &Path, key: &str) -> Option<Self> {
        let file = folder(cache, key).join(FILE);
        file.is_file().then_some(Self {
            file,
            _temporary: None,
        })
    }

    /// Makes a layer with a function that is given a folder for its sources and the file to write, and keeps it in the
    /// cache, or else in a temporary folder.
    pub(super) fn build(
        cache: Option<&Path>,
        key: &str,
        compile: impl Fn(&Path, &Path) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        if let Some(folder) = cache.map(|cache| folder(cache, key))
            && let Ok(work) = work_in(&folder)
        {
            let part = work.path().join(FILE);
            compile(work.path(), &part)?;
            let file = folder.join(FILE);
            if fs::rename(&part, &file).is_ok() {
                return Ok(Self {
                    file,
                    _temporary: None,
                });
            }
        }
        let temporary = tempfile::tempdir().map_err(|source| Error::Folder {
            folder: env::temp_dir(),
            source,
        })?;
        let file = temporary.path().join(FILE);
        compile(temporary.path(), &file)?;
        Ok(Self {
            file,
            _temporary: Some(temporary),
        })
    }
}

fn folder(cache: &Path, key: &str) -> PathBuf {
    cache.join("spinneret").join("mpi").join(key)
}

/// A folder to work in, beside what will be there.
fn work_in(folder: &Path) -> io::Result<TempDir> {
    fs::create_dir_all(folder)?;
    tempfile::Builder::new().prefix("building-").tempdir_in(folder)
}

#[cfg(test)]
mod tests {
    use super::Place;
    use std::fs;
    use std::path::Path;

    fn write(_: &Path, file: &Path) -> Result<(), crate::Error> {
        fs::write(file, "library").unwrap();
        Ok(())
    }

    #[test]
    fn keeps_what_it_made_and_nothing_else() {
        let cache = tempfile::tempdir().unwrap();
        assert!(Place::kept(cache.path(), "key").is_none());
        let place = Place::build(Some(cache.path()), "key", write).unwrap();
        assert_eq!(Place::kept(cache.path(), "key").unwrap().file(), place.file());
        assert!(Place::kept(cache.path(), "other").is_none());
        let folder = place.file().parent().unwrap();
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
    }

    #[test]
    fn works_without_a_cache() {
        let cache = tempfile::tempdir().unwrap();
        // A file where a folder should be cannot be written into by anybody, not even by root.
        let blocked = cache.path().join("file");
        fs::write(&blocked, "").unwrap();
        for cache in [None, Some(blocked.as_path())] {
            let place = Place::build(cache, "key", write).unwrap();
            let file = place.file().to_owned();
            assert_eq!(fs::read_to_string(&file).unwrap(), "library");
            drop(place);
            assert!(!file.exists());
        }
    }
}
