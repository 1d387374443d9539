//! The write half of a master.

use super::request::{LiteWrite, check_fit};
use crate::axi::{MasterPauses, Response, Skew};
use crate::axil::done::LiteWriteDone;
use crate::axil::ports::WritePorts;
use crate::handshake::Handshake;
use crate::model::Instance;
use crate::pause::Pauses;
use crate::seed::Seed;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

/// A write that is not answered.
#[derive(Debug)]
struct Open {
    number: u64,
    request: LiteWrite,
    /// Cycles from the offer of the address to that of the data; none if they go together.
    skew: i64,
    /// The cycles in which address and data were offered.
    address_offered: Option<u64>,
    data_offered: Option<u64>,
    /// The cycles of their transfers.
    address_cycle: Option<u64>,
    data_cycle: Option<u64>,
}

/// The write half of a master.
#[derive(Debug)]
pub(super) struct Writer {
    ports: WritePorts,
    address: Pauses,
    data: Pauses,
    response: Pauses,
    pub(super) skew: Skew,
    rng: ChaCha8Rng,
    /// Oldest first; the oldest is answered first.
    open: VecDeque<Open>,
    /// Transfers since the start: addresses, data, responses.
    counts: [u64; 3],
    address_on_bus: bool,
    data_on_bus: bool,
    /// The first cycle in which the response on the bus was valid.
    valid_since: Option<u64>,
    done: VecDeque<LiteWriteDone>,
}

impl Writer {
    pub(super) fn new(ports: WritePorts, pauses: &MasterPauses, skew: Skew, seed: Seed) -> Self {
        let bus = &ports.address.channel.bus;
        let rng = |purpose: &str| seed.rng(&format!("{purpose} of the master at {bus}"));
        Self {
            address: Pauses::new(pauses.write_address.clone(), rng("address pauses")),
            data: Pauses::new(pauses.write_data.clone(), rng("data pauses")),
            response: Pauses::new(pauses.response.clone(), rng("response pauses")),
            rng: rng("choices"),
            ports,
            skew,
            open: VecDeque::new(),
            counts: [0; 3],
            address_on_bus: false,
            data_on_bus: false,
            valid_since: None,
            done: VecDeque::new(),
        }
    }

    pub(super) fn set_pauses(&mut self, pauses: &MasterPauses) {
        self.address.set(pauses.write_address.clone());
        self.data.set(pauses.write_data.clone());
        self.response.set(pauses.response.clone());
    }

    pub(super) fn push(&mut self, number: u64, request: LiteWrite) -> Result<(), String> {
        check_fit("address", request.address, self.ports.address.address)?;
        check_fit("data", request.data, self.ports.wdata)?;
        if let Some(strobes) = request.strobes {
            check_fit("strobes", strobes.into(), self.ports.wstrb)?;
        }
        if let (Some(value), Some(port)) = (request.protection, self.ports.address.protection) {
            check_fit("protection", value.into(), port)?;
        }
        self.open.push_back(Open {
            number,
            request,
            skew: self.skew.draw(&mut self.rng),
            address_offered: None,
            data_offered: None,
            address_cycle: None,
            data_cycle: None,
        });
        Ok(())
    }

    pub(super) fn drive(&mut self, dut: &mut Instance, cycle: u64) {
        let [addresses, datas, responses] = self.counts;
        let stalled = self.response.next(responses);
        dut.set_high(self.ports.response.ready, !stalled);
        if !self.address.next(addresses) && !self.address_on_bus {
            self.offer_address(dut, cycle);
        }
        if !self.data.next(datas) && !self.data_on_bus {
            self.offer_data(dut, cycle);
        }
        dut.set_high(self.ports.address.channel.valid, self.address_on_bus);
        dut.set_high(self.ports.data.valid, self.data_on_bus);
    }

