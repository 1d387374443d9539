//! Accesses of a host's bus to the BAR: whatever is asked for, there is an answer.

use super::{Behind, NO_WORD, Nic, NicError};
use spinneret_regmap::bar::{Destination, decode};
use spinneret_regmap::cl;
use spinneret_sim::axil::{LiteRead, LiteWrite, Response};

/// What is read where nobody answers.
const NOBODY: u32 = u32::MAX;
/// All bytes of a word.
const WHOLE: u8 = 0xf;

impl<B: Behind> Nic<B> {
    /// Reads the word at an offset in the BAR; all ones if it is not there, or does not answer.
    ///
    /// # Errors
    /// If the hardware breaks a rule of a bus.
    pub fn bus_read(&mut self, offset: u32) -> Result<u32, NicError> {
        // What is printed is read all the time, because HPUs wait for somebody who does.
        if decode(offset) == Destination::ControlRegister(cl::FIFO.offset) {
            if self.stdout.is_empty() && self.printed < self.behind.printed() {
                self.read_word()?;
            }
            return Ok(self.stdout.pop_front().unwrap_or(NO_WORD));
        }
        self.bar.read(LiteRead::new(offset.into()));
        self.finish_access()?;
        let done = self.bar.take_reads().into_iter().next();
        let answered = done.filter(|done| done.response == Response::Okay);
        Ok(answered.map_or(NOBODY, |done| done.data as u32))
    }

    /// Writes those bytes of a word of the BAR that have their bit in `strobes`, if it is there.
    ///
    /// # Errors
    /// As [`bus_read`](Self::bus_read).
    pub fn bus_write(&mut self, offset: u32, word: u32, strobes: u8) -> Result<(), NicError> {
        if let Destination::ControlRegister(register) = decode(offset) {
            self.note_write(register, word);
        }
        self.bar
            .write(LiteWrite::new(offset.into(), word.into()).strobed(strobes));
        self.finish_access()?;
        let done = self.bar.take_writes().into_iter().next();
        let is_done = done.is_some_and(|done| done.response == Response::Okay);
        if let (true, Destination::ControlRegister(register)) = (is_done, decode(offset)) {
            let word = if strobes == WHOLE {
                word
            } else {
                self.bus_read(offset)?
            };
            self.note_written(register, word);
        }
        Ok(())
    }

    /// The hardware answers every access, whatever becomes of the cluster.
    fn finish_access(&mut self) -> Result<(), NicError> {
        while !self.bar.is_idle() {
            self.clock()?;
        }
        Ok(())
    }
}
