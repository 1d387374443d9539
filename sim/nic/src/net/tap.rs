//! A cable with Linux at both ends, and the NIC in its middle.
//!
//! ```text
//!   the host's Linux                                     namespace NAME-wire
//!   interface NAME ◄──► TapEnd host ◄─ NIC ─► TapEnd wire ◄──► interface NAME-wire
//!   10.9.0.1/24                                          10.9.0.2/24
//! ```
//!
//! Frames from the NIC to its host go to the host end, and frames that the host's Linux sends on NAME come from there; the
//! wire end is the other side of the NIC. So `ip netns exec NAME-wire ping 10.9.0.1` pings through the NIC.
//!
//! Linux computes all checksums of what it sends here, and cuts large packets to size: the interfaces offer it no
//! offload. Frames that Linux makes shorter than Ethernet allows are padded at the wire end, as a wire does it.

use super::linux::{Namespace, Need, ip};
use super::{NetError, Next, Sink, Source, linux, pad, tell_dropped};
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::{fmt, io};

/// More than any frame that Linux gives to an interface without offload.
const BUFFER_BYTES: usize = 1 << 16;

/// Two interfaces and a namespace, which are removed when all that uses them is dropped.
#[derive(Debug)]
pub struct Tap {
    /// The end at the host.
    pub host: TapEnd,
    /// The end at the wire.
    pub wire: TapEnd,
}

impl Tap {
    /// Creates the interfaces and the namespace, sets the addresses, and brings everything up.
    ///
    /// # Errors
    /// If the process may not do that, or something of these names exists. Nothing is left behind then.
    pub fn create(config: &TapConfig) -> Result<Self, NetError> {
        config.check_name()?;
        let wire_name = config.wire_name();
        Need::Interfaces.check(&format!("making the interface {}", config.name))?;
        let host = interface(&config.name)?;
        let namespace = Namespace::create(&wire_name)?;
        let wire = interface(&wire_name)?;
        namespace.take(&wire_name)?;
        namespace.ip(&["address", "add", &config.wire.to_string(), "dev", &wire_name])?;
        namespace.ip(&["link", "set", "dev", &wire_name, "up"])?;
        ip(&["address", "add", &config.host.to_string(), "dev", &config.name])?;
        ip(&["link", "set", "dev", &config.name, "up"])?;
        Ok(Self {
            host: TapEnd::new(config.name.clone(), host, None),
            wire: TapEnd::new(wire_name, wire, Some(namespace)),
        })
    }
}

impl TapEnd {
    /// Creates one interface in a namespace of the same name, with an IP and a MAC address, and brings it up: Linux as the
    /// host of a NIC, in addition to other hosts on the same machine.
    ///
    /// # Errors
    /// As [`Tap::create`].
    pub fn in_namespace(name: &str, address: &InterfaceAddress, mac: [u8; 6]) -> Result<Self, NetError> {
        TapConfig::new(name).check_name()?;
        Need::Interfaces.check(&format!("making the interface {name}"))?;
        let namespace = Namespace::create(name)?;
        let file = interface(name)?;
        namespace.take(name)?;
        let mac = mac.map(|byte| format!("{byte:02x}")).join(":");
        namespace.ip(&["link", "set", "dev", name, "address", &mac])?;
        namespace.ip(&["address", "add", &address.to_string(), "dev", name])?;
        namespace.ip(&["link", "set", "dev", name, "up"])?;
        Ok(Self::new(name.to_owned(), file, Some(namespace)))
    }
}

fn interface(name: &str) -> Result<File, NetError> {
    let exists = || NetError::Exists {
        what: "interface",
        name: name.to_owned(),
        command: format!("sudo ip link delete {name}"),
    };
    let failed = |error| NetError::system(format!("make the interface {name}"), error);
    if linux::interface_index(name).map_err(failed)?.is_some() {
        return Err(exists());
    }
    linux::create_tap(name).map_err(|error| match error.raw_os_error() {
        Some(libc::EBUSY) => exists(),
        Some(libc::EPERM | libc::EACCES) => Need::Interfaces.missing(&format!("making the interface {name}")),
        Some(libc::ENOENT | libc::ENODEV | libc::ENXIO) => NetError::system(
            "open /dev/net/tun (`sudo modprobe tun` loads what is missing)",
            error,
        ),
        _ => failed(error),
    })
}

/// One end of the cable, as the NIC sees it: a source of what Linux sends on this interface, and a sink of what it receives. A
/// frame that Linux does not take is lost and counted, as on a cable.
#[derive(Clone, Debug)]
pub struct TapEnd {
    interface: Rc<Interface>,
}

/// Fields are dropped in this order: first the interface goes away, and then the namespace that it is in.
#[derive(Debug)]
struct Interface {
    name: String,
    file: File,
    buffer: RefCell<Vec<u8>>,
    dropped: Cell<u64>,
    namespace: Option<Namespace>,
}

impl TapEnd {
    fn new(name: String, file: File, namespace: Option<Namespace>) -> Self {
        Self {
            interface: Rc::new(Interface {
                name,
                file,
                buffer: RefCell::new(vec![0; BUFFER_BYTES]),
                dropped: Cell::new(0),
                namespace,
            }),
        }
    }

