//! Parsers of pcap and pcapng, record by record: either byte order, micro- or nanoseconds, any number of sections.

use super::{CaptureError, DamagedAt, MAX_PACKET_BYTES, Packet, Resolution};
use pcap_file::pcap::{PcapParser, RawPcapPacket};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{Block, PcapNgParser};
use pcap_file::{DataLink, Endianness, TsResolution};
use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

/// Buffers the start of the current record.
#[derive(Debug)]
pub(super) struct Input<R> {
    source: R,
    record: Vec<u8>,
    offset: u64,
}

impl<R: Read> Input<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source,
            record: Vec::new(),
            offset: 0,
        }
    }

    /// Offset in the file of the current record.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the first `wanted` bytes of the current record, or fewer at the end of the file.
    pub(super) fn fill(&mut self, wanted: usize) -> io::Result<&[u8]> {
        let missing = wanted.saturating_sub(self.record.len()) as u64;
        self.source.by_ref().take(missing).read_to_end(&mut self.record)?;
        Ok(&self.record[..wanted.min(self.record.len())])
    }

    /// Returns the bytes of the current record that were read.
    pub(super) fn record(&self) -> &[u8] {
        &self.record
    }

    /// Advances to the next record, after the bytes that were read.
    pub(super) fn next_record(&mut self) {
        self.offset += self.record.len() as u64;
        self.record.clear();
    }
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

    /// Error: the file ends within a header.
    pub(super) fn cut(what: &str, available: usize) -> Self {
        Self::Damaged(format!(
            "the file ends within {what}, {available} bytes after its beginning"
        ))
    }

    /// Error: the file ends within an item of known size.
    pub(super) fn cut_after(what: &str, available: usize, wanted: usize) -> Self {
        Self::Damaged(format!(
            "the file ends within {what}: {available} of {wanted} bytes are there"
        ))
    }

    pub(super) fn into_error(self, file: &Path, at: DamagedAt) -> CaptureError {
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

/// Size of the header of a pcap file.
pub(super) const FILE_HEADER_BYTES: usize = 24;
const RECORD_HEADER_BYTES: usize = 16;

/// Reads the records of a pcap file.
#[derive(Debug)]
pub(super) struct Pcap {
    parser: PcapParser,
}

impl Pcap {
    /// Reads the file header, the first record of the input.
    pub(super) fn open<R: Read>(input: &mut Input<R>) -> Result<Self, Stop> {
        let header = input.fill(FILE_HEADER_BYTES)?;
        let (_, parser) = PcapParser::new(header).map_err(|_| Stop::cut("the file header", header.len()))?;
        input.next_record();
        match parser.header().datalink {
            DataLink::ETHERNET => Ok(Self { parser }),
            other => Err(Stop::LinkType {
                interface: None,
                found: other,
            }),
        }
    }

    pub(super) fn resolution(&self) -> Resolution {
        match self.parser.header().ts_resolution {
            TsResolution::MicroSecond => Resolution::Micro,
            TsResolution::NanoSecond => Resolution::Nano,
        }
    }

    /// Returns the next packet; `None` at the end of the file.
    pub(super) fn next<R: Read>(&self, input: &mut Input<R>) -> Result<Option<Packet>, Stop> {
        let header = input.fill(RECORD_HEADER_BYTES)?;
        if header.is_empty() {
            return Ok(None);
        }
        let Some(captured) = header
            .last_chunk::<8>()
            .filter(|_| header.len() == RECORD_HEADER_BYTES)
        else {
            return Err(Stop::cut("the packet's header", header.len()));
        };
        let captured = self.word(captured) as usize;
        if captured > MAX_PACKET_BYTES {
            return Err(Stop::damaged(format!(
                "it claims to hold {captured} bytes, more than any packet"
            )));
        }
        let record = input.fill(RECORD_HEADER_BYTES + captured)?;
        let Ok((_, raw)) = self.parser.next_raw_packet(record) else {
            return Err(Stop::cut_after(
                "the packet",
                record.len(),
                RECORD_HEADER_BYTES + captured,
            ));
        };
        let packet = self.packet(&raw)?;
        input.next_record();
        Ok(Some(packet))
    }

    /// The word at the beginning, in the byte order of the file.
    fn word(&self, bytes: &[u8; 8]) -> u32 {
        let [a, b, c, d, ..] = *bytes;
        match self.parser.header().endianness {
            Endianness::Big => u32::from_be_bytes([a, b, c, d]),
            Endianness::Little => u32::from_le_bytes([a, b, c, d]),
        }
    }

    fn packet(&self, raw: &RawPcapPacket<'_>) -> Result<Packet, Stop> {
        let (fraction, unit, nanoseconds) = match self.resolution() {
            Resolution::Micro => (raw.ts_frac, 1_000_000, 1000),
            Resolution::Nano => (raw.ts_frac, 1_000_000_000, 1),
        };
        if fraction >= unit {
            return Err(Stop::damaged(format!(
                "its time stamp has {fraction} of {unit} parts of a second"
            )));
        }
        if raw.incl_len > raw.orig_len {
            let (captured, original) = (raw.incl_len, raw.orig_len);
            return Err(Stop::damaged(format!(
                "{captured} bytes were captured of a packet of {original} bytes"
            )));
        }
        Ok(Packet {
            timestamp: Duration::new(raw.ts_sec.into(), fraction * nanoseconds),
            data: raw.data.to_vec(),
            original_len: raw.orig_len,
        })
    }
}

/// Type of a section header block; it reads the same in either byte order.
pub(super) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

const BLOCK_HEADER_BYTES: usize = 12;
/// Smallest block: type, length, nothing, and the length once more.
const MIN_BLOCK_BYTES: usize = 12;
/// Largest accepted block; a larger one means a damaged file.
const MAX_BLOCK_BYTES: usize = 16 << 20;
/// Byte-order magic of a little-endian section, as bytes.
const LITTLE_ENDIAN_MAGIC: [u8; 4] = [0x4d, 0x3c, 0x2b, 0x1a];

/// Reads the blocks of a pcapng file.
pub(super) struct PcapNg {
    parser: PcapNgParser,
}

impl PcapNg {
    /// Reads the first section header, the first record of the input.
    pub(super) fn open<R: Read>(input: &mut Input<R>) -> Result<Self, Stop> {
        if fill_block(input, Endianness::Little)?.is_none() {
            return Err(Stop::cut("the section header", 0));
        }
        let (_, parser) =
            PcapNgParser::new(input.record()).map_err(|error| Stop::damaged(error.to_string()))?;
        input.next_record();
        Ok(Self { parser })
    }

    /// Returns the next packet; `None` at the end of the file.
    pub(super) fn next<R: Read>(&mut self, input: &mut Input<R>) -> Result<Option<Packet>, Stop> {
        while let Some(kind) = fill_block(input, self.parser.section().endianness)? {
            let packet = match kind {
                ENHANCED_PACKET | SIMPLE_PACKET | OBSOLETE_PACKET => Some(self.packet(input.record())?),
                // Other blocks are skipped without parsing, so that errors in them do not matter.
                _ => {
                    self.parser
                        .next_raw_block(input.record())
                        .map_err(|error| Stop::damaged(error.to_string()))?;
                    None
                }
            };
            input.next_record();
            if packet.is_some() {
                return Ok(packet);
            }
        }
        Ok(None)
    }

    fn packet(&mut self, block: &[u8]) -> Result<Packet, Stop> {
        let little_endian = self.parser.section().endianness == Endianness::Little;
        let (_, block) = self
            .parser
            .next_block(block)
            .map_err(|error| Stop::damaged(error.to_string()))?;
        let (interface_id, ticks, original_len, data) = match block {
            // The library assumes nanoseconds, whatever the interface says.
            Block::EnhancedPacket(packet) => {
                let ticks = packet.timestamp.as_nanos() as u64;
                (packet.interface_id, Some(ticks), packet.original_len, packet.data)
            }
            // The two halves of the ticks are separate words, the high one first.
            Block::Packet(packet) => {
                let ticks = if little_endian {
                    packet.timestamp.rotate_left(32)
                } else {
                    packet.timestamp
                };
                (
                    packet.interface_id.into(),
                    Some(ticks),
                    packet.original_len,
                    packet.data,
                )
            }
            Block::SimplePacket(packet) => (0, None, packet.original_len, packet.data),
            _ => {
                return Err(Stop::damaged(
                    "it is of another type than its block says".to_owned(),
                ));
            }
        };
        let interface = self.interface(interface_id)?;
        let data = match ticks {
            Some(_) => &data[..],
            // Simple packets have no captured length: the rest of the block is padding.
            None => &data[..data.len().min(simple_packet_bytes(interface, original_len))],
        };
        check_lengths(data, original_len)?;
        let timestamp = ticks.map_or(Some(Duration::ZERO), |ticks| time(interface, ticks));
        let timestamp = timestamp.ok_or_else(|| {
            Stop::damaged(format!(
                "the resolution or offset of interface {interface_id}'s time stamps is absurd"
            ))
        })?;
        Ok(Packet {
            timestamp,
            data: data.to_vec(),
            original_len,
        })
    }

    fn interface(&self, id: u32) -> Result<&InterfaceDescriptionBlock<'static>, Stop> {
        let Some(interface) = self.parser.interfaces().get(id as usize) else {
            return Err(Stop::damaged(format!(
                "it is from interface {id}, which the file does not describe"
            )));
        };
        match interface.linktype {
            DataLink::ETHERNET => Ok(interface),
            found => Err(Stop::LinkType {
                interface: Some(id),
                found,
            }),
        }
    }
}