    fn offer_address(&mut self, dut: &mut Instance, cycle: u64) {
        let Some(next) = self.open.iter_mut().find(|write| write.address_cycle.is_none()) else {
            return;
        };
        let ahead = next.skew.min(0).unsigned_abs();
        let is_due = ahead == 0 || next.data_offered.is_some_and(|offer| cycle >= offer + ahead);
        if !is_due {
            return;
        }
        let ports = &self.ports.address;
        dut.set_value(ports.address, next.request.address.into());
        if let Some(port) = ports.protection {
            let random = self.rng.random_range(0..8);
            dut.set_value(port, next.request.protection.unwrap_or(random).into());
        }
        next.address_offered = Some(cycle);
        self.address_on_bus = true;
    }

    fn offer_data(&mut self, dut: &mut Instance, cycle: u64) {
        let Some(next) = self.open.iter_mut().find(|write| write.data_cycle.is_none()) else {
            return;
        };
        let behind = next.skew.max(0).unsigned_abs();
        let is_due = next.skew < 0 || next.address_offered.is_some_and(|offer| cycle >= offer + behind);
        if !is_due {
            return;
        }
        let all = u8::MAX >> (8 - self.ports.wstrb.width());
        dut.set_value(self.ports.wdata, next.request.data.into());
        dut.set_value(self.ports.wstrb, next.request.strobes.unwrap_or(all).into());
        next.data_offered = Some(cycle);
        self.data_on_bus = true;
    }

    pub(super) fn sample(&mut self, dut: &Instance, cycle: u64) {
        let transfers = |bus: &Handshake| dut.is_high(bus.valid) && dut.is_high(bus.ready);
        if dut.is_high(self.ports.response.valid) {
            self.valid_since.get_or_insert(cycle);
        }
        if transfers(&self.ports.response) {
            self.counts[2] += 1;
            self.answer(Response::from_code(dut.value(self.ports.bresp) as u64), cycle);
        }
        if transfers(&self.ports.address.channel)
            && let Some(sent) = self.open.iter_mut().find(|write| write.address_cycle.is_none())
        {
            self.counts[0] += 1;
            sent.address_cycle = Some(cycle);
            self.address_on_bus = false;
        }
        if transfers(&self.ports.data)
            && let Some(sent) = self.open.iter_mut().find(|write| write.data_cycle.is_none())
        {
            self.counts[1] += 1;
            sent.data_cycle = Some(cycle);
            self.data_on_bus = false;
        }
    }

    /// The oldest write is answered; the monitor has made sure that it is sent.
    fn answer(&mut self, response: Response, cycle: u64) {
        let valid_cycle = self.valid_since.take().unwrap_or(cycle);
        let Some(write) = self.open.pop_front() else {
            return;
        };
        self.done.push_back(LiteWriteDone {
            number: write.number,
            address: write.request.address,
            response,
            address_cycle: write.address_cycle.unwrap_or(cycle),
            data_cycle: write.data_cycle.unwrap_or(cycle),
            valid_cycle,
            response_cycle: cycle,
        });
    }

    /// Forgets what the design has taken a part of; what it has not stays in the queue.
    pub(super) fn reset(&mut self, dut: &mut Instance) {
        self.open
            .retain(|write| write.address_cycle.is_none() && write.data_cycle.is_none());
        for write in &mut self.open {
            (write.address_offered, write.data_offered) = (None, None);
        }
        (self.address_on_bus, self.data_on_bus) = (false, false);
        self.valid_since = None;
        dut.set_high(self.ports.address.channel.valid, false);
        dut.set_high(self.ports.data.valid, false);
        dut.set_high(self.ports.response.ready, false);
    }

    /// Forgets what was not begun.
    pub(super) fn clear(&mut self) {
        self.open
            .retain(|write| write.address_offered.is_some() || write.data_offered.is_some());
    }

    /// Writes that were not answered.
    pub(super) fn left(&self) -> usize {
        self.open.len()
    }

    pub(super) fn take_done(&mut self) -> Vec<LiteWriteDone> {
        self.done.drain(..).collect()
    }

    pub(super) fn is_finished(&self) -> bool {
        self.open.is_empty() && self.done.is_empty()
    }

    pub(super) fn describe(&self) -> String {
        let (left, done) = (self.open.len(), self.done.len());
        format!("{left} writes are not answered, {done} responses were not looked at")
    }
}
