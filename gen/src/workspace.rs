//! The checkout of spinneret: finding it, paths in messages, and pages of documentation that commands update.

use crate::error::failed;
use anyhow::Context as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The root of a checkout of spinneret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Returns the checkout of the current directory, else the one this program was built from.
    ///
    /// # Errors
    /// Neither exists.
    pub fn find() -> anyhow::Result<Self> {
        let current = env::current_dir().map_err(failed("find", "the current directory"))?;
        let built_from = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self::above(&current)
            .or_else(|| Self::above(built_from))
            .context(
                "this is not inside a checkout of spinneret, so there is no gen/verilog to use: change into the checkout or \
                 choose a directory with `--out`",
            )
    }

    /// Returns the nearest checkout among a directory and its parents.
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

    /// Returns a path for messages, relative to the root if it is below it.
    pub fn show(&self, path: &Path) -> String {
        path.strip_prefix(&self.root)
            .unwrap_or(path)
            .display()
            .to_string()
    }
}

/// Checks for this crate next to the manifest, which identifies the workspace.
fn is_root(directory: &Path) -> bool {
    let holds = |path: &str, text: &str| {
        fs::read_to_string(directory.join(path)).is_ok_and(|manifest| manifest.contains(text))
    };
    holds("Cargo.toml", "[workspace]") && holds("gen/Cargo.toml", "name = \"spinneret-gen\"")
}

/// Replaces the text between two marks; `None` if a mark is missing.
pub fn between(text: &str, [begin, end]: [&str; 2], new: &str) -> Option<String> {
    let (before, rest) = text.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n{new}{end}{after}"))
}

/// Returns the error text for a page that lacks the marks.
pub fn no_marks(page: &str, [begin, end]: [&str; 2]) -> String {
    format!("{page} has no lines `{begin}` and `{end}` for the figures to stand between: put them back")
}

/// Replaces a page atomically, and keeps its permissions.
///
/// # Errors
/// The page cannot be written; then it is unchanged.
pub fn replace(page: &Path, text: &str) -> io::Result<()> {
    let folder = page.parent().unwrap_or(Path::new("."));
    let mut staged = tempfile::NamedTempFile::new_in(folder)?;
    staged.write_all(text.as_bytes())?;
    staged
        .as_file()
        .set_permissions(fs::metadata(page)?.permissions())?;
    staged.persist(page).map_err(|error| error.error)?;
    Ok(())
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

    #[test]
    fn replaces_only_what_is_between_the_marks() {
        let marks = ["<a>", "<b>"];
        assert_eq!(
            between("x<a>old<b>y", marks, "new\n").as_deref(),
            Some("x<a>\nnew\n<b>y")
        );
        assert_eq!(between("x<a>old", marks, "new\n"), None);
        assert_eq!(between("<b><a>", marks, "new\n"), None);
    }
}
