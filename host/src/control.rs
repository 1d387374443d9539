//! Register sequences that start the cluster, contexts and rules, and the allocation of the cluster's memory.

use crate::device::{Area, Device, DeviceError};
use crate::error::ErrorKind;
use spinneret_program::{Code, Program};
use spinneret_regmap::pspin::{HANDLER_BASE, HANDLER_BYTES, L1_BYTES, L1_SCRATCHPADS, SHARED_SCRATCHPAD};
use spinneret_regmap::{
    CONTEXTS, RULES_PER_RULESET, caps, cl, events, find, guard, her, her_meta, ingress, me, slots,
};
use spinneret_rules::Ruleset;
use std::time::Duration;

/// Number of polls before a state change times out.
const LOOKS: usize = 10_000;
/// Polling interval.
const LOOK: Duration = Duration::from_micros(1);
/// Time to initialise the packet slots after the cluster leaves reset: 1027 clocks of the core.
const SLOTS: Duration = Duration::from_micros(10);
/// Start-up time of a program that does not report when it is ready.
const BOOT: Duration = Duration::from_millis(1);
/// Maximum start-up time of a program that reports when it is ready.
const START: Duration = Duration::from_millis(100);
/// The variable in which it reports, and its values: runtime/src/start.c.
const STATE: &str = "__spin_state";
const STARTING: u32 = 1;
const READY: u32 = 2;
const FAILED: u32 = 3;
/// The polling interval during start-up is this fraction of the time waited so far.
const START_PATIENCE: u32 = 16;
/// Number of polls for which closing a context waits for its packets.
const DRAIN_LOOKS: u32 = 1000;
/// States of the cluster: its clock runs (bit 0), it is in reset (bit 1).
const RUNNING: u32 = 1;
const IN_RESET: u32 = 3;

/// Handlers and memory of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memories {
    pub(crate) handlers: [Code; 3],
    pub(crate) handler: Part,
    pub(crate) scratchpad: Part,
    pub(crate) host: Area,
    /// Shared data of the program; without bytes, that of the only one.
    pub(crate) shared: Part,
}

/// Whether packets of other contexts match while rules change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matching {
    /// No packet matches meanwhile: all rules change at once.
    Stops,
    /// They do.
    GoesOn,
}

/// Registers of a device, by the offsets of the table.
pub(crate) struct Control<'d, D: Device>(pub(crate) &'d mut D);

