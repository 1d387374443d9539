//! Files for other languages, made of the tables of [`wire`](crate::wire) and [`memory`](crate::memory).

use crate::memory::{self, Cause, Field, State, common, place};
use crate::wire::{self, Flags, HEADER_FIELDS};
use std::fmt::{self, Write};

/// `NotASegment` as `NOT_A_SEGMENT`.
fn capitals(name: &str) -> String {
    let mut out = String::new();
    for (at, letter) in name.char_indices() {
        if at > 0 && letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_uppercase());
    }
    out
}

/// Writes `runtime/include/slmp.h`.
///
/// # Errors
/// Only those of `out`.
pub fn c_header(out: &mut impl Write) -> fmt::Result {
    out.write_str(C_HEADER_BEGIN)?;
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
    out.write_str(C_HEADER_HOST_MEMORY)?;
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
        "};\n\n/* Outcomes of a segment, and the numbers of the counters. */\nenum slmp_cause {\n",
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

const C_HEADER_BEGIN: &str = "\
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

const C_HEADER_HOST_MEMORY: &str = "
/*
 * Host memory of the context: the completion of place p is the 64-bit word at p * SLMP_COMPLETION_STRIDE. Its low half
 * is the message id, its high half SLMP_COMPLETION_VALID and the length; it is 0 while there is none.
 */
";

/// Writes `host/slmp/wireshark/slmp.lua`.
///
/// # Errors
/// Only those of `out`.
pub fn dissector(out: &mut impl Write) -> fmt::Result {
    out.write_str(DISSECTOR_BEGIN)?;
    writeln!(out, "local PORT = {}", wire::PORT)?;
    writeln!(out, "local HEADER_BYTES = {}", wire::HEADER_BYTES)?;
    out.write_str("\nlocal fields = {\n")?;
    for field in HEADER_FIELDS {
        let (name, bits) = (field.name, 8 * field.bytes);
        let base = if name == "offset" { "base.DEC" } else { "base.HEX" };
        writeln!(
            out,
            "    {name} = ProtoField.uint{bits}(\"slmp.{name}\", \"{}\", {base}),",
            title(field.about)
        )?;
    }
    for named in Flags::TABLE {
        let small = named.name.to_ascii_lowercase();
        writeln!(
            out,
            "    {small} = ProtoField.bool(\"slmp.flags.{small}\", \"{}: {}\", 16, nil, {:#06x}),",
            named.name,
            named.about,
            named.flag.bits()
        )?;
    }
    out.write_str(DISSECTOR_FIELDS_END)?;
    for named in Flags::TABLE {
        let small = named.name.to_ascii_lowercase();
        writeln!(
            out,
            "    {{ name = \"{}\", bit = {:#06x}, field = fields.{small} }},",
            named.name,
            named.flag.bits()
        )?;
    }
    out.write_str("}\n\n")?;
    for field in HEADER_FIELDS {
        let (name, offset, bytes) = (field.name, field.offset, field.bytes);
        writeln!(
            out,
            "local function {name}_of(buffer) return buffer({offset}, {bytes}) end"
        )?;
    }
    out.write_str(DISSECTOR_DISSECT)
}

/// A text with a capital at its start.
fn title(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

const DISSECTOR_BEGIN: &str = "\
-- SLMP, the sPIN Lightweight Message Protocol, for Wireshark and tshark:
--
--     wireshark -X lua_script:slmp.lua CAPTURE
--
-- or put this file into the folder of personal Lua plugins (Help, About, Folders). Display filters: slmp.id == 0x202,
-- slmp.flags.eom == 1, slmp.ack_without_syn.
--
-- Generated from the tables of the crate spinneret-slmp: change those, then run its tests with SPINNERET_UPDATE_DOCS=1.
--
-- SPDX-License-Identifier: MIT OR Apache-2.0

local slmp = Proto(\"slmp\", \"sPIN Lightweight Message Protocol\")

";

const DISSECTOR_FIELDS_END: &str = "    payload = ProtoField.bytes(\"slmp.payload\", \"Payload\"),
    length = ProtoField.uint16(\"slmp.len\", \"Payload bytes\", base.DEC),
}
slmp.fields = fields

local ack_without_syn = ProtoExpert.new(\"slmp.ack_without_syn\", \"acknowledgement of a segment without SYN\",
    expert.group.PROTOCOL, expert.severity.WARN)
local too_short = ProtoExpert.new(\"slmp.too_short\", \"shorter than the SLMP header\",
    expert.group.MALFORMED, expert.severity.ERROR)
slmp.experts = { ack_without_syn, too_short }

local flag_table = {
";

const DISSECTOR_DISSECT: &str = r#"
-- Adds the flags to the tree, and gives the names of those that are set, each with a space before it.
local function dissect_flags(buffer, tree)
    local range = flags_of(buffer)
    local value = range:uint()
    local subtree = tree:add(fields.flags, range)
    local names, is_set = "", {}
    for _, flag in ipairs(flag_table) do
        subtree:add(flag.field, range)
        if math.floor(value / flag.bit) % 2 == 1 then
            names = names .. " " .. flag.name
            is_set[flag.name] = true
        end
    end
    subtree:append_text(names == "" and " (none)" or " (" .. names:sub(2) .. ")")
    if is_set.ACK and not is_set.SYN then
        subtree:add_proto_expert_info(ack_without_syn)
    end
    return names
end

function slmp.dissector(buffer, packet, tree)
    packet.cols.protocol = "SLMP"
    local bytes = buffer:len()
    local subtree = tree:add(slmp, buffer())
    if bytes < HEADER_BYTES then
        packet.cols.info = "SLMP too short: " .. bytes .. " bytes"
        subtree:add_proto_expert_info(too_short)
        return bytes
    end
    local names = dissect_flags(buffer, subtree)
    subtree:add(fields.id, id_of(buffer))
    subtree:add(fields.offset, offset_of(buffer))
    local length = bytes - HEADER_BYTES
    subtree:add(fields.length, length):set_generated()
    if length > 0 then
        subtree:add(fields.payload, buffer(HEADER_BYTES))
    end
    local text = string.format("SLMP%s id 0x%08x offset %d len %d", names, id_of(buffer):uint(),
        offset_of(buffer):uint(), length)
    packet.cols.info = text
    subtree:append_text(text:sub(5))
    return bytes
end

DissectorTable.get("udp.port"):add(PORT, slmp)
"#;
