//! The reference model, the monitor of other outputs, and commands.

use super::config::{LineResponses, PIECE, Setup};
use crate::reference::Pins;
use spinneret_sim::prelude::*;
use std::collections::VecDeque;

crate::counts! {
    /// Commands by what became of them.
    pub struct Outcome {
        /// Frames that were sent.
        pub sent: u64,
        /// Frames that were passed to the host.
        pub passed: u64,
        /// Commands whose read failed.
        pub read_errors: u64,
        /// Commands that were refused.
        pub refused: u64,
    }
}

impl Outcome {
    /// All values.
    pub fn commands(&self) -> u64 {
        self.sent + self.passed + self.read_errors + self.refused
    }
}

/// A command that is not over.
#[derive(Debug)]
struct Pending {
    command: Command,
    /// Side band of a frame that is passed.
    side: Option<Side>,
    /// The first failure so far.
    fault: Option<Fault>,
    /// Bursts that were not seen yet.
    bursts: VecDeque<(u64, u64)>,
    /// Lines of all commands up to this one.
    lines: u64,
    bytes: Vec<u8>,
    answered: bool,
    sent: bool,
}

impl Pending {
    fn is_over(&self) -> bool {
        self.answered && (self.sent || self.fault.is_some())
    }
}

/// The egress path in plain Rust.
#[derive(Debug)]
pub(super) struct Reference {
    setup: Setup,
    pending: VecDeque<Pending>,
    /// Lines of all commands since the reset.
    lines: u64,
    last_error: u64,
    pub(super) outcome: Outcome,
}

impl Reference {
    pub(super) fn new(setup: Setup) -> Self {
        Self {
            setup,
            pending: VecDeque::new(),
            lines: 0,
            last_error: 0,
            outcome: Outcome::default(),
        }
    }

    /// Resets the state.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.setup);
    }

    /// A reset of the cluster takes all commands that are not over; their number.
    pub(super) fn lose(&mut self) -> u64 {
        self.lines = 0;
        self.pending.drain(..).count() as u64
    }

    /// Commands that are not over.
    pub(super) fn under_way(&self) -> usize {
        self.pending.len()
    }

    /// A command is on its way; its bytes are those of the memory.
    pub(super) fn send(&mut self, command: Command, side: Option<Side>, memory: &Memory) {
        let fault = command.refusal(&self.setup);
        let mut pending = Pending {
            command,
            side,
            fault,
            bursts: VecDeque::new(),
            lines: self.lines,
            bytes: Vec::new(),
            answered: false,
            sent: false,
        };
        if fault.is_none() {
            let Command { source, length, .. } = command;
            pending.bursts = self.setup.bursts(source, length).into();
            self.lines += self.setup.lines(source, length);
            pending.lines = self.lines;
            let bytes = memory.read(source, length as usize).into_iter();
            let byte = |byte: Option<u8>| byte.unwrap_or_else(|| panic!("{command:x?} has no bytes"));
            pending.bytes = bytes.map(byte).collect();
        }
        self.pending.push_back(pending);
    }

    /// Records a read whose lines were checked.
    pub(super) fn read(&mut self, read: &SlaveBurst, responses: &LineResponses) -> Result<(), String> {
        let seen = read.burst;
        let mut waiting = self
            .pending
            .iter_mut()
            .filter(|pending| !pending.bursts.is_empty());
        let Some(pending) = waiting.next() else {
            return Err(format!("{seen:x?} reads what no command names"));
        };
        let wanted = pending.bursts.pop_front().unwrap_or_default();
        let sound = seen.size == self.setup.beat && seen.kind == BurstKind::Incrementing && seen.id == 0;
        if (seen.address, seen.beats) != wanted || !sound {
            return Err(format!(
                "{seen:x?} instead of {wanted:x?} for {:x?}",
                pending.command
            ));
        }
        for _ in 0..seen.beats {
            let response = responses.take().ok_or("a line was not judged")?;
            pending.fault = pending.fault.or(Fault::of_response(response));
        }
        Ok(())
    }

    /// A cycle: whether the last error was cleared in the one before, what is answered now, the lines that
    /// were read since the reset, and what is shown as last error.
    pub(super) fn step(
        &mut self,
        cleared: bool,
        answer: Option<u64>,
        lines: u64,
        shown_error: u64,
    ) -> Result<(), String> {
        if cleared {
            self.last_error = 0;
        }
        if let Some(id) = answer {
            self.answer(id, lines)?;
        }
        if shown_error != self.last_error {
            return Err(format!(
                "the last error is {shown_error}, not {}",
                self.last_error
            ));
        }
        self.forget();
        Ok(())
    }

    fn answer(&mut self, id: u64, lines: u64) -> Result<(), String> {
        let next = self.pending.iter_mut().find(|pending| !pending.answered);
        let Some(pending) = next else {
            return Err(format!("there is an answer for id {id}, and no command waits"));
        };
        let command = pending.command;
        if command.id != id {
            return Err(format!("there is an answer for id {id} instead of {command:x?}"));
        }
        if !pending.bursts.is_empty() || lines < pending.lines {
            return Err(format!("{command:x?} is answered before its last line has come"));
        }
        pending.answered = true;
        if let Some(fault) = pending.fault {
            self.last_error = fault.code();
            if fault.is_refusal() {
                self.outcome.refused += 1;
            } else {
                self.outcome.read_errors += 1;
            }
        }
        Ok(())
    }

    /// A frame came out.
    pub(super) fn frame(&mut self, frame: &Frame, to_host: bool) -> Result<(), String> {
        let mut next = self
            .pending
            .iter_mut()
            .filter(|pending| pending.fault.is_none() && !pending.sent);
        let Some(pending) = next.next() else {
            return Err(format!(
                "a frame of {} bytes comes of no command",
                frame.bytes.len()
            ));
        };
        let command = pending.command;
        if !pending.bursts.is_empty() {
            return Err(format!("a frame comes before {command:x?} was read"));
        }
        let wrong = frame.bytes.iter().zip(&pending.bytes).position(|(a, b)| a != b);
        if frame.bytes.len() != pending.bytes.len() || wrong.is_some() {
            return Err(format!(
                "the frame of {command:x?} has {} bytes and differs at {wrong:?}",
                frame.bytes.len()
            ));
        }
        if to_host != pending.side.is_some() {
            return Err(format!("the frame of {command:x?} goes the wrong way"));
        }
        let wanted = pending.side.map_or((0, 0, self.setup.tx_user), Side::signals);
        if (frame.id, frame.dest, frame.user) != wanted || frame.null_last {
            return Err(format!(
                "the frame of {command:x?} has a wrong side band: {wanted:x?}"
            ));
        }
        pending.sent = true;
        if to_host {
            self.outcome.passed += 1;
        } else {
            self.outcome.sent += 1;
        }
        self.forget();
        Ok(())
    }

    /// Forgets what is over.
    fn forget(&mut self) {
        while self.pending.front().is_some_and(Pending::is_over) {
            self.pending.pop_front();
        }
    }
}

