//! HERs, and what they have to lead to.

use spinneret_sim::axi::{Response, SlaveBurst};
use spinneret_sim::channel::Item;

/// Bytes of a line.
pub(super) const LINE: u64 = 64;
/// Bytes that no burst crosses.
const PAGE: u64 = 4096;
/// How far behind the start of the host memory a line is read.
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

    /// Whether the packet is sent.
    pub fn sends(&self) -> bool {
        self.operations & 1 != 0
    }

    /// Whether it is copied to the host.
    pub fn copies(&self) -> bool {
        self.operations & 2 != 0 && self.size > 0
    }

    /// Whether a line is read from the host.
    pub fn fetches(&self) -> bool {
        self.operations & 4 != 0
    }

    /// Whether its message id is printed.
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

/// What came out while a HER was done.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) reads: Vec<SlaveBurst>,
    pub(super) writes: Vec<SlaveBurst>,
    pub(super) commands: Vec<Item>,
}

/// A burst of a copy that went well: first byte, and which bytes of the packet it has.
pub(super) type Copied = (u64, std::ops::Range<usize>);

/// Compares what came out with what had to; the words that have to be printed, and what the host holds now.
pub(super) fn judge(
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
