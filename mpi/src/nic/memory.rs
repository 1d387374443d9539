//! The memory that the handlers for datatypes share with the host: one table for the host and for the C header.
//!
//! All words are 32-bit little-endian. Offsets are in bytes.

use std::fmt::{self, Write};

/// The first word of the memory: "MPIT".
pub const MAGIC: u32 = 0x5449_504d;
/// Version of this layout.
pub const VERSION: u32 = 4;
/// Most messages that are received at once.
pub const SLOTS: usize = 16;
/// Where the slot is in a message's id: the lowest bits of the byte that comes first on the wire. The NIC takes the queue of a
/// message from these, and so the cluster that it prefers: messages of neighbouring slots prefer different ones.
pub const SLOT_SHIFT: u32 = 24;
/// Most segments of a message; as many bits has each bitmap.
pub const MAX_SEGMENTS: usize = BITMAP_WORDS * 32;
/// Words of a bitmap of segments.
pub const BITMAP_WORDS: usize = 1008;
/// Bytes of each cluster's scratchpad that handlers need for each slot: a copy of the request, some words, the messages
/// before, a bitmap.
pub const LOCAL_BYTES: usize = request::SIZE + 80 + 64 + 4 * BITMAP_WORDS;
/// Counters of each HPU.
pub const COUNTERS: usize = 16;
/// Most HPUs that a NIC has; each has counters for itself.
pub const HPUS: usize = 64;
/// Most bytes of a message: what the reciprocals of [`Divisor`](super::Divisor) are exact for.
pub const MOST_BYTES: u64 = 1 << 26;
/// Levels of strides.
pub const LEVELS: usize = crate::layout::LEVELS;
/// The kind of a request with a table; others are numbers of levels.
pub const TABLE: u32 = 5;
/// Bytes of a run in a table: bytes of the element before it, and its place.
pub const RUN_BYTES: usize = 8;
/// Distance of the completions of two slots, which are 64-bit words at the start of the context's host memory.
pub const COMPLETION_STRIDE: usize = 64;
/// In the upper half of a completion: there is one, and the other bits are the length of the message.
pub const COMPLETION_VALID: u32 = 0x8000_0000;
/// Where buffers may start in the context's host memory.
pub const BUFFERS: usize = 4096;

/// The id of a message in a slot, which is not 0; of its generation count 28 bits.
pub fn message_id(generation: u32, slot: usize) -> u32 {
    let id = (generation << SLOTS.ilog2()).max(SLOTS as u32) | slot as u32;
    id.rotate_left(SLOT_SHIFT)
}

/// The slot of a message.
pub fn slot_of(id: u32) -> usize {
    (id >> SLOT_SHIFT) as usize % SLOTS
}

/// One word or array of the layout.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in capitals; C has it in small letters.
    pub name: &'static str,
    /// First byte of it.
    pub offset: usize,
    /// Number of words.
    pub words: usize,
    /// Its content.
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
    /// Fields that all messages share, at the start of the context's handler memory. The requests follow them, and then
    /// tables of runs.
    common: 0x1040 bytes {
        MAGIC 0x000 1 "magic number";
        VERSION 0x004 1 "version of this layout";
        SLOTS 0x008 1 "number of slots, 1 to 16";
        COUNTERS 0x040 1024 "16 counters of each HPU: segments by cause, and more";
    }
}

layout! {
    /// A message that is to come, and where its bytes belong; slot s is at [`common::SIZE`] + s * [`SIZE`](request::SIZE).
    request: 0xc0 bytes {
        ID 0x00 1 "message id in host order, 0 if no message is to come";
        SOURCE 0x08 1 "source address as loaded from the packet";
        PORT 0x0c 1 "source port as loaded from the packet";
        LENGTH 0x10 1 "bytes of the message";
        UNIT 0x14 1 "payload of all segments but the last";
        UNIT_RECIPROCAL 0x18 1 "to divide by it";
        UNIT_SHIFT 0x1c 1 "to divide by it";
        LAST 0x20 1 "index of the last segment";
        BASE 0x24 1 "offset of the buffer's address in the context's host memory, modulo 2^32";
        KIND 0x28 1 "number of levels, 0 to 4, or TABLE";
        RUN 0x2c 1 "bytes of a run; of an element if there is a table";
        RUN_RECIPROCAL 0x30 1 "to divide by it";
        RUN_SHIFT 0x34 1 "to divide by it";
        TABLE 0x38 1 "offset of the table of runs in handler memory";
        RUNS 0x3c 1 "runs of an element; the table has one more, that begins where the element ends";
        INDEX 0x40 1 "offset of the index in handler memory: for each part of an element, its first run";
        INDEX_SHIFT 0x44 1 "a part has 2^this bytes";
        EXTENT 0x48 1 "bytes from one element to the next, modulo 2^32";
        LEVEL 0x60 20 "for each level from the inside: count, stride, reciprocal and shift of the count, step";
    }
}

