//! What handlers print.

use spinneret_host::Lines;

/// Joins the characters of all HPUs to lines, each of one HPU, fit for a terminal.
///
/// ```
/// let mut console = spinneret_nic::report::Console::default();
/// let words = "hello\n".bytes().map(|character| 1 << 16 | 3 << 8 | u32::from(character));
/// let lines: Vec<String> = words.filter_map(|word| console.word(word)).collect();
/// assert_eq!(lines, ["[1.3] hello"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Console(Lines);

impl Console {
    /// Takes a word of standard output: the line that it ends, if it ends one.
    pub fn word(&mut self, word: u32) -> Option<String> {
        self.0.word(word).map(|printed| printed.to_string())
    }

    /// The lines that were begun and have no end, at the end of a run.
    pub fn rest(&mut self) -> Vec<String> {
        self.0.rest().iter().map(ToString::to_string).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(console: &mut Console, hpu: u32, text: &[u8]) -> Vec<String> {
        let words = text.iter().map(|character| hpu << 8 | u32::from(*character));
        words.filter_map(|word| console.word(word)).collect()
    }

    #[test]
    fn lines_of_two_hpus_are_not_mixed() {
        let mut console = Console::default();
        assert!(print(&mut console, 0x0102, b"one ").is_empty());
        assert_eq!(print(&mut console, 0x0007, b"other\n"), ["[0.7] other"]);
        assert_eq!(print(&mut console, 0x0102, b"line\nnext"), ["[1.2] one line"]);
        assert_eq!(console.rest(), ["[1.2] next"]);
        assert!(console.rest().is_empty());
    }

    #[test]
    fn nothing_reaches_the_terminal_that_controls_it() {
        let mut console = Console::default();
        let lines = print(&mut console, 0, b"\x1b[2J\tred\r\n\xff\xc3\xa4\n");
        assert_eq!(lines, ["[0.0] \\u{1b}[2J\tred", "[0.0] \u{fffd}ä"]);
    }

    #[test]
    fn a_line_without_end_is_broken() {
        let mut console = Console::default();
        let lines = print(&mut console, 0, &[b'x'; 2 * Lines::LONGEST + 1]);
        assert_eq!(lines.len(), 2);
        assert_eq!(console.rest(), ["[0.0] x"]);
    }
}
