//! Predictor of reads: descriptors and data beats.

use super::config::{Guard, HalfCounters, Setup};
use super::plan::{is_possible, span};
use spinneret_sim::dma::{Accepted, Descriptor, SegmentedRam, Status};
use spinneret_sim::prelude::*;
use std::collections::VecDeque;

/// Predicts the results of reads and compares them.
///
/// A read that can be done has one descriptor, or two if the ring's end lies within, in the order of the reads. Its
/// beats come after their statuses, and all have the same response; with OKAY the bytes that they address are
/// those of host memory, else 0.
#[derive(Debug)]
pub(super) struct ReadModel {
    setup: Setup,
    /// Reads that are not answered, in their order.
    reads: VecDeque<Expected>,
    /// Number of the first of them since the start.
    first: u64,
    /// Reads whose descriptors are complete, since the start.
    described: u64,
    /// The read of each tag in flight.
    tags: Vec<Option<u64>>,
    /// Atomic operations that want data: number, beats, and how many reads were sent before.
    atomics: VecDeque<(u64, u64)>,
    /// Expected counters.
    pub(super) counters: HalfCounters,
    /// Transfers that outlived a reset of this side alone.
    before: Option<Box<Before>>,
}

/// Reads from before a reset that Corundum's DMA has not seen.
#[derive(Debug)]
struct Before {
    model: ReadModel,
    /// Descriptors without status, and one that is valid and not taken.
    open: usize,
    offered: bool,
}

/// A read that is not answered.
#[derive(Debug)]
struct Expected {
    number: u64,
    address: u64,
    /// Bytes that it reads; 0 if it is refused or outside.
    bytes: u64,
    response: Response,
    /// Bytes that were described.
    described: u64,
    /// Parts of the RAM that hold them.
    parts: Vec<(u64, u64)>,
    /// Descriptors without status.
    open: u32,
    /// The cycle of its last status.
    status_cycle: u64,
}

impl ReadModel {
    pub(super) fn new(setup: Setup) -> Self {
        Self {
            setup,
            reads: VecDeque::new(),
            first: 0,
            described: 0,
            tags: vec![None; setup.reads as usize],
            atomics: VecDeque::new(),
            counters: HalfCounters::default(),
            before: None,
        }
    }

    /// Returns whether descriptors from before the last reset are in flight. The design takes nothing new until they end.
    pub(super) fn drains(&self) -> bool {
        self.before.is_some()
    }

    /// Reads, and atomic operations that want data, that are not answered.
    pub(super) fn left(&self) -> usize {
        self.reads.len() + self.atomics.len()
    }

    /// A read is sent, through a guard if there is one.
    pub(super) fn send(&mut self, number: u64, request: &ReadRequest, guard: Option<&Guard>) {
        let burst = &request.burst;
        let possible = is_possible(&self.setup, burst);
        let bytes = if possible { span(burst) } else { 0 };
        let allowed = |guard: &Guard| guard.allows(request.user, burst.address, bytes);
        let outside = possible && guard.is_some_and(|guard| !allowed(guard));
        let response = match (possible, outside) {
            (false, _) => Response::SlaveError,
            (true, true) => Response::DecodeError,
            (true, false) => Response::Okay,
        };
        self.reads.push_back(Expected {
            number,
            address: burst.address,
            bytes: if outside { 0 } else { bytes },
            response,
            described: 0,
            parts: Vec::new(),
            open: 0,
            status_cycle: 0,
        });
    }

    /// Records an atomic operation that returns this many beats.
    pub(super) fn send_atomic(&mut self, number: u64, beats: u64) {
        self.atomics.push_back((number, beats));
    }

    /// A descriptor was taken.
    pub(super) fn descriptor(&mut self, accepted: &Accepted) -> Result<(), String> {
        if let Some(before) = self.before.as_mut().filter(|before| before.offered) {
            before.offered = false;
            return before.model.descriptor(accepted);
        }
        let descriptor = &accepted.descriptor;
        while let Some(read) = self.reads.get_mut((self.described - self.first) as usize) {
            if read.described < read.bytes {
                read.describe(&self.setup, descriptor)?;
                self.tags[descriptor.tag as usize] = Some(self.described);
                return Ok(());
            }
            self.described += 1;
        }
        Err(format!("{descriptor:x?} is of no read"))
    }

    /// A status was given.
    pub(super) fn status(&mut self, status: &Status, ram: &SegmentedRam) -> Result<(), String> {
        if status.unsolicited {
            self.counters.stray_status += 1;
            return Ok(());
        }
        if let Some(before) = &mut self.before {
            before.open -= 1;
            before.model.status(status, ram)?;
            if before.open == 0 {
                self.before = None;
            }
            return Ok(());
        }
        self.counters.count_error(status.code);
        let read = self.tags[status.tag as usize].take();
        let read = read.and_then(|number| self.reads.get_mut((number.checked_sub(self.first)?) as usize));
        let Some(read) = read else {
            return Err(format!(
                "the read of tag {} was answered before its status",
                status.tag
            ));
        };
        read.open -= 1;
        read.status_cycle = status.cycle;
        if status.code != 0 {
            read.response = Response::SlaveError;
        }
        if read.response != Response::Okay && read.open == 0 {
            // The design does not read this part of the RAM.
            for (address, len) in &read.parts {
                ram.release(*address, *len);
            }
        }
        Ok(())
    }

