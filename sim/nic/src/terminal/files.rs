//! The files of a command: what it writes is nothing that it reads or writes under another name, and no device.

use crate::installed;
use anyhow::{Result, bail};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Files by the options that name them.
#[derive(Debug, Default)]
pub(crate) struct Files {
    named: Vec<Named>,
}

#[derive(Debug)]
struct Named {
    option: &'static str,
    path: PathBuf,
    is_written: bool,
}

/// What is the same for all names of a file.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    /// Device and inode of a file that exists.
    Existing(u64, u64),
    /// Where a file would be made.
    New(PathBuf),
}

impl Files {
    /// What every command writes: standard output, if that is a file.
    pub(crate) fn of_command() -> Self {
        let output = Path::new("/dev/stdout");
        Self::default().writes("standard output", Some(output).filter(|output| output.is_file()))
    }

    /// A file that is read, if one was named.
    pub(crate) fn reads(self, option: &'static str, path: Option<&Path>) -> Self {
        self.with(option, path, false)
    }

    /// The files of a folder, which make may read.
    pub(crate) fn reads_folder(mut self, option: &'static str, folder: &Path) -> Self {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            self = self.reads(option, Some(&entry.path()));
        }
        self
    }

    /// What make has read in a folder to build a program: what the compiler lists, and the files of the runtime.
    pub(crate) fn reads_sources(mut self, folder: &Path, elf: &Path) -> Self {
        for file in elf.parent().map(sources).unwrap_or_default() {
            self = self.reads("a source of HANDLERS", Some(&folder.join(file)));
        }
        match installed::runtime() {
            Ok(runtime) => self.reads_folder("a source of HANDLERS", &runtime),
            Err(_) => self,
        }
    }

    /// A file that is written, if one was named.
    pub(crate) fn writes(self, option: &'static str, path: Option<&Path>) -> Self {
        self.with(option, path, true)
    }

    fn with(mut self, option: &'static str, path: Option<&Path>, is_written: bool) -> Self {
        if let Some(path) = path {
            self.named.push(Named {
                option,
                path: path.to_owned(),
                is_written,
            });
        }
        self
    }

    /// Whether nothing that is read or written would be destroyed.
    ///
    /// # Errors
    /// If two names lead to a file that is written, or one to something that is no regular file.
    pub(crate) fn check(&self) -> Result<()> {
        let identities: Vec<Identity> = self.named.iter().map(|file| identity(&file.path)).collect();
        for (position, file) in self.named.iter().enumerate() {
            let exists = file.path.metadata().ok();
            if file.is_written && exists.as_ref().is_some_and(|exists| !exists.is_file()) {
                bail!(
                    "{} {}: it exists and is not a regular file",
                    file.option,
                    file.path.display()
                );
            }
            let earlier = self.named[..position].iter().zip(&identities);
            let mut same = earlier.filter(|(other, identity)| {
                **identity == identities[position] && (other.is_written || file.is_written)
            });
            if let Some((other, _)) = same.next() {
                bail!(
                    "{} and {} are the same file, {}: name another one",
                    other.option,
                    file.option,
                    file.path.display()
                );
            }
        }
        Ok(())
    }
}

/// The files that objects below a folder were compiled from, as the compiler left them beside each.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "d") {
            let rule = fs::read_to_string(&path).unwrap_or_default();
            // `object: source source \`, and a rule without sources for each header.
            let words = rule
                .split_whitespace()
                .filter(|word| *word != "\\" && !word.ends_with(':'));
            found.extend(words.map(PathBuf::from));
        }
    }
    found
}

fn identity(path: &Path) -> Identity {
    match path.metadata() {
        Ok(metadata) => existing(&metadata),
        Err(_) => Identity::New(place(path)),
    }
}

fn existing(metadata: &Metadata) -> Identity {
    Identity::Existing(metadata.dev(), metadata.ino())
}

/// Where a file would be made: its folder without links, and its name.
fn place(path: &Path) -> PathBuf {
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
    use crate::installed;
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
    fn what_make_reads_is_no_output() {
        let folder = tempfile::tempdir().expect("there is room");
        let source = folder.path().join("handlers.c");
        fs::write(&source, "").expect("there is room");
        let files = Files::default()
            .reads_folder("HANDLERS", folder.path())
            .writes("--out", Some(&source));
        assert!(files.check().is_err());
    }

    #[test]
    fn what_the_compiler_read_is_no_output() {
        let folder = tempfile::tempdir().expect("there is room");
        let [app, header] = ["app", "header.h"].map(|name| folder.path().join(name));
        fs::create_dir(&app).expect("there is room");
        fs::write(&header, "").expect("there is room");
        let objects = app.join("build/.objects");
        fs::create_dir_all(&objects).expect("there is room");
        let rule = "build/app.o: app.c \\\n ../header.h\n../header.h:\n";
        fs::write(objects.join("app.d"), rule).expect("there is room");
        let runtime = installed::runtime().expect("it is there");
        for output in [header, runtime.join("spin.mk"), runtime.join("link.ld")] {
            let files = Files::default()
                .reads_sources(&app, &app.join("build/app.elf"))
                .writes("--out", Some(&output));
            let said = files.check().expect_err("it is refused").to_string();
            assert!(
                said.starts_with("a source of HANDLERS and --out are the same file"),
                "{said}"
            );
        }
    }
}
