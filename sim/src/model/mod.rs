//! Verilated designs: typed structs made by the build script, and ports by name for generic drivers.
//!
//! ```text
//! testbench --- typed accessors ---> struct Xyz --+
//! bus model --- PortHandle ----------------------> Instance ---> C++ by Verilator
//! ```

mod access;
mod error;
mod instance;
mod library;
mod port;
mod table;
mod value;

pub use error::ModelError;
pub use instance::Instance;
pub use port::{Direction, PortHandle, PortInfo};
pub use table::Table;
pub use value::Value;

use num_bigint::BigUint;
use std::path::Path;

/// A design that Verilator compiled; the structs that `spinneret-verilate` writes implement it.
///
/// Every port has a typed accessor of its own there. The functions here work on any design.
pub trait Model: Send + Sized {
    /// Name of the model.
    const NAME: &'static str;

    /// All ports of the top module.
    const PORTS: &'static [PortInfo];

    /// A new instance: inputs are zero, registers and memories hold random values drawn from the seed, so
    /// that a design that relies on them without a reset does not work by luck.
    fn with_seed(seed: u64) -> Self;

    /// The design behind the typed accessors.
    fn instance(&self) -> &Instance;

    /// The design behind the typed accessors.
    fn instance_mut(&mut self) -> &mut Instance;

    /// Settles the design: outputs and registers follow the inputs and the clock.
    ///
    /// # Panics
    /// If the design does not settle; [`Instance::eval`] returns an error instead.
    fn eval(&mut self) {
        self.instance_mut()
            .eval()
            .unwrap_or_else(|error| panic!("{error}"));
    }

    /// Time in picoseconds.
    fn time_ps(&self) -> u64 {
        self.instance().time_ps()
    }

    /// Starts a waveform (FST); see [`Instance::trace_to`].
    ///
    /// # Errors
    /// If the file cannot be created.
    fn trace_to(&mut self, path: &Path) -> Result<(), ModelError> {
        self.instance_mut().trace_to(path)
    }

    /// All ports of the top module.
    fn ports(&self) -> &'static [PortInfo] {
        Self::PORTS
    }

    /// The value of any port.
    ///
    /// # Errors
    /// If there is no such port.
    fn get(&self, port: &str) -> Result<BigUint, ModelError> {
        let instance = self.instance();
        let handle = instance.find(port).ok_or_else(|| instance.unknown(port))?;
        Ok(BigUint::from_bytes_le(instance.bytes(handle)))
    }

    /// Drives any input.
    ///
    /// # Errors
    /// If there is no such input or the value does not fit.
    fn set(&mut self, port: &str, value: impl Into<BigUint>) -> Result<(), ModelError> {
        let instance = self.instance_mut();
        let handle = instance.port(port, Direction::Input)?;
        let value = value.into();
        if value.bits() > handle.width() as u64 {
            return Err(instance.too_wide(instance.info(handle), format!("0x{value:x}")));
        }
        instance.set_bytes(handle, &value.to_bytes_le());
        Ok(())
    }
}
