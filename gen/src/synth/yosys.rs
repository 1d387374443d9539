//! Runs yosys on a folder that gen-verilog wrote.

use super::netlist::Netlist;
use crate::error::{Advice, failed};
use crate::render::FILE_LIST;
use anyhow::{anyhow, bail};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with a file list.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    shown: String,
    files: Vec<String>,
    blocks: Vec<String>,
}

/// Target and method of technology mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mapper {
    /// UltraScale+ with ABC, which ignores delays, as for the reference figures.
    #[default]
    Abc,
    /// UltraScale+ with ABC9, which knows the delays of the primitives.
    Abc9,
    /// ECP5, for which there is open place and route.
    Ecp5,
}

impl Mapper {
    /// The command of yosys, for a block without pads and clock buffers.
    fn command(self, block: &str) -> String {
        let ultrascale = format!("synth_xilinx -family xcup -top {block} -flatten -noiopad -noclkbuf");
        match self {
            Self::Abc => ultrascale,
            Self::Abc9 => ultrascale + " -abc9",
            Self::Ecp5 => format!("synth_ecp5 -top {block}"),
        }
    }
}

impl Folder {
    /// Reads the file list of a folder; `shown` is how the folder is shown to people.
    ///
    /// # Errors
    /// There is no file list or it cannot be read.
    pub fn open(path: &Path, shown: String) -> anyhow::Result<Self> {
        let list = fs::read_to_string(path.join(FILE_LIST)).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => {
                anyhow!("{shown} has no {FILE_LIST}: write it with `cargo run --release --bin gen-verilog`")
            }
            _ => failed("read", format_args!("{shown}/{FILE_LIST}"))(source),
        })?;
        let (comments, files): (Vec<_>, Vec<_>) = list
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .partition(|line| line.starts_with("//"));
        let blocks = comments
            .iter()
            .filter_map(|line| line.strip_prefix("// block: "))
            .map(str::to_owned);
        Ok(Self {
            path: path.to_owned(),
            shown,
            blocks: blocks.collect(),
            files: files.into_iter().map(str::to_owned).collect(),
        })
    }

    /// The blocks of the folder, in the order of the file list.
    pub fn blocks(&self) -> &[String] {
        &self.blocks
    }

    /// Paths of its modules' files, in the order of the file list.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The blocks of these names, or all if no name is given; in the order of the file list.
    ///
    /// # Errors
    /// A name that the folder does not hold.
    pub fn select(&self, names: &[String]) -> anyhow::Result<Vec<&str>> {
        if let Some(name) = names.iter().find(|name| !self.blocks.contains(name)) {
            let advice = Advice::new(name, self.blocks.iter().map(String::as_str));
            bail!("{} has no block `{name}`: {advice}", self.shown);
        }
        let wanted = |block: &&String| names.is_empty() || names.contains(block);
        Ok(self.blocks.iter().filter(wanted).map(String::as_str).collect())
    }

    /// Synthesises a block separately: flat, without pads and clock buffers.
    ///
    /// # Errors
    /// yosys is missing or refuses the design.
    pub fn synthesise(&self, block: &str, mapper: Mapper) -> anyhow::Result<Netlist> {
        let scratch = tempfile::tempdir().map_err(scratch_failed)?;
        let json = scratch.path().join("netlist.json");
        self.write_netlist(block, mapper, &json)?;
        let text = fs::read_to_string(&json).map_err(scratch_failed)?;
        Netlist::parse(&text, block)
    }

    /// Synthesises a block into a netlist file.
    ///
    /// The result does not depend on the names and the hierarchy of modules. ABC maps the same logic differently when its cells
    /// come in another order, so a first run of yosys writes the block flat, sorted by names derived from registers and ports
    /// only, and a second run maps that.
    ///
    /// # Errors
    /// As [`Folder::synthesise`].
    pub fn write_netlist(&self, block: &str, mapper: Mapper, json: &Path) -> anyhow::Result<()> {
        let scratch = tempfile::tempdir().map_err(scratch_failed)?;
        let flat = scratch.path().join("flat.il");
        self.run(block, &self.elaboration(block, &flat))?;
        let text = fs::read_to_string(&flat).map_err(scratch_failed)?;
        fs::write(&flat, without_counter(&text)).map_err(scratch_failed)?;
        self.run(block, &mapping(block, mapper, &flat, json))
    }

    fn run(&self, block: &str, script: &str) -> anyhow::Result<()> {
        let output = Command::new("yosys")
            .args(["-q", "-p", script])
            .current_dir(&self.path)
            .output();
        let output = output.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => {
                anyhow!("yosys is not installed: run `./dev setup` in the project's root, which installs it")
            }
            _ => failed("run", "yosys")(source),
        })?;
        if !output.status.success() {
            let message = last_error(&output.stderr, &output.stdout);
            bail!("yosys cannot synthesise `{block}`: {message}");
        }
        Ok(())
    }

    /// Script of the first run: elaborates the block, and names unnamed cells.
    fn elaboration(&self, block: &str, flat: &Path) -> String {
        let files: Vec<_> = self.files.iter().map(|file| format!("\"{file}\"")).collect();
        format!(
            "read_verilog -sv {}; hierarchy -check -top {block}; proc; flatten; opt_clean; setattr -unset src; \
             autoname; write_rtlil \"{}\"",
            files.join(" "),
            flat.display()
        )
    }
}

