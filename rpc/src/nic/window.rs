//! The buffer in the host memory of a context, and its announcement to handlers.

use super::{Copies, HPUS_OF_CLUSTER, Offer, ServicesError};
use crate::layout::{ALIGNMENT, Announcement, Bulk, Layout, MAILBOX_BYTES, PACKET_BYTES};
use crate::memory::{Memory, Words};
use crate::{layout, place};
use spinneret_host::{Context, Device, Error, HandlerMemory, ProgramNotes};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;
use std::{mem, slice};

/// Host memory of each HPU that the handshake of `spin_host.h` uses.
const PAGE_BYTES: u32 = 4096;

/// The buffer in the host memory of a context. It notes the server's writes to mailboxes for copies on the NIC.
#[derive(Debug)]
pub struct Window {
    first: NonNull<AtomicU32>,
    layout: Layout,
    /// Bytes of the buffer and of the memory after it for data of calls.
    bytes: u32,
    copies: Option<InboxCopies>,
}

/// Pending writes to the NIC.
#[derive(Debug)]
struct InboxCopies {
    session: u32,
    /// HPUs whose inboxes are copied as bits; otherwise each port has a word.
    hpus: Option<u32>,
    /// The packet that was written last, and its port.
    packet: Cell<Option<(u32, [u64; layout::WORDS])>>,
    /// Words, by their place, and what they hold from now on.
    noted: RefCell<Vec<(u32, u32)>>,
    /// The content of words of bits.
    bits: RefCell<BTreeMap<u32, u32>>,
}

impl InboxCopies {
    fn new(session: u32, hpus: Option<u32>) -> Self {
        Self {
            session,
            hpus,
            packet: Cell::default(),
            noted: RefCell::default(),
            bits: RefCell::default(),
        }
    }

    /// The server has written to a mailbox of its own.
    fn note(&self, port: u32, inbox: u32) {
        let packet = self.packet.take().filter(|(of, _)| *of == port);
        let mut noted = self.noted.borrow_mut();
        let Some(hpus) = self.hpus else {
            let words = packet.as_ref().map(|(_, words)| &words[..]);
            noted.push((port, place::copy(self.session, inbox, words)));
            return;
        };
        let (word, bit) = place::bit(port, hpus);
        let mut bits = self.bits.borrow_mut();
        let value = bits.entry(word).or_insert(self.session << place::BITS_SHIFT);
        *value = *value & !(1 << bit) | (inbox & 1) << bit;
        // The new word contains everything that was noted of this word.
        noted.retain(|(other, _)| *other != word);
        noted.push((word, *value));
    }
}

// SAFETY: host memory belongs to the process and not to a thread, and its words are accessed as atomic ones; the rest is this
// window's own.
unsafe impl Send for Window {}

impl Window {
    /// The buffer at an address; the session, if there are copies on the NIC, and of how many HPUs if by bits.
    ///
    /// # Safety
    /// There are `bytes` bytes, no fewer than the layout says, at a multiple of 64, for as long as the window exists,
    /// and this process accesses them by atomic operations only.
    pub(super) unsafe fn new(
        first: NonNull<u8>,
        layout: Layout,
        bytes: u32,
        copies: Option<(u32, Option<u32>)>,
    ) -> Self {
        Self {
            first: first.cast(),
            layout,
            bytes,
            copies: copies.map(|(session, hpus)| InboxCopies::new(session, hpus)),
        }
    }

    fn words(&self) -> Words<'_> {
        let words = self.bytes / MAILBOX_BYTES;
        // SAFETY: the code that made the window has promised that there are that many bytes in this alignment, and that
        // only atomic operations change them; the NIC and other processes are no part of this program.
        Words::new(unsafe { slice::from_raw_parts(self.first.as_ptr(), words as usize) })
    }

    /// Words that have changed since the last call, in the order in which they did: their place behind the head, and
    /// what they hold.
    pub(super) fn take_copies(&self) -> Vec<(u32, u32)> {
        let copies = self.copies.as_ref();
        copies.map_or_else(Vec::new, |copies| mem::take(&mut copies.noted.borrow_mut()))
    }
}

impl Memory for Window {
    type Error = Infallible;

    fn bytes(&self) -> u32 {
        self.bytes
    }

    #[inline]
    fn load(&self, offset: u32) -> Result<u32, Infallible> {
        self.words().load(offset)
    }

