//! A PCI function as Linux gives it: its IOMMU group, the function's file, and what is mapped of it.
//!
//! Source: `Documentation/driver-api/vfio.rst` and `include/uapi/linux/vfio.h` of Linux; the structures are those of the crate
//! `vfio-bindings`, which are made of the latter.

#![allow(unsafe_code)]

use super::place::{GROUPS, VfioError, find, others};
use super::{Function, SharedMemory};
use crate::device::Mapping;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl, opcode};
use spinneret_regmap::{bar, pci};
use std::ffi::{CString, c_void};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use vfio_bindings::bindings::vfio;

/// The command register of a function, and its bits for answering accesses and for accesses of its own.
const COMMAND: u64 = 4;
const MEMORY_AND_MASTER: u16 = 0b110;

/// A function that this process owns.
#[derive(Debug)]
pub struct PciFunction {
    bar: Mapping,
    /// One for each vector.
    interrupts: [OwnedFd; pci::VECTORS as usize],
    /// Closed last, in this order: the function, its group, the memory that it reaches.
    _function: File,
    _group: OwnedFd,
    container: OwnedFd,
}

impl PciFunction {
    /// Opens the function at a place of the PCI bus.
    pub(super) fn open(place: &str) -> Result<Self, VfioError> {
        let group = find(place)?;
        let container = open_file(Path::new(GROUPS).join("vfio"), place)?;
        let version = call::<API_VERSION, _>(&container, &mut ())
            .map_err(VfioError::call("the kernel's version of VFIO"))?;
        let has_iommu = value_call::<CHECK_EXTENSION>(&container, vfio::VFIO_TYPE1v2_IOMMU);
        if version as u32 != vfio::VFIO_API_VERSION || !matches!(has_iommu, Ok(1..)) {
            let what = format!("the kernel has version {version} of VFIO, or no IOMMU of type 1");
            return Err(VfioError::Shape(place.to_owned(), what));
        }
        let group = enter(place, &group, &container)?;
        value_call::<SET_IOMMU>(&container, vfio::VFIO_TYPE1v2_IOMMU)
            .map_err(VfioError::call("choosing the IOMMU of type 1"))?;
        let name = CString::new(place).map_err(|_| VfioError::Place(place.to_owned()))?;
        // SAFETY: the call reads the name, which ends with 0 and outlives it.
        let function = unsafe { raw_call::<DEVICE_FD>(&group, name.as_ptr().cast_mut().cast()) };
        let function = function.map_err(VfioError::call(format!("asking for {place}")))?;
        // SAFETY: the call has returned a new descriptor, which is not used elsewhere.
        let function = File::from(unsafe { OwnedFd::from_raw_fd(function) });
        let bar = map_bar(place, &function)?;
        turn_on(&function).map_err(VfioError::call(format!("letting {place} access memory")))?;
        let interrupts = take_interrupts(place, &function)?;
        Ok(Self {
            bar,
            interrupts,
            _function: function,
            _group: group,
            container,
        })
    }
}

impl Function for PciFunction {
    fn read(&self, offset: u32) -> u32 {
        let mut word = [0; 4];
        self.bar.read(offset as usize, &mut word);
        u32::from_le_bytes(word)
    }

    fn write(&self, offset: u32, value: u32) {
        self.bar.write(offset as usize, &value.to_le_bytes());
    }

    fn map(&self, address: u64, memory: &SharedMemory) -> io::Result<()> {
        let mut map = vfio::vfio_iommu_type1_dma_map {
            argsz: size_of::<vfio::vfio_iommu_type1_dma_map>() as u32,
            flags: vfio::VFIO_DMA_MAP_FLAG_READ | vfio::VFIO_DMA_MAP_FLAG_WRITE,
            vaddr: memory.mapping().start().addr().get() as u64,
            iova: address,
            size: memory.mapping().len() as u64,
        };
        call::<MAP_DMA, _>(&self.container, &mut map).map(|_| ())
    }

    fn unmap(&self, address: u64, bytes: u64) -> io::Result<()> {
        let mut unmap = vfio::vfio_iommu_type1_dma_unmap {
            argsz: size_of::<vfio::vfio_iommu_type1_dma_unmap>() as u32,
            iova: address,
            size: bytes,
            ..Default::default()
        };
        call::<UNMAP_DMA, _>(&self.container, &mut unmap).map(|_| ())
    }

