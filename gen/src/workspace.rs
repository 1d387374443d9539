//! Where the checkout is, and how paths in it are shown.

use crate::Error;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The root of a checkout of spinneret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The checkout that the current directory is in, else the one this program was built from.
    ///
    /// # Errors
    /// There is neither.
    pub fn find() -> Result<Self, Error> {
        let current = env::current_dir().map_err(|source| Error::Io {
            action: "find",
            path: "the current directory".to_owned(),
            source,
        })?;
        let built_from = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self::above(&current)
            .or_else(|| Self::above(built_from))
            .ok_or(Error::NoWorkspace)
    }

    /// The nearest checkout among a directory and those above it.
    pub fn above(directory: &Path) -> Option<Self> {
        let root = directory.ancestors().find(|candidate| is_root(candidate))?;
        Some(Self {
            root: root.to_owned(),
        })
    }

    /// The root itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path as people read it: relative to the root if it is below it.
    pub fn show(&self, path: &Path) -> String {
        path.strip_prefix(&self.root)
            .unwrap_or(path)
            .display()
            .to_string()
    }
}

/// Looks for this crate beside the manifest: any workspace has a manifest, only ours has both.
fn is_root(directory: &Path) -> bool {
    let holds = |path: &str, text: &str| {
        fs::read_to_string(directory.join(path)).is_ok_and(|manifest| manifest.contains(text))
    };
    holds("Cargo.toml", "[workspace]") && holds("gen/Cargo.toml", "name = \"spinneret-gen\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn finds_the_checkout_from_any_folder_below_it() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        fs::write(root.join("Cargo.toml"), "[workspace]\n").unwrap();
        fs::create_dir_all(root.join("gen/src")).unwrap();
        assert_eq!(
            Workspace::above(&root.join("gen/src")),
            None,
            "a foreign workspace is not ours"
        );
        fs::write(
            root.join("gen/Cargo.toml"),
            "[package]\nname = \"spinneret-gen\"\n",
        )
        .unwrap();
        let found = Workspace::above(&root.join("gen/src")).unwrap();
        assert_eq!(found.root(), root);
        assert_eq!(found.show(&root.join("gen/verilog")), "gen/verilog");
        assert_eq!(found.show(Path::new("/elsewhere")), "/elsewhere");
    }
}
