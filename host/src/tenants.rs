//! Owners of a NIC: contexts, programs and memory of several processes, in the process that has the device.
//!
//! ```text
//!  first program --has the NIC alone--> Runs::Alone: its own runtime, its init_handlers in machine mode
//!        +---------next to others------> Runs::Shared: the resident runtime, programs of any number
//! ```
//!
//! A context has an entry in the table of the resident runtime, with an id that no context had before since the runtime started. The id
//! is in the size of its handlers; a task whose id is not in the table fails. Memory is cleared when it is allocated.

mod allocation;
mod runtime;

use crate::control::{self, Control, Matching, Memories, Part};
use crate::device::{Device, DeviceError};
use crate::error::ErrorKind;
use crate::options::{Options, Share, Usage};
use crate::share::{self, Limits};
use allocation::{LINE, PROGRAM, SHARES, allocate, full, handler_memory, place};
use runtime::{Entry, bump_loads, entry_of, start_resident, write_word};
use spinneret_program::{Code, Layout, Program, Segment};
use spinneret_regmap::CONTEXTS;
use spinneret_regmap::pspin::{HANDLER_BASE, SHARED_SCRATCHPAD, resident};
use spinneret_rules::Ruleset;
use std::time::Duration;

/// A process with contexts, by a number that no other has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner(pub(crate) u64);

impl Owner {
    /// The only one of a device in the same process.
    pub(crate) const SELF: Self = Self(0);
}

/// Memory of a context, as its owner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) number: u32,
    pub(crate) memories: Memories,
    /// How far the program's data is from where its file has it, modulo 2^32.
    pub(crate) data_moved: u32,
}

/// Arguments of a new context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'r> {
    pub(crate) program: &'r Program,
    pub(crate) name: &'r str,
    pub(crate) rules: &'r Ruleset,
    pub(crate) options: &'r Options,
}

/// Everything on a NIC, by owner.
#[derive(Debug)]
pub(crate) struct Tenants {
    /// Whether programs of several owners may run.
    is_shared: bool,
    limits: Limits,
    runs: Runs,
    contexts: [Option<Tenant>; CONTEXTS as usize],
    /// Where the scratchpads end that have been used since the resident runtime cleared all of them.
    used_scratchpads: u32,
}

#[derive(Debug)]
enum Runs {
    Nothing,
    /// A program with its own runtime.
    Alone(Owner, Box<Program>),
    /// The resident runtime: its programs, and the number of contexts since its start.
    Shared(Vec<Loaded>, u32),
}

/// A program next to others.
#[derive(Debug)]
struct Loaded {
    owner: Owner,
    /// As its file has them.
    segments: Vec<Segment>,
    program: Program,
    layout: Layout,
    code: Part,
    /// With a line at its end for the resident runtime.
    data: Part,
}

#[derive(Clone, Copy, Debug)]
struct Tenant {
    owner: Owner,
    memories: Memories,
    /// Thread-local variables of all HPUs, and the data of its program; only next to other programs.
    locals: Part,
    data: Part,
}

/// A handler that has begun has ended after this time: the limit of the watchdog, at the slowest clock of a NIC.
const HANDLERS_END: Duration = Duration::from_millis(30);
/// An HPU saves its thread-local variables in less time.
const SAVED: Duration = Duration::from_micros(10);
/// Contexts until ids repeat.
const GENERATIONS: u32 = 1 << (32 - resident::ID_SHIFT - CONTEXTS.ilog2());

impl Tenants {
    /// Nothing runs. `is_shared`: several owners and programs may.
    pub(crate) fn new(is_shared: bool, limits: Limits) -> Self {
        Self {
            is_shared,
            limits,
            runs: Runs::Nothing,
            contexts: [None; CONTEXTS as usize],
            used_scratchpads: 0,
        }
    }

    /// Contexts of other programs go on while one is opened or closed.
    fn matching(&self) -> Matching {
        match self.runs {
            Runs::Shared(..) => Matching::GoesOn,
            _ => Matching::Stops,
        }
    }

    /// Changes the rules of a context.
    pub(crate) fn set_ruleset<D: Device>(
        &self,
        device: &mut D,
        owner: Owner,
        number: u32,
        rules: &Ruleset,
    ) -> Result<(), ErrorKind> {
        rules.check()?;
        self.check(owner, number)?;
        Control(device).change_ruleset(number, Some(rules), self.matching())
    }

