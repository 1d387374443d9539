//! A RAM inside of the design, as the DMA reaches it through ports.

use super::config::{Accepted, Transfer};
use super::ports::{SegmentPorts, fits, set_bits};
use super::ram::{RamShape, SegmentedRam};
use crate::agent::Violation;
use crate::model::{Direction, Instance, ModelError, PortHandle};
use crate::pause::{Pause, Pauses};
use crate::seed::Seed;
use std::collections::VecDeque;

/// The ports of one direction, and the transfers in flight at them.
#[derive(Debug)]
pub(super) struct InsideRam {
    shape: RamShape,
    queues: CommandQueues,
    answers: Answers,
    /// Transfers in order; `first` is the number of the first.
    jobs: VecDeque<Job>,
    first: u64,
    /// For each segment the commands that were taken and not answered.
    taken: Vec<VecDeque<SegmentCommand>>,
}

#[derive(Debug)]
struct Job {
    accepted: Accepted,
    /// Commands without answer.
    left: usize,
    /// The bytes read so far.
    bytes: Vec<u8>,
}

/// How the design answers commands.
#[derive(Debug)]
enum Answers {
    /// One pulse for each write.
    Done(PortHandle),
    /// Data for each read.
    Data(Data),
}

#[derive(Debug)]
struct Data {
    data: PortHandle,
    valid: PortHandle,
    ready: PortHandle,
    pauses: Vec<Pauses>,
    counts: Vec<u64>,
    /// For each segment the data that waits for ready.
    held: Vec<Option<Vec<u8>>>,
}

impl InsideRam {
    /// Looks up the ports with that prefix, such as `data_dma_ram`.
    pub(super) fn find(
        dut: &Instance,
        transfer: Transfer,
        prefix: &str,
        (shape, select): (RamShape, u64),
        (pauses, seed): (&RamPauses, Seed),
    ) -> Result<Self, ModelError> {
        let segments = shape.segments as usize;
        let write = transfer == Transfer::FromHost;
        let half = format!("{prefix}_{}", if write { "wr" } else { "rd" });
        let commands = (&pauses.commands, seed);
        let queues = CommandQueues::find(dut, &format!("{half}_cmd"), (shape, select), write, commands)?;
        let output = |signal: &str| dut.port(&format!("{half}_{signal}"), Direction::Output);
        let answers = if write {
            Answers::Done(output("done")?)
        } else {
            let [data, valid] = [output("resp_data")?, output("resp_valid")?];
            let bits = 8 * segments * shape.segment_bytes as usize;
            fits(dut, data, data.width() == bits, "each byte has 8")?;
            let rng = |number: usize| seed.rng(&format!("pauses of answers at {half} {number}"));
            Answers::Data(Data {
                data,
                valid,
                ready: dut.port(&format!("{half}_resp_ready"), Direction::Input)?,
                pauses: (0..segments)
                    .map(|number| Pauses::new(pauses.responses.clone(), rng(number)))
                    .collect(),
                counts: vec![0; segments],
                held: vec![None; segments],
            })
        };
        let port = match &answers {
            Answers::Done(port) | Answers::Data(Data { valid: port, .. }) => *port,
        };
        fits(dut, port, port.width() == segments, "each segment has 1")?;
        Ok(Self {
            shape,
            queues,
            answers,
            jobs: VecDeque::new(),
            first: 0,
            taken: vec![VecDeque::new(); segments],
        })
    }

    /// How its bytes are spread over its segments.
    pub(super) fn shape(&self) -> RamShape {
        self.shape
    }

    /// Begins a transfer: reads its bytes, or writes these.
    pub(super) fn begin(&mut self, accepted: Accepted, bytes: &[u8]) {
        let number = self.first + self.jobs.len() as u64;
        let (address, len) = (accepted.descriptor.ram_addr, accepted.descriptor.len);
        let left = self.queues.push(number, address, len, bytes);
        let bytes = if bytes.is_empty() {
            vec![0; len as usize]
        } else {
            Vec::new()
        };
        self.jobs.push_back(Job {
            accepted,
            left,
            bytes,
        });
    }

