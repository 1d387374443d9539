//! One half of a master (writes or reads), and the ids in use.

use super::request::{ReadBeat, ReadDone, WriteDone};
use super::{MasterPauses, Skew};
use crate::axi::answer::Response;
use crate::axi::burst::{Burst, Request};
use crate::axi::monitor::AxiMonitor;
use crate::axi::ports::{AddressPorts, Half, Ports, drive_random};
use crate::axi::rules::WriteBeat;
use crate::model::Instance;
use crate::pause::Pauses;
use crate::seed::Seed;
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, VecDeque};

/// A burst that is not sent completely.
#[derive(Debug)]
struct Queued {
    number: u64,
    request: Request,
    /// The data to write; empty for a read.
    beats: Vec<WriteBeat>,
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

/// A burst that waits for its answer, or has it.
#[derive(Debug)]
struct Sent {
    number: u64,
    burst: Burst,
    atomic: bool,
    /// Beats of the answer: how many are expected, and how many have arrived.
    count: u64,
    beats: Vec<ReadBeat>,
    address_cycle: u64,
    data_cycle: u64,
    /// The cycle in which the first beat was first valid, that of its transfer, and that of the last transfer.
    valid_cycle: u64,
    first_cycle: u64,
    last_cycle: u64,
}

/// One half of a master.
#[derive(Debug)]
pub(super) struct MasterHalf {
    pub(super) ports: Ports,
    pub(super) monitor: AxiMonitor,
    address: Pauses,
    data: Pauses,
    answers: Pauses,
    pub(super) skew: Skew,
    rng: ChaCha8Rng,
    /// Oldest first; the oldest waits for its address or for data.
    queue: VecDeque<Queued>,
    /// How many of the queue have their address transferred, and all of their data.
    addresses: usize,
    datas: usize,
    /// Number of beats transferred of the first burst that has data left.
    beat: usize,
    address_on_bus: bool,
    data_on_bus: bool,
    /// Since when the answer on the bus is valid.
    valid_since: Option<u64>,
    /// Sent and not answered, by id in order.
    waiting: BTreeMap<u64, VecDeque<Sent>>,
    done: VecDeque<Sent>,
}

impl MasterHalf {
    pub(super) fn new(
        ports: Ports,
        monitor: AxiMonitor,
        pauses: &MasterPauses,
        skew: Skew,
        seed: Seed,
    ) -> Self {
        let bus = &ports.address.channel.bus;
        let rng = |purpose: &str| seed.rng(&format!("{purpose} of the master at {bus}"));
        let [address, data, answers] = pauses.of(ports.half).map(Clone::clone);
        Self {
            address: Pauses::new(address, rng("address pauses")),
            data: Pauses::new(data, rng("data pauses")),
            answers: Pauses::new(answers, rng("response pauses")),
            rng: rng("choices"),
            skew: match ports.half {
                Half::Write => skew,
                Half::Read => Skew::Together,
            },
            ports,
            monitor,
            queue: VecDeque::new(),
            addresses: 0,
            datas: 0,
            beat: 0,
            address_on_bus: false,
            data_on_bus: false,
            valid_since: None,
            waiting: BTreeMap::new(),
            done: VecDeque::new(),
        }
    }

    pub(super) fn set_pauses(&mut self, pauses: &MasterPauses) {
        let [address, data, answers] = pauses.of(self.ports.half).map(Clone::clone);
        self.address.set(address);
        self.data.set(data);
        self.answers.set(answers);
    }

    /// Queues a burst, unless the ports cannot carry its address.
    pub(super) fn push(
        &mut self,
        number: u64,
        request: Request,
        beats: Vec<WriteBeat>,
    ) -> Result<(), String> {
        check_fit(&self.ports.address, &request)?;
        self.queue.push_back(Queued {
            number,
            request,
            beats,
            skew: self.skew.draw(&mut self.rng),
            address_offered: None,
            data_offered: None,
            address_cycle: 0,
            data_cycle: 0,
        });
        Ok(())
    }

