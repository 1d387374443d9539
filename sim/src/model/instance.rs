//! One Verilated design: the border between Rust and the C++ that Verilator wrote.
//!
//! All `unsafe` of the crate is here. It relies on three facts: a [`Table`] comes from C++ and keeps the
//! promises of its header; the object it makes is owned by one [`Instance`] until that is dropped; and
//! the addresses of the ports, whose sizes are checked when the instance is made, stay valid as long as
//! the object does.

use super::table::{ABI, RawPort, Table, storage_bytes};
use super::value::Value;
use super::{Direction, ModelError, PortHandle, PortInfo};
use num_bigint::BigUint;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::slice;

#[cfg(target_endian = "big")]
compile_error!("ports are read as little-endian bytes, which big-endian processors do not store");

/// A design that is being simulated, with its ports by name or handle.
///
/// The typed structs in [`models`](crate::models) wrap this one and are what a testbench uses; bus models
/// work on the instance itself.
#[derive(Debug)]
pub struct Instance {
    model: &'static str,
    table: &'static Table,
    object: NonNull<c_void>,
    infos: &'static [PortInfo],
    storage: Box<[RawPort]>,
    time_ps: u64,
    traced: bool,
}

// SAFETY: the C++ object is reached through this instance only, and it is tied to no thread: the border
// in C++ sets the calling thread's context in every function.
unsafe impl Send for Instance {}

impl Instance {
    /// Makes a design; inputs are zero, registers hold random values that depend on the seed.
    ///
    /// # Panics
    /// If the table and the ports do not belong together or there is no memory left.
    pub fn new(model: &'static str, table: &'static Table, infos: &'static [PortInfo], seed: u64) -> Self {
        assert_eq!(
            table.abi, ABI,
            "{model} was built for another version of this crate: build it again"
        );
        assert_eq!(
            table.port_count as usize,
            infos.len(),
            "{model} has other ports than were described"
        );
        // The two halves of the seed are folded, so that every bit of it counts.
        let seed = (seed ^ (seed >> 32)) as u32;
        // SAFETY: `create` may be called at any time.
        let object = unsafe { (table.create)(seed) };
        let object = NonNull::new(object).unwrap_or_else(|| panic!("cannot make an instance of {model}"));
        let mut storage = vec![
            RawPort {
                data: ptr::null_mut(),
                bytes: 0
            };
            infos.len()
        ]
        .into_boxed_slice();
        // SAFETY: the object was just made, and there is room for as many ports as the table has.
        unsafe { (table.ports)(object.as_ptr(), storage.as_mut_ptr()) };
        for (raw, info) in storage.iter().zip(infos) {
            assert_eq!(
                raw.bytes,
                storage_bytes(info.width),
                "{model}: `{}` has another width",
                info.name
            );
            if info.direction == Direction::Input {
                // SAFETY: the model stores this port in that many bytes.
                unsafe { ptr::write_bytes(raw.data, 0, raw.bytes) };
            }
        }
        Self {
            model,
            table,
            object,
            infos,
            storage,
            time_ps: 0,
            traced: false,
        }
    }

