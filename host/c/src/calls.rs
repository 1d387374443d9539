//! Calls of handlers that functions of the program answer.

use crate::ffi::{Failure, SPINNERET_OK, guarded, put, text};
use spinneret_rpc::described::{Argument, Described};
use spinneret_rpc::emissary::{Api, Outcome, Reply, Request, refused};
use spinneret_rpc::{Refusal, Status};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::{self, NonNull};

/// A call of a handler: its function and its arguments. It ends with the function of the program that answers it.
///
/// An argument that is not what the program asks for fails the call: the handler gets `EMIS_FAILED`, whatever the program returns.
#[derive(Debug)]
pub struct spinneret_call {
    request: NonNull<Request>,
    refusal: Option<Refusal>,
}

/// A function of the program that answers calls. It returns the result for the handler. It must not wait for long, because all calls
/// of the context's handlers wait with it.
pub type spinneret_answer =
    Option<unsafe extern "C" fn(state: *mut c_void, call: *mut spinneret_call) -> u64>;

/// Functions of the program with their state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Functions {
    answer: unsafe extern "C" fn(*mut c_void, *mut spinneret_call) -> u64,
    state: *mut c_void,
}

// SAFETY: who makes one promises that both can be used on another thread.
unsafe impl Send for Functions {}

impl Functions {
    /// A function of the program, with its state.
    ///
    /// # Safety
    /// Both can be used on another thread, as long as calls are answered.
    pub(crate) unsafe fn new(answer: spinneret_answer, state: *mut c_void) -> Result<Self, Failure> {
        match answer {
            Some(answer) => Ok(Self { answer, state }),
            None => Err(Failure::argument("answer is a null pointer")),
        }
    }
}

impl Api for Functions {
    fn call<'a>(&'a self, request: &'a mut Request) -> Outcome<'a> {
        Box::pin(async move {
            let mut call = spinneret_call {
                request: NonNull::from(request),
                refusal: None,
            };
            // SAFETY: the program has promised that both can be used here; call and request live until it returns.
            let word = unsafe { (self.answer)(self.state, &raw mut call) };
            match call.refusal {
                Some(refusal) => Err(refusal),
                None => Ok(Reply::Integer(word.cast_signed())),
            }
        })
    }
}

/// Looks at a call, which fails if `look` refuses it.
///
/// # Safety
/// The call is null, or that of a function that runs.
unsafe fn with<'c>(
    call: *mut spinneret_call,
    look: impl FnOnce(&'c mut Request) -> Result<Result<(), Failure>, Refusal>,
) -> c_int {
    guarded(|| {
        // SAFETY: the caller promises it.
        let Some(call) = (unsafe { call.as_mut() }) else {
            return Err(Failure::argument("call is a null pointer"));
        };
        // SAFETY: the request lives as long as the call, which alone refers to it.
        let looked = look(unsafe { call.request.as_mut() });
        looked
            .unwrap_or_else(|refusal| {
                call.refusal = Some(refusal);
                Err(Failure::argument(refusal.name()))
            })
            .map(|()| SPINNERET_OK)
    })
}

/// Returns the number of the function that is called, or 0 if the call is a null pointer.
///
/// # Safety
/// The call is that of the function that runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_call_function(call: *const spinneret_call) -> u16 {
    // SAFETY: the caller promises it.
    unsafe { call.as_ref().map_or(0, |call| call.request.as_ref().function()) }
}

/// Returns how many arguments the call has, without those of its areas.
///
/// # Safety
/// As for `spinneret_call_function`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_call_arguments(call: *const spinneret_call) -> usize {
    // SAFETY: the caller promises it.
    unsafe { call.as_ref().map_or(0, |call| call.request.as_ref().arguments()) }
}

/// Fails the call, because there is no such function.
///
/// # Safety
/// As for `spinneret_call_function`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_call_refuse(call: *mut spinneret_call) -> c_int {
    // SAFETY: the caller promises it.
    let refused = unsafe { with(call, |_| Err(refused::FUNCTION)) };
    if call.is_null() { refused } else { SPINNERET_OK }
}

/// Reads an integer; arguments count from 0. Its sign is that of its type in the handler: of 32 bits it is extended.
///
/// # Safety
/// As for `spinneret_call_function`; the number is written to `value`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_call_integer(
    call: *mut spinneret_call,
    argument: usize,
    value: *mut i64,
) -> c_int {
    // SAFETY: the caller promises it, and the place.
    unsafe {
        with(call, |request| {
            Ok(put(value, "value", request.integer(argument)?))
        })
    }
}

/// Reads a number of floating point.
///
/// # Safety
/// As for `spinneret_call_integer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_call_double(
    call: *mut spinneret_call,
    argument: usize,
    value: *mut f64,
) -> c_int {
    // SAFETY: the caller promises it, and the place.
    unsafe { with(call, |request| Ok(put(value, "value", request.double(argument)?))) }
}

