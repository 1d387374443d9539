//! The tables as C headers and a linker script, from which `include/spinneret_regs.h` and the runtime's `spin_map.h` and
//! `spin_map.ld` are made.
//!
//! In `spinneret_regs.h` every name starts with `SPINNERET_`. A register `me.mask` has `_OFFSET`, and `_COUNT` if it has several
//! elements; elements with names of their own have an `_OFFSET` of their own. `_BITS` is the mask of the bits
//! that exist, `_RESET` the value after reset where the table knows it.

use crate::pspin::{self, driver, resident};
use crate::register::{Access, Bits, Register, Reset};
use crate::{
    CLUSTERS, CONTEXTS, MPQS, REGISTER_BYTES, RULES_PER_RULESET, RULESETS, bar, caps, pci, registers, shares,
};
use core::fmt::{self, Write};

/// Writes the header.
///
/// # Errors
/// Only those of `out`.
pub fn c_header(out: &mut impl Write) -> fmt::Result {
    out.write_str(BEGIN)?;
    for (name, value) in [
        ("REGISTER_BYTES", REGISTER_BYTES),
        ("RULESETS", RULESETS),
        ("RULES_PER_RULESET", RULES_PER_RULESET),
        ("CONTEXTS", CONTEXTS),
        ("CLUSTERS", CLUSTERS),
        ("MPQS", MPQS),
    ] {
        writeln!(out, "#define SPINNERET_{name} {value}u")?;
    }
    windows(out)?;
    let mut group = "";
    for register in registers() {
        if register.group != group {
            group = register.group;
            writeln!(out, "\n/* {group} */")?;
        }
        self::register(out, register)?;
    }
    writeln!(
        out,
        "\n/* Values of SPINNERET_CAPS_MAGIC_OFFSET and SPINNERET_CAPS_VERSION_OFFSET. */"
    )?;
    writeln!(out, "#define SPINNERET_MAGIC {:#010x}u", caps::MAGIC_VALUE)?;
    writeln!(out, "#define SPINNERET_VERSION {:#010x}u", caps::VERSION_VALUE)?;
    writeln!(
        out,
        "\n/* Registers of a context in spinneret's own clusters, from its first address on. */"
    )?;
    for (name, value) in [("BASE", shares::BASE), ("STRIDE", shares::STRIDE)] {
        writeln!(out, "#define SPINNERET_SHARES_{name} {value:#x}u")?;
    }
    for register in shares::ALL {
        self::register(out, register)?;
    }
    writeln!(out, "\n/* The PCI function of a NIC that has one to itself. */")?;
    for (name, value, about) in pci::TABLE {
        writeln!(out, "/* {about} */\n#define SPINNERET_PCI_{name} {value:#x}u")?;
    }
    out.write_str(END)
}