    #[inline]
    fn store(&self, offset: u32, value: u32) -> Result<(), Infallible> {
        self.words().store(offset, value)?;
        let mailboxes = self.layout.primary(0)..self.layout.secondary(0);
        if let Some(copies) = self.copies.as_ref().filter(|_| mailboxes.contains(&offset)) {
            let port = (offset - mailboxes.start) / MAILBOX_BYTES;
            copies.note(port, value);
        }
        Ok(())
    }

    #[inline]
    fn read(&self, offset: u32, words: &mut [u64]) -> Result<(), Infallible> {
        self.words().read(offset, words)
    }

    #[inline]
    fn write(&self, offset: u32, words: &[u64]) -> Result<(), Infallible> {
        self.words().write(offset, words)?;
        if let Some(copies) = &self.copies {
            let port = offset
                .checked_sub(self.layout.packet(0))
                .map(|place| place / PACKET_BYTES);
            copies.packet.set(port.zip(words.try_into().ok()));
        }
        Ok(())
    }
}

// Descriptions of the stubs in a handler's program, compared with what is offered.
//
// | in the section `.spin_services`, for each stub that is used | bytes |
// |---|---|
// | opcode | 4 |
// | version: the hash of the function's canonical text | 8 |
// | name in C, with its NUL | any |

/// The stubs of a program.
#[derive(Debug)]
pub(super) struct Stubs {
    program: String,
    stubs: Vec<Stub>,
}

#[derive(Debug)]
struct Stub {
    opcode: u32,
    version: u64,
    name: String,
}

impl Stubs {
    pub(super) fn of(notes: &ProgramNotes) -> Result<Self, ServicesError> {
        let program = notes.path.display().to_string();
        let (mut stubs, mut rest) = (Vec::new(), &notes.services[..]);
        while !rest.is_empty() {
            let Some((stub, behind)) = Stub::first(rest) else {
                return Err(ServicesError::Stubs { program });
            };
            stubs.push(stub);
            rest = behind;
        }
        Ok(Self { program, stubs })
    }

    /// Checks that all stubs have the offered versions. A call of a function that is not offered is refused at run time.
    pub(super) fn check(self, version: impl Fn(u32) -> Option<u64>) -> Result<(), ServicesError> {
        let is_other = |stub: &Stub| version(stub.opcode).is_some_and(|version| version != stub.version);
        match self.stubs.into_iter().find(is_other) {
            None => Ok(()),
            Some(stub) => Err(ServicesError::OtherVersion {
                program: self.program,
                function: stub.name,
            }),
        }
    }
}

impl Stub {
    /// The first one, and the rest.
    fn first(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (opcode, bytes) = bytes.split_first_chunk()?;
        let (version, bytes) = bytes.split_first_chunk()?;
        let end = bytes.iter().position(|byte| *byte == 0)?;
        let stub = Self {
            opcode: u32::from_le_bytes(*opcode),
            version: u64::from_le_bytes(*version),
            name: String::from_utf8_lossy(&bytes[..end]).into_owned(),
        };
        Some((stub, &bytes[end + 1..]))
    }
}

// The place where a context tells its handlers about the buffer.

/// The announcement of services to a context's handlers, and where it is written.
#[derive(Debug)]
pub(super) struct Place<D: Device> {
    memory: HandlerMemory<D>,
    context: u32,
    /// Ports that there is room for.
    room: u32,
    pub(super) layout: Layout,
    pub(super) offset: u32,
    pub(super) hpus: u32,
    pub(super) copies: Copies,
    /// Bytes from the buffer's first one on that calls may use.
    bytes: u32,
    session: u32,
}

impl<D: Device> Place<D> {
    pub(super) fn new(context: &Context<D>, offer: &Offer) -> Result<Self, ServicesError> {
        let memory = context.variable(place::VARIABLE)?;
        let [clusters, _] = context.nic().device().shape();
        let hpus = clusters * HPUS_OF_CLUSTER;
        let layout = Layout::new(offer.version, hpus * offer.ports_per_hpu)?;
        let room = (memory.len() / 4 / place::PLACES).saturating_sub(place::HEAD_WORDS);
        let ports = layout.ports();
        if ports > room || offer.ports_per_hpu > place::PORTS_PER_HPU {
            return Err(ServicesError::Ports { ports, room });
        }
        let offset = hpus * PAGE_BYTES;
        let has = context.host_memory().len().saturating_sub(offset);
        let with_bulk = layout.bulk(0).offset.saturating_add(offer.bulk_bytes);
        let mut place = Self {
            memory,
            context: context.number(),
            room,
            layout,
            offset,
            hpus,
            copies: offer.copies,
            bytes: has.min(with_bulk).max(layout.bytes()),
            session: 0,
        };
        let last: u32 = place.memory.load(place.head(place::SESSIONS))?;
        place.session = last % place::LAST_SESSION + 1;
        Ok(place)
    }

