//! The files of a command: those that it writes are none that it reads or writes under another name, and no devices.

use anyhow::{Result, bail};
use spinneret_packets::capture::whole_file;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Where the command prints its result.
const OUTPUT: &str = "/dev/stdout";

/// Files by the options that name them, or by the lines of other files.
#[derive(Debug, Default)]
pub(crate) struct Files {
    named: Vec<Named>,
}

#[derive(Debug)]
struct Named {
    option: Cow<'static, str>,
    path: PathBuf,
    is_written: bool,
    /// File and line that name it, if no option does.
    place: Option<String>,
}

/// What is the same for all names of a file.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Identity {
    /// Device and inode of a file that exists.
    Existing(u64, u64),
    /// Where a file would be made.
    New(PathBuf),
}

impl Files {
    /// What every command writes: standard output, if that is a file.
    pub(crate) fn of_command() -> Self {
        let output = Path::new(OUTPUT);
        Self::default().writes("standard output", Some(output).filter(|output| output.is_file()))
    }

    /// A file that is read, if one was named.
    pub(crate) fn reads(self, option: impl Into<Cow<'static, str>>, path: Option<&Path>) -> Self {
        self.with(option.into(), path, false)
    }

    /// Files that are read.
    pub(crate) fn reads_all(self, option: &str, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let read = |files: Self, path: PathBuf| files.reads(option.to_owned(), Some(&path));
        paths.into_iter().fold(self, read)
    }

    /// A file that is written, if one was named.
    pub(crate) fn writes(self, option: impl Into<Cow<'static, str>>, path: Option<&Path>) -> Self {
        self.with(option.into(), path, true)
    }

    /// A file that is written because a line of another file says so.
    pub(crate) fn writes_by(mut self, place: String, what: String, path: &Path) -> Self {
        self = self.writes(what, Some(path));
        if let Some(named) = self.named.last_mut() {
            named.place = Some(place);
        }
        self
    }

    /// Whether a file that exists would be written.
    pub(crate) fn replaces_any(&self) -> bool {
        self.named
            .iter()
            .any(|file| file.is_written && file.path.exists())
    }

    fn with(mut self, option: Cow<'static, str>, path: Option<&Path>, is_written: bool) -> Self {
        if let Some(path) = path {
            self.named.push(Named {
                option,
                path: path.to_owned(),
                is_written,
                place: None,
            });
        }
        self
    }

    /// Whether nothing that is read or written would be destroyed.
    ///
    /// # Errors
    /// If two names lead to a file that is written, or one to something that cannot be a regular file.
    pub(crate) fn check(&self) -> Result<()> {
        // Of several names of a file, none of which is written, the first.
        let mut seen: HashMap<Identity, &Named> = HashMap::new();
        for file in &self.named {
            if file.is_written
                && file.path != Path::new(OUTPUT)
                && let Err(error) = whole_file::check(&file.path)
            {
                let (place, option, path) = (place([file]), &file.option, file.path.display());
                bail!("{place}{option} {path}: {error}");
            }
            let other = *seen.entry(identity(&file.path)).or_insert(file);
            if !std::ptr::eq(other, file) && (other.is_written || file.is_written) {
                bail!(
                    "{}{} and {} are the same file, {}: name another one",
                    place([file, other]),
                    other.option,
                    file.option,
                    file.path.display()
                );
            }
        }
        Ok(())
    }
}

/// File and line of the first of some files that a line names, as the beginning of a message.
fn place<const N: usize>(files: [&Named; N]) -> String {
    let place = files.into_iter().find_map(|file| file.place.as_ref());
    place.map_or(String::new(), |place| format!("{place}: "))
}

fn identity(path: &Path) -> Identity {
    match path.metadata() {
        Ok(metadata) => existing(&metadata),
        Err(_) => Identity::New(future(path)),
    }
}

fn existing(metadata: &Metadata) -> Identity {
    Identity::Existing(metadata.dev(), metadata.ino())
}