impl fmt::Debug for PcapNg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PcapNg")
            .field("interfaces", &self.parser.interfaces().len())
            .finish_non_exhaustive()
    }
}

/// Reads a whole block into the record and returns its type; `None` at the end of the file.
fn fill_block<R: Read>(input: &mut Input<R>, section: Endianness) -> Result<Option<u32>, Stop> {
    let header = input.fill(BLOCK_HEADER_BYTES)?;
    if header.is_empty() {
        return Ok(None);
    }
    let &[k0, k1, k2, k3, l0, l1, l2, l3, ref magic @ ..] = header else {
        return Err(Stop::cut("a block's header", header.len()));
    };
    let is_section = u32::from_le_bytes([k0, k1, k2, k3]) == SECTION_HEADER;
    let little = if is_section {
        *magic == LITTLE_ENDIAN_MAGIC
    } else {
        section == Endianness::Little
    };
    let word = if little {
        u32::from_le_bytes
    } else {
        u32::from_be_bytes
    };
    let (kind, length) = (word([k0, k1, k2, k3]), word([l0, l1, l2, l3]) as usize);
    if !(MIN_BLOCK_BYTES..=MAX_BLOCK_BYTES).contains(&length) {
        return Err(Stop::damaged(format!("a block claims to be {length} bytes long")));
    }
    let available = input.fill(length)?.len();
    if available < length {
        return Err(Stop::cut_after("a block", available, length));
    }
    Ok(Some(kind))
}

