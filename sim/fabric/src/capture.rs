//! Captures of the frames at one end of a cable.

use crate::Ps;
use crate::cable::LinkDirection;
use crate::topology::{CaptureConfig, Seen};
use spinneret_packets::capture::{CaptureError, CaptureWriter, Packet, Resolution};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// A frame that arrives at an end of a cable, or leaves it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed<'b> {
    /// The direction in which this end sends.
    pub(crate) direction: LinkDirection,
    pub(crate) at_ps: Ps,
    /// It leaves.
    pub(crate) is_sent: bool,
    pub(crate) bytes: &'b [u8],
}

/// Callback that records passing frames.
pub(crate) type Note<'n> = dyn FnMut(Passed<'_>) + 'n;

/// A capture file. Received and sent frames are not reported in the order of time, so they are buffered until no
/// earlier frame can follow.
#[derive(Debug)]
pub(crate) struct Capture {
    what: Seen,
    writer: CaptureWriter,
    kept: BinaryHeap<Reverse<Kept>>,
    number: u64,
}

/// When, whether it left, its number, and the frame.
type Kept = (Ps, bool, u64, Vec<u8>);

impl Capture {
    pub(crate) fn create(config: &CaptureConfig) -> Result<Self, CaptureError> {
        Ok(Self {
            what: config.what,
            writer: CaptureWriter::create(&config.file, Resolution::Nano)?,
            kept: BinaryHeap::new(),
            number: 0,
        })
    }

    /// Records a frame that arrived or was sent.
    pub(crate) fn note(&mut self, passed: Passed<'_>) {
        let Passed {
            at_ps,
            is_sent,
            bytes,
            ..
        } = passed;
        let is_wanted = match self.what {
            Seen::Both => true,
            Seen::In => !is_sent,
            Seen::Out => is_sent,
        };
        if is_wanted {
            self.number += 1;
            let frame = (at_ps, is_sent, self.number, bytes.to_vec());
            self.kept.push(Reverse(frame));
        }
    }

    /// Writes the frames before this time; none earlier can follow.
    pub(crate) fn write(&mut self, until_ps: Ps) -> Result<(), CaptureError> {
        while let Some(Reverse((at, ..))) = self.kept.peek()
            && *at < until_ps
        {
            if let Some(Reverse((at_ps, _, _, data))) = self.kept.pop() {
                self.writer.write(&Packet {
                    timestamp: Duration::from_nanos(at_ps / 1000),
                    original_len: data.len() as u32,
                    data,
                })?;
            }
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<(), CaptureError> {
        self.write(Ps::MAX)?;
        self.writer.finish()
    }
}
