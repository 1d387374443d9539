//! The context of a thread, and its errors.

use crate::ffi;
use std::ffi::CStr;
use std::ptr::NonNull;
use std::rc::Rc;

/// Why isl gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The limit of [`limited`] was reached.
    #[error(
        "isl needs more than the {limit} operations that it was allowed; allow more, or make the loops simpler"
    )]
    Limit {
        /// Operations that were allowed.
        limit: u64,
    },
    /// isl's own words. They speak of what was given to isl, not of a user's program.
    #[error("isl: {0}")]
    Isl(String),
    /// A text with a zero byte, which isl cannot be given.
    #[error("a text for isl has a zero byte")]
    Text,
}

/// What isl answered, or why it did not.
pub type Result<T> = std::result::Result<T, Error>;

/// isl's context. Each thread has one, and all its objects belong to it, so objects of two contexts never meet.
#[derive(Debug, Clone)]
pub(crate) struct Context(Rc<Owner>);

#[derive(Debug)]
struct Owner {
    raw: NonNull<ffi::isl_ctx>,
    limit: std::cell::Cell<u64>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: every object keeps its context, so the last owner goes after the last object.
        unsafe { ffi::isl_ctx_free(self.raw.as_ptr()) }
    }
}

thread_local! {
    static CONTEXT: Context = Context::new();
}

impl Context {
    fn new() -> Self {
        // SAFETY: no conditions; null means that there is no memory.
        let raw = NonNull::new(unsafe { ffi::isl_ctx_alloc() }).expect("no memory for a context of isl");
        // SAFETY: the context is valid.
        unsafe {
            ffi::isl_options_set_on_error(raw.as_ptr(), ffi::ON_ERROR_CONTINUE);
            // Fewer parts are no gain if their conditions have divisions that nobody wrote.
            ffi::isl_options_set_coalesce_preserve_locals(raw.as_ptr(), 1);
        };
        Self(Rc::new(Owner { raw, limit: 0.into() }))
    }

    pub(crate) fn current() -> Self {
        CONTEXT.with(Self::clone)
    }

    pub(crate) fn raw(&self) -> *mut ffi::isl_ctx {
        self.0.raw.as_ptr()
    }

    /// The newest error, which is forgotten.
    pub(crate) fn error(&self) -> Error {
        // SAFETY: the context is valid; the message is null or a string that lives until the error is reset.
        unsafe {
            let quota = ffi::isl_ctx_last_error(self.raw()) == ffi::ERROR_QUOTA;
            let message = ffi::isl_ctx_last_error_msg(self.raw());
            let text = match message.is_null() {
                true => "no answer".to_owned(),
                false => CStr::from_ptr(message).to_string_lossy().into_owned(),
            };
            ffi::isl_ctx_reset_error(self.raw());
            match quota {
                true => Error::Limit {
                    limit: self.0.limit.get(),
                },
                false => Error::Isl(text),
            }
        }
    }

    /// Why a text could not be read. At the limit of operations isl's parser says no more than that the text is wrong; then it
    /// can be read without the limit.
    pub(crate) fn reading_error(&self, text: &str, read_again: impl FnOnce() -> bool) -> Error {
        let (limit, error) = (self.0.limit.get(), self.error());
        // SAFETY: the context is valid.
        unsafe { ffi::isl_ctx_set_max_operations(self.raw(), 0) };
        let is_right = limit != 0 && read_again();
        // SAFETY: the context is valid.
        unsafe { ffi::isl_ctx_set_max_operations(self.raw(), limit) };
        match error {
            Error::Isl(_) if is_right => Error::Limit { limit },
            Error::Isl(words) => Error::Isl(format!("{words} in {text}")),
            other => other,
        }
    }

    /// Operations that are allowed from now on; 0 is no limit.
    fn limit(&self, operations: u64) {
        self.0.limit.set(operations);
        // SAFETY: the context is valid.
        unsafe { ffi::isl_ctx_set_max_operations(self.raw(), operations) };
    }

    /// What an object of isl's `isl_size` or `isl_bool` means: negative is an error.
    pub(crate) fn number(&self, value: i32) -> Result<usize> {
        usize::try_from(value).map_err(|_| self.error())
    }
}

/// Runs something with at most `operations` of isl on this thread, counted from now; 0 is no limit. Inside of another limit
/// the count of that goes on afterwards.
///
/// # Errors
/// Inside, [`Error::Limit`] from whatever needed more.
pub fn limited<T>(operations: u64, inside: impl FnOnce() -> T) -> T {
    /// Puts the limit back that there was, also if `inside` panics.
    struct Before(Context, u64);
    impl Drop for Before {
        fn drop(&mut self) {
            self.0.limit(self.1);
        }
    }
    let context = Context::current();
    let before = Before(context.clone(), context.0.limit.get());
    // SAFETY: the context is valid.
    unsafe { ffi::isl_ctx_reset_operations(before.0.raw()) };
    context.limit(operations);
    inside()
}
