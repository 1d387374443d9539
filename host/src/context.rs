//! An execution context: handlers, their memory, and the packets that they get.

use crate::control::{self, Control, Memories, Part};
use crate::device::{Device, DeviceError, OpenDevice};
use crate::error::{Error, ErrorKind, In as _};
use crate::memory::{HandlerMemory, HostMemory};
use crate::nic::{Counter, Nic, State};
use spinneret_program::{Program, Variable};
use spinneret_regmap::CONTEXTS;
use spinneret_rules::Ruleset;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The variable in which handlers count with `push_counter`.
const HOST_DATA: &str = "__host_data";
/// Offset of the counters in the variable `__host_data`, in bytes. A counter is its sum and how often, 32 bits each.
pub const HOST_DATA_COUNTERS: u32 = 128;
/// Counters in the variable `__host_data`.
pub const HANDLER_COUNTERS: u32 = 16;

/// What a context gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Host memory in bytes; 0 for none.
    pub host_bytes: u32,
    /// Handler memory in L2 in bytes; a quarter of what the program leaves, if not given.
    pub handler_bytes: Option<u32>,
    /// Scratchpad in each cluster's L1 in bytes; a quarter of what there is, if not given.
    pub scratchpad_bytes: Option<u32>,
}

impl Default for Options {
    /// One MiB of host memory, and a quarter of everything on the NIC.
    fn default() -> Self {
        Self {
            host_bytes: 1 << 20,
            handler_bytes: None,
            scratchpad_bytes: None,
        }
    }
}

/// Handlers on the NIC. Dropping it ends them, frees their memory, and leads their packets to the host again.
#[derive(Debug)]
pub struct Context<D: Device = OpenDevice> {
    nic: Nic<D>,
    number: u32,
    memories: Memories,
    variables: BTreeMap<String, Variable>,
    program: ProgramNotes,
    is_open: bool,
}

/// What stays known of a program while a context runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramNotes {
    /// Its file.
    pub path: PathBuf,
    /// What its stubs of typed calls say of themselves ([`Program::services`]).
    pub services: Vec<u8>,
}

impl<D: Device> Nic<D> {
    /// Opens a context: packets that match `rules` are handled by the handlers `NAME_hh`, `NAME_ph` and `NAME_th` of a
    /// program. While a context is opened or closed no packet is matched, so for a few microseconds all go to the host.
    ///
    /// # Errors
    /// If there is no context or no memory left, the program has no such handlers, or other contexts run another program.
    pub fn open_context(
        &self,
        program: &Program,
        name: &str,
        rules: &Ruleset,
        options: &Options,
    ) -> Result<Context<D>, Error> {
        const CALL: &str = "Nic::open_context";
        rules.check().call(CALL)?;
        let handlers = program.find(name).call(CALL)?;
        let mut state = self.lock();
        let free = state.contexts.iter().position(Option::is_none);
        let number = free.ok_or(ErrorKind::NoContext(CONTEXTS)).call(CALL)? as u32;
        let whole = control::handler_memory(program.free_memory);
        let (handler, scratchpad) = state.places(whole, options).of(CALL, number)?;
        state.run(program).of(CALL, number)?;
        let host = state
            .device
            .open_area(number, options.host_bytes)
            .of(CALL, number)?;
        let memories = Memories {
            handlers,
            handler,
            scratchpad,
            host,
        };
        // From here on the context is there, and leaves no traces if anything fails.
        state.contexts[number as usize] = Some(memories);
        let opened = Control(&mut state.device).open(number, &memories, rules);
        drop(state);
        let context = Context {
            nic: self.clone(),
            number,
            memories,
            variables: program.variables.clone(),
            program: ProgramNotes {
                path: program.path().to_owned(),
                services: program.services.clone(),
            },
            is_open: true,
        };
        opened.of(CALL, number).map(|()| context)
    }
}