    /// A read was answered.
    pub(super) fn done(&mut self, done: &ReadDone, host: &HostMemory) -> Result<(), String> {
        let about = |what: &str| Err(format!("{what}: read {} at {:x?}", done.number, done.burst));
        if done.atomic {
            return self.atomic_done(done);
        }
        let Some(read) = self.reads.pop_front() else {
            return about("there are data for no read");
        };
        self.first += 1;
        self.described = self.described.max(self.first);
        if read.number != done.number {
            return about(&format!("the data are not for the oldest read, {}", read.number));
        }
        if read.described < read.bytes {
            return about("the data come before their descriptor");
        }
        if read.open > 0 || (read.status_cycle > 0 && read.status_cycle >= done.first_cycle) {
            return about("the data come before the last status");
        }
        if let Some(beat) = done.beats.iter().find(|beat| beat.response != read.response) {
            return about(&format!(
                "a beat has {:?}, not {:?}",
                beat.response, read.response
            ));
        }
        self.count(read.response, read.bytes > 0);
        match read.response {
            Response::Okay => compare(done, &host.read(read.address, read.bytes as usize)),
            _ => silent(done),
        }
    }

    fn atomic_done(&mut self, done: &ReadDone) -> Result<(), String> {
        let about = |what: &str| {
            Err(format!(
                "{what}: atomic operation {}, {:x?}",
                done.number, done.burst
            ))
        };
        let Some((number, beats)) = self.atomics.pop_front() else {
            return about("there are data for no atomic operation");
        };
        if number != done.number {
            return about(&format!("the data are not for the oldest one, {number}"));
        }
        if done.beats.len() as u64 != beats {
            return about(&format!("there are {} beats, not {beats}", done.beats.len()));
        }
        if done
            .beats
            .iter()
            .any(|beat| beat.response != Response::SlaveError)
        {
            return about("a beat has not SLVERR");
        }
        self.count(Response::SlaveError, false);
        silent(done)
    }

    /// Counts a read; `tried` says that there were descriptors for it.
    fn count(&mut self, response: Response, tried: bool) {
        self.counters.bursts += 1;
        self.counters.outside += u64::from(response == Response::DecodeError);
        self.counters.refused += u64::from(response == Response::SlaveError && !tried);
    }

    /// Forgets everything after a reset.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.setup);
    }

    /// Forgets everything that is not in flight, after a reset that Corundum's DMA has not seen; `offered` says
    /// that a descriptor is valid and was not taken.
    pub(super) fn reset_alone(&mut self, offered: bool) {
        let mut model = std::mem::replace(self, Self::new(self.setup));
        // Of two resets in a row the second finds nothing new.
        self.before = model.before.take().or_else(|| {
            for read in &mut model.reads {
                // The design does not read the data that arrives.
                read.response = Response::SlaveError;
            }
            let in_flight = model.tags.iter().flatten().count();
            let open = in_flight + usize::from(offered);
            (open > 0).then(|| Box::new(Before { model, open, offered }))
        });
    }
}

impl Expected {
    /// Takes a descriptor for the rest of the read, or for what there is before the end of the ring.
    fn describe(&mut self, setup: &Setup, descriptor: &Descriptor) -> Result<(), String> {
        let Descriptor {
            dma_addr,
            ram_addr,
            len,
            ..
        } = *descriptor;
        let (address, left) = (self.address + self.described, self.bytes - self.described);
        let at_end = ram_addr + len == setup.ram.bytes;
        let at_start = ram_addr == 0;
        let good = dma_addr == address
            && dma_addr % setup.beat_bytes == ram_addr % setup.beat_bytes
            && (len == left || (len < left && at_end))
            && (self.described == 0 || at_start);
        if !good {
            return Err(format!(
                "{descriptor:x?} is described, where {left:#x} bytes at {address:#x} of read {} are left",
                self.number
            ));
        }
        self.described += len;
        self.parts.push((ram_addr, len));
        self.open += 1;
        Ok(())
    }
}

/// Compares the bytes that the beats address.
fn compare(done: &ReadDone, expected: &[u8]) -> Result<(), String> {
    let mut rest = expected;
    for (number, beat) in (0..).zip(&done.beats) {
        let lanes = lane_range(&done.burst, number, beat.bytes.len() as u64);
        let (wanted, later) = rest.split_at(lanes.len());
        let found = &beat.bytes[lanes];
        if found != wanted {
            return Err(format!(
                "beat {number} of read {} at {:x?} is {found:02x?}, not {wanted:02x?}",
                done.number, done.burst
            ));
        }
        rest = later;
    }
    Ok(())
}

/// The lanes that a beat of an incrementing burst addresses.
fn lane_range(burst: &Burst, number: u64, bus: u64) -> std::ops::Range<usize> {
    let aligned = burst.address - burst.address % burst.size + number * burst.size;
    let first = if number == 0 { burst.address } else { aligned };
    let end = aligned % bus + burst.size;
    (first % bus) as usize..end as usize
}

/// Checks that all lanes of all beats are 0.
fn silent(done: &ReadDone) -> Result<(), String> {
    let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    if done.beats.iter().all(|beat| is_zero(&beat.bytes)) {
        return Ok(());
    }
    Err(format!(
        "there is data with an error: read {} at {:x?}",
        done.number, done.burst
    ))
}
