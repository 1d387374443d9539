//! The C interface of a Verilated model; the other side is `verilate/cpp/spinneret_model.h`.

use std::ffi::{c_char, c_void};

/// Version of the interface that this file describes.
pub(super) const ABI: u32 = 2;

/// What a Verilated model exports.
///
/// Tables are made in C++ only and cannot be put together in Rust: that a table's functions do what is
/// written in the header is what all `unsafe` code in this crate relies on.
#[repr(C)]
#[derive(Debug)]
pub struct Table {
    pub(super) abi: u32,
    pub(super) port_count: u32,
    pub(super) create: unsafe extern "C" fn(seed: u32) -> *mut c_void,
    pub(super) destroy: unsafe extern "C" fn(*mut c_void),
    pub(super) ports: unsafe extern "C" fn(*mut c_void, *mut RawPort),
    pub(super) eval: unsafe extern "C" fn(*mut c_void, follow: bool) -> *const c_char,
    pub(super) trace: unsafe extern "C" fn(*mut c_void, *const c_char) -> *const c_char,
    pub(super) advance: unsafe extern "C" fn(*mut c_void, u64) -> *const c_char,
}

/// Where a port's value is stored.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct RawPort {
    pub(super) data: *mut u8,
    pub(super) bytes: usize,
    /// Whether logic between inputs and registers or outputs may read it.
    pub(super) followed: bool,
}

/// How many bytes Verilator uses to store a port of that width in bits.
pub(super) fn storage_bytes(width: usize) -> usize {
    match width {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=64 => 8,
        wide => wide.div_ceil(32) * 4,
    }
}