/// Writes the addresses that the runtime and handlers use.
///
/// # Errors
/// Only those of `out`.
pub fn runtime_header(out: &mut impl Write) -> fmt::Result {
    out.write_str(MAP_BEGIN)?;
    for (about, names) in RUNTIME {
        writeln!(out, "\n/* {about} */")?;
        for (name, value) in *names {
            if *name == "AREA_SIZE" {
                // A build for a small board says how much it has.
                write!(
                    out,
                    "#ifndef SPIN_{name}\n#define SPIN_{name} {value:#x}\n#endif\n"
                )?;
                continue;
            }
            match value {
                0..0x100 => writeln!(out, "#define SPIN_{name} {value}")?,
                _ => writeln!(out, "#define SPIN_{name} {value:#x}")?,
            }
        }
    }
    writeln!(
        out,
        "\n/* The task at hand, its doorbell, the cause of its failure, size and sum of its packet, and a handler's arguments. */"
    )?;
    let task = driver::TASK
        .into_iter()
        .zip((0..).step_by(REGISTER_BYTES as usize));
    let others = [
        ("DOORBELL", driver::DOORBELL),
        ("ERROR", driver::ERROR),
        ("PACKET_SUM", driver::PACKET_SUM),
        ("ARGS", driver::ARGS),
    ];
    for (name, offset) in task.chain(others) {
        writeln!(
            out,
            "#define HWSCHED_{name} {:#010x}",
            pspin::DRIVER_BASE + offset
        )?;
    }
    writeln!(out, "\n/* Commands: hwsched.h says what they do. */")?;
    for (name, offset) in [
        ("ISSUE", driver::ISSUE),
        ("WAIT", driver::WAIT),
        ("TEST", driver::TEST),
        ("INFO", driver::INFO),
    ] {
        writeln!(out, "#define CMD_{name} {:#010x}", pspin::DRIVER_BASE + offset)?;
    }
    for word in 0..driver::COMMAND_WORDS {
        let address = pspin::DRIVER_BASE + driver::COMMAND + REGISTER_BYTES * word;
        writeln!(out, "#define CMD_WORD{word} {address:#010x}")?;
    }
    writeln!(
        out,
        "\n/* Flow id of a send to the host's network stack, with the address of the packet's slot in the lower bits. */"
    )?;
    writeln!(out, "#define CMD_FLOW_PASS {:#010x}u", pspin::nic_command::PASS)?;
    out.write_str("\n#endif\n")
}

/// Writes the places of a program for the linker.
///
/// # Errors
/// Only those of `out`.
pub fn linker_script(out: &mut impl Write) -> fmt::Result {
    out.write_str(SCRIPT_BEGIN)?;
    for (name, value) in [
        ("program", pspin::PROGRAM_BASE),
        ("program_size", pspin::PROGRAM_BYTES),
        ("entry", pspin::PROGRAM_BASE + pspin::ENTRY),
        ("l2", pspin::HANDLER_BASE),
        ("l2_size", pspin::HANDLER_BYTES),
        ("area_size", pspin::L1_AREA_BYTES),
        ("resident", pspin::RESIDENT_CODE),
        ("resident_size", pspin::RESIDENT_CODE_BYTES),
    ] {
        writeln!(out, "__spin_{name} = {value:#x};")?;
    }
    Ok(())
}

