//! Requests of the clusters and of handlers: HERs, tasks, feedback and commands.

pub use spinneret_program::{Code, Stage, main_handler};

use spinneret_regmap::pspin::{L1_SCRATCHPADS, SHARED_SCRATCHPAD, driver, l1_address, packet_size};

/// Maximum number of clusters with a scratchpad.
pub const SCRATCHPADS: usize = 4;

/// The execution context of a message, as a HER carries it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// Memory in L2 that the handlers share.
    pub handler_memory: [u32; 2],
    /// Host memory of the context: address and bytes.
    pub host_memory: (u64, u32),
    /// Header handler.
    pub header: Code,
    /// Payload handler.
    pub payload: Code,
    /// Completion handler, for the last packet of a message.
    pub tail: Code,
    /// Scratchpad in L1 of each cluster: offset in its scratchpads, and bytes.
    pub scratchpads: [[u32; 2]; SCRATCHPADS],
    /// Shared data of the program in L2: address and bytes. Without bytes, it is that of the program that was loaded last.
    pub shared: [u32; 2],
}

/// A handler execution request: a packet in L2 that waits for its handlers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Her {
    /// Message it belongs to.
    pub message: u32,
    /// It is the last one of its message.
    pub is_last: bool,
    /// Where it is in L2.
    pub address: u32,
    /// Its bytes.
    pub size: u32,
    /// Sum of its IP payload, as [`packet_size`] says; 0: there is none.
    pub sum: u32,
    /// Bytes of it that are copied to L1.
    pub copied: u32,
    /// The context.
    pub meta: Meta,
}

/// Feedback: a packet is complete, and its slot in L2 is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// Where it was.
    pub address: u32,
    /// Bytes of it that were copied to L1.
    pub size: u32,
    /// Number of its queue; the cluster does not return the message id (`mpq_engine.sv`).
    pub queue: u32,
}

impl Her {
    /// The word with the packet's size and sum.
    pub fn size_and_sum(&self) -> u32 {
        self.sum << packet_size::SIZE_BITS | self.size
    }

    /// Takes such a word apart.
    pub fn set_size_and_sum(&mut self, word: u32) {
        self.sum = word >> packet_size::SIZE_BITS;
        self.size = word & ((1 << packet_size::SIZE_BITS) - 1);
    }
}

impl Meta {
    /// The context in clusters of that number: where they have fewer than scratchpads, the last scratchpad is the shared data.
    #[must_use]
    pub fn on(mut self, clusters: usize) -> Self {
        let unused = &mut self.scratchpads[SHARED_SCRATCHPAD];
        if clusters <= SHARED_SCRATCHPAD && unused[1] != 0 {
            self.shared = std::mem::take(unused);
        }
        self
    }

    /// The code of a stage.
    pub fn code(&self, stage: Stage) -> Code {
        match stage {
            Stage::Header => self.header,
            Stage::Payload => self.payload,
            Stage::Tail => self.tail,
        }
    }
}

/// A handler to run for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Number of the packet since reset, in the order of HERs.
    pub packet: u64,
    /// Queue of the message.
    pub queue: usize,
    /// The packet.
    pub her: Her,
    /// The context that was latched for the message.
    pub meta: Meta,
    /// Which handler.
    pub stage: Stage,
    /// The packet is complete when this task is done.
    pub frees: bool,
    /// The cluster whose L1 the message prefers.
    pub home: usize,
}

/// Words of a task as an HPU reads them, from the handler's address on.
pub const TASK_WORDS: usize = driver::TASK.len();

/// Index of the scratchpad addresses among the words of a task; their sizes follow.
pub(crate) const SCRATCHPAD_WORDS: usize = 6;

