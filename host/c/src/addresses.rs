//! Where the memory and the handlers of a context are, for programs that compute addresses themselves.

use crate::context::{OpenContext, handlers_name, spinneret_context, spinneret_program};
use crate::ffi::{self, Failure, SPINNERET_OK, check_place, guarded, put, text};
use crate::memory::with;
use spinneret_host::{CounterQueue, Error, ErrorKind, HANDLER_COUNTERS, HandlerMemory, Program};
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Arc, PoisonError};

/// The code of a handler in its program's file. Next to other programs it is at another address.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spinneret_code {
    /// Address; 0 if there is no such handler.
    pub address: u32,
    /// Size in bytes.
    pub bytes: u32,
}

/// Returns the code of the handlers `NAME_hh`, `NAME_ph` and `NAME_th`, where NAME is `handlers`, in this order.
///
/// # Safety
/// `handlers` is a string, or null if the program has handlers of one name; `codes` has room for three.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_handlers(
    program: *mut spinneret_program,
    handlers: *const c_char,
    codes: *mut spinneret_code,
) -> c_int {
    guarded(|| {
        let program: Arc<Program> = ffi::get(program)?;
        // SAFETY: the caller promises a string or null.
        let name = unsafe { handlers_name(&program, handlers) }?;
        let found = program.find(&name)?.map(|code| spinneret_code {
            address: code.address,
            bytes: code.size,
        });
        // SAFETY: the caller promises room for three.
        unsafe { put(codes.cast::<[spinneret_code; 3]>(), "codes", found) }?;
        Ok(SPINNERET_OK)
    })
}

/// Returns a pointer to the host memory of a context, which is valid until the context is closed. Handlers write there at any
/// time.
///
/// # Safety
/// The pointer is written to `memory`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_host_pointer(
    context: *mut spinneret_context,
    memory: *mut *mut c_void,
) -> c_int {
    with(context, |open| {
        let pointer = open.context.host_memory().pointer()?;
        // SAFETY: the caller promises the place.
        unsafe { put(memory, "memory", pointer.as_ptr().cast()) }
    })
}

/// Returns the address of a context's handler memory on the NIC, and its size.
///
/// # Safety
/// The results are written to `address` and `bytes`, which may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_handler_memory(
    context: *mut spinneret_context,
    address: *mut u32,
    bytes: *mut u32,
) -> c_int {
    // SAFETY: the caller promises the places.
    with(context, |open| unsafe {
        put_memory(&open.context.handler_memory(), address, bytes)
    })
}

/// Returns the address of a global variable of the program on the NIC, and its size.
///
/// # Safety
/// `name` is a string; the results are written to `address` and `bytes`, which may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_variable(
    context: *mut spinneret_context,
    name: *const c_char,
    address: *mut u32,
    bytes: *mut u32,
) -> c_int {
    with(context, |open| {
        // SAFETY: the caller promises a string.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller promises the places.
        unsafe { put_memory(&open.context.variable(name)?, address, bytes) }
    })
}

/// Writes where memory is.
///
/// # Safety
/// The places are null or can be written to.
unsafe fn put_memory(memory: &HandlerMemory, address: *mut u32, bytes: *mut u32) -> Result<(), Failure> {
    for (place, value) in [(address, memory.address()), (bytes, memory.len())] {
        if !place.is_null() {
            // SAFETY: as above.
            unsafe { put(place, "a result", value) }?;
        }
    }
    Ok(())
}

/// Takes the oldest value that handlers have pushed with `push_counter(&__host_data.counters[index], value)`. Values come in the
/// order of each HPU. Returns 1 if there is one, 0 if not. Handlers do not wait: an HPU overwrites its oldest value when the last
/// 31 were not read.
///
/// # Safety
/// The value is written to `value`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_pop_counter(
    context: *mut spinneret_context,
    index: u32,
    value: *mut u32,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenContext> = ffi::get(context)?;
        check_place(value, "value")?;
        check_index(index)?;
        let found = with_queue(&open, |queue| queue.pop(index))?;
        Ok(match found {
            // SAFETY: the caller promises the place.
            Some(found) => unsafe { put(value, "value", found) }.map(|()| 1)?,
            None => 0,
        })
    })
}

/// Returns the number of values, of all counters, that were overwritten since the first call of this or of spinneret_pop_counter.
///
/// # Safety
/// The number is written to `lost`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_lost_values(context: *mut spinneret_context, lost: *mut u64) -> c_int {
    with(context, |open| {
        let count = with_queue(open, CounterQueue::lost)?;
        // SAFETY: the caller promises the place.
        unsafe { put(lost, "lost", count) }
    })
}

/// Sets a counter of handlers to 0, and discards its values.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_clear_counter(context: *mut spinneret_context, index: u32) -> c_int {
    with(context, |open| {
        check_index(index)?;
        match with_queue(open, |queue| queue.clear(index)) {
            // Handlers that push nothing have a counter as well.
            Err(error) if !matches!(error.kind, ErrorKind::NoVariable { .. }) => Err(error)?,
            _ => {}
        }
        Ok(open.context.clear_handler_counter(index)?)
    })
}

/// Uses the values of a context's counters, which are looked for at the first use.
fn with_queue<T>(
    open: &OpenContext,
    call: impl FnOnce(&mut CounterQueue) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut queue = open.queue.lock().unwrap_or_else(PoisonError::into_inner);
    let mut opened = queue.take().map_or_else(|| open.context.counter_queue(), Ok)?;
    let result = call(&mut opened);
    *queue = Some(opened);
    result
}

fn check_index(index: u32) -> Result<(), Failure> {
    match index < HANDLER_COUNTERS {
        true => Ok(()),
        false => Err(Failure::argument(format!(
            "there is no counter {index}: they are 0 to {}",
            HANDLER_COUNTERS - 1
        ))),
    }
}
