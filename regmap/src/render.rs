//! The tables as Markdown, from which `docs/registers.md` is made.

use crate::register::Register;
use crate::{Bits, bar, pci, registers, shares};
use core::fmt::{self, Write};

/// Writes the whole reference page.
///
/// # Errors
/// Only those of `out`.
pub fn markdown(out: &mut impl Write) -> fmt::Result {
    out.write_str(INTRODUCTION)?;
    windows(out)?;
    out.write_str(REGISTER_RULES)?;
    register_table(out)?;
    out.write_str(FIELD_HEADING)?;
    field_table(out)?;
    writeln!(
        out,
        "{SHARES_BEGIN}{:#010x}{SHARES_MIDDLE}{}{SHARES_END}",
        shares::BASE,
        shares::STRIDE
    )?;
    table(out, shares::ALL)?;
    out.write_str(FUNCTION)?;
    function_table(out)
}

/// Writes the windows of the BAR as a Markdown table.
///
/// # Errors
/// Only those of `out`.
pub fn windows(out: &mut impl Write) -> fmt::Result {
    writeln!(out, "| BAR offset | size | maps to |\n|---|---|---|")?;
    for window in bar::WINDOWS {
        let kib = window.size_bytes / 1024;
        write!(
            out,
            "| {:#08x} - {:#08x} | {kib} KiB | {}",
            window.start,
            window.last(),
            window.description
        )?;
        match window.target {
            bar::Target::Pspin { address } => writeln!(out, ", from {address:#010x} |")?,
            bar::Target::ControlRegisters | bar::Target::Nothing => writeln!(out, " |")?,
        }
    }
    Ok(())
}

/// Writes the registers as a Markdown table.
///
/// # Errors
/// Only those of `out`.
pub fn register_table(out: &mut impl Write) -> fmt::Result {
    table(out, registers())
}

fn table<'r>(out: &mut impl Write, registers: impl IntoIterator<Item = &'r Register>) -> fmt::Result {
    writeln!(
        out,
        "| offset | count | register | access | bits | reset | unit | drop-in | meaning |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|")?;
    for r in registers {
        let drop_in = if r.extension { "" } else { "yes" };
        write!(
            out,
            "| {:#06x} | {} | `{r}` | {} | {} | {} | {} | {drop_in} | {}",
            r.offset, r.count, r.access, r.bits, r.reset, r.unit, r.description
        )?;
        if !r.side_effect.is_empty() {
            write!(out, " {}", r.side_effect)?;
        }
        writeln!(out, " |")?;
    }
    Ok(())
}

/// Writes the parts of registers that have names of their own as a Markdown table.
///
/// # Errors
/// Only those of `out`.
pub fn field_table(out: &mut impl Write) -> fmt::Result {
    writeln!(out, "| register | bits | field | meaning |\n|---|---|---|---|")?;
    for register in registers() {
        for field in register.fields {
            let bits = Bits::All(field.mask());
            writeln!(
                out,
                "| `{register}` | {bits} | `{}` | {} |",
                field.name, field.description
            )?;
        }
    }
    Ok(())
}

/// Writes the numbers of the PCI function as a Markdown table.
///
/// # Errors
/// Only those of `out`.
pub fn function_table(out: &mut impl Write) -> fmt::Result {
    writeln!(out, "| name | value | meaning |\n|---|---|---|")?;
    for (name, value, about) in pci::TABLE {
        writeln!(out, "| `{name}` | {value:#x} | {about} |")?;
    }
    Ok(())
}

const INTRODUCTION: &str = "\
# Register reference

This page is generated from the tables of the crate `spinneret-regmap`; change those, then run `./dev docs`.

## The application BAR

The application BAR is 16 MiB large and is accessed as 32-bit little-endian words.

";

const REGISTER_RULES: &str = "
## Control registers

Element `i` of a register is at its offset + 4 * `i`. Writes to read-only or unmapped words change nothing
and are answered with an error; reads of unmapped words are answered with an error. Write strobes are honoured
byte by byte; a write without strobes changes nothing and is answered with OKAY. The lowest two bits of an address
are ignored, all others count. Bits that do not exist read 0 and ignore what is written. `drop-in` says which
registers the drop-in for the public design has; the others are there with the option `extended`, as on boards.

Rules are numbered ruleset-major: rule `r` of ruleset `s` is element 4 * `s` + `r`; rule 3 of each ruleset is its
end-of-message rule. Mask, start and end are held byte-swapped (`htonl` on a little-endian host), the index is not:
the rule that compares the Ethernet type with 0x0800 has mask 0xffff0000, and its mask register holds 0x0000ffff.

";

const FIELD_HEADING: &str = "
## Fields

";

const SHARES_BEGIN: &str = "
## Registers of spinneret's own clusters

Clusters of the block `hpu_complex` have these registers of each context. Those of context 0 begin at the address ";
const SHARES_MIDDLE: &str = ", of the next one ";
const SHARES_END: &str = " bytes
later; the host reaches them through the window of program memory. Words are written whole. A reset of the clusters clears the
counters and keeps the settings, which have the values below after power-up. The [glossary](glossary.md) has the terms.
";

const FUNCTION: &str = "
## The PCI function

A NIC that has a PCI function to itself, as `spinneret serve --pci` shows one, has these numbers. On Corundum the
application BAR belongs to the function that the `mqnic` driver has, and no interrupts are ours.

";