impl Task {
    /// Returns the words that an HPU reads, for a packet at this address in L1.
    pub fn words(&self, packet_in_l1: u32) -> [u32; TASK_WORDS] {
        let (code, meta) = (self.meta.code(self.stage), &self.meta);
        let mut words = [0; TASK_WORDS];
        words[..2].copy_from_slice(&[code.address, code.size]);
        words[2..4].copy_from_slice(&meta.handler_memory);
        words[4..6].copy_from_slice(&[packet_in_l1, self.her.copied]);
        for (number, [address, bytes]) in self.scratchpads().into_iter().enumerate() {
            words[SCRATCHPAD_WORDS + number] = address;
            words[SCRATCHPAD_WORDS + SCRATCHPADS + number] = bytes;
        }
        let [address, bytes] = meta.shared;
        if bytes != 0 {
            words[SCRATCHPAD_WORDS + SHARED_SCRATCHPAD] = address;
            words[SCRATCHPAD_WORDS + SCRATCHPADS + SHARED_SCRATCHPAD] = bytes;
        }
        let (host, bytes) = meta.host_memory;
        words[14..17].copy_from_slice(&[(host >> 32) as u32, host as u32, bytes]);
        words[17..].copy_from_slice(&[self.her.address, self.home as u32, self.queue as u32]);
        words
    }

    /// Scratchpads in L1: address and bytes. The HER names an offset, and the HPU's driver adds where scratchpads begin
    /// (`hpu_driver.sv`, `l1_scratchpad_addr`).
    pub(crate) fn scratchpads(&self) -> [[u32; 2]; SCRATCHPADS] {
        let mut absolute = self.meta.scratchpads;
        for (cluster, [address, bytes]) in absolute.iter_mut().enumerate() {
            if *bytes != 0 {
                *address = l1_address(cluster, L1_SCRATCHPADS.wrapping_add(*address));
            }
        }
        absolute
    }
}

/// Id of a command: cluster, core, and the core's number of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommandId {
    /// Cluster.
    pub cluster: u8,
    /// Core within it.
    pub core: u8,
    /// Number among the core's commands.
    pub local: u8,
}

/// A packet that a handler sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NicCommand {
    /// Its id.
    pub id: CommandId,
    /// Node, 0 for raw packets.
    pub nid: u32,
    /// Flow, 0 for raw packets.
    pub fid: u32,
    /// Where the bytes are.
    pub source: u64,
    /// How many.
    pub length: u32,
    /// User data of the handler.
    pub user: u64,
}

/// An access of a handler to host memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostCommand {
    /// Its id.
    pub id: CommandId,
    /// Message of the handler; it includes the context.
    pub message: u32,
    /// Address in host memory.
    pub host: u64,
    /// The access.
    pub action: HostAction,
}

/// An access to host memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostAction {
    /// Writes these bytes.
    Write(Vec<u8>),
    /// Writes these bytes of the command in one beat from lane 0 on, whatever the address (`host_direct.sv`). The NIC refuses
    /// an address that is not a multiple of 64.
    Direct(Vec<u8>),
    /// Reads bytes to this address.
    Read {
        /// Where they go, in L1 or L2.
        destination: u32,
        /// How many.
        bytes: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_words_have_the_order_of_pspin() {
        let meta = Meta {
            handler_memory: [0x1c00_1000, 0x200],
            host_memory: (0x1_2345_6780, 0x1000),
            payload: Code {
                address: 0x1d00_0200,
                size: 4096,
            },
            scratchpads: [[1, 10], [2, 20], [3, 30], [4, 40]],
            ..Meta::default()
        };
        let her = Her {
            message: 7,
            address: 0x1c10_0080,
            size: 100,
            copied: 64,
            meta,
            ..Her::default()
        };
        let task = Task {
            packet: 0,
            queue: 7,
            her,
            meta,
            stage: Stage::Payload,
            frees: true,
            home: 1,
        };
        let wanted = [
            0x1d00_0200,
            4096,
            0x1c00_1000,
            0x200,
            0x1000_4400,
            64,
            0x1001_4401,
            0x1041_4402,
            0x1081_4403,
            0x10c1_4404,
            10,
            20,
            30,
            40,
            1,
            0x2345_6780,
            0x1000,
            0x1c10_0080,
            1,
            7,
        ];
        assert_eq!(task.words(0x1000_4400), wanted);
    }
}
