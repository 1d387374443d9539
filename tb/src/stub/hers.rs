//! HERs, and where they lie.

use crate::bench::Parameters;
use spinneret_regmap::pspin;
use spinneret_sim::prelude::*;

/// Bytes of a line.
pub(super) const LINE: u64 = 64;
/// Bytes that no burst crosses.
const PAGE: u64 = 4096;
/// Distance from the start of the host memory to the line that is read, in bytes.
const DISTANCE: u64 = 4096;

/// A HER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Her {
    /// Message id.
    pub message: u64,
    /// Address of the packet.
    pub address: u64,
    /// Its bytes.
    pub size: u64,
    /// Bytes that a handler sees.
    pub transfer_size: u64,
    /// Address of the host memory.
    pub host: u64,
    /// Address of the handler memory.
    pub handler: u64,
    /// Address of the payload handler: its lowest bits say what is done.
    pub operations: u64,
}

impl Her {
    /// As the fields of the channel.
    pub(super) fn fields(&self) -> [u64; 7] {
        [
            self.message,
            self.address,
            self.size,
            self.transfer_size,
            self.host,
            self.handler,
            self.operations,
        ]
    }

    /// Returns whether the packet is sent.
    pub fn sends(&self) -> bool {
        self.operations & 1 != 0
    }

    /// Returns whether it is copied to the host.
    pub fn copies(&self) -> bool {
        self.operations & 2 != 0 && self.size > 0
    }

    /// Returns whether a line is read from the host.
    pub fn fetches(&self) -> bool {
        self.operations & 4 != 0
    }

    /// Returns whether its message id is printed.
    pub fn prints(&self) -> bool {
        self.operations & 8 != 0
    }

    /// Address of the line that is read from the host.
    pub fn fetched_line(&self) -> u64 {
        (self.host & !(LINE - 1)).wrapping_add(DISTANCE)
    }

    /// The bursts of the copy: first byte, and bytes of the packet in it.
    fn bursts(&self) -> Vec<(u64, u64)> {
        let mut bursts = Vec::new();
        let (mut at, mut left) = (self.host, self.size);
        while left > 0 {
            let here = left.min(PAGE - at % PAGE);
            bursts.push((at, here));
            (at, left) = (at.wrapping_add(here), left - here);
        }
        bursts
    }
}

/// Outputs observed while a HER was processed.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) reads: Vec<SlaveBurst>,
    pub(super) writes: Vec<SlaveBurst>,
    pub(super) commands: Vec<Item>,
}

/// A burst of a copy that went well: first byte, and which bytes of the packet it has.
pub(super) type Copied = (u64, std::ops::Range<usize>);

/// Compares what came out with what had to; the words that have to be printed, and what the host holds now.
pub(super) fn check_her(
    her: &Her,
    seen: &Seen,
    feedback: &Item,
    command: u64,
) -> Result<(Vec<u32>, Vec<Copied>), String> {
    let mut words = Vec::new();
    let mut copied = Vec::new();
    let mut last = 0;
    let mut follows = |cycle: u64, what: &str| {
        if cycle < last {
            return Err(format!("{what} came before what had to come first"));
        }
        last = cycle;
        Ok(())
    };
    let failure = |response: Response| 0xdead_0000 + u32::from(response.code());
    let fetched: Vec<u64> = seen.reads.iter().map(|read| read.burst.address).collect();
    let wanted = if her.fetches() {
        vec![her.fetched_line()]
    } else {
        vec![]
    };
    if fetched != wanted
        || seen
            .reads
            .iter()
            .any(|read| (read.burst.beats, read.burst.size) != (1, LINE))
    {
        return Err(format!("{her:x?} led to the reads {:x?}", seen.reads));
    }
    for read in &seen.reads {
        follows(read.cycle, "the read")?;
        words.extend(read.response.is_error().then(|| failure(read.response)));
    }
    let bursts = if her.copies() { her.bursts() } else { vec![] };
    if bursts.len() != seen.writes.len() {
        return Err(format!("{her:x?} led to the writes {:x?}", seen.writes));
    }
    let mut offset = 0;
    for ((at, bytes), write) in bursts.into_iter().zip(&seen.writes) {
        let first = at & !(LINE - 1);
        let beats = (at - first + bytes).div_ceil(LINE);
        let burst = write.burst;
        if (burst.address, burst.beats, burst.size, burst.id, write.bytes) != (first, beats, LINE, 0, bytes) {
            return Err(format!(
                "{her:x?} has the burst {write:x?} for {bytes} bytes at {at:#x}"
            ));
        }
        follows(write.cycle, "a write")?;
        if write.response.is_error() {
            words.push(failure(write.response));
        } else {
            copied.push((at, offset..offset + bytes as usize));
        }
        offset += bytes as usize;
    }
    let wanted = if her.sends() {
        vec![vec![command, her.address, her.size]]
    } else {
        vec![]
    };
    let sent: Vec<Vec<u64>> = seen.commands.iter().map(|item| item.values.clone()).collect();
    if sent != wanted {
        return Err(format!("{her:x?} led to the commands {sent:x?}"));
    }
    for item in &seen.commands {
        follows(item.cycle, "the command")?;
    }
    words.extend(her.prints().then_some(her.message as u32));
    follows(feedback.cycle, "the feedback")?;
    if feedback.values != [her.address, her.transfer_size, her.message] {
        return Err(format!("{her:x?} has the feedback {:x?}", feedback.values));
    }
    Ok((words, copied))
}