/// Names of the runtime for addresses, behind `SPIN_`.
const RUNTIME: &[(&str, &[(&str, u32)])] = &[
    (
        "Registers of the HPU that runs the code: each HPU sees its own at these addresses.",
        &[
            ("TERMINATE_ADDR", pspin::TERMINATE),
            ("DMA_ADDR", pspin::DMA_BASE),
            ("HPU_ADDR", pspin::DRIVER_BASE),
        ],
    ),
    (
        "Registers of the cluster's instruction cache: a word to +0 turns it on, 1 to +4 empties it.",
        &[("ICACHE_ADDR", pspin::ICACHE_BASE)],
    ),
    (
        "Standard output: each HPU stores the words of its characters at an address with its cluster and its number.",
        &[
            ("STDOUT_ADDR", pspin::STDOUT),
            ("STDOUT_CLUSTER_SHIFT", pspin::STDOUT_CLUSTER_SHIFT),
            ("STDOUT_HPU_SHIFT", pspin::STDOUT_HPU_SHIFT),
        ],
    ),
    (
        "HWSCHED_PACKET_SUM: bits of the packet's size, above which its payload's sum is (packets.h).",
        &[("PACKET_SIZE_BITS", pspin::packet_size::SIZE_BITS as u32)],
    ),
    ("L2 handler memory.", &[("L2_ADDR", pspin::HANDLER_BASE)]),
    (
        "The L1 memory of cluster c starts at SPIN_L1_ADDR + (c << SPIN_L1_SHIFT), from every place that accesses it.",
        &[("L1_ADDR", pspin::L1_BASE), ("L1_SHIFT", pspin::L1_SHIFT)],
    ),
    (
        "Inside it: the runtime's contexts, its guard, one area for each HPU, with stack and thread-local variables, and scratchpads.",
        &[
            ("CONTEXT_OFFSET", pspin::L1_CONTEXTS),
            ("CONTEXT_SIZE", pspin::L1_CONTEXT_BYTES),
            ("GUARD_OFFSET", pspin::L1_GUARD),
            ("GUARD_SIZE", pspin::L1_GUARD_BYTES),
            ("AREA_OFFSET", pspin::L1_AREAS),
            ("AREA_SIZE", pspin::L1_AREA_BYTES),
            ("SCRATCHPADS_OFFSET", pspin::L1_SCRATCHPADS),
            ("SCRATCHPADS_SIZE", pspin::L1_BYTES - pspin::L1_SCRATCHPADS),
        ],
    ),
    (
        "The table of the resident runtime, and its entry for each context.",
        &[
            ("RESIDENT_ADDR", pspin::RESIDENT_DATA),
            ("RESIDENT_STATE", resident::STATE),
            ("RESIDENT_CLUSTERS", resident::CLUSTERS),
            ("RESIDENT_LOADS", resident::LOADS),
            ("RESIDENT_ENTRIES", resident::ENTRIES),
            ("RESIDENT_ENTRY_SHIFT", resident::ENTRY_BYTES.ilog2()),
            ("RESIDENT_CONTEXT_BITS", CONTEXTS.ilog2()),
            ("RESIDENT_ID", resident::ID),
            ("RESIDENT_GP", resident::GLOBAL_POINTER),
            ("RESIDENT_LOCALS", resident::LOCALS),
            ("RESIDENT_LOCALS_SIZE", resident::LOCALS_BYTES),
            ("RESIDENT_INIT", resident::INIT),
            ("RESIDENT_PROGRAM_STATE", resident::PROGRAM_STATE),
            ("RESIDENT_INIT_DONE", resident::INIT_DONE),
            ("RESIDENT_ID_SHIFT", resident::ID_SHIFT),
            ("RESIDENT_STARTING", resident::STARTING),
            ("RESIDENT_READY", resident::READY),
            ("RESIDENT_FAILED", resident::FAILED),
            ("RESIDENT_CLEARING", resident::CLEARING),
            ("RESIDENT_NOT_LOADED", resident::NOT_LOADED),
        ],
    ),
];

fn windows(out: &mut impl Write) -> fmt::Result {
    writeln!(out, "\n/* Windows of the application BAR. */")?;
    writeln!(
        out,
        "#define SPINNERET_BAR_SIZE {:#x}u",
        1_u32 << bar::ADDRESS_BITS
    )?;
    for (name, window) in [
        ("HANDLER_MEMORY", bar::HANDLER_AND_PACKET_MEMORY),
        ("PROGRAM_MEMORY", bar::PROGRAM_MEMORY),
        ("REGISTERS", bar::CONTROL_REGISTERS),
    ] {
        writeln!(out, "#define SPINNERET_BAR_{name}_OFFSET {:#08x}u", window.start)?;
        writeln!(out, "#define SPINNERET_BAR_{name}_SIZE {:#x}u", window.size_bytes)?;
        if let bar::Target::Pspin { address } = window.target {
            writeln!(out, "#define SPINNERET_BAR_{name}_PSPIN_ADDRESS {address:#010x}u")?;
        }
    }
    Ok(())
}

