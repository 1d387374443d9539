//! Message processing queues: which handler of which packet may run.

use crate::driver::Running;
use crate::map::Memory;
use crate::task::{Her, Meta, Stage, Task};
use crate::timing::{BEAT_BYTES, Timing};
use spinneret_regmap::pspin::{L1_PACKET_BYTES, L1_PACKETS, l1_address};
use std::collections::VecDeque;

/// Where a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There is no message.
    Free,
    /// The header handler is to run.
    Header,
    /// It runs.
    HeaderRunning,
    /// Payload handlers run, as packets come.
    Payload,
    /// The last packet was seen, and its payload handler has been given out; others may still run.
    Draining,
    /// All are done; the completion handler is to run.
    Completion,
    /// It runs.
    CompletionRunning,
}

/// The place that holds a packet (`fifo_engine.sv`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The one that its queue has to itself.
    Own,
    /// One of those that all queues share.
    Shared,
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: u64,
    her: Her,
    place: Place,
}

/// One message at a time, and the packets of those behind it.
#[derive(Clone, Debug)]
struct Queue {
    state: State,
    meta: Meta,
    waiting: VecDeque<Waiting>,
    /// A packet is in its own place.
    own_is_taken: bool,
    /// Payload handlers that were given out and are not done.
    running: usize,
    /// The last packet of the message, for the completion handler.
    last: Option<Waiting>,
    /// The end of the message has come, for all that a queue with the public defects knows.
    end_seen: bool,
    /// It has the public scheduler's defects.
    is_strict: bool,
}

/// All queues; a message has the queue that the lowest bits of its number say.
///
/// ```text
/// Free -> Header -> HeaderRunning -> Payload -> Draining -> Completion -> CompletionRunning -> Free
///    +--- no header handler --------->  ^            +------- no completion handler ------------^
/// ```
///
/// The context is latched from the first packet of a message. The header handler runs alone; then its packet goes to the
/// payload handler like all others. A packet without a payload handler is done at once. Behind the last packet of a
/// message those of the next one wait until the message is over.
///
/// The public scheduler does not tell messages of one queue apart (`mpq_engine.sv`, `mpq_fsm`): what comes before the end
/// packet goes to its handler belongs to that message, and what comes later waits until yet another packet comes. A
/// [strict](Self::strict) one does the same.
///
/// A packet takes the place of its queue if that is free, else one of those that all queues share (`fifo_engine.sv`). It
/// keeps the place until its payload handler is given out; the last packet of a message with a completion handler keeps it
/// until that one is given out.
#[derive(Clone, Debug)]
pub struct Queues {
    queues: Vec<Queue>,
    /// Places that all queues share, and how many of them are taken.
    shared: usize,
    taken: usize,
    /// Whose turn it is.
    next: usize,
    clusters: usize,
    packets: u64,
}

/// What comes next out of the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// A handler may run.
    Run(Task),
    /// The packet of the task needs no handler, and is done.
    Done(Task),
}