fn simple_packet_bytes(interface: &InterfaceDescriptionBlock<'_>, original_len: u32) -> usize {
    let limit = if interface.snaplen == 0 {
        u32::MAX
    } else {
        interface.snaplen
    };
    original_len.min(limit) as usize
}

fn check_lengths(data: &[u8], original_len: u32) -> Result<(), Stop> {
    let captured = data.len();
    if captured > MAX_PACKET_BYTES {
        return Err(Stop::damaged(format!(
            "it claims to hold {captured} bytes, more than any packet"
        )));
    }
    if captured > original_len as usize {
        return Err(Stop::damaged(format!(
            "{captured} bytes were captured of a packet of {original_len} bytes"
        )));
    }
    Ok(())
}

/// Time since the epoch of a number of ticks; `None` if the interface's clock is absurd.
fn time(interface: &InterfaceDescriptionBlock<'_>, ticks: u64) -> Option<Duration> {
    let (mut resolution, mut offset_seconds) = (6, 0);
    for option in &interface.options {
        match option {
            InterfaceDescriptionOption::IfTsResol(value) => resolution = *value,
            InterfaceDescriptionOption::IfTsOffset(value) => offset_seconds = value.cast_signed(),
            _ => {}
        }
    }
    let nanoseconds = u128::from(ticks) * 1_000_000_000;
    // The highest bit selects a negative power of two instead of ten.
    let nanoseconds = match resolution {
        0..=0x7f => nanoseconds / 10u128.checked_pow(resolution.into())?,
        _ => nanoseconds >> (resolution & 0x7f),
    };
    let seconds = u64::try_from(nanoseconds / 1_000_000_000).ok()?;
    let time = Duration::new(
        seconds.checked_add_signed(offset_seconds)?,
        (nanoseconds % 1_000_000_000) as u32,
    );
    Some(time)
}
