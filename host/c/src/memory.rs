//! Memory that handlers and the program share, and waiting for values in it.

use crate::context::{OpenContext, spinneret_context};
use crate::ffi;
use crate::ffi::{Failure, SPINNERET_OK, bytes as read_bytes, check_place, guarded, put, put_bytes, text};
use spinneret_host::{Error, Word};
use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;
use std::time::Duration;

/// Wait until the word has the value.
pub const SPINNERET_EQUAL: u32 = 0;
/// Wait until the word is the value or more.
pub const SPINNERET_AT_LEAST: u32 = 1;

/// Returns the address of a context's host memory on the NIC, and its size.
///
/// # Safety
/// The results are written to `address` and `bytes`, which may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_host_memory(
    context: *mut spinneret_context,
    address: *mut u64,
    bytes: *mut u32,
) -> c_int {
    with(context, |open| {
        let memory = open.context.host_memory();
        // SAFETY: the caller promises the places.
        unsafe {
            if !address.is_null() {
                put(address, "address", memory.address())?;
            }
            if !bytes.is_null() {
                put(bytes, "bytes", memory.len())?;
            }
        }
        Ok(())
    })
}

/// Reads host memory of a context.
///
/// # Safety
/// There is room for `count` bytes at `bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_host_read(
    context: *mut spinneret_context,
    offset: u32,
    bytes: *mut c_void,
    count: usize,
) -> c_int {
    with(context, |open| {
        let memory = open.context.host_memory();
        // SAFETY: the caller promises the room.
        unsafe { fetch(memory.len(), bytes, count, |into| memory.read(offset, into)) }
    })
}

/// Writes host memory of a context.
///
/// # Safety
/// `count` bytes can be read at `bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_host_write(
    context: *mut spinneret_context,
    offset: u32,
    bytes: *const c_void,
    count: usize,
) -> c_int {
    with(context, |open| {
        // SAFETY: the caller promises the bytes.
        let from = unsafe { read_bytes(bytes, count) }?;
        Ok(open.context.host_memory().write(offset, from)?)
    })
}

/// Reads 4 bytes of host memory atomically, at a multiple of 4.
///
/// # Safety
/// The value is written to `value`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_host_load32(
    context: *mut spinneret_context,
    offset: u32,
    value: *mut u32,
) -> c_int {
    // SAFETY: the caller promises the place.
    unsafe { load(context, offset, value) }
}

/// Reads 8 bytes of host memory atomically, at a multiple of 8.
///
/// # Safety
/// The value is written to `value`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_host_load64(
    context: *mut spinneret_context,
    offset: u32,
    value: *mut u64,
) -> c_int {
    // SAFETY: the caller promises the place.
    unsafe { load(context, offset, value) }
}

/// Writes 4 bytes of host memory atomically, at a multiple of 4.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_host_store32(context: *mut spinneret_context, offset: u32, value: u32) -> c_int {
    with(context, |open| {
        Ok(open.context.host_memory().store(offset, value)?)
    })
}

/// Writes 8 bytes of host memory atomically, at a multiple of 8.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_host_store64(context: *mut spinneret_context, offset: u32, value: u64) -> c_int {
    with(context, |open| {
        Ok(open.context.host_memory().store(offset, value)?)
    })
}

/// Reads handler memory of a context, in atomic accesses of 4 bytes.
///
/// # Safety
/// There is room for `count` bytes at `bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_handler_read(
    context: *mut spinneret_context,
    offset: u32,
    bytes: *mut c_void,
    count: usize,
) -> c_int {
    with(context, |open| {
        let memory = open.context.handler_memory();
        // SAFETY: the caller promises the room.
        unsafe { fetch(memory.len(), bytes, count, |into| memory.read(offset, into)) }
    })
}

/// Writes handler memory of a context, in atomic accesses of 4 bytes.
///
/// # Safety
/// `count` bytes can be read at `bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_handler_write(
    context: *mut spinneret_context,
    offset: u32,
    bytes: *const c_void,
    count: usize,
) -> c_int {
    with(context, |open| {
        // SAFETY: the caller promises the bytes.
        let from = unsafe { read_bytes(bytes, count) }?;
        Ok(open.context.handler_memory().write(offset, from)?)
    })
}

