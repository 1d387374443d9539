//! Words and signs of Verilog, without what a compiler drops.

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or a name.
    Word,
    /// A macro where it is used; what it stands for is not known.
    Macro,
    /// A number, a string or a single character.
    Other,
}

/// A piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// Its line, from 1.
    pub(super) line: usize,
}

impl Token<'_> {
    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text
    }

    pub(super) fn opens(&self) -> bool {
        ["(", "[", "{"].contains(&self.text)
    }

    pub(super) fn closes(&self) -> bool {
        [")", "]", "}"].contains(&self.text)
    }
}

/// All pieces of a text but comments, attributes, directives and what is left out under these if nothing is defined but
/// by the text itself and these names.
pub(super) fn tokens<'a>(text: &'a str, defined: &[&'a str]) -> Vec<Token<'a>> {
    let mut reader = Reader {
        rest: text,
        line: 1,
        defined: defined.to_vec(),
        ..Reader::default()
    };
    while reader.step() {}
    reader.tokens
}

/// An open `` `ifdef ``.
#[derive(Clone, Copy, Debug)]
struct Branch {
    /// Whether the text around it counts.
    outside: bool,
    /// Whether this branch of it counts.
    counts: bool,
    /// Whether a branch of it has counted.
    done: bool,
}

#[derive(Default)]
struct Reader<'a> {
    rest: &'a str,
    line: usize,
    tokens: Vec<Token<'a>>,
    branches: Vec<Branch>,
    defined: Vec<&'a str>,
}

/// Directives that go to the end of their line.
const LINE_DIRECTIVES: &[&str] = &[
    "begin_keywords",
    "celldefine",
    "default_nettype",
    "end_keywords",
    "endcelldefine",
    "include",
    "line",
    "nounconnected_drive",
    "pragma",
    "resetall",
    "timescale",
    "unconnected_drive",
];

impl<'a> Reader<'a> {
    /// Takes the next piece; whether there was one.
    fn step(&mut self) -> bool {
        let Some(first) = self.rest.chars().next() else {
            return false;
        };
        if self.comment() || self.attribute() {
            return true;
        }
        if first == '`' {
            self.directive();
        } else if first == '"' {
            let end = string_end(self.rest);
            self.piece(Kind::Other, end);
        } else if first == '\\' {
            // A name of any characters, up to a space; if it is a plain one, the backslash is not part of it.
            let end = self.rest.find(char::is_whitespace).unwrap_or(self.rest.len());
            let is_plain = end > 1 && self.rest[1..end].chars().all(is_of_name);
            self.take(usize::from(is_plain));
            self.piece(Kind::Word, end - usize::from(is_plain));
        } else if first.is_alphabetic() || first == '_' {
            self.piece(Kind::Word, end_of(self.rest, is_of_name));
        } else if first.is_ascii_digit() || first == '\'' {
            let end = 1 + end_of(&self.rest[1..], |c| is_of_name(c) || "'?.".contains(c));
            self.piece(Kind::Other, end);
        } else if first.is_whitespace() {
            self.take(first.len_utf8());
        } else {
            self.piece(Kind::Other, first.len_utf8());
        }
        true
    }

    /// Takes a number of bytes, which must end at a character boundary.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    /// Takes everything up to the end of a mark, or all that is left.
    fn take_until(&mut self, mark: &str) {
        let end = self.rest.find(mark).map_or(self.rest.len(), |at| at + mark.len());
        self.take(end);
    }

    /// Takes a token, which is kept unless it is left out.
    fn piece(&mut self, kind: Kind, bytes: usize) {
        let line = self.line;
        let text = self.take(bytes);
        if self.counts() {
            self.tokens.push(Token { kind, text, line });
        }
    }

    fn counts(&self) -> bool {
        self.branches.last().is_none_or(|branch| branch.counts)
    }

    /// Takes a comment; whether there was one.
    fn comment(&mut self) -> bool {
        let end = match self.rest.get(..2) {
            Some("//") => "\n",
            Some("/*") => "*/",
            _ => return false,
        };
        self.take(2);
        self.take_until(end);
        true
    }

    /// Takes an attribute, `(* keep *)`; whether there was one. A list of sensitivities, `(*)`, is none.
    fn attribute(&mut self) -> bool {
        let Some(inside) = self.rest.strip_prefix("(*").filter(|rest| !rest.starts_with(')')) else {
            return false;
        };
        // It has no other attribute inside, and does not go beyond the statement that it belongs to.
        let signs = inside.bytes().enumerate();
        let mut ends = signs.filter(|(at, byte)| {
            let next = inside.as_bytes().get(at + 1);
            *byte == b';' || (*byte == b'*' && next == Some(&b')')) || (*byte == b'(' && next == Some(&b'*'))
        });
        let Some((at, b'*')) = ends.next() else {
            return false;
        };
        self.take(at + 4);
        true
    }

    fn directive(&mut self) {
        let length = end_of(&self.rest[1..], is_of_name);
        let name = &self.rest[1..][..length];
        match name {
            "ifdef" | "ifndef" | "elsif" | "else" | "endif" => {
                self.take(1 + length);
                self.condition(name);
            }
            "define" | "undef" => {
                self.take(1 + length);
                let name = self.word();
                if self.counts() {
                    self.defined.retain(|other| *other != name);
                    self.defined.extend((length == "define".len()).then_some(name));
                }
                self.rest_of_definition();
            }
            _ if LINE_DIRECTIVES.contains(&name) => self.take_until("\n"),
            _ => self.piece(Kind::Macro, 1 + length),
        }
    }

    fn condition(&mut self, directive: &str) {
        let outside = self.counts();
        match directive {
            "else" => self.next_branch(true),
            "endif" => {
                self.branches.pop();
            }
            "elsif" => {
                let name = self.word();
                self.next_branch(self.defined.contains(&name));
            }
            _ => {
                let name = self.word();
                let counts = outside && self.defined.contains(&name) == (directive == "ifdef");
                self.branches.push(Branch {
                    outside,
                    counts,
                    done: counts,
                });
            }
        }
    }

    fn next_branch(&mut self, condition: bool) {
        if let Some(branch) = self.branches.last_mut() {
            branch.counts = branch.outside && !branch.done && condition;
            branch.done |= branch.counts;
        }
    }

    /// Takes the name behind a directive.
    fn word(&mut self) -> &'a str {
        let spaces = end_of(self.rest, |c| c == ' ' || c == '\t');
        self.take(spaces);
        self.take(end_of(self.rest, is_of_name))
    }

    /// Takes the text of a macro, whose lines may end with a backslash.
    fn rest_of_definition(&mut self) {
        loop {
            let end = self.rest.find('\n').map_or(self.rest.len(), |at| at + 1);
            let line = self.take(end);
            if !line.trim_end().ends_with('\\') {
                return;
            }
        }
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// How many bytes the characters of a sort take at the beginning.
fn end_of(text: &str, is_of_sort: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_of_sort(c)).unwrap_or(text.len())
}

/// How many bytes a string at the beginning takes.
fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !is_escaped => return at + 1,
            // A string does not go on in the next line, so that a single quotation mark spoils little.
            '\n' if !is_escaped => return at,
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    text.len()
}
