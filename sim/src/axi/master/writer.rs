//! The write half of a master.

use super::config::{MasterPauses, Skew};
use super::done::WriteDone;
use super::ids::{Ids, by_id};
use super::request::WriteRequest;
use crate::axi::answer::Response;
use crate::axi::burst::{Burst, Request};
use crate::axi::ports::{WritePorts, drive_random};
use crate::axi::write_monitor::WriteMonitor;
use crate::handshake::Handshake;
use crate::model::Instance;
use crate::pause::Pauses;
use crate::seed::Seed;
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, VecDeque};

/// A write that is not sent completely.
#[derive(Debug)]
struct Queued {
    number: u64,
    request: WriteRequest,
    /// Cycles from the offer of the address to that of the first beat; none if they go together.
    skew: i64,
    /// The cycle in which the address was offered.
    address_offered: Option<u64>,
    /// The cycle in which the first beat was offered.
    data_offered: Option<u64>,
    /// The cycle of the transfer of the address, and of the last beat.
    address_cycle: u64,
    data_cycle: u64,
}

/// A write that waits for its response.
#[derive(Debug)]
struct Sent {
    number: u64,
    burst: Burst,
    address_cycle: u64,
    data_cycle: u64,
}

/// The write half of a master.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) ports: WritePorts,
    pub(super) monitor: WriteMonitor,
    pub(super) address: Pauses,
    pub(super) data: Pauses,
    pub(super) response: Pauses,
    pub(super) skew: Skew,
    rng: ChaCha8Rng,
    /// Oldest first; the oldest waits for its address or for data.
    queue: VecDeque<Queued>,
    /// How many of the queue have their address transferred, and all of their data.
    addresses: usize,
    datas: usize,
    /// Beats transferred of the first that has data left.
    beat: usize,
    address_on_bus: bool,
    data_on_bus: bool,
    /// Sent and not answered, by id in order.
    waiting: BTreeMap<u64, VecDeque<Sent>>,
    done: VecDeque<WriteDone>,
}

impl Writer {
    pub(super) fn new(
        ports: WritePorts,
        monitor: WriteMonitor,
        pauses: &MasterPauses,
        skew: Skew,
        seed: Seed,
    ) -> Self {
        let bus = &ports.address.channel.bus;
        let rng = |purpose: &str| seed.rng(&format!("{purpose} of the master at {bus}"));
        Self {
            address: Pauses::new(pauses.write_address.clone(), rng("address pauses")),
            data: Pauses::new(pauses.write_data.clone(), rng("data pauses")),
            response: Pauses::new(pauses.response.clone(), rng("response pauses")),
            rng: rng("choices"),
            ports,
            monitor,
            skew,
            queue: VecDeque::new(),
            addresses: 0,
            datas: 0,
            beat: 0,
            address_on_bus: false,
            data_on_bus: false,
            waiting: BTreeMap::new(),
            done: VecDeque::new(),
        }
    }

    pub(super) fn push(&mut self, number: u64, request: WriteRequest) {
        self.queue.push_back(Queued {
            number,
            request,
            skew: self.skew.draw(&mut self.rng),
            address_offered: None,
            data_offered: None,
            address_cycle: 0,
            data_cycle: 0,
        });
    }

    /// Drives a cycle; `loads` is whether what atomic operations load comes back.
    pub(super) fn drive(&mut self, dut: &mut Instance, cycle: u64, ids: &mut Ids, loads: bool) {
        let counts = self.monitor.counts();
        let stalled = self.response.next(counts.response.beats);
        dut.set_high(self.ports.response.ready, !stalled);
        if !self.address.next(counts.address.beats) && !self.address_on_bus {
            self.offer_address(dut, cycle, ids, loads);
        }
        if !self.data.next(counts.data.beats) && !self.data_on_bus {
            self.offer_data(dut, cycle);
        }
        dut.set_high(self.ports.address.channel.valid, self.address_on_bus);
        dut.set_high(self.ports.data.valid, self.data_on_bus);
    }

    fn offer_address(&mut self, dut: &mut Instance, cycle: u64, ids: &mut Ids, loads: bool) {
        let Some(next) = self.queue.get_mut(self.addresses) else {
            return;
        };
        let ahead = next.skew.min(0).unsigned_abs();
        let is_late = ahead == 0 || next.data_offered.is_some_and(|offer| cycle >= offer + ahead);
        let request = next.request.request();
        let (id, atomic) = (request.burst.id, request.atop != 0);
        if !is_late || !ids.may_start(id, atomic) {
            return;
        }
        let loads = loads && request.loaded_beats().is_some();
        ids.start(id, atomic, 1 + usize::from(loads));
        self.ports.address.drive(dut, &request, &mut self.rng);
        next.address_offered = Some(cycle);
        self.address_on_bus = true;
    }

