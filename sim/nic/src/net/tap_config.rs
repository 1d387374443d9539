//! Names and addresses of a cable between two TAP interfaces.

use super::NetError;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

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

impl FromStr for InterfaceAddress {
    type Err = NetError;

    fn from_str(text: &str) -> Result<Self, NetError> {
        let parsed = text.split_once('/').and_then(|(address, prefix)| {
            let address: IpAddr = address.parse().ok()?;
            let bits = if address.is_ipv4() { 32 } else { 128 };
            let prefix_bits = prefix.parse().ok().filter(|prefix| *prefix <= bits)?;
            Some(Self { address, prefix_bits })
        });
        parsed.ok_or_else(|| NetError::BadAddress {
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for InterfaceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix_bits)
    }
}

/// What a cable is called, and the addresses at its ends.
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
    fn names_are_checked_before_anything_is_made() {
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

    #[test]
    fn addresses_are_read_as_they_are_written() {
        for text in ["10.9.0.1/24", "192.0.2.7/32", "fd00::1/64", "0.0.0.0/0"] {
            let address: InterfaceAddress = text.parse().unwrap();
            assert_eq!(address.to_string(), text);
        }
        for text in [
            "",
            "10.9.0.1",
            "10.9.0.1/33",
            "10.9.0/24",
            "fd00::1/129",
            "10.9.0.1/-1",
            "x/24",
        ] {
            let found = text.parse::<InterfaceAddress>().unwrap_err().to_string();
            assert_eq!(
                found,
                format!("`{text}` is not an interface's address: write it as 10.9.0.1/24")
            );
        }
    }
}
