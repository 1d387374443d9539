//! Declarations of isl's functions (isl 0.25), and owners for its objects.
//!
//! isl's headers mark ownership: `__isl_take` passes an object to isl, `__isl_keep` leaves it with the caller, and
//! `__isl_give` passes it to the caller. All functions accept null for an object, and then return null or an error.

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_ulong};
use std::ptr::NonNull;
use std::rc::Rc;

macro_rules! opaque {
    ($($name:ident)*) => { $(
        #[repr(C)]
        #[derive(Debug)]
        pub(crate) struct $name { _private: [u8; 0] }
    )* };
}

opaque!(isl_ctx isl_set isl_map isl_union_map isl_map_list isl_basic_set isl_basic_set_list isl_union_access_info isl_union_flow isl_point
    isl_val isl_mat isl_id isl_space isl_basic_map isl_ast_build isl_ast_node isl_ast_node_list isl_ast_expr);

/// `ISL_ON_ERROR_CONTINUE`: errors are answers, and nothing is printed.
pub(crate) const ON_ERROR_CONTINUE: c_int = 1;
/// `isl_error_quota`: the limit of operations was reached.
pub(crate) const ERROR_QUOTA: c_int = 6;

macro_rules! declare {
    ($(fn $name:ident($($arg:ty),*) $(-> $out:ty)?;)*) => {
        #[link(name = "isl")]
        unsafe extern "C" {
            $(pub(crate) fn $name($(_: $arg),*) $(-> $out)?;)*
        }
    };
}

