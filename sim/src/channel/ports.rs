//! The ports of a channel.

use crate::handshake::{Handshake, Side};
use crate::model::{Instance, ModelError, PortHandle};

/// Looks up valid, ready and the fields of a channel: `<prefix>_valid`, or `<prefix>valid` as in AXI.
pub(super) fn find(
    dut: &Instance,
    prefix: &str,
    fields: &[&str],
    side: Side,
) -> Result<Handshake, ModelError> {
    let name = |signal: &str| {
        let joined = format!("{prefix}{signal}");
        if dut.find(&joined).is_some() {
            joined
        } else {
            format!("{prefix}_{signal}")
        }
    };
    let mut payload = Vec::with_capacity(fields.len());
    for field in fields {
        let port = name(field);
        payload.push(narrow(dut, &port)?);
    }
    Handshake::find(dut, prefix, [&name("valid"), &name("ready")], payload, Some(side))
}

/// A port of at most 64 bits.
fn narrow(dut: &Instance, name: &str) -> Result<PortHandle, ModelError> {
    let port = dut.find(name).ok_or_else(|| dut.unknown(name))?;
    if port.width() <= 64 {
        return Ok(port);
    }
    let reason = format!(
        "is {} bits wide; a field of a channel needs at most 64 bits",
        port.width()
    );
    Err(ModelError::UnfitPort {
        model: dut.name(),
        port: name.to_owned(),
        reason,
    })
}
