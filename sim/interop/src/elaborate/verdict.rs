//! What Verilator says, and what of it is a fault.
//!
//! Files of the checkouts are as they are: there only errors count. Files of ours may have no warning at all, and where
//! Corundum instantiates the application block none about its pins.

use std::path::{Path, PathBuf};

/// Ports whose widths differ between Corundum's core and the application block that it ships itself; ours has those of the
/// latter, and uses neither.
const KNOWN: [&str; 2] = ["'ptp_sync_ts_rel'", "'ptp_sync_ts_tod'"];
/// Warnings that count in all files: a module that two trees have by the same name would be the wrong one in one of them.
const EVERYWHERE: [&str; 1] = ["MODDUP"];

/// How the last error begins, which only counts the others.
const SUM: &str = "Exiting due to";

/// What counts where.
pub(super) struct Judge {
    /// The folder of our own modules.
    pub(super) ours: PathBuf,
    /// The file that instantiates the application block, and the first and the last line of that.
    pub(super) instance: (PathBuf, [usize; 2]),
}

/// What came out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// What must not be.
    pub(super) faults: Vec<String>,
    /// What is known and not ours to mend.
    pub(super) remarks: Vec<String>,
    /// How many warnings are about files of others.
    pub(super) foreign: usize,
}

impl Judge {
    /// Sorts all that Verilator said; a run that failed has a fault at least.
    pub(super) fn verdict(&self, said: &str, succeeded: bool) -> Verdict {
        let mut verdict = Verdict::default();
        for line in said.lines() {
            let Some(message) = Message::read(line) else {
                continue;
            };
            if message.text.starts_with(SUM) {
                continue;
            }
            if message.is_error {
                verdict.faults.push(line.to_owned());
            } else if self.is_known(&message) {
                let file = Path::new(message.file).file_name().unwrap_or_default();
                let place = format!("{}:{}", file.display(), message.line);
                verdict.remarks.push(format!("{place}: {}", message.text));
            } else if self.counts(&message) {
                verdict.faults.push(line.to_owned());
            } else {
                verdict.foreign += 1;
            }
        }
        if !succeeded && verdict.faults.is_empty() {
            let last = said.lines().rev().find(|line| !line.trim().is_empty());
            verdict
                .faults
                .push(format!("Verilator stops: {}", last.unwrap_or("it says nothing")));
        }
        verdict
    }

    fn counts(&self, message: &Message<'_>) -> bool {
        EVERYWHERE.contains(&message.code)
            || Path::new(message.file).starts_with(&self.ours)
            || (self.is_at_instance(message) && message.is_about_a_pin())
    }

    fn is_known(&self, message: &Message<'_>) -> bool {
        self.is_at_instance(message)
            && message.has_wrong_width()
            && KNOWN.iter().any(|port| message.text.contains(port))
    }

    fn is_at_instance(&self, message: &Message<'_>) -> bool {
        let (file, [first, last]) = &self.instance;
        file == Path::new(message.file) && (*first..=*last).contains(&message.line)
    }
}

/// The beginning of a message; the lines behind it show the source.
struct Message<'a> {
    is_error: bool,
    /// Empty for errors without one.
    code: &'a str,
    /// Empty if it is about no file.
    file: &'a str,
    line: usize,
    text: &'a str,
}

impl<'a> Message<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let (is_error, rest) = match line.strip_prefix("%Error") {
            Some(rest) => (true, rest),
            None => (false, line.strip_prefix("%Warning")?),
        };
        let (code, rest) = rest.split_once(": ")?;
        let (place, text) = rest.split_once(": ").unwrap_or(("", rest));
        let mut parts = place.rsplitn(3, ':').skip(1);
        let number = parts.next().and_then(|number| number.parse().ok());
        let (file, line, text) = match (parts.next(), number) {
            (Some(file), Some(number)) => (file, number, text),
            _ => ("", 0, rest),
        };
        Some(Self {
            is_error,
            code: code.trim_start_matches('-'),
            file,
            line,
            text,
        })
    }

    fn is_about_a_pin(&self) -> bool {
        self.has_wrong_width() || ["PINMISSING", "IMPLICIT"].contains(&self.code)
    }

    /// Whether a pin and what it is connected to have different widths; expressions in the values of parameters have the
    /// same code.
    fn has_wrong_width(&self) -> bool {
        self.code.starts_with("WIDTH") && self.text.contains("port connection")
    }
}

/// The first and the last line of the first instance of a module that is given parameters.
pub(super) fn instance(text: &str, module: &str) -> [usize; 2] {
    let mut lines = text.lines().enumerate().skip_while(|(_, line)| {
        let words = line.trim_start().strip_prefix(module);
        !words.is_some_and(|rest| rest.trim_start().starts_with('#'))
    });
    let first = lines.next().map_or(0, |(at, _)| at + 1);
    let last = lines
        .find(|(_, line)| line.trim() == ");")
        .map_or(first, |(at, _)| at + 1);
    [first, last]
}