declare! {
    fn isl_ctx_alloc() -> *mut isl_ctx;
    fn isl_ctx_free(*mut isl_ctx);
    fn isl_options_set_on_error(*mut isl_ctx, c_int) -> c_int;
    fn isl_options_set_coalesce_preserve_locals(*mut isl_ctx, c_int) -> c_int;
    fn isl_ctx_last_error(*mut isl_ctx) -> c_int;
    fn isl_ctx_last_error_msg(*mut isl_ctx) -> *const c_char;
    fn isl_ctx_reset_error(*mut isl_ctx);
    fn isl_ctx_set_max_operations(*mut isl_ctx, c_ulong);
    fn isl_ctx_reset_operations(*mut isl_ctx);

    fn isl_set_read_from_str(*mut isl_ctx, *const c_char) -> *mut isl_set;
    fn isl_set_copy(*mut isl_set) -> *mut isl_set;
    fn isl_set_free(*mut isl_set) -> *mut isl_set;
    fn isl_set_to_str(*mut isl_set) -> *mut c_char;
    fn isl_set_union(*mut isl_set, *mut isl_set) -> *mut isl_set;
    fn isl_set_intersect(*mut isl_set, *mut isl_set) -> *mut isl_set;
    fn isl_set_subtract(*mut isl_set, *mut isl_set) -> *mut isl_set;
    fn isl_set_coalesce(*mut isl_set) -> *mut isl_set;
    fn isl_set_apply(*mut isl_set, *mut isl_map) -> *mut isl_set;
    fn isl_set_flatten(*mut isl_set) -> *mut isl_set;
    fn isl_set_unwrap(*mut isl_set) -> *mut isl_map;
    fn isl_set_lexmax(*mut isl_set) -> *mut isl_set;
    fn isl_set_identity(*mut isl_set) -> *mut isl_map;
    fn isl_set_project_out(*mut isl_set, c_int, c_uint, c_uint) -> *mut isl_set;
    fn isl_set_sample_point(*mut isl_set) -> *mut isl_point;
    fn isl_set_get_basic_set_list(*mut isl_set) -> *mut isl_basic_set_list;
    fn isl_basic_set_list_n_basic_set(*mut isl_basic_set_list) -> c_int;
    fn isl_basic_set_list_get_basic_set(*mut isl_basic_set_list, c_int) -> *mut isl_basic_set;
    fn isl_basic_set_list_free(*mut isl_basic_set_list) -> *mut isl_basic_set_list;
    fn isl_basic_set_free(*mut isl_basic_set) -> *mut isl_basic_set;
    fn isl_basic_set_remove_redundancies(*mut isl_basic_set) -> *mut isl_basic_set;
    fn isl_basic_set_equalities_matrix(*mut isl_basic_set, c_int, c_int, c_int, c_int) -> *mut isl_mat;
    fn isl_basic_set_inequalities_matrix(*mut isl_basic_set, c_int, c_int, c_int, c_int) -> *mut isl_mat;
    fn isl_space_alloc(*mut isl_ctx, c_uint, c_uint, c_uint) -> *mut isl_space;
    fn isl_space_set_alloc(*mut isl_ctx, c_uint, c_uint) -> *mut isl_space;
    fn isl_space_set_tuple_name(*mut isl_space, c_int, *const c_char) -> *mut isl_space;
    fn isl_space_free(*mut isl_space) -> *mut isl_space;
    fn isl_basic_set_from_constraint_matrices(*mut isl_space, *mut isl_mat, *mut isl_mat, c_int, c_int, c_int, c_int)
        -> *mut isl_basic_set;
    fn isl_basic_map_from_constraint_matrices(
        *mut isl_space, *mut isl_mat, *mut isl_mat, c_int, c_int, c_int, c_int, c_int
    ) -> *mut isl_basic_map;
    fn isl_set_empty(*mut isl_space) -> *mut isl_set;
    fn isl_map_empty(*mut isl_space) -> *mut isl_map;
    fn isl_map_from_basic_map(*mut isl_basic_map) -> *mut isl_map;
    fn isl_mat_alloc(*mut isl_ctx, c_uint, c_uint) -> *mut isl_mat;
    fn isl_mat_set_element_si(*mut isl_mat, c_int, c_int, c_int) -> *mut isl_mat;
    fn isl_mat_rows(*mut isl_mat) -> c_int;
    fn isl_mat_cols(*mut isl_mat) -> c_int;
    fn isl_mat_get_element_val(*mut isl_mat, c_int, c_int) -> *mut isl_val;
    fn isl_mat_free(*mut isl_mat) -> *mut isl_mat;
    fn isl_set_make_disjoint(*mut isl_set) -> *mut isl_set;
    fn isl_set_simple_hull(*mut isl_set) -> *mut isl_basic_set;
    fn isl_set_flat_product(*mut isl_set, *mut isl_set) -> *mut isl_set;
    fn isl_set_from_basic_set(*mut isl_basic_set) -> *mut isl_set;
    fn isl_set_is_empty(*mut isl_set) -> c_int;
    fn isl_set_remove_divs(*mut isl_set) -> *mut isl_set;
    fn isl_set_is_subset(*mut isl_set, *mut isl_set) -> c_int;
    fn isl_set_is_equal(*mut isl_set, *mut isl_set) -> c_int;
    fn isl_set_dim(*mut isl_set, c_int) -> c_int;

    fn isl_map_read_from_str(*mut isl_ctx, *const c_char) -> *mut isl_map;
    fn isl_map_copy(*mut isl_map) -> *mut isl_map;
    fn isl_map_free(*mut isl_map) -> *mut isl_map;
    fn isl_map_to_str(*mut isl_map) -> *mut c_char;
    fn isl_map_union(*mut isl_map, *mut isl_map) -> *mut isl_map;
    fn isl_map_intersect(*mut isl_map, *mut isl_map) -> *mut isl_map;
    fn isl_map_intersect_domain(*mut isl_map, *mut isl_set) -> *mut isl_map;
    fn isl_map_intersect_range(*mut isl_map, *mut isl_set) -> *mut isl_map;
    fn isl_map_subtract(*mut isl_map, *mut isl_map) -> *mut isl_map;
    fn isl_map_coalesce(*mut isl_map) -> *mut isl_map;
    fn isl_map_reverse(*mut isl_map) -> *mut isl_map;
    fn isl_map_domain(*mut isl_map) -> *mut isl_set;
    fn isl_map_range(*mut isl_map) -> *mut isl_set;
    fn isl_map_apply_domain(*mut isl_map, *mut isl_map) -> *mut isl_map;
    fn isl_map_apply_range(*mut isl_map, *mut isl_map) -> *mut isl_map;
    fn isl_map_product(*mut isl_map, *mut isl_map) -> *mut isl_map;
    fn isl_map_range_product(*mut isl_map, *mut isl_map) -> *mut isl_map;
    fn isl_map_flatten(*mut isl_map) -> *mut isl_map;
    fn isl_map_wrap(*mut isl_map) -> *mut isl_set;
    fn isl_map_lexmin(*mut isl_map) -> *mut isl_map;
    fn isl_map_lexmax(*mut isl_map) -> *mut isl_map;
    fn isl_map_get_tuple_name(*mut isl_map, c_int) -> *const c_char;
    fn isl_map_set_tuple_name(*mut isl_map, c_int, *const c_char) -> *mut isl_map;
    fn isl_map_range_factor_domain(*mut isl_map) -> *mut isl_map;
    fn isl_map_is_empty(*mut isl_map) -> c_int;
    fn isl_map_is_single_valued(*mut isl_map) -> c_int;
    fn isl_map_is_equal(*mut isl_map, *mut isl_map) -> c_int;
    fn isl_map_dim(*mut isl_map, c_int) -> c_int;

    fn isl_union_map_read_from_str(*mut isl_ctx, *const c_char) -> *mut isl_union_map;
    fn isl_union_map_from_map(*mut isl_map) -> *mut isl_union_map;
    fn isl_union_map_copy(*mut isl_union_map) -> *mut isl_union_map;
    fn isl_union_map_free(*mut isl_union_map) -> *mut isl_union_map;
    fn isl_union_map_to_str(*mut isl_union_map) -> *mut c_char;
    fn isl_union_map_union(*mut isl_union_map, *mut isl_union_map) -> *mut isl_union_map;
    fn isl_union_map_get_map_list(*mut isl_union_map) -> *mut isl_map_list;
    fn isl_map_list_n_map(*mut isl_map_list) -> c_int;
    fn isl_map_list_get_map(*mut isl_map_list, c_int) -> *mut isl_map;
    fn isl_map_list_free(*mut isl_map_list) -> *mut isl_map_list;

    fn isl_union_access_info_from_sink(*mut isl_union_map) -> *mut isl_union_access_info;
    fn isl_union_access_info_free(*mut isl_union_access_info) -> *mut isl_union_access_info;
    fn isl_union_access_info_set_must_source(*mut isl_union_access_info, *mut isl_union_map)
        -> *mut isl_union_access_info;
    fn isl_union_access_info_set_schedule_map(*mut isl_union_access_info, *mut isl_union_map)
        -> *mut isl_union_access_info;
    fn isl_union_access_info_compute_flow(*mut isl_union_access_info) -> *mut isl_union_flow;
    fn isl_union_flow_get_full_must_dependence(*mut isl_union_flow) -> *mut isl_union_map;
    fn isl_union_flow_get_must_no_source(*mut isl_union_flow) -> *mut isl_union_map;
    fn isl_union_flow_free(*mut isl_union_flow) -> *mut isl_union_flow;

    fn isl_point_is_void(*mut isl_point) -> c_int;
    fn isl_point_get_coordinate_val(*mut isl_point, c_int, c_int) -> *mut isl_val;
    fn isl_point_free(*mut isl_point) -> *mut isl_point;
    fn isl_val_is_int(*mut isl_val) -> c_int;
    fn isl_val_get_num_si(*mut isl_val) -> c_long;
    fn isl_val_cmp_si(*mut isl_val, c_long) -> c_int;
    fn isl_val_free(*mut isl_val) -> *mut isl_val;
    fn isl_id_get_name(*mut isl_id) -> *const c_char;
    fn isl_id_free(*mut isl_id) -> *mut isl_id;

    fn isl_ast_build_from_context(*mut isl_set) -> *mut isl_ast_build;
    fn isl_ast_build_free(*mut isl_ast_build) -> *mut isl_ast_build;
    fn isl_ast_build_node_from_schedule_map(*mut isl_ast_build, *mut isl_union_map) -> *mut isl_ast_node;
    fn isl_ast_node_copy(*mut isl_ast_node) -> *mut isl_ast_node;
    fn isl_ast_node_free(*mut isl_ast_node) -> *mut isl_ast_node;
    fn isl_ast_node_to_C_str(*mut isl_ast_node) -> *mut c_char;
    fn isl_ast_node_get_type(*mut isl_ast_node) -> c_int;
    fn isl_ast_node_for_get_iterator(*mut isl_ast_node) -> *mut isl_ast_expr;
    fn isl_ast_node_for_get_init(*mut isl_ast_node) -> *mut isl_ast_expr;
    fn isl_ast_node_for_get_cond(*mut isl_ast_node) -> *mut isl_ast_expr;
    fn isl_ast_node_for_get_inc(*mut isl_ast_node) -> *mut isl_ast_expr;
    fn isl_ast_node_for_get_body(*mut isl_ast_node) -> *mut isl_ast_node;
    fn isl_ast_node_for_is_degenerate(*mut isl_ast_node) -> c_int;
    fn isl_ast_node_if_get_cond(*mut isl_ast_node) -> *mut isl_ast_expr;
    fn isl_ast_node_if_get_then_node(*mut isl_ast_node) -> *mut isl_ast_node;
    fn isl_ast_node_if_has_else_node(*mut isl_ast_node) -> c_int;
    fn isl_ast_node_if_get_else_node(*mut isl_ast_node) -> *mut isl_ast_node;
    fn isl_ast_node_block_get_children(*mut isl_ast_node) -> *mut isl_ast_node_list;
    fn isl_ast_node_list_n_ast_node(*mut isl_ast_node_list) -> c_int;
    fn isl_ast_node_list_get_ast_node(*mut isl_ast_node_list, c_int) -> *mut isl_ast_node;
    fn isl_ast_node_list_free(*mut isl_ast_node_list) -> *mut isl_ast_node_list;
    fn isl_ast_node_mark_get_node(*mut isl_ast_node) -> *mut isl_ast_node;
    fn isl_ast_node_user_get_expr(*mut isl_ast_node) -> *mut isl_ast_expr;
    fn isl_ast_expr_copy(*mut isl_ast_expr) -> *mut isl_ast_expr;
    fn isl_ast_expr_free(*mut isl_ast_expr) -> *mut isl_ast_expr;
    fn isl_ast_expr_to_C_str(*mut isl_ast_expr) -> *mut c_char;
    fn isl_ast_expr_get_type(*mut isl_ast_expr) -> c_int;
    fn isl_ast_expr_get_op_type(*mut isl_ast_expr) -> c_int;
    fn isl_ast_expr_get_op_n_arg(*mut isl_ast_expr) -> c_int;
    fn isl_ast_expr_get_op_arg(*mut isl_ast_expr, c_int) -> *mut isl_ast_expr;
    fn isl_ast_expr_get_id(*mut isl_ast_expr) -> *mut isl_id;
    fn isl_ast_expr_get_val(*mut isl_ast_expr) -> *mut isl_val;
}

