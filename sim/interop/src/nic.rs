//! A NIC whose cluster is the real one.

use crate::watch::Watch;
use anyhow::{Context as _, Result};
use spinneret_nic::Simulated;
use spinneret_nic::nic::{Hardware, Names, Nic, NicConfig};
use spinneret_sim::model::{Direction, Instance, PortInfo};
use spinneret_verilate::Port;
use std::path::Path;

/// Seed of what registers without a reset start with.
const SEED: u64 = 1;

/// A NIC with the cluster of a library that [`crate::model`] describes.
///
/// # Errors
/// If the library is not what it should be, or the hardware fails in reset.
pub(crate) fn open(
    library: &Path,
    name: &'static str,
    ports: &[Port],
    config: NicConfig,
) -> Result<Simulated<Watch>> {
    let infos = ports.iter().map(|port| PortInfo {
        name: port.name.clone().leak(),
        direction: if port.input {
            Direction::Input
        } else {
            Direction::Output
        },
        width: port.width,
    });
    let instance = Instance::load(library, name, infos.collect(), SEED)?;
    let hardware = Hardware::new(instance, Names::INTERFACE_0);
    let nic = Nic::assemble(hardware, config, Watch::attach).context("the model of the public cluster")?;
    Ok(Simulated::of(nic))
}
