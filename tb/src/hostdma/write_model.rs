//! Predictor of writes: descriptors, bytes in host memory, responses.

use super::config::{Guard, HalfCounters, Setup};
use super::plan::{Piece, WritePlan};
use spinneret_sim::dma::{Accepted, Descriptor, Status};
use spinneret_sim::prelude::*;
use std::collections::VecDeque;

/// Predicts the effects of writes and compares them.
///
/// Descriptors are exactly the pieces of the bursts in order; of a spoiled burst they may be any parts of them.
/// The bytes of a descriptor are expected in host memory from then on. A response comes after the statuses of all
/// descriptors of its burst.
#[derive(Debug)]
pub(super) struct WriteModel {
    setup: Setup,
    /// Bursts that are not answered, in their order.
    bursts: VecDeque<Expected>,
    /// Number of the first of them since the start.
    first: u64,
    /// Bursts whose descriptors are complete, since the start, or whose are in flight.
    described: u64,
    /// The burst of each tag in flight.
    tags: Vec<Option<u64>>,
    /// The line of the ring that the next beat takes.
    line: u64,
    /// Expected counters.
    pub(super) counters: HalfCounters,
    /// Transfers that outlived a reset of this side alone.
    before: Option<Box<Before>>,
}

/// Writes from before a reset that Corundum's DMA has not seen.
#[derive(Debug)]
struct Before {
    model: WriteModel,
    /// Descriptors without status, and one that is valid and not taken.
    open: usize,
    offered: bool,
}

/// A burst that is not answered.
#[derive(Debug)]
struct Expected {
    number: u64,
    plan: WritePlan,
    /// Whether the guard refuses a part of it.
    outside: bool,
    /// The piece that is described next, its offset within it, and the offset of its first byte in all bytes.
    piece: usize,
    within: u64,
    start: usize,
    /// Descriptors without status.
    open: u32,
    failed: bool,
    /// The cycle of its last status.
    status_cycle: u64,
}

impl WriteModel {
    pub(super) fn new(setup: Setup) -> Self {
        Self {
            setup,
            bursts: VecDeque::new(),
            first: 0,
            described: 0,
            tags: vec![None; setup.writes as usize],
            line: 0,
            counters: HalfCounters::default(),
            before: None,
        }
    }

    /// Returns whether descriptors from before the last reset are in flight. The design takes nothing new until they end.
    pub(super) fn drains(&self) -> bool {
        self.before.is_some()
    }

    /// Bursts that are not answered.
    pub(super) fn left(&self) -> usize {
        self.bursts.len()
    }

    /// A burst is sent, through a guard if there is one.
    pub(super) fn send(&mut self, number: u64, request: &WriteRequest, guard: Option<&Guard>) {
        let mut plan = WritePlan::new(&self.setup, request, self.line);
        self.line = (self.line + request.burst.beats) % self.setup.lines();
        let outside = guard.is_some_and(|guard| hold(&mut plan, guard, request.user));
        self.bursts.push_back(Expected {
            number,
            plan,
            outside,
            piece: 0,
            within: 0,
            start: 0,
            open: 0,
            failed: false,
            status_cycle: 0,
        });
    }

    /// A descriptor was taken.
    pub(super) fn descriptor(&mut self, accepted: &Accepted, host: &HostMemory) -> Result<(), String> {
        if let Some(before) = self.before.as_mut().filter(|before| before.offered) {
            before.offered = false;
            return before.model.descriptor(accepted, host);
        }
        let descriptor = &accepted.descriptor;
        while let Some(burst) = self.bursts.get_mut((self.described - self.first) as usize) {
            if let Some(start) = burst.take(descriptor)? {
                burst.open += 1;
                self.tags[descriptor.tag as usize] = Some(self.described);
                let bytes = &burst.plan.bytes[start..start + accepted.moved as usize];
                host.expect(descriptor.dma_addr, bytes);
                return Ok(());
            }
            self.described += 1;
        }
        Err(format!("{descriptor:x?} is of no burst"))
    }

    /// A status was given.
    pub(super) fn status(&mut self, status: &Status) -> Result<(), String> {
        if status.unsolicited {
            self.counters.stray_status += 1;
            return Ok(());
        }
        if let Some(before) = &mut self.before {
            before.open -= 1;
            before.model.status(status)?;
            if before.open == 0 {
                self.before = None;
            }
            return Ok(());
        }
        self.counters.count_error(status.code);
        let burst = self.tags[status.tag as usize].take();
        let burst = burst.and_then(|number| self.bursts.get_mut((number.checked_sub(self.first)?) as usize));
        let Some(burst) = burst else {
            return Err(format!(
                "the burst of tag {} was answered before its status",
                status.tag
            ));
        };
        burst.open -= 1;
        burst.failed |= status.code != 0;
        burst.status_cycle = status.cycle;
        Ok(())
    }

