//! HERs, feedback and standard output: what comes into the cluster and leaves it.

use super::Cluster;
use crate::event::{Event, digest};
use crate::task::{Feedback, Her, Task, main_handler};
use crate::trace::Passed;
use crate::view::STDOUT_CHARACTERS;

impl Cluster {
    /// Whether a HER of any message can come.
    pub fn takes_hers(&self) -> bool {
        self.queues.has_room()
    }

    /// Whether a HER of this message can come: it waits while its queue has no place, and all others behind it.
    pub fn takes_her_of(&self, message: u32) -> bool {
        self.queues.has_room_for(message)
    }

    /// HERs that came since reset.
    pub fn hers(&self) -> u64 {
        self.queues.packets()
    }

    /// Whether a queue is full.
    pub fn is_full(&self, queue: usize) -> bool {
        queue < self.queues.count() && self.queues.is_full(queue)
    }

    /// A HER comes.
    pub fn push(&mut self, her: Her) {
        let packet = self.queues.push(her);
        self.progress += 1;
        self.inside[size_class(her.size)] += 1;
        let bytes = self.world.memory.read(her.address, her.size);
        let digest = digest(bytes.unwrap_or_default());
        self.events.push(Event::Came {
            clock: self.now,
            packet,
            message: her.message,
            size: her.size,
            digest,
            handler: main_handler([her.meta.header, her.meta.payload, her.meta.tail]),
        });
        let Her {
            message,
            is_last,
            address,
            size,
            ..
        } = her;
        let came = Passed::Her {
            message,
            is_last,
            address,
            size,
        };
        self.world.note(self.now, came);
    }

    /// The next packet that is done with.
    pub fn feedback(&self) -> Option<&Feedback> {
        self.feedback.front()
    }

    /// It is taken.
    pub fn take_feedback(&mut self) -> Option<Feedback> {
        self.feedback.pop_front()
    }

    /// The oldest word of standard output: {0, cluster, core, character}, eight bits each.
    pub fn stdout(&self) -> Option<u32> {
        self.world.stdout.front().copied()
    }

    /// Words that handlers have put there since the beginning.
    pub fn printed(&self) -> u64 {
        self.world.printed
    }

    /// It is taken.
    pub fn take_stdout(&mut self) -> Option<u32> {
        // Who waits for room can go on.
        if self.world.stdout.len() >= STDOUT_CHARACTERS {
            self.hpus.iter_mut().for_each(|hpu| hpu.sleeps = false);
        }
        self.world.stdout.pop_front()
    }

    /// The packet of a task is done with, if the task says so.
    pub(super) fn free(&mut self, task: &Task) {
        if !task.frees {
            return;
        }
        self.inside[size_class(task.her.size)] -= 1;
        let (address, queue) = (task.her.address, task.queue as u32);
        self.feedback.push_back(Feedback {
            address,
            size: task.her.copied,
            queue,
        });
        self.world.note(self.now, Passed::Feedback { queue, address });
        self.events.push(Event::Freed {
            clock: self.now,
            packet: task.packet,
        });
    }
}

/// Bytes of a small slot of the packet buffer.
const SMALL_SLOT: u32 = 128;

/// Which slots a packet of that size takes: small ones (0) or large ones.
fn size_class(bytes: u32) -> usize {
    usize::from(bytes > SMALL_SLOT)
}
