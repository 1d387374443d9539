//! Proofs about two copies of a block, `a` and `b`: what the harness says of each register and each memory of a thread.
//!
//! A harness asks for it by comments. `// twins: u_csrs u_divider, not total` stands for: a register `NAME_n` of the block, or
//! of these blocks in it, has the same value in both copies when the chosen thread is in stage n, and is 0 before the first slot
//! if it has a reset. `// memory: u_csrs.mtvec 30 6` stands for: this memory is cut off; in stage 6 the chosen thread reads its own
//! word, any of 30 bits but the same in both copies, because the same is written there at the same time. A fourth number is that of
//! address bits above the thread, for memories with several words a thread.

use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Returns the harness with these comments replaced.
///
/// # Errors
/// A comment is malformed, or names a block that is not in the text.
pub(super) fn expanded(harness: &str, text: &str) -> Result<String> {
    let mut all = String::new();
    for line in harness.lines() {
        let wanted = line.trim();
        if let Some(wanted) = wanted.strip_prefix("// twins: ") {
            registers(&mut all, wanted, text).with_context(|| wanted.to_owned())?;
        } else if let Some(wanted) = wanted.strip_prefix("// memory: ") {
            memory(&mut all, wanted).with_context(|| wanted.to_owned())?;
        } else {
            writeln!(all, "{line}")?;
        }
    }
    Ok(all)
}

