//! Services for calls of handlers: those of libc, and functions of the program.

use crate::calls::{Functions, TypedFunction, spinneret_answer, spinneret_function};
use crate::context::{OpenContext, spinneret_context};
use crate::ffi::{
    self, Failure, SPINNERET_ERROR_ARGUMENT, SPINNERET_ERROR_DEVICE, SPINNERET_ERROR_NO_ROOM, SPINNERET_OK,
    guarded, put, text,
};
use spinneret_rpc::clib::Config;
use spinneret_rpc::described::{Body, Described, DescribedService};
use spinneret_rpc::{BackgroundService, Emissary, Libc, Offer, ServicesError, opcode};
use std::ffi::{c_char, c_int, c_void};
use std::path::PathBuf;
use std::rc::Rc;
use std::slice;
use std::sync::{Arc, MutexGuard, PoisonError};

impl From<ServicesError> for Failure {
    fn from(error: ServicesError) -> Self {
        let code = match error {
            ServicesError::Host(error) => return error.into(),
            ServicesError::HostMemory { .. } | ServicesError::Ports { .. } => SPINNERET_ERROR_NO_ROOM,
            ServicesError::OtherLayout { .. }
            | ServicesError::OtherCopies { .. }
            | ServicesError::OtherVersion { .. } => SPINNERET_ERROR_ARGUMENT,
            _ => SPINNERET_ERROR_DEVICE,
        };
        Self::new(code, error.to_string())
    }
}

const OPEN: &str = "services of this context are open already: offer functions before";

fn services(open: &OpenContext) -> MutexGuard<'_, Option<BackgroundService>> {
    open.services.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Offers functions of the program to the handlers of a context, which call them by the number of an API, 1 to 63, in the
/// encoding of Emissary APIs (`emissary.h`): `answer` is called with `state` for each call, on the thread of the library, once the
/// services of the context are open. `EMIS_ID_RESERVE` of `emissary.h` and larger numbers are free.
///
/// # Safety
/// `answer` and `state` can be used on another thread until the services or the context are closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_services_offer(
    context: *mut spinneret_context,
    api: u16,
    answer: spinneret_answer,
    state: *mut c_void,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenContext> = ffi::get(context)?;
        // SAFETY: the caller promises both.
        let functions = unsafe { Functions::new(answer, state) }?;
        if services(&open).is_some() {
            return Err(Failure::argument(OPEN));
        }
        let mut offered = open.functions.lock().unwrap_or_else(PoisonError::into_inner);
        // An API that takes the number tells here what is wrong with it, not on the thread.
        let emissary = Emissary::default();
        for (number, functions) in offered.iter().copied().chain([(api, functions)]) {
            let registered = emissary.register(number, Rc::new(functions));
            registered.map_err(|error| Failure::argument(format!("api: {error}")))?;
        }
        offered.push((api, functions));
        Ok(SPINNERET_OK)
    })
}

/// Offers functions with prototypes to the handlers of a context, which call them by stubs. The command `spinneret
/// service` generates the stubs and the call of this function from a header (docs/host/services.md). The functions are called with `state` on the thread of the
/// library, once the services of the context are open. If a handler has a stub of another version, the services do not open.
///
/// # Safety
/// There are `count` functions with strings as texts. They and `state` can be used on another thread until the services or the context
/// are closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_services_offer_functions(
    context: *mut spinneret_context,
    functions: *const spinneret_function,
    count: usize,
    state: *mut c_void,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenContext> = ffi::get(context)?;
        if functions.is_null() || count > usize::from(u16::MAX) {
            return Err(Failure::argument(
                "functions is a null pointer, or count is above 65535",
            ));
        }
        // SAFETY: the caller promises the functions.
        let functions = unsafe { slice::from_raw_parts(functions, count) };
        if services(&open).is_some() {
            return Err(Failure::argument(OPEN));
        }
        let mut offered = open.typed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut new = Vec::new();
        for function in functions {
            // SAFETY: the caller promises text, function and state.
            let (described, function) = unsafe { TypedFunction::new(function, state) }?;
            let others = offered.iter().chain(&new);
            let same = |other: &&(Described, _)| other.0.opcode() == described.opcode();
            if let Some((other, _)) = others.into_iter().find(same) {
                return Err(Failure::argument(format!(
                    "`{}` has the same numbers as `{}`: give its service or the function another one",
                    described.name(),
                    other.name()
                )));
            }
            new.push((described, function));
        }
        offered.append(&mut new);
        Ok(SPINNERET_OK)
    })
}

/// Starts a thread that answers the calls of a context's handlers, as `spinneret run --services` does. Their output with
/// `spin_stdio.h` goes to standard error, in lines that begin with the HPU and have no control characters. They can open files
/// in a folder, and nowhere else; without a folder, none. The calls need host memory after the pages of `spin_host.h`: 1 MiB is
/// enough for 16 HPUs.
///
/// # Safety
/// `folder` is a string or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_services_open(
    context: *mut spinneret_context,
    folder: *const c_char,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenContext> = ffi::get(context)?;
        let folder = match folder.is_null() {
            true => None,
            // SAFETY: the caller promises a string.
            false => Some(PathBuf::from(unsafe { text(folder, "folder") }?)),
        };
        let mut services = services(&open);
        if services.is_some() {
            return Err(Failure::argument(
                "services of this context are open already: close them first",
            ));
        }
        let offer = Offer::default();
        let offered = open
            .functions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let typed = open.typed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let libc = move || Libc::new(offer.version, Config::of_folder(folder.clone()));
        // Report a missing folder here, not in the thread.
        libc().map_err(|error| Failure::argument(format!("folder: it cannot be opened: {error}")))?;
        *services = Some(BackgroundService::open(
            Arc::clone(&open.context),
            &offer,
            move |server| {
                // If the folder has been removed since, no calls are answered.
                if let Ok(libc) = libc() {
                    let libc = Rc::new(libc);
                    server.add(opcode::LIBC, libc.clone());
                    server.add(opcode::SPINNERET, libc);
                }
                let typed = typed.into_iter().map(|(described, function)| {
                    let body: Body = Box::new(move |arguments| function.call(arguments));
                    (described, body)
                });
                server.add(opcode::SPINNERET, Rc::new(DescribedService::new(typed.collect())));
                let emissary = Emissary::default();
                for (api, functions) in offered {
                    // The numbers were checked when they were offered.
                    let _ = emissary.register(api, Rc::new(functions));
                }
                server.add(opcode::EMISSARY, Rc::new(emissary));
            },
        )?);
        Ok(SPINNERET_OK)
    })
}

/// Answers pending calls, and ends the thread; closing the context does the same. The number of answered calls is written to
/// `calls`, which may be null.
///
/// # Safety
/// A number can be written at `calls`, if it is not null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_services_close(context: *mut spinneret_context, calls: *mut u64) -> c_int {
    guarded(|| {
        let open: Arc<OpenContext> = ffi::get(context)?;
        let Some(beside) = services(&open).take() else {
            return Err(Failure::argument("no services of this context are open"));
        };
        let (counts, _) = beside.close()?;
        if !calls.is_null() {
            // SAFETY: the caller promises the place.
            unsafe { put(calls, "calls", counts.calls) }?;
        }
        Ok(SPINNERET_OK)
    })
}
