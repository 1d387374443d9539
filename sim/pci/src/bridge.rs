//! From accesses of any size to words, as a bridge from PCI Express to AXI4-Lite makes them.

use std::io;

/// What is behind the application BAR, which is accessed in words.
pub trait Application {
    /// Reads the word at an offset, which is a multiple of 4; all ones if nobody answers.
    ///
    /// # Errors
    /// If there can be no more accesses.
    fn read(&mut self, offset: u32) -> io::Result<u32>;

    /// Writes those bytes of a word that have their bit in `strobes`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn write(&mut self, offset: u32, word: u32, strobes: u8) -> io::Result<()>;

    /// Ends what the client has begun: it is gone. Everything else stays as it is, for who looks at it.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn stop(&mut self) -> io::Result<()>;

    /// Back to how it was after power-up.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn reset(&mut self) -> io::Result<()>;
}

const WORD: usize = 4;

/// Reads bytes: every word that has one of them is read once, lowest first.
pub(crate) fn read(application: &mut impl Application, offset: u32, bytes: &mut [u8]) -> io::Result<()> {
    let mut rest = bytes;
    let mut at = offset;
    while !rest.is_empty() {
        let lane = at as usize % WORD;
        let (now, later) = rest.split_at_mut(rest.len().min(WORD - lane));
        let word = application.read(at - lane as u32)?.to_le_bytes();
        now.copy_from_slice(&word[lane..lane + now.len()]);
        at += now.len() as u32;
        rest = later;
    }
    Ok(())
}

/// Writes bytes: every word that has one of them is written once, lowest first, with strobes for its bytes.
pub(crate) fn write(application: &mut impl Application, offset: u32, bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    let mut at = offset;
    while !rest.is_empty() {
        let lane = at as usize % WORD;
        let (now, later) = rest.split_at(rest.len().min(WORD - lane));
        let mut word = [0; WORD];
        word[lane..lane + now.len()].copy_from_slice(now);
        let strobes = ((1 << now.len()) - 1) << lane;
        application.write(at - lane as u32, u32::from_le_bytes(word), strobes)?;
        at += now.len() as u32;
        rest = later;
    }
    Ok(())
}
