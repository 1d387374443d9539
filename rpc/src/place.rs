//! The announcement of services to the handlers of a context, in L2 of the NIC: a place for each context, in a variable
//! that programs
//! have if they call.
//!
//! Words of 32 bits. The first four are the [`Announcement`](crate::Announcement); behind [`HEAD_WORDS`] lies a word
//! for each port,
//! which tells its inbox, so that a handler that waits need not ask host memory.

use crate::layout::{
    self, Announcement, FIRST_BYTES, HEADER_BYTES, INLINE, INLINE_BYTES, MAILBOX_BYTES, PACKET_BYTES, Version,
};
use crate::{handle, opcode};
use core::fmt::{self, Write};

/// The variable, an array of places.
pub const VARIABLE: &str = "__spin_rpc";
/// Places: one for each context.
pub const PLACES: u32 = 4;
/// Words before those of the ports.
pub const HEAD_WORDS: u32 = 16;
/// Most ports of an HPU.
pub const PORTS_PER_HPU: u32 = 2;

/// The words of the announcement: version, offset, ports, lanes.
pub const ANNOUNCEMENT: u32 = 0;
/// The session: another number each time that services are opened, written last; 0 while they are closed, written first.
pub const SESSION: u32 = 4;
/// Lower half of the address of the context's host memory, by which handlers find their place.
pub const HOST_LOW: u32 = 5;
/// Upper half of it.
pub const HOST_HIGH: u32 = 6;
/// From an HPU's port to its next one: the number of HPUs that there can be.
pub const HPUS: u32 = 7;
/// How inboxes are copied: [`NO_COPIES`], [`WORDS`] or [`BITS`].
pub const COPIES: u32 = 8;
/// The last session that there was.
pub const SESSIONS: u32 = 9;

/// Where host memory holds the data of calls that are too long for packets: the place of the first port's data.
pub const BULK: u32 = 10;
/// Bytes of each port's part of them.
pub const BULK_BYTES: u32 = 11;

/// The head's words by name, for the header that handlers include.
pub(crate) const FIELDS: [(&str, u32, &str); 12] = [
    (
        "version",
        ANNOUNCEMENT,
        "SPIN_RPC_VERSION_22 or SPIN_RPC_VERSION_23",
    ),
    (
        "offset",
        ANNOUNCEMENT + 1,
        "where the buffer begins in host memory",
    ),
    ("ports", ANNOUNCEMENT + 2, "ports of all HPUs"),
    ("lanes", ANNOUNCEMENT + 3, "always 1"),
    (
        "session",
        SESSION,
        "another one each time that services are opened; 0 while they are closed",
    ),
    (
        "host_low",
        HOST_LOW,
        "the context's host memory, by which handlers find their place",
    ),
    ("host_high", HOST_HIGH, "upper half of its address"),
    ("hpus", HPUS, "from an HPU's port to its next one"),
    (
        "copies",
        COPIES,
        "how `inbox` is written: SPIN_RPC_WORDS_COPIED, SPIN_RPC_BITS_COPIED, or 0 if it is not",
    ),
    ("sessions", SESSIONS, "the last session that there was"),
    (
        "bulk",
        BULK,
        "host memory for data too long for packets, that of port 0",
    ),
    ("bulk_bytes", BULK_BYTES, "bytes of each port's part of them"),
];

/// Handlers ask host memory for their inboxes.
pub const NO_COPIES: u32 = 0;
/// Each port has a word.
pub const WORDS: u32 = 1;
/// The ports of eight HPUs share a word.
pub const BITS: u32 = 2;

/// Of a port's word: what the inbox holds.
pub const COPY_INBOX: u32 = 1;
/// Of a port's word: the packet is a number and otherwise zero, and the bits above are that number. Without it they are the
/// session's.
pub const COPY_HAS_VALUE: u32 = 2;
/// The lowest bit of the number.
pub const COPY_SHIFT: u32 = 2;
/// HPUs whose ports share a word, if inboxes are copied as bits: first ports have its lowest bits, second ports those
/// above.
pub const BITS_HPUS: u32 = 8;
/// The lowest bit of the session in such a word.
pub const BITS_SHIFT: u32 = BITS_HPUS * PORTS_PER_HPU;
/// The last session before the numbers begin again: both kinds of words have room for that many.
pub const LAST_SESSION: u32 = u32::MAX >> BITS_SHIFT;

/// A port's word: the inbox, and the packet, if the server has just written one that is a small number.
pub fn copy(session: u32, inbox: u32, packet: Option<&[u64]>) -> u32 {
    let inbox = inbox & COPY_INBOX;
    let number = match packet {
        Some([first, rest @ ..]) if rest.iter().all(|word| *word == 0) => Some(*first),
        _ => None,
    };
    let small = number.filter(|number| (*number as i64) << (64 - 30) >> (64 - 30) == *number as i64);
    match small {
        Some(number) => (number as u32) << COPY_SHIFT | COPY_HAS_VALUE | inbox,
        None => session << COPY_SHIFT | inbox,
    }
}