fn registers(all: &mut String, wanted: &str, text: &str) -> Result<()> {
    let (blocks, not) = wanted.split_once(", not ").unwrap_or((wanted, ""));
    let top = body(text, text.rfind("\nmodule ").context("no module")? + 1);
    let mut stages: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let mut zero = String::new();
    for place in [""].into_iter().chain(blocks.split(' ')) {
        let (prefix, module) = if place.is_empty() {
            (String::new(), top)
        } else {
            let line = top.lines().find(|line| line.contains(&format!(" {place} (")));
            let name = line
                .and_then(|line| line.split_whitespace().next())
                .context("no such block")?;
            let start = text
                .find(&format!("\nmodule {name} ("))
                .context("no such module")?;
            (format!("{place}."), body(text, start + 1))
        };
        for declaration in module.lines().filter_map(|line| line.strip_prefix("    logic ")) {
            let declaration = declaration.split(';').next().unwrap_or_default();
            let (declaration, reset) = declaration.split_once(" = ").unwrap_or((declaration, ""));
            let (width, name) = declaration.rsplit_once(' ').unwrap_or(("", declaration));
            let Some((base, stage)) = name.rsplit_once('_') else {
                continue;
            };
            let is_excluded = base == "signal" || not.split(' ').any(|excluded| excluded == base);
            let Ok(stage @ 1..=9) = stage.parse::<u32>() else {
                continue;
            };
            if is_excluded || !module.contains(&format!("        {name} <= ")) {
                continue;
            }
            let wire = format!("{prefix}{name}").replace('.', "_");
            for copy in ["a", "b"] {
                writeln!(
                    all,
                    "    (* internal = \"{copy}.{prefix}{name}\" *) wire {width} {copy}_twin_{wire};"
                )?;
            }
            if !reset.is_empty() {
                writeln!(
                    zero,
                    "        if (age != 0 && !since[{stage}]) assert (a_twin_{wire} == 0 && b_twin_{wire} == 0);"
                )?;
            }
            stages.entry(stage).or_default().push(wire);
        }
    }
    writeln!(all, "    always @* begin\n{zero}    end")?;
    for (stage, wires) in stages {
        let of = |copy: &str| {
            wires
                .iter()
                .map(|wire| format!("{copy}_twin_{wire}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        writeln!(
            all,
            "    always @* if (at[{stage}] && since[{stage}]) same_registers_{stage}: assert ({{{}}} == {{{}}});",
            of("a"),
            of("b")
        )?;
    }
    Ok(())
}

/// The module that begins there.
fn body(text: &str, start: usize) -> &str {
    let rest = &text[start..];
    &rest[..rest.find("\nendmodule").unwrap_or(rest.len())]
}

fn memory(all: &mut String, wanted: &str) -> Result<()> {
    let mut parts = wanted.split(' ');
    let (mut next, form) = (|| parts.next(), "PATH WIDTH STAGE");
    let (path, width, stage) = (
        next().context(form)?,
        next().context(form)?,
        next().context(form)?,
    );
    let above = next().unwrap_or("0");
    let (place, name) = path
        .rsplit_once('.')
        .map_or(("", path), |(place, name)| (place, name));
    let place = if place.is_empty() {
        String::new()
    } else {
        format!("{place}.")
    };
    for copy in ["a", "b"] {
        writeln!(all, "    (* anyseq *) wire [{width}-1:0] {copy}_free_{name};")?;
        writeln!(
            all,
            "    (* drives = \"{copy}.{place}{name}_read_data\" *) wire [{width}-1:0] {copy}_read_{name} = {copy}_free_{name};"
        )?;
        for (port, width) in [
            ("write_enable", ""),
            ("write_addr", "[INDEX+ABOVE-1:0]"),
            ("read_addr", "[INDEX+ABOVE-1:0]"),
        ] {
            let width = width.replace("ABOVE", above);
            writeln!(
                all,
                "    (* internal = \"{copy}.{place}u_{name}.{port}\" *) wire {width} {copy}_{port}_{name};"
            )?;
        }
        writeln!(
            all,
            "    (* internal = \"{copy}.{place}u_{name}.write_data\" *) wire [{width}-1:0] {copy}_write_data_{name};"
        )?;
        writeln!(
            all,
            "    wire {copy}_hits_{name} = {copy}_write_enable_{name} && {copy}_write_addr_{name}[INDEX-1:0] == chosen;"
        )?;
    }
    let both = |signal: &str| [format!("a_{signal}_{name}"), format!("b_{signal}_{name}")];
    let ([a_free, b_free], [a_from, b_from]) = (both("free"), both("read_addr"));
    let ([a_hits, b_hits], [a_data, b_data]) = (both("hits"), both("write_data"));
    let [a_to, b_to] = both("write_addr");
    writeln!(
        all,
        "    always @* begin\n        if (at[{stage}]) assume ({a_free} == {b_free});"
    )?;
    writeln!(
        all,
        "        if (at[{stage}] && since[{stage}]) reads_{name}: assert ({a_from} == {b_from} && {a_from}[INDEX-1:0] == chosen);"
    )?;
    writeln!(
        all,
        "        if (age > 4) writes_{name}: assert ({a_hits} == {b_hits} && (!{a_hits} || {{{a_to}, {a_data}}} == {{{b_to}, {b_data}}}));\n    end"
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::expanded;

    const BLOCK: &str = "\nmodule csrs (\n    logic [4:0] status_6 = 5'd0;\n        status_6 <= status;\nendmodule\n\
                         \nmodule top (\n    logic [31:0] pc_1;\n    logic next_2;\n    logic total_3;\n        pc_1 <= pc;\n        \
                         total_3 <= 1;\n    csrs u_csrs (\nendmodule\n";

    #[test]
    fn names_registers_of_stages() {
        let text = expanded("a\n  // twins: u_csrs, not total\n", BLOCK).expect("a comment of that form");
        for part in [
            "\"b.pc_1\" *) wire [31:0] b_twin_pc_1;",
            "since[6]) assert (a_twin_u_csrs_status_6 == 0",
            "({a_twin_pc_1} == {b_twin_pc_1});",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("total_3") && !text.contains("next_2"), "{text}");
    }

    #[test]
    fn refuses_comments_of_another_form() {
        assert!(expanded("// twins: u_none", BLOCK).is_err());
        assert!(expanded("// memory: saved 32", BLOCK).is_err());
        let text = expanded("// memory: saved 32 8", BLOCK).expect("a comment of that form");
        assert!(
            text.contains("\"a.u_saved.write_data\" *) wire [32-1:0]"),
            "{text}"
        );
    }
}
