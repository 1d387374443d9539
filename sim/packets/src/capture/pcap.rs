//! Packets of a pcap file: micro- or nanosecond time stamps, either byte order.

use super::input::{Input, Stop};
use super::{MAX_PACKET_BYTES, Packet, Resolution};
use pcap_file::pcap::{PcapParser, RawPcapPacket};
use pcap_file::{DataLink, Endianness, TsResolution};
use std::io::Read;
use std::time::Duration;

/// Size of the header of a pcap file.
pub(super) const FILE_HEADER_BYTES: usize = 24;
const RECORD_HEADER_BYTES: usize = 16;

/// Reads the records of a pcap file.
#[derive(Debug)]
pub(super) struct Pcap {
    parser: PcapParser,
}

impl Pcap {
    /// Reads the file header, which is the first record of the input.
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

    /// The next packet; `None` at the end of the file.
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
