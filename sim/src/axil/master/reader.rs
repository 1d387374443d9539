//! The read half of a master.

use super::request::{LiteRead, check_fit};
use crate::axi::{MasterPauses, Response};
use crate::axil::done::LiteReadDone;
use crate::axil::ports::ReadPorts;
use crate::handshake::Handshake;
use crate::model::Instance;
use crate::pause::Pauses;
use crate::seed::Seed;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

/// A read that waits for data.
#[derive(Debug)]
struct Waiting {
    number: u64,
    address: u64,
    address_cycle: u64,
}

/// The read half of a master.
#[derive(Debug)]
pub(super) struct Reader {
    ports: ReadPorts,
    address: Pauses,
    data: Pauses,
    rng: ChaCha8Rng,
    /// Reads whose address was not transferred.
    queue: VecDeque<(u64, LiteRead)>,
    on_bus: bool,
    waiting: VecDeque<Waiting>,
    /// Transfers since the start: addresses, data.
    counts: [u64; 2],
    /// The first cycle in which the data on the bus was valid.
    valid_since: Option<u64>,
    done: VecDeque<LiteReadDone>,
}

impl Reader {
    pub(super) fn new(ports: ReadPorts, pauses: &MasterPauses, seed: Seed) -> Self {
        let bus = &ports.address.channel.bus;
        let rng = |purpose: &str| seed.rng(&format!("{purpose} of the master at {bus}"));
        Self {
            address: Pauses::new(pauses.read_address.clone(), rng("address pauses")),
            data: Pauses::new(pauses.read_data.clone(), rng("data pauses")),
            rng: rng("choices"),
            ports,
            queue: VecDeque::new(),
            on_bus: false,
            waiting: VecDeque::new(),
            counts: [0; 2],
            valid_since: None,
            done: VecDeque::new(),
        }
    }

    pub(super) fn set_pauses(&mut self, pauses: &MasterPauses) {
        self.address.set(pauses.read_address.clone());
        self.data.set(pauses.read_data.clone());
    }

    pub(super) fn push(&mut self, number: u64, request: LiteRead) -> Result<(), String> {
        check_fit("address", request.address, self.ports.address.address)?;
        if let (Some(value), Some(port)) = (request.protection, self.ports.address.protection) {
            check_fit("protection", value.into(), port)?;
        }
        self.queue.push_back((number, request));
        Ok(())
    }

    pub(super) fn drive(&mut self, dut: &mut Instance) {
        let [addresses, datas] = self.counts;
        let stalled = self.data.next(datas);
        dut.set_high(self.ports.data.ready, !stalled);
        let paused = self.address.next(addresses);
        if !paused
            && !self.on_bus
            && let Some((_, next)) = self.queue.front()
        {
            let ports = &self.ports.address;
            dut.set_value(ports.address, next.address.into());
            if let Some(port) = ports.protection {
                let random = self.rng.random_range(0..8);
                dut.set_value(port, next.protection.unwrap_or(random).into());
            }
            self.on_bus = true;
        }
        dut.set_high(self.ports.address.channel.valid, self.on_bus);
    }

    pub(super) fn sample(&mut self, dut: &Instance, cycle: u64) {
        let transfers = |bus: &Handshake| dut.is_high(bus.valid) && dut.is_high(bus.ready);
        if dut.is_high(self.ports.data.valid) {
            self.valid_since.get_or_insert(cycle);
        }
        if transfers(&self.ports.data) {
            self.counts[1] += 1;
            let data = dut.value(self.ports.rdata) as u64;
            let response = Response::from_code(dut.value(self.ports.rresp) as u64);
            self.answer(data, response, cycle);
        }
        if transfers(&self.ports.address.channel)
            && let Some((number, request)) = self.queue.pop_front()
        {
            self.counts[0] += 1;
            self.on_bus = false;
            self.waiting.push_back(Waiting {
                number,
                address: request.address,
                address_cycle: cycle,
            });
        }
    }

    /// The oldest read is answered; the monitor has made sure that it is sent.
    fn answer(&mut self, data: u64, response: Response, cycle: u64) {
        let valid_cycle = self.valid_since.take().unwrap_or(cycle);
        let Some(read) = self.waiting.pop_front() else {
            return;
        };
        self.done.push_back(LiteReadDone {
            number: read.number,
            address: read.address,
            data,
            response,
            address_cycle: read.address_cycle,
            valid_cycle,
            response_cycle: cycle,
        });
    }

    /// Forgets what the design has taken; what it has not stays in the queue.
    pub(super) fn reset(&mut self, dut: &mut Instance) {
        self.waiting.clear();
        self.on_bus = false;
        self.valid_since = None;
        dut.set_high(self.ports.address.channel.valid, false);
        dut.set_high(self.ports.data.ready, false);
    }

    /// Forgets what was not begun.
    pub(super) fn clear(&mut self) {
        self.queue.truncate(usize::from(self.on_bus));
    }

    /// Reads that were not answered.
    pub(super) fn left(&self) -> usize {
        self.queue.len() + self.waiting.len()
    }

    pub(super) fn take_done(&mut self) -> Vec<LiteReadDone> {
        self.done.drain(..).collect()
    }

    pub(super) fn is_finished(&self) -> bool {
        self.left() == 0 && self.done.is_empty()
    }

    pub(super) fn describe(&self) -> String {
        let (left, done) = (self.left(), self.done.len());
        format!("{left} reads are not answered, data of {done} was not looked at")
    }
}
