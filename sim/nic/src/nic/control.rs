//! What software does to the NIC: accesses to its registers through the BAR.

use super::{Nic, NicError};
use spinneret_cluster::task::Code;
use spinneret_cluster::{Program, ProgramError};
use spinneret_regmap::matching::Rule;
use spinneret_regmap::{CONTEXTS, RULES_PER_RULESET, bar, caps, cl, guard, her, her_meta, me};
use spinneret_sim::axil::{LiteRead, LiteWrite, Response};
use spinneret_sim::reference::matcher::{Mode, RuleSet};

/// Longest that an access takes, in picoseconds.
const ACCESS_PS: u64 = 10_000_000;
/// Looks at a state before it is given up.
const LOOKS: usize = 10_000;
/// Clocks of the core until all slots are there, after the cluster has left reset.
const OPENING_CLOCKS: u64 = 1100;
/// Clocks of the cluster until all HPUs wait for work.
const BOOT_CLOCKS: u64 = 20_000;
/// A flag for each cluster that the hardware was generated for.
const FETCH_ALL: u32 = 3;

/// Why software cannot do what it wants.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The hardware failed.
    #[error(transparent)]
    Nic(#[from] NicError),
    /// An access was answered with an error, or not in time.
    #[error("{action} of register {register:#06x} was {answer}")]
    Access {
        /// Read or write.
        action: &'static str,
        /// Its offset.
        register: u32,
        /// How it was answered.
        answer: String,
    },
    /// A register does not come to a value.
    #[error("{what} did not happen: register {register:#06x} stays {value:#010x}")]
    State {
        /// What was waited for.
        what: &'static str,
        /// The register's offset.
        register: u32,
        /// Its last value.
        value: u32,
    },
    /// There is no such register, which is a mistake in this program.
    #[error("there is no register for {0}")]
    NoRegister(&'static str),
    /// The program has no such handler.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// What the packets of a ruleset are handled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandlerContext {
    /// Header, payload and completion handler.
    pub handlers: [Code; 3],
    /// Handler memory: address and bytes.
    pub memory: [u32; 2],
    /// Scratchpad in each cluster's L1: offset and bytes.
    pub scratchpad: [u32; 2],
    /// Host memory: address and bytes.
    pub host: (u64, u32),
}

impl Nic {
    /// Writes a control register.
    ///
    /// # Errors
    /// If it is not answered as it should.
    pub fn set(&mut self, register: u32, value: u32) -> Result<(), ControlError> {
        let offset = bar::CONTROL_REGISTERS.start + register;
        self.bar.write(LiteWrite::new(offset.into(), value.into()));
        self.wait_for_bar("write", register)?;
        let response = self.bar.take_writes().first().map(|done| done.response);
        check("write", register, response)
    }

    /// Reads a control register.
    ///
    /// # Errors
    /// If it is not answered as it should.
    pub fn get(&mut self, register: u32) -> Result<u32, ControlError> {
        let offset = bar::CONTROL_REGISTERS.start + register;
        self.bar.read(LiteRead::new(offset.into()));
        self.wait_for_bar("read", register)?;
        let done = self.bar.take_reads().into_iter().next();
        check("read", register, done.as_ref().map(|done| done.response))?;
        Ok(done.map_or(0, |done| done.data as u32))
    }

    /// Writes a word of the cluster's memory through the BAR.
    ///
    /// # Errors
    /// If the BAR does not reach it, or it is not answered as it should.
    pub fn write_cluster(&mut self, address: u32, value: u32) -> Result<(), ControlError> {
        let offset = bar::WINDOWS.iter().find_map(|window| match window.target {
            bar::Target::Pspin { address: first } => {
                let offset = address.checked_sub(first)?;
                (offset < window.size_bytes).then_some(window.start + offset)
            }
            _ => None,
        });
        let offset = offset.ok_or(ControlError::NoRegister("this address in the cluster"))?;
        self.bar.write(LiteWrite::new(offset.into(), value.into()));
        self.wait_for_bar("write", offset)?;
        let response = self.bar.take_writes().first().map(|done| done.response);
        check("write", offset, response)
    }

    fn wait_for_bar(&mut self, action: &'static str, register: u32) -> Result<(), ControlError> {
        let deadline = self.now_ps() + ACCESS_PS;
        while !self.bar.is_idle() {
            if self.now_ps() > deadline {
                let answer = "not answered".to_owned();
                return Err(ControlError::Access {
                    action,
                    register,
                    answer,
                });
            }
            self.clock()?;
        }
        Ok(())
    }

    fn wait_for(&mut self, what: &'static str, register: u32, wanted: u32) -> Result<(), ControlError> {
        let mut value = 0;
        for _ in 0..LOOKS {
            value = self.get(register)?;
            if value == wanted {
                return Ok(());
            }
        }
        Err(ControlError::State {
            what,
            register,
            value,
        })
    }

    /// Starts the cluster with a program, contexts and rules: ruleset n leads to context n.
    ///
    /// # Errors
    /// If the hardware does not answer as it should.
    pub fn start(
        &mut self,
        program: &Program,
        contexts: &[HandlerContext],
        rulesets: &[RuleSet],
    ) -> Result<(), ControlError> {
        self.wait_for(
            "the magic number of spinneret",
            caps::MAGIC.offset,
            caps::MAGIC_VALUE,
        )?;
        self.set(me::VALID.offset, 0)?;
        self.set(cl::AUX_RESET, 1)?;
        self.wait_for("the reset of the cluster", cl::STATUS.offset, 3)?;
        self.load(program);
        self.set(cl::AUX_RESET, 0)?;
        self.wait_for("the start of the cluster", cl::STATUS.offset, 1)?;
        self.set_contexts(contexts)?;
        self.set(cl::FETCH_ENABLE, FETCH_ALL)?;
        for _ in 0..OPENING_CLOCKS {
            self.clock()?;
        }
        let boot = self.now_ps() + BOOT_CLOCKS * self.config().cluster_ps;
        self.run_until_idle(boot)?;
        self.set_rules(rulesets)
    }

    fn set_contexts(&mut self, contexts: &[HandlerContext]) -> Result<(), ControlError> {
        self.set(her::VALID.offset, 0)?;
        for (number, context) in (0..CONTEXTS).zip(contexts.iter().map(Some).chain(std::iter::repeat(None))) {
            let enabled = her::ctx_enabled(number).ok_or(ControlError::NoRegister("her.ctx_enabled"))?;
            self.set(enabled, u32::from(context.is_some()))?;
            if let Some(context) = context {
                self.set_context(number, context)?;
            }
        }
        self.set(guard::ENFORCE.offset, 1)?;
        self.set(guard::BY_CONTEXT.offset, 1)?;
        self.set(her::VALID.offset, 1)
    }

    fn set_context(&mut self, number: u32, context: &HandlerContext) -> Result<(), ControlError> {
        let (host, bytes) = context.host;
        let mut fields = vec![
            ("handler_mem_addr", context.memory[0]),
            ("handler_mem_size", context.memory[1]),
            ("host_mem_addr_0", host as u32),
            ("host_mem_addr_1", (host >> 32) as u32),
            ("host_mem_size", bytes),
        ];
        for ([address, size], code) in [
            ["hh_addr", "hh_size"],
            ["ph_addr", "ph_size"],
            ["th_addr", "th_size"],
        ]
        .into_iter()
        .zip(context.handlers)
        {
            fields.extend([(address, code.address), (size, code.size)]);
        }
        let [offset, size] = context.scratchpad;
        let pads = [
            ["scratchpad_0_addr", "scratchpad_0_size"],
            ["scratchpad_1_addr", "scratchpad_1_size"],
            ["scratchpad_2_addr", "scratchpad_2_size"],
            ["scratchpad_3_addr", "scratchpad_3_size"],
        ];
        for (cluster, names) in pads.into_iter().enumerate() {
            let there = cluster < self.config().cluster.clusters;
            let address = spinneret_cluster::map::l1_address(cluster, offset);
            fields.extend([
                (names[0], if there { address } else { 0 }),
                (names[1], if there { size } else { 0 }),
            ]);
        }
        for (field, value) in fields {
            let register = her_meta::offset(field, number).ok_or(ControlError::NoRegister(field))?;
            self.set(register, value)?;
        }
        let window = guard::base(number).ok_or(ControlError::NoRegister("guard.base"))?;
        let size = guard::size(number).ok_or(ControlError::NoRegister("guard.size"))?;
        let enabled = guard::enabled(number).ok_or(ControlError::NoRegister("guard.enabled"))?;
        for (register, value) in [
            (window.0, host as u32),
            (window.1, (host >> 32) as u32),
            (size, bytes),
            (enabled, 1),
        ] {
            self.set(register, value)?;
        }
        Ok(())
    }

    fn set_rules(&mut self, rulesets: &[RuleSet]) -> Result<(), ControlError> {
        self.set(me::VALID.offset, 0)?;
        for number in 0..CONTEXTS {
            let ruleset = rulesets.get(number as usize);
            let mode = me::mode(number).ok_or(ControlError::NoRegister("me.mode"))?;
            let any = ruleset.is_some_and(|ruleset| ruleset.mode == Mode::Or);
            self.set(mode, u32::from(any))?;
            for place in 0..RULES_PER_RULESET {
                self.set_rule(number, place, rule(ruleset, place))?;
            }
        }
        self.set(me::VALID.offset, 1)
    }

    fn set_rule(&mut self, ruleset: u32, place: u32, rule: Rule) -> Result<(), ControlError> {
        let values = rule.to_registers();
        for (register, value) in [
            (me::idx(ruleset, place), values.idx),
            (me::mask(ruleset, place), values.mask),
            (me::start(ruleset, place), values.start),
            (me::end(ruleset, place), values.end),
            (me::relative(ruleset, place), values.relative),
        ] {
            self.set(register.ok_or(ControlError::NoRegister("me"))?, value)?;
        }
        Ok(())
    }
}

/// The rule at a place of a ruleset: behind the rules that decide comes the one that ends messages. Without a ruleset
/// nothing matches; rules that are not given always match where all have to, and never where one is enough.
fn rule(ruleset: Option<&RuleSet>, place: u32) -> Rule {
    let Some(ruleset) = ruleset else {
        return Rule::NEVER;
    };
    let rest = match ruleset.mode {
        Mode::And => Rule::ALWAYS,
        Mode::Or => Rule::NEVER,
    };
    match place {
        _ if place + 1 == RULES_PER_RULESET => ruleset.end_of_message,
        _ => ruleset.rules.get(place as usize).copied().unwrap_or(rest),
    }
}

fn check(action: &'static str, register: u32, response: Option<Response>) -> Result<(), ControlError> {
    match response {
        Some(Response::Okay) => Ok(()),
        response => Err(ControlError::Access {
            action,
            register,
            answer: format!("answered with {response:?}"),
        }),
    }
}
