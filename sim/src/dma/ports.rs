//! The ports of descriptors and statuses.

use crate::handshake::{Handshake, Side};
use crate::model::{Direction, Instance, ModelError, PortHandle};

/// The descriptor channel out of the design.
#[derive(Clone, Debug)]
pub(super) struct DescriptorPorts {
    pub(super) bus: Handshake,
    pub(super) dma_addr: PortHandle,
    pub(super) ram_sel: PortHandle,
    pub(super) ram_addr: PortHandle,
    pub(super) len: PortHandle,
    pub(super) tag: PortHandle,
    /// Whether there is immediate data; read descriptors have no such port.
    pub(super) imm_en: Option<PortHandle>,
}

/// The status channel into the design, which has no ready.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatusPorts {
    pub(super) tag: PortHandle,
    pub(super) error: PortHandle,
    pub(super) valid: PortHandle,
}

impl DescriptorPorts {
    /// Looks up the ports with that prefix.
    pub(super) fn find(dut: &Instance, prefix: &str) -> Result<Self, ModelError> {
        let name = |signal: &str| format!("{prefix}_{signal}");
        let port = |signal: &str| dut.port(&name(signal), Direction::Output);
        let [dma_addr, ram_sel, ram_addr] = [port("dma_addr")?, port("ram_sel")?, port("ram_addr")?];
        let [len, tag] = [port("len")?, port("tag")?];
        for port in [dma_addr, ram_sel, ram_addr, len, tag] {
            at_most_64(dut, port)?;
        }
        let optional = ["imm", "imm_en"].map(|signal| dut.find(&name(signal)));
        let payload = [dma_addr, ram_sel, ram_addr, len, tag]
            .into_iter()
            .chain(optional.into_iter().flatten())
            .collect();
        let [valid, ready] = [name("valid"), name("ready")];
        let bus = Handshake::find(dut, prefix, [&valid, &ready], payload, Some(Side::OutOfDesign))?;
        Ok(Self {
            bus,
            dma_addr,
            ram_sel,
            ram_addr,
            len,
            tag,
            imm_en: optional[1],
        })
    }
}

impl StatusPorts {
    /// Looks up the ports with that prefix.
    pub(super) fn find(dut: &Instance, prefix: &str) -> Result<Self, ModelError> {
        let port = |signal: &str| dut.port(&format!("{prefix}_{signal}"), Direction::Input);
        let found = Self {
            tag: port("tag")?,
            error: port("error")?,
            valid: port("valid")?,
        };
        at_most_64(dut, found.tag)?;
        fits(dut, found.error, found.error.width() == 4, "a status code has 4")?;
        fits(dut, found.valid, found.valid.width() == 1, "valid has 1")?;
        Ok(found)
    }
}

fn at_most_64(dut: &Instance, port: PortHandle) -> Result<(), ModelError> {
    fits(
        dut,
        port,
        port.width() <= 64,
        "the model of the DMA knows at most 64",
    )
}

/// The error for a port whose width does not fit.
pub(super) fn fits(dut: &Instance, port: PortHandle, fits: bool, need: &str) -> Result<(), ModelError> {
    if fits {
        return Ok(());
    }
    Err(ModelError::UnfitPort {
        model: dut.name(),
        port: dut.info(port).name.to_owned(),
        reason: format!("is {} bits wide; {need}", port.width()),
    })
}