fn mapping(block: &str, mapper: Mapper, flat: &Path, json: &Path) -> String {
    format!(
        "read_rtlil \"{}\"; {}; check -assert; write_json \"{}\"",
        flat.display(),
        mapper.command(block),
        json.display()
    )
}

/// Removes the counter of automatic names from a design.
fn without_counter(design: &str) -> String {
    let lines = design.split_inclusive('\n');
    lines.filter(|line| !line.starts_with("autoidx ")).collect()
}

/// The error of an access to a temporary folder.
pub(crate) fn scratch_failed(source: io::Error) -> anyhow::Error {
    failed("use", "a temporary folder")(source)
}

/// The error line of yosys, or its last line.
fn last_error(stderr: &[u8], stdout: &[u8]) -> String {
    let text = format!(
        "{}\n{}",
        String::from_utf8_lossy(stdout),
        String::from_utf8_lossy(stderr)
    );
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let error = lines()
        .rfind(|line| line.contains("ERROR:"))
        .or_else(|| lines().next_back());
    error.unwrap_or("it said nothing").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(list: Option<&str>) -> (tempfile::TempDir, anyhow::Result<Folder>) {
        let scratch = tempfile::tempdir().unwrap();
        if let Some(list) = list {
            fs::write(scratch.path().join(FILE_LIST), list).unwrap();
        }
        let folder = Folder::open(scratch.path(), "here".to_owned());
        (scratch, folder)
    }

    #[test]
    fn knows_the_blocks_of_a_file_list() {
        let (_scratch, folder) = folder(Some("// x\n// block: a\n// block: b\nskid.sv\na.sv\nb.sv\n"));
        let folder = folder.unwrap();
        assert_eq!(folder.blocks(), ["a", "b"]);
        assert_eq!(folder.select(&["b".to_owned()]).unwrap(), ["b"]);
        assert_eq!(folder.select(&[]).unwrap(), ["a", "b"]);
        let error = folder.select(&["c".to_owned()]).unwrap_err();
        assert_eq!(error.to_string(), "here has no block `c`: choose one of a, b");
    }

    #[test]
    fn an_empty_folder_says_how_to_fill_it() {
        let (_scratch, folder) = folder(None);
        assert_eq!(
            folder.unwrap_err().to_string(),
            "here has no filelist.f: write it with `cargo run --release --bin gen-verilog`"
        );
    }

    /// Synthesises a block of two parts: `cut` says what the modules of its parts are called, and where they stand.
    fn primitives(cut: impl Fn(&str, &str, fn(&str, &str) -> String) -> String) -> String {
        const SUM: &str = "y = (a == b) ? a + (b >> 2) + 3 : a ^ b;";
        const SELECT: &str = "y = a[7] ? (b[3] ? a : b) : (a[2] ? b << 1 : a >> 1);";
        let text = cut(SUM, SELECT, |sum, select| {
            format!(
                "module top (input clk, input [7:0] a, input [7:0] b, output reg [7:0] q, output reg [7:0] r);
                   wire [7:0] x, y;
                   {sum} u_sum (.a(a), .b(q), .y(x)); {select} u_select (.a(x), .b(b), .y(y));
                   always @(posedge clk) begin q <= x ^ y; if (x[0]) r <= y & {{8{{x < b}}}}; end
                 endmodule\n"
            )
        });
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("top.sv"), text).unwrap();
        fs::write(scratch.path().join(FILE_LIST), "// block: top\ntop.sv\n").unwrap();
        let folder = Folder::open(scratch.path(), "here".to_owned()).unwrap();
        let netlist = folder.synthesise("top", Mapper::Abc).unwrap();
        format!("{:#?}", netlist.cells)
    }

    #[test]
    fn names_and_order_of_modules_do_not_change_what_a_block_is_mapped_to() {
        let ports = "input [7:0] a, input [7:0] b, output [7:0] y";
        let plain = primitives(|sum, select, top| {
            format!("module one ({ports}); assign {sum} endmodule\n")
                + &format!("module two ({ports}); assign {select} endmodule\n")
                + &top("one", "two")
        });
        let with_parameter = primitives(|sum, select, top| {
            let wide = ports.replace("[7", "[W-1");
            format!("module select ({ports}); assign {select} endmodule\n")
                + &top("sum #(.W(8))", "select")
                + &format!("module sum #(parameter W = 1) ({wide}); assign {sum} endmodule\n")
        });
        assert!(plain.contains("LUT6"), "{plain}");
        assert_eq!(plain, with_parameter);
    }

    #[test]
    fn the_error_line_is_found_among_warnings() {
        let stderr = b"Warning: wire x\nERROR: Module `a' not found!\n";
        assert_eq!(
            last_error(stderr, b"1. Executing\n"),
            "ERROR: Module `a' not found!"
        );
        assert_eq!(last_error(b"", b""), "it said nothing");
    }
}
