//! One Verilated design: the border between Rust and the C++ that Verilator wrote.
//!
//! All `unsafe` of the crate is here and in `access.rs`. It relies on three facts: a [`Table`] comes from C++ and keeps the
//! promises of its header; the object it makes is owned by one [`Instance`] until that is dropped; and
//! the addresses of the ports, whose sizes are checked when the instance is made, stay valid as long as
//! the object does.

use super::{ABI, Direction, ModelError, PortHandle, PortInfo, RawPort, Table, storage_bytes};
use crate::waveform;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};

#[cfg(target_endian = "big")]
compile_error!("ports are read as little-endian bytes, which big-endian processors do not store");

/// A design that is being simulated, with its ports by name or handle.
///
/// The typed structs that `spinneret-verilate` writes wrap this one and are what a testbench uses; bus models work on
/// the instance itself.
#[derive(Debug)]
pub struct Instance {
    pub(super) model: &'static str,
    table: &'static Table,
    object: NonNull<c_void>,
    pub(super) infos: &'static [PortInfo],
    pub(super) storage: Box<[RawPort]>,
    pub(super) changed: Changed,
    time_ps: u64,
    /// The waveform that is being written.
    wave: Option<PathBuf>,
    /// Whether it goes on at this time.
    is_recording: bool,
}

/// Which inputs have changed since the design was evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Changed {
    /// None: the design has settled.
    Nothing,
    /// Some that only registers and edges read.
    Unfollowed,
    /// Some that other logic follows.
    Followed,
}

unsafe extern "C" {
    /// Whether a waveform could not be written since the last call, in this thread; `verilate/cpp/spinneret_fst.cpp`.
    safe fn spinneret_wave_failed() -> bool;
    /// What is written of the next waveform that is opened in this thread: a text that ends with a zero byte and lives until
    /// then, or null for all of it.
    fn spinneret_wave_scope(name: *const c_char);
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
                bytes: 0,
                followed: true,
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
            changed: Changed::Followed,
            time_ps: 0,
            wave: None,
            is_recording: true,
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

    /// Settles the design: outputs and registers follow the inputs and the clock. Without a change of an input since the
    /// last call, there is nothing to do.
    ///
    /// # Errors
    /// If the design does not settle or stops; every later call says the same.
    #[inline]
    pub fn eval(&mut self) -> Result<(), ModelError> {
        if self.changed == Changed::Nothing {
            return Ok(());
        }
        let follow = self.changed == Changed::Followed;
        // SAFETY: the object is alive and borrowed exclusively.
        let failure = unsafe { (self.table.eval)(self.object.as_ptr(), follow) };
        self.check(failure)?;
        self.changed = Changed::Nothing;
        Ok(())
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

    /// Starts a waveform (FST) in a file; one that was being written is completed. Changes are recorded by
    /// [`advance`](Self::advance). The file is complete when the design is dropped, and empty if it could not be written.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn trace_to(&mut self, path: &Path) -> Result<(), ModelError> {
        self.trace_part_to(path, None)
    }

    /// The same with what is in a module, or one signal: names of instances from `TOP` on, with points between them. Designs
    /// that were loaded when the program ran are always written whole.
    ///
    /// # Errors
    /// As [`trace_to`](Self::trace_to), and if there is nothing of that name.
    pub fn trace_part_to(&mut self, path: &Path, scope: Option<&str>) -> Result<(), ModelError> {
        let wave = |source| ModelError::Wave {
            path: path.to_owned(),
            source,
        };
        let text = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|e| wave(e.into()))?;
        let scope = scope.map(CString::new).transpose().map_err(|e| wave(e.into()))?;
        // Verilator does not notice that it cannot create a file, so that is tried here first.
        File::create(path).map_err(wave)?;
        if let Some(scope) = &scope
            && self.signals_of(scope, &text, path).map_err(wave)? == 0
        {
            return Err(ModelError::NoScope {
                model: self.model,
                scope: scope.to_string_lossy().into_owned(),
            });
        }
        let failure = self.open_wave(self.object, &text, scope.as_deref());
        self.check(failure)
            .map_err(|error| wave(io::Error::other(error)))?;
        self.wave = Some(path.to_owned());
        Ok(())
    }

    /// How many signals a waveform of a part would have: one without signals must not be recorded, as the writer takes none for
    /// all. Only when it is closed is that known, so another object of the design opens and closes it.
    fn signals_of(&self, scope: &CStr, text: &CStr, path: &Path) -> io::Result<u64> {
        // SAFETY: `create` may be called at any time.
        let other = NonNull::new(unsafe { (self.table.create)(1) })
            .ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let failure = self.open_wave(other, text, Some(scope));
        let opened = self.check(failure).map_err(io::Error::other);
        // SAFETY: the object was just made by the same table, and is not used afterwards.
        unsafe { (self.table.destroy)(other.as_ptr()) };
        // That no memory can be mapped for no signals is no failure of the waveform that comes.
        let _ = spinneret_wave_failed();
        opened.and_then(|()| waveform::signals(path))
    }

    /// Opens a waveform of an object of this table.
    fn open_wave(&self, object: NonNull<c_void>, text: &CStr, scope: Option<&CStr>) -> *const c_char {
        // SAFETY: the text lives until it is taken back below, in the same thread.
        unsafe { spinneret_wave_scope(scope.map_or(ptr::null(), CStr::as_ptr)) };
        // SAFETY: the object is alive, and the instance that it belongs to is borrowed; the text ends with a zero byte.
        let failure = unsafe { (self.table.trace)(object.as_ptr(), text.as_ptr()) };
        // SAFETY: nothing is pointed to.
        unsafe { spinneret_wave_scope(ptr::null()) };
        failure
    }

    /// Whether a waveform is being written at this time.
    pub fn is_traced(&self) -> bool {
        self.wave.is_some() && self.is_recording
    }

    /// Lets waveforms pause, or go on: [`is_traced`](Self::is_traced) tells whoever calls [`advance`](Self::advance).
    pub fn set_recording(&mut self, is_recording: bool) {
        self.is_recording = is_recording;
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
        // What is left is no waveform.
        if let Some(path) = self.wave.take().filter(|_| spinneret_wave_failed()) {
            let _ = File::create(path);
        }
    }
}
