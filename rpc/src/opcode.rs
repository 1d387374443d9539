//! Numbers of calls. The top byte is the class, which names the service.

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
    match opcode {
        EMISSARY_CALL => Some("EMISSARY_CALL"),
        EMISSARY_CALL_WITH_DATA => Some("EMISSARY_CALL_WITH_DATA"),
        _ => TABLE
            .iter()
            .find(|(_, number, _)| *number == opcode)
            .map(|(name, ..)| *name),
    }
}

/// The number of libc's calls, from 0 on without a gap.
pub const LIBC_CALLS: u32 = 30;
