//! What software does to the NIC: accesses to its registers through the BAR, those of a host's bus, which are answered whatever
//! they ask for, and resets in the middle of something, with which what is inside is lost and the counters begin anew.

use super::{ClusterBackend, NO_WORD, Nic, NicError};
use spinneret_packets::reference::matcher::{MatchResult, ReferenceMatcher, RuleTable};
use spinneret_program::{Code, main_handler};
use spinneret_regmap::bar::{Destination, decode};
use spinneret_regmap::matching::RuleRegisters;
use spinneret_regmap::model::{Registers, Variant};
use spinneret_regmap::pspin::HANDLER_BASE;
use spinneret_regmap::{
    CONTEXTS, COUNTER_WORDS, RULES_PER_RULESET, RULESETS, Register, bar, cl, datapath_counters, events, her,
    her_meta, me,
};
use spinneret_rules::{Join, MatcherParams, Ruleset};
use spinneret_sim::axil::{LiteRead, LiteWrite, Response};
use spinneret_sim::channel::ChannelSink;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

/// Longest that an access takes, in clocks of the slower one of the cluster and the core, which it crosses.
const ACCESS_CLOCKS: u64 = 2500;

/// Why software cannot do what it wants.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The hardware failed.
    #[error(transparent)]
    Nic(#[from] NicError),
    /// An access was answered with an error, or not in time.
    #[error("{action} of {place} was {answer}")]
    Access {
        /// Read or write.
        action: &'static str,
        /// Of what.
        place: Place,
        /// How it was answered.
        answer: &'static str,
    },
    /// There is no control register.
    #[error("there is no control register at {0:#06x}")]
    NoRegister(u32),
    /// The BAR does not reach an address in the cluster.
    #[error("the BAR does not reach {0:#010x} in the cluster")]
    NoMemory(u32),
}

/// What an access is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The control register at this offset.
    Register(u32),
    /// The cluster's memory at this address.
    Cluster(u32),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Register(offset) => write!(f, "register {offset:#06x}"),
            Self::Cluster(address) => write!(f, "the cluster's memory at {address:#010x}"),
        }
    }
}

impl<B: ClusterBackend> Nic<B> {
    /// Writes a control register.
    ///
    /// # Errors
    /// If it is not answered as it should.
    pub fn set(&mut self, register: u32, value: u32) -> Result<(), ControlError> {
        let offset = register_in_bar(register)?;
        self.note_write(register, value);
        self.write_bar(offset, value, Place::Register(register))?;
        self.note_written(register, value);
        Ok(())
    }

    /// Software is about to write a control register.
    pub(super) fn note_write(&mut self, register: u32, value: u32) {
        if register == cl::AUX_RESET && value & 1 != 0 {
            self.note_reset();
        }
    }

    /// Software has written a control register.
    pub(super) fn note_written(&mut self, register: u32, value: u32) {
        self.route.written(register, value);
        self.messages.written(register, value);
    }

    /// The address of the handler that a frame is for, if it matches: of payloads, or else of headers or tails.
    pub fn matching_handler(&self, frame: &[u8]) -> Option<u32> {
        self.route.of(frame)
    }

    /// Reads a control register.
    ///
    /// # Errors
    /// If it is not answered as it should.
    pub fn get(&mut self, register: u32) -> Result<u32, ControlError> {
        self.read_bar(register_in_bar(register)?, Place::Register(register))
    }

    /// Writes a word of the cluster's memory through the BAR.
    ///
    /// # Errors
    /// If the BAR does not reach it, or it is not answered as it should.
    pub fn write_cluster(&mut self, address: u32, value: u32) -> Result<(), ControlError> {
        let offset = in_bar(address).ok_or(ControlError::NoMemory(address))?;
        self.write_bar(offset, value, Place::Cluster(address))
    }

    /// The same without waiting for the answer, as processors do it: the write is under way when this returns. What comes after it
    /// through the BAR waits for it.
    ///
    /// # Errors
    /// If the BAR does not reach it, or one that was posted before was not answered as it should.
    pub fn post_cluster(&mut self, address: u32, value: u32) -> Result<(), ControlError> {
        let offset = in_bar(address).ok_or(ControlError::NoMemory(address))?;
        self.look_at_posted(Place::Cluster(address))?;
        self.bar.write(LiteWrite::new(offset.into(), value.into()));
        Ok(())
    }

