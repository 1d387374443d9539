//! Programs and contexts.

use crate::border::{Failure, SPINNERET_OK, check_place, guarded, put, text};
use crate::handles::{self, Kind, Object};
use crate::nic::{OpenNic, spinneret_nic};
use crate::rules::{ruleset, spinneret_ruleset};
use spinneret_host::{Context, Options, Program};
use spinneret_rpc::Beside;
use std::ffi::{c_char, c_int};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A program for the NIC.
#[derive(Debug)]
pub struct spinneret_program {
    _opaque: [u8; 0],
}

/// Handlers on a NIC.
#[derive(Debug)]
pub struct spinneret_context {
    _opaque: [u8; 0],
}

/// What a context gets.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spinneret_options {
    /// Host memory in bytes; 0 for none.
    pub host_bytes: u32,
    /// Handler memory in bytes; 0 for a quarter of what the program leaves.
    pub handler_bytes: u32,
    /// Scratchpad in each cluster in bytes; 0 for a quarter of what there is.
    pub scratchpad_bytes: u32,
}

/// A context with a handle.
#[derive(Debug)]
pub(crate) struct OpenContext {
    // They end before the context does.
    pub(crate) services: Mutex<Option<Beside>>,
    pub(crate) context: Arc<Context>,
    /// The handle of its NIC.
    pub(crate) nic: usize,
}

impl Kind for OpenContext {
    const NAME: &str = "context";
}

impl Object for OpenContext {
    fn owner(&self) -> Option<usize> {
        Some(self.nic)
    }

    /// If another thread uses it just now, it ends as soon as that is done.
    fn close(self: Arc<Self>) -> Result<(), Failure> {
        let Some(Self {
            services, context, ..
        }) = Arc::into_inner(self)
        else {
            return Ok(());
        };
        drop(services);
        match Arc::into_inner(context) {
            Some(context) => Ok(context.close()?),
            None => Ok(()),
        }
    }
}

impl Kind for Program {
    const NAME: &str = "program";
}

impl Object for Program {}

/// Reads a program: an ELF file with handlers.
///
/// # Safety
/// `path` is a string; the handle is left at `program`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_program_open(
    path: *const c_char,
    program: *mut *mut spinneret_program,
) -> c_int {
    guarded(|| {
        check_place(program, "program")?;
        // SAFETY: the caller promises a string.
        let path = unsafe { text(path, "path") }?;
        let handle = handles::insert(Program::open(Path::new(path))?);
        // SAFETY: the caller promises the place.
        unsafe { put(program, "program", handle) }?;
        Ok(SPINNERET_OK)
    })
}

/// Closes a program. Contexts that run it go on.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_program_close(program: *mut spinneret_program) -> c_int {
    guarded(|| {
        handles::remove::<Program, _>(program)?;
        Ok(SPINNERET_OK)
    })
}

/// Opens a context: packets that match `rules` are handled by the handlers `NAME_hh`, `NAME_ph` and `NAME_th` of the program,
/// where NAME is `handlers`. All contexts of a NIC share one program.
///
/// # Safety
/// `handlers` is a string; `rules` and `options` can be read, and `options` may be null for 1 MiB of host memory and a quarter
/// of everything; the handle is left at `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_open_context(
    nic: *mut spinneret_nic,
    program: *mut spinneret_program,
    handlers: *const c_char,
    rules: *const spinneret_ruleset,
    options: *const spinneret_options,
    context: *mut *mut spinneret_context,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenNic> = handles::get(nic)?;
        let program: Arc<Program> = handles::get(program)?;
        check_place(context, "context")?;
        // SAFETY: the caller promises a string, and that the others can be read.
        let (name, rules, options) = unsafe { (text(handlers, "handlers")?, ruleset(rules)?, read(options)) };
        let opened = open.nic.open_context(&program, name, &rules, &options)?;
        let handle = handles::insert(OpenContext {
            services: Mutex::default(),
            context: Arc::new(opened),
            nic: nic.addr(),
        });
        // SAFETY: the caller promises the place.
        unsafe { put(context, "context", handle) }?;
        Ok(SPINNERET_OK)
    })
}

/// The options of the caller, or the usual ones.
///
/// # Safety
/// They are null, or can be read.
unsafe fn read(options: *const spinneret_options) -> Options {
    if options.is_null() {
        return Options::default();
    }
    // SAFETY: the caller says that they can be read; every pattern of bits is good.
    let given = unsafe { options.read_unaligned() };
    let unless_0 = |bytes| Some(bytes).filter(|bytes| *bytes != 0);
    Options {
        host_bytes: given.host_bytes,
        handler_bytes: unless_0(given.handler_bytes),
        scratchpad_bytes: unless_0(given.scratchpad_bytes),
    }
}

/// Closes a context: its handlers end, its memory is freed, and its packets go to the host again. The handle is used up, even
/// if something fails.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_close_context(context: *mut spinneret_context) -> c_int {
    guarded(|| {
        handles::remove::<OpenContext, _>(context)?.close()?;
        Ok(SPINNERET_OK)
    })
}

/// Changes which packets go to a context.
///
/// # Safety
/// `rules` can be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_set_rules(
    context: *mut spinneret_context,
    rules: *const spinneret_ruleset,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenContext> = handles::get(context)?;
        // SAFETY: the caller promises that they can be read.
        open.context.set_ruleset(&unsafe { ruleset(rules) }?)?;
        Ok(SPINNERET_OK)
    })
}

/// Reads what handlers have counted with `push_counter(&__host_data.counters[index], value)`: the sum of the values, modulo
/// 2^32, and how many there were.
///
/// # Safety
/// The results are left at `sum` and `count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_handler_counter(
    context: *mut spinneret_context,
    index: u32,
    sum: *mut u32,
    count: *mut u32,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenContext> = handles::get(context)?;
        check_place(sum, "sum")?;
        check_place(count, "count")?;
        let counter = open.context.handler_counter(index)?;
        // SAFETY: the caller promises both places.
        unsafe {
            put(sum, "sum", counter.sum)?;
            put(count, "count", counter.count)?;
        }
        Ok(SPINNERET_OK)
    })
}
