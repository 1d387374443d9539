//! The table of registers as the kernel driver has it, from which `kernel/table.h` is made.

use crate::register::{Access, Register};
use crate::registers;
use core::fmt::{self, Write};

/// Writes the table: a line for each register, of a macro that whoever includes it defines.
///
/// # Errors
/// Only those of `out`.
pub fn table(out: &mut impl Write) -> fmt::Result {
    out.write_str(BEGIN)?;
    registers().try_for_each(|register| line(out, register))
}

fn line(out: &mut impl Write, register: &Register) -> fmt::Result {
    let Register {
        group,
        name,
        offset,
        count,
        extension,
        ..
    } = register;
    let access = match register.access {
        Access::ReadWrite | Access::WriteClears => "REG_READ | REG_WRITE",
        Access::ReadOnly => "REG_READ",
        Access::ReadPops => "REG_READ | REG_POPS",
        Access::WritePulse => "REG_WRITE",
    };
    writeln!(
        out,
        "SPINNERET_REGISTER(\"{group}\", \"{name}\", {offset:#06x}, {count}, {access}, {extension})"
    )
}

const BEGIN: &str = "\
/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Control registers: group, name, offset, elements, access, and whether the public design does not have it.
 *
 * Generated from the tables of the crate spinneret-regmap: change those, then run `./dev docs`.
 */
";
