//! The dissector for Wireshark and tshark.

use crate::wire::{self, Flags, HEADER_FIELDS};
use std::fmt::{self, Write};

/// Writes `host/slmp/wireshark/slmp.lua`.
///
/// # Errors
/// Only those of `out`.
pub fn dissector(out: &mut impl Write) -> fmt::Result {
    out.write_str(BEGIN)?;
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
    out.write_str(FIELDS_END)?;
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
    out.write_str(DISSECT)
}

/// A text with a capital at its start.
fn title(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

const BEGIN: &str = "\
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

const FIELDS_END: &str = "    payload = ProtoField.bytes(\"slmp.payload\", \"Payload\"),
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

const DISSECT: &str = r#"
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
