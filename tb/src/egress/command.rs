//! Commands of the cluster, and what has to become of them.

use super::setup::Setup;
use spinneret_sim::axi::Response;

/// A command to send a range of memory as a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Its id, which the answer repeats.
    pub id: u64,
    /// Address of the first byte.
    pub source: u64,
    /// Number of bytes.
    pub length: u64,
}

/// Why a command comes to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A line was answered with SLVERR, before any with DECERR.
    SlaveError,
    /// A line was answered with DECERR, before any with SLVERR.
    DecodeError,
    /// Nothing, or more than the longest frame.
    Length,
    /// The memory is not all within the address space.
    Address,
}

impl Fault {
    /// What `egress_dma_last_error` says.
    pub fn code(self) -> u64 {
        match self {
            Self::SlaveError => 4,
            Self::DecodeError => 5,
            Self::Length => 12,
            Self::Address => 13,
        }
    }

    /// Whether nothing is read.
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::Length | Self::Address)
    }

    /// What a bad response makes of a command.
    pub fn of_response(response: Response) -> Option<Self> {
        match response {
            Response::Okay => None,
            Response::DecodeError => Some(Self::DecodeError),
            Response::ExclusiveOkay | Response::SlaveError => Some(Self::SlaveError),
        }
    }
}

impl Command {
    /// Why the command is refused, if it is.
    pub fn refusal(&self, setup: &Setup) -> Option<Fault> {
        if self.length == 0 || self.length > setup.max_frame {
            return Some(Fault::Length);
        }
        let end = u128::from(self.source) + u128::from(self.length);
        (end > u128::from(setup.address_end())).then_some(Fault::Address)
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, Fault};
    use crate::egress::Setup;
    use spinneret_models::PspinEgressDatapath;

    #[test]
    fn commands_at_the_border_of_what_is_possible() {
        let setup = Setup::of::<PspinEgressDatapath>();
        let refusal = |source, length| {
            Command {
                id: 0,
                source,
                length,
            }
            .refusal(&setup)
        };
        assert_eq!(refusal(0, 9600), None);
        assert_eq!(refusal(0, 9601), Some(Fault::Length));
        assert_eq!(refusal(u64::MAX, 0), Some(Fault::Length));
        assert_eq!(refusal(0xffff_ffff, 1), None);
        assert_eq!(refusal(0xffff_ffff, 2), Some(Fault::Address));
        assert_eq!(refusal(1 << 32, 1), Some(Fault::Address));
    }
}
