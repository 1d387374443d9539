//! Captures: packets from pcap and pcapng files, and pcap files from packets.
//!
//! [`CaptureReader`] delivers every packet that can be read. A file that ends early or is damaged
//! gives its readable packets first and then one error that names the packet and the byte.
//! [`CaptureWriter`] makes a file appear when it is complete, or not at all.
//!
//! Packets are numbered from 1, as protocol analysers show them.

mod formats;
pub mod whole_file;

use formats::{Input, Pcap, PcapNg, SECTION_HEADER};
use pcap_file::pcap::{PcapHeader, PcapWriter, RawPcapPacket};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, io};
use thiserror::Error;
use whole_file::WholeFile;

/// Largest packet in a capture, in bytes; a larger one means a damaged file.
///
/// This is also the largest snapshot length of the programs that write captures.
pub const MAX_PACKET_BYTES: usize = 262_144;

/// One packet of a capture: an Ethernet frame without its check sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When the packet was captured, since the Unix epoch.
    pub timestamp: Duration,
    /// The bytes that were captured.
    pub data: Vec<u8>,
    /// Size of the packet on the wire, in bytes; larger than what was captured if the capture cut it short.
    pub original_len: u32,
}

impl Packet {
    /// Whether the capture holds only the beginning of the packet.
    pub fn is_cut_short(&self) -> bool {
        self.original_len as usize > self.data.len()
    }
}

/// Resolution of the time stamps of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Microseconds.
    Micro,
    /// Nanoseconds.
    Nano,
}

/// Why a capture cannot be read or written.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file cannot be opened, or its beginning cannot be read.
    #[error("{}: cannot read the capture: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is not a capture.
    #[error("{}: this is not a pcap or pcapng capture: {found}", file.display())]
    NotACapture {
        /// The file.
        file: PathBuf,
        /// The likely format of the file, and a remedy if one is known.
        found: String,
    },
    /// The file is truncated or contains invalid data.
    #[error("{}: {at}: {problem}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Where.
        at: DamagedAt,
        /// The problem.
        problem: String,
    },
    /// The capture is not of Ethernet frames.
    #[error(
        "{}: {place} has link type {found}, but only Ethernet (link type 1) can be read: \
         capture on an Ethernet interface",
        file.display()
    )]
    NotEthernet {
        /// The file.
        file: PathBuf,
        /// The capture as a whole, or a packet and its interface.
        place: String,
        /// The link type.
        found: String,
    },
    /// The file cannot be written.
    #[error("{}: cannot write the capture: {source}", file.display())]
    Unwritable {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The packet has no place in a pcap file.
    #[error("{}: packet {packet} cannot be written to a pcap file: {problem}", file.display())]
    Unsuitable {
        /// The file.
        file: PathBuf,
        /// Number of the packet in the file that is written, counted from 1.
        packet: u64,
        /// The problem.
        problem: String,
    },
}

/// A position in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DamagedAt {
    /// Number of the packet that could not be read, counted from 1.
    pub packet: u64,
    /// Offset in the file of the record that could not be read, in bytes.
    pub offset: u64,
}

/// Shows `packet 12 (at byte 3456)`.
impl fmt::Display for DamagedAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "packet {} (at byte {})", self.packet, self.offset)
    }
}

/// Iterates over the packets of a capture; an error is the last item.
#[derive(Debug)]
pub struct CaptureReader<R = BufReader<File>> {
    file: PathBuf,
    input: Input<R>,
    format: Format,
    packets: u64,
    finished: bool,
}

impl CaptureReader {
    /// Opens a pcap or pcapng file.
    ///
    /// # Errors
    /// If the file cannot be read, is not a capture, or is a capture of another link type than Ethernet.
    pub fn open(path: &Path) -> Result<Self, CaptureError> {
        let file = File::open(path).map_err(|source| CaptureError::Unreadable {
            file: path.to_owned(),
            source,
        })?;
        Self::new(path, BufReader::new(file))
    }
}

impl<R: Read> CaptureReader<R> {
    /// Reads a capture from any source; `name` is used in errors.
    ///
    /// # Errors
    /// If the source cannot be read, is not a capture, or is a capture of another link type than Ethernet.
    pub fn new(name: &Path, source: R) -> Result<Self, CaptureError> {
        let mut input = Input::new(source);
        let unreadable = |source| CaptureError::Unreadable {
            file: name.to_owned(),
            source,
        };
        let start = input.fill(MAGIC_BYTES).map_err(unreadable)?;
        let magic = start.try_into().map(u32::from_be_bytes);
        let opened = match magic {
            Ok(SECTION_HEADER) => PcapNg::open(&mut input).map(Format::PcapNg),
            Ok(0xa1b2_c3d4 | 0xd4c3_b2a1 | 0xa1b2_3c4d | 0x4d3c_b2a1) => {
                Pcap::open(&mut input).map(Format::Pcap)
            }
            _ => {
                let found = describe(start);
                return Err(CaptureError::NotACapture {
                    file: name.to_owned(),
                    found,
                });
            }
        };
        let at = DamagedAt { packet: 1, offset: 0 };
        let format = opened.map_err(|stop| stop.into_error(name, at))?;
        Ok(Self {
            file: name.to_owned(),
            input,
            format,
            packets: 0,
            finished: false,
        })
    }

    /// Returns the resolution of the time stamps; pcapng always allows nanoseconds.
    pub fn resolution(&self) -> Resolution {
        match &self.format {
            Format::Pcap(pcap) => pcap.resolution(),
            Format::PcapNg(_) => Resolution::Nano,
        }
    }

    /// Bytes of the file that have been read and understood.
    pub fn bytes_read(&self) -> u64 {
        self.input.offset()
    }
}

impl<R: Read> Iterator for CaptureReader<R> {
    type Item = Result<Packet, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.finished {
            return None;
        }
        let next = match &mut self.format {
            Format::Pcap(pcap) => pcap.next(&mut self.input),
            Format::PcapNg(pcapng) => pcapng.next(&mut self.input),
        };
        match next {
            Ok(Some(packet)) => {
                self.packets += 1;
                Some(Ok(packet))
            }
            Ok(None) => {
                self.finished = true;
                None
            }
            Err(stop) => {
                self.finished = true;
                let at = DamagedAt {
                    packet: self.packets + 1,
                    offset: self.input.offset(),
                };
                Some(Err(stop.into_error(&self.file, at)))
            }
        }
    }
}

const MAGIC_BYTES: usize = 4;

#[derive(Debug)]
enum Format {
    Pcap(Pcap),
    PcapNg(PcapNg),
}

/// Describes the start of a file that is not a capture, if it is well known.
fn describe(start: &[u8]) -> String {
    match start {
        [] => "the file is empty".to_owned(),
        [0x1f, 0x8b, ..] => "it is compressed; unpack it with gunzip first".to_owned(),
        [0x28, 0xb5, 0x2f, 0xfd] => "it is compressed; unpack it with unzstd first".to_owned(),
        [0xfd, b'7', b'z', b'X'] => "it is compressed; unpack it with unxz first".to_owned(),
        _ => {
            let bytes: Vec<String> = start.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("it begins with the bytes {}", bytes.join(" "))
        }
    }
}

/// Writes a pcap file, which gets its name when it is complete, by [`finish`](Self::finish).
///
/// A writer that is dropped before leaves no file.
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
