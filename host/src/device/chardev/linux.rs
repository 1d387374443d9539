//! The files of the system: sysfs and the driver's device file.

#![allow(unsafe_code)]

use super::message::{
    EVENTS, GET_INFO, HAS_EXTENSIONS, HAS_INTERRUPTS, LEND, Message, QUERY, READ_REGISTER, READ_WORD,
    WRITE_REGISTER, WRITE_WORD,
};
use super::{Abilities, DeviceFile, DmaArea, System};
use crate::device::Mapping;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl};
use spinneret_regmap::events;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The name of the driver's auxiliary devices; a number follows, which differs from card to card.
const AUXILIARY_DEVICE: &str = "mqnic.app_12340100.";

/// The files of this machine.
#[derive(Clone, Debug)]
pub struct Linux {
    auxiliary_bus: PathBuf,
}

impl Default for Linux {
    fn default() -> Self {
        Self {
            auxiliary_bus: "/sys/bus/auxiliary/devices".into(),
        }
    }
}

impl System for Linux {
    type File = LinuxFile;

    fn open(&self, path: &Path) -> io::Result<LinuxFile> {
        // Everything is asked of the file before it is opened for good: opening some devices does something.
        if !std::fs::metadata(path)?.file_type().is_char_device() {
            return Err(Errno::NOTTY.into());
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_SYNC | libc::O_NOCTTY)
            .open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(LinuxFile(file)),
            Err(TryLockError::WouldBlock) => Err(Errno::WOULDBLOCK.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn auxiliary_devices(&self) -> io::Result<Vec<PathBuf>> {
        let entries = match std::fs::read_dir(&self.auxiliary_bus) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            if name
                .to_str()
                .is_some_and(|name| name.starts_with(AUXILIARY_DEVICE))
            {
                found.push(entry.path());
            }
        }
        Ok(found)
    }

    fn folder(&self, path: &Path) -> Option<PathBuf> {
        let number = std::fs::metadata(path).ok()?.rdev();
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        let folder = PathBuf::from(format!("/sys/dev/char/{major}:{minor}/device"));
        // The public driver's devices have no such folder.
        folder.join("me/valid/0").exists().then_some(folder)
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn read_text(&self, path: &Path) -> io::Result<String> {
        std::fs::read_to_string(path)
    }

    fn write_text(&self, path: &Path, text: &str) -> io::Result<()> {
        // Do not create files: without the driver there are no register files.
        OpenOptions::new()
            .write(true)
            .open(path)?
            .write_all(text.as_bytes())
    }

    fn page_bytes(&self) -> u32 {
        rustix::param::page_size() as u32
    }
}

/// The open device file, locked until it is dropped.
#[derive(Debug)]
pub struct LinuxFile(File);

impl LinuxFile {
    /// A call of our own driver, with a message of some words.
    fn call_ours<const NUMBER: Opcode, const WORDS: usize>(
        &self,
        mut words: [u32; WORDS],
    ) -> io::Result<[u32; WORDS]> {
        const {
            assert!(
                NUMBER >> 16 & 0x3fff == 4 * WORDS as Opcode,
                "the number has the message's size"
            )
        };
        // SAFETY: the driver reads and writes at most as many bytes as the number says, which are those of the words; all
        // their patterns are words.
        unsafe { ioctl(&self.0, Updater::<NUMBER, [u32; WORDS]>::new(&mut words))? };
        Ok(words)
    }

    fn call<const NUMBER: Opcode>(&self, message: &mut Message) -> io::Result<()> {
        // SAFETY: the driver reads and writes at most the 24 bytes of a message, which is as large; all their patterns are
        // messages. A file of another driver does not know the number, because no other has such a wide one.
        unsafe { ioctl(&self.0, Updater::<NUMBER, Message>::new(message))? };
        Ok(())
    }
}

impl DeviceFile for LinuxFile {
    fn seek(&mut self, address: u64) -> io::Result<u64> {
        self.0.seek(SeekFrom::Start(address))
    }

    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn query(&mut self, context: u32) -> io::Result<DmaArea> {
        let mut message = Message::context(context);
        self.call::<QUERY>(&mut message)?;
        Ok(DmaArea {
            address: message.word(0),
            bytes: message.word(1),
            is_enabled: message.flag(),
        })
    }

    fn read_word(&mut self, address: u64) -> io::Result<u64> {
        let mut message = Message::words(&[address]);
        self.call::<READ_WORD>(&mut message)?;
        Ok(message.word(0))
    }

    fn write_word(&mut self, address: u64, data: u64) -> io::Result<()> {
        self.call::<WRITE_WORD>(&mut Message::words(&[address, data]))
    }

    fn map(&mut self, context: u32, bytes: u32) -> io::Result<Mapping> {
        // The driver divides the offset by the length to know the context.
        Mapping::new(&self.0, u64::from(context) * u64::from(bytes), bytes as usize)
    }

    fn unmap(&mut self, _context: u32, mapping: Mapping) {
        drop(mapping);
    }

    fn abilities(&mut self) -> io::Result<Option<Abilities>> {
        match self.call_ours::<GET_INFO, 4>([0; 4]) {
            Ok([.., features, _]) => Ok(Some(Abilities {
                extensions: features & HAS_EXTENSIONS != 0,
                interrupts: features & HAS_INTERRUPTS != 0,
            })),
            Err(error) if error.raw_os_error() == Some(libc::ENOTTY) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn read_register(&mut self, offset: u32) -> io::Result<u32> {
        let [_, value] = self.call_ours::<READ_REGISTER, 2>([offset, 0])?;
        Ok(value)
    }

    fn write_register(&mut self, offset: u32, value: u32) -> io::Result<()> {
        self.call_ours::<WRITE_REGISTER, 2>([offset, value]).map(drop)
    }

    fn lend(&self, context: u32) -> io::Result<OwnedFd> {
        // SAFETY: the argument is a number, so neither side takes it for an address.
        let descriptor =
            unsafe { libc::ioctl(self.0.as_raw_fd(), LEND.into(), libc::c_ulong::from(context)) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the driver has just opened it for this process, and nothing else has it.
        Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
    }

    fn wait_event(&mut self, limit: Duration) -> io::Result<u32> {
        let limit = Timespec::try_from(limit).ok();
        match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], limit.as_ref()) {
            // A signal ends the wait like the limit: the caller checks, and waits again.
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [lines] = self.call_ours::<EVENTS, 1>([events::PENDING.bits.mask(0)])?;
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Card, CardError};
    use super::*;

    fn linux(bus: &Path) -> Linux {
        Linux {
            auxiliary_bus: bus.to_owned(),
        }
    }

    #[test]
    fn never_creates_register_files() {
        let bus = tempfile::tempdir().expect("there is room");
        let system = linux(bus.path());
        assert!(system.auxiliary_devices().expect("it is there").is_empty());
        for name in ["mqnic.app_12340100.7", "mqnic.app_12340001.0", "snd.0"] {
            std::fs::create_dir(bus.path().join(name)).expect("there is room");
        }
        let folder = bus.path().join("mqnic.app_12340100.7");
        assert_eq!(
            system.auxiliary_devices().expect("it is there"),
            std::slice::from_ref(&folder)
        );
        let register = folder.join("0");
        let missing = system.write_text(&register, "1\n").unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
        assert!(!system.exists(&register));
        std::fs::write(&register, "7\n").expect("there is room");
        assert_eq!(system.read_text(&register).expect("it is there"), "7\n");
        system.write_text(&register, "8\n").expect("it is there");
        assert_eq!(system.read_text(&register).expect("it is there"), "8\n");
        let none = linux(&bus.path().join("none"));
        assert!(none.auxiliary_devices().expect("nothing is fine").is_empty());
    }

    #[test]
    fn a_device_file_is_locked_read_written_and_mapped() {
        let system = Linux::default();
        let zero = Path::new("/dev/zero");
        let mut file = system.open(zero).expect("everybody may");
        let error = CardError::opening(zero, system.open(zero).unwrap_err());
        assert_eq!(
            error.to_string(),
            "the card at /dev/zero is in use by another program: end it, or let `spinneret share /dev/zero` open the card for all of them"
        );
        file.seek(0x1c00_0000).expect("it can be sought");
        let mut bytes = [1; 8];
        assert_eq!(file.read(&mut bytes).expect("it is endless"), 8);
        assert_eq!(bytes, [0; 8]);
        assert_eq!(file.write(&bytes).expect("it takes everything"), 8);
        let mapping = file.map(0, system.page_bytes()).expect("it can be mapped");
        mapping.write(8, b"shared");
        file.unmap(0, mapping);
        for error in [
            file.query(0).map(drop),
            file.read_word(0).map(drop),
            file.write_word(0, 1),
        ] {
            assert_eq!(error.unwrap_err().raw_os_error(), Some(libc::ENOTTY));
        }
        drop(file);
        let error = Card::open(system, zero).unwrap_err().to_string();
        assert!(
            error.starts_with("/dev/zero is no device file of a NIC's driver: "),
            "{error}"
        );
    }

    #[test]
    fn does_not_open_other_files() {
        let file = tempfile::NamedTempFile::new().expect("there is room");
        std::fs::write(&file, "mine").expect("there is room");
        let error = Card::open(Linux::default(), file.path()).unwrap_err();
        assert!(matches!(error, CardError::Foreign(..)), "{error}");
        assert_eq!(std::fs::read(&file).expect("it is there"), b"mine");
        let error = Card::open(Linux::default(), Path::new("/dev/pspin-none")).unwrap_err();
        assert!(matches!(error, CardError::NoFile(_)), "{error}");
    }
}
