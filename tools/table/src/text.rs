//! Lines for people.

use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};
use std::os::fd::AsFd;
use std::process::ExitCode;

/// Prints a text and a line end; lines are no wider than the terminal, if there is one.
///
/// # Panics
/// As `println!`: if it cannot be written, unless the reader has gone, who has seen enough.
pub fn say(text: impl Display) {
    let mut out = stdout().lock();
    let text = for_people(&text.to_string(), &out);
    match writeln!(out, "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            panic!("cannot print the result: {error}")
        }
        _ => {}
    }
}

/// The same on standard error, where nothing is lost if nobody can read it.
pub fn tell(text: impl Display) {
    let mut out = stderr().lock();
    let text = for_people(&text.to_string(), &out);
    let _ = writeln!(out, "{text}");
}

/// The exit code of a program that ended so; a failure is told as a sentence, with its causes.
pub fn failed<E: Display>(result: Result<ExitCode, E>) -> ExitCode {
    result.unwrap_or_else(|error| {
        tell(error_line(&format!("{error:#}")));
        ExitCode::FAILURE
    })
}

/// What a failure looks like.
pub fn error_line(sentence: &str) -> String {
    match stderr().is_terminal() && has_colour() {
        true => format!("\x1b[31merror:\x1b[0m {sentence}"),
        false => format!("error: {sentence}"),
    }
}

/// Whether whoever reads this wants colours on a terminal (<https://no-color.org>).
pub fn has_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The text as people see it there: folded on a terminal, and as it is elsewhere.
pub fn for_people(text: &str, stream: &(impl IsTerminal + AsFd)) -> String {
    let width = stream
        .is_terminal()
        .then(|| terminal_size::terminal_size_of(stream))
        .flatten();
    match width {
        Some((terminal_size::Width(width), _)) if width > 0 => fold(text, width.into()),
        _ => text.to_owned(),
    }
}

/// Breaks lines between words where they are wider than that; a line goes on as far to the right as it began. Words that are
/// wider stay whole, as names of files have to.
pub fn fold(text: &str, width: usize) -> String {
    let mut folded = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            folded.push('\n');
        }
        if columns(line) <= width {
            folded.push_str(line);
            continue;
        }
        let words = line.trim_start_matches(' ');
        let indent = &line[..line.len() - words.len()];
        let mut at = indent.len();
        folded.push_str(indent);
        for (place, word) in words.split(' ').enumerate() {
            let long = columns(word);
            if place > 0 && at + 1 + long > width {
                folded.push('\n');
                folded.push_str(indent);
                at = indent.len();
            } else if place > 0 {
                folded.push(' ');
                at += 1;
            }
            folded.push_str(word);
            at += long;
        }
    }
    folded
}

/// How many places of a terminal a text takes: colours take none.
fn columns(text: &str) -> usize {
    let (mut count, mut is_colour) = (0, false);
    for character in text.chars() {
        match (is_colour, character) {
            (false, '\x1b') => is_colour = true,
            (false, _) => count += 1,
            (true, 'm') => is_colour = false,
            (true, _) => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn lines_break_between_words_and_keep_their_indent() {
        assert_eq!(fold("one two three", 8), "one two\nthree");
        assert_eq!(fold("  one two three\nfour", 8), "  one\n  two\n  three\nfour");
        assert_eq!(fold("one two\n", 7), "one two\n");
        assert_eq!(fold("", 0), "");
    }

    #[test]
    fn names_of_files_stay_whole_and_colours_take_no_place() {
        assert_eq!(fold("see /a/long/name now", 8), "see\n/a/long/name\nnow");
        assert_eq!(fold("\x1b[31merror:\x1b[0m no", 9), "\x1b[31merror:\x1b[0m no");
    }
}