    /// Sets the share of a context.
    pub(crate) fn set_share<D: Device>(
        &self,
        device: &mut D,
        owner: Owner,
        number: u32,
        share: Share,
    ) -> Result<(), ErrorKind> {
        self.check(owner, number)?;
        share::set(device, &self.limits, number, share)
    }

    /// Reads what a context has used.
    pub(crate) fn usage<D: Device>(
        &self,
        device: &mut D,
        owner: Owner,
        number: u32,
    ) -> Result<Usage, ErrorKind> {
        self.check(owner, number)?;
        share::usage(device, number)
    }

    /// Whether no context is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.contexts.iter().all(Option::is_none)
    }

    /// Whether another process than this one has a context.
    pub(crate) fn has_others(&self, owner: Owner) -> bool {
        self.contexts.iter().flatten().any(|tenant| tenant.owner != owner)
    }

    /// Whether several processes have contexts.
    pub(crate) fn are_several(&self) -> bool {
        let first = self.contexts.iter().flatten().next();
        first.is_some_and(|tenant| self.has_others(tenant.owner))
    }

    /// Whether memory of the cluster belongs to an owner.
    pub(crate) fn owns(&self, owner: Owner, address: u32, bytes: usize) -> bool {
        let range = u64::from(address)..u64::from(address) + bytes as u64;
        let has = |part: Part| {
            let part = u64::from(part.start)..u64::from(part.start) + u64::from(part.bytes);
            part.start <= range.start && range.end <= part.end
        };
        let alone = matches!(&self.runs, Runs::Alone(of, _) if *of == owner);
        let own = self
            .contexts
            .iter()
            .flatten()
            .filter(|tenant| tenant.owner == owner);
        alone && has(control::handler_memory(HANDLER_BASE))
            || own
                .flat_map(|tenant| [tenant.data, tenant.memories.handler])
                .any(has)
    }

    /// Opens a context.
    pub(crate) fn open<D: Device>(
        &mut self,
        device: &mut D,
        owner: Owner,
        request: Request<'_>,
    ) -> Result<Opened, (Option<u32>, ErrorKind)> {
        let outside = |kind: ErrorKind| (None, kind);
        request.rules.check().map_err(|error| outside(error.into()))?;
        let handlers = request
            .program
            .find(request.name)
            .map_err(|error| outside(error.into()))?;
        let free = self.contexts.iter().position(Option::is_none);
        let number = free.ok_or_else(|| outside(ErrorKind::NoContext(CONTEXTS)))?;
        let opened = self.open_as(device, owner, number, handlers, request);
        if opened.is_err() {
            self.contexts[number] = None;
            // The first error is the one that matters.
            let _ = self.unload_unused(device);
        }
        opened.map_err(|kind| (Some(number as u32), kind))
    }

    fn open_as<D: Device>(
        &mut self,
        device: &mut D,
        owner: Owner,
        number: usize,
        handlers: [Code; 3],
        Request {
            program,
            rules,
            options,
            ..
        }: Request<'_>,
    ) -> Result<Opened, ErrorKind> {
        self.start(device, owner, program)?;
        let loaded = match &mut self.runs {
            Runs::Shared(..) => Some(self.load(device, owner, program)?),
            _ => None,
        };
        let mut tenant = self.places(device, owner, program, loaded, options)?;
        tenant.memories.handlers = handlers;
        let mut data_moved = 0;
        if let (Runs::Shared(programs, generation), Some(loaded)) = (&mut self.runs, loaded) {
            let Loaded {
                program,
                layout,
                data,
                ..
            } = &programs[loaded];
            *generation += 1;
            if *generation == GENERATIONS {
                return Err(full(
                    "no id is left for another context: close all contexts of this NIC once",
                ));
            }
            let id = *generation * CONTEXTS + number as u32;
            let entry = Entry {
                id,
                layout,
                data_moved: data.start.wrapping_sub(layout.data.start),
                init: layout.init.map(|init| init.wrapping_add(program.moved)),
                init_done: data.end() - LINE,
            };
            let scratchpad = tenant.memories.scratchpad;
            let state = match scratchpad.start < self.used_scratchpads {
                true => resident::CLEARING,
                false => resident::STARTING,
            };
            self.used_scratchpads = self.used_scratchpads.max(scratchpad.end());
            entry.write(device, number as u32, tenant.locals, state)?;
            data_moved = entry.data_moved;
            tenant.memories.shared = Part {
                bytes: data.bytes - LINE,
                ..*data
            };
            for code in tenant.memories.handlers.iter_mut().filter(|code| code.exists()) {
                code.address = code.address.wrapping_add(program.moved);
                code.size = code.size & ((1 << resident::ID_SHIFT) - 1) | id << resident::ID_SHIFT;
            }
        }
        if let Runs::Shared(..) = self.runs {
            let Part { start, bytes } = tenant.memories.handler;
            device.clear_cluster(start, bytes)?;
        }
        share::begin(device, &self.limits, number as u32)?;
        tenant.memories.host = device.open_area(number as u32, options.host_bytes)?;
        // From here on the context exists, and is closed if anything fails.
        self.contexts[number] = Some(tenant);
        let opened = Control(device).open(number as u32, &tenant.memories, rules, self.matching());
        if let Err(error) = opened {
            let _ = self.close(device, owner, number as u32);
            return Err(error);
        }
        Ok(Opened {
            number: number as u32,
            memories: tenant.memories,
            data_moved,
        })
    }

    /// Starts the runtime for a program, unless it already runs.
    fn start<D: Device>(&mut self, device: &mut D, owner: Owner, program: &Program) -> Result<(), ErrorKind> {
        match &self.runs {
            Runs::Alone(of, running) if *of == owner && running.segments == program.segments => Ok(()),
            Runs::Alone(_, running) => Err(ErrorKind::OtherProgram {
                running: running.path().display().to_string(),
                wanted: program.path().display().to_string(),
            }),
            Runs::Shared(..) => Ok(()),
            Runs::Nothing => {
                let [clusters, _] = device.shape();
                let has_room = clusters as usize <= SHARED_SCRATCHPAD && device.tells_contexts();
                if self.is_shared && has_room && program.layout().is_ok() {
                    start_resident(device, clusters)?;
                    self.used_scratchpads = 0;
                    self.runs = Runs::Shared(Vec::new(), 0);
                } else {
                    Control(device).start(program)?;
                    self.runs = Runs::Alone(owner, Box::new(program.clone()));
                }
                Ok(())
            }
        }
    }

    /// Loads a program next to others, unless its owner has it there. Returns its place among them.
    fn load<D: Device>(
        &mut self,
        device: &mut D,
        owner: Owner,
        program: &Program,
    ) -> Result<usize, ErrorKind> {
        let memories = self.memories();
        let Runs::Shared(programs, _) = &mut self.runs else {
            return Err(full("the resident runtime does not run"));
        };
        let same = |loaded: &Loaded| loaded.owner == owner && loaded.segments == program.segments;
        if let Some(there) = programs.iter().position(same) {
            return Ok(there);
        }
        let layout = program.layout()?;
        let codes: Vec<Part> = programs.iter().map(|loaded| loaded.code).collect();
        let code = place("program memory", PROGRAM, &layout.code, layout.alignment, &codes)?;
        let with_line = layout.data.start..layout.data.end + LINE;
        let data = place(
            "handler memory",
            handler_memory(),
            &with_line,
            layout.alignment,
            &memories,
        )?;
        let moved = program.moved(
            code.start.wrapping_sub(layout.code.start),
            data.start.wrapping_sub(layout.data.start),
        )?;
        device.load_beside(&moved)?;
        device.clear_cluster(data.end() - LINE, LINE)?;
        let loads = programs.len() as u32;
        programs.push(Loaded {
            owner,
            segments: program.segments.clone(),
            program: moved,
            layout,
            code,
            data,
        });
        bump_loads(device)?;
        Ok(loads as usize)
    }

    /// Memory of handlers that is taken.
    fn memories(&self) -> Vec<Part> {
        let programs = match &self.runs {
            Runs::Shared(programs, _) => &programs[..],
            _ => &[],
        };
        let tenants = self.contexts.iter().flatten();
        let tenants = tenants.flat_map(|tenant| [tenant.memories.handler, tenant.locals]);
        tenants.chain(programs.iter().map(|loaded| loaded.data)).collect()
    }

    /// Allocates memory for another context.
    fn places<D: Device>(
        &self,
        device: &D,
        owner: Owner,
        program: &Program,
        loaded: Option<usize>,
        options: &Options,
    ) -> Result<Tenant, ErrorKind> {
        let (whole, share) = match loaded {
            Some(_) => (handler_memory(), handler_memory().bytes / SHARES / LINE * LINE),
            None => {
                let whole = control::handler_memory(program.free_memory);
                (whole, control::share(whole))
            }
        };
        let mut taken = self.memories();
        let mut locals = Part {
            start: whole.start,
            bytes: 0,
        };
        let mut data = locals;
        if let (Runs::Shared(programs, _), Some(loaded)) = (&self.runs, loaded) {
            let [clusters, hpus] = device.shape();
            let bytes = programs[loaded].layout.locals.len() as u32 * clusters * hpus;
            locals = allocate("handler memory", whole, &taken, bytes)?;
            data = programs[loaded].data;
            taken.push(locals);
        }
        let handler = allocate(
            "handler memory",
            whole,
            &taken,
            options.handler_bytes.unwrap_or(share),
        )?;
        let pads = self.contexts.iter().flatten();
        let pads: Vec<Part> = pads.map(|tenant| tenant.memories.scratchpad).collect();
        let whole = control::scratchpads();
        let bytes = options.scratchpad_bytes.unwrap_or_else(|| control::share(whole));
        let scratchpad = allocate("scratchpads", whole, &pads, bytes)?;
        Ok(Tenant {
            owner,
            memories: Memories {
                handlers: [Code::default(); 3],
                handler,
                scratchpad,
                host: crate::device::Area { address: 0, bytes: 0 },
                shared: Part { start: 0, bytes: 0 },
            },
            locals,
            data,
        })
    }

    /// The owner of a context must be that one.
    pub(crate) fn check(&self, owner: Owner, number: u32) -> Result<(), ErrorKind> {
        let why = match self.contexts.get(number as usize).and_then(Option::as_ref) {
            Some(tenant) if tenant.owner == owner => return Ok(()),
            Some(_) => "belongs to another process",
            None => "is not open",
        };
        Err(DeviceError::Refused(format!("context {number} {why}")).into())
    }

    /// Closes a context, and frees its memory; the last one leaves the cluster in reset.
    pub(crate) fn close<D: Device>(
        &mut self,
        device: &mut D,
        owner: Owner,
        number: u32,
    ) -> Result<(), ErrorKind> {
        self.check(owner, number)?;
        let closed = self.end(device, number);
        device.close_area(number);
        self.contexts[number as usize] = None;
        self.unload_unused(device)?;
        closed
    }

    /// Ends the tasks of a context.
    fn end<D: Device>(&self, device: &mut D, number: u32) -> Result<(), ErrorKind> {
        let is_empty = Control(device).close(number, self.matching())?;
        if let Runs::Shared(..) = self.runs {
            // Tasks that have not begun fail from here on.
            write_word(device, entry_of(number) + resident::ID, 0)?;
            device.wait(if is_empty { SAVED } else { HANDLERS_END })?;
        }
        Ok(())
    }

    /// Closes all contexts of an owner.
    pub(crate) fn end_owner<D: Device>(&mut self, device: &mut D, owner: Owner) -> Result<(), ErrorKind> {
        let numbers = (0..CONTEXTS).filter(|number| self.check(owner, *number).is_ok());
        let numbers: Vec<u32> = numbers.collect();
        let mut ended = Ok(());
        for number in numbers {
            ended = ended.and(self.close(device, owner, number));
        }
        ended
    }

    /// Unloads programs without contexts; without any context, stops the cluster.
    fn unload_unused<D: Device>(&mut self, device: &mut D) -> Result<(), ErrorKind> {
        if self.is_empty() {
            self.runs = Runs::Nothing;
            return Control(device).stop();
        }
        let Runs::Shared(programs, _) = &mut self.runs else {
            return Ok(());
        };
        let contexts = &self.contexts;
        let is_used = |loaded: &Loaded| contexts.iter().flatten().any(|tenant| tenant.data == loaded.data);
        programs.retain(is_used);
        Ok(())
    }
}
