//! The PCI function: configuration space, BARs, interrupts.

use crate::config::{CONFIG_BYTES, ConfigSpace, Content, Effect, Identity, Messages};
use crate::memory::GuestMemory;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::os::fd::OwnedFd;
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
    identity: Identity,
    config: ConfigSpace,
    /// The MSI-X table as stored here; a virtual machine keeps its own.
    table: Vec<u8>,
    pub(crate) interrupts: Interrupts,
    pub(crate) memory: Rc<GuestMemory>,
}

impl Function {
    /// As after power-up.
    pub(crate) fn new(identity: Identity) -> Self {
        Self {
            config: ConfigSpace::new(&identity),
            table: masked(&identity),
            interrupts: Interrupts::new(identity.messages.vectors()),
            memory: Rc::default(),
            identity,
        }
    }

    /// Returns the bytes of a region; 0 if it does not exist.
    pub(crate) fn region_bytes(&self, region: u32) -> u64 {
        match region {
            CONFIG_REGION => CONFIG_BYTES as u64,
            _ => {
                let bar = self.identity.bars.iter().find(|bar| bar.number == region);
                bar.map_or(0, |bar| bar.bytes)
            }
        }
    }

    /// Vectors of one kind of interrupts.
    pub(crate) fn vectors(&self, index: u32) -> u32 {
        match (index, &self.identity.messages) {
            (MSI, Messages::Plain { vectors }) | (MSIX, Messages::Table { vectors, .. }) => *vectors,
            _ => 0,
        }
    }

    /// Reads bytes inside of a region; all ones where nothing responds.
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
            Some(Content::Application) => return read_words(application, offset as u32, bytes),
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

    /// Writes bytes inside of a region; ignored where nothing responds.
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
            Some(Content::Application) => write_words(application, offset as u32, bytes)?,
            Some(Content::Table) => {
                let table = self.table.iter_mut().skip(offset as usize);
                table.zip(bytes).for_each(|(byte, value)| *byte = *value);
            }
            Some(Content::Words(_)) | None => {}
        }
        Ok(())
    }

    /// Returns the contents of a BAR that is enabled.
    fn content(&self, region: u32) -> Option<Content> {
        let bar = self.identity.bars.iter().find(|bar| bar.number == region);
        bar.filter(|_| self.config.has_memory()).map(|bar| bar.content)
    }

    fn read_table(&self, offset: usize, bytes: &mut [u8]) {
        let Messages::Table { table, pending, .. } = self.identity.messages else {
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
        self.config = ConfigSpace::new(&self.identity);
        self.table = masked(&self.identity);
        self.interrupts.reset();
        self.memory.set_master(false);
        application.reset()
    }

    /// Drops everything that the disconnected client provided.
    pub(crate) fn disconnect(&mut self, application: &mut impl Application) -> io::Result<()> {
        self.memory.clear();
        self.interrupts.disconnect();
        application.stop()
    }
}

/// A table of MSI-X after reset: every vector is masked.
fn masked(identity: &Identity) -> Vec<u8> {
    let Messages::Table { vectors, .. } = identity.messages else {
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

/// The device behind the application BAR, accessed in words.
pub trait Application {
    /// Reads the word at an offset, a multiple of 4; all ones if nothing responds.
    ///
    /// # Errors
    /// If there can be no more accesses.
    fn read(&mut self, offset: u32) -> io::Result<u32>;

    /// Writes those bytes of a word that have their bit in `strobes`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn write(&mut self, offset: u32, word: u32, strobes: u8) -> io::Result<()>;

    /// Stops what the disconnected client started. Everything else stays, so that it can be inspected.
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

/// Reads bytes; each word that contains one of them is read once, in ascending order.
pub(crate) fn read_words(
    application: &mut impl Application,
    offset: u32,
    bytes: &mut [u8],
) -> io::Result<()> {
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

/// Writes bytes; each word that contains one of them is written once, in ascending order, with strobes for its bytes.
pub(crate) fn write_words(application: &mut impl Application, offset: u32, bytes: &[u8]) -> io::Result<()> {
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

/// The vectors of a function.
#[derive(Debug)]
pub(crate) struct Interrupts {
    vectors: Vec<Vector>,
}

#[derive(Debug, Default)]
struct Vector {
    file: Option<OwnedFd>,
    /// A message that could not be sent yet.
    is_pending: bool,
}

impl Interrupts {
    pub(crate) fn new(vectors: u32) -> Self {
        Self {
            vectors: (0..vectors).map(|_| Vector::default()).collect(),
        }
    }

    /// Sends a message as soon as the client can take it.
    pub(crate) fn raise(&mut self, vector: u32) {
        if let Some(vector) = self.vectors.get_mut(vector as usize) {
            vector.is_pending = true;
        }
    }

    /// Returns whether vectors with these numbers exist.
    pub(crate) fn has(&self, start: u32, count: u32) -> bool {
        start
            .checked_add(count)
            .is_some_and(|end| end as usize <= self.vectors.len())
    }

    /// Sets or removes the eventfds of vectors.
    pub(crate) fn set(&mut self, start: u32, count: u32, files: Vec<OwnedFd>) {
        let vectors = self.vectors.iter_mut().skip(start as usize).take(count as usize);
        let mut files = files.into_iter();
        vectors.for_each(|vector| vector.file = files.next());
    }

    /// Takes all files away.
    pub(crate) fn disconnect(&mut self) {
        self.vectors.iter_mut().for_each(|vector| vector.file = None);
    }

    /// Forgets messages that were not sent.
    pub(crate) fn reset(&mut self) {
        self.vectors
            .iter_mut()
            .for_each(|vector| vector.is_pending = false);
    }

    /// Sends the messages that can be sent.
    pub(crate) fn deliver(&mut self) {
        for vector in self.vectors.iter_mut().filter(|vector| vector.is_pending) {
            if let Some(file) = &vector.file {
                signal(file);
                vector.is_pending = false;
            }
        }
    }

    /// The pending bits, vector 0 in the lowest.
    pub(crate) fn pending(&self) -> u64 {
        let bits = self.vectors.iter().zip(0..);
        bits.fold(0, |all, (vector, bit)| all | u64::from(vector.is_pending) << bit)
    }
}

/// Increments an eventfd without blocking: one that is never read fills up, and a client may have sent any file.
fn signal(file: &OwnedFd) {
    let mut files = [PollFd::new(file, PollFlags::OUT)];
    let at_once = Timespec::default();
    if poll(&mut files, Some(&at_once)) == Ok(1) && files[0].revents() == PollFlags::OUT {
        // Ignore errors: a client that does not read the message does not need it.
        let _ = rustix::io::write(file, &1_u64.to_ne_bytes());
    }
}
