//! The C header, from which handlers know the protocol and the memory that they share with the host.

use super::capitals;
use crate::memory::{self, Cause, Field, State, common, place};
use crate::wire::{self, Flags};
use std::fmt::{self, Write};

/// Writes `runtime/include/slmp.h`.
///
/// # Errors
/// Only those of `out`.
pub fn c_header(out: &mut impl Write) -> fmt::Result {
    out.write_str(BEGIN)?;
    writeln!(
        out,
        "#define SLMP_PORT {} /* UDP port of receivers */",
        wire::PORT
    )?;
    writeln!(out, "#define SLMP_HEADER_BYTES {}", wire::HEADER_BYTES)?;
    writeln!(
        out,
        "#define SLMP_MAX_PAYLOAD {} /* of a segment */",
        wire::MAX_PAYLOAD
    )?;
    out.write_str("\n/* Flags, in host order. */\n")?;
    for named in Flags::TABLE {
        writeln!(
            out,
            "#define SLMP_FLAG_{} {:#06x} /* {} */",
            named.name,
            named.flag.bits(),
            named.about
        )?;
    }
    out.write_str("\n/* Numbers of the memory below. */\n")?;
    for (name, value) in [
        ("MAGIC", format!("{:#010x}", memory::MAGIC)),
        ("VERSION", memory::VERSION.to_string()),
        ("PLACES", memory::PLACES.to_string()),
        ("MAX_SEGMENTS", memory::MAX_SEGMENTS.to_string()),
        ("BITMAP_WORDS", memory::BITMAP_WORDS.to_string()),
        ("LOCAL_BYTES", memory::LOCAL_BYTES.to_string()),
        ("COUNTERS", memory::COUNTERS.to_string()),
        ("HPUS", memory::HPUS.to_string()),
        ("DONE_END", format!("{:#010x}", memory::DONE_END)),
        ("END_TAKEN", memory::END_TAKEN.to_string()),
        ("END_COMPLETING", memory::END_COMPLETING.to_string()),
    ] {
        writeln!(out, "#define SLMP_{name} {value}")?;
    }
    out.write_str(HOST_MEMORY)?;
    for (name, value) in [
        ("COMPLETION_STRIDE", memory::COMPLETION_STRIDE.to_string()),
        ("COMPLETION_VALID", format!("{:#010x}", memory::COMPLETION_VALID)),
        ("REGIONS", memory::REGIONS.to_string()),
    ] {
        writeln!(out, "#define SLMP_{name} {value}")?;
    }
    enumerations(out)?;
    out.write_str("\n/* One message. */\n")?;
    structure(out, "slmp_place", place::FIELDS, place::SIZE, None)?;
    out.write_str(
        "\n/* The context's handler memory from its start. The host clears all of it before it begins. */\n",
    )?;
    let places = format!(
        "    struct slmp_place place[SLMP_PLACES]; /* +{:#05x} */\n",
        common::SIZE
    );
    structure(out, "slmp_memory", common::FIELDS, common::SIZE, Some(&places))?;
    out.write_str("\n#endif\n")
}

fn enumerations(out: &mut impl Write) -> fmt::Result {
    out.write_str("\n/* States of a place. */\nenum slmp_state {\n")?;
    for state in State::ALL {
        constant(out, &format!("{state:?}"), *state as usize, state.about())?;
    }
    out.write_str(
        "};\n\n/* What became of a segment, and the numbers of the counters. */\nenum slmp_cause {\n",
    )?;
    for cause in Cause::ALL {
        constant(out, &format!("{cause:?}"), *cause as usize, cause.about())?;
    }
    constant(
        out,
        "AcksSent",
        memory::ACKS_SENT,
        "not a cause: acknowledgements that were sent",
    )?;
    constant(
        out,
        "Completed",
        memory::COMPLETED,
        "not a cause: messages that were completed",
    )?;
    constant(
        out,
        "AcceptedAndAcked",
        memory::ACCEPTED_AND_ACKED,
        "not a cause: segments that were accepted and acknowledged, which count here alone",
    )?;
    out.write_str("};\n")
}

fn constant(out: &mut impl Write, name: &str, value: usize, about: &str) -> fmt::Result {
    writeln!(out, "    SLMP_{} = {value}, /* {about} */", capitals(name))
}

/// A structure of words with its gaps filled, `last` behind them, and what the compiler has to check.
fn structure(
    out: &mut impl Write,
    name: &str,
    fields: &[Field],
    bytes: usize,
    last: Option<&str>,
) -> fmt::Result {
    writeln!(out, "struct {name} {{")?;
    let (mut at, mut gaps) = (0, 0);
    for field in fields {
        gap(out, &mut at, field.offset, &mut gaps)?;
        let (member, count) = (member(field), array(field.words));
        writeln!(
            out,
            "    uint32_t {member}{count}; /* +{:#05x} {} */",
            field.offset, field.about
        )?;
        at += 4 * field.words;
    }
    gap(out, &mut at, bytes, &mut gaps)?;
    writeln!(out, "{}}};", last.unwrap_or_default())?;
    for field in fields {
        let member = member(field);
        writeln!(
            out,
            "static_assert(offsetof(struct {name}, {member}) == {:#05x}, \"{name}.{member}\");",
            field.offset
        )?;
    }
    let size = match last {
        Some(_) => format!("{bytes:#x} + SLMP_PLACES * sizeof(struct slmp_place)"),
        None => format!("{bytes:#x}"),
    };
    writeln!(out, "static_assert(sizeof(struct {name}) == {size}, \"{name}\");")
}

fn gap(out: &mut impl Write, at: &mut usize, to: usize, gaps: &mut usize) -> fmt::Result {
    let words = (to - *at) / 4;
    if words > 0 {
        writeln!(out, "    uint32_t reserved{gaps}{};", array(words))?;
        *gaps += 1;
        *at = to;
    }
    Ok(())
}

fn array(words: usize) -> String {
    if words == 1 {
        String::new()
    } else {
        format!("[{words}]")
    }
}

fn member(field: &Field) -> String {
    field.name.to_ascii_lowercase()
}

const BEGIN: &str = "\
/*
 * SLMP, the sPIN Lightweight Message Protocol, and the memory that its receiver on the NIC shares with the host.
 *
 * Generated from the tables of the crate spinneret-slmp: change those, then run its tests with SPINNERET_UPDATE_DOCS=1.
 * docs/host/slmp.md describes the protocol.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef SLMP_H
#define SLMP_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

";

const HOST_MEMORY: &str = "
/*
 * Host memory of the context: the completion of place p is the 64-bit word at p * SLMP_COMPLETION_STRIDE. Its low half
 * is the message id, its high half SLMP_COMPLETION_VALID and the length; it is 0 while there is none.
 */
";
