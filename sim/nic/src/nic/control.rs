//! Accesses of software to the NIC: registers and memory through the BAR, accesses of a host's bus, which are always answered,
//! and resets during operation, which lose packets and clear the counters.

use super::{NO_WORD, Nic, NicError};
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

/// Maximum duration of an access, in clocks of the slower of the two clock domains (core and cluster).
const ACCESS_CLOCKS: u64 = 2500;

/// Errors of accesses.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The hardware failed.
    #[error(transparent)]
    Nic(#[from] NicError),
    /// An access was answered with an error, or too late.
    #[error("{action} of {place} was {answer}")]
    Access {
        /// Read or write.
        action: &'static str,
        /// The target.
        place: Place,
        /// The response.
        answer: &'static str,
    },
    /// There is no control register.
    #[error("there is no control register at {0:#06x}")]
    NoRegister(u32),
    /// An address of the cluster is outside of the BAR.
    #[error("the BAR does not reach {0:#010x} in the cluster")]
    NoMemory(u32),
}

/// Target of an access.
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

impl Nic {
    /// Writes a control register.
    ///
    /// # Errors
    /// If the access fails.
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

    /// The address of the handler of a frame that matches: the payload handler, or else the header or tail handler.
    pub fn matching_handler(&self, frame: &[u8]) -> Option<u32> {
        self.route.of(frame)
    }

    /// Reads a control register.
    ///
    /// # Errors
    /// If the access fails.
    pub fn get(&mut self, register: u32) -> Result<u32, ControlError> {
        self.read_bar(register_in_bar(register)?, Place::Register(register))
    }

    /// Writes a word of the cluster's memory through the BAR.
    ///
    /// # Errors
    /// If the address is outside of the BAR, or the access fails.
    pub fn write_cluster(&mut self, address: u32, value: u32) -> Result<(), ControlError> {
        let offset = in_bar(address).ok_or(ControlError::NoMemory(address))?;
        self.write_bar(offset, value, Place::Cluster(address))
    }

    /// A posted write, as processors do it: this returns before the write is complete. Later accesses
    /// through the BAR wait for it.
    ///
    /// # Errors
    /// If the address is outside of the BAR, or an earlier posted write failed.
    pub fn post_cluster(&mut self, address: u32, value: u32) -> Result<(), ControlError> {
        let offset = in_bar(address).ok_or(ControlError::NoMemory(address))?;
        self.look_at_posted(Place::Cluster(address))?;
        self.bar.write(LiteWrite::new(offset.into(), value.into()));
        Ok(())
    }

    /// The result of posted writes; `target` is that of the newest one.
    fn look_at_posted(&mut self, place: Place) -> Result<(), ControlError> {
        for done in self.bar.take_writes() {
            check("write", place, Some(done.response))?;
        }
        Ok(())
    }

    /// Reads a word of the cluster's memory through the BAR.
    ///
    /// # Errors
    /// If the address is outside of the BAR, or the access fails.
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

    /// Waits for posted writes.
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

/// Value of a read that is not answered.
const NOBODY: u32 = u32::MAX;
/// All bytes of a word.
const WHOLE: u8 = 0xf;

impl Nic {
    /// Reads the word at an offset in the BAR; all ones if it is not there, or does not answer.
    ///
    /// # Errors
    /// If the hardware breaks a rule of a bus.
    pub fn bus_read(&mut self, offset: u32) -> Result<u32, NicError> {
        // The simulation reads standard output automatically, because HPUs wait while the FIFO is full.
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

    /// Writes the bytes of a word of the BAR that `strobes` selects, if the word exists.
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

    /// The hardware answers every access, even if the cluster is reset.
    fn finish_access(&mut self) -> Result<(), NicError> {
        while !self.bar.is_idle() {
            self.clock()?;
        }
        Ok(())
    }
}

/// Resets, and what they lost.
#[derive(Clone, Debug, Default)]
pub(super) struct Resets {
    /// Resets of the NIC or its cluster while packets were in flight.
    count: u64,
    /// One of them was of the NIC: counts during the read of its counters are unknown.
    has_restarted: bool,
    /// Values of counters at the reset of the NIC, by offset.
    counted: BTreeMap<u32, u64>,
}

impl Nic {
    /// Resets of the NIC, or of its cluster alone, that lost packets in flight.
    pub fn resets(&self) -> u64 {
        self.resets.count
    }

    /// Whether a reset cleared the hardware's counters while packets were in flight, so that some counts are unknown.
    pub fn has_restarted(&self) -> bool {
        self.resets.has_restarted
    }

    /// The value of a counter before resets of the NIC.
    pub fn counted_before_resets(&self, counter: u32) -> u64 {
        self.resets.counted.get(&counter).copied().unwrap_or(0)
    }

    /// The NIC or its cluster is about to be reset: whether packets are in flight.
    pub(super) fn note_reset(&mut self) -> bool {
        let is_cut = !self.is_idle() || self.backend.packets_inside() != [0; 2];
        self.resets.count += u64::from(is_cut);
        is_cut
    }

    /// Saves the counters before a reset of the NIC. Reads that are not answered any more are unknown.
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

/// Whether a register is a fill level or its maximum, and no counter.
fn is_level(register: &Register) -> bool {
    register.name.ends_with("_used") || register.name.ends_with("_peak")
}

/// Clocks in which the statistics check each counter, so that an error is reported: 8 for a check, and its report.
const LOOK_CLOCKS: u64 = 10 * COUNTER_WORDS as u64;

/// Interrupt messages, and until when the hardware may send more.
#[derive(Debug)]
pub(super) struct Messages {
    /// A design around the application may have no port for them.
    sink: Option<ChannelSink>,
    lines: VecDeque<u32>,
    /// Values of `events.enable` and `events.moderation`.
    enable: u32,
    moderation: u32,
    /// Clock of the core of the last other activity.
    moved: u64,
}

impl Messages {
    /// The messages of that port.
    pub(super) fn new(sink: Option<ChannelSink>) -> Self {
        Self {
            sink,
            lines: VecDeque::new(),
            enable: 0,
            moderation: 0,
            moved: 0,
        }
    }

    /// Clears everything, as the hardware does.
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

    /// Whether any event is enabled.
    pub(super) fn are_wanted(&self) -> bool {
        self.sink.is_some() && self.enable & events::ENABLE.bits.mask(0) != 0
    }

    /// Notes other activity in this clock.
    pub(super) fn moved(&mut self, clock: u64) {
        self.moved = clock;
    }

    /// Whether no message can follow without other activity.
    pub(super) fn are_over(&self, clock: u64) -> bool {
        let longest = LOOK_CLOCKS + u64::from(self.moderation & events::MODERATION.bits.mask(0));
        !self.are_wanted() || clock - self.moved > longest
    }

    /// Takes the messages that left the hardware.
    pub(super) fn collect(&mut self) {
        let items = self.sink.iter().flat_map(ChannelSink::receive_all);
        self.lines.extend(items.map(|item| item.values[0] as u32));
    }
}

impl Nic {
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

/// The matching engine and the contexts, as configured by their registers.
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

    /// The handler of a frame that matches.
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

    /// The value of a register, if it exists.
    fn value(&self, offset: Option<u32>) -> u32 {
        offset
            .and_then(|offset| self.registers.value(offset))
            .unwrap_or(0)
    }
}
