//! The status of a typed call. It stands apart from what the call gives, so nothing that was refused looks like a result.

use core::fmt;

/// What became of a typed call: its lowest byte says which check refused it, and above stands a number of the service's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Status(u32);

/// Bits that say which check it was.
const CHECK_BITS: u32 = 8;
/// Bits of a service's own number.
const NUMBER_BITS: u32 = u32::BITS - CHECK_BITS;

macro_rules! statuses {
    ($(#[doc = $doc:literal] $name:ident = $number:literal, $refusal:literal;)*) => {
        impl Status {
            $(
                #[doc = $doc]
                pub const $name: Self = Self($number);
            )*

            /// A short description.
            pub const fn name(self) -> &'static str {
                match Self(self.0 & ((1 << CHECK_BITS) - 1)) {
                    $(Self::$name => $refusal,)*
                    _ => "unknown status",
                }
            }
        }

        /// Names and numbers of all, for handlers.
        pub(crate) const TABLE: &[(&str, u32, &str)] = &[$((stringify!($name), $number, $doc)),*];
    };
}

statuses! {
    /// It is done.
    DONE = 0, "done";
    /// The host has no such function. A request begins with this, because it comes back as it is if nobody takes it.
    NOBODY = 1, "no such function";
    /// The host offers nothing, or not any more.
    GONE = 2, "services are closed";
    /// The answer of a ticket is lost, because its port was needed for another call.
    DROPPED = 3, "the ticket was given up";
    /// Data are longer than what packet and host memory have room for.
    ROOM = 4, "too long for the bulk area";
    /// The function is off.
    OFF = 5, "not allowed";
    /// A length is not what the parameters say, or no length.
    LENGTH = 6, "wrong length";
    /// Data do not lie in the port's part of host memory.
    OUTSIDE = 7, "outside of the bulk area";
    /// A value that its type does not have.
    VALUE = 8, "no such value";
    /// A string that is too long, has no NUL at its end, or is no UTF-8.
    TEXT = 9, "no such string";
    /// A handle of another kind, or of what is not there any more.
    HANDLE = 10, "no such handle";
    /// The host's function has refused, and may have given a number.
    FAILED = 11, "failed";
}

impl Status {
    /// A refusal of the host's function with a number of its own, of 24 bits.
    pub const fn failed(number: u32) -> Self {
        Self(Self::FAILED.0 | number << CHECK_BITS)
    }

    /// Which check it was, without the number.
    pub const fn check(self) -> Self {
        Self(self.0 & ((1 << CHECK_BITS) - 1))
    }

    /// The number that a service gave.
    pub const fn number(self) -> u32 {
        self.0 >> CHECK_BITS & ((1 << NUMBER_BITS) - 1)
    }

    /// As it stands in packets.
    pub const fn raw(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number() {
            0 => f.write_str(self.name()),
            number => write!(f, "{} ({number})", self.name()),
        }
    }
}

impl core::error::Error for Status {}

// Why a port cannot go on.

/// Why a port cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault<E> {
    /// The memory cannot be reached.
    Memory(E),
    /// The other side's mailbox holds what no side writes: it would never become equal by inverting.
    Mailbox {
        /// The port.
        port: u32,
        /// The value in the mailbox.
        value: u32,
    },
}

impl<E> From<E> for Fault<E> {
    fn from(error: E) -> Self {
        Self::Memory(error)
    }
}

impl<E: fmt::Display> fmt::Display for Fault<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(error) => error.fmt(f),
            Self::Mailbox { port, value } => {
                write!(
                    f,
                    "the other side's mailbox of port {port} holds {value}: it is 0 or 1"
                )
            }
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for Fault<E> {}
