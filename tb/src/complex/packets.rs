//! Random messages and their packets.

use super::log::{Message, STAGES};
use super::memory::{CONTEXTS, HOSTILE, handler_memory, scratchpad, shared, tagged};
use super::program::{Kind, SLOT_SHIFT, STAGE_SHIFT};
use super::{Bench, CONTEXT_HOST, HOST, Inside, LINE, LONGEST, NI, PACKET, QUEUES, SLOTS};
use spinneret_cluster::task::{Code, Her, Meta};
use spinneret_regmap::pspin::PACKET_BASE;
use spinneret_sim::prelude::*;

impl Bench {
    /// A new message of a queue: each of its stages has some handler or none.
    fn message(&mut self, queue: usize) -> u32 {
        let context = queue / (QUEUES / CONTEXTS);
        let usual = [Kind::Quick, Kind::Memory, Kind::Copies, Kind::Commands];
        let kinds = std::array::from_fn(|_| match self.rng.random_range(0..10) {
            0 | 1 => None,
            _ if context == HOSTILE => Some(Kind::ALL[self.rng.random_range(0..Kind::ALL.len())]),
            2 => Some([Kind::Foreign, Kind::Steals][self.rng.random_range(0..2)]),
            _ => Some(usual[self.rng.random_range(0..usual.len())]),
        });
        let id = self.next;
        self.next += 1;
        assert!(id >> STAGE_SHIFT == 0, "a round has too many messages");
        let message = Message {
            context,
            kinds,
            ..Message::default()
        };
        self.log.messages.insert(id, message);
        self.open[queue] = Some(id);
        id
    }

    /// Sends a packet of a random queue; when few are left, the open messages end.
    pub(super) fn packet(&mut self, left: u64) {
        let pause = [0, 0, 100][self.rng.random_range(0..3)];
        (0..pause).for_each(|_| self.clock());
        while self.inside.len() as u32 == SLOTS || self.writing.len() > 4 || self.hers.waiting() > 2 {
            self.clock();
        }
        let open: Vec<usize> = (0..QUEUES).filter(|queue| self.open[*queue].is_some()).collect();
        let ends = left <= open.len() as u64;
        let queue = match ends {
            true => open[0],
            false => self.rng.random_range(0..QUEUES),
        };
        let id = match self.open[queue] {
            Some(id) => id,
            None => self.message(queue),
        };
        let is_long = self.log.messages[&id].packets.len() == LONGEST;
        let is_last = is_long || ends || self.rng.random_range(0..4) == 0 || left == open.len() as u64 + 1;
        if is_last {
            self.open[queue] = None;
        }
        // The log tells packets of a message apart by their slots.
        let is_free = |bench: &Self, slot: &u32| {
            !bench.inside.contains_key(slot) && !bench.log.messages[&id].packets.contains(slot)
        };
        let slot = loop {
            match (0..SLOTS).find(|slot| is_free(self, slot)) {
                Some(slot) => break slot,
                None => self.clock(),
            }
        };
        let message = self.log.messages.get_mut(&id).expect("it is open");
        message.packets.push(slot);
        message.is_complete = is_last;
        let (context, kinds) = (message.context, message.kinds);
        let codes: [Code; STAGES] = std::array::from_fn(|stage| match kinds[stage] {
            None => Code::default(),
            Some(kind) => Code {
                address: self.handlers.of(&mut self.rng, kind),
                size: (stage as u32) << STAGE_SHIFT | id,
            },
        });
        let her = Her {
            message: (self.rng.random_range(0..32) << 4) | queue as u32,
            is_last,
            address: PACKET_BASE + (slot << SLOT_SHIFT),
            size: PACKET,
            sum: 0,
            copied: PACKET,
            meta: Meta {
                handler_memory: handler_memory(context),
                host_memory: (HOST, CONTEXT_HOST),
                header: codes[0],
                payload: codes[1],
                tail: codes[2],
                scratchpads: [scratchpad(context), scratchpad(context), [0; 2], shared(context)],
                shared: [0; 2],
            },
        };
        let inside = Inside { her, context };
        let words = (0..PACKET / 4).flat_map(|_| tagged(context, self.rng.random()).to_le_bytes());
        let words: Vec<u8> = words.collect();
        self.masters[NI].write(WriteRequest::bytes(0, her.address.into(), &words, LINE));
        self.inside.insert(slot, inside);
        self.writing.push_back(inside);
    }
}
