//! Calls of VFIO, by their numbers.

#![allow(unsafe_code)]

use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl, opcode};
use std::ffi::c_void;
use std::io;
use std::os::fd::AsFd;
use vfio_bindings::bindings::vfio;

/// Numbers of the calls, counted from the first of VFIO.
pub(super) const API_VERSION: u32 = 0;
pub(super) const CHECK_EXTENSION: u32 = 1;
pub(super) const SET_IOMMU: u32 = 2;
pub(super) const GROUP_STATUS: u32 = 3;
pub(super) const SET_CONTAINER: u32 = 4;
pub(super) const DEVICE_FD: u32 = 6;
pub(super) const REGION_INFO: u32 = 8;
pub(super) const IRQ_INFO: u32 = 9;
pub(super) const SET_IRQS: u32 = 10;
pub(super) const MAP_DMA: u32 = 13;
pub(super) const UNMAP_DMA: u32 = 14;

/// A call of VFIO with what its argument points to: all of them are numbered alike, and say nothing of their argument.
struct Call<const NUMBER: u32>(*mut c_void);

// SAFETY: the number is one of VFIO's, and whoever makes one answers for what the argument is.
unsafe impl<const NUMBER: u32> Ioctl for Call<NUMBER> {
    type Output = i32;

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        opcode::none(vfio::VFIO_TYPE, (vfio::VFIO_BASE + NUMBER) as u8)
    }

    fn as_ptr(&mut self) -> *mut c_void {
        self.0
    }

    unsafe fn output_from_ptr(output: IoctlOutput, _: *mut c_void) -> rustix::io::Result<i32> {
        Ok(output)
    }
}

/// Makes a call.
///
/// # Safety
/// The argument is what the call of that number takes.
pub(super) unsafe fn raw_call<const NUMBER: u32>(fd: impl AsFd, argument: *mut c_void) -> io::Result<i32> {
    // SAFETY: as above.
    Ok(unsafe { ioctl(fd, Call::<NUMBER>(argument))? })
}

/// Makes a call whose argument is a number.
pub(super) fn value_call<const NUMBER: u32>(fd: impl AsFd, value: u32) -> io::Result<i32> {
    // SAFETY: the kernel does not take the number for an address.
    unsafe { raw_call::<NUMBER>(fd, std::ptr::without_provenance_mut(value as usize)) }
}

/// Makes a call whose argument is a structure: each says its own size, so the kernel touches nothing behind it, or is a number of
/// a descriptor.
pub(super) fn call<const NUMBER: u32, T>(fd: impl AsFd, argument: &mut T) -> io::Result<i32> {
    // SAFETY: the argument is there for as long as the call lasts, and those who call this have the structure for the number.
    unsafe { raw_call::<NUMBER>(fd, std::ptr::from_mut(argument).cast()) }
}
