//! A card with a driver: FPsPIN's `mqnic_app_pspin`, or ours, which has the same calls and more.
//!
//! ```text
//! Card ── System ──► registers, text files of the auxiliary device in sysfs
//!  └───── DeviceFile ─► /dev/pspin0: L2 memory by seek, read and write; 64-bit words and the place of host memory by
//!                       ioctl; host memory by mmap
//! ```
//!
//! The file of our driver, `/dev/spinneret0`, also has calls for registers and events. Its `/dev/pspin0` is like that of
//! FPsPIN's driver.
//!
//! The output of handlers is read from the register `cl.fifo`, which reads 4294967295 when it is empty. `/dev/pspin1` returns
//! the same words, but its reads block, so this library does not use it.
//!
//! The driver does not enforce exclusive use, so the library locks the device file, and refuses a locked one.

mod linux;
mod message;
mod system;

pub use linux::{Linux, LinuxFile};
pub use system::CardError;
pub use system::{Abilities, DeviceFile, DmaArea, System};

use super::{Area, Device, DeviceError, Mapping};
use message::{RegisterFiles, Registers};
use spinneret_regmap::pspin::{HANDLER_BASE, HANDLER_BYTES, PROGRAM_BASE, PROGRAM_BYTES};
use spinneret_regmap::{CONTEXTS, caps, cl, her};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// Word size of the driver's calls, in bytes.
const WORD: usize = 8;
/// Word size of the cluster's memory, in bytes.
const HALF: usize = 4;
/// The bit of `caps.features` for message ids that include the context.
const CONTEXT_IN_MESSAGE_ID: u32 = 1 << 4;

/// A card. Dropping it ends handlers that still have host memory, because the memory is freed with it.
#[derive(Debug)]
pub struct Card<S: System = Linux> {
    system: S,
    file: S::File,
    registers: Registers,
    areas: [Option<Mapping>; CONTEXTS as usize],
    /// The cluster is in reset, where the driver refuses some accesses to its memory, but not all.
    is_held: bool,
    tells_contexts: bool,
    opened: Instant,
    /// Factor by which time on the card is slower than wall-clock time.
    slower: u32,
}

impl<S: System> Card<S> {
    /// Opens a device file such as `/dev/pspin0` for exclusive use.
    ///
    /// # Errors
    /// There is no card, its driver is missing or a different one, or another program uses it.
    pub fn open(system: S, path: &Path) -> Result<Self, CardError> {
        let mut file = system
            .open(path)
            .map_err(|source| CardError::opening(path, source))?;
        let foreign = |source| CardError::foreign(path, source);
        let abilities = again(|| file.abilities()).map_err(foreign)?;
        for context in 0..CONTEXTS {
            let area = again(|| file.query(context)).map_err(foreign)?;
            if area.is_enabled {
                return Err(CardError::Mapped(path.to_owned(), context));
            }
        }
        let registers = match abilities {
            Some(abilities) => Registers::Calls(abilities),
            None => Registers::Files(RegisterFiles::find(&system, path)?),
        };
        let mut card = Self {
            system,
            file,
            registers,
            areas: [const { None }; CONTEXTS as usize],
            is_held: true,
            tells_contexts: false,
            opened: Instant::now(),
            slower: 1,
        };
        card.look_around().map_err(CardError::Registers)?;
        Ok(card)
    }

    /// Sets the factor by which time on the card is slower than wall-clock time: all waits take that much longer.
    #[must_use]
    pub fn slower(mut self, times: u32) -> Self {
        self.slower = times.max(1);
        self
    }

    /// Reads the initial state of the card.
    fn look_around(&mut self) -> Result<(), DeviceError> {
        self.is_held = self.read_register(cl::AUX_RESET)? != 0;
        let features = caps::offset("features").filter(|offset| self.has_register(*offset));
        if let Some(features) = features {
            self.tells_contexts = self.read_register(features)? & CONTEXT_IN_MESSAGE_ID != 0;
        }
        Ok(())
    }

    /// Accesses memory in pieces of the size that the driver chooses.
    fn by_pieces(
        &mut self,
        action: &str,
        address: u32,
        bytes: usize,
        mut piece: impl FnMut(&mut S::File, usize) -> io::Result<usize>,
    ) -> Result<(), DeviceError> {
        let failed = |source| system::memory(action, address, &source);
        // The file position is not the address, but advances with reads and writes.
        again(|| self.file.seek(address.into())).map_err(failed)?;
        let mut done = 0;
        while done < bytes {
            match again(|| piece(&mut self.file, done)).map_err(failed)? {
                0 => return Err(failed(ErrorKind::UnexpectedEof.into())),
                count => done += count,
            }
        }
        Ok(())
    }

    /// Whether one driver call does the access: an aligned word, while the cluster is out of reset.
    fn is_word(&self, address: u32, bytes: usize) -> bool {
        bytes == WORD && (address as usize).is_multiple_of(WORD) && !self.is_held
    }

    /// Whether no handler can write to a context's host memory any more; the driver frees it without checking.
    fn is_let_go(&mut self, context: u32) -> bool {
        let is_enabled = her::ctx_enabled(context).map(|register| self.read_register(register));
        let is_latched = self.read_register(her::VALID.offset);
        self.is_held || (is_enabled == Some(Ok(0)) && is_latched == Ok(1))
    }
}

