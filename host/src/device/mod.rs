//! NICs as software reaches them: what they all do, and those that there are.

pub mod chardev;
pub mod ether;
mod mapping;
mod open;
pub mod socket;
pub mod vfio;

pub use mapping::{Mapping, SharedMemory};
pub use open::{OpenDevice, OpenError, SHARED};

use crate::options::{Options, Share, Usage};
use spinneret_program::Program;
use spinneret_regmap::caps;
use spinneret_rules::Ruleset;
use std::fmt;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::time::Duration;

/// Access to a NIC. The rest of the library works on any implementation.
pub trait Device: fmt::Debug {
    /// Whether the device gives access to a register; FPsPIN's driver knows only some of them.
    fn has_register(&self, offset: u32) -> bool;

    /// Reads a control register, by its offset in their window.
    ///
    /// # Errors
    /// If it is not answered.
    fn read_register(&mut self, offset: u32) -> Result<u32, DeviceError>;

    /// Writes a control register.
    ///
    /// # Errors
    /// If it is not answered, or refused.
    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), DeviceError>;

    /// Reads L2 memory of the cluster; address and length are multiples of 4.
    ///
    /// # Errors
    /// If there is no such memory, or the cluster does not answer.
    fn read_cluster(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), DeviceError>;

    /// Writes L2 memory of the cluster; address and length are multiples of 4. Words are written in the order of their
    /// addresses, each at once.
    ///
    /// # Errors
    /// As [`read_cluster`](Self::read_cluster).
    fn write_cluster(&mut self, address: u32, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Writes a word of L2 memory of the cluster without waiting for completion. Words arrive in order, before later accesses. A
    /// later call may report an error.
    ///
    /// # Errors
    /// As [`write_cluster`](Self::write_cluster).
    fn post_cluster(&mut self, address: u32, word: u32) -> Result<(), DeviceError> {
        self.write_cluster(address, &word.to_le_bytes())
    }

    /// Loads a program into the cluster's memory. The cluster is out of reset with instruction fetch off.
    ///
    /// # Errors
    /// As [`write_cluster`](Self::write_cluster).
    fn load(&mut self, program: &Program) -> Result<(), DeviceError> {
        self.load_segments(program)
    }

    /// Writes the segments of a program, one after the other.
    ///
    /// # Errors
    /// As [`write_cluster`](Self::write_cluster).
    fn load_segments(&mut self, program: &Program) -> Result<(), DeviceError> {
        for segment in &program.segments {
            let mut bytes = segment.bytes.clone();
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            self.write_cluster(segment.address, &bytes)?;
        }
        Ok(())
    }

    /// Writes a program next to others, while HPUs run.
    ///
    /// # Errors
    /// As [`write_cluster`](Self::write_cluster).
    fn load_beside(&mut self, program: &Program) -> Result<(), DeviceError> {
        self.load_segments(program)
    }

    /// Writes zeros to memory of the cluster; address and length are multiples of 4.
    ///
    /// # Errors
    /// As [`write_cluster`](Self::write_cluster).
    fn clear_cluster(&mut self, address: u32, bytes: u32) -> Result<(), DeviceError> {
        self.write_cluster(address, &vec![0; bytes as usize])
    }

    /// The process that has the NIC, if this device is a connection to one that manages contexts for several processes.
    fn manager(&mut self) -> Option<&mut dyn Manager> {
        None
    }

    /// Allocates zeroed host memory for a context, of at least the requested size.
    ///
    /// # Errors
    /// There is not enough memory, or the context has some already.
    fn open_area(&mut self, context: u32, bytes: u32) -> Result<Area, DeviceError>;

    /// Frees the host memory of a context.
    fn close_area(&mut self, context: u32);

    /// Reads host memory of a context. The caller has checked the range.
    ///
    /// # Errors
    /// If the device has disappeared.
    fn read_host(&mut self, context: u32, offset: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        mapped(self, context, offset, bytes.len())?.read(offset as usize, bytes);
        Ok(())
    }

    /// Writes host memory of a context. The caller has checked the range. Up to 8 bytes at a multiple of their size are
    /// written atomically.
    ///
    /// # Errors
    /// If the device has disappeared.
    fn write_host(&mut self, context: u32, offset: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        mapped(self, context, offset, bytes.len())?.write(offset as usize, bytes);
        Ok(())
    }

    /// Returns a pointer to the host memory of a context, valid until it is freed.
    fn host_pointer(&self, context: u32) -> Option<NonNull<u8>> {
        self.host_mapping(context).map(Mapping::start)
    }

    /// The host memory of a context, if it was taken and is mapped into this process.
    fn host_mapping(&self, context: u32) -> Option<&Mapping> {
        let _ = context;
        None
    }

    /// Returns the file of the host memory of a context, for another process to map.
    ///
    /// # Errors
    /// The memory has no file, as on cards, or was not allocated.
    fn host_file(&self, context: u32) -> Result<OwnedFd, DeviceError> {
        Err(DeviceError::Refused(format!(
            "the host memory of context {context} is in no file"
        )))
    }

    /// Whether the host DMA knows the context of a request, so that each can be confined to its own memory.
    fn tells_contexts(&self) -> bool;

    /// Whether contexts have weights, budgets, rates and counters of their use, as in spinneret's own clusters.
    fn has_shares(&self) -> bool {
        false
    }

    /// Returns the number of clusters, and of HPUs in each.
    fn shape(&self) -> [u32; 2] {
        [spinneret_regmap::CLUSTERS, 8]
    }

    /// Returns the time since the device was opened; simulated time for a simulated device.
    fn now(&self) -> Duration;

    /// Returns the time on the wall clock in which so much passes on the device.
    fn wall(&self, time: Duration) -> Duration {
        time
    }

    /// Returns the end of simulated time.
    fn last_moment(&self) -> Duration {
        Duration::MAX
    }

    /// Returns the moment after the given time.
    ///
    /// # Errors
    /// It is after [`last_moment`](Self::last_moment).
    fn moment_after(&self, time: Duration) -> Result<Duration, DeviceError> {
        let moment = self.now().checked_add(time);
        moment
            .filter(|moment| *moment <= self.last_moment())
            .ok_or_else(|| {
                DeviceError::Refused(format!(
                    "{} s are too long to wait: time on this device ends after {} s",
                    time.as_secs_f64(),
                    self.last_moment().as_secs()
                ))
            })
    }

    /// Waits.
    ///
    /// # Errors
    /// If the device fails meanwhile.
    fn wait(&mut self, time: Duration) -> Result<(), DeviceError>;

    /// Whether [`wait_event`](Self::wait_event) works: the device has event registers and delivers interrupts.
    fn has_events(&self) -> bool {
        false
    }

    /// Waits for events, up to a limit. Returns a bit for each line with an event since the last call.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    fn wait_event(&mut self, limit: Duration) -> Result<u32, DeviceError> {
        self.wait(limit)?;
        Ok(0)
    }

    /// Accounts for computation of the program: on a simulated device this time passes, on others it has passed already.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    fn compute(&mut self, time: Duration) -> Result<(), DeviceError> {
        let _ = time;
        Ok(())
    }

    /// Returns the addresses of the NIC in a simulated network.
    fn address(&self) -> Option<Address> {
        None
    }

    /// Sends an Ethernet frame without its check sequence, as the host. Returns `false` if the queue is full.
    ///
    /// # Errors
    /// The device does not send frames for programs, or the length of the frame is impossible.
    fn transmit(&mut self, frame: &[u8]) -> Result<bool, DeviceError> {
        let _ = frame;
        Err(DeviceError::no_frames())
    }

    /// Returns the next frame for the host, which no rule matched.
    ///
    /// # Errors
    /// The device does not pass frames to programs.
    fn receive(&mut self) -> Result<Option<Vec<u8>>, DeviceError> {
        Err(DeviceError::no_frames())
    }
}

