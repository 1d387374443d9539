//! Names in the header of a third-party Verilog module.
//!
//! This is no parser of Verilog: it knows comments, attributes, strings, numbers, brackets and `` `ifdef ``, which is enough
//! to tell names from everything else. It takes any text.

use super::token::{Kind, Token, tokens};
use std::fmt;
use std::ops::Range;

/// A parameter or a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) name: String,
    /// The line that has the name, from 1.
    pub(super) line: usize,
}

/// The header of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Parameters that an instance can set, in order.
    pub(super) parameters: Vec<Name>,
    /// Ports, in order.
    pub(super) ports: Vec<Name>,
    /// The first and the last line.
    pub(super) lines: [usize; 2],
}

/// Why there is no header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// The module is not in the file.
    NoModule,
    /// The file ends before the header does, or the header has other parts than those of Verilog.
    NoEnd {
        /// Where the header begins.
        line: usize,
    },
    /// An entry of a list has no name, as a macro of another file has not.
    NoName {
        /// Where the entry begins.
        line: usize,
    },
}

impl std::error::Error for HeaderError {}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoModule => f.write_str("has no such module"),
            Self::NoEnd { line } => write!(f, "begins it in line {line} with a header that cannot be read"),
            Self::NoName { line } => write!(f, "has an entry without a name in line {line} of its header"),
        }
    }
}

/// Finds a module in a text and reads its header; what is conditional is taken as Vivado takes it if nothing is defined
/// but by the text itself.
pub(super) fn header(text: &str, module: &str) -> Result<Header, HeaderError> {
    let tokens = tokens(text, &[]);
    let start = (0..tokens.len())
        .find(|at| tokens[*at].is("module") && tokens.get(at + 1).is_some_and(|name| name.is(module)))
        .ok_or(HeaderError::NoModule)?;
    let line = tokens[start].line;
    read(&tokens[start + 2..], line).map_err(|broken| broken.unwrap_or(HeaderError::NoEnd { line }))
}

/// Reads what comes after the module's name. No error in particular means that something else is there.
fn read(tokens: &[Token<'_>], line: usize) -> Result<Header, Option<HeaderError>> {
    let mut at = 0;
    let mut parameters = Vec::new();
    if tokens.first().is_some_and(|token| token.is("#")) {
        let list = list(tokens, 1)?;
        at = list.end + 1;
        parameters = names(&tokens[list])?;
    }
    let list = list(tokens, at)?;
    let end = tokens
        .get(list.end + 1)
        .filter(|token| token.is(";"))
        .ok_or(None)?;
    Ok(Header {
        parameters,
        ports: names(&tokens[list])?,
        lines: [line, end.line],
    })
}

/// The tokens between the bracket at `at` and its closing bracket.
fn list(tokens: &[Token<'_>], at: usize) -> Result<Range<usize>, Option<HeaderError>> {
    if !tokens.get(at).is_some_and(|token| token.is("(")) {
        return Err(None);
    }
    let mut depth = 0_usize;
    for (number, token) in tokens.iter().enumerate().skip(at) {
        if token.opens() {
            depth += 1;
        } else if token.closes() {
            depth -= 1;
            if depth == 0 {
                return Ok(at + 1..number);
            }
        }
    }
    Err(None)
}

/// The names of a list, one in each entry: the last word before its value that is in no bracket.
fn names(tokens: &[Token<'_>]) -> Result<Vec<Name>, Option<HeaderError>> {
    let mut all = Vec::new();
    // An entry without a keyword is of the kind of the one before it.
    let mut is_local = false;
    for entry in entries(tokens) {
        let Some(first) = entry.first() else {
            continue;
        };
        if first.is("parameter") || first.is("localparam") {
            is_local = first.is("localparam");
        }
        let name = name(entry).ok_or(HeaderError::NoName { line: first.line })?;
        if !is_local {
            all.push(Name {
                name: name.text.to_owned(),
                line: name.line,
            });
        }
    }
    Ok(all)
}

/// Splits at commas outside of brackets.
fn entries<'a, 'b>(tokens: &'b [Token<'a>]) -> impl Iterator<Item = &'b [Token<'a>]> {
    let mut depth = 0_usize;
    tokens.split(move |token| {
        if token.opens() {
            depth += 1;
        } else if token.closes() {
            depth = depth.saturating_sub(1);
        }
        depth == 0 && token.is(",")
    })
}

fn name<'a, 'b>(entry: &'b [Token<'a>]) -> Option<&'b Token<'a>> {
    let mut depth = 0_usize;
    let mut last = None;
    for token in entry {
        if token.opens() {
            depth += 1;
        } else if token.closes() {
            depth = depth.saturating_sub(1);
        } else if depth == 0 {
            if token.is("=") {
                break;
            }
            if matches!(token.kind, Kind::Word | Kind::Macro) {
                last = Some(token);
            }
        }
    }
    last.filter(|token| token.kind == Kind::Word && !KEYWORDS.contains(&token.text))
}

