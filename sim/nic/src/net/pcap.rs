//! Packets from captures and into them.

use super::{NetError, Next, Sink, Source};
use crate::nic::{DAY_PS, LAST_PS};
use spinneret_packets::capture::{CaptureReader, CaptureWriter, Packet, Resolution};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// When the packets of a capture come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timing {
    /// As far apart as they were captured.
    #[default]
    Recorded,
    /// As fast as the NIC takes them: all are there at the start.
    BackToBack,
}

/// Packets of a pcap or pcapng file; the first one comes at the start.
///
/// A damaged capture gives its readable packets, and then an error that names the packet and the byte. Packets that
/// were captured out of order come in the order of the file, none before the one in front of it. Packets that the
/// capture cut short come as they are, since the rest is not known; [`cut_short`](Source::cut_short) counts them.
#[derive(Debug)]
pub struct PcapSource {
    path: PathBuf,
    reader: CaptureReader,
    timing: Timing,
    total: Option<u64>,
    packets: u64,
    cut_short: u64,
    /// Time stamp of the first packet.
    first: Option<Duration>,
    last_ps: u64,
}

impl PcapSource {
    /// Opens a capture.
    ///
    /// # Errors
    /// If it cannot be read, is no capture, or is not of Ethernet frames.
    pub fn open(path: &Path, timing: Timing) -> Result<Self, NetError> {
        Ok(Self {
            path: path.to_owned(),
            reader: CaptureReader::open(path)?,
            timing,
            total: count(path),
            packets: 0,
            cut_short: 0,
            first: None,
            last_ps: 0,
        })
    }

    fn at_ps(&mut self, timestamp: Duration) -> u64 {
        let first = *self.first.get_or_insert(timestamp);
        let since_ps = timestamp.saturating_sub(first).as_nanos().saturating_mul(1000);
        let at_ps = match self.timing {
            Timing::Recorded => u64::try_from(since_ps).unwrap_or(u64::MAX),
            Timing::BackToBack => 0,
        };
        self.last_ps = self.last_ps.max(at_ps);
        self.last_ps
    }
}

impl Source for PcapSource {
    fn next(&mut self, _now_ps: u64) -> Result<Next, NetError> {
        let Some(packet) = self.reader.next().transpose()? else {
            return Ok(Next::End);
        };
        self.packets += 1;
        self.cut_short += u64::from(packet.is_cut_short());
        if packet.data.is_empty() {
            return Err(NetError::EmptyPacket {
                file: self.path.clone(),
                packet: self.packets,
            });
        }
        let at_ps = self.at_ps(packet.timestamp);
        if at_ps > LAST_PS {
            return Err(NetError::TooLate {
                file: self.path.clone(),
                packet: self.packets,
                days: at_ps / DAY_PS,
            });
        }
        Ok(Next::Packet {
            at_ps,
            bytes: packet.data,
        })
    }

    fn total(&self) -> Option<u64> {
        self.total
    }

    fn cut_short(&self) -> u64 {
        self.cut_short
    }
}

/// Larger captures are not read twice.
const COUNTED_BYTES: u64 = 64 << 20;

/// Counts the packets of a file, for progress. Pipes, which cannot be read twice, large files, and
/// damaged files are not counted.
fn count(path: &Path) -> Option<u64> {
    let is_counted = |file: &std::fs::Metadata| file.is_file() && file.len() <= COUNTED_BYTES;
    path.metadata().ok().filter(is_counted)?;
    let mut packets = 0;
    for packet in CaptureReader::open(path).ok()? {
        if packet.ok()?.data.is_empty() {
            return None;
        }
        packets += 1;
    }
    Some(packets)
}

/// A pcap file with the simulation's times, in nanoseconds since the start.
///
/// The file appears when [`finish`](Sink::finish) has completed it. Dropped before that, it leaves nothing.
#[derive(Debug)]
pub struct PcapSink {
    writer: CaptureWriter,
}

impl PcapSink {
    /// Starts a capture. An existing file stays as it is until the new one is complete.
    ///
    /// # Errors
    /// If files cannot be created there.
    pub fn create(path: &Path) -> Result<Self, NetError> {
        Ok(Self {
            writer: CaptureWriter::create(path, Resolution::Nano)?,
        })
    }
}

impl Sink for PcapSink {
    fn put(&mut self, at_ps: u64, bytes: &[u8]) -> Result<(), NetError> {
        self.writer.write(&Packet {
            timestamp: Duration::from_nanos(at_ps / 1000),
            data: bytes.to_vec(),
            // A size that is beyond 32 bits is beyond what a capture may hold, which the writer says.
            original_len: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
        })?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), NetError> {
        Ok(self.writer.finish()?)
    }
}
