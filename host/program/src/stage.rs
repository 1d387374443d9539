//! The handlers of a message.

/// Code of a handler; address 0 says that there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// Address of its first instruction.
    pub address: u32,
    /// Bytes.
    pub size: u32,
}

impl Code {
    /// Whether there is a handler.
    pub fn exists(self) -> bool {
        self.address != 0
    }
}

/// The handler after which those of a context are named, header, payload and tail: that of payloads, or else the first.
pub fn main_handler(handlers: [Code; 3]) -> Option<u32> {
    let [header, payload, tail] = handlers;
    let mut there = [payload, header, tail].into_iter().filter(|code| code.exists());
    there.next().map(|code| code.address)
}

/// Which handler of a message runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// The header handler, before all others of the message and alone.
    Header,
    /// The payload handler.
    Payload,
    /// The completion handler, behind all others of the message and alone.
    Tail,
}

impl Stage {
    /// The stages, in the order in which they run.
    pub const ALL: [Self; 3] = [Self::Header, Self::Payload, Self::Tail];

    /// How a symbol of such a handler ends.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Header => "_hh",
            Self::Payload => "_ph",
            Self::Tail => "_th",
        }
    }
}
