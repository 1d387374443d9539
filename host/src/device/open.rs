//! A device that is found by its name.

use super::contract::{Address, Area, Device, DeviceError};
use super::pace::slower;
use super::{chardev, socket, vfio};
use spinneret_program::Program;
use std::path::Path;
use std::ptr::NonNull;
use std::time::Duration;

/// A device that was found by its name.
#[derive(Debug)]
pub enum OpenDevice {
    /// A simulated NIC in another process.
    Socket(socket::Client),
    /// A card behind its driver.
    Card(chardev::Card),
    /// A card, or a simulated one in a virtual machine, through the kernel's `vfio-pci`.
    Vfio(vfio::Vfio),
}

/// Why no device can be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The name says nothing.
    #[error(
        "`{0}` is no NIC: write unix:PATH for the socket of `spinneret serve`, vfio:0000:00:03.0 for a PCI function, or /dev/spinneret0 for a card with its driver"
    )]
    Name(String),
    /// Nobody answers there.
    #[error(transparent)]
    Socket(#[from] socket::ConnectError),
    /// The card cannot be used.
    #[error(transparent)]
    Card(#[from] chardev::CardError),
    /// The PCI function cannot be used.
    #[error(transparent)]
    Vfio(#[from] vfio::VfioError),
}

impl OpenDevice {
    /// Opens `unix:PATH`, `vfio:` with a place on the PCI bus, or a device file by its path.
    ///
    /// # Errors
    /// If there is no such device, or somebody else has it.
    pub fn open(name: &str) -> Result<Self, OpenError> {
        if let Some(path) = name.strip_prefix("unix:") {
            return Ok(Self::Socket(socket::Client::connect(Path::new(path))?));
        }
        if let Some(place) = name.strip_prefix("vfio:") {
            return Ok(Self::Vfio(vfio::Vfio::open(place)?));
        }
        if !name.contains('/') {
            return Err(OpenError::Name(name.to_owned()));
        }
        let (path, slower) = slower(name).ok_or_else(|| OpenError::Name(name.to_owned()))?;
        let card = chardev::Card::open(chardev::Linux::default(), Path::new(path))?;
        Ok(Self::Card(card.slower(slower)))
    }
}

/// Calls the same function of whatever device it is.
macro_rules! each {
    ($self:ident, $device:ident => $call:expr) => {
        match $self {
            OpenDevice::Socket($device) => $call,
            OpenDevice::Card($device) => $call,
            OpenDevice::Vfio($device) => $call,
        }
    };
}

impl Device for OpenDevice {
    fn has_register(&self, offset: u32) -> bool {
        each!(self, device => device.has_register(offset))
    }

    fn read_register(&mut self, offset: u32) -> Result<u32, DeviceError> {
        each!(self, device => device.read_register(offset))
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        each!(self, device => device.write_register(offset, value))
    }

    fn read_cluster(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        each!(self, device => device.read_cluster(address, bytes))
    }

    fn write_cluster(&mut self, address: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        each!(self, device => device.write_cluster(address, bytes))
    }

    fn post_cluster(&mut self, address: u32, word: u32) -> Result<(), DeviceError> {
        each!(self, device => device.post_cluster(address, word))
    }

    fn load(&mut self, program: &Program) -> Result<(), DeviceError> {
        each!(self, device => device.load(program))
    }

    fn open_area(&mut self, context: u32, bytes: u32) -> Result<Area, DeviceError> {
        each!(self, device => device.open_area(context, bytes))
    }

    fn close_area(&mut self, context: u32) {
        each!(self, device => device.close_area(context));
    }

    fn read_host(&mut self, context: u32, offset: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        each!(self, device => device.read_host(context, offset, bytes))
    }

    fn write_host(&mut self, context: u32, offset: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        each!(self, device => device.write_host(context, offset, bytes))
    }

    fn host_pointer(&self, context: u32) -> Option<NonNull<u8>> {
        each!(self, device => device.host_pointer(context))
    }

    fn tells_contexts(&self) -> bool {
        each!(self, device => device.tells_contexts())
    }

    fn shape(&self) -> [u32; 2] {
        each!(self, device => device.shape())
    }

    fn now(&self) -> Duration {
        each!(self, device => device.now())
    }

    fn wait(&mut self, time: Duration) -> Result<(), DeviceError> {
        each!(self, device => device.wait(time))
    }

    fn has_events(&self) -> bool {
        each!(self, device => device.has_events())
    }

    fn wait_event(&mut self, limit: Duration) -> Result<u32, DeviceError> {
        each!(self, device => device.wait_event(limit))
    }

    fn compute(&mut self, time: Duration) -> Result<(), DeviceError> {
        each!(self, device => device.compute(time))
    }

    fn address(&self) -> Option<Address> {
        each!(self, device => device.address())
    }

    fn transmit(&mut self, frame: &[u8]) -> Result<bool, DeviceError> {
        each!(self, device => device.transmit(frame))
    }

    fn receive(&mut self) -> Result<Option<Vec<u8>>, DeviceError> {
        each!(self, device => device.receive())
    }
}