impl<D: Device> Control<'_, D> {
    pub(crate) fn get(&mut self, register: u32) -> Result<u32, ErrorKind> {
        self.0
            .read_register(register)
            .map_err(|source| failed("read", register, source))
    }

    pub(crate) fn set(&mut self, register: u32, value: u32) -> Result<(), ErrorKind> {
        self.0
            .write_register(register, value)
            .map_err(|source| failed("write", register, source))
    }

    /// Writes a register that FPsPIN does not have, if the device gives access to it.
    fn set_ours(&mut self, register: u32, value: u32) -> Result<(), ErrorKind> {
        match self.0.has_register(register) {
            true => self.set(register, value),
            false => Ok(()),
        }
    }

    fn wait_for(&mut self, what: &'static str, register: u32, wanted: u32) -> Result<(), ErrorKind> {
        if !self.0.has_register(register) {
            return Ok(());
        }
        let mut value = 0;
        for _ in 0..LOOKS {
            value = self.get(register)?;
            if value == wanted {
                return Ok(());
            }
            self.0.wait(LOOK)?;
        }
        Err(ErrorKind::State {
            what,
            register: name(register),
            value,
        })
    }

    /// Checks that the device is a spinneret NIC, and removes rules, contexts and program.
    pub(crate) fn take(&mut self) -> Result<(), ErrorKind> {
        if self.0.has_register(caps::MAGIC.offset) {
            self.wait_for(
                "the magic number of spinneret",
                caps::MAGIC.offset,
                caps::MAGIC_VALUE,
            )?;
        }
        self.listen()?;
        self.set(me::VALID.offset, 0)?;
        self.stop()?;
        self.set(her::VALID.offset, 0)?;
        for context in 0..CONTEXTS {
            self.set_ruleset(context, None)?;
            self.set(there(her::ctx_enabled(context))?, 0)?;
            self.set_ours(there(guard::enabled(context))?, 0)?;
            self.set_ours(there(slots::BOUND.address(context))?, 0)?;
        }
        self.set_ours(guard::ENFORCE.offset, 1)?;
        let tells_contexts = u32::from(self.0.tells_contexts());
        self.set_ours(guard::BY_CONTEXT.offset, tells_contexts)?;
        self.set(her::VALID.offset, 1)?;
        self.set(me::VALID.offset, 1)
    }

    /// Enables events, if the device supports them.
    fn listen(&mut self) -> Result<(), ErrorKind> {
        if !self.0.has_events() {
            return Ok(());
        }
        let all = events::PENDING.bits.mask(0);
        self.set(events::MODERATION.offset, 0)?;
        self.set(events::PENDING.offset, all)?;
        self.set(events::ENABLE.offset, all)
    }

    /// Waits for an event, up to a limit. Later events are reported again, so a check after this call misses none.
    pub(crate) fn wait_event(&mut self, limit: Duration) -> Result<(), ErrorKind> {
        match self.0.wait_event(limit)? {
            0 => Ok(()),
            lines => self.set(events::PENDING.offset, lines),
        }
    }

    /// Holds the cluster in reset.
    pub(crate) fn stop(&mut self) -> Result<(), ErrorKind> {
        self.set(cl::FETCH_ENABLE, 0)?;
        self.set(cl::AUX_RESET, 1)?;
        self.wait_for("the reset of the cluster", cl::STATUS.offset, IN_RESET)
    }

    /// Starts a program on the cluster, which was in reset.
    pub(crate) fn start(&mut self, program: &Program) -> Result<(), ErrorKind> {
        self.boot(program, |_| Ok(()))?;
        match program.variables.get(STATE) {
            Some(state) => self.wait_until_ready(program, state.address),
            None => Ok(self.0.wait(BOOT)?),
        }
    }

    /// Loads a program into the cluster, which was in reset, prepares its memory, and lets HPUs fetch instructions.
    pub(crate) fn boot(
        &mut self,
        program: &Program,
        prepare: impl FnOnce(&mut D) -> Result<(), DeviceError>,
    ) -> Result<(), ErrorKind> {
        self.set(cl::AUX_RESET, 0)?;
        self.wait_for("the start of the cluster", cl::STATUS.offset, RUNNING)?;
        self.0.wait(SLOTS)?;
        self.0.load(program)?;
        prepare(self.0)?;
        let [clusters, _] = self.0.shape();
        self.set(cl::FETCH_ENABLE, (1 << clusters) - 1)
    }

    /// Waits until the runtime of a program reports that it is ready for packets; if it does not, stops the cluster.
    pub(crate) fn wait_until_ready(&mut self, program: &Program, state: u32) -> Result<(), ErrorKind> {
        self.poll_state(program, state).inspect_err(|_| {
            // Restore the state before; the error that matters is why the program did not start.
            let _ = self.stop();
        })
    }

    fn poll_state(&mut self, program: &Program, state: u32) -> Result<(), ErrorKind> {
        let begun = self.0.now();
        loop {
            // Back off during a long start-up.
            let waited = self.0.now().saturating_sub(begun);
            self.0.wait(SLOTS.max(waited / START_PATIENCE))?;
            let mut word = [0; 4];
            self.0.read_cluster(state, &mut word)?;
            let why = match u32::from_le_bytes(word) {
                READY => return Ok(()),
                STARTING if waited < START => continue,
                STARTING => format!("its `init_handlers` has not returned after {START:?}"),
                FAILED => "its `init_handlers` faulted, and printed where".to_owned(),
                other => format!("the runtime left {other:#x} in `{STATE}` at {state:#010x}"),
            };
            let program = program.path().display().to_string();
            return Err(ErrorKind::NoStart { program, why });
        }
    }

    /// Opens a context, or closes it.
    fn set_context(&mut self, number: u32, memories: Option<&Memories>) -> Result<(), ErrorKind> {
        self.set(her::VALID.offset, 0)?;
        if let Some(memories) = memories {
            self.set_memories(number, memories)?;
            self.set_window(number, memories.host)?;
        }
        let is_open = u32::from(memories.is_some());
        self.set(there(her::ctx_enabled(number))?, is_open)?;
        let has_host_memory = memories.is_some_and(|memories| memories.host.bytes > 0);
        self.set_ours(there(guard::enabled(number))?, u32::from(has_host_memory))?;
        self.set(her::VALID.offset, 1)
    }

    fn set_memories(&mut self, number: u32, memories: &Memories) -> Result<(), ErrorKind> {
        let [header, payload, tail] = memories.handlers;
        let host = memories.host;
        let fields = [
            ("handler_mem_addr", memories.handler.start),
            ("handler_mem_size", memories.handler.bytes),
            ("host_mem_addr_0", host.address as u32),
            ("host_mem_addr_1", (host.address >> 32) as u32),
            ("host_mem_size", host.bytes),
            ("hh_addr", header.address),
            ("hh_size", header.size),
            ("ph_addr", payload.address),
            ("ph_size", payload.size),
            ("th_addr", tail.address),
            ("th_size", tail.size),
        ];
        for (field, value) in fields {
            self.set(there(her_meta::offset(field, number))?, value)?;
        }
        let [clusters, _] = self.0.shape();
        for (cluster, [address, size]) in SCRATCHPADS.into_iter().enumerate() {
            let part = match cluster < clusters as usize {
                // The cluster adds where scratchpads begin.
                true => [
                    memories.scratchpad.start - L1_SCRATCHPADS,
                    memories.scratchpad.bytes,
                ],
                false if cluster == SHARED_SCRATCHPAD => [memories.shared.start, memories.shared.bytes],
                false => [0, 0],
            };
            self.set(there(her_meta::offset(address, number))?, part[0])?;
            self.set(there(her_meta::offset(size, number))?, part[1])?;
        }
        Ok(())
    }

    fn set_window(&mut self, number: u32, host: Area) -> Result<(), ErrorKind> {
        let (low, high) = there(guard::base(number))?;
        self.set_ours(low, host.address as u32)?;
        self.set_ours(high, (host.address >> 32) as u32)?;
        self.set_ours(there(guard::size(number))?, host.bytes)
    }

    /// Sets the packets of a context; without a ruleset, none.
    fn set_ruleset(&mut self, number: u32, ruleset: Option<&Ruleset>) -> Result<(), ErrorKind> {
        let never = Ruleset::any();
        let ruleset = ruleset.unwrap_or(&never);
        let mode = ruleset.join.bit();
        self.set(there(me::mode(number))?, mode)?;
        (0..RULES_PER_RULESET).try_for_each(|place| self.set_rule(number, place, ruleset))
    }

    /// Sets a rule; its first value is the last that is written.
    fn set_rule(&mut self, number: u32, place: u32, ruleset: &Ruleset) -> Result<(), ErrorKind> {
        let values = ruleset.at(place as usize).to_registers();
        let relative = there(me::relative(number, place))?;
        if values.relative != 0 || self.0.has_register(relative) {
            self.set(relative, values.relative)?;
        }
        for (register, value) in [
            (me::idx(number, place), values.idx),
            (me::mask(number, place), values.mask),
            (me::end(number, place), values.end),
            (me::start(number, place), values.start),
        ] {
            self.set(there(register)?, value)?;
        }
        Ok(())
    }

    /// Opens a context.
    pub(crate) fn open(
        &mut self,
        number: u32,
        memories: &Memories,
        rules: &Ruleset,
        matching: Matching,
    ) -> Result<(), ErrorKind> {
        if matching == Matching::Stops {
            self.set(me::VALID.offset, 0)?;
        }
        self.set_context(number, Some(memories))?;
        self.change_ruleset(number, Some(rules), matching)
    }

    /// Closes a context, after its packets in flight. Returns whether none is known to be left.
    pub(crate) fn close(&mut self, number: u32, matching: Matching) -> Result<bool, ErrorKind> {
        self.change_ruleset(number, None, matching)?;
        let is_empty = self.drain()?;
        self.set_context(number, None)?;
        Ok(is_empty)
    }

    /// Changes rules.
    pub(crate) fn change_ruleset(
        &mut self,
        number: u32,
        ruleset: Option<&Ruleset>,
        matching: Matching,
    ) -> Result<(), ErrorKind> {
        match matching {
            Matching::Stops => {
                self.set(me::VALID.offset, 0)?;
                self.set_ruleset(number, ruleset)?;
            }
            Matching::GoesOn => self.replace_ruleset(number, ruleset)?,
        }
        self.set(me::VALID.offset, 1)
    }

    /// Sets the packets of a context while those of others match: each state in between matches packets of the old rules or of the new
    /// ones only. The first rule matches nothing until the others are set, and all have to match meanwhile.
    fn replace_ruleset(&mut self, number: u32, ruleset: Option<&Ruleset>) -> Result<(), ErrorKind> {
        let never = Ruleset::any();
        let ruleset = ruleset.unwrap_or(&never);
        self.set(there(me::start(number, 0))?, u32::MAX)?;
        self.set(there(me::end(number, 0))?, 0)?;
        self.set(there(me::mode(number))?, Ruleset::all().join.bit())?;
        for place in 1..RULES_PER_RULESET {
            self.set_rule(number, place, ruleset)?;
        }
        self.set(there(me::mode(number))?, ruleset.join.bit())?;
        self.set_rule(number, 0, ruleset)
    }

    /// Waits until no packet is in flight, up to a limit, because other contexts may always have some. If the device does not
    /// count packets, waits for all of that time: the busy flag of a cluster is set whenever it fetches instructions.
    fn drain(&mut self) -> Result<bool, ErrorKind> {
        if self.packets_inside()?.is_none() {
            // Many short sleeps would take far longer in total.
            self.0.wait(SLOTS * DRAIN_LOOKS)?;
            return Ok(false);
        }
        for _ in 0..DRAIN_LOOKS {
            self.0.wait(SLOTS)?;
            if self.packets_inside()? == Some(0) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Packets in flight, if the device counts them.
    pub(crate) fn packets_inside(&mut self) -> Result<Option<u32>, ErrorKind> {
        let mut packets = 0;
        for used in ["large_used", "small_used"] {
            let register = there(ingress::offset(used))?;
            if !self.0.has_register(register) {
                return Ok(None);
            }
            packets += self.get(register)?;
        }
        Ok(Some(packets))
    }
}

/// Address and size of the scratchpads, by cluster.
const SCRATCHPADS: [[&str; 2]; 4] = [
    ["scratchpad_0_addr", "scratchpad_0_size"],
    ["scratchpad_1_addr", "scratchpad_1_size"],
    ["scratchpad_2_addr", "scratchpad_2_size"],
    ["scratchpad_3_addr", "scratchpad_3_size"],
];

/// Unwraps the offset of a register that exists for every context.
fn there<T>(register: Option<T>) -> Result<T, ErrorKind> {
    register
        .ok_or_else(|| DeviceError::Refused("the table of registers has no such context".to_owned()).into())
}

fn failed(action: &'static str, register: u32, source: DeviceError) -> ErrorKind {
    ErrorKind::Register {
        action,
        register: name(register),
        source,
    }
}

/// Name and offset of a register.
pub(crate) fn name(offset: u32) -> String {
    match find(offset) {
        Some((register, index)) => match register.count {
            1 => format!("{}.{} ({offset:#06x})", register.group, register.name),
            _ => format!("{}.{}[{index}] ({offset:#06x})", register.group, register.name),
        },
        None => format!("{offset:#06x}"),
    }
}

/// Allocation unit of memory.
pub(crate) const LINE: u32 = 64;

/// A range of memory: its first byte and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) start: u32,
    pub(crate) bytes: u32,
}