    /// What became of writes that nobody waited for; the newest one was to that place.
    fn look_at_posted(&mut self, place: Place) -> Result<(), ControlError> {
        for done in self.bar.take_writes() {
            check("write", place, Some(done.response))?;
        }
        Ok(())
    }

    /// Reads a word of the cluster's memory through the BAR.
    ///
    /// # Errors
    /// If the BAR does not reach it, or it is not answered as it should.
    pub fn read_cluster(&mut self, address: u32) -> Result<u32, ControlError> {
        let offset = in_bar(address).ok_or(ControlError::NoMemory(address))?;
        self.read_bar(offset, Place::Cluster(address))
    }

    fn write_bar(&mut self, offset: u32, value: u32, place: Place) -> Result<(), ControlError> {
        self.settle()?;
        self.bar.write(LiteWrite::new(offset.into(), value.into()));
        self.wait_for_bar("write", place)?;
        let response = self.bar.take_writes().first().map(|done| done.response);
        check("write", place, response)
    }

    fn read_bar(&mut self, offset: u32, place: Place) -> Result<u32, ControlError> {
        self.settle()?;
        self.bar.read(LiteRead::new(offset.into()));
        self.wait_for_bar("read", place)?;
        let done = self.bar.take_reads().into_iter().next();
        check("read", place, done.as_ref().map(|done| done.response))?;
        Ok(done.map_or(0, |done| done.data as u32))
    }

    /// Waits for writes that were posted.
    fn settle(&mut self) -> Result<(), ControlError> {
        let place = Place::Cluster(HANDLER_BASE);
        self.wait_for_bar("a posted write", place)?;
        self.look_at_posted(place)
    }

    fn wait_for_bar(&mut self, action: &'static str, place: Place) -> Result<(), ControlError> {
        let period_ps = self.config.core_ps.max(self.config.cluster_ps);
        let deadline = self.now_ps() + ACCESS_CLOCKS * period_ps;
        while !self.bar.is_idle() {
            if self.now_ps() > deadline {
                return Err(ControlError::Access {
                    action,
                    place,
                    answer: "not answered",
                });
            }
            self.clock()?;
        }
        Ok(())
    }
}

/// Offset in the BAR of a word among the control registers.
fn register_in_bar(register: u32) -> Result<u32, ControlError> {
    bar::of_control_register(register)
        .filter(|offset| offset.is_multiple_of(4))
        .ok_or(ControlError::NoRegister(register))
}

/// Offset in the BAR of an address in the cluster.
fn in_bar(address: u32) -> Option<u32> {
    bar::WINDOWS.iter().find_map(|window| match window.target {
        bar::Target::Pspin { address: first } => {
            let offset = address.checked_sub(first)?;
            (offset < window.size_bytes).then_some(window.start + offset)
        }
        _ => None,
    })
}

fn check(action: &'static str, place: Place, response: Option<Response>) -> Result<(), ControlError> {
    let answer = match (response, place) {
        (Some(Response::Okay), _) => return Ok(()),
        (Some(Response::ExclusiveOkay), _) => "answered as an exclusive access (EXOKAY), which it is not",
        (Some(Response::SlaveError), Place::Register(_)) => {
            "answered with an error (SLVERR): there is no such register"
        }
        (Some(Response::SlaveError), Place::Cluster(_)) => {
            "answered with an error (SLVERR): the cluster is in reset, or has nothing there"
        }
        (Some(Response::DecodeError), _) => "answered with an error (DECERR): nothing is there",
        (None, _) => "not answered",
    };
    Err(ControlError::Access {
        action,
        place,
        answer,
    })
}

/// What is read where nobody answers.
const NOBODY: u32 = u32::MAX;
/// All bytes of a word.
const WHOLE: u8 = 0xf;

impl<B: ClusterBackend> Nic<B> {
    /// Reads the word at an offset in the BAR; all ones if it is not there, or does not answer.
    ///
    /// # Errors
    /// If the hardware breaks a rule of a bus.
    pub fn bus_read(&mut self, offset: u32) -> Result<u32, NicError> {
        // What is printed is read all the time, because HPUs wait for somebody who does.
        if decode(offset) == Destination::ControlRegister(cl::FIFO.offset) {
            if self.stdout.is_empty() && self.printed < self.backend.printed() {
                self.read_word()?;
            }
            return Ok(self.stdout.pop_front().unwrap_or(NO_WORD));
        }
        self.bar.read(LiteRead::new(offset.into()));
        self.finish_access()?;
        let done = self.bar.take_reads().into_iter().next();
        let answered = done.filter(|done| done.response == Response::Okay);
        Ok(answered.map_or(NOBODY, |done| done.data as u32))
    }