/// Reads a global variable of the program, in atomic accesses of 4 bytes; it is little-endian. All contexts share it.
///
/// # Safety
/// `name` is a string; there is room for `count` bytes at `bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_variable_read(
    context: *mut spinneret_context,
    name: *const c_char,
    offset: u32,
    bytes: *mut c_void,
    count: usize,
) -> c_int {
    with(context, |open| {
        // SAFETY: the caller promises a string.
        let variable = open.context.variable(unsafe { text(name, "name") }?)?;
        // SAFETY: the caller promises the room.
        unsafe { fetch(variable.len(), bytes, count, |into| variable.read(offset, into)) }
    })
}

/// Writes a global variable of the program, in atomic accesses of 4 bytes.
///
/// # Safety
/// `name` is a string; `count` bytes can be read at `bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_variable_write(
    context: *mut spinneret_context,
    name: *const c_char,
    offset: u32,
    bytes: *const c_void,
    count: usize,
) -> c_int {
    with(context, |open| {
        // SAFETY: the caller promises a string, and the bytes.
        let (name, from) = unsafe { (text(name, "name")?, read_bytes(bytes, count)?) };
        Ok(open.context.variable(name)?.write(offset, from)?)
    })
}

/// Waits until a 4-byte word of host memory, at a multiple of 4, fulfils a condition: `SPINNERET_EQUAL` or
/// `SPINNERET_AT_LEAST`.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_wait_host(
    context: *mut spinneret_context,
    offset: u32,
    condition: u32,
    value: u32,
    timeout_nanoseconds: u64,
) -> c_int {
    with(context, |open| {
        let memory = open.context.host_memory();
        let what = format!("{value} at {offset:#x} of host memory");
        wait(open, &what, condition, value, timeout_nanoseconds, || {
            memory.load(offset)
        })
    })
}

/// Waits until a 4-byte word of a global variable of the program fulfils a condition: `SPINNERET_EQUAL` or
/// `SPINNERET_AT_LEAST`.
///
/// # Safety
/// `name` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_wait_variable(
    context: *mut spinneret_context,
    name: *const c_char,
    offset: u32,
    condition: u32,
    value: u32,
    timeout_nanoseconds: u64,
) -> c_int {
    with(context, |open| {
        // SAFETY: the caller promises a string.
        let name = unsafe { text(name, "name") }?;
        let variable = open.context.variable(name)?;
        let what = format!("{value} in `{name}`");
        wait(open, &what, condition, value, timeout_nanoseconds, || {
            variable.load(offset)
        })
    })
}

/// Runs a call on a context.
pub(crate) fn with(
    context: *mut spinneret_context,
    call: impl FnOnce(&OpenContext) -> Result<(), Failure>,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenContext> = ffi::get(context)?;
        call(&open)?;
        Ok(SPINNERET_OK)
    })
}

/// Reads memory into a buffer of the caller, which may be uninitialised.
///
/// # Safety
/// The buffer is null, or has room for the requested bytes.
unsafe fn fetch(
    size: u32,
    buffer: *mut c_void,
    count: usize,
    read: impl FnOnce(&mut [u8]) -> Result<(), Error>,
) -> Result<(), Failure> {
    if count > size as usize {
        return Err(Failure::argument(format!(
            "{count} bytes are more than the {size} that there are"
        )));
    }
    let mut bytes = vec![0; count];
    read(&mut bytes)?;
    // SAFETY: the caller promises the room.
    unsafe { put_bytes(buffer, &bytes) }
}

/// Reads a word of host memory.
///
/// # Safety
/// The place is null, or a word can be written there.
unsafe fn load<W: Word>(context: *mut spinneret_context, offset: u32, value: *mut W) -> c_int {
    with(context, |open| {
        check_place(value, "value")?;
        let word = open.context.host_memory().load(offset)?;
        // SAFETY: the caller promises the place.
        unsafe { put(value, "value", word) }
    })
}

fn wait(
    open: &OpenContext,
    what: &str,
    condition: u32,
    value: u32,
    timeout_nanoseconds: u64,
    look: impl Fn() -> Result<u32, Error>,
) -> Result<(), Failure> {
    let is_so = match condition {
        SPINNERET_EQUAL => |word, value| word == value,
        SPINNERET_AT_LEAST => |word, value| word >= value,
        _ => {
            return Err(Failure::argument(format!(
                "condition is {condition}, and neither SPINNERET_EQUAL nor SPINNERET_AT_LEAST"
            )));
        }
    };
    let limit = Duration::from_nanos(timeout_nanoseconds);
    let nic = open.context.nic();
    Ok(nic.wait_until(what, limit, || Ok(is_so(look()?, value)))?)
}
