//! NICs as software reaches them: what they all do, and those that there are.

pub mod chardev;
mod mapping;
mod open;
pub mod socket;
pub mod vfio;

pub use mapping::{Mapping, SharedMemory};
pub use open::{OpenDevice, OpenError};

use spinneret_program::Program;
use std::fmt;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::time::Duration;

/// A NIC as software reaches it. Everything above works on any of them.
pub trait Device: fmt::Debug {
    /// Whether the device gives access to a register: drivers know those of the public design only.
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

    /// Writes a word of L2 memory of the cluster and need not wait until it is there: words come there in their order, before whatever
    /// is accessed after them. One that is refused may be told by a later call.
    ///
    /// # Errors
    /// As [`write_cluster`](Self::write_cluster).
    fn post_cluster(&mut self, address: u32, word: u32) -> Result<(), DeviceError> {
        self.write_cluster(address, &word.to_le_bytes())
    }

    /// Puts a program into the cluster's memory, which is out of reset and fetches nothing.
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

    /// Takes host memory for a context, all of it 0; it has the size that was asked for, or more.
    ///
    /// # Errors
    /// If there is not so much, or somebody has it.
    fn open_area(&mut self, context: u32, bytes: u32) -> Result<Area, DeviceError>;

    /// Gives the host memory of a context back.
    fn close_area(&mut self, context: u32);

    /// Reads host memory of a context, which was taken and reaches so far.
    ///
    /// # Errors
    /// If the device is gone.
    fn read_host(&mut self, context: u32, offset: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        mapped(self, context, offset, bytes.len())?.read(offset as usize, bytes);
        Ok(())
    }

    /// Writes host memory of a context, which was taken and reaches so far. Up to 8 bytes at a multiple of their size are
    /// written at once.
    ///
    /// # Errors
    /// If the device is gone.
    fn write_host(&mut self, context: u32, offset: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        mapped(self, context, offset, bytes.len())?.write(offset as usize, bytes);
        Ok(())
    }

    /// Where in this process the host memory of a context begins, which was taken and is not empty. It stays there until it is
    /// given back.
    fn host_pointer(&self, context: u32) -> Option<NonNull<u8>> {
        self.host_mapping(context).map(Mapping::start)
    }

    /// The host memory of a context, if it was taken and is mapped into this process.
    fn host_mapping(&self, context: u32) -> Option<&Mapping> {
        let _ = context;
        None
    }

    /// The file in which the host memory of a context lies, for another process to map.
    ///
    /// # Errors
    /// If it is in no file, as that of cards is, or was not taken.
    fn host_file(&self, context: u32) -> Result<OwnedFd, DeviceError> {
        Err(DeviceError::Refused(format!(
            "the host memory of context {context} is in no file"
        )))
    }

    /// Whether the cluster tells the host DMA which context asks, so that each can be held to its own memory.
    fn tells_contexts(&self) -> bool;

    /// Clusters that it has, and HPUs of each.
    fn shape(&self) -> [u32; 2] {
        [spinneret_regmap::CLUSTERS, 8]
    }

    /// Time since the device was opened: simulated for a simulated one.
    fn now(&self) -> Duration;

    /// The last moment that there is: simulated time does not go on for ever.
    fn last_moment(&self) -> Duration {
        Duration::MAX
    }

    /// The moment after so much time.
    ///
    /// # Errors
    /// If it is behind the last one.
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

    /// Lets so much time pass.
    ///
    /// # Errors
    /// If the device fails meanwhile.
    fn wait(&mut self, time: Duration) -> Result<(), DeviceError>;

    /// Whether the device can be waited for: it has the registers of events, and messages of its lines come here.
    fn has_events(&self) -> bool {
        false
    }

    /// Lets time pass until messages of events come, but not longer than that: the lines that they are of, a bit each. A message
    /// that has come since the last call ends it at once.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    fn wait_event(&mut self, limit: Duration) -> Result<u32, DeviceError> {
        self.wait(limit)?;
        Ok(0)
    }

    /// The program has computed for so long: on a device whose time is simulated that much of it passes, on others it has
    /// passed already.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    fn compute(&mut self, time: Duration) -> Result<(), DeviceError> {
        let _ = time;
        Ok(())
    }

    /// Addresses of the NIC in a network, if it has some.
    fn address(&self) -> Option<Address> {
        None
    }

    /// Sends an Ethernet frame without its check sequence, as the host. `false`: there is no room for it now.
    ///
    /// # Errors
    /// If the device sends no frames for programs, or the frame is none.
    fn transmit(&mut self, frame: &[u8]) -> Result<bool, DeviceError> {
        let _ = frame;
        Err(DeviceError::no_frames())
    }

    /// The next frame that came to the host, as no rule matched it.
    ///
    /// # Errors
    /// If the device gives no frames to programs.
    fn receive(&mut self) -> Result<Option<Vec<u8>>, DeviceError> {
        Err(DeviceError::no_frames())
    }
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

/// Why a device did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
pub enum DeviceError {
    /// It answered with an error, or not at all.
    #[error("{0}")]
    Refused(String),
    /// The device or the process that simulates it is gone.
    #[error("the device is gone: {0}")]
    Gone(String),
    /// The driver has no access to a register.
    #[error("the driver gives no access to it")]
    NoAccess,
    /// There is not so much memory.
    #[error("not enough memory: {0}")]
    NoMemory(String),
}

impl DeviceError {
    /// Frames of the host go another way.
    fn no_frames() -> Self {
        Self::Refused(
            "frames of the host are the operating system's on this device: use a socket of its network interface".to_owned(),
        )
    }
}

// How fast time passes on a device whose name says so.

/// A name, and how many times slower than on the wall time passes there: `,slower=N` behind it says so.
fn slower(name: &str) -> Option<(&str, u32)> {
    match name.split_once(",slower=") {
        Some((name, times)) => Some((name, times.parse().ok().filter(|times| *times > 0)?)),
        None => Some((name, 1)),
    }
}
