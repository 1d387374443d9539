//! Execution contexts: handlers, their memory, and their packets.

use crate::control::Memories;
use crate::device::{Device, ManagedContext, OpenDevice};
use crate::error::{Error, ErrorKind, In as _};
use crate::memory::{HandlerMemory, HostMemory};
use crate::nic::{Counter, Nic, State};
use crate::options::{Options, Share, Usage};
use crate::tenants::{Opened, Request};
use spinneret_program::{Program, Variable};
use spinneret_rules::Ruleset;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The variable in which handlers count with `push_counter`.
const HOST_DATA: &str = "__host_data";
/// Offset of the counters in the variable `__host_data`, in bytes. A counter is a sum and a number of values, 32 bits each.
pub const HOST_DATA_COUNTERS: u32 = 128;
/// Counters in the variable `__host_data`.
pub const HANDLER_COUNTERS: u32 = 16;

/// Handlers on the NIC. Dropping the context ends them, frees their memory, and sends their packets to the host again.
#[derive(Debug)]
pub struct Context<D: Device = OpenDevice> {
    nic: Nic<D>,
    opened: ManagedContext,
    variables: BTreeMap<String, Variable>,
    program: ProgramNotes,
    is_open: bool,
}

/// Properties of a program that a context runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramNotes {
    /// Its file.
    pub path: PathBuf,
    /// The description of its typed calls ([`Program::services`]).
    pub services: Vec<u8>,
}

impl<D: Device> Nic<D> {
    /// Opens a context: the handlers `NAME_hh`, `NAME_ph` and `NAME_th` of a program handle packets that match `rules`. While a
    /// context is opened or closed, matching is off, so for a few microseconds all packets go to the host.
    ///
    /// # Errors
    /// No context or no memory is left, the program has no such handlers, or it cannot run next to the others.
    pub fn open_context(
        &self,
        program: &Program,
        name: &str,
        rules: &Ruleset,
        options: &Options,
    ) -> Result<Context<D>, Error> {
        const CALL: &str = "Nic::open_context";
        rules.check().call(CALL)?;
        program.find(name).call(CALL)?;
        let State { device, tenants, .. } = &mut *self.lock();
        let opened = match device.manager() {
            Some(manager) => manager.open_context(program, name, rules, options).call(CALL)?,
            None => {
                let request = Request {
                    program,
                    name,
                    rules,
                    options,
                };
                tenants
                    .open(device, self.owner(), request)
                    .map(ManagedContext::from)
                    .map_err(|(context, kind)| Error {
                        call: CALL,
                        context,
                        kind,
                    })?
            }
        };
        let mut variables = program.variables.clone();
        for variable in variables.values_mut() {
            variable.address = variable.address.wrapping_add(opened.data_moved);
        }
        Ok(Context {
            nic: self.clone(),
            opened,
            variables,
            program: ProgramNotes {
                path: program.path().to_owned(),
                services: program.services.clone(),
            },
            is_open: true,
        })
    }
}

impl From<Opened> for ManagedContext {
    fn from(opened: Opened) -> Self {
        let Memories { handler, host, .. } = opened.memories;
        Self {
            number: opened.number,
            handler_memory: [handler.start, handler.bytes],
            host,
            data_moved: opened.data_moved,
        }
    }
}

impl<D: Device> Context<D> {
    /// Returns its number, which is also that of its ruleset.
    pub fn number(&self) -> u32 {
        self.opened.number
    }

    /// Returns the NIC that it is on.
    pub fn nic(&self) -> &Nic<D> {
        &self.nic
    }

    /// Returns the properties of its program.
    pub fn program(&self) -> &ProgramNotes {
        &self.program
    }

    /// Changes the rules that select its packets.
    ///
    /// # Errors
    /// The hardware does not support the rules, or does not answer.
    pub fn set_ruleset(&self, rules: &Ruleset) -> Result<(), Error> {
        self.nic
            .set_ruleset(self.opened.number, rules)
            .of("Context::set_ruleset", self.opened.number)
    }

    /// Sets its share of the NIC. A context that is opened has the default one, or that of the options of `spinneret serve`.
    ///
    /// # Errors
    /// The clusters have no shares and more than the bound on slots differs from the default, or the share is more than this
    /// process may have.
    pub fn set_share(&self, share: Share) -> Result<(), Error> {
        self.nic
            .set_share(self.opened.number, share)
            .of("Context::set_share", self.opened.number)
    }

    /// Reads how contexts of its number have used the NIC since the clusters were reset.
    ///
    /// # Errors
    /// The clusters have no shares, or the NIC does not answer.
    pub fn usage(&self) -> Result<Usage, Error> {
        self.nic
            .usage(self.opened.number)
            .of("Context::usage", self.opened.number)
    }

    /// Returns the host memory that its handlers and this program share.
    pub fn host_memory(&self) -> HostMemory<D> {
        HostMemory::new(self.nic.clone(), self.opened.number, self.opened.host)
    }

    /// Returns the L2 memory of its handlers.
    pub fn handler_memory(&self) -> HandlerMemory<D> {
        let [address, bytes] = self.opened.handler_memory;
        HandlerMemory::new(
            self.nic.clone(),
            self.opened.number,
            "handler memory",
            address,
            bytes,
        )
    }

    /// Returns a global variable of the program, which all contexts of the program share.
    ///
    /// # Errors
    /// The program has no variable of that name in L2.
    pub fn variable(&self, name: &str) -> Result<HandlerMemory<D>, Error> {
        let variable = self.variables.get(name).ok_or_else(|| self.no_variable(name));
        let Variable { address, size } = *variable.of("Context::variable", self.opened.number)?;
        Ok(HandlerMemory::new(
            self.nic.clone(),
            self.opened.number,
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

    /// Reads a counter that handlers update with `push_counter(&__host_data.counters[index], value)`.
    ///
    /// # Errors
    /// The program has no such counter, or the NIC does not answer.
    pub fn handler_counter(&self, index: u32) -> Result<Counter, Error> {
        let data = self.variable(HOST_DATA)?;
        let offset = HOST_DATA_COUNTERS + 8 * index.min(HANDLER_COUNTERS);
        Ok(Counter {
            sum: data.load(offset)?,
            count: data.load(offset + 4)?,
        })
    }

    /// Sets a counter of handlers to 0. A value that a handler pushes meanwhile may be lost.
    ///
    /// # Errors
    /// As [`handler_counter`](Self::handler_counter).
    pub fn clear_handler_counter(&self, index: u32) -> Result<(), Error> {
        let offset = HOST_DATA_COUNTERS + 8 * index.min(HANDLER_COUNTERS);
        self.variable(HOST_DATA)?.store(offset, 0_u64)
    }

    /// Closes the context, and reports errors; dropping it ignores them.
    ///
    /// # Errors
    /// If the NIC does not answer.
    pub fn close(mut self) -> Result<(), Error> {
        self.end().of("Context::close", self.opened.number)
    }

    /// Leaves the handlers running until a program opens the NIC again.
    pub fn leave(mut self) {
        self.is_open = false;
    }

    fn end(&mut self) -> Result<(), ErrorKind> {
        match std::mem::replace(&mut self.is_open, false) {
            true => self.nic.close_context(self.opened.number),
            false => Ok(()),
        }
    }
}

impl<D: Device> Drop for Context<D> {
    fn drop(&mut self) {
        // Callers that want errors use `close`. The context disappears with the NIC.
        let _ = self.end();
    }
}