    /// Writes those bytes of a word of the BAR that have their bit in `strobes`, if it is there.
    ///
    /// # Errors
    /// As [`bus_read`](Self::bus_read).
    pub fn bus_write(&mut self, offset: u32, word: u32, strobes: u8) -> Result<(), NicError> {
        if let Destination::ControlRegister(register) = decode(offset) {
            self.note_write(register, word);
        }
        self.bar
            .write(LiteWrite::new(offset.into(), word.into()).strobed(strobes));
        self.finish_access()?;
        let done = self.bar.take_writes().into_iter().next();
        let is_done = done.is_some_and(|done| done.response == Response::Okay);
        if let (true, Destination::ControlRegister(register)) = (is_done, decode(offset)) {
            let word = if strobes == WHOLE {
                word
            } else {
                self.bus_read(offset)?
            };
            self.note_written(register, word);
        }
        Ok(())
    }

    /// The hardware answers every access, whatever becomes of the cluster.
    fn finish_access(&mut self) -> Result<(), NicError> {
        while !self.bar.is_idle() {
            self.clock()?;
        }
        Ok(())
    }
}

/// What became of resets.
#[derive(Clone, Debug, Default)]
pub(super) struct Resets {
    /// Those of the NIC or its cluster that found something on its way.
    count: u64,
    /// One of them was of the NIC: what was counted while its counters were read is not known.
    has_restarted: bool,
    /// What counters had counted when the NIC was reset, by their offsets.
    counted: BTreeMap<u32, u64>,
}

impl<B: ClusterBackend> Nic<B> {
    /// Resets of the NIC, or of its cluster alone, that found something on its way: it is lost.
    pub fn resets(&self) -> u64 {
        self.resets.count
    }

    /// Whether the hardware's counters began anew in the middle of something, so that some of what they counted is not known.
    pub fn has_restarted(&self) -> bool {
        self.resets.has_restarted
    }

    /// What a counter had counted before resets of the NIC made it 0.
    pub fn counted_before_resets(&self, counter: u32) -> u64 {
        self.resets.counted.get(&counter).copied().unwrap_or(0)
    }

    /// The NIC or its cluster is about to be reset: whether something is on its way.
    pub(super) fn note_reset(&mut self) -> bool {
        let is_cut = !self.is_idle() || self.backend.holds_packets();
        self.resets.count += u64::from(is_cut);
        is_cut
    }

    /// The NIC is about to be reset, and its counters with it. What the hardware does not answer any more is not known.
    pub(super) fn note_restart(&mut self) {
        self.resets.has_restarted |= self.note_reset();
        for word in datapath_counters().filter(|word| !is_level(word.register)) {
            let counter = word.offset();
            if let Ok(value) = self.get(counter) {
                *self.resets.counted.entry(counter).or_default() += u64::from(value);
            }
        }
    }
}

/// Whether a register says how full something is, or was at most, and counts nothing.
fn is_level(register: &Register) -> bool {
    register.name.ends_with("_used") || register.name.ends_with("_peak")
}

/// Clocks in which the statistics look at every counter, so that an error is told: 8 for a look, and its report.
const LOOK_CLOCKS: u64 = 10 * COUNTER_WORDS as u64;

/// Messages that have come, and until when the hardware may still send some.
#[derive(Debug)]
pub(super) struct Messages {
    /// A design around the application may have no port for them.
    sink: Option<ChannelSink>,
    lines: VecDeque<u32>,
    /// What software has written to `events.enable` and `events.moderation`.
    enable: u32,
    moderation: u32,
    /// Clock of the core in which something else moved last.
    moved: u64,
}

impl Messages {
    /// Those that come out of there.
    pub(super) fn new(sink: Option<ChannelSink>) -> Self {
        Self {
            sink,
            lines: VecDeque::new(),
            enable: 0,
            moderation: 0,
            moved: 0,
        }
    }

    /// Everything is forgotten, as it is by the hardware.
    pub(super) fn reset(&mut self) {
        self.lines.clear();
        [self.enable, self.moderation] = [0; 2];
    }

    /// Software has written a register.
    pub(super) fn written(&mut self, register: u32, value: u32) {
        match register {
            register if register == events::ENABLE.offset => self.enable = value,
            register if register == events::MODERATION.offset => self.moderation = value,
            _ => {}
        }
    }

