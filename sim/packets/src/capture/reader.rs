//! The packets of a capture, whatever its format.

use super::error::{CaptureError, DamagedAt};
use super::input::Input;
use super::pcap::Pcap;
use super::pcapng::{PcapNg, SECTION_HEADER};
use super::{Packet, Resolution};
use std::fs::File;
use std::io::{BufReader, Read};
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
