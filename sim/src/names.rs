//! Finds the ports of a bus by their common prefix.

use crate::handshake::{Handshake, Side};
use crate::model::{Instance, ModelError, PortHandle};

/// A port, whether its width fits, and which would.
pub(crate) type Need = (PortHandle, bool, &'static str);

/// The ports of a design whose names begin alike.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) dut: &'a Instance,
    pub(crate) prefix: &'a str,
    /// What asks for widths, in messages.
    pub(crate) bus: &'static str,
}

impl Names<'_> {
    fn name(self, signal: &str) -> String {
        format!("{}_{signal}", self.prefix)
    }

    /// A port, if the design has it.
    pub(crate) fn optional(self, signal: &str) -> Option<PortHandle> {
        self.dut.find(&self.name(signal))
    }

    /// A port that has to be there.
    pub(crate) fn port(self, signal: &str) -> Result<PortHandle, ModelError> {
        let name = self.name(signal);
        self.dut.find(&name).ok_or_else(|| self.dut.unknown(&name))
    }

    /// The handshake of a channel.
    pub(crate) fn channel(
        self,
        letters: &str,
        payload: Vec<PortHandle>,
        side: Side,
    ) -> Result<Handshake, ModelError> {
        let [valid, ready] = ["valid", "ready"].map(|signal| self.name(&format!("{letters}{signal}")));
        let bus = self.name(letters);
        Handshake::find(self.dut, &bus, [&valid, &ready], payload, Some(side))
    }

    /// Whether all widths fit.
    pub(crate) fn check_widths(self, needs: &[Need]) -> Result<(), ModelError> {
        let Some((port, _, need)) = needs.iter().find(|(_, fits, _)| !fits) else {
            return Ok(());
        };
        Err(ModelError::UnfitPort {
            model: self.dut.name(),
            port: self.dut.info(*port).name.to_owned(),
            reason: format!("is {} bits wide; {} needs {need}", port.width(), self.bus),
        })
    }
}