/// Retries a call that a signal interrupts.
fn again<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Checks that an access is within memory that the driver can access.
fn check(address: u32, bytes: usize) -> Result<(), DeviceError> {
    let end = u64::from(address) + bytes as u64;
    let is_in = |base: u32, size: u32| address >= base && end <= u64::from(base) + u64::from(size);
    let is_there = is_in(HANDLER_BASE, HANDLER_BYTES) || is_in(PROGRAM_BASE, PROGRAM_BYTES);
    match is_there && address.is_multiple_of(HALF as u32) && bytes.is_multiple_of(HALF) {
        true => Ok(()),
        false => Err(DeviceError::Refused(format!(
            "{bytes} bytes at {address:#010x} are no words of L2 handler memory or program memory, and the driver reaches \
             nothing else"
        ))),
    }
}

impl<S: System> Device for Card<S> {
    fn has_register(&self, offset: u32) -> bool {
        self.registers.has(offset)
    }

    fn read_register(&mut self, offset: u32) -> Result<u32, DeviceError> {
        let Registers::Files(files) = &self.registers else {
            return again(|| self.file.read_register(offset)).map_err(|source| system::register(&source));
        };
        let path = files.path(offset).ok_or(DeviceError::NoAccess)?;
        let text = again(|| self.system.read_text(path)).map_err(|source| system::register(&source))?;
        text.trim().parse().map_err(|_| {
            DeviceError::Refused(format!("{} says {text:?}, which is no number", path.display()))
        })
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        let written = match &self.registers {
            Registers::Calls(_) => again(|| self.file.write_register(offset, value)),
            Registers::Files(files) => {
                let path = files.path(offset).ok_or(DeviceError::NoAccess)?;
                let text = format!("{value}\n");
                again(|| self.system.write_text(path, &text))
            }
        };
        written.map_err(|source| system::register(&source))?;
        if offset == cl::AUX_RESET {
            self.is_held = value != 0;
        }
        Ok(())
    }

    fn read_cluster(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        check(address, bytes.len())?;
        if self.is_word(address, bytes.len()) {
            let word = again(|| self.file.read_word(address.into()))
                .map_err(|source| system::memory("read", address, &source))?;
            bytes.copy_from_slice(&word.to_le_bytes());
            return Ok(());
        }
        self.by_pieces("read", address, bytes.len(), |file, done| {
            file.read(&mut bytes[done..])
        })
    }

    fn write_cluster(&mut self, address: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        check(address, bytes.len())?;
        if let Ok(word) = bytes.try_into()
            && self.is_word(address, bytes.len())
        {
            return again(|| self.file.write_word(address.into(), u64::from_le_bytes(word)))
                .map_err(|source| system::memory("write", address, &source));
        }
        self.by_pieces("write", address, bytes.len(), |file, done| {
            file.write(&bytes[done..])
        })
    }

    fn open_area(&mut self, context: u32, bytes: u32) -> Result<Area, DeviceError> {
        if bytes == 0 {
            return Ok(Area { address: 0, bytes });
        }
        let place = self.areas.get(context as usize).filter(|place| place.is_none());
        if place.is_none() {
            return Err(DeviceError::Refused(format!(
                "context {context} does not exist, or has host memory already"
            )));
        }
        let whole = bytes.checked_next_multiple_of(self.system.page_bytes());
        let bytes = whole.ok_or_else(|| DeviceError::NoMemory(format!("{bytes} bytes of host memory")))?;
        let mapping = again(|| self.file.map(context, bytes))
            .map_err(|source| system::host_memory(context, bytes, source))?;
        match again(|| self.file.query(context)) {
            Ok(DmaArea {
                address,
                bytes: size,
                is_enabled: true,
            }) if size == u64::from(bytes) => {
                self.areas[context as usize] = Some(mapping);
                Ok(Area { address, bytes })
            }
            answer => {
                self.file.unmap(context, mapping);
                Err(DeviceError::Refused(format!(
                    "the driver does not tell where the host memory of context {context} is: it says {answer:?}"
                )))
            }
        }
    }

    fn close_area(&mut self, context: u32) {
        if self.areas.get(context as usize).is_none_or(Option::is_none) {
            return;
        }
        if !self.is_let_go(context) {
            // Ignore errors: if this fails, the card was removed and does not write any more.
            let _ = self.write_register(cl::AUX_RESET, 1);
        }
        if let Some(mapping) = self.areas[context as usize].take() {
            self.file.unmap(context, mapping);
        }
    }

    fn host_mapping(&self, context: u32) -> Option<&Mapping> {
        self.areas.get(context as usize)?.as_ref()
    }

    fn host_file(&self, context: u32) -> Result<OwnedFd, DeviceError> {
        let lent = again(|| self.file.lend(context));
        lent.map_err(|source| {
            DeviceError::Refused(format!(
                "the host memory of context {context} cannot be shared with another process: {source}; spinneret's driver can \
                 do it"
            ))
        })
    }

    fn tells_contexts(&self) -> bool {
        self.tells_contexts
    }

    fn now(&self) -> Duration {
        self.opened.elapsed() / self.slower
    }

    fn wall(&self, time: Duration) -> Duration {
        time.saturating_mul(self.slower)
    }

    fn wait(&mut self, time: Duration) -> Result<(), DeviceError> {
        std::thread::sleep(self.wall(time));
        Ok(())
    }

    fn has_events(&self) -> bool {
        matches!(self.registers, Registers::Calls(card) if card.interrupts)
    }

    fn wait_event(&mut self, limit: Duration) -> Result<u32, DeviceError> {
        if !self.has_events() {
            return self.wait(limit).map(|()| 0);
        }
        let limit = self.wall(limit);
        self.file
            .wait_event(limit)
            .map_err(|source| system::register(&source))
    }
}

impl<S: System> Drop for Card<S> {
    fn drop(&mut self) {
        (0..CONTEXTS).for_each(|context| self.close_area(context));
    }
}