// The C library's, for the strings that isl gives.
unsafe extern "C" {
    pub(crate) fn free(memory: *mut std::ffi::c_void);
}

// Objects of isl: owned, reference-counted by isl, and bound to the context of their thread.

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
        free(text.cast());
        Ok(owned)
    }
}

/// Declares an owned object: freed when dropped, given away by functions that take it.
macro_rules! object {
    ($(#[$doc:meta])* $vis:vis $name:ident, $raw:ident, $free:ident $(, copy $copy:ident)? $(, text $text:ident)?) => {
        $(#[$doc])*
        $vis struct $name {
            raw: std::ptr::NonNull<$crate::ffi::$raw>,
            pub(crate) context: $crate::ffi::Context,
        }

        #[allow(dead_code)]
        impl $name {
            /// # Safety
            /// `raw` is null, or an object of this thread's context that the caller owns.
            pub(crate) unsafe fn own(raw: *mut $crate::ffi::$raw, context: $crate::ffi::Context) -> $crate::ffi::Result<Self> {
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

        impl $crate::ffi::Given for $name {
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
                let text = unsafe { $crate::ffi::text(&self.context, $crate::ffi::$text(self.keep())) };
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
                pub fn $method(self $(, $arg: $type)*) -> $crate::ffi::Result<$out> {
                    let context = self.context.clone();
                    // SAFETY: objects are valid, of this thread's context, and given away; the answer is owned.
                    unsafe {
                        $out::own(
                            $crate::ffi::$function(
                                $crate::ffi::Given::give(self) $(, $fixed)* $(, $crate::ffi::Given::give($arg))*
                            ),
                            context,
                        )
                    }
                }
            )*
        }
    };
}

/// Declares functions that read objects and answer yes or no.
macro_rules! asking {
    ($name:ident: $($(#[$doc:meta])* $method:ident($($arg:ident: &$type:ty)?) = $function:ident;)*) => {
        impl $name {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// If the spaces do not fit, or the limit of operations is reached.
                pub fn $method(&self $(, $arg: &$type)?) -> $crate::ffi::Result<bool> {
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
    raw: NonNull<isl_ctx>,
    limit: std::cell::Cell<u64>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: every object keeps its context, so the last owner goes after the last object.
        unsafe { isl_ctx_free(self.raw.as_ptr()) }
    }
}

thread_local! {
    static CONTEXT: Context = Context::new();
}

impl Context {
    fn new() -> Self {
        // SAFETY: no conditions; null means that there is no memory.
        let raw = NonNull::new(unsafe { isl_ctx_alloc() }).expect("no memory for a context of isl");
        // SAFETY: the context is valid.
        unsafe {
            isl_options_set_on_error(raw.as_ptr(), ON_ERROR_CONTINUE);
            // Fewer parts are no gain if their conditions have divisions that the caller did not write.
            isl_options_set_coalesce_preserve_locals(raw.as_ptr(), 1);
        };
        Self(Rc::new(Owner { raw, limit: 0.into() }))
    }

    pub(crate) fn current() -> Self {
        CONTEXT.with(Self::clone)
    }

    pub(crate) fn raw(&self) -> *mut isl_ctx {
        self.0.raw.as_ptr()
    }

    /// The newest error, which is forgotten.
    pub(crate) fn error(&self) -> Error {
        // SAFETY: the context is valid; the message is null or a string that lives until the error is reset.
        unsafe {
            let quota = isl_ctx_last_error(self.raw()) == ERROR_QUOTA;
            let message = isl_ctx_last_error_msg(self.raw());
            let text = match message.is_null() {
                true => "no answer".to_owned(),
                false => CStr::from_ptr(message).to_string_lossy().into_owned(),
            };
            isl_ctx_reset_error(self.raw());
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
        unsafe { isl_ctx_set_max_operations(self.raw(), 0) };
        let is_right = limit != 0 && read_again();
        // SAFETY: the context is valid.
        unsafe { isl_ctx_set_max_operations(self.raw(), limit) };
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
        unsafe { isl_ctx_set_max_operations(self.raw(), operations) };
    }

    /// Converts an `isl_size` or `isl_bool` that isl returns for an object: negative is an error.
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
    unsafe { isl_ctx_reset_operations(before.0.raw()) };
    context.limit(operations);
    inside()
}