    /// Takes the oldest transfer, with the bytes it read, once all of its commands are answered.
    pub(super) fn next_done(&mut self) -> Option<(Accepted, Vec<u8>)> {
        let job = self.jobs.pop_front_if(|job| job.left == 0)?;
        self.first += 1;
        Some((job.accepted, job.bytes))
    }

    /// Transfers under way.
    pub(super) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Forgets everything; the transfers that were under way.
    pub(super) fn reset(&mut self, dut: &mut Instance) -> Vec<Accepted> {
        self.queues.reset(dut);
        self.taken.iter_mut().for_each(VecDeque::clear);
        if let Answers::Data(data) = &mut self.answers {
            data.held.fill(None);
            dut.set_value(data.ready, 0);
        }
        self.first += self.jobs.len() as u64;
        self.jobs.drain(..).map(|job| job.accepted).collect()
    }

    /// Changes the pauses from the next cycle on.
    pub(super) fn set_pauses(&mut self, pauses: &RamPauses) {
        self.queues.set_pause(&pauses.commands);
        if let Answers::Data(data) = &mut self.answers {
            for segment in &mut data.pauses {
                segment.set(pauses.responses.clone());
            }
        }
    }

    /// Drives the ports in this cycle.
    pub(super) fn drive(&mut self, dut: &mut Instance) {
        self.queues.drive(dut);
        if let Answers::Data(data) = &mut self.answers {
            let mut ready = 0u64;
            for (number, pauses) in data.pauses.iter_mut().enumerate() {
                ready |= u64::from(!pauses.next(data.counts[number])) << number;
            }
            set_bits(dut, data.ready, data.pauses.len(), |number| {
                ready >> number & 1 == 1
            });
        }
    }

    /// Samples the ports before the rising edge.
    pub(super) fn sample(&mut self, dut: &Instance) -> Result<(), Violation> {
        for number in 0..self.queues.segments() {
            let answer = match &mut self.answers {
                Answers::Done(done) => (dut.value(*done) >> number & 1 == 1).then(Vec::new),
                Answers::Data(data) => data
                    .check(dut, number)
                    .map_err(|rule| self.queues.violation(rule))?,
            };
            if let Some(bytes) = answer {
                self.answer(number, &bytes)?;
            }
            if let Some(command) = self.queues.taken(dut, number) {
                self.taken[number].push_back(command);
            }
        }
        Ok(())
    }

    /// Checks the last cycle of a reset.
    pub(super) fn check_reset(&self, dut: &Instance) -> Result<(), Violation> {
        let (Answers::Done(port) | Answers::Data(Data { valid: port, .. })) = &self.answers;
        if dut.value(*port) == 0 {
            return Ok(());
        }
        Err(self.queues.violation("a command is answered in reset".to_owned()))
    }

    /// The oldest command of a segment is answered.
    fn answer(&mut self, number: usize, word: &[u8]) -> Result<(), Violation> {
        let Some(command) = self.taken[number].pop_front() else {
            let rule = format!("segment {number} answers without a command");
            return Err(self.queues.violation(rule));
        };
        let job = &mut self.jobs[(command.job - self.first) as usize];
        job.left -= 1;
        for (lane, byte) in word.iter().enumerate() {
            let place = usize::try_from(command.offset + lane as i64).ok();
            if let Some(place) = place.and_then(|place| job.bytes.get_mut(place)) {
                *place = *byte;
            }
        }
        Ok(())
    }
}

impl Data {
    /// Checks valid and ready of one segment; returns the word that is transferred, if any.
    fn check(&mut self, dut: &Instance, number: usize) -> Result<Option<Vec<u8>>, String> {
        let held = self.held[number].take();
        if dut.value(self.valid) >> number & 1 == 0 {
            return match held {
                None => Ok(None),
                Some(_) => Err(format!(
                    "valid of segment {number}'s data went low before ready was high"
                )),
            };
        }
        let size = self.data.width() / 8 / self.held.len();
        let word = dut.bytes(self.data)[number * size..][..size].to_vec();
        if held.is_some_and(|held| held != word) {
            return Err(format!(
                "segment {number}'s data changed while valid was high and ready was low"
            ));
        }
        if dut.value(self.ready) >> number & 1 == 1 {
            self.counts[number] += 1;
            return Ok(Some(word));
        }
        self.held[number] = Some(word);
        Ok(None)
    }
}

