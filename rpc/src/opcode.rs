//! Numbers of calls. The top byte is the class, which names the service.

use core::fmt;

/// The class of LLVM's libc, and of its tests.
pub const LIBC: u8 = b'c';

/// The class of an opcode.
pub const fn class(opcode: u32) -> u8 {
    (opcode >> 24) as u8
}

/// The class of calls of our own.
pub const SPINNERET: u8 = b's';

/// A call of our own: the number of its interface, and its own within that.
const fn own(interface: u32, function: u32) -> u32 {
    (SPINNERET as u32) << 24 | interface << 16 | function
}

/// Text of `printf` with everything that it takes in one stream.
pub const PRINT: u32 = own(1, 1);

/// The class of Emissary APIs.
pub const EMISSARY: u8 = b'e';

/// A function of the host, whose API and number are in its arguments.
pub const EMISSARY_CALL: u32 = (EMISSARY as u32) << 24 | 1;

/// The same with data that move before and after it.
pub const EMISSARY_CALL_WITH_DATA: u32 = (EMISSARY as u32) << 24 | 2;

/// Numbers of Emissary APIs as handlers have them, `EMIS_...`.
pub mod emissary {
    /// The API of Fortran's input and output.
    pub const FORTRT: u16 = 1;
    /// The API of `printf`.
    pub const PRINT: u16 = 2;
    /// The API of MPI.
    pub const MPI: u16 = 3;
    /// The API of HDF5.
    pub const HDF5: u16 = 4;
    /// The API that is free for functions of an application.
    pub const RESERVE: u16 = 5;

    /// The key of a double.
    pub const DOUBLE: u32 = 0x0001_0040;
    /// The key of an integer of 32 bits.
    pub const INTEGER_32: u32 = 0x0002_0020;
    /// The key of an integer of 64 bits.
    pub const INTEGER_64: u32 = 0x0002_0040;
    /// The key of an address.
    pub const POINTER: u32 = 0x0003_0000;
    /// The key of a string.
    pub const STRING: u32 = 0x0003_0001;

    /// Arguments of a call at most, those of transfers included.
    pub const MOST_ARGUMENTS: usize = 32;

    /// Names and values for handlers.
    pub const TABLE: &[(&str, u32)] = &[
        ("ID_FORTRT", FORTRT as u32),
        ("ID_PRINT", PRINT as u32),
        ("ID_MPI", MPI as u32),
        ("ID_HDF5", HDF5 as u32),
        ("ID_RESERVE", RESERVE as u32),
        ("KEY_DOUBLE", DOUBLE),
        ("KEY_INTEGER_32", INTEGER_32),
        ("KEY_INTEGER_64", INTEGER_64),
        ("KEY_POINTER", POINTER),
        ("KEY_STRING", STRING),
        ("MOST_ARGUMENTS", MOST_ARGUMENTS as u32),
    ];
}

const fn libc(number: u32) -> u32 {
    (LIBC as u32) << 24 | number
}

macro_rules! opcodes {
    ($(#[doc = $doc:literal] $name:ident = $number:expr;)*) => {
        $(
            #[doc = $doc]
            pub const $name: u32 = libc($number);
        )*

        /// Names and numbers of all calls that handlers have a name for, and what they are.
        pub const TABLE: &[(&str, u32, &str)] = &[
            $((stringify!($name), $name, $doc),)*
            ("PRINT", PRINT, " Text of `printf` with everything that it takes in one stream."),
            ("EMISSARY_CALL", EMISSARY_CALL, " A function of an Emissary API."),
            ("EMISSARY_CALL_WITH_DATA", EMISSARY_CALL_WITH_DATA, " The same with transfers of memory."),
        ];
    };
}

opcodes! {
    /// Nothing, without an answer.
    NOOP = 0;
    /// Ends the client.
    EXIT = 1;
    /// Bytes to standard output.
    WRITE_TO_STDOUT = 2;
    /// Bytes to standard error.
    WRITE_TO_STDERR = 3;
    /// Bytes to a stream.
    WRITE_TO_STREAM = 4;
    /// Bytes and a newline to standard output, `puts`.
    WRITE_TO_STDOUT_NEWLINE = 5;
    /// `fread` and `fgetc`.
    READ_FROM_STREAM = 6;
    /// `fgets`.
    READ_FGETS = 7;
    /// `fopen`.
    OPEN_FILE = 8;
    /// `fclose`.
    CLOSE_FILE = 9;
    /// Memory for the device's heap.
    MALLOC = 10;
    /// Gives it back, without an answer.
    FREE = 11;
    /// A function of the host by its number.
    HOST_CALL = 12;
    /// Ends the client abnormally.
    ABORT = 13;
    /// `feof`.
    FEOF = 14;
    /// `ferror`.
    FERROR = 15;
    /// `clearerr`.
    CLEARERR = 16;
    /// `fseek`.
    FSEEK = 17;
    /// `ftell`.
    FTELL = 18;
    /// `fflush`.
    FFLUSH = 19;
    /// `ungetc`.
    UNGETC = 20;
    /// `printf`, arguments at multiples of their sizes.
    PRINTF_TO_STDOUT = 21;
    /// `printf` to standard error, aligned.
    PRINTF_TO_STDERR = 22;
    /// `fprintf`, aligned.
    PRINTF_TO_STREAM = 23;
    /// `printf`, arguments packed without padding.
    PRINTF_TO_STDOUT_PACKED = 24;
    /// `printf` to standard error, packed.
    PRINTF_TO_STDERR_PACKED = 25;
    /// `fprintf`, packed.
    PRINTF_TO_STREAM_PACKED = 26;
    /// `remove`.
    REMOVE = 27;
    /// `rename`.
    RENAME = 28;
    /// `system`.
    SYSTEM = 29;
    /// Adds 1 to a word.
    TEST_INCREMENT = 0x8000;
    /// Sends and receives in every order.
    TEST_INTERFACE = 0x8001;
    /// Sends a stream back.
    TEST_STREAM = 0x8002;
}

/// Returns the name of a call, if it is one of these.
pub fn name(opcode: u32) -> Option<&'static str> {
    TABLE
        .iter()
        .find(|(_, number, _)| *number == opcode)
        .map(|(name, ..)| *name)
}

/// The number of libc's calls, from 0 on without a gap.
pub const LIBC_CALLS: u32 = 30;

// Statuses of typed calls, and faults of the protocol.

/// The outcome of a typed call: its lowest byte says which check refused it, the bits above are a number of the
/// service's own.
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
        pub(crate) const STATUSES: &[(&str, u32, &str)] = &[$((stringify!($name), $number, $doc)),*];
    };
}

statuses! {
    /// It is done.
    DONE = 0, "done";
    /// The host has no such function. A request begins with this, because it returns unchanged if no service takes it.
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
    /// Data are outside of the port's part of host memory.
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

    /// The status with that form in packets.
    pub const fn from_raw(raw: u32) -> Self {
        Self(raw)
    }

    /// Its form in packets.
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
