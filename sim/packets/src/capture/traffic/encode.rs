//! Packets as the bytes of a capture file.

use super::shipped::TrafficError;
use super::trace::Passed;
use crate::capture::MAX_PACKET_BYTES;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, Endianness, TsResolution};
use std::borrow::Cow;

/// Kind of a capture file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Format {
    /// Pcap with microseconds.
    Micro,
    /// Pcap with nanoseconds.
    Nano,
    /// Pcapng, which has nanoseconds.
    NextGeneration,
}

/// The file, in little-endian byte order on every machine.
pub(super) fn encode(format: Format, passed: &[Passed]) -> Result<Vec<u8>, TrafficError> {
    match format {
        Format::Micro => pcap(TsResolution::MicroSecond, passed),
        Format::Nano => pcap(TsResolution::NanoSecond, passed),
        Format::NextGeneration => pcapng(passed),
    }
}

fn pcap(ts_resolution: TsResolution, passed: &[Passed]) -> Result<Vec<u8>, TrafficError> {
    let header = PcapHeader {
        snaplen: MAX_PACKET_BYTES as u32,
        datalink: DataLink::ETHERNET,
        ts_resolution,
        endianness: Endianness::Little,
        ..PcapHeader::default()
    };
    let mut writer = PcapWriter::with_header(Vec::new(), header)?;
    for packet in passed.iter().map(Passed::packet) {
        writer.write_packet(&PcapPacket::new(
            packet.timestamp,
            packet.original_len,
            &packet.data,
        ))?;
    }
    Ok(writer.into_writer())
}

/// Interface 0 carries untagged frames, interface 1 tagged ones.
fn pcapng(passed: &[Passed]) -> Result<Vec<u8>, TrafficError> {
    let mut writer = PcapNgWriter::with_endianness(Vec::new(), Endianness::Little)?;
    for name in ["access0", "trunk0"] {
        writer.write_pcapng_block(InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: MAX_PACKET_BYTES as u32,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed(name)),
                // Ticks are 10^-9 seconds.
                InterfaceDescriptionOption::IfTsResol(9),
            ],
        })?;
    }
    for passed in passed {
        let packet = passed.packet();
        writer.write_pcapng_block(EnhancedPacketBlock {
            interface_id: passed.on_trunk.into(),
            timestamp: packet.timestamp,
            original_len: packet.original_len,
            data: Cow::Borrowed(&packet.data),
            options: Vec::new(),
        })?;
    }
    Ok(writer.into_inner())
}