fn register(out: &mut impl Write, register: &Register) -> fmt::Result {
    let name = Upper(register.group, register.name);
    writeln!(
        out,
        "/* {register} ({}): {} */",
        register.access, register.description
    )?;
    writeln!(out, "#define SPINNERET_{name}_OFFSET {:#06x}u", register.offset)?;
    if register.count > 1 {
        writeln!(out, "#define SPINNERET_{name}_COUNT {}u", register.count)?;
    }
    if let Bits::All(mask) = register.bits {
        writeln!(out, "#define SPINNERET_{name}_BITS {mask:#010x}u")?;
    }
    if let Reset::All(value) = register.reset {
        writeln!(out, "#define SPINNERET_{name}_RESET {value:#010x}u")?;
    }
    for (index, element) in (0..).zip(register.elements) {
        let name = Upper(register.group, element);
        let offset = register.offset + REGISTER_BYTES * index;
        writeln!(out, "#define SPINNERET_{name}_OFFSET {offset:#06x}u")?;
        writeln!(
            out,
            "#define SPINNERET_{name}_BITS {:#010x}u",
            register.bits.mask(index)
        )?;
        if let Some(value) = register.reset.value(index) {
            writeln!(out, "#define SPINNERET_{name}_RESET {value:#010x}u")?;
        }
    }
    for field in register.fields {
        let field_name = Upper(register.name, field.name);
        let group = Upper(register.group, "");
        writeln!(out, "/* {} */", field.description)?;
        writeln!(
            out,
            "#define SPINNERET_{group}{field_name}_MASK {:#010x}u",
            field.mask()
        )?;
        writeln!(out, "#define SPINNERET_{group}{field_name}_SHIFT {}u", field.bit)?;
    }
    Ok(())
}

/// Shows two parts of a name in capitals, joined by `_`.
struct Upper<'a>(&'a str, &'a str);

impl fmt::Display for Upper<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars().chain(['_']).chain(self.1.chars()) {
            f.write_char(letter.to_ascii_uppercase())?;
        }
        Ok(())
    }
}

const BEGIN: &str = "\
/*
 * Registers of spinneret.
 *
 * Generated from the tables of the crate spinneret-regmap: change those, then run `./dev docs`.
 * Offsets of registers count from the start of the window SPINNERET_BAR_REGISTERS_OFFSET of the application
 * BAR; element i of a register is at its offset + SPINNERET_REGISTER_BYTES * i. Registers are 32-bit
 * little-endian words.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef SPINNERET_REGS_H
#define SPINNERET_REGS_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

";

const MAP_BEGIN: &str = "\
/*
 * Addresses of the cluster.
 *
 * Generated from the tables of the crate spinneret-regmap: change those, then run `./dev docs`.
 */
#ifndef SPIN_MAP_H
#define SPIN_MAP_H
";

const SCRIPT_BEGIN: &str = "\
/*
 * Where a program lies, for link.ld.
 *
 * Generated from the tables of the crate spinneret-regmap: change those, then run `./dev docs`.
 */
";

const END: &str = "
/* Element of me.idx, me.mask, me.start, me.end and me.relative of a rule. */
static inline uint32_t spinneret_rule_element(uint32_t ruleset, uint32_t rule)
{
    return ruleset * SPINNERET_RULES_PER_RULESET + rule;
}

/* Offset of element `index` of a register. */
static inline uint32_t spinneret_element(uint32_t offset, uint32_t index)
{
    return offset + SPINNERET_REGISTER_BYTES * index;
}

/* A mask, start or end of a rule as its register holds it, and back: the bytes in the other order. */
static inline uint32_t spinneret_rule_bytes(uint32_t value)
{
    return (value & 0xffu) << 24 | (value & 0xff00u) << 8 | (value >> 8 & 0xff00u) | value >> 24;
}

#endif
";

/// Writes the table of registers for the kernel driver, `kernel/table.h`: for each register a call of a macro, which the including file defines.
///
/// # Errors
/// Only those of `out`.
pub fn kernel_table(out: &mut impl Write) -> fmt::Result {
    out.write_str(KERNEL_BEGIN)?;
    registers().try_for_each(|register| kernel_line(out, register))
}

fn kernel_line(out: &mut impl Write, register: &Register) -> fmt::Result {
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

const KERNEL_BEGIN: &str = "\
/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Control registers: group, name, offset, elements, access, and whether the public design does not have it.
 *
 * Generated from the tables of the crate spinneret-regmap: change those, then run `./dev docs`.
 */
";
