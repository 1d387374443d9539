//! The function behind the socket: configuration space, BARs, interrupts.

use crate::bridge::{self, Application};
use crate::config::{CONFIG_BYTES, ConfigSpace, Effect};
use crate::interrupts::Interrupts;
use crate::memory::GuestMemory;
use crate::personality::{Content, Messages, Personality};
use std::io;
use std::rc::Rc;

/// Regions of a PCI device, as vfio counts them: BARs, ROM, configuration space, VGA.
pub(crate) const REGIONS: u32 = 9;
const CONFIG_REGION: u32 = 7;
/// Interrupts of a PCI device, as vfio counts them: INTx, MSI, MSI-X, errors, requests.
pub(crate) const INTERRUPTS: u32 = 5;
const MSI: u32 = 1;
const MSIX: u32 = 2;
/// Bytes of an entry of the table of MSI-X, and the one with the bit that masks its vector.
const ENTRY_BYTES: usize = 16;
const ENTRY_MASK: usize = 12;

/// A PCI function.
#[derive(Debug)]
pub(crate) struct Function {
    personality: Personality,
    config: ConfigSpace,
    /// The table of MSI-X, for who looks at it: a virtual machine has its own.
    table: Vec<u8>,
    pub(crate) interrupts: Interrupts,
    pub(crate) memory: Rc<GuestMemory>,
}

impl Function {
    /// As after power-up.
    pub(crate) fn new(personality: Personality) -> Self {
        Self {
            config: ConfigSpace::new(&personality),
            table: masked(&personality),
            interrupts: Interrupts::new(personality.messages.vectors()),
            memory: Rc::default(),
            personality,
        }
    }

    /// Bytes of a region; 0 if there is none.
    pub(crate) fn region_bytes(&self, region: u32) -> u64 {
        match region {
            CONFIG_REGION => CONFIG_BYTES as u64,
            _ => {
                let bar = self.personality.bars.iter().find(|bar| bar.number == region);
                bar.map_or(0, |bar| bar.bytes)
            }
        }
    }

    /// Vectors of one kind of interrupts.
    pub(crate) fn vectors(&self, index: u32) -> u32 {
        match (index, &self.personality.messages) {
            (MSI, Messages::Plain { vectors }) | (MSIX, Messages::Table { vectors, .. }) => *vectors,
            _ => 0,
        }
    }

    /// Reads bytes that are within a region; all ones where nobody answers.
    pub(crate) fn read(
        &mut self,
        application: &mut impl Application,
        region: u32,
        offset: u64,
        bytes: &mut [u8],
    ) -> io::Result<()> {
        if region == CONFIG_REGION {
            self.config.read(offset as usize, bytes);
            return Ok(());
        }
        match self.content(region) {
            Some(Content::Application) => return bridge::read(application, offset as u32, bytes),
            Some(Content::Table) => self.read_table(offset as usize, bytes),
            Some(Content::Words(words)) => {
                for (at, byte) in (offset as u32..).zip(bytes) {
                    let word = words.iter().find(|(offset, _)| *offset == at & !3);
                    *byte = word.map_or(0, |(_, word)| word.to_le_bytes()[at as usize % 4]);
                }
            }
            None => bytes.fill(0xff),
        }
        Ok(())
    }

    /// Writes bytes that are within a region; nothing happens where nobody answers.
    pub(crate) fn write(
        &mut self,
        application: &mut impl Application,
        region: u32,
        offset: u64,
        bytes: &[u8],
    ) -> io::Result<()> {
        if region == CONFIG_REGION {
            let effect = self.config.write(offset as usize, bytes);
            if effect == Effect::Reset {
                return self.reset(application);
            }
            self.memory.set_master(self.config.is_master());
            return Ok(());
        }
        match self.content(region) {
            Some(Content::Application) => bridge::write(application, offset as u32, bytes)?,
            Some(Content::Table) => {
                let table = self.table.iter_mut().skip(offset as usize);
                table.zip(bytes).for_each(|(byte, value)| *byte = *value);
            }
            Some(Content::Words(_)) | None => {}
        }
        Ok(())
    }

    /// What is behind a BAR that answers.
    fn content(&self, region: u32) -> Option<Content> {
        let bar = self.personality.bars.iter().find(|bar| bar.number == region);
        bar.filter(|_| self.config.has_memory()).map(|bar| bar.content)
    }

    fn read_table(&self, offset: usize, bytes: &mut [u8]) {
        let Messages::Table { table, pending, .. } = self.personality.messages else {
            return;
        };
        let bits = self.interrupts.pending().to_le_bytes();
        for (at, byte) in (offset..).zip(bytes) {
            let in_table = at.checked_sub(table as usize).and_then(|at| self.table.get(at));
            let in_pending = at.checked_sub(pending as usize).and_then(|at| bits.get(at));
            *byte = in_table.or(in_pending).copied().unwrap_or(0);
        }
    }

    /// Sends messages that wait, if the function may.
    pub(crate) fn deliver(&mut self) {
        if self.config.is_master() {
            self.interrupts.deliver();
        }
    }

    /// A reset of the function, or of all of the bus. Files of interrupts and mapped memory are the client's, and stay.
    pub(crate) fn reset(&mut self, application: &mut impl Application) -> io::Result<()> {
        self.config = ConfigSpace::new(&self.personality);
        self.table = masked(&self.personality);
        self.interrupts.reset();
        self.memory.set_master(false);
        application.reset()
    }

    /// The client is gone: what it gave goes with it.
    pub(crate) fn disconnect(&mut self, application: &mut impl Application) -> io::Result<()> {
        self.memory.clear();
        self.interrupts.disconnect();
        application.stop()
    }
}

/// A table of MSI-X after reset: every vector is masked.
fn masked(personality: &Personality) -> Vec<u8> {
    let Messages::Table { vectors, .. } = personality.messages else {
        return Vec::new();
    };
    let mut table = vec![0; vectors as usize * ENTRY_BYTES];
    table
        .iter_mut()
        .skip(ENTRY_MASK)
        .step_by(ENTRY_BYTES)
        .for_each(|byte| *byte = 1);
    table
}
