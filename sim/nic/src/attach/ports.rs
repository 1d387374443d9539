//! Ports by name.

use spinneret_sim::model::{Direction, Instance, ModelError, PortHandle};

/// A port of one bit.
///
/// # Errors
/// If there is none of that name, direction and width.
pub(super) fn bit(dut: &Instance, name: &str, direction: Direction) -> Result<PortHandle, ModelError> {
    let port = dut.port(name, direction)?;
    match port.width() {
        1 => Ok(port),
        width => Err(ModelError::UnfitPort {
            model: dut.name(),
            port: name.to_owned(),
            reason: format!("is {width} bits wide, not 1"),
        }),
    }
}

/// A channel with valid and ready: who offers drives valid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handshake {
    pub(super) valid: PortHandle,
    pub(super) ready: PortHandle,
}

impl Handshake {
    /// A channel that the design offers on.
    pub(super) fn from_design(dut: &Instance, prefix: &str) -> Result<Self, ModelError> {
        Self::find(dut, prefix, [Direction::Output, Direction::Input])
    }

    /// A channel that the model offers on.
    pub(super) fn from_model(dut: &Instance, prefix: &str) -> Result<Self, ModelError> {
        Self::find(dut, prefix, [Direction::Input, Direction::Output])
    }

    fn find(dut: &Instance, prefix: &str, [valid, ready]: [Direction; 2]) -> Result<Self, ModelError> {
        Ok(Self {
            valid: bit(dut, &format!("{prefix}_valid"), valid)?,
            ready: bit(dut, &format!("{prefix}_ready"), ready)?,
        })
    }

    /// Whether something is handed over in this cycle.
    pub(super) fn moves(self, dut: &Instance) -> bool {
        dut.is_high(self.valid) && dut.is_high(self.ready)
    }
}
