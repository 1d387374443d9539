//! Objects of isl: owned, reference-counted by isl, and bound to the context of their thread.

use crate::ffi;
use std::ffi::{CStr, c_char};
use std::ptr::NonNull;
use std::rc::Rc;

/// An argument of a function of isl: an object that it consumes, or a number.
pub(crate) trait Given {
    type Raw;
    fn give(self) -> Self::Raw;
}

impl Given for u32 {
    type Raw = u32;
    fn give(self) -> u32 {
        self
    }
}

/// An owned string of isl's, freed.
///
/// # Safety
/// `text` is null or a string from one of isl's `to_str` functions, and not used afterwards.
pub(crate) unsafe fn text(context: &Context, text: *mut c_char) -> Result<String> {
    if text.is_null() {
        return Err(context.error());
    }
    // SAFETY: a string of isl's ends with zero and was allocated by the C library.
    unsafe {
        let owned = CStr::from_ptr(text).to_string_lossy().into_owned();
        ffi::free(text.cast());
        Ok(owned)
    }
}

/// Declares an owned object: freed when dropped, given away by functions that take it.
macro_rules! object {
    ($(#[$doc:meta])* $vis:vis $name:ident, $raw:ident, $free:ident $(, copy $copy:ident)? $(, text $text:ident)?) => {
        $(#[$doc])*
        $vis struct $name {
            raw: std::ptr::NonNull<$crate::ffi::$raw>,
            pub(crate) context: $crate::object::Context,
        }

        #[allow(dead_code)]
        impl $name {
            /// # Safety
            /// `raw` is null, or an object of this thread's context that the caller owns.
            pub(crate) unsafe fn own(raw: *mut $crate::ffi::$raw, context: $crate::object::Context) -> $crate::object::Result<Self> {
                match std::ptr::NonNull::new(raw) {
                    Some(raw) => Ok(Self { raw, context }),
                    None => Err(context.error()),
                }
            }

            /// The object, which stays with `self`: isl's `__isl_keep`.
            pub(crate) fn keep(&self) -> *mut $crate::ffi::$raw {
                self.raw.as_ptr()
            }
        }

        impl $crate::object::Given for $name {
            type Raw = *mut $crate::ffi::$raw;
            /// The object, which is isl's from now on: `__isl_take`. The context is let go of, as `drop` would do.
            fn give(self) -> *mut $crate::ffi::$raw {
                let mut this = std::mem::ManuallyDrop::new(self);
                // SAFETY: `this` is never used again, so its context is dropped once.
                unsafe { std::ptr::drop_in_place(&raw mut this.context) };
                this.raw.as_ptr()
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the object is owned and was not given away.
                unsafe { $crate::ffi::$free(self.raw.as_ptr()) };
            }
        }

        $(impl Clone for $name {
            fn clone(&self) -> Self {
                // SAFETY: the object is valid; a copy of it is another count of the same object, never null.
                let raw = unsafe { $crate::ffi::$copy(self.raw.as_ptr()) };
                let raw = std::ptr::NonNull::new(raw).expect("isl counts objects without fail");
                Self { raw, context: self.context.clone() }
            }
        })?

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $(
                // SAFETY: the object is valid, and the string is owned.
                let text = unsafe { $crate::object::text(&self.context, $crate::ffi::$text(self.keep())) };
                if let Ok(text) = text {
                    return f.write_str(&text);
                }
                )?
                f.write_str(stringify!($name))
            }
        }
    };
}

/// Declares functions that take their object, and all objects among their arguments, and give a new one.
macro_rules! taking {
    ($name:ident: $($(#[$doc:meta])* $method:ident($($arg:ident: $type:ty),*) -> $out:ident = $function:ident($($fixed:expr),*);)*) => {
        impl $name {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// If the spaces do not fit, or the limit of operations is reached.
                pub fn $method(self $(, $arg: $type)*) -> $crate::object::Result<$out> {
                    let context = self.context.clone();
                    // SAFETY: objects are valid, of this thread's context, and given away; the answer is owned.
                    unsafe {
                        $out::own(
                            $crate::ffi::$function(
                                $crate::object::Given::give(self) $(, $fixed)* $(, $crate::object::Given::give($arg))*
                            ),
                            context,
                        )
                    }
                }
            )*
        }
    };
}

/// Declares functions that look at objects and answer yes or no.
macro_rules! asking {
    ($name:ident: $($(#[$doc:meta])* $method:ident($($arg:ident: &$type:ty)?) = $function:ident;)*) => {
        impl $name {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// If the spaces do not fit, or the limit of operations is reached.
                pub fn $method(&self $(, $arg: &$type)?) -> $crate::object::Result<bool> {
                    // SAFETY: objects are valid and stay with the caller.
                    let answer = unsafe { $crate::ffi::$function(self.keep() $(, $arg.keep())?) };
                    self.context.number(answer).map(|answer| answer != 0)
                }
            )*
        }
    };
}

pub(crate) use {asking, object, taking};

// The context of a thread, and its errors.

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

/// The result of an operation of isl.
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