/// The word of eight HPUs, by its place among such words, and the bit of a port of some HPUs.
pub const fn bit(port: u32, hpus: u32) -> (u32, u32) {
    let hpu = port % hpus;
    (hpu / BITS_HPUS, hpu % BITS_HPUS + port / hpus * BITS_HPUS)
}

/// The word of a port, by the number of its context's place and of its port; each place has `ports` ports.
pub const fn inbox_word(place: u32, port: u32, ports: u32) -> u32 {
    head_word(place, HEAD_WORDS, ports) + port
}

/// A word of a place's head.
pub const fn head_word(place: u32, word: u32, ports: u32) -> u32 {
    place * (HEAD_WORDS + ports) + word
}

// The header by which handlers know numbers and layouts: `runtime/include/spin_rpc_abi.h`.

const BEGIN: &str = "\
/*
 * Numbers and layouts of calls to the host.
 *
 * Generated from the tables of the crate spinneret-rpc: change those, then run `./dev docs`.
 */
#ifndef SPIN_RPC_ABI_H
#define SPIN_RPC_ABI_H

#include <stdint.h>

#include \"spin_conf.h\"

";

/// Writes it.
///
/// # Errors
/// Only those of `out`.
pub fn c_header(out: &mut impl Write) -> fmt::Result {
    out.write_str(BEGIN)?;
    let numbers = [
        ("MAILBOX_BYTES", MAILBOX_BYTES),
        ("HEADER_BYTES", HEADER_BYTES),
        ("PACKET_BYTES", PACKET_BYTES),
        ("DOORBELL_BYTES", Version::V23.doorbell_bytes()),
        ("WORDS", layout::WORDS as u32),
        ("FIRST_BYTES", FIRST_BYTES as u32),
        ("CONTEXTS", PLACES),
        ("PORTS_PER_HPU", PORTS_PER_HPU),
        ("COPY_INBOX", COPY_INBOX),
        ("COPY_HAS_VALUE", COPY_HAS_VALUE),
        ("COPY_SHIFT", COPY_SHIFT),
        ("WORDS_COPIED", WORDS),
        ("BITS_COPIED", BITS),
        ("BITS_HPUS", BITS_HPUS),
        ("BITS_SHIFT", BITS_SHIFT),
    ];
    for (name, value) in numbers {
        writeln!(out, "#define SPIN_RPC_{name} {value}")?;
    }
    for version in Version::ALL {
        let (number, word) = (version.number(), Announcement::word(version));
        writeln!(out, "#define SPIN_RPC_VERSION_{number} {word:#010x}u")?;
    }
    out.write_str("#define SPIN_RPC_PORTS (SPIN_RPC_PORTS_PER_HPU * CORE_COUNT)\n\n")?;
    place(out)?;
    out.write_str("/* Calls: the top byte is the class. */\n")?;
    for (name, number, about) in opcode::TABLE {
        writeln!(out, "#define SPIN_RPC_{name} {number:#010x}u /*{about} */")?;
    }
    out.write_str("\n/* Emissary APIs: their numbers, and keys of arguments (emissary.h). */\n")?;
    for (name, value) in opcode::emissary::TABLE {
        writeln!(out, "#define EMIS_{name} {value:#x}u")?;
    }
    statuses(out)?;
    out.write_str("\n#endif\n")
}

/// Writes the statuses of typed calls, and predefined handles.
fn statuses(out: &mut impl Write) -> fmt::Result {
    out.write_str("\n/* Outcome of a typed call, in the lowest byte of its status. */\n")?;
    for (name, number, about) in opcode::STATUSES {
        writeln!(out, "#define SPIN_SERVICE_{name} {number}u /*{about} */")?;
    }
    writeln!(
        out,
        "\n/* The address that means data in the packet, and how many bytes fit. */\n\
         #define SPIN_SLICE_INLINE {INLINE:#x}u\n#define SPIN_SLICE_INLINE_BYTES {INLINE_BYTES}"
    )?;
    let (kind, index) = (handle::KIND_SHIFT, handle::TAG_BITS);
    writeln!(
        out,
        "\n/* A handle that is always there. */\n\
         #define SPIN_SERVICE_PREDEFINED(kind, index) ((uint32_t)(kind) << {kind} | (uint32_t)(index) << {index})"
    )
}

/// The struct of a place.
fn place(out: &mut impl Write) -> fmt::Result {
    out.write_str("/* The host's settings of a context, in L2. */\nstruct spin_rpc_place {\n")?;
    for (name, _, about) in FIELDS {
        writeln!(out, "    uint32_t {name}; /* {about} */")?;
    }
    let rest = HEAD_WORDS - FIELDS.len() as u32;
    writeln!(out, "    uint32_t reserved[{rest}];")?;
    out.write_str(
        "    uint32_t inbox[SPIN_RPC_PORTS]; /* the inboxes: by words SPIN_RPC_COPY_..., or by bits */\n};\n\n",
    )
}

#[cfg(test)]
mod tests {
    use super::FIELDS;

    #[test]
    fn place_fields_are_listed_in_order() {
        assert!(
            FIELDS
                .iter()
                .zip(0..)
                .all(|((_, word, _), number)| *word == number)
        );
    }
}
