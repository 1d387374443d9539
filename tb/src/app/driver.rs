//! What software does: 32-bit accesses to the BAR, and nothing else.

use super::bench::{AppBench, OPENING_CLOCKS};
use super::config::Context;
use super::packets::{CONTEXTS, rule};
use spinneret_regmap::matching::Rule;
use spinneret_regmap::{RULES_PER_RULESET, bar, caps, cl, guard, her, her_meta, me};
use spinneret_sim::prelude::*;

/// Longest time of an access to the registers, in clocks of the core, pauses included.
const REGISTER_CLOCKS: u64 = 2000;
/// Longest time of an access to the cluster: its timeout, and as much again.
const CLUSTER_CLOCKS: u64 = 140_000;
/// Times that software looks at a state before it gives up.
const LOOKS: usize = 10_000;

/// The word of standard output that says that there is none.
pub const NO_WORD: u32 = u32::MAX;

impl AppBench {
    /// Writes bytes of a word at an offset into the BAR.
    ///
    /// # Panics
    /// If it is not answered in time.
    pub fn bar_write_bytes(&mut self, offset: u32, data: u32, strobes: u8) -> Response {
        let request = LiteWrite::new(offset.into(), data.into()).strobed(strobes);
        let number = self.bar.write(request);
        self.wait_for_bar(offset);
        let done = self.bar.take_writes();
        assert_eq!(done.iter().map(|done| done.number).collect::<Vec<_>>(), [number]);
        self.mirror.written(offset, data, strobes, done[0].response);
        done[0].response
    }

    /// Writes a word at an offset into the BAR.
    ///
    /// # Panics
    /// If it is not answered in time.
    pub fn bar_write(&mut self, offset: u32, data: u32) -> Response {
        self.bar_write_bytes(offset, data, 0xf)
    }

    /// Reads a word at an offset into the BAR.
    ///
    /// # Panics
    /// If it is not answered in time.
    pub fn bar_read(&mut self, offset: u32) -> (u32, Response) {
        let number = self.bar.read(LiteRead::new(offset.into()));
        self.wait_for_bar(offset);
        let done = self.bar.take_reads();
        assert_eq!(done.iter().map(|done| done.number).collect::<Vec<_>>(), [number]);
        let answer = (done[0].data as u32, done[0].response);
        if let Some(word) = self.mirror.read(offset, answer) {
            self.console.push(word);
        }
        answer
    }

    fn wait_for_bar(&mut self, offset: u32) {
        let clocks = match bar::decode(offset) {
            bar::Destination::Pspin(_) => CLUSTER_CLOCKS,
            _ => REGISTER_CLOCKS,
        };
        let what = format!("an access to {offset:#08x} of the BAR");
        self.run_until(clocks, &what, |bench| bench.bar.is_idle());
    }

    /// Writes a control register, which has to be possible.
    ///
    /// # Panics
    /// If it is not.
    pub fn set(&mut self, register: impl Into<Option<u32>>, value: u32) {
        let register = register
            .into()
            .unwrap_or_else(|| panic!("there is no such register"));
        let response = self.bar_write(bar::CONTROL_REGISTERS.start + register, value);
        assert_eq!(response, Response::Okay, "write of register {register:#06x}");
    }

    /// Reads a control register, which has to be possible.
    ///
    /// # Panics
    /// If it is not.
    pub fn get(&mut self, register: impl Into<Option<u32>>) -> u32 {
        let register = register
            .into()
            .unwrap_or_else(|| panic!("there is no such register"));
        let (value, response) = self.bar_read(bar::CONTROL_REGISTERS.start + register);
        assert_eq!(response, Response::Okay, "read of register {register:#06x}");
        value
    }

    /// Looks for our hardware.
    ///
    /// # Panics
    /// If it is another.
    pub fn find_hardware(&mut self) {
        assert_eq!(self.get(caps::MAGIC.offset), caps::MAGIC_VALUE);
        assert_eq!(self.get(caps::VERSION.offset), caps::VERSION_VALUE);
    }

    /// Holds the clusters in reset.
    pub fn hold_cluster(&mut self) {
        self.set(cl::AUX_RESET, 1);
        self.wait_for_state("the clusters in reset", cl::STATUS.offset, |status| {
            status & 2 != 0
        });
    }

    /// Lets the clusters out of reset, and waits until the link to them is up and all slots are there.
    ///
    /// # Panics
    /// If it does not come.
    pub fn release_cluster(&mut self) {
        self.set(cl::AUX_RESET, 0);
        self.wait_for_cluster();
    }

    /// Waits until the clusters are out of reset and all slots are there.
    ///
    /// # Panics
    /// If they do not come.
    pub fn wait_for_cluster(&mut self) {
        self.wait_for_state("the clusters out of reset", cl::STATUS.offset, |status| {
            status == 1
        });
        self.run(OPENING_CLOCKS);
    }

