//! The clock and the reset of a design.

use crate::model::{Direction, Instance, ModelError, PortHandle};

/// The clock and the reset of a design: `clk`, and `rstn` (active low), `rst` (active high) or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocking {
    clock: PortHandle,
    reset: Option<Reset>,
}

#[derive(Clone, Copy, Debug)]
struct Reset {
    port: PortHandle,
    active_high: bool,
}

impl Clocking {
    /// Looks up the ports.
    pub(crate) fn find(dut: &Instance) -> Result<Self, ModelError> {
        let reset = match (dut.find("rstn"), dut.find("rst")) {
            (Some(_), _) => Some(Reset {
                port: one_bit(dut, "rstn")?,
                active_high: false,
            }),
            (None, Some(_)) => Some(Reset {
                port: one_bit(dut, "rst")?,
                active_high: true,
            }),
            (None, None) => None,
        };
        Ok(Self {
            clock: one_bit(dut, "clk")?,
            reset,
        })
    }

    /// Looks up a clock of that name, and a reset with whether it is active high.
    pub(crate) fn named(
        dut: &Instance,
        clock: &str,
        reset: Option<&(String, bool)>,
    ) -> Result<Self, ModelError> {
        let find = |(name, active_high): &(String, bool)| -> Result<Reset, ModelError> {
            Ok(Reset {
                port: one_bit(dut, name)?,
                active_high: *active_high,
            })
        };
        Ok(Self {
            clock: one_bit(dut, clock)?,
            reset: reset.map(find).transpose()?,
        })
    }

    /// Whether the design can be reset.
    pub(crate) fn has_reset(self) -> bool {
        self.reset.is_some()
    }

    /// Lets the clock rise or fall.
    pub(crate) fn set_clock(self, dut: &mut Instance, high: bool) {
        dut.set_high(self.clock, high);
    }

    /// Puts the design in or out of reset, if it has one.
    pub(crate) fn set_reset(self, dut: &mut Instance, active: bool) {
        if let Some(reset) = self.reset {
            dut.set_high(reset.port, active == reset.active_high);
        }
    }
}

/// An input of one bit.
fn one_bit(dut: &Instance, name: &str) -> Result<PortHandle, ModelError> {
    let port = dut.port(name, Direction::Input)?;
    if port.width() == 1 {
        return Ok(port);
    }
    let reason = format!("is {} bits wide; a clock or reset is 1 bit", port.width());
    Err(ModelError::UnfitPort {
        model: dut.name(),
        port: name.to_owned(),
        reason,
    })
}
