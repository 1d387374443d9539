//! Serial lines: one start bit, eight data bits with the lowest first, one stop bit, no parity.

mod sink;
mod source;

pub use sink::{Received, UartSink};
pub use source::{Speed, UartSource};

use crate::model::{Direction, Instance, ModelError, PortHandle};

/// Bits of a byte on the line.
const FRAME_BITS: u64 = 10;

/// A port of one bit.
fn line(dut: &Instance, name: &str, direction: Direction) -> Result<PortHandle, ModelError> {
    let port = dut.port(name, direction)?;
    if port.width() == 1 {
        return Ok(port);
    }
    Err(ModelError::UnfitPort {
        model: dut.name(),
        port: name.to_owned(),
        reason: format!("is {} bits wide; a serial line is 1 bit", port.width()),
    })
}
