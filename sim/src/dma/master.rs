//! Commands of the DMA to a RAM inside of the design, each segment by itself.

use super::ports::{SegmentPorts, fits, set_bits};
use super::ram::RamShape;
use crate::agent::Violation;
use crate::model::{Direction, Instance, ModelError, PortHandle};
use crate::pause::{Pause, Pauses};
use crate::seed::Seed;
use std::collections::VecDeque;

/// When the DMA pauses at the ports of a RAM, each segment by itself.
#[derive(Clone, Debug)]
pub struct RamPauses {
    /// Commands.
    pub commands: Pause,
    /// Ready for what was read.
    pub responses: Pause,
}

impl Default for RamPauses {
    fn default() -> Self {
        Self {
            commands: Pause::Never,
            responses: Pause::Never,
        }
    }
}

/// A command for one segment.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) line: u64,
    /// Bytes of the data that are written.
    pub(super) enables: u128,
    /// What is written; empty in a read.
    pub(super) data: Vec<u8>,
    /// Number of the job that it is a part of.
    pub(super) job: u64,
    /// Where in the job's bytes the segment's word begins; less than 0 if it begins before them.
    pub(super) offset: i64,
}

/// The command ports of all segments.
#[derive(Debug)]
pub(super) struct Orders {
    pub(super) bus: String,
    shape: RamShape,
    ports: SegmentPorts,
    /// Which RAM is meant; always the one of the configuration.
    select: Option<(PortHandle, u64)>,
    segments: Vec<Segment>,
    /// What is driven on the ports.
    addresses: u128,
    enables: u128,
    data: Vec<u8>,
}

#[derive(Debug)]
struct Segment {
    queue: VecDeque<Order>,
    on_bus: bool,
    taken: u64,
    pauses: Pauses,
}

impl Orders {
    /// Looks up the ports with that prefix, such as `data_dma_ram_wr_cmd`; `write` says that there are data.
    pub(super) fn find(
        dut: &Instance,
        prefix: &str,
        (shape, select): (RamShape, u64),
        write: bool,
        (pause, seed): (&Pause, Seed),
    ) -> Result<Self, ModelError> {
        let segments = shape.segments as usize;
        let bytes = segments * shape.segment_bytes as usize;
        let ports = SegmentPorts::find(dut, prefix, shape, (Direction::Input, write))?;
        if let Some([enables, _]) = ports.write {
            fits(dut, enables, bytes <= 128, "each byte has 1, 128 at most")?;
        }
        let select = dut.find(&format!("{prefix}_sel")).map(|port| {
            let width = port.width() / segments;
            let all = (0..segments).fold(0, |all, segment| all | select << (segment * width));
            (port, all)
        });
        let segment = |number| Segment {
            queue: VecDeque::new(),
            on_bus: false,
            taken: 0,
            pauses: Pauses::new(pause.clone(), seed.rng(&format!("pauses of {prefix} {number}"))),
        };
        Ok(Self {
            bus: prefix.to_owned(),
            shape,
            ports,
            select,
            segments: (0..segments).map(segment).collect(),
            addresses: 0,
            enables: 0,
            data: vec![0; bytes],
        })
    }

    /// Number of segments.
    pub(super) fn segments(&self) -> usize {
        self.segments.len()
    }

    /// Queues the commands that bytes of a job need; how many there are. `bytes` is empty in a read.
    pub(super) fn push(&mut self, job: u64, address: u64, len: u64, bytes: &[u8]) -> usize {
        let size = self.shape.segment_bytes;
        let words = address / size..=(address + len - 1) / size;
        let count = words.clone().count();
        for word in words {
            let offset = (word * size) as i64 - address as i64;
            let (mut enables, mut data) = (0, Vec::new());
            if !bytes.is_empty() {
                data.resize(size as usize, 0);
                for (lane, place) in data.iter_mut().enumerate() {
                    let byte = usize::try_from(offset + lane as i64).ok();
                    if let Some(byte) = byte.and_then(|byte| bytes.get(byte)) {
                        *place = *byte;
                        enables |= 1 << lane;
                    }
                }
            }
            let segment = (word % self.shape.segments) as usize;
            self.segments[segment].queue.push_back(Order {
                line: word / self.shape.segments,
                enables,
                data,
                job,
                offset,
            });
        }
        count
    }

    /// Drives the commands of this cycle.
    pub(super) fn drive(&mut self, dut: &mut Instance) {
        let size = self.shape.segment_bytes as usize;
        let width = self.ports.address.width() / self.segments.len();
        let mut changed = false;
        for (number, segment) in self.segments.iter_mut().enumerate() {
            let paused = segment.pauses.next(segment.taken);
            let Some(order) = segment.queue.front().filter(|_| !paused && !segment.on_bus) else {
                continue;
            };
            let ones = |bits: usize| u128::MAX >> (128 - bits);
            self.addresses &= !(ones(width) << (number * width));
            self.addresses |= u128::from(order.line) << (number * width);
            self.enables &= !(ones(size) << (number * size));
            self.enables |= order.enables << (number * size);
            self.data[number * size..][..order.data.len()].copy_from_slice(&order.data);
            (segment.on_bus, changed) = (true, true);
        }
        if changed {
            dut.set_value(self.ports.address, self.addresses);
            if let Some([enables, data]) = self.ports.write {
                dut.set_value(enables, self.enables);
                dut.set_bytes(data, &self.data);
            }
            if let Some((port, value)) = self.select {
                dut.set_value(port, value.into());
            }
        }
        set_bits(dut, self.ports.valid, self.segments.len(), |number| {
            self.segments[number].on_bus
        });
    }

    /// The command of that segment that the design takes in this cycle.
    pub(super) fn taken(&mut self, dut: &Instance, number: usize) -> Option<Order> {
        let segment = &mut self.segments[number];
        if !segment.on_bus || dut.value(self.ports.ready) >> number & 1 == 0 {
            return None;
        }
        segment.on_bus = false;
        segment.taken += 1;
        segment.queue.pop_front()
    }

    /// Forgets all commands.
    pub(super) fn reset(&mut self, dut: &mut Instance) {
        for segment in &mut self.segments {
            segment.queue.clear();
            segment.on_bus = false;
        }
        dut.set_value(self.ports.valid, 0);
    }

    /// Changes the pauses of all segments from the next cycle on.
    pub(super) fn set_pause(&mut self, pause: &Pause) {
        for segment in &mut self.segments {
            segment.pauses.set(pause.clone());
        }
    }

    /// A broken rule of this bus.
    pub(super) fn violation(&self, rule: String) -> Violation {
        Violation {
            bus: self.bus.clone(),
            rule,
        }
    }
}
