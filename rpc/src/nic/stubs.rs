//! What the stubs in a handler's program say of themselves, compared with what is offered.
//!
//! | in the section `.spin_services`, for each stub that is used | bytes |
//! |---|---|
//! | opcode | 4 |
//! | version: the hash of the function's canonical text | 8 |
//! | name in C, with its NUL | any |

use super::ServicesError;
use spinneret_host::ProgramNotes;

/// What the stubs of a program say.
#[derive(Debug)]
pub(super) struct Stubs {
    program: String,
    stubs: Vec<Stub>,
}

#[derive(Debug)]
struct Stub {
    opcode: u32,
    version: u64,
    name: String,
}

impl Stubs {
    pub(super) fn of(notes: &ProgramNotes) -> Result<Self, ServicesError> {
        let program = notes.path.display().to_string();
        let (mut stubs, mut rest) = (Vec::new(), &notes.services[..]);
        while !rest.is_empty() {
            let Some((stub, behind)) = Stub::first(rest) else {
                return Err(ServicesError::Stubs { program });
            };
            stubs.push(stub);
            rest = behind;
        }
        Ok(Self { program, stubs })
    }

    /// Whether all stubs are of the versions that are offered. What nobody offers is answered so when it is called.
    pub(super) fn check(self, version: impl Fn(u32) -> Option<u64>) -> Result<(), ServicesError> {
        let is_other = |stub: &Stub| version(stub.opcode).is_some_and(|version| version != stub.version);
        match self.stubs.into_iter().find(is_other) {
            None => Ok(()),
            Some(stub) => Err(ServicesError::OtherVersion {
                program: self.program,
                function: stub.name,
            }),
        }
    }
}

impl Stub {
    /// The first one, and what is behind it.
    fn first(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (opcode, bytes) = bytes.split_first_chunk()?;
        let (version, bytes) = bytes.split_first_chunk()?;
        let end = bytes.iter().position(|byte| *byte == 0)?;
        let stub = Self {
            opcode: u32::from_le_bytes(*opcode),
            version: u64::from_le_bytes(*version),
            name: String::from_utf8_lossy(&bytes[..end]).into_owned(),
        };
        Some((stub, &bytes[end + 1..]))
    }
}
