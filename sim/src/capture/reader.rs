//! The packets of a capture, whatever its format.

use super::error::{CaptureError, DamagedAt};
use super::input::Input;
use super::pcap::Pcap;
use super::pcapng::{PcapNg, SECTION_HEADER};
use super::{Packet, Resolution};
use pcap_file::DataLink;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

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
    /// If the file cannot be read, is no capture, or is a capture of something else than Ethernet.
    pub fn open(path: &Path) -> Result<Self, CaptureError> {
        let file = File::open(path).map_err(|source| CaptureError::Unreadable {
            file: path.to_owned(),
            source,
        })?;
        Self::new(path, BufReader::new(file))
    }
}

impl<R: Read> CaptureReader<R> {
    /// Reads a capture from any source; `name` is what errors call it.
    ///
    /// # Errors
    /// If the source cannot be read, is no capture, or is a capture of something else than Ethernet.
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

    /// Resolution of the capture's time stamps; pcapng files can always hold nanoseconds.
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

/// Why reading stops, before the file and the packet are known.
#[derive(Debug)]
pub(super) enum Stop {
    Read(io::Error),
    Damaged(String),
    LinkType { interface: Option<u32>, found: DataLink },
}

impl Stop {
    pub(super) fn damaged(problem: String) -> Self {
        Self::Damaged(problem)
    }

    /// The file ends within a header.
    pub(super) fn cut(what: &str, available: usize) -> Self {
        Self::Damaged(format!(
            "the file ends within {what}, {available} bytes after its beginning"
        ))
    }

    /// The file ends within something whose size is known.
    pub(super) fn cut_after(what: &str, available: usize, wanted: usize) -> Self {
        Self::Damaged(format!(
            "the file ends within {what}: {available} of {wanted} bytes are there"
        ))
    }

    fn into_error(self, file: &Path, at: DamagedAt) -> CaptureError {
        let file = file.to_owned();
        match self {
            Self::Read(source) => CaptureError::Damaged {
                file,
                at,
                problem: source.to_string(),
            },
            Self::Damaged(problem) => CaptureError::Damaged { file, at, problem },
            Self::LinkType { interface, found } => {
                let place = match interface {
                    None => "the capture".to_owned(),
                    Some(interface) => format!("{at} is from interface {interface}, which"),
                };
                CaptureError::NotEthernet {
                    file,
                    place,
                    found: link_type(found),
                }
            }
        }
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

fn link_type(found: DataLink) -> String {
    let number = u32::from(found);
    match found {
        DataLink::Unknown(_) => format!("{number}"),
        known => format!("{number} ({known:?})"),
    }
}

/// What a file that is no capture begins with, in words where the beginning is well known.
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
