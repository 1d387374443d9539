//! A small application behind the BAR.

use spinneret_pci::{Application, GuestMemory};
use spinneret_sim::dma::HostBus as _;
use std::io;
use std::rc::Rc;

/// What stands behind the BAR: words, of which two are addresses between which 64 bytes are copied when the third is written, and
/// the fourth raises a vector.
pub(super) struct Words {
    words: [u32; 64],
    memory: Rc<GuestMemory>,
    raised: Vec<u32>,
}

/// Places of the words.
pub(super) const FROM: usize = 0;
pub(super) const TO: usize = 2;
pub(super) const COPY: usize = 4;
const RAISE: usize = 5;

impl Words {
    pub(super) fn new(memory: Rc<GuestMemory>) -> Self {
        Self {
            words: [0; 64],
            memory,
            raised: Vec::new(),
        }
    }

    /// Vectors that were asked for since this was last called.
    pub(super) fn take_raised(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.raised)
    }

    fn address(&self, place: usize) -> u64 {
        u64::from(self.words[place]) | u64::from(self.words[place + 1]) << 32
    }
}

impl Application for Words {
    fn read(&mut self, offset: u32) -> io::Result<u32> {
        Ok(self.words[offset as usize / 4 % self.words.len()])
    }

    fn write(&mut self, offset: u32, word: u32, _strobes: u8) -> io::Result<()> {
        let place = offset as usize / 4 % self.words.len();
        self.words[place] = word;
        if place == COPY {
            let mut bytes = [0; 64];
            let read = self.memory.read(self.address(FROM), &mut bytes);
            let copied = read.and_then(|()| self.memory.write(self.address(TO), &bytes));
            self.words[COPY] = u32::from(copied.is_err());
        }
        if place == RAISE {
            self.raised.push(word);
        }
        Ok(())
    }

    fn stop(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.words.fill(0);
        Ok(())
    }
}
