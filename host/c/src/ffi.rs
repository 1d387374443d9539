//! The boundary between C and Rust: validates arguments, converts errors to numbers and messages, and has the handles.

use spinneret_host::{DeviceError, Error, ErrorKind, ProgramError};
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::without_provenance_mut;
use std::slice;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A call succeeded.
pub const SPINNERET_OK: c_int = 0;
/// Invalid argument: a null pointer, a closed handle, an unknown name, an invalid range of memory.
pub const SPINNERET_ERROR_ARGUMENT: c_int = -1;
/// There is no such NIC, or another program uses it.
pub const SPINNERET_ERROR_OPEN: c_int = -2;
/// The file is not a program for the NIC, or does not have the handlers.
pub const SPINNERET_ERROR_PROGRAM: c_int = -3;
/// No context or no memory is left, or other contexts run another program.
pub const SPINNERET_ERROR_NO_ROOM: c_int = -4;
/// The NIC refused a request, or did not answer as expected.
pub const SPINNERET_ERROR_DEVICE: c_int = -5;
/// The NIC, its driver or the process that simulates it has disappeared.
pub const SPINNERET_ERROR_GONE: c_int = -6;
/// Timeout.
pub const SPINNERET_ERROR_TIMEOUT: c_int = -7;
/// Internal error of the library.
pub const SPINNERET_ERROR_INTERNAL: c_int = -8;

/// Maximum length of a name or path in bytes, without the terminating 0.
pub const SPINNERET_LONGEST_NAME: usize = 4095;

/// A failed call: its result and its message.
#[derive(Debug)]
pub struct Failure {
    code: c_int,
    message: String,
}

impl Failure {
    /// A failure with one of the header's numbers.
    pub fn new(code: c_int, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message }
    }

    /// An argument is wrong.
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(SPINNERET_ERROR_ARGUMENT, message)
    }

    fn internal(panic: &(dyn Any + Send)) -> Self {
        let reason = panic
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| panic.downcast_ref::<String>().cloned());
        let reason = reason.unwrap_or_else(|| "no reason is known".to_owned());
        Self {
            code: SPINNERET_ERROR_INTERNAL,
            message: format!("a fault of the library, please report it: {reason}"),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match &error.kind {
            ErrorKind::Open(_) => SPINNERET_ERROR_OPEN,
            ErrorKind::Program(_) | ErrorKind::NoStart { .. } => SPINNERET_ERROR_PROGRAM,
            ErrorKind::NoContext(_) | ErrorKind::OtherProgram { .. } => SPINNERET_ERROR_NO_ROOM,
            ErrorKind::TimedOut { .. } => SPINNERET_ERROR_TIMEOUT,
            ErrorKind::State { .. } | ErrorKind::NoShares => SPINNERET_ERROR_DEVICE,
            ErrorKind::Ruleset(_)
            | ErrorKind::Outside { .. }
            | ErrorKind::Misaligned { .. }
            | ErrorKind::NoVariable { .. }
            | ErrorKind::Share { .. }
            | ErrorKind::TooManyClusters { .. } => SPINNERET_ERROR_ARGUMENT,
            ErrorKind::Register { source, .. }
            | ErrorKind::Cluster { source, .. }
            | ErrorKind::Device(source) => match source {
                DeviceError::Gone(_) => SPINNERET_ERROR_GONE,
                DeviceError::NoMemory(_) | DeviceError::Full(_) => SPINNERET_ERROR_NO_ROOM,
                DeviceError::Refused(_) | DeviceError::NoAccess => SPINNERET_ERROR_DEVICE,
            },
        };
        let message = error.to_string();
        Self { code, message }
    }
}

