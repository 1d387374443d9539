//! Runs blocks in Rust and the text made of them in Icarus Verilog and Verilator, and compares.

pub(crate) mod interpreter;
pub(crate) mod raw;
pub(crate) mod tools;
pub(crate) mod vectors;

use std::fmt::Write as _;

use rust_hdl::prelude::{Block, simulate};
use spinneret_verilog::{Design, Library, PortDirection, TopOptions};

use vectors::{Vectors, hex};

/// A block, the text that is generated from it, and its behaviour in Rust.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) design: Design,
    pub(crate) vectors: Vectors,
}

/// The cases of one test file.
#[derive(Default)]
pub(crate) struct Suite {
    library: Library,
    pub(crate) cases: Vec<Case>,
    /// Warnings of Verilator's lint that are expected, as options.
    pub(crate) waivers: &'static [&'static str],
}

impl Suite {
    /// Adds a block. `drive` sets its inputs from the values of one vector, `clocks` sets its clock.
    pub(crate) fn add<B: Block>(
        &mut self,
        name: &str,
        mut block: B,
        drive: impl Fn(&mut B, &[num_bigint::BigUint]),
        clock: Option<fn(&mut B, bool)>,
    ) {
        block.connect_all();
        let design = self
            .library
            .add(&block, name, &TopOptions::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let is_clock = |port: &spinneret_verilog::Port| clock.is_some() && port.name == "clk";
        let widths: Vec<usize> = design
            .ports
            .iter()
            .filter(|port| port.direction == PortDirection::Input && !is_clock(port))
            .map(|port| port.width)
            .collect();
        let mut vectors = Vectors::inputs(&widths, clock.is_some(), name);
        for number in 0..vectors.inputs.len() {
            let inputs = vectors.inputs[number].clone();
            if let Some(clock) = clock {
                clock(&mut block, false);
                assert!(simulate(&mut block, 1000), "{name}: does not settle in Rust");
            }
            drive(&mut block, &inputs);
            assert!(simulate(&mut block, 1000), "{name}: does not settle in Rust");
            vectors.outputs.push(vectors::outputs(&block));
            if let Some(clock) = clock {
                clock(&mut block, true);
                assert!(simulate(&mut block, 1000), "{name}: does not settle in Rust");
            }
        }
        self.cases.push(Case {
            name: name.to_owned(),
            design,
            vectors,
        });
    }

    /// Adds a block with a model of it: what its outputs are for each vector, in the order of the ports.
    pub(crate) fn model(
        &mut self,
        name: &str,
        block: &dyn Block,
        clocked: bool,
        mut model: impl FnMut(&[num_bigint::BigUint]) -> Vec<num_bigint::BigUint>,
    ) {
        let design = self
            .library
            .add(block, name, &TopOptions::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let ports = |direction| {
            design
                .ports
                .iter()
                .filter(move |port| port.direction == direction)
        };
        let inputs = ports(PortDirection::Input).filter(|port| !clocked || port.name != "clk");
        let widths: Vec<usize> = inputs.map(|port| port.width).collect();
        let outputs: Vec<String> = ports(PortDirection::Output)
            .map(|port| port.name.clone())
            .collect();
        let mut vectors = Vectors::inputs(&widths, clocked, name);
        for inputs in &vectors.inputs {
            vectors
                .outputs
                .push(outputs.iter().cloned().zip(model(inputs)).collect());
        }
        self.cases.push(Case {
            name: name.to_owned(),
            design,
            vectors,
        });
    }

    /// The text of all modules.
    pub(crate) fn text(&self) -> String {
        let mut seen = std::collections::BTreeSet::new();
        let modules = self.cases.iter().flat_map(|case| &case.design.modules);
        modules
            .filter(|module| seen.insert(module.name.as_str()))
            .fold(String::new(), |mut text, module| {
                let _ = writeln!(text, "{}", module.text);
                text
            })
    }

    /// Compares all cases in both simulators, and checks the text in yosys and in Verilator's lint.
    pub(crate) fn check(&self) {
        let directory = self.prepare();
        tools::yosys(directory.path());
        tools::lint(directory.path(), self.waivers);
        must_agree("Icarus Verilog", &tools::icarus(directory.path()));
        must_agree("Verilator", &tools::verilator(directory.path()));
    }

    /// Compares all cases in Icarus Verilog, which builds a thousand of them in seconds, and checks the text
    /// in yosys and in Verilator's lint. `waivers` are options that lint gets besides the usual ones.
    pub(crate) fn check_in_icarus(&self, waivers: &[&str]) {
        let directory = self.prepare();
        tools::yosys(directory.path());
        tools::lint(directory.path(), waivers);
        must_agree("Icarus Verilog", &tools::icarus(directory.path()));
    }

    /// Writes the modules, their test bench and their vectors.
    fn prepare(&self) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let write =
            |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("a file");
        write("dut.sv", &self.text());
        let mut bench = String::from("module bench;\n    reg start = 0;\n    initial #1 start = 1;\n");
        for (number, case) in self.cases.iter().enumerate() {
            let rows: Vec<String> = (0..case.vectors.inputs.len())
                .map(|row| hex(&case.row(row), case.row_width()) + "\n")
                .collect();
            write(&format!("case_{number}.hex"), &rows.concat());
            let _ = writeln!(bench, "    case_{number} u_{number} ();");
        }
        bench.push_str("    initial begin #1000000; $display(\"DONE\"); $finish; end\nendmodule\n");
        for (number, case) in self.cases.iter().enumerate() {
            bench.push_str(&case.bench(number));
        }
        write("bench.sv", &bench);
        // Keeps the files of a failing test for debugging.
        if let Ok(copy) = std::env::var("SPINNERET_KEEP") {
            std::fs::create_dir_all(&copy).expect("the directory SPINNERET_KEEP");
            for file in std::fs::read_dir(directory.path())
                .expect("the directory")
                .flatten()
            {
                std::fs::copy(file.path(), std::path::Path::new(&copy).join(file.file_name()))
                    .expect("a copy");
            }
        }
        directory
    }
}

fn must_agree(tool: &str, output: &str) {
    let mismatches: Vec<&str> = output
        .lines()
        .filter(|line| line.starts_with("MISMATCH"))
        .take(20)
        .collect();
    assert!(
        mismatches.is_empty(),
        "{tool} and Rust differ:\n{}",
        mismatches.join("\n")
    );
    assert!(
        output.lines().any(|line| line == "DONE"),
        "{tool} did not finish:\n{output}"
    );
}

impl Case {
    fn ports(&self, direction: PortDirection) -> impl Iterator<Item = (&str, usize)> {
        let ports = self
            .design
            .ports
            .iter()
            .filter(move |port| port.direction == direction);
        let clocked = self.vectors.clocked;
        ports
            .filter(move |port| !clocked || port.name != "clk")
            .map(|port| (port.name.as_str(), port.width))
    }