    /// Name of the model.
    pub fn name(&self) -> &'static str {
        self.model
    }

    /// All ports of the design.
    pub fn ports(&self) -> &'static [PortInfo] {
        self.infos
    }

    /// What is known about a port.
    pub fn info(&self, port: PortHandle) -> &'static PortInfo {
        &self.infos[port.index]
    }

    /// The port of that name, if there is one.
    pub fn find(&self, name: &str) -> Option<PortHandle> {
        let index = self.infos.iter().position(|info| info.name == name)?;
        Some(PortHandle {
            index,
            width: self.infos[index].width,
        })
    }

    /// The port of that name and direction.
    ///
    /// # Errors
    /// If there is none, or it goes the other way.
    pub fn port(&self, name: &str, direction: Direction) -> Result<PortHandle, ModelError> {
        let port = self.find(name).ok_or_else(|| self.unknown(name))?;
        if self.info(port).direction != direction {
            return Err(ModelError::wrong_direction(self.model, name, direction));
        }
        Ok(port)
    }

    /// Settles the design: outputs and registers follow the inputs and the clock.
    ///
    /// # Errors
    /// If the design does not settle or stops; every later call says the same.
    #[inline]
    pub fn eval(&mut self) -> Result<(), ModelError> {
        // SAFETY: the object is alive and borrowed exclusively.
        let failure = unsafe { (self.table.eval)(self.object.as_ptr()) };
        self.check(failure)
    }

    /// Time in picoseconds, as last set by [`advance`](Self::advance).
    pub fn time_ps(&self) -> u64 {
        self.time_ps
    }

    /// Sets the time; what changed since the last call is added to the waveform, if there is one.
    ///
    /// # Errors
    /// If the waveform cannot be written.
    pub fn advance(&mut self, time_ps: u64) -> Result<(), ModelError> {
        self.time_ps = time_ps;
        // SAFETY: the object is alive and borrowed exclusively.
        let failure = unsafe { (self.table.advance)(self.object.as_ptr(), time_ps) };
        self.check(failure)
    }

    /// Starts a waveform (FST) in a file, whose folders are made if need be; one that was being written
    /// is completed. Changes are recorded by [`advance`](Self::advance).
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn trace_to(&mut self, path: &Path) -> Result<(), ModelError> {
        let wave = |source| ModelError::Wave {
            path: path.to_owned(),
            source,
        };
        let text = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|e| wave(e.into()))?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(wave)?;
        }
        // Verilator does not notice that it cannot create a file, so that is tried here first.
        File::create(path).map_err(wave)?;
        // SAFETY: the object is alive and borrowed exclusively; the text ends with a zero byte.
        let failure = unsafe { (self.table.trace)(self.object.as_ptr(), text.as_ptr()) };
        self.check(failure)
            .map_err(|error| wave(io::Error::other(error)))?;
        self.traced = true;
        Ok(())
    }

    /// Whether a waveform is being written.
    pub fn is_traced(&self) -> bool {
        self.traced
    }

    /// The value of a port as little-endian bytes: 1, 2, 4 or 8 of them, or a multiple of 4.
    #[inline]
    pub fn bytes(&self, port: PortHandle) -> &[u8] {
        let raw = self.storage[port.index];
        // SAFETY: the model stores the port in that many bytes, and nobody writes to it before this
        // borrow of the instance ends.
        unsafe { slice::from_raw_parts(raw.data, raw.bytes) }
    }

    /// Drives an input with little-endian bytes; what is missing is zero.
    ///
    /// # Panics
    /// If the port is an output, or the bytes have ones beyond the port's width.
    #[inline]
    pub fn set_bytes(&mut self, port: PortHandle, value: &[u8]) {
        let info = &self.infos[port.index];
        assert!(
            info.direction == Direction::Input,
            "`{}` of {} is an output",
            info.name,
            self.model
        );
        if !fits(value, info.width) {
            panic!(
                "{}",
                self.too_wide(info, format!("0x{:x}", BigUint::from_bytes_le(value)))
            );
        }
        let raw = self.storage[port.index];
        let count = value.len().min(raw.bytes);
        // SAFETY: the model stores the port in that many bytes, and nobody else reads or writes it while
        // the instance is borrowed exclusively.
        let storage = unsafe { slice::from_raw_parts_mut(raw.data, raw.bytes) };
        storage[..count].copy_from_slice(&value[..count]);
        storage[count..].fill(0);
    }

    /// The value of a port of at most 128 bits.
    ///
    /// # Panics
    /// If the port is wider.
    #[inline]
    pub fn value(&self, port: PortHandle) -> u128 {
        let bytes = self.bytes(port);
        let mut value = [0; 16];
        assert!(
            bytes.len() <= value.len(),
            "port `{}` is wider than 128 bits",
            self.info(port).name
        );
        value[..bytes.len()].copy_from_slice(bytes);
        u128::from_le_bytes(value)
    }

    /// Drives an input; what is wider than 128 bits is filled with zeros.
    ///
    /// # Panics
    /// If the port is an output or the value does not fit.
    #[inline]
    pub fn set_value(&mut self, port: PortHandle, value: u128) {
        self.set_bytes(port, &value.to_le_bytes());
    }

    /// Whether a port of one bit is high.
    #[inline]
    pub fn is_high(&self, port: PortHandle) -> bool {
        self.bytes(port)[0] != 0
    }

    /// Drives an input of one bit.
    ///
    /// # Panics
    /// If the port is an output.
    #[inline]
    pub fn set_high(&mut self, port: PortHandle, high: bool) {
        self.set_bytes(port, &[u8::from(high)]);
    }

    /// The value of the port with that number, as the typed accessors read it.
    ///
    /// # Panics
    /// If there is no such port or the type is not that of its storage.
    #[inline]
    pub fn get<V: Value>(&self, index: usize) -> V {
        let raw = self.storage[index];
        assert_eq!(raw.bytes, size_of::<V::Raw>(), "the type does not fit the port");
        // SAFETY: the model stores the port in as many bytes as the type has; every bit pattern is valid
        // for the raw type, and nothing is assumed about alignment.
        V::from_raw(unsafe { raw.data.cast::<V::Raw>().read_unaligned() })
    }

    /// Drives the port with that number, as the typed accessors do.
    ///
    /// # Panics
    /// If there is no such port, the type is not that of its storage, or the value does not fit.
    #[inline]
    pub fn set<V: Value>(&mut self, index: usize, value: V) {
        let (raw, info) = (self.storage[index], &self.infos[index]);
        assert_eq!(raw.bytes, size_of::<V::Raw>(), "the type does not fit the port");
        if value.needed_bits() > info.width {
            panic!("{}", self.too_wide(info, value.hex()));
        }
        // SAFETY: as for reading, and the instance is borrowed exclusively.
        unsafe { raw.data.cast::<V::Raw>().write_unaligned(value.into_raw()) };
    }

    /// The error about a name that is no port's.
    pub(crate) fn unknown(&self, port: &str) -> ModelError {
        let known = self
            .infos
            .iter()
            .map(|info| info.name)
            .collect::<Vec<_>>()
            .join(", ");
        ModelError::UnknownPort {
            model: self.model,
            port: port.to_owned(),
            known,
        }
    }

    pub(super) fn too_wide(&self, info: &PortInfo, value: String) -> ModelError {
        ModelError::TooWide {
            model: self.model,
            port: info.name,
            width: info.width,
            value,
        }
    }

    /// Turns the text that a function of the table returned into an error.
    #[inline]
    fn check(&self, failure: *const c_char) -> Result<(), ModelError> {
        if failure.is_null() {
            return Ok(());
        }
        // SAFETY: the text ends with a zero byte and lives until the next call with this object.
        let reason = unsafe { CStr::from_ptr(failure) }.to_string_lossy().into_owned();
        Err(ModelError::Failed {
            model: self.model,
            reason,
        })
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the object was made by the same table and is not used afterwards.
        unsafe { (self.table.destroy)(self.object.as_ptr()) };
    }
}

/// Whether little-endian bytes have no ones at or above that bit.
#[inline]
pub(super) fn fits(value: &[u8], width: usize) -> bool {
    let whole = width / 8;
    if value.len() <= whole {
        return true;
    }
    value[whole] >> (width % 8) == 0 && value[whole + 1..].iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn sees_ones_beyond_the_width() {
        assert!(fits(&[], 1));
        assert!(fits(&[1], 1));
        assert!(!fits(&[2], 1));
        assert!(fits(&[0xff], 8));
        assert!(!fits(&[0xff, 1], 8));
        assert!(fits(&[0xff, 1, 0, 0], 9));
        assert!(!fits(&[0xff, 1, 0, 1], 9));
    }
}