/// The parameters in the header of a module, which begin a line each.
pub(super) fn parameters(text: &str, module: &str) -> Vec<String> {
    let begins = |line: &str| {
        let rest = line.strip_prefix("module")?.trim_start().strip_prefix(module)?;
        (!rest.starts_with(is_of_name)).then_some(())
    };
    let mut lines = text.lines().skip_while(|line| begins(line).is_none());
    lines.next();
    let header = lines.take_while(|line| !line.starts_with("endmodule"));
    let declared = header.filter_map(|line| line.trim_start().strip_prefix("parameter "));
    let names = declared.filter_map(|rest| {
        let name = rest.split('=').next()?.split_whitespace().next_back()?;
        Some(name.to_owned())
    });
    names.collect()
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

#[cfg(test)]
mod tests {
    use super::{Judge, instance, parameters};

    fn judge() -> Judge {
        Judge {
            ours: "/t/rtl".into(),
            instance: ("/c/core.v".into(), [10, 20]),
        }
    }

    #[test]
    fn what_is_ours_counts_and_what_is_known_is_told() {
        let said = "%Warning-WIDTH: /c/core.v:9:1: Input port connection 'a' expects 1 bit\n\
                    \x20   9 | .a(b)\n\
                    %Warning-WIDTHTRUNC: /c/core.v:10:1: Input port connection 'a' expects 1 bit\n\
                    %Warning-WIDTH: /c/core.v:20:1: Input port connection 'ptp_sync_ts_tod' expects 96 bits\n\
                    %Warning-PINMISSING: /c/core.v:12:1: Cell has missing pin: 'x'\n\
                    %Warning-LATCH: /c/core.v:12:1: Latch\n\
                    %Warning-WIDTH: /c/core.v:12:1: Logical operator LOGAND expects 1 bit on the LHS\n\
                    %Warning-PINMISSING: /p/riscv.sv:12:1: Cell has missing pin: 'x'\n\
                    %Warning-UNDRIVEN: /t/rtl/a.sv:1:1: Signal is not driven: 'y'\n\
                    %Warning-UNDRIVEN: /t/lint/a.sv:1:1: Signal is not driven: 'y'\n\
                    %Warning-MODDUP: /p/a.sv:3:8: Duplicate declaration of module: 'arbiter'\n";
        let verdict = judge().verdict(said, true);
        let faults: Vec<_> = verdict
            .faults
            .iter()
            .map(|fault| fault.split(' ').next().unwrap())
            .collect();
        assert_eq!(
            faults,
            [
                "%Warning-WIDTHTRUNC:",
                "%Warning-PINMISSING:",
                "%Warning-UNDRIVEN:",
                "%Warning-MODDUP:"
            ]
        );
        assert_eq!(
            verdict.remarks,
            ["core.v:20: Input port connection 'ptp_sync_ts_tod' expects 96 bits"]
        );
        assert_eq!(verdict.foreign, 5);
    }

    #[test]
    fn every_error_counts_and_so_does_a_failure_without_one() {
        let said = "%Error: /c/core.v:9:1: Can't find definition of module: 'X'\n%Error: Exiting due to 1 error(s)\n\
                    %Error-PINNOTFOUND: /c/core.v:9:1: Pin not found: 'ptp_sync_ts_tod'\n";
        assert_eq!(judge().verdict(said, false).faults.len(), 2);
        let silent = judge().verdict("%Warning-LATCH: /c/a.v:1:1: Latch\nKilled\n\n", false);
        assert_eq!(silent.faults, ["Verilator stops: Killed"]);
        assert_eq!(
            judge().verdict("", false).faults,
            ["Verilator stops: it says nothing"]
        );
        assert!(judge().verdict("", true).faults.is_empty());
    }

    #[test]
    fn an_instance_ends_where_its_ports_do() {
        let text = "// block #(\nblock_2 #(\n);\n  block #(\n    .A(1)\n  )\n  inst (\n    .b(c)\n  );\n);\n";
        assert_eq!(instance(text, "block"), [4, 9]);
        assert_eq!(instance("", "block"), [0, 0]);
    }

    #[test]
    fn parameters_are_those_of_the_module() {
        let text = "module top_2 #(\n  parameter NO = 1\n)();\nendmodule\nmodule top #\n(\n  // parameter NO = 1,\n  \
                    parameter A = 1,\n  parameter [3:0] B = A == 1 ? 2 : 3\n)\n(input a);\nlocalparam C = 1;\nendmodule\n\
                    module other #(parameter NO = 1) ();\n  parameter NO = 1;\nendmodule\n";
        assert_eq!(parameters(text, "top"), ["A", "B"]);
    }
}
