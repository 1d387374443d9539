//! Pcap files that appear when they are complete, or not at all.

use super::error::CaptureError;
use super::{MAX_PACKET_BYTES, Packet, Resolution};
use pcap_file::pcap::{PcapHeader, PcapWriter, RawPcapPacket};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Writes a pcap file under a temporary name beside its own; [`finish`](Self::finish) renames it.
///
/// A writer that is dropped before that leaves nothing behind.
#[derive(Debug)]
pub struct CaptureWriter {
    path: PathBuf,
    resolution: Resolution,
    writer: PcapWriter<BufWriter<NamedTempFile>>,
    packets: u64,
}

impl CaptureWriter {
    /// Starts a pcap file of Ethernet frames. An existing file stays as it is until the new one is complete.
    ///
    /// # Errors
    /// If files cannot be created in the directory, or the path is something else than a regular file.
    pub fn create(path: &Path, resolution: Resolution) -> Result<Self, CaptureError> {
        let unwritable = |source| CaptureError::Unwritable { file: path.to_owned(), source };
        let target = target(path).map_err(unwritable)?;
        let file = temporary_beside(&target).map_err(unwritable)?;
        let header = PcapHeader {
            snaplen: MAX_PACKET_BYTES as u32,
            datalink: DataLink::ETHERNET,
            ts_resolution: match resolution {
                Resolution::Micro => TsResolution::MicroSecond,
                Resolution::Nano => TsResolution::NanoSecond,
            },
            // The same bytes on every machine.
            endianness: Endianness::Little,
            ..PcapHeader::default()
        };
        let writer = PcapWriter::with_header(BufWriter::new(file), header)
            .map_err(|error| unwritable(io_error(error)))?;
        Ok(Self { path: target, resolution, writer, packets: 0 })
    }

    /// Appends a packet.
    ///
    /// # Errors
    /// If the packet's time or size has no place in a pcap file, or the file cannot be written.
    pub fn write(&mut self, packet: &Packet) -> Result<(), CaptureError> {
        self.packets += 1;
        let raw = self.raw(packet).map_err(|problem| CaptureError::Unsuitable {
            file: self.path.clone(),
            packet: self.packets,
            problem,
        })?;
        self.writer.write_raw_packet(&raw).map_err(|error| self.unwritable(io_error(error)))?;
        Ok(())
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// If the rest cannot be written or the file cannot be renamed; nothing is left behind then.
    pub fn finish(self) -> Result<(), CaptureError> {
        let unwritable = |source| CaptureError::Unwritable { file: self.path.clone(), source };
        let mut buffered = self.writer.into_writer();
        buffered.flush().map_err(unwritable)?;
        let file = buffered.into_inner().map_err(|error| unwritable(error.into_error()))?;
        file.persist(&self.path).map_err(|error| unwritable(error.error))?;
        Ok(())
    }

    fn raw<'p>(&self, packet: &'p Packet) -> Result<RawPcapPacket<'p>, String> {
        let seconds = packet.timestamp.as_secs();
        let nanoseconds = packet.timestamp.subsec_nanos();
        let captured = packet.data.len();
        if captured > MAX_PACKET_BYTES || captured > packet.original_len as usize {
            let original = packet.original_len;
            return Err(format!("{captured} bytes were captured of a packet of {original} bytes"));
        }
        Ok(RawPcapPacket {
            ts_sec: seconds.try_into().map_err(|_| "its time is after the year 2105".to_owned())?,
            ts_frac: match self.resolution {
                Resolution::Micro => nanoseconds / 1000,
                Resolution::Nano => nanoseconds,
            },
            incl_len: captured as u32,
            orig_len: packet.original_len,
            data: Cow::Borrowed(&packet.data),
        })
    }

    fn unwritable(&self, source: io::Error) -> CaptureError {
        CaptureError::Unwritable { file: self.path.clone(), source }
    }
}

/// The file that a path leads to: renaming onto a link would replace the link, onto a device the device.
fn target(path: &Path) -> io::Result<PathBuf> {
    let Ok(metadata) = path.metadata() else { return Ok(path.to_owned()) };
    if !metadata.is_file() {
        return Err(io::Error::other("it exists and is not a regular file"));
    }
    path.canonicalize()
}

/// A file with the permissions that any new file gets, in the directory of another.
fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".spinneret-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory.unwrap_or(Path::new(".")))
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
