//! Shared by all commands: errors, checks of files, output, and values of options.

use anyhow::{Result, anyhow, bail};
use spinneret_host::harmless;
use spinneret_packets::capture::whole_file;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::fmt::Display;
use std::fs::Metadata;
use std::io::{ErrorKind, Write as _, stdout};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Failure of a command, by exit code.
#[derive(Debug)]
pub enum Failure {
    /// The arguments cannot be used; nothing was written.
    Usage(anyhow::Error),
    /// The work began and failed.
    Work(anyhow::Error),
    /// Ctrl-C, or a request to terminate, came before the work began; nothing was written.
    Interrupted,
}

impl Failure {
    /// The arguments cannot be used.
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self::Usage(error.into())
    }

    /// The work began and failed.
    pub fn work(error: impl Into<anyhow::Error>) -> Self {
        Self::Work(error.into())
    }

    /// Exit code of the process.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Work(_) => ExitCode::from(1),
            Self::Interrupted => ExitCode::from(130),
        }
    }
}

/// Shows the error; every error of the project names its cause in its own message.
impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(error) | Self::Work(error) => write!(f, "{error}"),
            Self::Interrupted => f.write_str("interrupted before the first packet; nothing was written"),
        }
    }
}

/// Prints a result for people: its lines are no wider than the terminal, if there is one.
///
/// # Errors
/// As [`print()`].
pub(crate) fn print_folded(text: impl Display) -> Result<()> {
    print(spinneret_table::for_people(&text.to_string(), &stdout()))
}

/// Prints a result unchanged, for programs. A closed pipe is no failure.
///
/// # Errors
/// If it cannot be written, as on a full disk.
pub(crate) fn print(text: impl Display) -> Result<()> {
    let mut out = stdout().lock();
    match out
        .write_all(harmless(&text.to_string()).as_bytes())
        .and_then(|()| out.flush())
    {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| anyhow!("cannot print the result: {error}")),
    }
}

/// Prints a note on standard error; errors of writing are ignored.
pub(crate) fn tell(text: impl Display) {
    spinneret_table::tell(harmless(&text.to_string()));
}

/// Prints the error of a command: in red on a terminal, unless `NO_COLOR` is set (<https://no-color.org>).
pub(crate) fn tell_failure(failure: impl Display) {
    spinneret_table::tell(spinneret_table::error_line(&harmless(&failure.to_string())));
}

/// Period of a clock of 1 MHz in picoseconds.
const MHZ_PS: f64 = 1e6;
/// Periods of clocks that can be simulated: 1 to 1000 MHz.
const PERIODS_PS: std::ops::RangeInclusive<f64> = 1000.0..=MHZ_PS;

/// A time in seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    Duration::try_from_secs_f64(number(text)?).map_err(|error| error.to_string())
}

/// A clock in megahertz, as its period in picoseconds.
pub(crate) fn megahertz(text: &str) -> Result<u64, String> {
    match MHZ_PS / number(text)? {
        ps if PERIODS_PS.contains(&ps) => Ok(ps.round() as u64),
        _ => Err("must be 1 to 1000 MHz".to_owned()),
    }
}

/// A rate in megabits a second, as bits a second.
pub(crate) fn megabits(text: &str) -> Result<u64, String> {
    match (number(text)? * 1e6).round() {
        bits if bits >= 1.0 => Ok(bits as u64),
        _ => Err("must be at least one bit per second".to_owned()),
    }
}

fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err("not a number".to_owned()),
    }
}

/// Standard output.
const OUTPUT: &str = "/dev/stdout";

/// Files, named by options or by lines of other files.
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

/// Identity of a file.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Identity {
    /// Device and inode of a file that exists.
    Existing(u64, u64),
    /// Path of a file that does not exist.
    New(PathBuf),
}

impl Files {
    /// Starts with standard output, if that is a file.
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

    /// A file that is written, named by a line of another file.
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

    /// Checks that no input or output would be overwritten.
    ///
    /// # Errors
    /// If two names lead to the same output, or one to something that cannot be a regular file.
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

/// Path of a file that does not exist: its canonical folder, and its name.
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
    use super::{Files, megabits, megahertz, seconds};
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    #[test]
    fn option_values_are_parsed() {
        assert_eq!(seconds("0.25"), Ok(Duration::from_millis(250)));
        assert_eq!(seconds("0"), Ok(Duration::ZERO));
        assert_eq!(megahertz("40"), Ok(25_000));
        assert_eq!(megahertz("1"), Ok(1_000_000));
        assert_eq!(megahertz("1e3"), Ok(1000));
        assert_eq!(megabits("0.5"), Ok(500_000));
    }

    #[test]
    fn invalid_option_values_are_refused() {
        for text in ["nan", "inf", "-inf", "", "1s", "-1", "1e400"] {
            assert!(seconds(text).is_err(), "{text}");
            assert!(megahertz(text).is_err(), "{text}");
            assert!(megabits(text).is_err(), "{text}");
        }
        for text in ["1e30", "-1e-9"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        for text in ["0", "0.9", "1001"] {
            assert!(megahertz(text).is_err(), "{text}");
        }
    }

    /// The message about an output that is also an input or another output.
    fn refused(input: &Path, output: &Path, other: &Path) -> Option<String> {
        let files = Files::default()
            .reads("--pcap", Some(input))
            .writes("--out", Some(output))
            .writes("--trace", Some(other))
            .writes("--plot", None);
        files.check().err().map(|error| error.to_string())
    }

    #[test]
    fn an_output_is_no_input_or_other_output_under_any_name() {
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
            // `folder/..` may lead through a link.
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
        // Reading a file twice is harmless.
        let twice = Files::default()
            .reads("--pcap", Some(&at("in")))
            .reads("--rules", Some(&at("soft")));
        assert!(twice.check().is_ok());
    }

    #[test]
    fn an_output_is_no_device_or_folder() {
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
    fn files_named_by_lines_are_refused_with_the_line() {
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