    fn head(&self, word: u32) -> u32 {
        4 * place::head_word(self.context, word, self.room)
    }

    /// The address of a word that tells inboxes.
    pub(super) fn inbox(&self, word: u32) -> u32 {
        self.memory.address() + 4 * place::inbox_word(self.context, word, self.room)
    }

    /// Where data that are too long for packets lie, from the buffer's first byte on.
    fn bulk(&self) -> Bulk {
        self.layout.bulk(self.bytes)
    }

    /// Clears the buffer and the copies.
    pub(super) fn prepare(&self, context: &Context<D>) -> Result<Window, ServicesError> {
        let host = context.host_memory();
        let needs = self.offset + self.layout.bytes();
        if host.len() < needs {
            let (context, has) = (context.number(), host.len());
            return Err(ServicesError::HostMemory { context, has, needs });
        }
        self.check_layout()?;
        self.memory.store(self.head(place::SESSION), 0_u32)?;
        host.write(self.offset, &vec![0; self.layout.bytes() as usize])?;
        self.write_copies(match self.copies {
            Copies::Bits => self.session << place::BITS_SHIFT,
            _ => place::copy(self.session, 0, None),
        })?;
        let first = host.pointer()?.as_ptr().wrapping_add(self.offset as usize);
        let first = NonNull::new(first).expect("memory is not at address 0");
        debug_assert!(first.as_ptr().addr().is_multiple_of(ALIGNMENT));
        let copies = match self.copies {
            Copies::Host => None,
            Copies::Words => Some((self.session, None)),
            Copies::Bits => Some((self.session, Some(self.hpus))),
        };
        // SAFETY: host memory begins at a page and reaches so far, and stays until its context is dropped, before which
        // the server is.
        // Only the library writes there by other means, and no caller asks it to while services are open.
        Ok(unsafe { Window::new(first, self.layout, self.bytes, copies) })
    }

    /// HPUs that have called before know where their ports were, until they look again.
    fn check_layout(&self) -> Result<(), ServicesError> {
        if self.memory.load::<u32>(self.head(place::SESSIONS))? == 0 {
            return Ok(());
        }
        let mut words = [0; 4];
        for (word, place) in words.iter_mut().zip(place::ANNOUNCEMENT..) {
            *word = self.memory.load(self.head(place))?;
        }
        match Announcement::from_words(words) {
            Ok(had) if had.layout != self.layout || had.offset != self.offset => {
                Err(ServicesError::OtherLayout {
                    context: self.context,
                    had: had.layout.ports(),
                    version: had.layout.version().number(),
                })
            }
            _ if self.memory.load::<u32>(self.head(place::COPIES))? != self.copies as u32 => {
                Err(ServicesError::OtherCopies {
                    context: self.context,
                    wanted: self.copies,
                })
            }
            _ => Ok(()),
        }
    }

    /// Writes the same word for all ports.
    fn write_copies(&self, word: u32) -> Result<(), Error> {
        let copies = word.to_le_bytes().repeat(self.room as usize);
        self.memory.write(self.head(place::HEAD_WORDS), &copies)
    }

    /// Tells handlers that they may call.
    pub(super) fn announce(&self, context: &Context<D>) -> Result<(), ServicesError> {
        let announcement = Announcement {
            layout: self.layout,
            offset: self.offset,
        };
        let host = context.host_memory().address();
        let [version, offset, ports, lanes] = announcement.to_words();
        for (word, value) in [
            (place::ANNOUNCEMENT, version),
            (place::ANNOUNCEMENT + 1, offset),
            (place::ANNOUNCEMENT + 2, ports),
            (place::ANNOUNCEMENT + 3, lanes),
            (place::HOST_LOW, host as u32),
            (place::HOST_HIGH, (host >> 32) as u32),
            (place::HPUS, self.hpus),
            (place::COPIES, self.copies as u32),
            (place::BULK, self.offset + self.bulk().offset),
            (place::BULK_BYTES, self.bulk().port_bytes),
            (place::SESSIONS, self.session),
            (place::SESSION, self.session),
        ] {
            self.memory.store(self.head(word), value)?;
        }
        Ok(())
    }

    /// Tells handlers, also waiting ones, that the services are closed.
    pub(super) fn close(&self) -> Result<(), Error> {
        self.memory.store(self.head(place::SESSION), 0_u32)?;
        self.write_copies(place::copy(0, 0, None))
    }
}