/// Outputs in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    /// The cycle.
    pub(super) cycle: u64,
    /// Id of the command that is answered, if one is.
    pub(super) answer: Option<u64>,
    /// Code of the newest error.
    pub(super) last_error: u64,
}

/// Looks at answers and errors, and checks that nothing is written and lines are always taken.
#[derive(Debug, Default)]
pub(super) struct OutputMonitor {
    /// Outputs in the last cycle.
    pub(super) shown: Shown,
}

impl crate::reference::Reference for OutputMonitor {
    fn check(&self, pins: Pins<'_>) -> Result<(), String> {
        pins.expect("m_axi_pspin_no_awvalid", false)?;
        pins.expect("m_axi_pspin_no_wvalid", false)?;
        pins.expect("m_axi_pspin_no_rready", true)
    }

    fn check_reset(&self, pins: Pins<'_>) -> Result<(), String> {
        pins.expect("nic_cmd_resp_valid", false)?;
        pins.expect("egress_dma_last_error", 0_u64)?;
        self.check(pins)
    }

    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        self.shown = Shown {
            cycle: pins.cycle(),
            answer: pins
                .high("nic_cmd_resp_valid")
                .then(|| pins.value("nic_cmd_resp_id")),
            last_error: pins.value("egress_dma_last_error"),
        };
        Ok(())
    }

    fn reset(&mut self) {}

    fn inside(&self) -> usize {
        0
    }
}

/// A command to send a range of memory as a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Its id, which the answer repeats.
    pub id: u64,
    /// Address of the first byte.
    pub source: u64,
    /// Number of bytes.
    pub length: u64,
    /// Where its frame goes.
    pub way: Way,
}

/// Where the frame of a command goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the wire.
    Wire,
    /// To the host, with the side band of a packet.
    Host,
    /// To the host, but no slot starts at this address.
    NoSlot(u32),
}

/// The side band of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// tid.
    pub id: u64,
    /// tdest.
    pub dest: u64,
    /// tuser without its error bit.
    pub user: u128,
}

impl Side {
    /// A random one with these widths of tid, tdest, and of tuser without its error bit.
    pub fn random(rng: &mut ChaCha8Rng, widths: [u32; 3]) -> Self {
        let [id, dest, user] = widths.map(|width| rng.random::<u128>() >> (128 - width));
        Self {
            id: id as u64,
            dest: dest as u64,
            user,
        }
    }

    /// As the path takes it: {tuser, tdest, tid}.
    pub fn packed(self, [id, dest, _]: [u32; 3]) -> u128 {
        self.user << (id + dest) | u128::from(self.dest) << id | u128::from(self.id)
    }

    /// tid, tdest and tuser of the frame.
    fn signals(self) -> (u64, u64, u128) {
        (self.id, self.dest, self.user << 1)
    }
}