    /// Drives a cycle; `loads` says whether the data that atomic operations return arrives on the read channel.
    pub(super) fn drive(&mut self, dut: &mut Instance, cycle: u64, ids: &mut Ids, loads: bool) {
        let counts = self.monitor.counts();
        let stalled = self.answers.next(counts.response.beats);
        dut.set_high(self.ports.answers().ready, !stalled);
        if !self.address.next(counts.address.beats) && !self.address_on_bus {
            self.offer_address(dut, cycle, ids, loads);
        }
        dut.set_high(self.ports.address.channel.valid, self.address_on_bus);
        if self.ports.half == Half::Write {
            if !self.data.next(counts.data.beats) && !self.data_on_bus {
                self.offer_data(dut, cycle);
            }
            dut.set_high(self.ports.data.valid, self.data_on_bus);
        }
    }

    fn offer_address(&mut self, dut: &mut Instance, cycle: u64, ids: &mut Ids, loads: bool) {
        let Some(next) = self.queue.get_mut(self.addresses) else {
            return;
        };
        let ahead = next.skew.min(0).unsigned_abs();
        let is_late = ahead == 0 || next.data_offered.is_some_and(|offer| cycle >= offer + ahead);
        let request = next.request;
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
        let beat = &next.beats[self.beat];
        dut.set_bytes(self.ports.lanes, &beat.bytes);
        if let Some(port) = self.ports.strobes {
            dut.set_value(port, beat.strobes);
        }
        if let Some(port) = self.ports.last {
            dut.set_high(port, beat.last);
        }
        if let Some(port) = self.ports.user {
            drive_random(dut, port, &mut self.rng);
        }
        next.data_offered.get_or_insert(cycle);
        self.data_on_bus = true;
    }

    /// Samples a cycle; returns the burst whose address was transferred, if any.
    pub(super) fn sample(&mut self, dut: &Instance, cycle: u64, ids: &mut Ids) -> Option<(u64, Request)> {
        let answers = self.ports.answers();
        if dut.is_high(answers.valid) {
            let since = *self.valid_since.get_or_insert(cycle);
            if dut.is_high(answers.ready) {
                self.valid_since = None;
                self.take_answer(dut, (since, cycle), ids);
            }
        }
        let address = self.address_on_bus && self.ports.address.channel.transfers(dut);
        let address = address.then(|| self.address_sent(cycle)).flatten();
        if self.data_on_bus && self.ports.data.transfers(dut) {
            self.beat_sent(cycle);
        }
        self.retire();
        address
    }

    /// Takes a response or a beat; the monitor has made sure that something waits for it.
    fn take_answer(&mut self, dut: &Instance, (valid_cycle, cycle): (u64, u64), ids: &mut Ids) {
        let (id, code) = self.ports.answer(dut);
        let Some(sent) = self.waiting.get_mut(&id).and_then(VecDeque::front_mut) else {
            return;
        };
        if sent.beats.is_empty() {
            (sent.valid_cycle, sent.first_cycle) = (valid_cycle, cycle);
        }
        let lanes = match self.ports.half {
            Half::Write => Vec::new(),
            Half::Read => dut.bytes(self.ports.lanes)[..self.ports.bytes].to_vec(),
        };
        sent.beats.push(ReadBeat {
            bytes: lanes,
            response: Response::from_code(code.into()),
        });
        sent.last_cycle = cycle;
        if sent.beats.len() as u64 == sent.count {
            ids.end(id);
            let done = self.waiting.get_mut(&id).and_then(VecDeque::pop_front);
            self.done.extend(done);
        }
    }

    fn address_sent(&mut self, cycle: u64) -> Option<(u64, Request)> {
        let sent = self.queue.get_mut(self.addresses)?;
        sent.address_cycle = cycle;
        self.addresses += 1;
        self.address_on_bus = false;
        Some((sent.number, sent.request))
    }

    fn beat_sent(&mut self, cycle: u64) {
        let Some(sent) = self.queue.get_mut(self.datas) else {
            return;
        };
        self.data_on_bus = false;
        self.beat += 1;
        if self.beat == sent.beats.len() {
            sent.data_cycle = cycle;
            self.beat = 0;
            self.datas += 1;
        }
    }