/// The process that has a NIC, and manages contexts of several processes.
pub trait Manager {
    /// Opens a context for handlers of a program.
    ///
    /// # Errors
    /// There is no room, or the program cannot run next to the others.
    fn open_context(
        &mut self,
        program: &Program,
        name: &str,
        rules: &Ruleset,
        options: &Options,
    ) -> Result<ManagedContext, DeviceError>;

    /// Changes the rules of a context.
    ///
    /// # Errors
    /// It belongs to another process, or the hardware does not answer.
    fn set_ruleset(&mut self, context: u32, rules: &Ruleset) -> Result<(), DeviceError>;

    /// Sets the share of a context.
    ///
    /// # Errors
    /// The share is more than the NIC's owner allows, or its clusters have no shares; else as [`set_ruleset`](Self::set_ruleset).
    fn set_share(&mut self, context: u32, share: Share) -> Result<(), DeviceError>;

    /// Reads how a context has used the NIC.
    ///
    /// # Errors
    /// As [`set_share`](Self::set_share).
    fn usage(&mut self, context: u32) -> Result<Usage, DeviceError>;

    /// Closes a context.
    ///
    /// # Errors
    /// As [`set_ruleset`](Self::set_ruleset).
    fn close_context(&mut self, context: u32) -> Result<(), DeviceError>;
}

