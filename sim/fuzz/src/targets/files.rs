//! Targets that take whole files.

use crate::mutate::damaged;
use crate::{Fed, Target};
use anyhow::Context as _;
use rand_chacha::ChaCha8Rng;
use std::path::{Path, PathBuf};

/// What files are called in what is said about them.
pub(super) const NAME: &str = "fuzzed";

/// The project's root.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A reader of files: whether it has understood one, or which promise does not hold.
type Reader = Box<dyn FnMut(&[u8]) -> Result<bool, String>>;

/// Gives damaged copies of good files to a reader.
pub(super) struct Files {
    good: Vec<Vec<u8>>,
    read: Reader,
}

impl Files {
    pub(super) fn target(
        good: Vec<Vec<u8>>,
        read: impl FnMut(&[u8]) -> Result<bool, String> + 'static,
    ) -> Box<dyn Target> {
        Box::new(Self {
            good,
            read: Box::new(read),
        })
    }
}

impl Target for Files {
    fn pieces(&self) -> &'static str {
        "files"
    }

    fn generate(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        damaged(&self.good, rng)
    }

    fn run(&mut self, input: &[u8]) -> Result<Fed, String> {
        let understood = (self.read)(input)?;
        Ok(Fed {
            pieces: 1,
            understood: understood.into(),
        })
    }
}

/// Refuses an error that does not name the file in one sentence.
pub(super) fn said(error: &str) -> Result<(), String> {
    match error.contains(NAME) && !error.contains('\n') {
        true => Ok(()),
        false => Err(format!("this is no sentence about the file: {error:?}")),
    }
}

/// The files of a folder of the project with one of these endings, to begin with. What once broke a target is none of them:
/// inputs follow from the seed and the examples alone.
pub(super) fn seeds(folder: &str, endings: &[&str]) -> anyhow::Result<Vec<Vec<u8>>> {
    let there = root().join(folder);
    let entries = std::fs::read_dir(&there).with_context(|| format!("cannot read {}", there.display()))?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    // A folder is listed in any order.
    paths.sort();
    let is_one = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| endings.contains(&ending))
    };
    let good: Vec<_> = paths
        .into_iter()
        .filter(is_one)
        .map(|path| seed(&path))
        .collect::<anyhow::Result<_>>()?;
    anyhow::ensure!(!good.is_empty(), "there are no inputs to begin with in {folder}");
    Ok(good)
}

/// A file to begin with.
pub(super) fn seed(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}
