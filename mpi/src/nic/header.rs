//! The C header, from which handlers know the memory that they share with the host.

use super::memory::{self, Counter, Field, common, request};
use std::fmt::{self, Write};

/// Writes `runtime/include/mpi_types.h`.
///
/// # Errors
/// Only those of `out`.
pub fn c_header(out: &mut impl Write) -> fmt::Result {
    out.write_str(BEGIN)?;
    for (name, value) in [
        ("MAGIC", format!("{:#010x}", memory::MAGIC)),
        ("VERSION", memory::VERSION.to_string()),
        ("SLOTS", memory::SLOTS.to_string()),
        ("SLOT_SHIFT", memory::SLOT_SHIFT.to_string()),
        ("MAX_SEGMENTS", memory::MAX_SEGMENTS.to_string()),
        ("BITMAP_WORDS", memory::BITMAP_WORDS.to_string()),
        ("LOCAL_BYTES", memory::LOCAL_BYTES.to_string()),
        ("COUNTERS", memory::COUNTERS.to_string()),
        ("HPUS", memory::HPUS.to_string()),
        ("LEVELS", memory::LEVELS.to_string()),
        ("TABLE", memory::TABLE.to_string()),
        ("COMPLETION_STRIDE", memory::COMPLETION_STRIDE.to_string()),
        ("COMPLETION_VALID", format!("{:#010x}", memory::COMPLETION_VALID)),
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
