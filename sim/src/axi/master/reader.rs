//! The read half of a master.

use super::config::MasterPauses;
use super::done::{ReadBeat, ReadDone};
use super::ids::{Ids, by_id};
use super::request::ReadRequest;
use crate::axi::answer::Response;
use crate::axi::burst::{Burst, Request};
use crate::axi::ports::ReadPorts;
use crate::axi::read_monitor::ReadMonitor;
use crate::model::Instance;
use crate::pause::Pauses;
use crate::seed::Seed;
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, VecDeque};

/// A read that waits for data.
#[derive(Debug)]
struct Waiting {
    number: u64,
    burst: Burst,
    atomic: bool,
    /// Beats that will come.
    count: u64,
    beats: Vec<ReadBeat>,
    address_cycle: u64,
    first_cycle: u64,
}

/// The read half of a master.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) ports: ReadPorts,
    pub(super) monitor: ReadMonitor,
    pub(super) address: Pauses,
    pub(super) data: Pauses,
    rng: ChaCha8Rng,
    /// Reads whose address was not transferred.
    queue: VecDeque<(u64, ReadRequest)>,
    on_bus: bool,
    /// Reads whose address was transferred, by id in order.
    waiting: BTreeMap<u64, VecDeque<Waiting>>,
    done: VecDeque<ReadDone>,
}

impl Reader {
    pub(super) fn new(ports: ReadPorts, monitor: ReadMonitor, pauses: &MasterPauses, seed: Seed) -> Self {
        let bus = &ports.address.channel.bus;
        let rng = |purpose: &str| seed.rng(&format!("{purpose} of the master at {bus}"));
        Self {
            address: Pauses::new(pauses.read_address.clone(), rng("address pauses")),
            data: Pauses::new(pauses.read_data.clone(), rng("data pauses")),
            rng: rng("choices"),
            ports,
            monitor,
            queue: VecDeque::new(),
            on_bus: false,
            waiting: BTreeMap::new(),
            done: VecDeque::new(),
        }
    }

    pub(super) fn push(&mut self, number: u64, request: ReadRequest) {
        self.queue.push_back((number, request));
    }

    /// Waits for what a write loads, if it does.
    pub(super) fn expect_load(&mut self, number: u64, request: Request, cycle: u64) {
        if let Some(count) = request.loaded_beats() {
            self.expect(number, request.burst, count, true, cycle);
        }
    }

    fn expect(&mut self, number: u64, burst: Burst, count: u64, atomic: bool, cycle: u64) {
        self.waiting.entry(burst.id).or_default().push_back(Waiting {
            number,
            burst,
            atomic,
            count,
            beats: Vec::with_capacity(count as usize),
            address_cycle: cycle,
            first_cycle: 0,
        });
    }

    pub(super) fn drive(&mut self, dut: &mut Instance, ids: &mut Ids) {
        let counts = self.monitor.counts();
        let stalled = self.data.next(counts.data.beats);
        dut.set_high(self.ports.data.ready, !stalled);
        let paused = self.address.next(counts.address.beats);
        if !paused
            && !self.on_bus
            && let Some((_, next)) = self.queue.front()
            && ids.may_start(next.burst.id, false)
        {
            ids.start(next.burst.id, false, 1);
            self.ports.address.drive(dut, &next.request(), &mut self.rng);
            self.on_bus = true;
        }
        dut.set_high(self.ports.address.channel.valid, self.on_bus);
    }

    pub(super) fn sample(&mut self, dut: &Instance, cycle: u64, ids: &mut Ids) {
        let data = &self.ports.data;
        if dut.is_high(data.valid) && dut.is_high(data.ready) {
            let id = dut.value(self.ports.rid) as u64;
            let beat = ReadBeat {
                bytes: dut.bytes(self.ports.rdata)[..self.ports.bytes].to_vec(),
                response: Response::from_code(dut.value(self.ports.rresp) as u64),
            };
            if self.take(id, beat, cycle) {
                ids.end(id);
            }
        }
        let address = &self.ports.address.channel;
        if dut.is_high(address.valid)
            && dut.is_high(address.ready)
            && let Some((number, request)) = self.queue.pop_front()
        {
            self.on_bus = false;
            self.expect(number, request.burst, request.burst.beats, false, cycle);
        }
    }

    /// Takes a beat; whether it ends its read.
    fn take(&mut self, id: u64, beat: ReadBeat, cycle: u64) -> bool {
        let queue = self.waiting.get_mut(&id);
        let Some((queue, read)) = queue.and_then(|queue| queue.pop_front().map(|read| (queue, read))) else {
            return false;
        };
        let mut read = read;
        if read.beats.is_empty() {
            read.first_cycle = cycle;
        }
        read.beats.push(beat);
        if (read.beats.len() as u64) < read.count {
            queue.push_front(read);
            return false;
        }
        self.done.push_back(ReadDone {
            number: read.number,
            burst: read.burst,
            atomic: read.atomic,
            beats: read.beats,
            address_cycle: read.address_cycle,
            first_cycle: read.first_cycle,
            last_cycle: cycle,
        });
        true
    }

    /// Forgets what the design has taken; what it has not stays in the queue.
    pub(super) fn reset(&mut self, dut: &mut Instance) {
        self.on_bus = false;
        self.waiting.clear();
        dut.set_high(self.ports.address.channel.valid, false);
        dut.set_high(self.ports.data.ready, false);
    }

    /// Forgets what was not begun.
    pub(super) fn clear(&mut self) {
        self.queue.truncate(usize::from(self.on_bus));
    }

    /// The numbers of what was not answered, by id in order.
    pub(super) fn expected(&self) -> BTreeMap<u64, Vec<u64>> {
        let waiting = self.waiting.iter();
        let waiting = waiting.flat_map(|(id, reads)| reads.iter().map(|read| (*id, read.number)));
        let queued = self.queue.iter().map(|(number, read)| (read.burst.id, *number));
        by_id(waiting.chain(queued))
    }

    /// Reads that were not answered.
    pub(super) fn left(&self) -> usize {
        self.queue.len() + self.waiting.values().map(VecDeque::len).sum::<usize>()
    }

    pub(super) fn take_done(&mut self) -> Vec<ReadDone> {
        self.done.drain(..).collect()
    }

    pub(super) fn is_finished(&self) -> bool {
        self.left() == 0 && self.done.is_empty()
    }

    pub(super) fn describe(&self) -> String {
        format!(
            "{} reads are not sent, {} wait for data, {} were not looked at",
            self.queue.len(),
            self.left() - self.queue.len(),
            self.done.len()
        )
    }
}
