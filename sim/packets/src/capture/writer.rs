//! Pcap files that appear when they are complete, or not at all.

use super::error::CaptureError;
use super::whole_file::WholeFile;
use super::{MAX_PACKET_BYTES, Packet, Resolution};
use pcap_file::pcap::{PcapHeader, PcapWriter, RawPcapPacket};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// Writes a pcap file, which has its name once it is complete, with [`finish`](Self::finish).
///
/// A writer that is dropped before that leaves nothing behind.
#[derive(Debug)]
pub struct CaptureWriter {
    path: PathBuf,
    resolution: Resolution,
    writer: PcapWriter<WholeFile>,
    packets: u64,
}

impl CaptureWriter {
    /// Starts a pcap file of Ethernet frames. An existing file stays as it is until the new one is complete.
    ///
    /// # Errors
    /// If files cannot be created in the directory, or the path is something else than a regular file.
    pub fn create(path: &Path, resolution: Resolution) -> Result<Self, CaptureError> {
        let unwritable = |source| CaptureError::Unwritable {
            file: path.to_owned(),
            source,
        };
        let file = WholeFile::create(path).map_err(unwritable)?;
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
        let writer = PcapWriter::with_header(file, header).map_err(|error| unwritable(io_error(error)))?;
        Ok(Self {
            path: path.to_owned(),
            resolution,
            writer,
            packets: 0,
        })
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
        self.writer
            .write_raw_packet(&raw)
            .map_err(|error| self.unwritable(io_error(error)))?;
        Ok(())
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// If the rest cannot be written or the file cannot get its name; nothing is left behind then.
    pub fn finish(self) -> Result<(), CaptureError> {
        let Self { path, writer, .. } = self;
        writer
            .into_writer()
            .finish()
            .map_err(|source| CaptureError::Unwritable { file: path, source })
    }

    fn raw<'p>(&self, packet: &'p Packet) -> Result<RawPcapPacket<'p>, String> {
        let seconds = packet.timestamp.as_secs();
        let nanoseconds = packet.timestamp.subsec_nanos();
        let captured = packet.data.len();
        if captured > MAX_PACKET_BYTES || captured > packet.original_len as usize {
            let original = packet.original_len;
            return Err(format!(
                "{captured} bytes were captured of a packet of {original} bytes"
            ));
        }
        Ok(RawPcapPacket {
            ts_sec: seconds
                .try_into()
                .map_err(|_| "its time is after the year 2105".to_owned())?,
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
        CaptureError::Unwritable {
            file: self.path.clone(),
            source,
        }
    }
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
