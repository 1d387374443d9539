//! From a block and its harness to a problem for the solver.

use super::{FOUND, Proof, twins};
use anyhow::{Context, Result, anyhow, bail};
use spinneret_hdl::catalog;
use spinneret_hdl::entry::Config;
use spinneret_isa::{Row, TABLE, rules};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// Modules that harnesses have in common.
const SHARED: &[&str] = &[
    "stream_rules.sv",
    "axi_write_rules.sv",
    "queue_invariant.sv",
    "list_invariant.sv",
    "transfer_ring_rules.sv",
    "pointer_rules.sv",
];

/// A mark of harnesses whose clocks come as the solver likes.
const FREE_CLOCKS: &str = "(* clocks = \"free\" *)";

/// A proof that is ready for the solver.
#[derive(Clone, Debug)]
pub struct Problem {
    pub(super) proof: Proof,
    /// Folder of the problem and of the counterexample.
    pub(super) folder: PathBuf,
    /// Clocks from the start to check: their number, or the first and the number.
    pub(super) clocks: String,
}

/// Generates the block's text and translates it together with its harness.
///
/// # Errors
/// The block cannot be generated, or yosys is missing or refuses the harness.
pub fn prepare(proof: &Proof, folder: &Path) -> Result<Problem> {
    translate(proof, &text(proof)?, folder, true)
}

/// The block's text, as it is shipped.
///
/// # Errors
/// The catalog does not know the block, or refuses its parameters.
pub fn text(proof: &Proof) -> Result<String> {
    let entry = catalog::find(proof.block)
        .with_context(|| format!("{}: the catalog has no block `{}`", proof.name, proof.block))?;
    let mut values = entry.values(Config::Reference);
    for (name, value) in &proof.settings {
        if values.insert((*name).to_owned(), *value).is_none() {
            bail!("{}: {} has no parameter `{name}`", proof.name, proof.block);
        }
    }
    let block = (entry.build)(&values)?;
    Ok(spinneret_verilog::generate(&*block, entry.name)?.text())
}

/// Translates a text that was broken on purpose, with the part of the harness that knows the ports only: what
/// is violated then is a promise, and not a relation between registers.
///
/// # Errors
/// yosys is missing or refuses text or harness.
pub fn prepare_broken(proof: &Proof, text: &str, folder: &Path) -> Result<Problem> {
    let problem = translate(proof, text, folder, false)?;
    let clocks = proof
        .choice(FOUND)
        .map_or_else(|| problem.clocks.clone(), str::to_owned);
    Ok(Problem { clocks, ..problem })
}