/// First byte of handler and packet memory, and how many there are.
const HANDLER_AND_PACKET: (u64, u64) = (
    pspin::HANDLER_BASE as u64,
    (pspin::HANDLER_BYTES + pspin::PACKET_BYTES) as u64,
);
/// First byte of program memory, number of bytes, and their offset in 2 MiB.
const PROGRAM: (u64, u64, u64) = (pspin::PROGRAM_BASE as u64, pspin::PROGRAM_BYTES as u64, 0x18_0000);
/// Parts of the memory that users of their own write to.
const REGIONS: u64 = 4;

/// Map from cluster addresses to offsets in the memory of the stand-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryMap {
    /// Bytes of the memory.
    pub memory_bytes: u64,
    /// HERs that can wait.
    pub hers: u64,
    /// Words of stdout that can wait.
    pub words: u64,
}

impl MemoryMap {
    /// Reads the parameters of a model in the catalog.
    ///
    /// # Panics
    /// If there is no such model, or it is no stand-in.
    pub fn of<M: Model>() -> Self {
        let parameters = Parameters::of::<M>();
        let get = |name| parameters.get(name);
        Self {
            memory_bytes: get("memory_bytes"),
            hers: get("her_queue"),
            words: get("stdout_words"),
        }
    }

    /// The place of an address in the memory; `None` if there is nothing.
    pub fn offset(&self, address: u64) -> Option<u64> {
        let place = if (HANDLER_AND_PACKET.0..HANDLER_AND_PACKET.0 + HANDLER_AND_PACKET.1).contains(&address)
        {
            address - HANDLER_AND_PACKET.0
        } else if (PROGRAM.0..PROGRAM.0 + PROGRAM.1).contains(&address) {
            address - PROGRAM.0 + PROGRAM.2
        } else {
            return None;
        };
        Some(place % self.memory_bytes)
    }

    /// Bytes of a region.
    pub fn region_bytes(&self) -> u64 {
        (self.memory_bytes / REGIONS).min(HANDLER_AND_PACKET.1 / REGIONS)
    }

    /// An address at an offset of a region: one of those that repeat.
    pub fn address(&self, rng: &mut ChaCha8Rng, region: u64, offset: u64) -> u64 {
        let place = region * self.region_bytes() + offset;
        let program = PROGRAM.2 % self.memory_bytes;
        if place >= program && place - program < PROGRAM.1 && rng.random_range(0..4) == 0 {
            return PROGRAM.0 + place - program;
        }
        let repeats = (HANDLER_AND_PACKET.1 - place - 1) / self.memory_bytes;
        HANDLER_AND_PACKET.0 + place + self.memory_bytes * rng.random_range(0..=repeats)
    }
}