    /// Name of the interface.
    pub fn name(&self) -> &str {
        &self.interface.name
    }

    /// Frames that Linux did not take: the interface was down or had no room, or they were no frames.
    pub fn dropped(&self) -> u64 {
        self.interface.dropped.get()
    }

    fn failed(&self, what: &str, error: io::Error) -> NetError {
        let name = self.interface.name.clone();
        match error.raw_os_error() {
            Some(libc::EBADFD | libc::ENODEV) => NetError::Gone { name },
            _ => NetError::system(format!("{what} the interface {name}"), error),
        }
    }
}

impl AsFd for TapEnd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.interface.file.as_fd()
    }
}

impl Source for TapEnd {
    fn next(&mut self, now_ps: u64) -> Result<Next, NetError> {
        let mut buffer = self.interface.buffer.borrow_mut();
        match (&self.interface.file).read(&mut buffer) {
            Ok(size) => {
                let bytes = buffer[..size].to_vec();
                let is_wire = self.interface.namespace.is_some();
                Ok(Next::Packet {
                    at_ps: now_ps,
                    bytes: if is_wire { pad(bytes) } else { bytes },
                })
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(Next::Nothing)
            }
            Err(error) => Err(self.failed("read from", error)),
        }
    }

    fn is_live(&self) -> bool {
        true
    }
}

impl Sink for TapEnd {
    fn put(&mut self, _at_ps: u64, bytes: &[u8]) -> Result<(), NetError> {
        let interface = &self.interface;
        let Err(error) = (&interface.file).write(bytes) else {
            return Ok(());
        };
        match error.raw_os_error() {
            // It is down (EIO), it was no frame, or there is no room.
            Some(libc::EIO | libc::EINVAL | libc::EMSGSIZE | libc::EAGAIN | libc::ENOBUFS | libc::ENOMEM) => {
                interface.dropped.set(interface.dropped.get() + 1);
                Ok(())
            }
            _ => Err(self.failed("write to", error)),
        }
    }

    fn finish(self: Box<Self>) -> Result<(), NetError> {
        tell_dropped(self.name(), self.dropped());
        Ok(())
    }
}

/// Longest name of an interface, in bytes.
const MAX_NAME_BYTES: usize = 15;
const WIRE_SUFFIX: &str = "-wire";

/// Address and size of the network of an interface, written as 10.9.0.1/24.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InterfaceAddress {
    /// The interface's address.
    pub address: IpAddr,
    /// How many bits of it are the network's.
    pub prefix_bits: u8,
}

impl fmt::Display for InterfaceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix_bits)
    }
}

/// Name of a cable, and the addresses at its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TapConfig {
    /// The host's interface. The wire's interface and namespace are called the same with `-wire` behind it.
    pub name: String,
    /// Address of the host's interface.
    pub host: InterfaceAddress,
    /// Address of the wire's interface.
    pub wire: InterfaceAddress,
}

impl TapConfig {
    /// A cable of this name, with 10.9.0.1/24 at the host and 10.9.0.2/24 at the wire.
    pub fn new(name: impl Into<String>) -> Self {
        let address = |last| InterfaceAddress {
            address: Ipv4Addr::new(10, 9, 0, last).into(),
            prefix_bits: 24,
        };
        Self {
            name: name.into(),
            host: address(1),
            wire: address(2),
        }
    }

    /// Name of the wire's interface, and of its namespace.
    pub fn wire_name(&self) -> String {
        format!("{}{WIRE_SUFFIX}", self.name)
    }

    /// A command that pings the host through the NIC.
    pub fn ping_command(&self) -> String {
        format!(
            "sudo ip netns exec {} ping {}",
            self.wire_name(),
            self.host.address
        )
    }

    /// Whether Linux and `ip` take the names.
    pub(super) fn check_name(&self) -> Result<(), NetError> {
        let longest = MAX_NAME_BYTES - WIRE_SUFFIX.len();
        let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let problem = if self.name.len() > longest {
            format!("it may have {longest} letters at most, since {WIRE_SUFFIX} is added for the other end")
        } else if !self.name.starts_with(|c: char| c.is_ascii_alphanumeric())
            || !self.name.chars().all(is_good)
        {
            "begin with a letter or a digit, and use only these, `-`, `_` and `.`".to_owned()
        } else {
            return Ok(());
        };
        Err(NetError::BadName {
            name: self.name.clone(),
            problem,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Tap;

    #[test]
    fn names_are_checked_first() {
        for (name, expected) in [
            (
                "",
                "`` cannot be the name of an interface: begin with a letter or a digit",
            ),
            (
                "a-long-name",
                "it may have 10 letters at most, since -wire is added for the other end",
            ),
            ("a b", "use only these, `-`, `_` and `.`"),
            ("tap%d", "use only these"),
            ("../x", "begin with a letter or a digit"),
            ("-all", "begin with a letter or a digit"),
        ] {
            let found = Tap::create(&TapConfig::new(name)).unwrap_err().to_string();
            assert!(found.contains(expected), "{found}");
        }
    }
}
