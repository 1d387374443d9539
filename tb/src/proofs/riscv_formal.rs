//! The checks of riscv-formal, from a checkout, on the pipeline of HPUs; `tb/proofs/riscv_formal.sv` is the core that they see.

use super::question::{passed, said, yices};
use super::translate::{mark, missing};
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use spinneret_hdl::catalog;
use spinneret_hdl::entry::Config;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs};

/// The clock of the reset and of a second instruction of some threads.
const EARLY: u32 = 20;
/// That of a third one.
const LATE: u32 = 30;
/// Checks other than those of instructions: name, clock that is checked, clock of the instruction that it is about. An
/// instruction ends in two slots if memory takes all offers, and a division in its first.
const CHECKS: [(&str, u32, Option<u32>); 8] = [
    ("ill", EARLY, None),
    ("reg", LATE, None),
    ("pc_fwd", LATE, None),
    ("pc_bwd", LATE, None),
    ("causal", LATE, None),
    ("unique", LATE, Some(EARLY)),
    ("liveness", EARLY + 17, Some(EARLY)),
    ("hang", LATE, None),
];

/// A check of riscv-formal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// `insn_NAME`, or the name of its file without `rvfi_` and `_check.sv`.
    pub name: String,
    clock: u32,
    trigger: Option<u32>,
}

/// Result of a check.
#[derive(Clone, Debug)]
pub struct Answer {
    /// It holds.
    pub holds: bool,
    /// Time that it took.
    pub time: Duration,
    /// Folder of the problem and of a counterexample.
    pub folder: PathBuf,
}

/// The checks that apply, of a checkout.
///
/// # Errors
/// The folder is not such a checkout.
pub fn checks(checkout: &Path) -> Result<Vec<Check>> {
    let list = checkout.join("insns/isa_rv32imc.txt");
    let list = fs::read_to_string(&list).map_err(|error| {
        let list = list.display();
        anyhow!(
            "{} is not a checkout of riscv-formal: {list}: {error}",
            checkout.display()
        )
    })?;
    let instructions = list.split_whitespace().map(|name| Check {
        name: format!("insn_{name}"),
        clock: EARLY,
        trigger: None,
    });
    let others = CHECKS.iter().map(|(name, clock, trigger)| Check {
        name: (*name).to_owned(),
        clock: *clock,
        trigger: *trigger,
    });
    Ok(instructions.chain(others).collect())
}

/// The pipeline that is checked.
///
/// # Errors
/// It cannot be generated.
pub fn core() -> Result<String> {
    let entry = catalog::find("hpu_pipeline").context("the catalog has no block `hpu_pipeline`")?;
    let mut values = entry.values(Config::Reference);
    for (name, value) in [("threads", 8), ("ranges", 0), ("program_words", 64), ("trace", 1)] {
        values.insert(name.to_owned(), value);
    }
    let block = (entry.build)(&values)?;
    Ok(spinneret_verilog::generate(&*block, entry.name)?.text())
}

impl Check {
    /// Runs the check on the text of a core.
    ///
    /// # Errors
    /// A tool is missing, refuses what it is given, or gives up.
    pub fn run(&self, checkout: &Path, core: &str, folder: &Path) -> Result<Answer> {
        let start = Instant::now();
        let folder = folder.join(&self.name);
        let failed = |error| anyhow!("cannot write to {}: {error}", folder.display());
        fs::create_dir_all(&folder).map_err(failed)?;
        fs::write(folder.join("block.sv"), core).map_err(failed)?;
        fs::write(folder.join("check.sv"), self.source()).map_err(failed)?;
        fs::write(folder.join("translate.ys"), script(checkout)?).map_err(failed)?;
        let mut yosys = Command::new("yosys");
        let output = yosys
            .args(["-q", "-s", "translate.ys"])
            .current_dir(&folder)
            .output();
        let output = output.map_err(|error| missing("yosys", &error))?;
        ensure!(
            output.status.success(),
            "{}: yosys refuses it: {}",
            self.name,
            said(&output).trim()
        );
        let mut solver = Command::new("yosys-smtbmc");
        let output = solver
            .env("PATH", format!("{}:{}", yices()?, env::var("PATH")?))
            .args([
                "-s",
                "yices",
                "--noprogress",
                "--timeout",
                "600",
                "--dump-vcd",
                "counterexample.vcd",
                "-t",
            ])
            .arg(format!("{}:{}", self.clock, self.clock + 1))
            .arg("problem.smt2")
            .current_dir(&folder)
            .output()
            .map_err(|error| missing("yosys-smtbmc", &error))?;
        let holds = passed(&output);
        if !holds && !said(&output).contains("Status: FAILED") {
            let said = said(&output);
            bail!(
                "{}: no answer: {}",
                self.name,
                said.lines().next_back().unwrap_or("it said nothing")
            );
        }
        let time = start.elapsed();
        Ok(Answer { holds, time, folder })
    }

