//! An execution context: handlers, their memory, and the packets that they get.

use crate::control::Memories;
use crate::counters::Counter;
use crate::device::{Device, OpenDevice};
use crate::error::{Error, ErrorKind, In as _};
use crate::memory::{HandlerMemory, HostMemory};
use crate::nic::Nic;
use crate::ruleset::Ruleset;
use spinneret_program::Variable;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The variable in which handlers count with `push_counter`, and its parts.
const HOST_DATA: &str = "__host_data";
const HOST_DATA_COUNTERS: u32 = 128;
const HANDLER_COUNTERS: u32 = 16;

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
    program: PathBuf,
    is_open: bool,
}

impl<D: Device> Context<D> {
    pub(crate) fn new(
        nic: Nic<D>,
        number: u32,
        memories: Memories,
        variables: BTreeMap<String, Variable>,
        program: &Path,
    ) -> Self {
        Self {
            nic,
            number,
            memories,
            variables,
            program: program.to_owned(),
            is_open: true,
        }
    }

    /// Its number, which is that of its ruleset, too.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The NIC that it is on.
    pub fn nic(&self) -> &Nic<D> {
        &self.nic
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
            program: self.program.display().to_string(),
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
