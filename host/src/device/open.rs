//! A device that is found by its name.

use super::{Address, Area, Device, DeviceError, Manager, Mapping, chardev, ether, slower, socket, vfio};
use spinneret_program::Program;
use spinneret_regmap::pci;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::Path;
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
    /// A board at a network interface.
    Ethernet(ether::Ethernet),
}

/// Why no device can be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The name has none of the known forms.
    #[error(
        "`{0}` is no NIC: write card for the one of this machine, /dev/spinneret0 for one with our driver, vfio:0000:00:03.0 for a PCI \
         function, ether:eth0 for a board at a network interface, or unix:PATH for the socket of `spinneret serve`"
    )]
    Name(String),
    /// This machine has no card.
    #[error(
        "there is no card: neither /dev/spinneret0 nor /dev/pspin0 is there, and no function {:04x}:{:04x} is bound to vfio-pci; load \
         the driver with `modprobe spinneret`",
        pci::VENDOR,
        pci::DEVICE
    )]
    NoCard,
    /// No process answers there.
    #[error(transparent)]
    Socket(#[from] socket::ConnectError),
    /// The card cannot be used.
    #[error(transparent)]
    Card(#[from] chardev::CardError),
    /// The PCI function cannot be used.
    #[error(transparent)]
    Vfio(#[from] vfio::VfioError),
    /// The board cannot be used.
    #[error(transparent)]
    Ethernet(#[from] ether::EtherError),
}

/// The name of the card of this machine: one that `spinneret share` has, else with any driver; see [`first_card`].
const CARD: &str = "card";
/// The socket of the process that shares the card of this machine, unless it names another.
pub const SHARED: &str = "/run/spinneret0.sock";
/// Device files of cards: that of our driver, and that of FPsPIN's driver.
const NODES: [&str; 2] = ["dev/spinneret0", "dev/pspin0"];

/// Finds the default card: with our driver, else with FPsPIN's driver, else bound to `vfio-pci`. `root` is `/`, except in
/// tests.
fn first_card(root: &Path) -> Option<String> {
    let mut nodes = NODES.iter().map(|node| root.join(node));
    let node = nodes
        .find(|node| node.exists())
        .map(|node| node.display().to_string());
    node.or_else(|| Some(format!("vfio:{}", vfio::first_bound(root)?)))
}

/// Whether there is no socket, or one that was left behind.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused)
}

impl OpenDevice {
    /// Opens `unix:PATH`, `vfio:` with a PCI address, `ether:` with a network interface, a device file by its path, or `card`, the
    /// default card.
    ///
    /// # Errors
    /// There is no such device, or another program uses it.
    pub fn open(name: &str) -> Result<Self, OpenError> {
        if name == CARD {
            match socket::Client::connect(Path::new(SHARED)) {
                Err(socket::ConnectError::Nobody { source, .. }) if is_absent(&source) => {}
                client => return Ok(Self::Socket(client?)),
            }
        }
        Self::open_alone(name)
    }

    /// As [`open`](Self::open), but `card` is never one that another process shares.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_alone(name: &str) -> Result<Self, OpenError> {
        if let Some((CARD, times)) = slower(name) {
            let found = first_card(Path::new("/")).ok_or(OpenError::NoCard)?;
            return Self::open_alone(&format!("{found},slower={times}"));
        }
        if let Some(path) = name.strip_prefix("unix:") {
            return Ok(Self::Socket(socket::Client::connect(Path::new(path))?));
        }
        if let Some(place) = name.strip_prefix("vfio:") {
            return Ok(Self::Vfio(vfio::Vfio::open(place)?));
        }
        if let Some(place) = name.strip_prefix("ether:") {
            return Ok(Self::Ethernet(ether::Ethernet::open(place)?));
        }
        if !name.contains('/') {
            return Err(OpenError::Name(name.to_owned()));
        }
        let (path, slower) = slower(name).ok_or_else(|| OpenError::Name(name.to_owned()))?;
        let card = chardev::Card::open(chardev::Linux::default(), Path::new(path))?;
        Ok(Self::Card(card.slower(slower)))
    }
}

/// Calls a method of the device inside.
macro_rules! each {
    ($self:ident, $device:ident => $call:expr) => {
        match $self {
            OpenDevice::Socket($device) => $call,
            OpenDevice::Card($device) => $call,
            OpenDevice::Vfio($device) => $call,
            OpenDevice::Ethernet($device) => $call,
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

    fn load_beside(&mut self, program: &Program) -> Result<(), DeviceError> {
        each!(self, device => device.load_beside(program))
    }

    fn clear_cluster(&mut self, address: u32, bytes: u32) -> Result<(), DeviceError> {
        each!(self, device => device.clear_cluster(address, bytes))
    }

    fn manager(&mut self) -> Option<&mut dyn Manager> {
        each!(self, device => device.manager())
    }

    fn open_area(&mut self, context: u32, bytes: u32) -> Result<Area, DeviceError> {
        each!(self, device => device.open_area(context, bytes))
    }

    fn close_area(&mut self, context: u32) {
        each!(self, device => device.close_area(context));
    }

    fn host_mapping(&self, context: u32) -> Option<&Mapping> {
        each!(self, device => device.host_mapping(context))
    }

    fn host_file(&self, context: u32) -> Result<OwnedFd, DeviceError> {
        each!(self, device => device.host_file(context))
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

    fn wall(&self, time: Duration) -> Duration {
        each!(self, device => device.wall(time))
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

#[cfg(test)]
mod tests {
    use super::first_card;

    #[test]
    fn prefers_the_node_of_our_driver() -> std::io::Result<()> {
        let root = tempfile::tempdir()?;
        let nodes = root.path().join("dev");
        std::fs::create_dir(&nodes)?;
        assert_eq!(first_card(root.path()), None);
        for name in ["pspin0", "spinneret0"] {
            let node = nodes.join(name);
            std::fs::write(&node, "")?;
            assert_eq!(first_card(root.path()), Some(node.display().to_string()));
        }
        Ok(())
    }
}