impl<D: Device> State<D> {
    /// Memory for one more context: L2 for its handlers, and scratchpads.
    fn places(&self, whole: Part, options: &Options) -> Result<(Part, Part), ErrorKind> {
        let taken = || self.contexts.iter().flatten();
        let place = |what: &str, whole: Part, taken: Vec<Part>, wanted: Option<u32>| {
            let bytes = wanted.unwrap_or_else(|| control::share(whole));
            control::place(whole, taken.into_iter(), bytes).ok_or_else(|| {
                DeviceError::NoMemory(format!(
                    "{bytes} bytes of {what} are not free; there are {} for all contexts",
                    whole.bytes
                ))
            })
        };
        let handler = taken().map(|memories| memories.handler).collect();
        let handler = place("handler memory", whole, handler, options.handler_bytes)?;
        let pads = taken().map(|memories| memories.scratchpad).collect();
        let pad = place(
            "scratchpads",
            control::scratchpads(),
            pads,
            options.scratchpad_bytes,
        )?;
        Ok((handler, pad))
    }
}

impl<D: Device> Context<D> {
    /// Its number, which is that of its ruleset, too.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The NIC that it is on.
    pub fn nic(&self) -> &Nic<D> {
        &self.nic
    }

    /// What is known of its program.
    pub fn program(&self) -> &ProgramNotes {
        &self.program
    }

    /// Changes which packets it gets.
    ///
    /// # Errors
    /// If the hardware cannot hold the rules, or does not answer.
    pub fn set_ruleset(&self, rules: &Ruleset) -> Result<(), Error> {
        self.nic
            .set_ruleset(self.number, rules)
            .of("Context::set_ruleset", self.number)
    }

    /// Host memory that its handlers and this program share.
    pub fn host_memory(&self) -> HostMemory<D> {
        HostMemory::new(self.nic.clone(), self.number, self.memories.host)
    }

    /// L2 memory of its handlers.
    pub fn handler_memory(&self) -> HandlerMemory<D> {
        let part = self.memories.handler;
        HandlerMemory::new(
            self.nic.clone(),
            self.number,
            "handler memory",
            part.start,
            part.bytes,
        )
    }

    /// A global variable of the program. All contexts of a program share it.
    ///
    /// # Errors
    /// If the program has no variable of that name in L2.
    pub fn variable(&self, name: &str) -> Result<HandlerMemory<D>, Error> {
        let variable = self.variables.get(name).ok_or_else(|| self.no_variable(name));
        let Variable { address, size } = *variable.of("Context::variable", self.number)?;
        Ok(HandlerMemory::new(
            self.nic.clone(),
            self.number,
            "the variable",
            address,
            size,
        ))
    }

    fn no_variable(&self, name: &str) -> ErrorKind {
        let names: Vec<&str> = self.variables.keys().map(String::as_str).collect();
        ErrorKind::NoVariable {
            program: self.program.path.display().to_string(),
            name: name.to_owned(),
            found: match &names[..] {
                [] => "none".to_owned(),
                names => names.join(", "),
            },
        }
    }

    /// What handlers have counted with `push_counter(&__host_data.counters[index], value)`.
    ///
    /// # Errors
    /// If there are no such counters, or the NIC does not answer.
    pub fn handler_counter(&self, index: u32) -> Result<Counter, Error> {
        let data = self.variable(HOST_DATA)?;
        let offset = HOST_DATA_COUNTERS + 8 * index.min(HANDLER_COUNTERS);
        Ok(Counter {
            sum: data.load(offset)?,
            count: data.load(offset + 4)?,
        })
    }

    /// Ends it, and says whether that went well; dropping it does the same in silence.
    ///
    /// # Errors
    /// If the NIC does not answer.
    pub fn close(mut self) -> Result<(), Error> {
        self.end().of("Context::close", self.number)
    }

    /// Leaves the handlers on the NIC, where they go on until somebody takes the NIC anew.
    pub fn leave(mut self) {
        self.is_open = false;
    }

    fn end(&mut self) -> Result<(), ErrorKind> {
        match std::mem::replace(&mut self.is_open, false) {
            true => self.nic.close_context(self.number),
            false => Ok(()),
        }
    }
}

impl<D: Device> Drop for Context<D> {
    fn drop(&mut self) {
        // Whoever wants to know calls `close`. If the NIC is gone, so is the context.
        let _ = self.end();
    }
}
