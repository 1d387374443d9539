//! Names in the header of a Verilog module that somebody else wrote.
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

/// What is between the bracket at `at` and the one that ends it.
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

/// What is between the commas that are in no bracket.
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
mod tests;