/// Words of a level.
pub const LEVEL_WORDS: usize = 5;

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

            /// Its meaning, in a few words.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$name => $about,)*
                }
            }
        }
    };
}

numbered! {
    /// The outcome of a segment, by the numbers of SLMP; and two counters more.
    Counter {
        Accepted 0 "segments of messages that are complete, each once";
        Duplicate 1 "segments that were there already, or whose message is complete";
        Malformed 2 "frames whose parts or lengths do not agree";
        IpChecksum 3 "frames with a wrong IP header checksum";
        UdpChecksum 4 "frames with a wrong UDP checksum";
        NotASegment 5 "acknowledgements, which are no segments";
        Misplaced 6 "segments whose length or offset does not fit the message's segments";
        TooLong 7 "segments that reach behind the end of the message";
        Foreign 8 "segments of a message that is awaited, from another source";
        Unknown 9 "segments of no message that is awaited";
        Stuck 10 "segments that had to wait for a handler that makes no progress";
        AcksSent 11 "acknowledgements of whole messages, and of what came twice";
        Completed 12 "messages that were completed";
    }
}

// The C header, from which handlers know the memory that they share with the host.

/// Writes `runtime/include/mpi_types.h`.
///
/// # Errors
/// Only those of `out`.
pub fn c_header(out: &mut impl Write) -> fmt::Result {
    out.write_str(BEGIN)?;
    for (name, value) in [
        ("MAGIC", format!("{:#010x}", MAGIC)),
        ("VERSION", VERSION.to_string()),
        ("SLOTS", SLOTS.to_string()),
        ("SLOT_SHIFT", SLOT_SHIFT.to_string()),
        ("MAX_SEGMENTS", MAX_SEGMENTS.to_string()),
        ("BITMAP_WORDS", BITMAP_WORDS.to_string()),
        ("LOCAL_BYTES", LOCAL_BYTES.to_string()),
        ("COUNTERS", COUNTERS.to_string()),
        ("HPUS", HPUS.to_string()),
        ("LEVELS", LEVELS.to_string()),
        ("TABLE", TABLE.to_string()),
        ("COMPLETION_STRIDE", COMPLETION_STRIDE.to_string()),
        ("COMPLETION_VALID", format!("{:#010x}", COMPLETION_VALID)),
    ] {
        writeln!(out, "#define MPI_TYPES_{name} {value}")?;
    }
    out.write_str("\n/* The counters of each HPU. */\nenum mpi_types_counter {\n")?;
    for counter in Counter::ALL {
        let (name, value) = (capitals(&format!("{counter:?}")), *counter as u32);
        writeln!(out, "    MPI_TYPES_{name} = {value}, /* {} */", counter.about())?;
    }
    out.write_str("};\n")?;
    out.write_str(LEVEL)?;
    structure(out, "mpi_types_request", request::FIELDS, request::SIZE, "")?;
    out.write_str("\n/* The context's handler memory from its start. */\n")?;
    let last = format!(
        "    struct mpi_types_request request[MPI_TYPES_SLOTS]; /* +{:#05x} */\n",
        common::SIZE
    );
    structure(out, "mpi_types_memory", common::FIELDS, common::SIZE, &last)?;
    out.write_str("\n#endif\n")
}

