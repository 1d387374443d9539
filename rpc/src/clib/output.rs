//! Where text of handlers goes.

use std::io::{self, Write};

/// Where standard output or standard error of handlers goes. Whatever is [`Write`] gets the bytes as they are, from all
/// handlers as they come: right for a file or a pipe of one's own, and wrong for a terminal, which obeys some of them.
/// [`Shown`](super::Shown) is for people.
pub trait Output {
    /// Takes text of the handler that calls by a port, and says how many bytes were taken.
    ///
    /// # Errors
    /// If it cannot be written.
    fn write_of(&mut self, port: u32, text: &[u8]) -> io::Result<usize>;

    /// Hands on what was kept of a port, or of all.
    ///
    /// # Errors
    /// If it cannot be written.
    fn flush_of(&mut self, port: Option<u32>) -> io::Result<()>;
}

impl<W: Write> Output for W {
    fn write_of(&mut self, _: u32, text: &[u8]) -> io::Result<usize> {
        self.write(text)
    }

    fn flush_of(&mut self, _: Option<u32>) -> io::Result<()> {
        self.flush()
    }
}
