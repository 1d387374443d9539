//! The driver's ioctl calls, as bytes.

use super::{Abilities, CardError, System};
use spinneret_regmap::{find, words};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The driver's magic number. It is wider than the 8 bits that such numbers have, and reaches into those of the size.
const MAGIC: u32 = 0x95910;
/// Directions: to the driver, and from it.
const WRITE: u32 = 1;
const READ: u32 = 2;
/// Bytes of a message.
const BYTES: usize = 24;

/// Number of a call: nothing of it is masked, as in C's `_IOC`.
const fn number(direction: u32, call: u32) -> u32 {
    direction << 30 | (BYTES as u32) << 16 | MAGIC << 8 | call
}

/// Asks where host memory is.
pub(super) const QUERY: u32 = number(READ | WRITE, 1);
/// Writes a word of the cluster's memory.
pub(super) const WRITE_WORD: u32 = number(WRITE, 2);
/// Reads a word of the cluster's memory.
pub(super) const READ_WORD: u32 = number(READ, 3);

/// Number of a call of our own driver, whose magic number has 8 bits.
const fn ours(direction: u32, call: u32, bytes: usize) -> u32 {
    direction << 30 | (bytes as u32) << 16 | 0xb5 << 8 | call
}

/// Asks what the card can do; answered by four words, of which the third has the bits below.
pub(super) const GET_INFO: u32 = ours(READ, 1, 16);
/// Reads a control register: offset and value.
pub(super) const READ_REGISTER: u32 = ours(READ | WRITE, 2, 8);
/// Writes a control register: offset and value.
pub(super) const WRITE_REGISTER: u32 = ours(WRITE, 3, 8);
/// Asks which lines had events, and says for which ones is waited.
pub(super) const EVENTS: u32 = ours(READ | WRITE, 4, 4);
/// Asks for a file of the host memory of a context, whose number is the argument.
pub(super) const LEND: u32 = ours(0, 5, 0);
/// The card has the registers that FPsPIN does not have.
pub(super) const HAS_EXTENSIONS: u32 = 1;
/// Its events are interrupts.
pub(super) const HAS_INTERRUPTS: u32 = 2;

/// Argument and result of a call, in native byte order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(8))]
pub(super) struct Message([u8; BYTES]);

impl Message {
    /// Asks for a context.
    pub(super) fn context(context: u32) -> Self {
        let mut message = Self::default();
        message.0[..4].copy_from_slice(&context.to_ne_bytes());
        message
    }

    /// Up to three words.
    pub(super) fn words(words: &[u64]) -> Self {
        let mut message = Self::default();
        for (place, word) in message.0.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        message
    }

    /// The three words. Of the last one only the lowest byte of the query's answer means something.
    pub(super) fn word(&self, place: usize) -> u64 {
        let (words, _) = self.0.as_chunks();
        u64::from_ne_bytes(words[place])
    }

    /// The flag behind two words.
    pub(super) fn flag(&self) -> bool {
        self.0[16] != 0
    }
}

// Which registers the driver has files for.

/// How registers are reached.
#[derive(Debug)]
pub(super) enum Registers {
    /// Through sysfs files of FPsPIN's driver, or of spinneret's compatible one.
    Files(RegisterFiles),
    /// By calls of our own driver.
    Calls(Abilities),
}

impl Registers {
    /// Whether the driver gives access to a register.
    pub(super) fn has(&self, offset: u32) -> bool {
        match self {
            Self::Files(files) => files.path(offset).is_some(),
            Self::Calls(card) => find(offset).is_some_and(|(register, _)| match register.group {
                "events" => card.interrupts,
                _ => card.extensions || !register.extension,
            }),
        }
    }
}

/// The files of registers, by offset.
#[derive(Debug)]
pub(super) struct RegisterFiles(BTreeMap<u32, PathBuf>);

impl RegisterFiles {
    /// Finds the files in sysfs. Registers of FPsPIN must exist; extensions may exist.
    pub(super) fn find(system: &impl System, device: &Path) -> Result<Self, CardError> {
        let folder = match system.folder(device) {
            Some(folder) => folder,
            None => folder(system)?,
        };
        let mut files = BTreeMap::new();
        for word in words() {
            let register = word.register;
            let name = format!("{}/{}/{}", register.group, register.name, word.index);
            let path = folder.join(name);
            match system.exists(&path) {
                true => drop(files.insert(word.offset(), path)),
                false if register.extension => {}
                false => return Err(CardError::NoRegister(path)),
            }
        }
        Ok(Self(files))
    }

