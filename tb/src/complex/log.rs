//! Reports of HPUs about their handlers, compared with the rules of messages.

use super::memory::HOSTILE;
use super::program::{BOOT, DATA, END, FINE, HOLE, Kind, LEAK, STAGE_SHIFT, START};
use spinneret_isa::cause;
use std::collections::BTreeMap;

/// Header, payload and completion handler.
pub(super) const STAGES: usize = 3;
const HEADER: usize = 0;
const PAYLOAD: usize = 1;
const TAIL: usize = 2;
/// HPUs of a cluster.
const HPUS: usize = 8;

/// A message: its handlers, and the slots of its packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    pub(super) context: usize,
    pub(super) kinds: [Option<Kind>; STAGES],
    pub(super) packets: Vec<u32>,
    pub(super) is_complete: bool,
    /// The packets whose handlers of a stage have started, and how many of them have ended.
    pub(super) started: [Vec<u32>; STAGES],
    pub(super) ended: [usize; STAGES],
}

impl Message {
    /// Handlers of a stage.
    fn expected(&self, stage: usize) -> usize {
        match (self.kinds[stage], stage) {
            (None, _) => 0,
            (_, PAYLOAD) => self.packets.len(),
            _ => 1,
        }
    }

    /// Whether all handlers of a stage have ended.
    fn is_over(&self, stage: usize) -> bool {
        self.ended[stage] == self.expected(stage)
    }

    /// Why a handler must not start now. After resets it is not known which others have ended.
    fn refuses(&self, stage: usize, slot: u32, is_strict: bool) -> Option<&'static str> {
        let place = self.packets.iter().position(|packet| *packet == slot);
        let last = self.packets.len() - 1;
        let is_early = match stage {
            HEADER => self.started[PAYLOAD].len() + self.started[TAIL].len() > 0,
            PAYLOAD => is_strict && !self.is_over(HEADER) || !self.started[TAIL].is_empty(),
            _ => is_strict && !(self.is_over(HEADER) && self.is_over(PAYLOAD)),
        };
        let is_right = match stage {
            HEADER => place == Some(0),
            PAYLOAD => place.is_some(),
            _ => place == Some(last) && self.is_complete,
        };
        let reasons = [
            (self.kinds[stage].is_none(), "it does not exist"),
            (!is_right, "it is not one of this packet"),
            (self.started[stage].contains(&slot), "it has run already"),
            (is_early, "others have to run before"),
        ];
        reasons
            .into_iter()
            .find_map(|(holds, reason)| holds.then_some(reason))
    }
}

/// The handler that an HPU runs, and a report of which not all characters have come.
#[derive(Clone, Debug, Default)]
struct Hpu {
    running: Option<(u32, usize)>,
    report: Vec<u8>,
}

/// Counts of a context.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Handlers whose end was reported, those that trapped, and those that were stopped.
    pub(super) ended: u64,
    pub(super) failed: u64,
    pub(super) stopped: u64,
}

/// Messages and HPUs.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) messages: BTreeMap<u32, Message>,
    hpus: BTreeMap<usize, Hpu>,
    pub(super) counts: BTreeMap<usize, Counts>,
    /// HPUs that began to run again.
    pub(super) restarts: u64,
    /// Clusters were reset, so ends are missing.
    pub(super) has_resets: bool,
}

impl Log {
    /// Handlers of a context that run for its complete messages.
    pub(super) fn expected(&self, context: usize) -> u64 {
        let own = self
            .messages
            .values()
            .filter(|message| message.context == context);
        own.map(|message| {
            (0..STAGES)
                .map(|stage| message.expected(stage) as u64)
                .sum::<u64>()
        })
        .sum()
    }

    /// Takes a word of standard output.
    pub(super) fn take(&mut self, word: u32) -> Result<(), String> {
        let character = word as u8;
        let place = (word >> 8) as usize;
        let number = HPUS * (place >> 8) + (place & 0xff);
        if place & 0xff >= HPUS {
            return Err(format!("{word:#x} is of no HPU"));
        }
        let hpu = self.hpus.entry(number).or_default();
        if character < DATA {
            let is_cut = !hpu.report.is_empty() && character != BOOT;
            hpu.report = vec![character];
            if is_cut {
                return Err(format!("HPU {number} lost a character"));
            }
        } else {
            hpu.report.push(character & !DATA);
        }
        let report = hpu.report.clone();
        match report[..] {
            [BOOT] => {
                let is_new = hpu.running.take().is_none();
                hpu.report.clear();
                self.restarts += 1;
                if !is_new && !self.has_resets {
                    return Err(format!("HPU {number} began again"));
                }
            }
            [START, low, middle, high, slot] => {
                hpu.report.clear();
                let tag = u32::from(low) | u32::from(middle) << 7 | u32::from(high) << 14;
                self.start(number, tag, slot.into())?;
            }
            [END, cause, claim] => {
                hpu.report.clear();
                self.end(number, cause.into(), claim)?;
            }
            [START | END, ..] => {}
            _ => return Err(format!("HPU {number}: {report:x?} is no report")),
        }
        Ok(())
    }

    fn start(&mut self, number: usize, tag: u32, slot: u32) -> Result<(), String> {
        let (id, stage) = (tag & ((1 << STAGE_SHIFT) - 1), (tag >> STAGE_SHIFT) as usize);
        let what = format!("HPU {number} starts stage {stage} of message {id}, packet {slot}");
        let is_strict = !self.has_resets;
        let message = self
            .messages
            .get_mut(&id)
            .ok_or_else(|| format!("{what}, which does not exist"))?;
        if let Some(reason) = message.refuses(stage, slot, is_strict) {
            return Err(format!("{what}: {reason}: {message:?}"));
        }
        message.started[stage].push(slot);
        let hpu = self.hpus.entry(number).or_default();
        match hpu.running.replace((id, stage)) {
            None => Ok(()),
            Some(other) => Err(format!("{what} while it runs {other:?}")),
        }
    }

    fn end(&mut self, number: usize, trap: u32, claim: u8) -> Result<(), String> {
        let running = self.hpus.entry(number).or_default().running.take();
        let (id, stage) = running.ok_or_else(|| format!("HPU {number} ends a handler that did not start"))?;
        let message = self
            .messages
            .get_mut(&id)
            .ok_or("a message is over before its handlers")?;
        message.ended[stage] += 1;
        let kind = message.kinds[stage].ok_or("a handler ends that does not exist")?;
        let counts = self.counts.entry(message.context).or_default();
        counts.ended += 1;
        counts.failed += u64::from(trap != cause::CALL_OF_USER);
        counts.stopped += u64::from(trap == cause::STOPPED);
        let is_right = match (kind, trap) {
            (Kind::Wild, _) => true,
            (Kind::Loops, trap) => trap == cause::STOPPED,
            (_, cause::STOPPED) => true,
            // Words of the hostile context may be anything.
            (Kind::Memory, cause::CALL_OF_USER) if message.context == HOSTILE => claim != HOLE,
            (kind, cause::CALL_OF_USER) => !kind.fails() && claim == FINE,
            (kind, cause::LOAD_FAULT | cause::STORE_FAULT) => kind.fails(),
            _ => false,
        };
        let what = match claim {
            HOLE => "an access that has to be refused was not",
            LEAK => "it saw a word of another context",
            _ => "it ended otherwise than it should",
        };
        is_right
            .then_some(())
            .ok_or_else(|| format!("{kind:?}, cause {trap}: {what}: {message:?}"))
    }
}
