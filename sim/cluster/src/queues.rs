//! Scheduling: message processing queues, which decide the order of handlers, and the tasks of each cluster.

use crate::driver::Running;
use crate::map::Memory;
use crate::task::{Her, Meta, Stage, Task};
use crate::timing::{BEAT_BYTES, Timing};
use spinneret_regmap::pspin::{L1_PACKET_BYTES, L1_PACKETS, l1_address};
use std::collections::VecDeque;

/// State of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There is no message.
    Free,
    /// The header handler is ready to run.
    Header,
    /// It runs.
    HeaderRunning,
    /// Payload handlers run, as packets come.
    Payload,
    /// The payload handler of the last packet was scheduled; others may still run.
    Draining,
    /// All payload handlers are done; the completion handler is ready to run.
    Completion,
    /// It runs.
    CompletionRunning,
}

/// The entry that holds a packet (`fifo_engine.sv`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The queue's own entry.
    Own,
    /// An entry shared by all queues.
    Shared,
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: u64,
    her: Her,
    place: Place,
}

/// A queue: the current message, and the packets of later ones.
#[derive(Clone, Debug)]
struct Queue {
    state: State,
    meta: Meta,
    waiting: VecDeque<Waiting>,
    /// The queue's own entry holds a packet.
    own_is_taken: bool,
    /// Payload handlers that are running.
    running: usize,
    /// The last packet of the message, for the completion handler.
    last: Option<Waiting>,
    /// A packet that ends a message has arrived; a strict queue does not know of which message.
    end_seen: bool,
    /// It has the defects of PsPIN's scheduler.
    is_strict: bool,
}

/// All queues. The lowest bits of a message id select its queue.
///
/// ```text
/// Free -> Header -> HeaderRunning -> Payload -> Draining -> Completion -> CompletionRunning -> Free
///    +--- no header handler --------->  ^            +------- no completion handler ------------^
/// ```
///
/// The context is latched from the first packet of a message. The header handler runs alone; then its packet goes to the
/// payload handler like all others. A packet without a payload handler is done at once. Packets of the next message wait
/// until the current message is complete.
///
/// PsPIN's scheduler does not distinguish messages of one queue (`mpq_engine.sv`, `mpq_fsm`): packets that arrive before the
/// payload handler of the end packet starts belong to that message, and later ones wait until another packet arrives. A
/// [strict](Self::strict) scheduler does the same.
///
/// A packet takes the entry of its queue if that is free, else a shared one (`fifo_engine.sv`). It keeps the entry until its
/// payload handler is scheduled; the last packet of a message with a completion handler keeps it until that is scheduled.
#[derive(Clone, Debug)]
pub struct Queues {
    queues: Vec<Queue>,
    /// Shared entries, and how many of them are in use.
    shared: usize,
    taken: usize,
    /// The queue that is next in turn.
    next: usize,
    clusters: usize,
    packets: u64,
}

/// Output of the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// A handler to run.
    Run(Task),
    /// The packet of the task needs no handler and is done.
    Done(Task),
}

impl Queues {
    /// Returns `count` queues, a power of two, with an entry each and `shared` entries for all.
    pub fn new(count: usize, shared: usize, clusters: usize) -> Self {
        assert!(
            count.is_power_of_two(),
            "the lowest bits of a message id select its queue"
        );
        let queue = Queue {
            state: State::Free,
            meta: Meta::default(),
            waiting: VecDeque::new(),
            own_is_taken: false,
            running: 0,
            last: None,
            end_seen: false,
            is_strict: false,
        };
        Self {
            queues: vec![queue; count],
            shared,
            taken: 0,
            next: 0,
            clusters,
            packets: 0,
        }
    }

    /// Adds the defects of PsPIN's scheduler if `is_strict`.
    #[must_use]
    pub fn strict(mut self, is_strict: bool) -> Self {
        self.queues
            .iter_mut()
            .for_each(|queue| queue.is_strict = is_strict);
        self
    }

    /// Whether there is an entry for a packet of any message.
    pub fn has_room(&self) -> bool {
        self.taken < self.shared || self.queues.iter().all(|queue| !queue.own_is_taken)
    }

    /// Whether there is an entry for a packet of this message.
    pub fn has_room_for(&self, message: u32) -> bool {
        !self.is_full(self.queue_of(message))
    }

    /// Whether the queue has no entry for another packet.
    pub fn is_full(&self, queue: usize) -> bool {
        self.taken >= self.shared && self.queues[queue].own_is_taken
    }

