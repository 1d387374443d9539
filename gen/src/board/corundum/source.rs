//! What a SystemVerilog file declares, and which packages it relies on.

use super::token::{Kind, Token, tokens};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Source {
    /// Packages that it declares, in their order.
    pub(super) packages: Vec<String>,
    /// Whether it declares anything; a file that does not has only macros, and is there to be included.
    pub(super) declares: bool,
    /// Names before `::`, with the line of the first of each.
    pub(super) scopes: BTreeMap<String, usize>,
    /// Packages that it imports outside of any module or package, which everything behind it sees as well.
    pub(super) imports: BTreeSet<String>,
    /// All names in other places than before `::`.
    pub(super) others: BTreeSet<String>,
}

/// Keywords that begin something with an end of its own outside of everything else, and that end.
const UNITS: [(&str, &str); 8] = [
    ("module", "endmodule"),
    ("macromodule", "endmodule"),
    ("package", "endpackage"),
    ("interface", "endinterface"),
    ("program", "endprogram"),
    ("class", "endclass"),
    ("function", "endfunction"),
    ("task", "endtask"),
];

/// Reads a file as a compiler reads it that has these macros defined.
///
/// What is in macros is not seen, and files that are included are not read.
pub(super) fn source(text: &str, defined: &[&str]) -> Source {
    let tokens = tokens(text, defined);
    let mut source = Source::default();
    let mut inside: Option<Inside> = None;
    for at in 0..tokens.len() {
        source.name(&tokens, at);
        let token = tokens[at];
        if token.kind != Kind::Word {
            continue;
        }
        match &mut inside {
            Some(unit) => {
                unit.depth += usize::from(unit.begins_again(&tokens, at));
                unit.depth -= usize::from(token.is(unit.end));
                if unit.depth == 0 {
                    inside = None;
                }
            }
            None => {
                inside = Inside::begun(&tokens, at);
                source.outside(&tokens, at, inside.is_some());
            }
        }
    }
    source
}

impl Source {
    /// Notes a name by what follows it.
    fn name(&mut self, tokens: &[Token<'_>], at: usize) {
        let token = tokens[at];
        if token.kind != Kind::Word {
            return;
        }
        if !is_scope(tokens, at + 1) {
            self.others.insert(token.text.to_owned());
        } else if at < 2 || !is_scope(tokens, at - 2) {
            // A name behind another `::` is one of that package.
            self.scopes.entry(token.text.to_owned()).or_insert(token.line);
        }
    }

    /// Notes a word that is outside of everything.
    fn outside(&mut self, tokens: &[Token<'_>], at: usize, begins: bool) {
        let word = tokens[at];
        let before = at.checked_sub(1).map(|before| tokens[before]);
        if word.is("package") {
            let name = tokens[at + 1..]
                .iter()
                .find(|token| !["automatic", "static"].contains(&token.text));
            self.packages.extend(name.map(|name| name.text.to_owned()));
        }
        self.declares |= begins || ["typedef", "parameter", "localparam", "bind"].contains(&word.text);
        let is_of_import = before.is_some_and(|token| token.is("import") || token.is(","));
        if is_of_import && is_scope(tokens, at + 1) {
            self.imports.insert(word.text.to_owned());
        }
    }
}

/// Something that has begun and not yet ended.
struct Inside {
    begin: &'static str,
    end: &'static str,
    depth: usize,
}

impl Inside {
    /// What a word begins, if it does.
    fn begun(tokens: &[Token<'_>], at: usize) -> Option<Self> {
        let (begin, end) = UNITS
            .into_iter()
            .find(|(begin, _)| tokens[at].is(begin))
            .filter(|_| is_definition(tokens, at))?;
        Some(Self { begin, end, depth: 1 })
    }

    /// Whether a word begins the same inside. Interfaces are ports of interfaces more often than they are in them.
    fn begins_again(&self, tokens: &[Token<'_>], at: usize) -> bool {
        ["module", "class"].contains(&self.begin) && tokens[at].is(self.begin) && is_definition(tokens, at)
    }
}

/// Whether what a word begins has an end, and is not only announced, a type, or written in C.
fn is_definition(tokens: &[Token<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |before| tokens[before].text);
    let is_behind = |text: &str| tokens.get(at + 1).is_some_and(|token| token.is(text));
    let is_type = tokens[at].is("interface") && (before == "virtual" || is_behind("class"));
    let is_in_c = before.starts_with('"') || ["context", "pure"].contains(&before);
    !is_type && !is_in_c && !["typedef", "extern"].contains(&before)
}

/// Whether there is `::`.
fn is_scope(tokens: &[Token<'_>], at: usize) -> bool {
    let colons = tokens.get(at..at + 2);
    colons.is_some_and(|pair| pair.iter().all(|token| token.is(":")))
}

#[cfg(test)]
mod tests {
    use super::source;

    fn names<'a>(all: impl IntoIterator<Item = &'a String>) -> Vec<&'a str> {
        all.into_iter().map(String::as_str).collect()
    }

    #[test]
    fn packages_and_what_they_use_are_found_among_everything_that_looks_like_it() {
        let text = "// package no; import no::*;\n/* no::a */\n`define NO import no::*;\n`include \"no::no\"\n\
                    `timescale 1ns/1ps\n`ifdef NEVER\nimport no::*;\n`endif\n`ifdef GIVEN\nimport a::*, b::x;\n`endif\n\
                    package automatic p;\n  import c::*;\n  localparam x = \"no::a\" + d :: y + e::F::z;\n  \
                    localparam q = c ? f : g;\nendpackage : p\n\
                    module m import h::*; #(parameter type T = i::t) (interface.in port);\n  T::x y;\n  import j::*;\n\
                    endmodule\n";
        let found = source(text, &["GIVEN"]);
        assert_eq!(found.packages, ["p"]);
        assert!(found.declares);
        assert_eq!(names(&found.imports), ["a", "b"]);
        assert_eq!(
            names(found.scopes.keys()),
            ["T", "a", "b", "c", "d", "e", "h", "i", "j"]
        );
        assert_eq!(found.scopes["d"], 14);
        assert!(found.others.contains("T") && !found.others.contains("d") && !found.others.contains("no"));
    }

    #[test]
    fn an_import_counts_behind_the_end_of_what_was_before_it() {
        for before in [
            "module m; module n; endmodule endmodule",
            "interface i (interface j); endinterface",
            "class c; class d; endclass typedef class e; endclass",
            "virtual class c; virtual interface i v; endclass",
            "typedef class c;",
            "extern module m (input a);",
            "interface class c; endclass",
            "program p; endprogram",
            "function automatic int f(); import no::*; endfunction",
            "typedef virtual interface i t;",
            "import \"DPI-C\" function int f(); import \"DPI-C\" context task g();",
        ] {
            let found = source(
                &format!("{before}\nimport a::*;\nmodule z; import no::*; endmodule"),
                &[],
            );
            assert_eq!(names(&found.imports), ["a"], "{before}");
        }
    }

    #[test]
    fn a_file_of_macros_declares_nothing() {
        assert!(!source("`ifndef A\n`define A module m;\nimport a::*;\n`endif", &[]).declares);
        assert!(!source("", &[]).declares);
        assert!(source("typedef int t;", &[]).declares);
        // What has no end, and what is no Verilog at all, is taken as well.
        assert!(source("module", &[]).declares);
        assert_eq!(source("package", &[]).packages, [""; 0]);
        source("endmodule :: :: ) \u{0} \" '", &[]);
    }
}
