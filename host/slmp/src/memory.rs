//! The memory that handlers on the NIC share with the host: one table for the host, for the C header and for both
//! receivers.
//!
//! All words are 32-bit little-endian. Offsets are in bytes.

/// Magic number, in the first word of the memory: "SLMP".
pub const MAGIC: u32 = 0x504d_4c53;
/// Version of this layout.
pub const VERSION: u32 = 5;
/// Maximum number of messages that a receiver tracks.
pub const PLACES: usize = 8;
/// Maximum number of segments of a message, and number of bits in a bitmap.
pub const MAX_SEGMENTS: usize = BITMAP_WORDS * 32;
/// Words of a bitmap of segments.
pub const BITMAP_WORDS: usize = 1008;
/// Bytes of each cluster's scratchpad for each place. Only handlers know the contents: some words and a bitmap.
pub const LOCAL_BYTES: usize = 128 + 4 * BITMAP_WORDS;
/// Maximum number of clusters; handlers have records for no more.
pub const CLUSTERS: usize = 8;
/// Counters.
pub const COUNTERS: usize = 16;
/// Maximum number of HPUs. Each has its own counters, so that it needs no atomic operation, which would occupy L2.
pub const HPUS: usize = 64;
/// Number of the counter of acknowledgements that were sent.
pub const ACKS_SENT: usize = 11;
/// Number of the counter of messages that were completed.
pub const COMPLETED: usize = 12;
/// Number of the counter of segments that were accepted and acknowledged. They are not counted as [`Cause::Accepted`] or at
/// [`ACKS_SENT`].
pub const ACCEPTED_AND_ACKED: usize = 13;
/// Bit in the number of completed segments: the end of the message is known.
pub const DONE_END: u32 = 0x8000_0000;
/// Flag of the EOM segment, which is not in the bitmap: it was taken.
pub const END_TAKEN: u32 = 1;
/// Flag of the EOM segment: an HPU completes the message.
pub const END_COMPLETING: u32 = 2;
/// Stride of the completions of places, which are 64-bit words at the start of the context's host memory.
pub const COMPLETION_STRIDE: usize = 64;
/// Valid bit in the upper half of a completion; the other bits are the length of the message.
pub const COMPLETION_VALID: u32 = 0x8000_0000;
/// First offset for message regions in the context's host memory.
pub const REGIONS: usize = 4096;

/// One word or array of the layout.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in capitals; C has it in small letters.
    pub name: &'static str,
    /// First byte of it.
    pub offset: usize,
    /// Number of words.
    pub words: usize,
    /// Its contents.
    pub about: &'static str,
}

/// Writes a module with the offset of each field as a constant, and all of them as a table.
macro_rules! layout {
    ($(#[$doc:meta])* $module:ident: $bytes:literal bytes { $($name:ident $offset:literal $words:literal $about:literal;)* }) => {
        $(#[$doc])*
        pub mod $module {
            use super::Field;

            $(
                #[doc = concat!("Offset of: ", $about, ".")]
                pub const $name: usize = $offset;
            )*
            /// Number of bytes of all of it.
            pub const SIZE: usize = $bytes;
            /// All fields in the order of their offsets.
            pub const FIELDS: &[Field] =
                &[$(Field { name: stringify!($name), offset: $offset, words: $words, about: $about }),*];
        }
    };
}

layout! {
    /// Data shared by all messages, at the start of the context's handler memory. The places follow.
    common: 0x1100 bytes {
        MAGIC 0x000 1 "magic number";
        VERSION 0x004 1 "version of this layout";
        PLACES 0x008 1 "number of places, 1 to 8";
        CONFIRM 0x00c 1 "when EOM is acknowledged: 0 in memory, 1 stored by the host";
        LOCK 0x010 1 "spin lock for opening messages";
        COUNTERS 0x100 1024 "16 counters of each HPU: segments by cause, and three more";
    }
}

layout! {
    /// One message; place p is at [`common::SIZE`] + p * [`SIZE`](place::SIZE).
    place: 0x1000 bytes {
        STATE 0x00 1 "one of the states";
        SOURCE 0x04 1 "source address as loaded from the packet";
        PORT 0x08 1 "source port as loaded from the packet";
        MESSAGE_ID 0x0c 1 "message id in host order";
        REGION 0x10 1 "offset of the message's memory in the context's host memory";
        CAPACITY 0x14 1 "bytes of the message's memory";
        USERS 0x18 1 "handlers that are working on it";
        SEGMENT_BYTES 0x1c 1 "payload of all segments but the last, 0 while unknown";
        END 0x20 1 "offset of the EOM segment + 1, 0 while unknown";
        LENGTH 0x24 1 "length of the message, valid with end";
        DONE 0x28 1 "segments whose data is in host memory, and DONE_END";
        GENERATION 0x2c 1 "number of the message, one more for each; begins with start";
        END_SYN 0x30 1 "1 if the EOM segment asked for an acknowledgement";
        END_TAKEN 0x34 1 "what is known of the EOM segment: END_TAKEN, END_COMPLETING";
        START 0x38 1 "random number of this start of the host, another one than before";
        RECIPROCAL 0x3c 1 "2^32 / segment_bytes, rounded up; 0 while unknown, or if it does not fit";
        CLAIMED 0x40 1008 "a bit for each segment that HPUs of spinneret's own have taken";
    }
}

/// Writes an enumeration whose numbers are part of the layout.
macro_rules! numbered {
    ($(#[$doc:meta])* $type:ident { $($name:ident $value:literal $about:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub enum $type {
            $(
                #[doc = concat!($about, ".")]
                $name = $value,
            )*
        }

        impl $type {
            /// All of them in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The one with a number.
            pub fn from_number(number: u32) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| *one as u32 == number)
            }

            /// Returns a short description.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$name => $about,)*
                }
            }
        }
    };
}

numbered! {
    /// State of a place.
    State {
        Free 0 "no message";
        Open 1 "segments are missing";
        Complete 2 "the host has to take the message";
        Released 3 "the host is done with it: may be used again, duplicates are acknowledged until then";
        Closed 4 "the host is taking it away";
    }
}

numbered! {
    /// Outcome of a segment: each is counted under exactly one of these.
    Cause {
        Accepted 0 "data was new and was taken";
        Duplicate 1 "was there already, or its message is complete";
        Malformed 2 "the frame or its lengths do not agree";
        IpChecksum 3 "IP header checksum wrong";
        UdpChecksum 4 "UDP checksum present and wrong";
        NotASegment 5 "an acknowledgement";
        Misplaced 6 "length or offset do not fit the message's segments";
        TooLong 7 "beyond the memory of the message";
        BeyondEnd 8 "behind the end of the message, or another end";
        NoRoom 9 "a new message and no free place for it";
        GivenUp 10 "its message was just given up by the host";
    }
}
