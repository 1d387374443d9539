//! Verilated designs: typed structs made by the build script, and ports by name for generic drivers.
//!
//! ```text
//! testbench --- typed accessors ---> struct Xyz --+
//! bus model --- PortHandle ----------------------> Instance ---> C++ by Verilator
//! ```

mod access;
mod instance;

pub use access::Value;
pub use instance::Instance;
use instance::WaveWriter;

use libloading::{Library, Symbol};
use num_bigint::BigUint;
use std::ffi::{c_char, c_void};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A design that Verilator compiled; the structs that `spinneret-verilate` writes implement it.
///
/// Every port has a typed accessor of its own there. The functions here work on any design.
pub trait Model: Send + Sized {
    /// Name of the model.
    const NAME: &'static str;

    /// All ports of the top module.
    const PORTS: &'static [PortInfo];

    /// A new instance: inputs are zero, registers and memories hold random values drawn from the seed, so that a
    /// design that relies on them without a reset fails.
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

/// An error of a model.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No port has that name.
    #[error("{model} has no port `{port}`; its ports are {known}")]
    UnknownPort {
        /// Name of the model.
        model: &'static str,
        /// The name that was looked up.
        port: String,
        /// All names, separated by commas.
        known: String,
    },
    /// A port exists, but cannot be used for this purpose.
    #[error("port `{port}` of {model} {reason}")]
    UnfitPort {
        /// Name of the model.
        model: &'static str,
        /// Name of the port.
        port: String,
        /// The mismatch, and the remedy.
        reason: String,
    },
    /// A value has ones beyond the port's width.
    #[error("port `{port}` of {model} is {width} bits wide: {value} does not fit")]
    TooWide {
        /// Name of the model.
        model: &'static str,
        /// Name of the port.
        port: &'static str,
        /// Width of the port in bits.
        width: usize,
        /// The value in hexadecimal, or a description of it.
        value: String,
    },
    /// The design cannot be simulated any further: it does not settle, or it called `$stop`.
    #[error("{model} cannot be simulated any further: {reason}")]
    Failed {
        /// Name of the model.
        model: &'static str,
        /// The message of the simulator.
        reason: String,
    },
    /// A library is invalid.
    #[error("cannot load the model {}: {reason}", path.display())]
    Library {
        /// The file.
        path: PathBuf,
        /// The message of the loader.
        reason: String,
    },
    /// The waveform cannot be written.
    #[error("cannot write the waveform {}: {source}", path.display())]
    Wave {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
        source: io::Error,
    },
    /// The design has no such module or signal.
    #[error("{model} has no instance or signal `{scope}`")]
    NoScope {
        /// Name of the model.
        model: &'static str,
        /// The name that was looked up.
        scope: String,
    },
}

impl ModelError {
    /// A port with the wrong direction.
    pub(crate) fn wrong_direction(model: &'static str, port: &str, needed: Direction) -> Self {
        let reason = match needed {
            Direction::Input => "is an output of the design; an input is needed",
            Direction::Output => "is an input of the design; an output is needed",
        };
        Self::UnfitPort {
            model,
            port: port.to_owned(),
            reason: reason.to_owned(),
        }
    }
}

impl Instance {
    /// Loads a design from a library that `spinneret_verilate::build_shared` has built for a model with that name and
    /// these ports. The library stays loaded until the program ends.
    ///
    /// # Errors
    /// If the file is no library, or none for that model.
    pub fn load(
        path: &Path,
        model: &'static str,
        ports: Vec<PortInfo>,
        seed: u64,
    ) -> Result<Self, ModelError> {
        let failed = |error: libloading::Error| ModelError::Library {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let function = format!("spinneret_model_{model}");
        // SAFETY: the only code of the library that runs now are its static initialisers, and Verilator's only set up
        // its own tables.
        let library = unsafe { Library::new(path) }.map_err(failed)?;
        let library = Box::leak(Box::new(library));
        // SAFETY: `build_shared` exports the function with this signature, under a unique name; the table it returns
        // is constant, and the library is never unloaded.
        let table = unsafe {
            let function: Symbol<'static, extern "C" fn() -> &'static Table> =
                library.get(function.as_bytes()).map_err(failed)?;
            function()
        };
        // A library with waveforms has a writer of its own.
        // SAFETY: `verilate/cpp/spinneret_fst.cpp` exports both with these signatures.
        let writer = unsafe {
            match (
                library.get(b"spinneret_wave_failed"),
                library.get(b"spinneret_wave_scope"),
            ) {
                (Ok(failed), Ok(scope)) => WaveWriter {
                    failed: *failed,
                    scope: *scope,
                },
                _ => WaveWriter::OWN,
            }
        };
        let ports = Box::leak(ports.into_boxed_slice());
        Ok(Self::with_writer(model, table, ports, seed, writer))
    }
}

/// The direction of a port, as seen from the design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Driven by the testbench.
    Input,
    /// Driven by the design.
    Output,
}

/// Properties of a port, known before the model exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortInfo {
    /// Name as in the Verilog text.
    pub name: &'static str,
    /// Input or output of the design.
    pub direction: Direction,
    /// Width in bits, at least 1.
    pub width: usize,
}

/// A port that was looked up once, for fast access by bus models.
///
/// A handle belongs to the design in which it was looked up: in another design it refers to another port, or to none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortHandle {
    index: usize,
    width: usize,
}

impl PortHandle {
    /// Width in bits.
    pub fn width(self) -> usize {
        self.width
    }
}

/// Version of the interface that this file describes.
const ABI: u32 = 3;

/// The exports of a Verilated model.
///
/// Tables are made in C++ only and cannot be constructed in Rust: all `unsafe` code in this crate relies on a table's
/// functions doing what the header says.
#[repr(C)]
#[derive(Debug)]
pub struct Table {
    abi: u32,
    port_count: u32,
    create: unsafe extern "C" fn(seed: u32) -> *mut c_void,
    destroy: unsafe extern "C" fn(*mut c_void),
    ports: unsafe extern "C" fn(*mut c_void, *mut RawPort),
    eval: unsafe extern "C" fn(*mut c_void, follow: bool) -> *const c_char,
    trace: unsafe extern "C" fn(*mut c_void, *const c_char) -> *const c_char,
    advance: unsafe extern "C" fn(*mut c_void, u64) -> *const c_char,
    run: unsafe extern "C" fn(*mut c_void, clock: *mut u8, follow: bool, cycles: u64) -> *const c_char,
}

/// Where a port's value is stored.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct RawPort {
    data: *mut u8,
    bytes: usize,
    /// Whether logic between inputs and registers or outputs may read it.
    followed: bool,
}

/// How many bytes Verilator uses to store a port of that width in bits.
fn storage_bytes(width: usize) -> usize {
    match width {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=64 => 8,
        wide => wide.div_ceil(32) * 4,
    }
}