    fn offer_data(&mut self, dut: &mut Instance, cycle: u64) {
        let Some(next) = self.queue.get_mut(self.datas) else {
            return;
        };
        let behind = next.skew.max(0).unsigned_abs();
        let is_free = next.skew < 0 || next.address_offered.is_some_and(|offer| cycle >= offer + behind);
        if !is_free {
            return;
        }
        let beat = &next.request.beats[self.beat];
        dut.set_bytes(self.ports.wdata, &beat.bytes);
        dut.set_value(self.ports.wstrb, beat.strobes);
        dut.set_high(self.ports.wlast, beat.last);
        if let Some(port) = self.ports.wuser {
            drive_random(dut, port, &mut self.rng);
        }
        next.data_offered.get_or_insert(cycle);
        self.data_on_bus = true;
    }

    /// Looks at a cycle; the write whose address was transferred, if one was.
    pub(super) fn sample(&mut self, dut: &Instance, cycle: u64, ids: &mut Ids) -> Option<(u64, Request)> {
        let transfers = |bus: &Handshake| dut.is_high(bus.valid) && dut.is_high(bus.ready);
        if transfers(&self.ports.response) {
            let id = dut.value(self.ports.bid) as u64;
            let response = Response::from_code(dut.value(self.ports.bresp) as u64);
            self.answer(id, response, cycle);
            ids.end(id);
        }
        let address = transfers(&self.ports.address.channel).then(|| self.address_sent(cycle));
        if transfers(&self.ports.data) {
            self.beat_sent(cycle);
        }
        self.retire();
        address.flatten()
    }

    fn answer(&mut self, id: u64, response: Response, cycle: u64) {
        let Some(sent) = self.waiting.get_mut(&id).and_then(VecDeque::pop_front) else {
            return;
        };
        self.done.push_back(WriteDone {
            number: sent.number,
            burst: sent.burst,
            response,
            address_cycle: sent.address_cycle,
            data_cycle: sent.data_cycle,
            response_cycle: cycle,
        });
    }

    fn address_sent(&mut self, cycle: u64) -> Option<(u64, Request)> {
        let sent = self.queue.get_mut(self.addresses)?;
        sent.address_cycle = cycle;
        self.addresses += 1;
        self.address_on_bus = false;
        Some((sent.number, sent.request.request()))
    }

    fn beat_sent(&mut self, cycle: u64) {
        let Some(sent) = self.queue.get_mut(self.datas) else {
            return;
        };
        self.data_on_bus = false;
        self.beat += 1;
        if self.beat == sent.request.beats.len() {
            sent.data_cycle = cycle;
            self.beat = 0;
            self.datas += 1;
        }
    }

    /// Moves what is sent completely to what waits.
    fn retire(&mut self) {
        while self.addresses > 0 && self.datas > 0 {
            let Some(write) = self.queue.pop_front() else {
                return;
            };
            (self.addresses, self.datas) = (self.addresses - 1, self.datas - 1);
            let burst = write.request.burst;
            self.waiting.entry(burst.id).or_default().push_back(Sent {
                number: write.number,
                burst,
                address_cycle: write.address_cycle,
                data_cycle: write.data_cycle,
            });
        }
    }

    /// Forgets what the design has seen a part of; what it has not stays in the queue.
    pub(super) fn reset(&mut self, dut: &mut Instance) {
        let begun = self.addresses.max(self.datas + usize::from(self.beat > 0));
        self.queue.drain(..begun);
        for write in &mut self.queue {
            (write.address_offered, write.data_offered) = (None, None);
        }
        (self.addresses, self.datas, self.beat) = (0, 0, 0);
        (self.address_on_bus, self.data_on_bus) = (false, false);
        self.waiting.clear();
        dut.set_high(self.ports.address.channel.valid, false);
        dut.set_high(self.ports.data.valid, false);
        dut.set_high(self.ports.response.ready, false);
    }

    /// Forgets what was not begun.
    pub(super) fn clear(&mut self) {
        let offered = |write: &Queued| write.address_offered.is_some() || write.data_offered.is_some();
        let begun = self.queue.iter().take_while(|write| offered(write)).count();
        self.queue.truncate(begun);
    }

    /// The numbers of what was not answered, by id in order.
    pub(super) fn expected(&self) -> BTreeMap<u64, Vec<u64>> {
        let waiting = self.waiting.iter();
        let waiting = waiting.flat_map(|(id, sent)| sent.iter().map(|sent| (*id, sent.number)));
        let queued = self
            .queue
            .iter()
            .map(|write| (write.request.burst.id, write.number));
        by_id(waiting.chain(queued))
    }

    /// Writes that were not answered.
    pub(super) fn left(&self) -> usize {
        self.queue.len() + self.waiting.values().map(VecDeque::len).sum::<usize>()
    }

    pub(super) fn take_done(&mut self) -> Vec<WriteDone> {
        self.done.drain(..).collect()
    }

    pub(super) fn is_finished(&self) -> bool {
        self.left() == 0 && self.done.is_empty()
    }

    pub(super) fn describe(&self) -> String {
        format!(
            "{} writes are not sent, {} wait for a response, {} responses were not looked at",
            self.queue.len(),
            self.left() - self.queue.len(),
            self.done.len()
        )
    }
}