    /// Moves bursts that are sent completely to those that wait for a response.
    fn retire(&mut self) {
        let reads = self.ports.half == Half::Read;
        while self.addresses > 0 && (reads || self.datas > 0) {
            let Some(sent) = self.queue.pop_front() else {
                return;
            };
            (self.addresses, self.datas) = (self.addresses - 1, self.datas - usize::from(!reads));
            let count = if reads { sent.request.burst.beats } else { 1 };
            let (address, data) = (sent.address_cycle, sent.data_cycle);
            self.expect(sent.number, sent.request.burst, (count, false), (address, data));
        }
    }

    /// Waits for the data that a write returns, if it does.
    pub(super) fn expect_load(&mut self, number: u64, request: Request, cycle: u64) {
        if let Some(count) = request.loaded_beats() {
            self.expect(number, request.burst, (count, true), (cycle, cycle));
        }
    }

    fn expect(
        &mut self,
        number: u64,
        burst: Burst,
        (count, atomic): (u64, bool),
        (address_cycle, data_cycle): (u64, u64),
    ) {
        self.waiting.entry(burst.id).or_default().push_back(Sent {
            number,
            burst,
            atomic,
            count,
            beats: Vec::with_capacity(count as usize),
            address_cycle,
            data_cycle,
            valid_cycle: 0,
            first_cycle: 0,
            last_cycle: 0,
        });
    }

    /// Discards what the design has seen a part of; the rest stays in the queue.
    pub(super) fn reset(&mut self, dut: &mut Instance) {
        let begun = self.addresses.max(self.datas + usize::from(self.beat > 0));
        self.queue.drain(..begun);
        for burst in &mut self.queue {
            (burst.address_offered, burst.data_offered) = (None, None);
        }
        (self.addresses, self.datas, self.beat) = (0, 0, 0);
        (self.address_on_bus, self.data_on_bus) = (false, false);
        self.valid_since = None;
        self.waiting.clear();
        dut.set_high(self.ports.address.channel.valid, false);
        dut.set_high(self.ports.answers().ready, false);
        if self.ports.half == Half::Write {
            dut.set_high(self.ports.data.valid, false);
        }
    }

    /// Discards bursts that have not started.
    pub(super) fn clear(&mut self) {
        let offered = |burst: &Queued| burst.address_offered.is_some() || burst.data_offered.is_some();
        let begun = self.queue.iter().take_while(|burst| offered(burst)).count();
        self.queue.truncate(begun);
    }

    /// The numbers of the bursts without response, by id in order.
    pub(super) fn expected(&self) -> BTreeMap<u64, Vec<u64>> {
        let waiting = self.waiting.iter();
        let waiting = waiting.flat_map(|(id, sent)| sent.iter().map(|sent| (*id, sent.number)));
        let queued = self
            .queue
            .iter()
            .map(|queued| (queued.request.burst.id, queued.number));
        by_id(waiting.chain(queued))
    }

    /// Bursts that were not answered.
    pub(super) fn left(&self) -> usize {
        self.queue.len() + self.waiting.values().map(VecDeque::len).sum::<usize>()
    }

    pub(super) fn take_writes(&mut self) -> Vec<WriteDone> {
        let done = |sent: Sent| WriteDone {
            number: sent.number,
            burst: sent.burst,
            response: sent.beats[0].response,
            address_cycle: sent.address_cycle,
            data_cycle: sent.data_cycle,
            valid_cycle: sent.valid_cycle,
            response_cycle: sent.last_cycle,
        };
        self.done.drain(..).map(done).collect()
    }

    pub(super) fn take_reads(&mut self) -> Vec<ReadDone> {
        let done = |sent: Sent| ReadDone {
            number: sent.number,
            burst: sent.burst,
            atomic: sent.atomic,
            beats: sent.beats,
            address_cycle: sent.address_cycle,
            valid_cycle: sent.valid_cycle,
            first_cycle: sent.first_cycle,
            last_cycle: sent.last_cycle,
        };
        self.done.drain(..).map(done).collect()
    }

