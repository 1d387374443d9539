//! Commands of the handlers: packets to send, and accesses to host memory.

use super::Cluster;
use crate::event::{Event, Fault};
use crate::hpu::REFUSED_COMMAND;
use crate::rv::Trap;
use crate::task::{CommandId, HostAction, HostCommand, NicCommand};
use crate::trace::Passed;

impl Cluster {
    /// The next packet that a handler sends.
    pub fn send(&self) -> Option<&NicCommand> {
        let (at, command) = self.sends.front()?;
        (*at <= self.now).then_some(command)
    }

    /// It is taken.
    pub fn take_send(&mut self) -> Option<NicCommand> {
        self.send()?;
        let command = self.sends.pop_front()?.1;
        let NicCommand {
            id, source, length, ..
        } = command;
        self.world.note(self.now, Passed::Send { id, source, length });
        Some(command)
    }

    /// The next access to host memory.
    pub fn access(&self) -> Option<&HostCommand> {
        let (at, command) = self.accesses.front()?;
        (*at <= self.now).then_some(command)
    }

    /// It is taken.
    pub fn take_access(&mut self) -> Option<HostCommand> {
        self.access()?;
        Some(self.accesses.pop_front()?.1)
    }

    /// A command is done.
    pub fn complete(&mut self, id: CommandId) {
        let number = usize::from(id.cluster) * self.config.hpus + usize::from(id.core);
        self.world.note(self.now, Passed::Done { id });
        if let Some(hpu) = self.hpus.get_mut(number) {
            hpu.driver.complete(id.local);
            hpu.sleeps = false;
        }
    }

    /// A command is not done, for this reason; the address or the length that it is about. Who asked for it goes on.
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
        // What no handler asks for belongs to no context.
        let running = self.hpus[number].driver.running;
        let Some(((host, action), running)) = access.zip(running) else {
            self.refuse(id, REFUSED_COMMAND, words[2]);
            self.complete(id);
            return;
        };
        let command = HostCommand {
            id,
            message: running.task.her.message,
            host,
            action,
        };
        self.accesses.push_back((at, command));
    }
}