/// Words that stand before a name, so that an entry which ends with one has none.
const KEYWORDS: &[&str] = &[
    "parameter",
    "localparam",
    "input",
    "output",
    "inout",
    "wire",
    "reg",
    "logic",
    "bit",
    "signed",
    "unsigned",
    "integer",
    "int",
    "real",
    "type",
    "var",
];

#[cfg(test)]
mod tests {
    use super::{Header, HeaderError, Name, header};
    use proptest::prelude::*;

    /// Names with their lines.
    fn pairs(names: &[Name]) -> Vec<(&str, usize)> {
        names.iter().map(|name| (name.name.as_str(), name.line)).collect()
    }

    fn read(text: &str) -> Header {
        header(text, "m").unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    #[test]
    fn names_are_found_among_everything_that_a_header_may_have() {
        let text = "// module m (wrong);\n/* module m (\n wrong); */\n`timescale 1ns / 1ps\n`define M(a, b) \\\n  module m (wrong);\n\
                module other (input wire a);\nalways @(*) a = \"module m (\\\" wrong);\";\nendmodule\n\
                (* keep = \"a\" *)\nmodule m #\n(\n    // A comment, with a comma\n    parameter A = 1, B = (A > 1 ? {A, 2'd1} : 8'hff),\n    \
                parameter [3:0] C = 4'b1010, localparam D = $clog2(A), E = 5,\n    parameter integer F [0:1] = '{1, 2},\n    \
                parameter \\G = \"x, y) = ;\"\n)\n(\n    input  wire clk /* last , \n of its line */,\n    \
                (* mark_debug = \"true\" *) output reg [A*(B+1)-1:0] q = {A{1'b0}},\n    \
                inout wire [A-1:0] bus [0:B-1], more,\n    .named(clk[0])\n);\nwire wrong;\nendmodule\n";
        let found = read(text);
        assert_eq!(
            pairs(&found.parameters),
            [("A", 14), ("B", 14), ("C", 15), ("F", 16), ("G", 17)]
        );
        assert_eq!(
            pairs(&found.ports),
            [("clk", 20), ("q", 22), ("bus", 23), ("more", 23), ("named", 24)]
        );
        assert_eq!(found.lines, [11, 25]);
    }

    #[test]
    fn conditional_parts_are_those_of_a_build_that_defines_nothing() {
        let text = "`define KNOWN\n`define GONE 1\n`undef GONE\nmodule m (\n`ifdef CUSTOM\n`include \"ports.vh\"\ninput no1,\n\
                `ifndef NEVER\ninput no2,\n`else\ninput no3,\n`endif\n`elsif KNOWN\ninput yes1,\n`else\ninput no4,\n`endif\n\
                `ifndef GONE\ninput yes2,\n`endif\n`ifdef KNOWN input yes3, `elsif KNOWN input no5, `endif\ninput last);";
        let found = read(text);
        let names: Vec<_> = found.ports.iter().map(|name| name.name.as_str()).collect();
        assert_eq!(names, ["yes1", "yes2", "yes3", "last"]);
        assert_eq!(found.parameters, []);
    }

    #[test]
    fn reports_where_an_invalid_header_stops() {
        for (text, error) in [
            ("", HeaderError::NoModule),
            ("module", HeaderError::NoModule),
            ("module other (input a);\nendmodule", HeaderError::NoModule),
            ("\nmodule m", HeaderError::NoEnd { line: 2 }),
            ("module m;", HeaderError::NoEnd { line: 1 }),
            ("module m (input a", HeaderError::NoEnd { line: 1 }),
            ("module m (input a)", HeaderError::NoEnd { line: 1 }),
            (
                "module m # (parameter A = (1) (input a);",
                HeaderError::NoEnd { line: 1 },
            ),
            (
                "module m (\n  input a,\n  input\n wire,\n b);",
                HeaderError::NoName { line: 3 },
            ),
            ("module m (input a,\n`PORTS\n);", HeaderError::NoName { line: 2 }),
        ] {
            assert_eq!(header(text, "m"), Err(error), "{text}");
        }
        // Entries without anything are no names.
        assert_eq!(pairs(&read("module m (\n);").ports), []);
        assert_eq!(pairs(&read("module m (input a,\n);").ports), [("a", 1)]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_rejected(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = header(&String::from_utf8_lossy(&bytes), "m");
        }

        /// Pieces that mean something in an order that means nothing.
        #[test]
        fn any_tokens_are_parsed_or_rejected(pieces in proptest::collection::vec(piece(), 0..60)) {
            for start in ["", "module m ", "module m #(", "module m ("] {
                let _ = header(&format!("{start}{}", pieces.concat()), "m");
            }
        }

        /// Names come back in order, whatever stands between them.
        #[test]
        fn names_survive_what_stands_between_them(
            names in proptest::collection::vec("[a-z]{3,8}_[a-z0-9_]{1,8}", 1..30),
            fillers in proptest::collection::vec(filler(), 30),
        ) {
            let list = |keyword: &str| {
                let entries: Vec<_> = names
                    .iter()
                    .zip(&fillers)
                    .map(|(name, (before, after))| format!("{keyword} {before} {name} {after}"))
                    .collect();
                entries.join(",")
            };
            let text = format!("module m #({}) ({});", list("parameter"), list("input wire"));
            let found = read(&text);
            for found in [&found.parameters, &found.ports] {
                let found: Vec<_> = found.iter().map(|name| name.name.clone()).collect();
                prop_assert_eq!(&found, &names);
            }
        }
    }

    fn piece() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "module ",
            "m ",
            "#",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            ";",
            ",",
            "=",
            "(*",
            "*)",
            "//",
            "/*",
            "*/",
            "\n",
            "\"",
            "\\",
            "`",
            "`ifdef ",
            "`ifndef A ",
            "`elsif A ",
            "`else ",
            "`endif ",
            "`define A ",
            "`undef A ",
            "`include ",
            "'",
            "'h",
            "8'",
            "é",
            "\u{2028}",
            "parameter ",
            "localparam ",
            "input ",
            "wire ",
            "a ",
            ".",
            " ",
        ])
    }

    /// Text before and after a name.
    fn filler() -> impl Strategy<Value = (&'static str, &'static str)> {
        let before = [
            "",
            "[7:0]",
            "[A*(B+1)-1:0]",
            "/* a, b) */",
            "// c);\n",
            "(* d = 1 *)",
            "\n\n",
        ];
        let after = [
            "",
            "[0:3]",
            "/* ; */",
            "= 32'h12340001",
            "= (A ? B : 1) + 1",
            "= {2{1'b0}}",
            "= \", \\\" )\"",
            "// ,\n",
        ];
        (
            prop::sample::select(before.to_vec()),
            prop::sample::select(after.to_vec()),
        )
    }
}