    /// The file of a register, if there is one.
    pub(super) fn path(&self, offset: u32) -> Option<&Path> {
        self.0.get(&offset).map(PathBuf::as_path)
    }
}

/// The folder of the only card that the driver serves.
fn folder(system: &impl System) -> Result<PathBuf, CardError> {
    let mut folders = system.auxiliary_devices().map_err(CardError::Bus)?;
    match (folders.pop(), folders.is_empty()) {
        (Some(folder), true) => Ok(folder),
        (Some(_), false) => Err(CardError::ManyCards(folders.len() + 1)),
        (None, _) => Err(CardError::NoDriver),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The definitions of the driver's header, restated.
    const HEADER: &str = "
        #include <linux/ioctl.h>
        #include <stdbool.h>
        #include <stddef.h>
        #include <stdint.h>
        struct area { uint64_t address, bytes; bool enabled; };
        struct message {
            union {
                union { struct { int context; } asked; struct area answer; } query;
                struct { uint64_t address, data; } write;
                struct { uint64_t word; } read;
            };
        };
        #define NUMBER(direction, call) direction(0x95910, call, struct message)
        _Static_assert((uint32_t)NUMBER(_IOWR, 1) == QUERY, \"query\");
        _Static_assert((uint32_t)NUMBER(_IOW, 2) == WRITE_WORD, \"write\");
        _Static_assert((uint32_t)NUMBER(_IOR, 3) == READ_WORD, \"read\");
        _Static_assert(sizeof(struct message) == 24, \"size\");
        _Static_assert(offsetof(struct message, query.answer.enabled) == 16, \"flag\");
    ";

    /// Against the header of the driver itself.
    #[test]
    fn numbers_are_those_of_our_driver() {
        let header = concat!(env!("CARGO_MANIFEST_DIR"), "/../kernel/uapi.h");
        let mut source = format!("#include \"{header}\"\n");
        for (name, value) in [
            ("QUERY", QUERY),
            ("WRITE_WORD", WRITE_WORD),
            ("READ_WORD", READ_WORD),
            ("GET_INFO", GET_INFO),
            ("READ_REGISTER", READ_REGISTER),
            ("WRITE_REGISTER", WRITE_REGISTER),
            ("EVENTS", EVENTS),
            ("HAS_EXTENSIONS", HAS_EXTENSIONS),
            ("HAS_INTERRUPTS", HAS_INTERRUPTS),
        ] {
            source += &format!("_Static_assert(SPINNERET_{name} == {value}u, \"{name}\");\n");
        }
        check(&source, &[]);
    }

    /// Compiles a text, whose assertions have to hold.
    fn check(text: &str, definitions: &[String]) {
        let folder = tempfile::tempdir().expect("there is room");
        let source = folder.path().join("numbers.c");
        std::fs::write(&source, text).expect("there is room");
        let checked = Command::new("gcc")
            .args(["-std=c11", "-fsyntax-only"])
            .args(definitions)
            .arg(source)
            .output()
            .unwrap_or_else(|error| panic!("gcc does not run ({error}): ./dev setup installs it"));
        assert!(
            checked.status.success(),
            "{}",
            String::from_utf8_lossy(&checked.stderr)
        );
    }

    #[test]
    fn numbers_are_those_of_the_c_macros() {
        assert_eq!(
            [QUERY, WRITE_WORD, READ_WORD],
            [0xc959_1001, 0x4959_1002, 0x8959_1003]
        );
        let defined = [
            ("QUERY", QUERY),
            ("WRITE_WORD", WRITE_WORD),
            ("READ_WORD", READ_WORD),
        ];
        check(HEADER, &defined.map(|(name, value)| format!("-D{name}={value}u")));
    }

    #[test]
    fn fields_are_where_the_driver_has_them() {
        assert_eq!(size_of::<Message>(), BYTES);
        assert_eq!(Message::context(3).0[..4], 3_u32.to_ne_bytes());
        let message = Message::words(&[1, 2, 1]);
        assert_eq!([message.word(0), message.word(1)], [1, 2]);
        assert!(message.flag() == cfg!(target_endian = "little"));
        assert!(!Message::words(&[1, 2]).flag());
    }
}
