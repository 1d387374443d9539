//! Calls of handlers that the library answers: text, and files of a folder.

use crate::border::{
    Failure, SPINNERET_ERROR_ARGUMENT, SPINNERET_ERROR_DEVICE, SPINNERET_ERROR_NO_ROOM, SPINNERET_OK,
    guarded, put, text,
};
use crate::context::{OpenContext, spinneret_context};
use crate::handles;
use spinneret_rpc::clib::Config;
use spinneret_rpc::{Beside, Libc, Offer, ServicesError, opcode};
use std::ffi::{c_char, c_int};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, MutexGuard, PoisonError};

impl From<ServicesError> for Failure {
    fn from(error: ServicesError) -> Self {
        let code = match error {
            ServicesError::Host(error) => return error.into(),
            ServicesError::HostMemory { .. } | ServicesError::Ports { .. } => SPINNERET_ERROR_NO_ROOM,
            ServicesError::OtherLayout { .. } | ServicesError::OtherCopies { .. } => SPINNERET_ERROR_ARGUMENT,
            _ => SPINNERET_ERROR_DEVICE,
        };
        Self::new(code, error.to_string())
    }
}

fn services(open: &OpenContext) -> MutexGuard<'_, Option<Beside>> {
    open.services.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers the calls of a context's handlers from now on, as `spinneret run --services` does, on a thread of the library: what
/// they print by `spin_stdio.h` goes to standard error, in lines that begin with the HPU and have no characters that a terminal obeys,
/// and the files that they open are those of a folder, which they
/// cannot leave. Without a folder they open none. It needs host memory behind the pages of `spin_host.h`: a MiB is enough for 16 HPUs.
///
/// # Safety
/// `folder` is a string or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_services_open(
    context: *mut spinneret_context,
    folder: *const c_char,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenContext> = handles::get(context)?;
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
        let libc = move || Libc::new(offer.version, Config::of_folder(folder.clone()));
        // Who asks for a folder that is not there hears of it here, not the thread.
        libc().map_err(|error| Failure::argument(format!("folder: it cannot be opened: {error}")))?;
        *services = Some(Beside::open(Arc::clone(&open.context), &offer, move |server| {
            // If the folder has gone since, nothing is answered.
            if let Ok(libc) = libc() {
                let libc = Rc::new(libc);
                server.add(opcode::LIBC, libc.clone());
                server.add(opcode::SPINNERET, libc);
            }
        })?);
        Ok(SPINNERET_OK)
    })
}

/// Answers what handlers have called, and nothing from then on; closing the context does the same. `calls` may be null, or
/// gets how many were answered.
///
/// # Safety
/// A number can be written at `calls`, if it is not null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_services_close(context: *mut spinneret_context, calls: *mut u64) -> c_int {
    guarded(|| {
        let open: Arc<OpenContext> = handles::get(context)?;
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