    /// The text that makes a check of the parts of the checkout and our core.
    fn source(&self) -> String {
        let instruction = self.name.strip_prefix("insn_");
        let checker = format!("rvfi_{}_check", instruction.map_or(&*self.name, |_| "insn"));
        let mut text = String::new();
        let defines = [
            ("", "1".to_owned()),
            ("_NRET", "1".to_owned()),
            ("_XLEN", "32".to_owned()),
            ("_ILEN", "32".to_owned()),
            ("_COMPRESSED", "1".to_owned()),
            ("_ALTOPS", "1".to_owned()),
            ("_RESET_CYCLES", "1".to_owned()),
            ("_CHANNEL_IDX", "0".to_owned()),
            ("_CHECK_CYCLE", self.clock.to_string()),
            ("_CHECKER", checker.clone()),
        ];
        let trigger = self.trigger.map(|clock| ("_TRIG_CYCLE", clock.to_string()));
        let model = instruction.map(|name| ("_INSN_MODEL", format!("rvfi_insn_{name}")));
        for (name, value) in defines.into_iter().chain(trigger).chain(model) {
            let _ = writeln!(text, "`define RISCV_FORMAL{name} {value}");
        }
        if matches!(&*self.name, "liveness" | "hang") {
            text.push_str("`define ENDS\n");
        }
        let model = instruction.map(|name| format!("insn_{name}.v"));
        let own = ["rvfi_macros.vh", "rvfi_testbench.sv"].map(str::to_owned);
        let files = own.into_iter().chain([format!("{checker}.sv")]).chain(model);
        for file in files.chain(["riscv_formal.sv".to_owned()]) {
            let _ = writeln!(text, "`include \"{file}\"");
        }
        text
    }
}

/// The script of yosys.
fn script(checkout: &Path) -> Result<String> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs");
    let wrapper = ours.join("riscv_formal.sv");
    let wrapper =
        fs::read_to_string(&wrapper).with_context(|| format!("cannot read {}", wrapper.display()))?;
    let checkout = fs::canonicalize(checkout)?;
    let mut script = format!(
        "read_verilog -sv block.sv\nread_verilog -sv -formal -I {0}/checks -I {0}/insns -I {1} check.sv\n\
         hierarchy -check -top rvfi_testbench\nproc\nmemory_dff\nmemory_collect\nmemory_map\nflatten\n",
        checkout.display(),
        ours.display(),
    );
    for (wire, signal) in wrapper.lines().filter_map(|line| mark("drives", line)) {
        writeln!(script, "connect -nomap -set \\wrapper.{signal} \\wrapper.{wire}")?;
    }
    for (wire, signal) in wrapper.lines().filter_map(|line| mark("internal", line)) {
        writeln!(
            script,
            "connect -nomap -nounset -set \\wrapper.{wire} \\wrapper.{signal}"
        )?;
    }
    script.push_str("opt_clean\ncheck -assert\nwrite_smt2 -wires problem.smt2\n");
    Ok(script)
}

#[cfg(test)]
mod tests {
    use super::{Check, checks};
    use std::path::Path;

    #[test]
    fn a_folder_that_is_no_checkout_is_refused() {
        let error = checks(Path::new("/nowhere")).map(|_| ()).unwrap_err().to_string();
        assert!(
            error.starts_with("/nowhere is not a checkout of riscv-formal: "),
            "{error}"
        );
    }

    #[test]
    fn a_check_of_an_instruction_includes_its_model() {
        let check = Check {
            name: "insn_add".to_owned(),
            clock: 20,
            trigger: None,
        };
        let text = check.source();
        for line in [
            "`define RISCV_FORMAL_CHECKER rvfi_insn_check",
            "`include \"insn_add.v\"",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}