/// Where a file would be made: its folder without links, and its name.
fn future(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::Files;
    use std::fs;
    use std::path::Path;

    /// What is said about an output beside an input and another output.
    fn refused(input: &Path, output: &Path, other: &Path) -> Option<String> {
        let files = Files::default()
            .reads("--pcap", Some(input))
            .writes("--out", Some(output))
            .writes("--trace", Some(other))
            .writes("--plot", None);
        files.check().err().map(|error| error.to_string())
    }

    #[test]
    fn an_output_is_no_input_and_no_other_output_under_any_name() {
        let folder = tempfile::tempdir().expect("there is room");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("in"), "").expect("there is room");
        fs::write(at("out"), "").expect("there is room");
        fs::hard_link(at("in"), at("hard")).expect("there is room");
        std::os::unix::fs::symlink(at("in"), at("soft")).expect("there is room");
        std::os::unix::fs::symlink(folder.path(), at("folder")).expect("there is room");
        for name in ["in", "hard", "soft", "folder/in", "./in", "folder/../in"] {
            let said = refused(&at("in"), &at(name), &at("new"));
            let path = at(name);
            let wanted = format!(
                "--pcap and --out are the same file, {}: name another one",
                path.display()
            );
            // `folder/..` is another folder than it looks like.
            match path.exists() {
                true => assert_eq!(said, Some(wanted)),
                false => assert_eq!(said, None),
            }
        }
        for name in ["new", "./new", "folder/new"] {
            let said = refused(&at("in"), &at("new"), &at(name)).expect("it is refused");
            assert!(
                said.starts_with("--out and --trace are the same file, "),
                "{said}"
            );
        }
        assert_eq!(refused(&at("in"), &at("out"), &at("new")), None);
        // Reading a file twice harms nobody.
        let twice = Files::default()
            .reads("--pcap", Some(&at("in")))
            .reads("--rules", Some(&at("soft")));
        assert!(twice.check().is_ok());
    }

    #[test]
    fn an_output_is_no_device_and_no_folder() {
        let folder = tempfile::tempdir().expect("there is room");
        let input = folder.path().join("in");
        for path in [Path::new("/dev/null"), Path::new("/dev/full"), folder.path()] {
            let said = refused(&input, &folder.path().join("out"), path).expect("it is refused");
            assert_eq!(
                said,
                format!("--trace {}: it exists and is not a regular file", path.display())
            );
        }
    }

    #[test]
    fn a_file_that_a_line_names_is_refused_with_the_line() {
        let folder = tempfile::tempdir().expect("there is room");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("in"), "").expect("there is room");
        let by = |line: usize, path: &str, files: Files| {
            files.writes_by(
                format!("t.toml:{line}"),
                format!("the capture of line {line}"),
                &at(path),
            )
        };
        let refused = |files: Files| files.check().expect_err("it is refused").to_string();
        let inputs = || Files::default().reads("TOPOLOGY", Some(&at("in")));
        for (files, said) in [
            (
                by(7, "./in", inputs()),
                "t.toml:7: TOPOLOGY and the capture of line 7 are the same file, ",
            ),
            (
                by(9, "x/../new", by(7, "new", inputs())),
                "t.toml:9: the capture of line 9 ",
            ),
            (
                by(9, "./new", by(7, "new", inputs())),
                "t.toml:9: the capture of line 7 and the capture of line 9 are the same file, ",
            ),
            (
                by(7, "new", inputs()).writes("--trace", Some(&at("new"))),
                "t.toml:7: the capture of line 7 and --trace are the same file, ",
            ),
            (by(7, "none/new", inputs()), "t.toml:7: the capture of line 7 "),
        ] {
            let refused = refused(files);
            assert!(refused.starts_with(said), "{refused}");
        }
        let fine = by(9, "other", by(7, "new", inputs())).writes("--trace", Some(&at("third")));
        assert!(!fine.replaces_any());
        fine.check().expect("they are apart");
        assert!(by(7, "in", Files::default()).replaces_any());
        assert!(!inputs().replaces_any());
    }
}