/// Pauses of the DMA at the ports of a RAM, independent for each segment.
#[derive(Clone, Debug)]
pub struct RamPauses {
    /// Commands.
    pub commands: Pause,
    /// Ready for read data.
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
pub(super) struct SegmentCommand {
    pub(super) line: u64,
    /// The bytes of the data that are written.
    pub(super) enables: u128,
    /// The data to write; empty in a read.
    pub(super) data: Vec<u8>,
    /// Number of the job that it is a part of.
    pub(super) job: u64,
    /// Offset of the segment's word in the job's bytes; negative if the word begins before them.
    pub(super) offset: i64,
}

/// The command ports of all segments.
#[derive(Debug)]
pub(super) struct CommandQueues {
    pub(super) bus: String,
    shape: RamShape,
    ports: SegmentPorts,
    /// The number of the RAM; always that of the configuration.
    select: Option<(PortHandle, u64)>,
    segments: Vec<Segment>,
    /// The values driven on the ports.
    addresses: u128,
    enables: u128,
    data: Vec<u8>,
}

#[derive(Debug)]
struct Segment {
    queue: VecDeque<SegmentCommand>,
    on_bus: bool,
    taken: u64,
    pauses: Pauses,
}

impl CommandQueues {
    /// Looks up the ports with that prefix, such as `data_dma_ram_wr_cmd`; `write` means that they carry data.
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

    /// Queues the commands for the bytes of a job and returns their number. `bytes` is empty in a read.
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
            self.segments[segment].queue.push_back(SegmentCommand {
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
            let Some(command) = segment.queue.front().filter(|_| !paused && !segment.on_bus) else {
                continue;
            };
            let ones = |bits: usize| u128::MAX >> (128 - bits);
            self.addresses &= !(ones(width) << (number * width));
            self.addresses |= u128::from(command.line) << (number * width);
            self.enables &= !(ones(size) << (number * size));
            self.enables |= command.enables << (number * size);
            self.data[number * size..][..command.data.len()].copy_from_slice(&command.data);
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
    pub(super) fn taken(&mut self, dut: &Instance, number: usize) -> Option<SegmentCommand> {
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

/// How the DMA of one direction reaches the RAM.
#[derive(Debug)]
pub(super) enum RamAccess {
    /// Outside the design: the DMA accesses its contents directly.
    Outside(SegmentedRam),
    /// It is in the design, and the DMA reaches it through ports.
    Inside(Box<InsideRam>),
}

impl RamAccess {
    /// How its bytes are spread over its segments.
    pub(super) fn shape(&self) -> RamShape {
        match self {
            Self::Outside(ram) => ram.shape(),
            Self::Inside(ram) => ram.shape(),
        }
    }

    /// Clocks that the DMA itself needs for these bytes; those at ports follow from the ports.
    pub(super) fn clocks(&self, address: u64, len: u64) -> u64 {
        match self {
            Self::Outside(ram) => ram.shape().lines(address, len),
            Self::Inside(_) => 0,
        }
    }

    /// A descriptor covers these bytes from now on. A RAM inside the design tracks its own usage.
    pub(super) fn begin(&self, transfer: Transfer, address: u64, len: u64) -> Result<(), String> {
        match (self, transfer) {
            (Self::Outside(ram), Transfer::ToHost) => ram.begin_to_host(address, len),
            (Self::Outside(ram), Transfer::FromHost) => ram.begin_from_host(address, len),
            (Self::Inside(_), _) => Ok(()),
        }
    }

    /// A descriptor no longer covers these bytes; `unread` means that the design has to read them.
    pub(super) fn end(&self, address: u64, len: u64, unread: bool) {
        if let Self::Outside(ram) = self {
            ram.end_transfer(address, len, unread);
        }
    }

    /// Transfers under way at the ports of the RAM.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Outside(_) => 0,
            Self::Inside(ram) => ram.len(),
        }
    }
}