    fn wait(&self, limit: Duration) -> io::Result<u32> {
        let mut waits = self
            .interrupts
            .each_ref()
            .map(|fd| PollFd::new(fd, PollFlags::IN));
        let limit = Timespec {
            tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: limit.subsec_nanos().into(),
        };
        match poll(&mut waits, Some(&limit)) {
            // A signal ends the wait early, and the caller checks again.
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut came = 0;
        for (vector, fd) in self.interrupts.iter().enumerate() {
            // The descriptors do not block: a read of one without data fails.
            if rustix::io::read(fd, &mut [0; 8]).is_ok() {
                came |= 1 << vector;
            }
        }
        Ok(came)
    }
}

fn open_file(path: PathBuf, place: &str) -> Result<OwnedFd, VfioError> {
    open(&path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(|error| match error {
        Errno::BUSY => VfioError::Busy(place.to_owned()),
        Errno::ACCESS | Errno::PERM => VfioError::Permission(path, error.into()),
        error => VfioError::call(format!("opening {}", path.display()))(error.into()),
    })
}

/// Opens the group, and puts it into the container.
fn enter(place: &str, path: &Path, container: &OwnedFd) -> Result<OwnedFd, VfioError> {
    let group = open_file(path.to_owned(), place)?;
    let mut status = vfio::vfio_group_status {
        argsz: size_of::<vfio::vfio_group_status>() as u32,
        flags: 0,
    };
    call::<GROUP_STATUS, _>(&group, &mut status).map_err(VfioError::call("asking for the IOMMU group"))?;
    if status.flags & vfio::VFIO_GROUP_FLAGS_VIABLE == 0 {
        return Err(VfioError::NotViable(place.to_owned(), others(place)));
    }
    call::<SET_CONTAINER, _>(&group, &mut container.as_raw_fd())
        .map_err(VfioError::call(format!("taking the IOMMU group of {place}")))?;
    Ok(group)
}

/// Maps the application BAR.
fn map_bar(place: &str, function: &File) -> Result<Mapping, VfioError> {
    let region = region(function, pci::APPLICATION_BAR)?;
    let bytes = 1 << bar::ADDRESS_BITS;
    if region.flags & vfio::VFIO_REGION_INFO_FLAG_MMAP == 0 || region.size != bytes {
        let what = format!(
            "its BAR {} has {:#x} bytes, not {bytes:#x}",
            pci::APPLICATION_BAR,
            region.size
        );
        return Err(VfioError::Shape(place.to_owned(), what));
    }
    Mapping::new(function, region.offset, bytes as usize).map_err(VfioError::call(format!(
        "mapping BAR {} of {place}",
        pci::APPLICATION_BAR
    )))
}

/// Lets the function answer accesses and access memory, as far as the IOMMU allows.
fn turn_on(function: &File) -> io::Result<()> {
    let config = region(function, vfio::VFIO_PCI_CONFIG_REGION_INDEX).map_err(io::Error::other)?;
    let mut command = [0; 2];
    function.read_exact_at(&mut command, config.offset + COMMAND)?;
    let command = u16::from_le_bytes(command) | MEMORY_AND_MASTER;
    function.write_all_at(&command.to_le_bytes(), config.offset + COMMAND)
}

fn region(function: &File, index: u32) -> Result<vfio::vfio_region_info, VfioError> {
    let mut info = vfio::vfio_region_info {
        argsz: size_of::<vfio::vfio_region_info>() as u32,
        index,
        ..Default::default()
    };
    call::<REGION_INFO, _>(function, &mut info)
        .map_err(VfioError::call(format!("asking for region {index}")))?;
    Ok(info)
}

/// Has the kernel write to a descriptor for each vector.
fn take_interrupts(place: &str, function: &File) -> Result<[OwnedFd; pci::VECTORS as usize], VfioError> {
    let mut info = vfio::vfio_irq_info {
        argsz: size_of::<vfio::vfio_irq_info>() as u32,
        index: vfio::VFIO_PCI_MSIX_IRQ_INDEX,
        ..Default::default()
    };
    call::<IRQ_INFO, _>(function, &mut info).map_err(VfioError::call("asking for interrupts"))?;
    if info.count < pci::VECTORS {
        let what = format!("it has {} interrupts, not {}", info.count, pci::VECTORS);
        return Err(VfioError::Shape(place.to_owned(), what));
    }
    let mut fds = Vec::new();
    for _ in 0..pci::VECTORS {
        let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        fds.push(fd.map_err(|error| VfioError::call("making an eventfd")(error.into()))?);
    }
    let fds: [OwnedFd; pci::VECTORS as usize] = fds.try_into().expect("there is one for each vector");
    let mut set = SetInterrupts {
        argsz: size_of::<SetInterrupts>() as u32,
        flags: vfio::VFIO_IRQ_SET_DATA_EVENTFD | vfio::VFIO_IRQ_SET_ACTION_TRIGGER,
        index: vfio::VFIO_PCI_MSIX_IRQ_INDEX,
        start: 0,
        count: pci::VECTORS,
        fds: fds.each_ref().map(AsRawFd::as_raw_fd),
    };
    call::<SET_IRQS, _>(function, &mut set)
        .map_err(VfioError::call(format!("taking the interrupts of {place}")))?;
    Ok(fds)
}

/// `struct vfio_irq_set` with its descriptors behind it.
#[repr(C)]
struct SetInterrupts {
    argsz: u32,
    flags: u32,
    index: u32,
    start: u32,
    count: u32,
    fds: [i32; pci::VECTORS as usize],
}

// Calls of VFIO, by their numbers.

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

// SAFETY: the number is one of VFIO's, and the creator of a call guarantees the type of its argument.
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