    fn queue_of(&self, message: u32) -> usize {
        message as usize % self.queues.len()
    }

    /// Returns the number of queues.
    pub fn count(&self) -> usize {
        self.queues.len()
    }

    /// Whether nothing waits and no message is open.
    pub fn is_idle(&self) -> bool {
        self.queues
            .iter()
            .all(|queue| queue.state == State::Free && queue.waiting.is_empty())
    }

    /// Whether a handler is ready. An open message may also wait for its next packet, or for running handlers.
    pub fn has_work(&self) -> bool {
        self.queues.iter().any(|queue| match queue.state {
            State::Free if queue.is_strict => false,
            State::Free | State::Header | State::Payload => !queue.waiting.is_empty(),
            State::Completion => true,
            State::HeaderRunning | State::Draining | State::CompletionRunning => false,
        })
    }

    /// Returns the number of packets that wait.
    pub fn waiting(&self) -> usize {
        self.queues.iter().map(|queue| queue.waiting.len()).sum()
    }

    /// Returns the number of packets since reset.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Adds a packet, and returns its number.
    pub fn push(&mut self, her: Her) -> u64 {
        let number = self.queue_of(her.message);
        let packet = self.packets;
        self.packets += 1;
        let queue = &mut self.queues[number];
        let place = match std::mem::replace(&mut queue.own_is_taken, true) {
            false => Place::Own,
            true => Place::Shared,
        };
        self.taken += usize::from(place == Place::Shared);
        queue.push(Waiting { packet, her, place });
        packet
    }

    /// Takes the next output, round robin over the queues.
    pub fn take(&mut self) -> Option<Ready> {
        let count = self.queues.len();
        for step in 0..count {
            let number = (self.next + step) % count;
            let queue = &mut self.queues[number];
            if let Some((ready, freed)) = queue.take(number, number % self.clusters) {
                match freed {
                    Some(Place::Own) => queue.own_is_taken = false,
                    Some(Place::Shared) => self.taken -= 1,
                    None => {}
                }
                self.next = (number + 1) % count;
                return Some(ready);
            }
        }
        None
    }

    /// Completes a task.
    pub fn finish(&mut self, task: &Task) {
        self.queues[task.queue].finish(task.stage);
    }
}

impl Queue {
    fn push(&mut self, waiting: Waiting) {
        let Her { meta, is_last, .. } = waiting.her;
        self.waiting.push_back(waiting);
        if self.is_strict {
            if self.state == State::Free {
                self.begin(meta);
            }
            self.end_seen |= is_last;
        }
    }

    /// Whether the packet whose payload handler is scheduled ends the message.
    fn ends(&self, waiting: &Waiting) -> bool {
        match self.is_strict {
            true => self.end_seen && self.waiting.len() == 1,
            false => waiting.her.is_last,
        }
    }

    fn begin(&mut self, meta: Meta) {
        self.meta = meta;
        self.state = match meta.header.exists() {
            true => State::Header,
            false => State::Payload,
        };
    }

    fn over(&mut self) {
        self.state = State::Free;
        self.last = None;
        self.end_seen = false;
    }

    /// Takes the next output of this queue, and the entry that it frees.
    fn take(&mut self, number: usize, home: usize) -> Option<(Ready, Option<Place>)> {
        self.settle();
        let (stage, waiting) = match self.state {
            State::Header => (Stage::Header, *self.waiting.front()?),
            State::Payload => (Stage::Payload, *self.waiting.front()?),
            State::Completion => (Stage::Tail, self.last?),
            _ => return None,
        };
        let is_end = stage == Stage::Payload && self.ends(&waiting);
        let frees = stage == Stage::Tail || (stage == Stage::Payload && !(is_end && self.meta.tail.exists()));
        let task = Task {
            packet: waiting.packet,
            queue: number,
            her: waiting.her,
            meta: self.meta,
            stage,
            frees,
            home,
        };
        let runs = self.meta.code(stage).exists();
        match stage {
            Stage::Header => self.state = State::HeaderRunning,
            Stage::Payload => {
                self.waiting.pop_front();
                self.running += usize::from(runs);
                if is_end {
                    self.last = Some(waiting);
                    self.state = State::Draining;
                }
            }
            Stage::Tail => self.state = State::CompletionRunning,
        }
        self.settle();
        let ready = match runs {
            true => Ready::Run(task),
            false => Ready::Done(task),
        };
        Some((ready, frees.then_some(waiting.place)))
    }