    /// A response came.
    pub(super) fn response(&mut self, done: &WriteDone) -> Result<(), String> {
        let Some(burst) = self.bursts.pop_front() else {
            return Err(format!("there is a response for no write: {done:x?}"));
        };
        self.first += 1;
        self.described = self.described.max(self.first);
        let about = |what: &str| Err(format!("{what}: {done:x?}"));
        if burst.number != done.number {
            return about(&format!(
                "the response is not for the oldest write, {}",
                burst.number
            ));
        }
        if burst.open > 0 || (burst.status_cycle > 0 && burst.status_cycle >= done.response_cycle) {
            return about("the response comes before the last status");
        }
        if !burst.plan.spoiled && burst.piece < burst.plan.pieces.len() {
            return about(&format!(
                "the response comes before a descriptor for {:x?}",
                burst.plan.pieces[burst.piece]
            ));
        }
        let response = done.response;
        // The guard may have seen any part of a spoiled burst.
        let may_be_outside = burst.plan.spoiled && burst.outside && response == Response::DecodeError;
        if response != burst.response() && !may_be_outside {
            return about(&format!("the response should be {:?}", burst.response()));
        }
        self.counters.bursts += 1;
        let refused = burst.plan.refused || burst.plan.spoiled;
        self.counters.outside += u64::from(response == Response::DecodeError);
        self.counters.refused += u64::from(refused);
        Ok(())
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
            let in_flight = model.tags.iter().flatten().count();
            let open = in_flight + usize::from(offered);
            (open > 0).then(|| Box::new(Before { model, open, offered }))
        });
    }
}

/// Takes out what the guard refuses; whether there is any such.
fn hold(plan: &mut WritePlan, guard: &Guard, user: Option<u64>) -> bool {
    let mut outside = false;
    let mut start = 0;
    let (mut pieces, mut bytes) = (Vec::new(), Vec::new());
    for piece in &plan.pieces {
        let end = start + piece.len as usize;
        if guard.allows(user, piece.address, piece.len) {
            pieces.push(*piece);
            bytes.extend_from_slice(&plan.bytes[start..end]);
        } else {
            outside = true;
        }
        start = end;
    }
    if outside && !plan.spoiled {
        (plan.pieces, plan.bytes) = (pieces, bytes);
    }
    outside
}

impl Expected {
    /// Returns the expected response.
    fn response(&self) -> Response {
        if self.outside && !self.plan.spoiled {
            Response::DecodeError
        } else if self.plan.refused || self.plan.spoiled || self.failed {
            Response::SlaveError
        } else {
            Response::Okay
        }
    }

    /// Takes the piece that a descriptor is for, if the burst has one left; where its bytes start.
    fn take(&mut self, descriptor: &Descriptor) -> Result<Option<usize>, String> {
        if self.plan.spoiled {
            return Ok(self.take_part(descriptor));
        }
        let Some(piece) = self.plan.pieces.get(self.piece) else {
            return Ok(None);
        };
        let asked = piece_of(descriptor);
        if asked != *piece {
            return Err(format!(
                "{asked:x?} is described, where {piece:x?} of write {} is next",
                self.number
            ));
        }
        let start = self.start;
        self.piece += 1;
        self.start += piece.len as usize;
        Ok(Some(start))
    }

    /// The same where any part of any piece may be described, in their order.
    fn take_part(&mut self, descriptor: &Descriptor) -> Option<usize> {
        let (mut number, mut within, mut start) = (self.piece, self.within, self.start);
        loop {
            let piece = self.plan.pieces.get(number)?;
            let offset = descriptor.dma_addr.wrapping_sub(piece.address);
            let fits = offset >= within
                && offset < piece.len
                && offset + descriptor.len <= piece.len
                && descriptor.ram_addr == piece.ram + offset;
            if fits {
                (self.piece, self.within, self.start) = (number, offset + descriptor.len, start);
                return Some(start + offset as usize);
            }
            start += piece.len as usize;
            (number, within) = (number + 1, 0);
        }
    }
}

fn piece_of(descriptor: &Descriptor) -> Piece {
    Piece {
        address: descriptor.dma_addr,
        ram: descriptor.ram_addr,
        len: descriptor.len,
    }
}