impl Part {
    pub(crate) fn end(self) -> u32 {
        self.start + self.bytes
    }

    /// Whether both have a byte.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.start < other.end() && other.start < self.end()
    }
}

/// L2 handler memory that a program leaves to its contexts.
pub(crate) fn handler_memory(free: u32) -> Part {
    Part {
        start: free,
        bytes: HANDLER_BASE + HANDLER_BYTES - free,
    }
}

/// Offsets of scratchpads in L1.
pub(crate) fn scratchpads() -> Part {
    Part {
        start: L1_SCRATCHPADS,
        bytes: L1_BYTES - L1_SCRATCHPADS,
    }
}

/// The equal share of each context.
pub(crate) fn share(whole: Part) -> u32 {
    whole.bytes / CONTEXTS / LINE * LINE
}

/// Allocates bytes first-fit.
pub(crate) fn place(whole: Part, taken: impl Iterator<Item = Part>, bytes: u32) -> Option<Part> {
    let bytes = bytes.checked_next_multiple_of(LINE)?;
    let mut taken: Vec<Part> = taken.collect();
    taken.sort_unstable_by_key(|part| part.start);
    let mut start = whole.start;
    for part in taken {
        if part.start.saturating_sub(start) >= bytes {
            break;
        }
        start = start.max(part.end());
    }
    (bytes <= whole.end().saturating_sub(start)).then_some(Part { start, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Part = Part {
        start: 0x1000,
        bytes: 0x400,
    };

    fn at(start: u32, bytes: u32) -> Part {
        Part { start, bytes }
    }

    #[test]
    fn four_contexts_get_the_same() {
        assert_eq!(share(WHOLE), 0x100);
        let mut taken = Vec::new();
        for number in 0..4 {
            let part = place(WHOLE, taken.iter().copied(), 0x100).expect("there is room");
            assert_eq!(part, at(0x1000 + 0x100 * number, 0x100));
            taken.push(part);
        }
        assert_eq!(place(WHOLE, taken.iter().copied(), 1), None);
    }

    #[test]
    fn a_gap_is_used_if_it_is_large_enough() {
        let taken = [at(0x1200, 0x40), at(0x1000, 0x80)];
        assert_eq!(place(WHOLE, taken.into_iter(), 0x180), Some(at(0x1080, 0x180)));
        assert_eq!(place(WHOLE, taken.into_iter(), 0x181), Some(at(0x1240, 0x1c0)));
        assert_eq!(place(WHOLE, taken.into_iter(), 0x1c1), None);
        assert_eq!(place(WHOLE, taken.into_iter(), u32::MAX), None);
    }
}
