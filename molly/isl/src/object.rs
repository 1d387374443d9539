//! What all objects of isl share: they are owned, counted by isl, and belong to the context of their thread.

use crate::context::{Context, Result};
use std::ffi::{CStr, c_char};

/// What a function of isl is given: an object that it takes, or a number.
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
        crate::ffi::free(text.cast());
        Ok(owned)
    }
}

/// Declares an owned object: freed when dropped, given away by functions that take it.
macro_rules! object {
    ($(#[$doc:meta])* $vis:vis $name:ident, $raw:ident, $free:ident $(, copy $copy:ident)? $(, text $text:ident)?) => {
        $(#[$doc])*
        $vis struct $name {
            raw: std::ptr::NonNull<$crate::ffi::$raw>,
            pub(crate) context: $crate::context::Context,
        }

        #[allow(dead_code)]
        impl $name {
            /// # Safety
            /// `raw` is null, or an object of this thread's context that the caller owns.
            pub(crate) unsafe fn own(raw: *mut $crate::ffi::$raw, context: $crate::context::Context) -> $crate::context::Result<Self> {
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
                pub fn $method(self $(, $arg: $type)*) -> $crate::context::Result<$out> {
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
                pub fn $method(&self $(, $arg: &$type)?) -> $crate::context::Result<bool> {
                    // SAFETY: objects are valid and stay with the caller.
                    let answer = unsafe { $crate::ffi::$function(self.keep() $(, $arg.keep())?) };
                    self.context.number(answer).map(|answer| answer != 0)
                }
            )*
        }
    };
}

pub(crate) use {asking, object, taking};