    /// Whether somebody wants any.
    pub(super) fn are_wanted(&self) -> bool {
        self.sink.is_some() && self.enable & events::ENABLE.bits.mask(0) != 0
    }

    /// Something else moves in this clock.
    pub(super) fn moved(&mut self, clock: u64) {
        self.moved = clock;
    }

    /// Whether none can come any more by itself.
    pub(super) fn are_over(&self, clock: u64) -> bool {
        let longest = LOOK_CLOCKS + u64::from(self.moderation & events::MODERATION.bits.mask(0));
        !self.are_wanted() || clock - self.moved > longest
    }

    /// Takes those that came out.
    pub(super) fn collect(&mut self) {
        let items = self.sink.iter().flat_map(ChannelSink::receive_all);
        self.lines.extend(items.map(|item| item.values[0] as u32));
    }
}

impl<B: ClusterBackend> Nic<B> {
    /// The next line of `events.pending` that a message has come of. That of standard output is held back until its words can be
    /// read, as the simulation fetches them itself.
    pub fn take_message(&mut self) -> Option<u32> {
        let line = *self.messages.lines.front()?;
        let is_early = line == events::STDOUT_LINE && self.stdout.is_empty();
        if is_early && self.printed < self.backend.printed() {
            return None;
        }
        self.messages.lines.pop_front()
    }
}

/// The matching engine and the contexts, as their registers say.
#[derive(Debug)]
pub(super) struct Route {
    registers: Registers,
    matcher: ReferenceMatcher,
    /// The handler of each context, or of context 0 in place of one that is disabled.
    handlers: Vec<Option<u32>>,
}

impl Route {
    pub(super) fn new() -> Self {
        Self {
            registers: Registers::new(Variant::Extended),
            matcher: ReferenceMatcher::new(&MatcherParams::BOARD).expect("boards have such a matcher"),
            handlers: Vec::new(),
        }
    }

    /// Software has written a register.
    pub(super) fn written(&mut self, register: u32, value: u32) {
        self.registers.write(register, value, WHOLE);
        let is_valid = value & 1 == 1;
        if register == me::VALID.offset {
            self.matcher.latch(is_valid.then(|| self.table()));
        } else if register == her::VALID.offset && is_valid {
            self.handlers = (0..CONTEXTS).map(|context| self.serving(context)).collect();
        }
    }

    /// The handler that a frame is for, if it matches.
    pub(super) fn of(&self, frame: &[u8]) -> Option<u32> {
        match self.matcher.classify(frame) {
            MatchResult::Matched { ruleset, .. } => *self.handlers.get(usize::from(ruleset))?,
            MatchResult::Bypass => None,
        }
    }

    fn table(&self) -> RuleTable {
        let rulesets = (0..RULESETS).map(|ruleset| self.ruleset(ruleset)).collect();
        RuleTable::new(&MatcherParams::BOARD, rulesets).expect("registers hold no more than there is")
    }

    fn ruleset(&self, ruleset: u32) -> Ruleset {
        let rule = |place| {
            let value = |register: fn(u32, u32) -> Option<u32>| self.value(register(ruleset, place));
            RuleRegisters {
                idx: value(me::idx),
                mask: value(me::mask),
                start: value(me::start),
                end: value(me::end),
                relative: value(me::relative),
            }
            .to_rule()
        };
        // The last rule of a ruleset tells the last packet of a message.
        let last = RULES_PER_RULESET - 1;
        Ruleset {
            join: Join::of_bit(self.value(me::mode(ruleset))),
            rules: (0..last).map(rule).collect(),
            end_of_message: rule(last),
        }
    }

    fn serving(&self, context: u32) -> Option<u32> {
        let is_enabled = |context: &u32| self.value(her::ctx_enabled(*context)) & 1 == 1;
        let context = [context, 0].into_iter().find(is_enabled)?;
        self.handler(context)
    }

    fn handler(&self, context: u32) -> Option<u32> {
        let value = |field: &str| self.value(her_meta::offset(field, context));
        let code = |[address, size]: [&str; 2]| Code {
            address: value(address),
            size: value(size),
        };
        main_handler(
            [
                ["hh_addr", "hh_size"],
                ["ph_addr", "ph_size"],
                ["th_addr", "th_size"],
            ]
            .map(code),
        )
    }

    /// What a register holds; one that is not there holds nothing.
    fn value(&self, offset: Option<u32>) -> u32 {
        offset
            .and_then(|offset| self.registers.value(offset))
            .unwrap_or(0)
    }
}
