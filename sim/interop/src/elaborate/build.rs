//! What Corundum's Makefiles and `config.tcl` say about a card, asked for by the tools that read them in a real build.

use super::written::write;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A card's build as Vivado would be told.
pub(super) struct Build {
    /// The folder of the card's Makefile.
    pub(super) folder: PathBuf,
    /// The files to synthesize, absolute, without links in their paths.
    pub(super) files: Vec<PathBuf>,
    /// Parameters of the top module: names and values.
    pub(super) parameters: Vec<(String, String)>,
    /// The path of the application block below the top module, to which our constraints are limited.
    pub(super) scope: String,
}

/// What stands for Vivado: properties are kept and answered, and what is known of IP cores is what their scripts set.
/// Other commands do nothing. Only what is read here is printed.
const VIVADO: &str = r#"
proc unknown {args} { return "" }
proc puts {args} {}
proc get_ips {args} { return [lindex $args end] }
proc get_filesets {args} { return [lindex $args end] }
proc get_files {args} { return [lindex $args end] }
proc current_fileset {args} { return sources_1 }
array set spinneret_kept {}
proc get_property {name object} {
    set key [string tolower "$object $name"]
    if {[info exists ::spinneret_kept($key)]} { return $::spinneret_kept($key) }
    return ""
}
proc set_property {args} {
    set object [lindex $args end]
    set pairs [lrange $args 0 end-1]
    if {[lindex $pairs 0] eq "-dict"} { set pairs [lindex $pairs 1] }
    foreach {name value} $pairs {
        set ::spinneret_kept([string tolower "$object $name"]) $value
        if {$name eq "generic"} { foreach pair $value { spinneret_say "parameter $pair" } }
        if {$name eq "SCOPED_TO_CELLS"} { spinneret_say "scope $value" }
    }
}
"#;

impl Build {
    /// Makes the overlay in a card's folder, and asks for its lists.
    pub(super) fn new(card: &Path, root: &Path) -> Result<Self> {
        let overlay = card.join("fpga");
        run(make(&overlay).arg("overlay"))?;
        let relative = list(&overlay, "$(BUILD)")?.concat();
        let folder = overlay.join(relative);
        let mut files = Vec::new();
        for name in list(&folder, "$(SYN_FILES_REL)")? {
            let path = folder.join(&name);
            let file = path.canonicalize();
            files.push(file.with_context(|| format!("{} lists {name}", folder.join("Makefile").display()))?);
        }
        let scripts = list(&folder, "$(IP_TCL_FILES_REL) $(CONFIG_TCL_FILES_REL)")?;
        let said = tcl(&folder, root, &scripts)?;
        let (parameters, scope) = read(&said);
        if parameters.is_empty() || scope.is_empty() {
            bail!(
                "config.tcl of {} sets no parameters or no path of the application block: check out a revision of Corundum \
                 that `gen-verilog --board` takes",
                folder.display()
            );
        }
        Ok(Self {
            folder,
            files,
            parameters,
            scope,
        })
    }
}

/// Reads what the scripts said: the parameters, of which the last of a name counts, and the scope.
fn read(said: &str) -> (Vec<(String, String)>, String) {
    let mut parameters: Vec<(String, String)> = Vec::new();
    let mut scope = String::new();
    for line in said.lines() {
        if let Some(path) = line.strip_prefix("scope ") {
            path.clone_into(&mut scope);
        }
        let pair = line
            .strip_prefix("parameter ")
            .and_then(|pair| pair.split_once('='));
        if let Some((name, value)) = pair {
            parameters.retain(|(other, _)| other != name);
            parameters.push((name.to_owned(), value.to_owned()));
        }
    }
    (parameters, scope)
}

/// Runs scripts as Vivado would, in the interpreter that comes with yosys; answers what they said.
fn tcl(folder: &Path, root: &Path, scripts: &[String]) -> Result<String> {
    let said = root.join("said");
    let mut text = format!(
        "set spinneret_answers [open {{{}}} w]\nrename puts spinneret_puts\n\
         proc spinneret_say {{line}} {{ spinneret_puts $::spinneret_answers $line }}\n{VIVADO}",
        said.display()
    );
    for script in scripts {
        text.push_str(&format!("source {{{script}}}\n"));
    }
    text.push_str("close $spinneret_answers\n");
    let runner = root.join("run.tcl");
    write(&runner, &text)?;
    run(Command::new("yosys")
        .args(["-q", "-c"])
        .arg(&runner)
        .current_dir(folder))?;
    std::fs::read_to_string(&said).with_context(|| format!("cannot read {}", said.display()))
}

/// The words of a variable in a folder's Makefile.
fn list(folder: &Path, variables: &str) -> Result<Vec<String>> {
    let rule = format!("spinneret-list: ; @printf '%s\\n' {variables}");
    let said = run(make(folder).arg(format!("--eval={rule}")).arg("spinneret-list"))?;
    Ok(said.split_whitespace().map(str::to_owned).collect())
}

fn make(folder: &Path) -> Command {
    let mut command = Command::new("make");
    command
        .args(["--silent", "--no-print-directory", "-C"])
        .arg(folder);
    command
}

/// What a program prints; all that it says if it fails.
fn run(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("cannot run {program}: `./dev setup` installs it"))?;
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        bail!("{program} fails: {}", String::from_utf8_lossy(&said).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{list, read, tcl};
    use std::fs;

    #[test]
    fn the_last_value_of_a_parameter_counts() {
        let (parameters, scope) = read("parameter A=1\nparameter B=32'h0\nscope a/b\nother\nparameter A=2\n");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(parameters, [pair("B", "32'h0"), pair("A", "2")]);
        assert_eq!(scope, "a/b");
    }

    #[test]
    fn scripts_run_without_the_vendors_tool() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(
            folder.path().join("ip.tcl"),
            "create_ip -name pcie -module_name pcie_0\n\
             set_property -dict [list CONFIG.Width {512_bit} CONFIG.OTHER {1}] [get_ips pcie_0]\n",
        )
        .unwrap();
        fs::write(
            folder.path().join("config.tcl"),
            "puts \"parameter NO=1\"\ndict set params A 32'h5\n\
             dict set params WIDTH [regexp -all -inline -- {[0-9]+} [get_property CONFIG.WIDTH [get_ips pcie_0]]]\n\
             foreach {name value} $params { lappend list $name=$value }\n\
             set_property generic $list [get_filesets sources_1]\n\
             set_property SCOPED_TO_CELLS {a/b} [get_files */x.xdc]\n",
        )
        .unwrap();
        let scripts = ["ip.tcl", "config.tcl"].map(str::to_owned);
        let said = tcl(folder.path(), folder.path(), &scripts).unwrap();
        assert_eq!(said, "parameter A=32'h5\nparameter WIDTH=512\nscope a/b\n");
        fs::write(folder.path().join("config.tcl"), "error \"no hash\"\n").unwrap();
        let error = tcl(folder.path(), folder.path(), &scripts).unwrap_err();
        assert!(error.to_string().contains("no hash"), "{error}");
    }

    #[test]
    fn a_makefile_is_asked_for_its_lists() {
        let folder = tempfile::tempdir().unwrap();
        let text = "A = a $(B)\nall: ; @echo no\nB := b\nA += c\n";
        fs::write(folder.path().join("Makefile"), text).unwrap();
        assert_eq!(list(folder.path(), "$(A)").unwrap(), ["a", "b", "c"]);
    }
}