fn translate(proof: &Proof, text: &str, folder: &Path, inside: bool) -> Result<Problem> {
    let folder = folder.join(proof.name);
    let failed = |error: io::Error| anyhow!("cannot write to {}: {error}", folder.display());
    // A counterexample of an earlier run must not be confused with one of this run.
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    fs::write(folder.join("block.sv"), text).map_err(failed)?;
    fs::write(folder.join("rules.sv"), effects(proof)?).map_err(failed)?;
    let source = harness(proof, text)?;
    fs::write(folder.join("harness.sv"), &source).map_err(failed)?;
    fs::write(folder.join("translate.ys"), script(proof, &source, inside)?).map_err(failed)?;
    let output = Command::new("yosys")
        .args(["-q", "-s", "translate.ys"])
        .current_dir(&folder)
        .output();
    let output = output.map_err(|error| missing("yosys", &error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said
            .lines()
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join("; ");
        bail!("{}: yosys refuses text or harness: {said}", proof.name);
    }
    Ok(Problem {
        proof: proof.clone(),
        clocks: proof.method.cycles().to_string(),
        folder,
    })
}

/// The error for a tool that cannot be run.
pub(super) fn missing(tool: &str, error: &io::Error) -> anyhow::Error {
    anyhow!("{tool} cannot be run ({error}): install it with `./dev setup`")
}

/// All input of the solver next to the block's text: the harness with what it shares, and what is done with it.
pub(super) fn inputs(proof: &Proof, text: &str, inside: bool) -> Result<String> {
    let harnesses = Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs");
    let source = harness(proof, text)?;
    // Where files lie does not matter.
    let own = format!("\"/{}.sv\"", proof.harness());
    let script = script(proof, &source, inside)?.replace("harness.sv", &own);
    let mut all = script.replace(&harnesses.display().to_string(), "");
    all.push_str(&effects(proof)?);
    for file in SHARED {
        all.push_str(&read(&harnesses.join(file))?);
    }
    all.push_str(&source);
    all.push_str(&read(&harnesses.join("free_clocks.v"))?);
    Ok(all)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The harness of a proof about this text.
fn harness(proof: &Proof, text: &str) -> Result<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs");
    let source = read(&folder.join(format!("{}.sv", proof.harness())))?;
    twins::expanded(&source, text)
}

/// The effects of the instructions that a proof compares with; empty if it does not.
fn effects(proof: &Proof) -> Result<String> {
    let wanted = |row: &&Row| {
        let unit = format!("{:?}", row.unit).to_lowercase();
        proof.choices.contains(&("rules", unit.as_str()))
    };
    let mut rows = TABLE.iter().filter(wanted).peekable();
    if rows.peek().is_none() {
        return Ok(String::new());
    }
    rules(rows).map_err(|wrong| anyhow!("{}: {wrong}", proof.name))
}

/// Memories become registers, one for each place, so that a harness can look at them. With free clocks, every step
/// of the solver is an instant at which any of them may rise. `check -assert`
/// refuses a harness that looks at something that is not there.
fn script(proof: &Proof, source: &str, inside: bool) -> Result<String> {
    let harnesses = Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs");
    let macros = macros(proof, inside);
    let rules = if proof.choice("rules").is_some() {
        " rules.sv"
    } else {
        ""
    };
    let mut script = format!("read_verilog -sv block.sv{rules}\nread_verilog -sv -formal");
    for name in &macros {
        write!(script, " -D {name}")?;
    }
    for file in SHARED.iter().map(|file| harnesses.join(file)) {
        write!(script, " \"{}\"", file.display())?;
    }
    writeln!(script, " harness.sv")?;
    writeln!(script, "hierarchy -check -top {}_proof", proof.harness())?;
    script.push_str("proc\nmemory_dff\nmemory_collect\nmemory_map\nflatten\n");
    for (wire, signal) in active_lines(source, &macros).filter_map(|line| mark("drives", line)) {
        writeln!(script, "connect -nomap -set \\{signal} \\{wire}")?;
    }
    for (wire, signal) in active_lines(source, &macros).filter_map(|line| mark("internal", line)) {
        writeln!(script, "connect -nomap -nounset -set \\{wire} \\{signal}")?;
    }
    if source.contains(FREE_CLOCKS) {
        let map = harnesses.join("free_clocks.v");
        writeln!(script, "dffunmap\ntechmap -map \"{}\"", map.display())?;
    }
    script.push_str("opt_clean\ncheck -assert\nwrite_smt2 -wires problem.smt2\n");
    Ok(script)
}

/// Macros of a harness: each parameter with its value, and one that has the value in its name, because
/// `ifdef cannot ask for a value.
fn macros(proof: &Proof, inside: bool) -> Vec<String> {
    let settings = proof.settings.iter().flat_map(|(name, value)| {
        let name = name.to_uppercase();
        [format!("{name}={value}"), format!("{name}_{value}")]
    });
    let choices = proof
        .choices
        .iter()
        .filter(|(name, _)| *name != FOUND)
        .map(|(name, value)| format!("{name}_{value}").to_uppercase());
    let contract_only = (!inside).then(|| "CONTRACT_ONLY".to_owned());
    settings.chain(choices).chain(contract_only).collect()
}

/// The lines that `ifdef and `ifndef leave.
fn active_lines<'a>(source: &'a str, macros: &'a [String]) -> impl Iterator<Item = &'a str> {
    let mut conditions: Vec<bool> = Vec::new();
    let defined = |name: &str| macros.iter().any(|known| known == name);
    source.lines().filter(move |line| {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("`ifdef ") {
            conditions.push(defined(name));
        } else if let Some(name) = line.strip_prefix("`ifndef ") {
            conditions.push(!defined(name));
        } else if line == "`else" {
            if let Some(condition) = conditions.last_mut() {
                *condition = !*condition;
            }
        } else if line == "`endif" {
            conditions.pop();
        }
        conditions.iter().all(|condition| *condition)
    })
}

/// A wire that shows a signal inside the block, `(* internal = "dut.count" *) wire [2:0] count;`, or that drives it instead of the
/// block, `(* drives = "dut.word" *) wire [31:0] word;`.
pub(super) fn mark<'a>(kind: &str, line: &'a str) -> Option<(&'a str, &'a str)> {
    let (inside, rest) = line
        .trim()
        .strip_prefix("(* ")?
        .strip_prefix(kind)?
        .strip_prefix(" = \"")?
        .split_once("\" *) wire ")?;
    let wire = rest.rsplit(' ').next()?.strip_suffix(';')?;
    Some((wire, inside))
}

#[cfg(test)]
mod tests {
    use super::{active_lines, mark};

    #[test]
    fn finds_wires_that_look_into_the_block() {
        let line = r#"    (* internal = "dut.u_memory.memory[0]" *) wire [WIDTH-1:0] cell_0;"#;
        assert_eq!(mark("internal", line), Some(("cell_0", "dut.u_memory.memory[0]")));
        let line = r#"(* internal = "dut.stored" *) wire stored;"#;
        assert_eq!(mark("internal", line), Some(("stored", "dut.stored")));
        assert_eq!(mark("drives", line), None);
        assert_eq!(mark("internal", "    wire stored;"), None);
    }

    #[test]
    fn follows_conditions() {
        let source = "a\n`ifdef DEPTH_2\nb\n`else\nc\n`endif\n`ifndef DEPTH_2\nd\n`endif\ne";
        let active = |macros: &[String]| {
            let lines = active_lines(source, macros).filter(|line| !line.starts_with('`'));
            lines.collect::<String>()
        };
        assert_eq!(active(&["DEPTH_2".to_owned()]), "abe");
        assert_eq!(active(&[]), "acde");
    }
}