/// Why a command fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A line was answered with SLVERR, before any with DECERR.
    SlaveError,
    /// A line was answered with DECERR, before any with SLVERR.
    DecodeError,
    /// Nothing, or more than the longest frame.
    Length,
    /// The memory is not all within the address space.
    Address,
}

impl Fault {
    /// Returns the value of `egress_dma_last_error`.
    pub fn code(self) -> u64 {
        match self {
            Self::SlaveError => 4,
            Self::DecodeError => 5,
            Self::Length => 12,
            Self::Address => 13,
        }
    }

    /// Returns whether the command is refused before any read.
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::Length | Self::Address)
    }

    /// Converts an error response to a fault.
    pub fn of_response(response: Response) -> Option<Self> {
        match response {
            Response::Okay => None,
            Response::DecodeError => Some(Self::DecodeError),
            Response::ExclusiveOkay | Response::SlaveError => Some(Self::SlaveError),
        }
    }
}

impl Command {
    /// Returns why the command is refused, if it is.
    pub fn refusal(&self, setup: &Setup) -> Option<Fault> {
        if self.length == 0 || self.length > setup.max_frame {
            return Some(Fault::Length);
        }
        if matches!(self.way, Way::NoSlot(_)) {
            return Some(Fault::Address);
        }
        let end = u128::from(self.source) + u128::from(self.length);
        (end > u128::from(setup.address_end())).then_some(Fault::Address)
    }
}

/// Bytes beyond the longest frame that random lengths reach.
const BEYOND: u64 = 100;

/// A random command: mostly for small frames, at any place of a line, some at the borders of 4 KiB and of the
/// address space; few that have to be refused. The pieces are where memory has contents.
pub fn random_command(rng: &mut ChaCha8Rng, setup: &Setup, pieces: &[u64]) -> Command {
    let length = random_length(rng, setup);
    let piece = pieces[rng.random_range(0..pieces.len())];
    let free = PIECE - length.min(PIECE);
    let mut offset = rng.random_range(0..=free);
    match rng.random_range(0..20) {
        // Around a border of 4 KiB.
        0..5 => {
            let border = 4096 * rng.random_range(1..PIECE / 4096);
            offset = (border - rng.random_range(0..=length.clamp(1, border))).min(free);
        }
        5..8 => offset -= offset % setup.beat,
        // Up to the end of the piece, which for one of them is that of the address space.
        8 => offset = free,
        _ => {}
    }
    let mut source = piece + offset;
    match rng.random_range(0..100) {
        // Beyond the highest address: by a part of the frame, or by a bit that the port does not have.
        0..2 => source = setup.address_end() - rng.random_range(0..length.max(1)),
        2..4 if setup.source_bits > setup.address_bits => {
            source |= 1 << rng.random_range(setup.address_bits..setup.source_bits);
        }
        _ => {}
    }
    Command {
        id: rng.random_range(0..setup.ids),
        source: source.min(setup.highest_source()),
        length,
        way: random_way(rng, setup),
    }
}

fn random_way(rng: &mut ChaCha8Rng, setup: &Setup) -> Way {
    let Some(slots) = setup.slots else {
        return Way::Wire;
    };
    match rng.random_range(0..100) {
        0..50 => Way::Wire,
        50..98 => Way::Host,
        _ => {
            let address = match rng.random_range(0..3) {
                0 => rng.random_range(slots.base..slots.base + slots.size),
                1 => slots.base - slots.unit,
                _ => slots.base + slots.size,
            };
            if slots.has(address) {
                Way::Host
            } else {
                Way::NoSlot(address as u32)
            }
        }
    }
}

fn random_length(rng: &mut ChaCha8Rng, setup: &Setup) -> u64 {
    let most = setup.max_frame;
    match rng.random_range(0..200) {
        0..4 => 0,
        4..7 => rng.random_range(most + 1..=most + BEYOND),
        7 => rng.random_range(most + 1..setup.address_end()),
        8..10 => most,
        10..16 => rng.random_range(1..=most),
        16..40 => rng.random_range(1400..=1536.min(most).max(1400)).min(most),
        40..80 => setup.beat * rng.random_range(1..=4),
        80..120 => rng.random_range(1..=setup.beat),
        _ => rng.random_range(1..=300),
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, Fault, Way};
    use crate::egress::Setup;
    use spinneret_models::PspinEgressDatapath;

    #[test]
    fn commands_at_the_border_of_what_is_possible() {
        let setup = Setup::of::<PspinEgressDatapath>();
        let refusal = |source, length| {
            Command {
                id: 0,
                source,
                length,
                way: Way::Wire,
            }
            .refusal(&setup)
        };
        assert_eq!(refusal(0, 9600), None);
        assert_eq!(refusal(0, 9601), Some(Fault::Length));
        assert_eq!(refusal(u64::MAX, 0), Some(Fault::Length));
        assert_eq!(refusal(0xffff_ffff, 1), None);
        assert_eq!(refusal(0xffff_ffff, 2), Some(Fault::Address));
        assert_eq!(refusal(1 << 32, 1), Some(Fault::Address));
    }
}