impl Queues {
    /// Makes `count` queues, a power of two, with a place for one packet each and `shared` places for all of them.
    pub fn new(count: usize, shared: usize, clusters: usize) -> Self {
        assert!(
            count.is_power_of_two(),
            "messages are told apart by their lowest bits"
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

    /// The same with the public scheduler's defects, if so.
    #[must_use]
    pub fn strict(mut self, is_strict: bool) -> Self {
        self.queues
            .iter_mut()
            .for_each(|queue| queue.is_strict = is_strict);
        self
    }

    /// Whether there is a place for a packet of any message.
    pub fn has_room(&self) -> bool {
        self.taken < self.shared || self.queues.iter().all(|queue| !queue.own_is_taken)
    }

    /// Whether there is a place for a packet of this message.
    pub fn has_room_for(&self, message: u32) -> bool {
        !self.is_full(self.queue_of(message))
    }

    /// Whether there is no place for another packet of that queue.
    pub fn is_full(&self, queue: usize) -> bool {
        self.taken >= self.shared && self.queues[queue].own_is_taken
    }

    fn queue_of(&self, message: u32) -> usize {
        message as usize % self.queues.len()
    }

    /// How many queues there are.
    pub fn count(&self) -> usize {
        self.queues.len()
    }

    /// Whether nothing waits and no message is open.
    pub fn is_idle(&self) -> bool {
        self.queues
            .iter()
            .all(|queue| queue.state == State::Free && queue.waiting.is_empty())
    }

    /// Whether something may be taken: a message may also be open and wait for its next packet, or for handlers that run.
    pub fn has_work(&self) -> bool {
        self.queues.iter().any(|queue| match queue.state {
            State::Free if queue.is_strict => false,
            State::Free | State::Header | State::Payload => !queue.waiting.is_empty(),
            State::Completion => true,
            State::HeaderRunning | State::Draining | State::CompletionRunning => false,
        })
    }

    /// Packets that wait.
    pub fn waiting(&self) -> usize {
        self.queues.iter().map(|queue| queue.waiting.len()).sum()
    }

    /// Packets that came since reset.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// A packet comes; its number.
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

    /// Takes out the next that may go on, round robin over the queues.
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

    /// A task that was given out is done.
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

    /// Whether a packet whose payload handler is given out ends the message.
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

    /// Takes out what may go on, and the place that is free then.
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

    /// Goes on as far as nobody has to run for it.
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

/// Tasks that a cluster takes beside one for each HPU (`pspin_cfg_pkg.sv`, `BUFFERED_HERS_PER_CLUSTER`).
pub const BUFFERED: usize = 12;

/// A task on its way to an HPU.
#[derive(Clone, Copy, Debug)]
struct Buffered {
    task: Task,
    /// Its packet's place in L1, once it has one.
    slot: Option<usize>,
    /// When the next step can be taken.
    at: u64,
}

/// Tasks that wait for their packet or for an HPU, and the places for packets in L1.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    cluster: usize,
    waiting: VecDeque<Buffered>,
    /// Tasks that came and are not reported: those that wait, run, or have ended with a command open.
    occupied: usize,
    most: usize,
    /// Places in L1 that are free.
    slots: Vec<usize>,
    slot_bytes: u32,
    /// When the copy engine can begin with the next packet.
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

    /// Whether another task can come.
    pub(crate) fn has_room(&self) -> bool {
        self.occupied < self.most
    }

    /// Tasks that came and are not reported.
    pub(crate) fn occupied(&self) -> usize {
        self.occupied
    }

    /// Tasks that are at no HPU.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn push(&mut self, task: Task, at: u64) {
        self.occupied += 1;
        self.waiting.push_back(Buffered { task, slot: None, at });
    }

    /// Address in L1 of a place for packets.
    pub(crate) fn address(&self, slot: usize) -> u32 {
        l1_address(self.cluster, L1_PACKETS + slot as u32 * self.slot_bytes)
    }

    /// Begins to copy the packets whose turn it is.
    pub(crate) fn copy(&mut self, now: u64, timing: &Timing, memory: &mut Memory) {
        while let Some(place) = self.waiting.iter().position(|one| one.slot.is_none()) {
            let one = self.waiting[place];
            if one.at > now || self.engine_at > now {
                return;
            }
            let Some(slot) = self.slots.pop() else { return };
            // No slot of the packet buffer is larger than a place in L1; what a HER asks for beyond is not there.
            let bytes = one.task.her.copied.min(self.slot_bytes);
            let beats = u64::from(bytes.div_ceil(BEAT_BYTES));
            memory.copy(one.task.her.address, self.address(slot), bytes);
            self.engine_at = now + beats.max(1);
            let one = &mut self.waiting[place];
            one.slot = Some(slot);
            one.at = now + timing.copy + beats + timing.assign;
        }
    }

    /// The next task whose packet is there.
    pub(crate) fn take(&mut self, now: u64) -> Option<(Task, usize)> {
        let first = self.waiting.front()?;
        let slot = first.slot.filter(|_| first.at <= now)?;
        let task = self.waiting.pop_front()?.task;
        Some((task, slot))
    }

    /// A task is over.
    pub(crate) fn release(&mut self, running: &Running) {
        self.occupied -= 1;
        self.slots.push(running.slot);
    }

    /// When something can happen, if nothing comes; nothing if it waits for an HPU or has nothing.
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
