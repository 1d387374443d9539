//! `spinneret service`: stubs and registration of functions in C that handlers call.

use crate::terminal::Failure;
use anyhow::{Context as _, anyhow, ensure};
use clap::Args;
use spinneret_rpc_interface::Prototypes;
use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Arguments of `spinneret service`.
#[derive(Clone, Debug, Args)]
pub(super) struct ServiceArguments {
    /// C header with annotated prototypes
    #[arg(value_name = "HEADER")]
    header: PathBuf,
    /// Header to write: stubs for handlers
    #[arg(long, value_name = "OUT.h", required_unless_present = "host")]
    handler: Option<PathBuf>,
    /// C file to write: registers the functions in the host's program
    #[arg(long, value_name = "OUT.c")]
    host: Option<PathBuf>,
}

/// Writes the files.
///
/// # Errors
/// If the header cannot be used, or a file cannot be written; the outputs are as before then.
pub(super) fn run(arguments: &ServiceArguments) -> Result<(), Failure> {
    let staged = stage(arguments).map_err(|error| Failure::Usage(anyhow!("{error:#}")))?;
    for (file, path) in staged {
        let persisted = file.persist(path);
        persisted.map_err(|error| {
            Failure::Work(anyhow!("{} cannot be written: {}", path.display(), error.error))
        })?;
    }
    Ok(())
}

/// Writes each output to a file next to it.
fn stage(arguments: &ServiceArguments) -> anyhow::Result<Vec<(NamedTempFile, &Path)>> {
    let ServiceArguments {
        header,
        handler,
        host,
    } = arguments;
    let shown = header.display();
    let name = header.file_name().and_then(|name| name.to_str());
    let name = name.with_context(|| format!("{shown} has no name that C can include"))?;
    let text = fs::read_to_string(header).with_context(|| format!("{shown} cannot be read"))?;
    let prototypes = Prototypes::read(name, &text);
    let prototypes = prototypes.map_err(|error| anyhow!("{shown}:{}: {}", error.line, error.why))?;
    let outputs = [
        (handler, prototypes.for_handlers()),
        (host, prototypes.for_host()),
    ];
    ensure!(handler != host, "--handler and --host name the same file");
    let outputs = outputs
        .into_iter()
        .filter_map(|(path, text)| Some((path.as_deref()?, text)));
    outputs
        .map(|(path, text)| {
            let is_source = fs::canonicalize(path)
                .is_ok_and(|path| fs::canonicalize(header).is_ok_and(|header| header == path));
            ensure!(!is_source, "{shown} is the source: write to another file");
            let file =
                staged(path, &text).with_context(|| format!("{} cannot be written", path.display()))?;
            Ok((file, path))
        })
        .collect()
}

/// Writes a file that can take the place of another one.
fn staged(path: &Path, text: &str) -> anyhow::Result<NamedTempFile> {
    // It would take the place of a device.
    ensure!(path.is_file() || !path.exists(), "not a regular file");
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    // The mask of the process applies.
    let builder = builder.permissions(Permissions::from_mode(0o666));
    let mut file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "SPIN_SERVICE(64, t);\nSPIN_CALL(1) uint32_t t_f(uint32_t n);\n";

    /// The error with these outputs, and files in the folder afterwards.
    fn error(text: &str, handler: &str, host: &str) -> (String, Vec<String>) {
        let folder = tempfile::tempdir().expect("there is room");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("t.h"), text).expect("there is room");
        let arguments = ServiceArguments {
            header: path("t.h"),
            handler: Some(path(handler)),
            host: Some(path(host)),
        };
        let error = run(&arguments)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        let files = fs::read_dir(folder.path()).expect("it is there");
        let name = |file: std::io::Result<fs::DirEntry>| file.ok()?.file_name().into_string().ok();
        let mut files: Vec<String> = files.filter_map(name).collect();
        files.sort();
        (error.replace(&format!("{}/", folder.path().display()), ""), files)
    }

    #[test]
    fn files_are_complete_or_as_before() {
        let (said, files) = error(HEADER, "stubs.h", "offer.c");
        assert_eq!(
            (said.as_str(), files),
            ("", ["offer.c", "stubs.h", "t.h"].map(str::to_owned).to_vec())
        );
        for (text, handler, host, wanted) in [
            (
                "SPIN_SERVICE(64, t);\nint x;",
                "stubs.h",
                "offer.c",
                "t.h:2: this is neither",
            ),
            (HEADER, "t.h", "offer.c", "t.h is the source"),
            (HEADER, "same", "same", "--handler and --host name the same file"),
            (
                HEADER,
                "stubs.h",
                "none/offer.c",
                "none/offer.c cannot be written",
            ),
            (HEADER, "stubs.h", ".", "cannot be written: not a regular file"),
        ] {
            let (said, files) = error(text, handler, host);
            assert!(said.contains(wanted), "{said}");
            assert_eq!(files, ["t.h"], "{said}");
        }
    }
}