/// A context that another process manages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ManagedContext {
    /// Its number.
    pub number: u32,
    /// Its L2 memory: address and bytes.
    pub handler_memory: [u32; 2],
    /// Its host memory.
    pub host: Area,
    /// How far the program's data is from where its file has it, modulo 2^32.
    pub data_moved: u32,
}

/// The host memory of a context, if the bytes are there.
fn mapped<D: Device + ?Sized>(
    device: &D,
    context: u32,
    offset: u32,
    bytes: usize,
) -> Result<&Mapping, DeviceError> {
    let mapping = device.host_mapping(context);
    let size = mapping.map_or(0, Mapping::len);
    let is_in = (offset as usize)
        .checked_add(bytes)
        .is_some_and(|end| end <= size);
    mapping.filter(|_| is_in).ok_or_else(|| {
        DeviceError::Refused(format!(
            "{bytes} bytes at {offset:#x} are not within the {size} bytes of host memory of context {context}"
        ))
    })
}

/// Addresses of a NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Address {
    /// Ethernet.
    pub mac: [u8; 6],
    /// IPv4, of its host.
    pub ip: Ipv4Addr,
}

/// Host memory as the NIC sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Area {
    /// Its address for the NIC.
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u32,
}

/// An error of a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
pub enum DeviceError {
    /// The device refused a request, or did not answer.
    #[error("{0}")]
    Refused(String),
    /// The device or the process that simulates it has disappeared.
    #[error("the device is gone: {0}")]
    Gone(String),
    /// The driver has no access to a register.
    #[error("the driver gives no access to it")]
    NoAccess,
    /// There is not enough memory.
    #[error("not enough memory: {0}")]
    NoMemory(String),
    /// The NIC has no room for another context or program.
    #[error("{0}")]
    Full(String),
}

impl DeviceError {
    /// The error of devices whose frames belong to the operating system.
    fn no_frames() -> Self {
        Self::Refused(
            "frames of the host are the operating system's on this device: use a socket of its network interface".to_owned(),
        )
    }
}

/// Whether a value of `caps.features` has a feature.
fn has_feature(features: u32, name: &str) -> bool {
    let field = caps::FEATURES.fields.iter().find(|field| field.name == name);
    field.is_some_and(|field| features & field.mask() != 0)
}

// The speed of time on a device whose name contains it.

/// Splits `NAME,slower=N` into the name and the factor by which time on the device is slower than wall-clock time.
fn slower(name: &str) -> Option<(&str, u32)> {
    match name.split_once(",slower=") {
        Some((name, times)) => Some((name, times.parse().ok().filter(|times| *times > 0)?)),
        None => Some((name, 1)),
    }
}