/// A structure of words with its gaps filled, `last` behind them, and what the compiler has to check.
fn structure(out: &mut impl Write, name: &str, fields: &[Field], bytes: usize, last: &str) -> fmt::Result {
    writeln!(out, "struct {name} {{")?;
    let (mut at, mut gaps) = (0, 0);
    let mut gap = |out: &mut dyn Write, at: usize, to: usize| -> fmt::Result {
        if to > at {
            writeln!(out, "    uint32_t reserved{gaps}[{}];", (to - at) / 4)?;
            gaps += 1;
        }
        Ok(())
    };
    for field in fields {
        gap(out, at, field.offset)?;
        let (kind, count) = match field.name {
            "LEVEL" => ("struct mpi_types_level", "[MPI_TYPES_LEVELS]".to_owned()),
            _ if field.words == 1 => ("uint32_t", String::new()),
            _ => ("uint32_t", format!("[{}]", field.words)),
        };
        let member = field.name.to_ascii_lowercase();
        writeln!(
            out,
            "    {kind} {member}{count}; /* +{:#05x} {} */",
            field.offset, field.about
        )?;
        at = field.offset + 4 * field.words;
    }
    gap(out, at, bytes)?;
    writeln!(out, "{last}}};")?;
    for field in fields {
        let member = field.name.to_ascii_lowercase();
        let offset = field.offset;
        writeln!(
            out,
            "static_assert(offsetof(struct {name}, {member}) == {offset:#05x}, \"{name}.{member}\");"
        )?;
    }
    if last.is_empty() {
        writeln!(
            out,
            "static_assert(sizeof(struct {name}) == {bytes:#x}, \"{name}\");"
        )?;
    }
    Ok(())
}

fn capitals(name: &str) -> String {
    let mut text = String::new();
    for (index, letter) in name.char_indices() {
        if index > 0 && letter.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(letter.to_ascii_uppercase());
    }
    text
}

const BEGIN: &str = "\
/*
 * Where the bytes of MPI's datatypes belong, as handlers read it, and the memory that they share with the host.
 *
 * Generated from the tables of the crate spinneret-mpi: change those, then run its tests with SPINNERET_UPDATE_DOCS=1.
 * docs/host/mpi.md describes it.
 *
 * Host memory of the context: the completion of slot s is the 64-bit word at s * MPI_TYPES_COMPLETION_STRIDE. Its low half is
 * the message id, its high half MPI_TYPES_COMPLETION_VALID and the length.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef MPI_TYPES_H
#define MPI_TYPES_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

";

const LEVEL: &str = "
/* n / d is the upper half of (n << 6) * reciprocal, shifted right by shift, for all n below 2^26. */

/* Repetition with a stride. */
struct mpi_types_level {
    uint32_t count;
    uint32_t stride; /* modulo 2^32 */
    uint32_t reciprocal;
    uint32_t shift;
    uint32_t step; /* from the last run of all levels below to the first one of the next, modulo 2^32 */
};

/* A run of a table. */
struct mpi_types_run {
    uint32_t before; /* bytes of the element before it */
    uint32_t start;  /* where its first byte belongs, modulo 2^32 */
};

/* A message that is to come, and where its bytes belong. */
";

#[cfg(test)]
mod tests {
    use super::{SLOTS, message_id, slot_of};

    #[test]
    fn first_byte_of_an_id_encodes_the_slot() {
        for slot in 0..SLOTS {
            let ids = [0, 1, 0x123_4567, u32::MAX].map(|generation| message_id(generation, slot));
            for id in ids {
                assert!(id != 0 && slot_of(id) == slot);
                assert_eq!(usize::from(id.to_be_bytes()[0]) % SLOTS, slot);
            }
        }
        // The lowest 28 bits of a generation make distinct ids, except for 0, which is treated as 1.
        assert_eq!(message_id(0, 3), message_id(1, 3));
        assert_ne!(message_id(1, 3), message_id(1 << 27, 3));
    }

    #[test]
    fn c_header_is_up_to_date() {
        let mut wanted = String::new();
        super::c_header(&mut wanted).expect("strings take every text");
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/include/mpi_types.h");
        if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
            std::fs::write(&path, &wanted).unwrap();
        }
        assert!(
            std::fs::read_to_string(&path).unwrap_or_default() == wanted,
            "runtime/include/mpi_types.h differs from the tables of spinneret-mpi: \
             run `SPINNERET_UPDATE_DOCS=1 cargo test -p spinneret-mpi --lib c_header`"
        );
    }
}