/// Gives a string, with a 0 at its end, or NULL if the handler has passed that. It is there until the function returns.
///
/// # Safety
/// As for `spinneret_call_integer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_call_string(
    call: *mut spinneret_call,
    argument: usize,
    text: *mut *const c_char,
) -> c_int {
    // SAFETY: the caller promises it, and the place. The string is followed by its 0.
    unsafe {
        with(call, |request| {
            let string = request.string(argument)?;
            Ok(put(
                text,
                "text",
                string.map_or(ptr::null(), |string| string.as_ptr().cast()),
            ))
        })
    }
}

/// Gives the bytes at a pointer that came with the call, to the end of their area, or NULL and 0 if the handler has passed that.
/// They are there until the function returns.
///
/// # Safety
/// As for `spinneret_call_integer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_call_input(
    call: *mut spinneret_call,
    argument: usize,
    bytes: *mut *const c_void,
    size: *mut usize,
) -> c_int {
    // SAFETY: the caller promises it, and the places.
    unsafe {
        with(call, |request| {
            let input = request.input(argument)?;
            let start = input.map_or(ptr::null(), |input| input.as_ptr().cast());
            let length = input.map_or(0, <[u8]>::len);
            Ok(put(bytes, "bytes", start).and_then(|()| put(size, "size", length)))
        })
    }
}

/// Gives the bytes at a pointer that go back to the handler, to the end of their area, or NULL and 0 if the handler has passed that.
/// Before the function writes them, they are those that came, or 0.
///
/// # Safety
/// As for `spinneret_call_integer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_call_output(
    call: *mut spinneret_call,
    argument: usize,
    bytes: *mut *mut c_void,
    size: *mut usize,
) -> c_int {
    // SAFETY: the caller promises it, and the places.
    unsafe {
        with(call, |request| {
            let output = request.output(argument)?;
            let length = output.as_ref().map_or(0, |output| output.len());
            let start = output.map_or(ptr::null_mut(), |output| output.as_mut_ptr().cast());
            Ok(put(bytes, "bytes", start).and_then(|()| put(size, "size", length)))
        })
    }
}

/// Limits the bytes that go back to a pointer: the handler's memory after them keeps what it holds.
///
/// # Safety
/// As for `spinneret_call_function`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_call_filled(
    call: *mut spinneret_call,
    argument: usize,
    size: usize,
) -> c_int {
    // SAFETY: the caller promises it.
    unsafe { with(call, |request| request.filled(argument, size).map(Ok)) }
}

/// Returns the result of a function that gives a number of floating point: its bits.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_call_result(value: f64) -> u64 {
    value.to_bits()
}

/// The status of a call of a handler: SPIN_SERVICE_DONE, or the reason of a refusal in the lowest byte, with a number of the
/// function's own above it.
pub type spin_status_t = u32;

/// The function has done its work.
pub const SPIN_SERVICE_DONE: spin_status_t = 0;
/// The function refuses. `SPIN_FAILED(NUMBER)` has a number for the handler as well, of 24 bits.
pub const SPIN_SERVICE_FAILED: spin_status_t = 11;

const _: () = assert!(SPIN_SERVICE_DONE == Status::DONE.raw() && SPIN_SERVICE_FAILED == Status::FAILED.raw());

/// A function of the program with a prototype for handlers. The command `spinneret service` generates these from a header.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spinneret_function {
    /// All that handlers and host have to agree on.
    pub text: *const c_char,
    /// The version: a hash of the text.
    pub version: u64,
    /// Calls the function. Each argument is a pointer: to a value, to a string, to elements, and last to the result.
    pub call:
        Option<unsafe extern "C" fn(state: *mut c_void, arguments: *const *mut c_void) -> spin_status_t>,
}

/// A function of the program with its state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypedFunction {
    call: unsafe extern "C" fn(*mut c_void, *const *mut c_void) -> spin_status_t,
    state: *mut c_void,
}

// SAFETY: who makes one promises that both can be used on another thread.
unsafe impl Send for TypedFunction {}

impl TypedFunction {
    /// Reads the description of a function.
    ///
    /// # Safety
    /// The text is a string. Function and state can be used on another thread, as long as calls are answered, and the function takes
    /// arguments as the text describes.
    pub(crate) unsafe fn new(
        function: &spinneret_function,
        state: *mut c_void,
    ) -> Result<(Described, Self), Failure> {
        // SAFETY: the caller promises a string.
        let text = unsafe { text(function.text, "text") }?;
        let described = Described::read(text, function.version);
        let described = described.map_err(|error| Failure::argument(error.to_string()))?;
        match function.call {
            Some(call) => Ok((described, Self { call, state })),
            None => Err(Failure::argument(format!(
                "call of `{}` is a null pointer",
                described.name()
            ))),
        }
    }

    /// Calls it.
    pub(crate) fn call(self, arguments: &mut [Argument]) -> Status {
        let pointer = |argument: &mut Argument| argument.0.as_mut_ptr().cast();
        let arguments: Vec<*mut c_void> = arguments.iter_mut().map(pointer).collect();
        // SAFETY: the program has promised that both can be used here, and that the function takes these arguments.
        let status = Status::from_raw(unsafe { (self.call)(self.state, arguments.as_ptr()) });
        match status.check() {
            // A number without a reason is not done.
            Status::DONE if status != Status::DONE => Status::failed(status.number()),
            _ => status,
        }
    }
}