    /// Makes the transitions that need no handler.
    fn settle(&mut self) {
        if self.state == State::Free
            && !self.is_strict
            && let Some(first) = self.waiting.front()
        {
            self.begin(first.her.meta);
        }
        if self.state == State::Draining && self.running == 0 {
            if self.meta.tail.exists() {
                self.state = State::Completion;
            } else {
                self.over();
                self.settle();
            }
        }
    }

    fn finish(&mut self, stage: Stage) {
        match stage {
            Stage::Header => self.state = State::Payload,
            Stage::Payload => self.running -= 1,
            Stage::Tail => self.over(),
        }
        self.settle();
    }
}

/// Tasks that a cluster buffers in addition to one for each HPU (`pspin_cfg_pkg.sv`, `BUFFERED_HERS_PER_CLUSTER`).
pub const BUFFERED: usize = 12;

/// A buffered task.
#[derive(Clone, Copy, Debug)]
struct Buffered {
    task: Task,
    /// The L1 slot of its packet, once it has one.
    slot: Option<usize>,
    /// When its next step is possible.
    at: u64,
}

/// The tasks of one cluster that wait for their packet or for an HPU, and the packet slots in L1.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    cluster: usize,
    waiting: VecDeque<Buffered>,
    /// Tasks in the cluster: waiting, running, or ended with a command in flight.
    occupied: usize,
    most: usize,
    /// Free slots in L1.
    slots: Vec<usize>,
    slot_bytes: u32,
    /// When the copy engine is free.
    engine_at: u64,
}

impl Group {
    pub(crate) fn new(cluster: usize, hpus: usize) -> Self {
        let slots = BUFFERED + hpus;
        Self {
            cluster,
            waiting: VecDeque::new(),
            occupied: 0,
            most: slots,
            slots: (0..slots).rev().collect(),
            slot_bytes: L1_PACKET_BYTES / slots as u32 / BEAT_BYTES * BEAT_BYTES,
            engine_at: 0,
        }
    }

    /// Whether there is room for another task.
    pub(crate) fn has_room(&self) -> bool {
        self.occupied < self.most
    }

    /// Tasks in the cluster.
    pub(crate) fn occupied(&self) -> usize {
        self.occupied
    }

    /// Tasks that wait for an HPU.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn push(&mut self, task: Task, at: u64) {
        self.occupied += 1;
        self.waiting.push_back(Buffered { task, slot: None, at });
    }

    /// The L1 address of a packet slot.
    pub(crate) fn address(&self, slot: usize) -> u32 {
        l1_address(self.cluster, L1_PACKETS + slot as u32 * self.slot_bytes)
    }

    /// Starts the copies that are possible now.
    pub(crate) fn copy(&mut self, now: u64, timing: &Timing, memory: &mut Memory) {
        while let Some(place) = self.waiting.iter().position(|one| one.slot.is_none()) {
            let one = self.waiting[place];
            if one.at > now || self.engine_at > now {
                return;
            }
            let Some(slot) = self.slots.pop() else { return };
            // No slot of the packet buffer is larger than one in L1, so a longer copy would read nothing useful.
            let bytes = one.task.her.copied.min(self.slot_bytes);
            let beats = u64::from(bytes.div_ceil(BEAT_BYTES));
            memory.copy(one.task.her.address, self.address(slot), bytes);
            self.engine_at = now + beats.max(1);
            let one = &mut self.waiting[place];
            one.slot = Some(slot);
            one.at = now + timing.copy + beats + timing.assign;
        }
    }

    /// Takes the next task whose packet is in L1.
    pub(crate) fn take(&mut self, now: u64) -> Option<(Task, usize)> {
        let first = self.waiting.front()?;
        let slot = first.slot.filter(|_| first.at <= now)?;
        let task = self.waiting.pop_front()?.task;
        Some((task, slot))
    }

    /// Releases a task.
    pub(crate) fn release(&mut self, running: &Running) {
        self.occupied -= 1;
        self.slots.push(running.slot);
    }

    /// When the next step is possible; `None` if all tasks wait for an HPU.
    pub(crate) fn next(&self, now: u64) -> Option<u64> {
        let copies = self.waiting.iter().find(|one| one.slot.is_none());
        let copies = copies
            .filter(|_| !self.slots.is_empty())
            .map(|one| one.at.max(self.engine_at));
        let first = self.waiting.front().filter(|one| one.slot.is_some());
        let first = first.map(|one| one.at).filter(|at| *at > now);
        copies.into_iter().chain(first).min()
    }
}