    fn row_width(&self) -> usize {
        self.ports(PortDirection::Input)
            .chain(self.ports(PortDirection::Output))
            .map(|(_, width)| width)
            .sum()
    }

    /// Inputs and outputs of one vector as one number, first port lowest.
    fn row(&self, row: usize) -> num_bigint::BigUint {
        let outputs = &self.vectors.outputs[row];
        let inputs = self.ports(PortDirection::Input).zip(&self.vectors.inputs[row]);
        let outputs = self.ports(PortDirection::Output).map(|(name, width)| {
            let value = outputs
                .get(name)
                .unwrap_or_else(|| panic!("{}: no output {name} in Rust", self.name));
            ((name, width), value)
        });
        let mut low = 0;
        inputs
            .chain(outputs)
            .fold(num_bigint::BigUint::ZERO, |sum, ((_, width), value)| {
                let sum = sum | (value << low);
                low += width;
                sum
            })
    }

    fn bench(&self, number: usize) -> String {
        let rows = self.vectors.inputs.len();
        let input_width: usize = self.ports(PortDirection::Input).map(|(_, width)| width).sum();
        let output_width = self.row_width() - input_width;
        let mut connections = Vec::new();
        let mut low = 0;
        for (name, width) in self.ports(PortDirection::Input) {
            connections.push(format!(".{name}(row[{} +: {width}])", low));
            low += width;
        }
        low = 0;
        for (name, width) in self.ports(PortDirection::Output) {
            connections.push(format!(".{name}(got[{} +: {width}])", low));
            low += width;
        }
        if self.vectors.clocked {
            connections.push(".clk(clk)".to_owned());
        }
        let row_width = self.row_width().max(1);
        let mut text = String::new();
        let _ = write!(
            text,
            "module case_{number};
    reg [{row_high}:0] rows [0:{last}];
    reg [{row_high}:0] row;
    reg clk;
    wire [{out_high}:0] got;
    integer i;
    {name} u_dut ({connections});
    initial begin
        $readmemh(\"case_{number}.hex\", rows);
        clk = 0;
        for (i = 0; i < {rows}; i = i + 1) begin
            clk = 0;
            row = rows[i];
            #2;
            if (got !== row[{input_width} +: {output_width}])
                $display(\"MISMATCH {name} row %0d: inputs %h, expected %h, got %h\", i, {inputs}, row[{input_width} +: {output_width}], got);
            #1;
            clk = 1;
            #2;
        end
    end
endmodule
",
            row_high = row_width - 1,
            last = rows - 1,
            out_high = output_width - 1,
            name = self.design.name,
            connections = connections.join(", "),
            inputs = if input_width == 0 { "1'b0".to_owned() } else { format!("row[0 +: {input_width}]") },
        );
        text
    }
}

/// Adds a block to a suite: its default value, the inputs that are driven, and `clk` if it has a clock.
#[macro_export]
macro_rules! case {
    ($suite:expr, $block:ty, [$($input:ident),*]) => {
        case!($suite, stringify!($block), <$block>::default(), [$($input),*])
    };
    ($suite:expr, $block:ty, [$($input:ident),*], clk) => {
        case!($suite, stringify!($block), <$block>::default(), [$($input),*], clk)
    };
    ($suite:expr, $name:expr, $block:expr, [$($input:ident),*]) => {
        $suite.add($name, $block, |block, values| {
            let mut values = values.iter();
            $(
                let value = values.next().expect("a value");
                block.$input.next = $crate::support::vectors::FromNumber::from_number(value, &block.$input.next);
            )*
            assert!(values.next().is_none(), "an input is not driven");
        }, None)
    };
    ($suite:expr, $name:expr, $block:expr, [$($input:ident),*], clk) => {
        $suite.add($name, $block, |block, values| {
            let mut values = values.iter();
            $(
                let value = values.next().expect("a value");
                block.$input.next = $crate::support::vectors::FromNumber::from_number(value, &block.$input.next);
            )*
            assert!(values.next().is_none(), "an input is not driven");
        }, Some(|block, level| block.clk.next = rust_hdl::prelude::Clock { clk: level }))
    };
}
