//! The text of a header in C without directives and comments: Rust has the same tokens.

use std::collections::BTreeMap;
use syn::Error;

/// An error in a header.
#[derive(Debug)]
pub struct HeaderError {
    /// The line, from 1 on.
    pub line: usize,
    /// The reason, and a remedy.
    pub why: String,
}

impl HeaderError {
    fn new(line: usize, why: impl Into<String>) -> Self {
        Self {
            line,
            why: why.into(),
        }
    }
}

impl From<Error> for HeaderError {
    fn from(error: Error) -> Self {
        Self::new(error.span().start().line, error.to_string())
    }
}

impl std::fmt::Display for HeaderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for HeaderError {}

/// The code of a header, in the same lines, and the comments before lines of code.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) text: String,
    /// Comments without an empty line after them, by the number of the line that follows, from 1 on.
    pub(crate) comments: BTreeMap<usize, Vec<String>>,
}

/// The state between two lines.
#[derive(Debug, Default)]
struct Scan {
    is_comment: bool,
    is_directive: bool,
    /// Conditions for C++ around the line.
    cpp_depth: u32,
}

impl Code {
    /// Takes directives and comments out of a header.
    pub(crate) fn of(header: &str) -> Result<Self, HeaderError> {
        let (mut code, mut scan, mut comments) = (Self::default(), Scan::default(), Vec::new());
        for (line, number) in header.lines().zip(1..) {
            let (rest, comment) = scan.without_comments(line);
            let is_directive = scan.is_directive || rest.starts_with('#');
            if is_directive {
                if !scan.is_directive {
                    scan.directive(rest[1..].trim_start(), number)?;
                }
                scan.is_directive = line.ends_with('\\');
                comments.clear();
            } else if rest.is_empty() {
                match comment {
                    Some(comment) => comments.push(comment),
                    None => comments.clear(),
                }
            } else if scan.cpp_depth == 0 {
                code.comments
                    .insert(number, trimmed(std::mem::take(&mut comments)));
                code.text.push_str(&rest);
            }
            code.text.push('\n');
        }
        match scan.is_comment {
            false => Ok(code),
            true => Err(HeaderError::new(
                header.lines().count(),
                "the last comment has no end: write `*/` after it",
            )),
        }
    }
}

/// Comments without empty lines at the ends.
fn trimmed(mut lines: Vec<String>) -> Vec<String> {
    let is_text = |line: &String| !line.is_empty();
    let end = lines.iter().rposition(is_text).map_or(0, |last| last + 1);
    lines.truncate(end);
    let start = lines.iter().position(is_text).unwrap_or(0);
    lines.split_off(start)
}

impl Scan {
    /// Returns the code of a line, and its comment if it has one.
    fn without_comments(&mut self, line: &str) -> (String, Option<String>) {
        let (mut code, mut comment, mut rest) = (String::new(), None::<String>, line);
        loop {
            if self.is_comment {
                let (text, next) = rest
                    .split_once("*/")
                    .map_or((rest, None), |(text, next)| (text, Some(next)));
                let text = text.trim().trim_start_matches('*').trim();
                comment.get_or_insert_default().push_str(text);
                let Some(next) = next else { break };
                (self.is_comment, rest) = (false, next);
                // A comment separates words.
                code.push(' ');
            }
            match (rest.find("/*"), rest.find("//")) {
                (Some(long), short) if short.is_none_or(|short| long < short) => {
                    code.push_str(&rest[..long]);
                    (self.is_comment, rest) = (true, &rest[long + 2..]);
                }
                (_, Some(short)) => {
                    code.push_str(&rest[..short]);
                    let text = rest[short..].trim_start_matches('/').trim();
                    comment.get_or_insert_default().push_str(text);
                    break;
                }
                _ => {
                    code.push_str(rest);
                    break;
                }
            }
        }
        (code.trim().to_owned(), comment)
    }

    /// Takes note of a directive, without its `#`.
    fn directive(&mut self, directive: &str, line: usize) -> Result<(), HeaderError> {
        let mut words = directive.split_whitespace();
        match (words.next().unwrap_or_default(), words.next()) {
            ("if" | "ifdef" | "ifndef", _) if self.cpp_depth > 0 => self.cpp_depth += 1,
            ("ifdef", Some("__cplusplus")) => self.cpp_depth = 1,
            ("endif", _) => self.cpp_depth = self.cpp_depth.saturating_sub(1),
            ("if" | "ifdef" | "elif" | "else", _) if self.cpp_depth == 0 => {
                let why = "conditions are not evaluated: move functions that depend on one to a header of their own";
                return Err(HeaderError::new(line, why));
            }
            _ => {}
        }
        Ok(())
    }
}
