//! Ports of the cluster: HERs, feedback, standard output, and commands of the handlers.

use super::Cluster;
use crate::event::{DataPath, Event, Fault, TraceEvent, digest};
use crate::hpu::{REFUSED_COMMAND, STDOUT_CHARACTERS};
use crate::rv::Trap;
use crate::task::{CommandId, Feedback, Her, HostAction, HostCommand, NicCommand, Task, main_handler};

impl Cluster {
    /// Whether the cluster can accept a HER of any message.
    pub fn can_accept_hers(&self) -> bool {
        self.queues.has_room()
    }

    /// Whether the cluster can accept a HER of this message. A HER whose queue is full blocks all HERs after it.
    pub fn can_accept_her_of(&self, message: u32) -> bool {
        self.queues.has_room_for(message)
    }

    /// Returns the number of HERs since reset.
    pub fn hers(&self) -> u64 {
        self.queues.packets()
    }

    /// Whether a queue is full.
    pub fn is_full(&self, queue: usize) -> bool {
        queue < self.queues.count() && self.queues.is_full(queue)
    }

    /// Accepts a HER.
    pub fn push(&mut self, mut her: Her) {
        if !self.config.is_strict {
            her.meta = her.meta.on(self.config.clusters);
        }
        let packet = self.queues.push(her);
        self.progress += 1;
        self.inside[size_class(her.size)] += 1;
        let bytes = self.world.memory.read(her.address, her.size);
        let digest = digest(bytes.unwrap_or_default());
        self.events.push(Event::Arrived {
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
        let came = TraceEvent::Her {
            message,
            is_last,
            address,
            size,
        };
        self.world.note(self.now, came);
    }

    /// Returns the next feedback.
    pub fn feedback(&self) -> Option<&Feedback> {
        self.feedback.front()
    }

    /// Takes the next feedback.
    pub fn take_feedback(&mut self) -> Option<Feedback> {
        self.feedback.pop_front()
    }

    /// Returns the oldest word of standard output: {0, cluster, core, character}, eight bits each.
    pub fn stdout(&self) -> Option<u32> {
        self.world.stdout.front().copied()
    }

    /// Returns the number of words that handlers have written to standard output.
    pub fn printed(&self) -> u64 {
        self.world.printed
    }

    /// Takes the oldest word of standard output.
    pub fn take_stdout(&mut self) -> Option<u32> {
        // HPUs that wait for room continue.
        if self.world.stdout.len() >= STDOUT_CHARACTERS {
            self.hpus.iter_mut().for_each(|hpu| hpu.sleeps = false);
        }
        self.world.stdout.pop_front()
    }

    /// Sends the feedback of a task, if it is the last one of its packet.
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
        self.world.note(self.now, TraceEvent::Feedback { queue, address });
        self.events.push(Event::Freed {
            clock: self.now,
            packet: task.packet,
        });
    }
}

/// Bytes of a small slot of the packet buffer.
const SMALL_SLOT: u32 = 128;

/// The slots for packets of that size: small (0) or large (1).
pub fn size_class(bytes: u32) -> usize {
    usize::from(bytes > SMALL_SLOT)
}

impl Cluster {
    /// Returns the next packet that a handler sends.
    pub fn send(&self) -> Option<&NicCommand> {
        let (at, command) = self.sends.front()?;
        (*at <= self.now).then_some(command)
    }

    /// Takes the next packet that a handler sends.
    pub fn take_send(&mut self) -> Option<NicCommand> {
        self.send()?;
        let command = self.sends.pop_front()?.1;
        let NicCommand {
            id, source, length, ..
        } = command;
        self.world.note(self.now, TraceEvent::Send { id, source, length });
        Some(command)
    }

    /// Returns the next access to host memory.
    pub fn access(&self) -> Option<&HostCommand> {
        let (at, command) = self.accesses.front()?;
        (*at <= self.now).then_some(command)
    }

    /// Takes the next access to host memory.
    pub fn take_access(&mut self) -> Option<HostCommand> {
        self.access()?;
        Some(self.accesses.pop_front()?.1)
    }

    /// Completes a command.
    pub fn complete(&mut self, id: CommandId) {
        let number = usize::from(id.cluster) * self.config.hpus + usize::from(id.core);
        self.world.note(self.now, TraceEvent::Done { id });
        if let Some(hpu) = self.hpus.get_mut(number) {
            hpu.driver.complete(id.local);
            hpu.sleeps = false;
        }
    }

    /// Reports a refused command with its cause, and the address or length in question. The handler continues.
    pub fn refuse(&mut self, id: CommandId, cause: u32, value: u32) {
        self.refused += 1;
        let Some(fault) = self.commands.get(&id) else {
            return;
        };
        let trap = Trap::Custom(cause);
        self.events.push(Event::Refused(Fault {
            trap,
            value,
            ..*fault
        }));
    }

    /// Starts a command that an instruction asked for.
    pub(super) fn issue(&mut self, number: usize, id: CommandId, pc: u32) {
        let origin = self.origin(number, (Trap::Custom(REFUSED_COMMAND), pc, 0));
        self.commands.insert(id, origin);
        let (info, words) = self.hpus[number].driver.command();
        // A command outside of a task belongs to no context.
        let running = self.hpus[number].driver.running.as_ref();
        let message = running.map(|running| running.task.her.message);
        if let (Some(message), Some((path, bytes))) = (message, DataPath::of_command(info, words)) {
            self.events.push(Event::Moved { message, path, bytes });
        }
        let wide = |low: usize| u64::from(words[low + 1]) << 32 | u64::from(words[low]);
        let at = self.now + self.config.timing.command;
        let access = match info >> 1 & 3 {
            0 if words[4] & 1 == 1 => {
                let data = self.world.memory.read(words[2], words[3]);
                data.map(|data| (wide(0), HostAction::Write(data.to_vec())))
            }
            0 => {
                let there = self.world.memory.read(words[2], words[3]).is_some();
                let action = HostAction::Read {
                    destination: words[2],
                    bytes: words[3],
                };
                there.then_some((wide(0), action))
            }
            1 => {
                let command = NicCommand {
                    id,
                    nid: words[0],
                    fid: words[1],
                    source: wide(2),
                    length: words[4],
                    user: wide(5),
                };
                self.sends.push_back((at, command));
                return;
            }
            2 if words[2] & 1 == 1 => {
                let bytes: Vec<u8> = words[3..].iter().flat_map(|word| word.to_le_bytes()).collect();
                let length = (words[2] >> 1 & 0x1ff) as usize;
                bytes
                    .get(..length)
                    .map(|data| (wide(0), HostAction::Direct(data.to_vec())))
            }
            _ => None,
        };
        let Some(((host, action), message)) = access.zip(message) else {
            self.refuse(id, REFUSED_COMMAND, words[2]);
            self.complete(id);
            return;
        };
        let command = HostCommand {
            id,
            message,
            host,
            action,
        };
        self.accesses.push_back((at, command));
    }
}