impl From<ProgramError> for Failure {
    fn from(error: ProgramError) -> Self {
        Self {
            code: SPINNERET_ERROR_PROGRAM,
            message: error.to_string(),
        }
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Runs a call, and catches panics.
pub fn guarded(call: impl FnOnce() -> Result<c_int, Failure>) -> c_int {
    // State that a panic leaves inconsistent is neither locked nor used again.
    let result = catch_unwind(AssertUnwindSafe(call));
    match result.unwrap_or_else(|panic| Err(Failure::internal(&*panic))) {
        Ok(value) => value,
        Err(Failure { code, message }) => {
            LAST.set(c_string(&message));
            code
        }
    }
}

/// Converts a text for C, without zero bytes.
pub fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

/// Returns the error message of the last failed call of this thread: one sentence in UTF-8, empty if no call has failed. It
/// is valid until the next call of this thread that fails.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_error_message() -> *const c_char {
    LAST.with_borrow(|message| message.as_ptr())
}

/// A string of the caller.
///
/// # Safety
/// It is null, or points to a string with a 0 at its end that does not change meanwhile.
pub unsafe fn text<'c>(string: *const c_char, what: &str) -> Result<&'c str, Failure> {
    if string.is_null() {
        return Err(Failure::argument(format!("{what} is a null pointer")));
    }
    // SAFETY: the byte is behind others that are not the 0 at the end.
    let is_end = |length: &usize| unsafe { string.add(*length).read() } == 0;
    let Some(length) = (0..=SPINNERET_LONGEST_NAME).find(is_end) else {
        return Err(Failure::argument(format!(
            "{what} has more than {SPINNERET_LONGEST_NAME} bytes"
        )));
    };
    // SAFETY: the loop has read these bytes and the 0 after them.
    let bytes = unsafe { slice::from_raw_parts(string.cast(), length + 1) };
    let text = CStr::from_bytes_with_nul(bytes)
        .ok()
        .and_then(|text| text.to_str().ok());
    text.ok_or_else(|| Failure::argument(format!("{what} is not UTF-8")))
}

/// Writes a value to a pointer of the caller.
///
/// # Safety
/// The place is null, or a value can be written there.
pub unsafe fn put<T>(place: *mut T, what: &str, value: T) -> Result<(), Failure> {
    check_place(place, what)?;
    // SAFETY: the caller says that it can be written.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// Checks a pointer for a result, before the call has effects.
pub fn check_place<T>(place: *mut T, what: &str) -> Result<(), Failure> {
    match place.is_null() {
        true => Err(Failure::argument(format!("{what} is a null pointer"))),
        false => Ok(()),
    }
}

/// Bytes of the caller.
///
/// # Safety
/// `bytes` is null, or `count` bytes can be read there and do not change meanwhile.
pub unsafe fn bytes<'c>(bytes: *const c_void, count: usize) -> Result<&'c [u8], Failure> {
    check_buffer(bytes, count)?;
    match count {
        0 => Ok(&[]),
        // SAFETY: the caller says that they are there, and there are not too many of them.
        count => Ok(unsafe { slice::from_raw_parts(bytes.cast(), count) }),
    }
}

/// Writes bytes to a buffer of the caller.
///
/// # Safety
/// The buffer is null, or has room for these bytes.
pub unsafe fn put_bytes(buffer: *mut c_void, bytes: &[u8]) -> Result<(), Failure> {
    check_buffer(buffer, bytes.len())?;
    if !bytes.is_empty() {
        // SAFETY: the caller says that there is room, which is not ours.
        unsafe {
            buffer
                .cast::<u8>()
                .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
        };
    }
    Ok(())
}

fn check_buffer(buffer: *const c_void, count: usize) -> Result<(), Failure> {
    match buffer.is_null() && count > 0 || isize::try_from(count).is_err() {
        true => Err(Failure::argument(format!(
            "there is no buffer of {count} bytes at {buffer:p}"
        ))),
        false => Ok(()),
    }
}

/// A kind of object with a handle.
pub trait Kind: Object {
    /// Its name in messages.
    const NAME: &str;
}

/// An object with a handle.
pub trait Object: Any + Send + Sync {
    /// The handle of its owner, which closes it as well.
    fn owner(&self) -> Option<usize> {
        None
    }

    /// Closes the object, after its handle was removed.
    fn close(self: Arc<Self>) -> Result<(), Failure> {
        Ok(())
    }
}

struct Table {
    last: usize,
    objects: BTreeMap<usize, Arc<dyn Object>>,
}

static TABLE: Mutex<Table> = Mutex::new(Table {
    last: 0,
    objects: BTreeMap::new(),
});

/// Ignores poisoning, because changes of the table do not panic.
fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds an object, and returns its handle.
pub fn insert<K: Kind, C>(object: K) -> *mut C {
    let mut table = table();
    table.last += 1;
    let handle = table.last;
    table.objects.insert(handle, Arc::new(object));
    without_provenance_mut(handle)
}

/// Returns the object of a handle.
pub fn get<K: Kind, C>(handle: *mut C) -> Result<Arc<K>, Failure> {
    let table = table();
    let object = table.objects.get(&handle.addr()).cloned();
    object
        .and_then(|object| (object as Arc<dyn Any + Send + Sync>).downcast().ok())
        .ok_or_else(|| wrong::<K, C>(handle))
}

/// Removes a handle, and returns its object.
pub fn remove<K: Kind, C>(handle: *mut C) -> Result<Arc<K>, Failure> {
    let found = get::<K, C>(handle)?;
    table().objects.remove(&handle.addr());
    Ok(found)
}

/// Removes the handles of all objects of an owner.
pub fn remove_all<C>(owner: *mut C) -> Vec<Arc<dyn Object>> {
    let mut table = table();
    let belongs = |object: &mut Arc<dyn Object>| object.owner() == Some(owner.addr());
    let removed = table.objects.extract_if(.., |_, object| belongs(object));
    removed.map(|(_, object)| object).collect()
}

fn wrong<K: Kind, C>(handle: *mut C) -> Failure {
    Failure::argument(match handle.is_null() {
        true => format!("the {} is a null pointer", K::NAME),
        false => format!("{handle:p} is no {} that is open", K::NAME),
    })
}

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("a version has no 0"),
};

/// Returns the version of the loaded library, such as `0.1.0`. `SPINNERET_VERSION` is that of the header.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_version() -> *const c_char {
    VERSION.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_an_error_with_a_message() {
        let code = guarded(|| panic!("number {}", 7));
        assert_eq!(code, SPINNERET_ERROR_INTERNAL);
        // SAFETY: the message is there until the next failure.
        let message = unsafe { CStr::from_ptr(spinneret_error_message()) };
        let message = message.to_str().expect("it is text");
        assert!(message.ends_with("please report it: number 7"), "{message}");
    }

    #[test]
    fn every_thread_has_its_own_message() {
        guarded(|| Err(Failure::argument("here")));
        let other = std::thread::spawn(|| {
            // SAFETY: as above.
            unsafe { CStr::from_ptr(spinneret_error_message()) }
                .to_bytes()
                .len()
        });
        assert_eq!(other.join().expect("it does not panic"), 0);
    }

    #[test]
    fn a_message_is_whole_even_with_a_0_in_it() {
        assert_eq!(c_string("a\0b").to_bytes(), "a\u{fffd}b".as_bytes());
    }
}
