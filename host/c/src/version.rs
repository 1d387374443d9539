//! Which library this is.

use std::ffi::{CStr, c_char};

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("a version has no 0"),
};

/// The version of the library that runs, such as `0.1.0`. `SPINNERET_VERSION` is that of the header.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_version() -> *const c_char {
    VERSION.as_ptr()
}
