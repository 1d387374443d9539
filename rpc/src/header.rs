//! The header by which handlers know numbers and layouts: `runtime/include/spin_rpc_abi.h`.

use crate::layout::{Announcement, HEADER_BYTES, MAILBOX_BYTES, PACKET_BYTES, Version};
use crate::packet::{FIRST_BYTES, INLINE, INLINE_BYTES, WORDS};
use crate::{handle, opcode, place, status};
use core::fmt::{self, Write};

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
        ("WORDS", WORDS as u32),
        ("FIRST_BYTES", FIRST_BYTES as u32),
        ("CONTEXTS", place::PLACES),
        ("PORTS_PER_HPU", place::PORTS_PER_HPU),
        ("COPY_INBOX", place::COPY_INBOX),
        ("COPY_HAS_VALUE", place::COPY_HAS_VALUE),
        ("COPY_SHIFT", place::COPY_SHIFT),
        ("WORDS_COPIED", place::WORDS),
        ("BITS_COPIED", place::BITS),
        ("BITS_HPUS", place::BITS_HPUS),
        ("BITS_SHIFT", place::BITS_SHIFT),
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
    statuses(out)?;
    out.write_str("\n#endif\n")
}

/// What typed calls give, and handles that are always there.
fn statuses(out: &mut impl Write) -> fmt::Result {
    out.write_str("\n/* What became of a typed call, in the lowest byte of its status. */\n")?;
    for (name, number, about) in status::TABLE {
        writeln!(out, "#define SPIN_SERVICE_{name} {number}u /*{about} */")?;
    }
    writeln!(
        out,
        "\n/* Where data are said to be that stand in the packet, and how many may. */\n\
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
    out.write_str("/* What the host tells and gives a context, in L2. */\nstruct spin_rpc_place {\n")?;
    for (name, _, about) in place::FIELDS {
        writeln!(out, "    uint32_t {name}; /* {about} */")?;
    }
    let rest = place::HEAD_WORDS - place::FIELDS.len() as u32;
    writeln!(out, "    uint32_t reserved[{rest}];")?;
    out.write_str(
        "    uint32_t inbox[SPIN_RPC_PORTS]; /* the inboxes: by words SPIN_RPC_COPY_..., or by bits */\n};\n\n",
    )
}

#[cfg(test)]
mod tests {
    use super::place::FIELDS;

    #[test]
    fn words_of_a_place_are_named_in_their_order() {
        assert!(
            FIELDS
                .iter()
                .zip(0..)
                .all(|((_, word, _), number)| *word == number)
        );
    }
}