    /// Lets the clusters begin.
    pub fn enable_clusters(&mut self) {
        self.set(cl::FETCH_ENABLE, 3);
    }

    /// Looks at a register until it is as wanted.
    ///
    /// # Panics
    /// If it is not.
    pub fn wait_for_state(&mut self, what: &str, register: u32, wanted: impl Fn(u32) -> bool) {
        let found = (0..LOOKS).any(|_| wanted(self.get(register)));
        assert!(found, "{what}: register {register:#06x} does not say so");
    }

    /// Puts words into the cluster's memory, and reads them back.
    ///
    /// # Panics
    /// If they are not there.
    pub fn load_memory(&mut self, address: u32, words: &[u32]) {
        let offset = offset_of(address);
        for (number, word) in (0..).zip(words) {
            assert_eq!(self.bar_write(offset + 4 * number, *word), Response::Okay);
        }
        for (number, word) in (0..).zip(words) {
            let read = self.bar_read(offset + 4 * number);
            assert_eq!(read, (*word, Response::Okay), "word {number} at {address:#010x}");
        }
    }

    /// Writes the rules of all contexts, and puts them in force: packets as [`matched`](super::matched) makes them.
    pub fn load_rules(&mut self) {
        self.set(me::VALID.offset, 0);
        for ruleset in 0..CONTEXTS as u32 {
            self.set(me::mode(ruleset), 0);
            for number in 0..RULES_PER_RULESET {
                // The first decides, the others are there for every packet, and each packet ends its message.
                let rule = if number == 0 {
                    rule(ruleset as usize)
                } else {
                    Rule::ALWAYS
                };
                let registers = rule.to_registers();
                self.set(me::idx(ruleset, number), registers.idx);
                self.set(me::mask(ruleset, number), registers.mask);
                self.set(me::start(ruleset, number), registers.start);
                self.set(me::end(ruleset, number), registers.end);
                self.set(me::relative(ruleset, number), registers.relative);
            }
        }
        self.set(me::VALID.offset, 1);
    }

    /// Writes contexts, and puts them in force.
    pub fn load_contexts(&mut self, contexts: &[Option<Context>; CONTEXTS]) {
        self.set(her::VALID.offset, 0);
        for (number, context) in (0..).zip(contexts) {
            self.set(her::ctx_enabled(number), u32::from(context.is_some()));
            let Some(context) = context else { continue };
            let mut field = |name: &str, value: u32| self.set(her_meta::offset(name, number), value);
            field("handler_mem_addr", context.handler_address);
            field("handler_mem_size", 0x1000);
            field("host_mem_addr_0", context.host_address as u32);
            field("host_mem_addr_1", (context.host_address >> 32) as u32);
            field("host_mem_size", 0x10_0000);
            field("ph_addr", context.actions.handler_address());
            field("ph_size", 0x100);
        }
        self.set(her::VALID.offset, 1);
    }

    /// Takes rules and contexts out of force, so that nothing matches and their registers may hold anything.
    pub fn withdraw(&mut self) {
        self.set(me::VALID.offset, 0);
        self.set(her::VALID.offset, 0);
        self.model.withdraw();
    }

    /// Opens a host window for a context.
    pub fn open_window(&mut self, context: u32, address: u64, bytes: u32) {
        let (low, high) = guard::base(context).unwrap_or_else(|| panic!("there is no context {context}"));
        self.set(low, address as u32);
        self.set(high, (address >> 32) as u32);
        self.set(guard::size(context), bytes);
        self.set(guard::enabled(context), 1);
    }

    /// All that software does before packets come: finds the hardware, starts the cluster, fills its memory, and loads
    /// contexts and rules.
    pub fn bring_up(&mut self, contexts: [Option<Context>; CONTEXTS]) {
        self.find_hardware();
        self.release_cluster();
        for context in contexts.iter().flatten() {
            self.load_memory(context.handler_address, &[0x0000_0013, 0x0000_8067, 0xffff_ffff]);
        }
        self.load_contexts(&contexts);
        self.enable_clusters();
        self.load_rules();
        self.model.configure(contexts);
    }

    /// All words of standard output since the last time, after reading those that are there now.
    pub fn read_stdout(&mut self) -> Vec<u32> {
        while self.get(cl::FIFO.offset) != NO_WORD {}
        std::mem::take(&mut self.console)
    }
}

/// The offset into the BAR of an address in the cluster.
///
/// # Panics
/// If the BAR does not reach it.
pub fn offset_of(address: u32) -> u32 {
    for window in bar::WINDOWS {
        if let bar::Target::Pspin { address: first } = window.target
            && let Some(offset) = address
                .checked_sub(first)
                .filter(|offset| *offset < window.size_bytes)
        {
            return window.start + offset;
        }
    }
    panic!("the BAR does not reach {address:#010x}")
}