    pub(super) fn is_finished(&self) -> bool {
        self.left() == 0 && self.done.is_empty()
    }

    pub(super) fn describe(&self) -> String {
        format!(
            "{} {} are not sent, {} wait for a response, {} responses were not taken",
            self.queue.len(),
            self.ports.half.plural(),
            self.left() - self.queue.len(),
            self.done.len()
        )
    }
}

/// Whether the ports can carry an address.
fn check_fit(ports: &AddressPorts, request: &Request) -> Result<(), String> {
    let burst = &request.burst;
    let widths = |port: Option<crate::model::PortHandle>| port.map(|port| port.width());
    for (name, value, width, missing) in [
        ("id", Some(burst.id), widths(ports.id), None),
        ("address", Some(burst.address), Some(ports.address.width()), None),
        (
            "exclusive",
            request.exclusive.then_some(1),
            widths(ports.lock),
            Some("exclusive accesses"),
        ),
        (
            "atop",
            (request.atop != 0).then_some(request.atop.into()),
            widths(ports.atop),
            Some("atomic operations"),
        ),
        ("protection", request.protection.map(u64::from), Some(3), None),
        (
            "user",
            request.user,
            widths(ports.user),
            Some("user signals of addresses"),
        ),
    ] {
        match (value, width, missing) {
            (Some(_), None, Some(missing)) => return Err(format!("the design has no {missing}")),
            (Some(value), Some(width), _) if width < 64 && value >> width != 0 => {
                return Err(format!("{name} {value:#x} does not fit {width} bits"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Bursts in flight, by id. An atomic operation must have its id to itself (AMBA IHI 0022, section E1.1), because the
/// order of its responses relative to others with that id is undefined.
#[derive(Debug, Default)]
pub(super) struct Ids {
    users: BTreeMap<u64, Users>,
}

#[derive(Debug)]
struct Users {
    /// Responses still expected.
    answers: usize,
    atomic: bool,
}

impl Ids {
    /// Whether a burst of that id may be offered.
    pub(super) fn may_start(&self, id: u64, atomic: bool) -> bool {
        self.users.get(&id).is_none_or(|users| !atomic && !users.atomic)
    }

    /// Records a burst that was offered, and the number of its responses.
    pub(super) fn start(&mut self, id: u64, atomic: bool, answers: usize) {
        let users = self.users.entry(id).or_insert(Users { answers: 0, atomic });
        users.answers += answers;
    }

    /// An answer was complete.
    pub(super) fn end(&mut self, id: u64) {
        if let Some(users) = self.users.get_mut(&id) {
            users.answers -= 1;
            if users.answers == 0 {
                self.users.remove(&id);
            }
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.users.clear();
    }
}

/// Sorts the numbers of bursts by id, and keeps their order otherwise.
pub(super) fn by_id(bursts: impl Iterator<Item = (u64, u64)>) -> BTreeMap<u64, Vec<u64>> {
    let mut sorted: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (id, number) in bursts {
        sorted.entry(id).or_default().push(number);
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::Ids;

    #[test]
    fn atomic_operations_do_not_share_their_id() {
        let mut ids = Ids::default();
        ids.start(1, false, 1);
        ids.start(1, false, 1);
        ids.start(2, true, 2);
        let state = |ids: &Ids| [1, 2, 3].map(|id| (ids.may_start(id, false), ids.may_start(id, true)));
        assert_eq!(state(&ids), [(true, false), (false, false), (true, true)]);
        ids.end(1);
        ids.end(2);
        assert_eq!(state(&ids), [(true, false), (false, false), (true, true)]);
        ids.end(1);
        ids.end(2);
        ids.end(2);
        assert_eq!(state(&ids), [(true, true); 3]);
        ids.start(1, true, 1);
        ids.clear();
        assert_eq!(state(&ids), [(true, true); 3]);
    }
}
