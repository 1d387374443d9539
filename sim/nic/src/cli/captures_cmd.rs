//! `spinneret captures`: writes the captures that are shipped with the project.

use crate::terminal::{Failure, print_folded};
use anyhow::anyhow;
use clap::Args;
use spinneret_packets::capture::traffic;
use spinneret_packets::capture::whole_file::WholeFile;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Arguments of `spinneret captures`.
#[derive(Debug, Args)]
pub(super) struct CapturesArguments {
    /// Directory to write to, such as sim/captures
    directory: PathBuf,
}

pub(super) fn run(arguments: &CapturesArguments) -> Result<(), Failure> {
    for capture in traffic::shipped().map_err(Failure::work)? {
        let path = arguments.directory.join(capture.name);
        write(&path, &capture.bytes).map_err(Failure::Work)?;
        print_folded(format_args!(
            "{}: {} bytes: {}\n",
            path.display(),
            capture.bytes.len(),
            capture.contents
        ))
        .map_err(Failure::Work)?;
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let attempt = || {
        let mut file = WholeFile::create(path)?;
        file.write_all(bytes)?;
        file.finish()
    };
    attempt().map_err(|error: std::io::Error| anyhow!("cannot write {}: {error}", path.display()))
}
