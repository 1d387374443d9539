//! One rank's transport over its NIC.

use crate::lines::{Ends, Opened, Receiving, Sending};
use crate::{Host, Placed, failed};
use molly::{Columns, Error, Line, Memory, Place, Placing, Result, Transport};
use spinneret_host::Device;
use spinneret_mpi::library::{self, Buffer, Request, Status};
use spinneret_mpi::{Library, Rank};
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The call that the other rank has not made when a message does not leave or arrive.
const TAKE: &str = "take";
const SEND: &str = "send";

/// Work for which time passes at once. Between two parts of it the library polls for arrivals.
const WORK: Duration = Duration::from_micros(5);

/// Messages over the NIC of a rank. A line that is opened again, for longer messages, leaves its buffers to the
/// library.
#[derive(Debug)]
pub(crate) struct Nics<D: Device> {
    nic: Rc<RefCell<Rank<D>>>,
    number: usize,
    host: Host,
    /// Work for which no time has passed yet.
    owed: Duration,
    lines: Vec<Opened>,
    fields: Fields,
    /// Memory that fields have returned while a message could come into it.
    returned: Vec<Buffer>,
    counts: Rc<Cell<Placed>>,
}

impl<D: Device> Nics<D> {
    pub(crate) fn new(nic: Rc<RefCell<Rank<D>>>, number: usize, host: Host) -> Self {
        Self {
            nic,
            number,
            host,
            owed: Duration::ZERO,
            lines: Vec::new(),
            fields: Fields::default(),
            returned: Vec::new(),
            counts: Rc::default(),
        }
    }

    /// A handle that shows whether fields have memory of the NIC.
    pub(crate) fn lent(&self) -> Lent {
        self.fields.lent()
    }

    /// The work of the NIC so far.
    pub(crate) fn counts(&self) -> Rc<Cell<Placed>> {
        Rc::clone(&self.counts)
    }

    fn failed(&self, error: &library::Error) -> Error {
        failed(self.number, error)
    }

    fn wrong(&self, what: &str, line: usize) -> Error {
        Error::Transport {
            rank: self.number,
            what: format!("{what} on {:?}", self.lines[line].line),
        }
    }

    /// The receiver's end of a line.
    fn receiving(&mut self, line: usize) -> Result<&mut Receiving> {
        match self.lines[line].ends {
            Ends::Receive(_) => {}
            Ends::Send(_) => return Err(self.wrong("nothing is received", line)),
        }
        match &mut self.lines[line].ends {
            Ends::Receive(receiving) => Ok(receiving),
            Ends::Send(_) => unreachable!("it was looked at just now"),
        }
    }

    /// Waits for the end of a request of a line.
    fn until(&self, line: usize, request: Request, what: &'static str) -> Result<Status> {
        let mut nic = self.nic.borrow_mut();
        let begun = nic.library().nic().now();
        let ended = nic.library().wait(request, self.host.patience);
        let mut counts = self.counts.get();
        counts.waited += nic.library().nic().now().saturating_sub(begun);
        self.counts.set(counts);
        let Opened { line, count, .. } = &self.lines[line];
        ended.map_err(|error| match error {
            library::Error::TimedOut { .. } => Error::TimeOut {
                rank: self.number,
                peer: line.peer,
                what,
                number: *count,
                line: format!("channel {}", line.tag),
                waited: self.host.patience,
            },
            error => self.failed(&error),
        })
    }

    /// Where a buffer of a line is in this process.
    fn show(&mut self, buffer: &Buffer, bytes: usize) -> Result<&mut [u8]> {
        let start = self.nic.borrow_mut().library().pointer(buffer);
        let start = start.map_err(|error| self.failed(&error))?;
        assert!(
            bytes <= buffer.len() as usize,
            "messages fit into the buffers of their lines"
        );
        // SAFETY: the buffer is as long, is its line's alone, and lives as long as the NIC is open, which this has
        // open. A message leaves it or comes into it only by calls that take this transport, and that end before it is
        // shown.
        #[allow(unsafe_code)]
        Ok(unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), bytes) })
    }

    /// Frees memory of fields to which no message can come any more.
    fn give_back(&mut self) -> std::result::Result<(), library::Error> {
        self.returned.extend(self.fields.returned());
        let mut nic = self.nic.borrow_mut();
        let mut used = Vec::new();
        for buffer in self.returned.drain(..) {
            for opened in &mut self.lines {
                if let Ends::Receive(receiving) = &mut opened.ends {
                    receiving.forget(&mut nic, &buffer)?;
                }
            }
            match nic.library().free_buffer(buffer) {
                Err(library::Error::Active) => used.push(buffer),
                freed => freed?,
            }
        }
        self.returned = used;
        Ok(())
    }
}

impl<D: Device> Transport for Nics<D> {
    fn open(&mut self, line: &Line) -> Result<usize> {
        let ends = match line.is_send {
            true => Sending::ring(&mut self.nic.borrow_mut(), line).map(Ends::Send),
            false => Ok(Ends::Receive(Receiving::default())),
        };
        self.lines.push(Opened {
            line: line.clone(),
            ends: ends.map_err(|error| self.failed(&error))?,
            count: 0,
            bytes: 0,
        });
        Ok(self.lines.len() - 1)
    }

    fn buffer(&mut self, line: usize, bytes: usize) -> Result<&mut [u8]> {
        let Ends::Send(ring) = &self.lines[line].ends else {
            return Err(self.wrong("nothing is sent", line));
        };
        let turn = self.lines[line].count % ring.len();
        let (buffer, active) = (ring[turn].buffer, ring[turn].active);
        if let Some(request) = active {
            self.until(line, request, TAKE)?;
        }
        let opened = &mut self.lines[line];
        opened.bytes = bytes;
        if let Ends::Send(ring) = &mut opened.ends {
            ring[turn].active = None;
        }
        self.show(&buffer, bytes)
    }

    fn start(&mut self, line: usize) -> Result<()> {
        let Opened {
            line: about,
            ends,
            count,
            bytes,
        } = &mut self.lines[line];
        let started = match ends {
            Ends::Send(ring) => {
                let turn = *count % ring.len();
                ring[turn].start(&mut self.nic.borrow_mut(), about, *bytes)
            }
            Ends::Receive(_) => return Err(self.wrong("nothing is sent", line)),
        };
        *count += 1;
        started.map_err(|error| self.failed(&error))
    }

    fn test(&mut self, line: usize) -> Result<bool> {
        let nic = Rc::clone(&self.nic);
        let (mut nic, about) = (nic.borrow_mut(), self.lines[line].line.clone());
        let come = self.receiving(line)?.test(&mut nic, &about);
        come.map_err(|error| self.failed(&error))
    }

    fn wait(&mut self, line: usize) -> Result<&[u8]> {
        let nic = Rc::clone(&self.nic);
        let about = self.lines[line].line.clone();
        let whole = self.receiving(line)?.whole(&mut nic.borrow_mut(), &about);
        let (buffer, request, come) = whole.map_err(|error| self.failed(&error))?;
        let status = match come {
            Some(status) => status,
            None => self.until(line, request, SEND)?,
        };
        self.receiving(line)?.has_come();
        self.lines[line].count += 1;
        self.show(&buffer, status.bytes as usize).map(|bytes| &*bytes)
    }

    fn progress(&mut self) -> Result<()> {
        let moved = self.nic.borrow_mut().library().progress();
        moved.map_err(|error| self.failed(&error))
    }

    fn worked(&mut self, instances: u64) -> Result<()> {
        self.owed += self.host.instance * u32::try_from(instances).unwrap_or(u32::MAX);
        let mut nic = self.nic.borrow_mut();
        let mut passed = Ok(());
        while self.owed >= WORK && passed.is_ok() {
            self.owed -= WORK;
            passed = nic.library().progress();
            passed = passed.and_then(|()| Ok(nic.library().nic().compute(WORK)?));
        }
        passed.map_err(|error| failed(self.number, &error))
    }

    fn release(&mut self, _line: usize) -> Result<()> {
        // The buffer is free when the next message is waited for.
        Ok(())
    }

    fn placing(&mut self) -> Option<&mut dyn Placing> {
        Some(self)
    }
}

impl<D: Device> Placing for Nics<D> {
    fn memory(&mut self, bytes: usize, _line: usize) -> Result<Box<dyn Memory>> {
        self.give_back().map_err(|error| self.failed(&error))?;
        let mut nic = self.nic.borrow_mut();
        let bytes = u32::try_from(bytes).map_err(|_| library::Error::NoRoom {
            bytes: bytes as u64,
            free: u32::MAX.into(),
        });
        let taken = bytes.and_then(|bytes| self.fields.take(nic.library(), bytes));
        taken.map_err(|error| failed(self.number, &error))
    }

    fn owns(&self, memory: &dyn Memory) -> bool {
        self.fields.at(memory.start()).is_some()
    }

    fn takes(&self, line: &Line, _pieces: Option<usize>, _columns: Columns) -> bool {
        !line.is_send
    }

    fn expect(&mut self, line: usize, place: &Place) -> Result<()> {
        let Some(buffer) = self.fields.at(place.start) else {
            return Err(self.wrong("a message is expected in memory of another NIC", line));
        };
        let nic = Rc::clone(&self.nic);
        let about = self.lines[line].line.clone();
        let receiving = self.receiving(line)?;
        let started = receiving.expect(&mut nic.borrow_mut(), &about, (place, buffer));
        started.map_err(|error| self.failed(&error))
    }

    fn placed(&mut self, line: usize) -> Result<usize> {
        let Some(request) = self.receiving(line)?.first() else {
            return Err(self.wrong("a message is waited for that was not expected", line));
        };
        let status = match self.receiving(line)?.come {
            Some(status) => status,
            None => self.until(line, request, SEND)?,
        };
        self.receiving(line)?.has_come();
        self.lines[line].count += 1;
        let mut counts = self.counts.get();
        counts.messages += 1;
        counts.bytes += u64::from(status.bytes);
        self.counts.set(counts);
        Ok(status.bytes as usize)
    }

    fn start_from(&mut self, line: usize, _place: &Place) -> Result<()> {
        Err(self.wrong("a NIC sends out of its own buffers, not from a place", line))
    }

    fn departed(&mut self, line: usize) -> Result<()> {
        Err(self.wrong("nothing was sent from a place", line))
    }
}

// Memory of fields, which the NIC can write to.

/// Memory of fields that a library has given.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    /// Where each begins in this process.
    buffers: Vec<(NonNull<u8>, Buffer)>,
    lent: Lent,
}

/// The memory of a library that fields have; they return it here.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lent(Arc<Mutex<Vec<Buffer>>>);

/// Memory of one field.
#[derive(Debug)]
struct Part {
    start: NonNull<u8>,
    buffer: Buffer,
    /// Shows that a field has the memory.
    lent: Lent,
}

// SAFETY: it is bytes of a shared mapping, which have the same address in all threads, and are this field's alone.
#[allow(unsafe_code)]
unsafe impl Send for Part {}
// SAFETY: nothing can be done with it but to ask where it is.
#[allow(unsafe_code)]
unsafe impl Sync for Part {}

// SAFETY: the library lends each buffer to one owner, in lines of 64 bytes of a mapping that begins at a page. It frees
// this one only after this is dropped, and the library is not dropped as long as one is lent. Handlers write the pieces
// of a receive that `Placing::expect` has started, until it is complete.
#[allow(unsafe_code)]
unsafe impl Memory for Part {
    fn start(&self) -> NonNull<u8> {
        self.start
    }

    fn bytes(&self) -> usize {
        self.buffer.len() as usize
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let mut returned = self.lent.0.lock().unwrap_or_else(PoisonError::into_inner);
        returned.push(self.buffer);
    }
}

impl Lent {
    /// Whether fields have some, apart from the holders that only count it: [`Fields`] and the caller.
    pub(crate) fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

impl Fields {
    /// Takes memory for a field, all of it 0.
    pub(crate) fn take<D: Device>(
        &mut self,
        library: &mut Library<D>,
        bytes: u32,
    ) -> std::result::Result<Box<dyn Memory>, library::Error> {
        let buffer = library.buffer(bytes)?;
        let start = library.pointer(&buffer)?;
        // SAFETY: the buffer was taken just now, and is so long.
        #[allow(unsafe_code)]
        unsafe {
            start.write_bytes(0, bytes as usize);
        }
        self.buffers.push((start, buffer));
        Ok(Box::new(Part {
            start,
            buffer,
            lent: self.lent.clone(),
        }))
    }

    /// Takes the buffers that fields have returned, and forgets them here.
    pub(crate) fn returned(&mut self) -> Vec<Buffer> {
        let mut returned = self.lent.0.lock().unwrap_or_else(PoisonError::into_inner);
        let returned = std::mem::take(&mut *returned);
        self.buffers.retain(|(_, buffer)| !returned.contains(buffer));
        returned
    }

    /// The buffer that begins there.
    pub(crate) fn at(&self, start: NonNull<u8>) -> Option<Buffer> {
        let mut all = self.buffers.iter();
        all.find(|(first, _)| *first == start).map(|(_, buffer)| *buffer)
    }

    pub(crate) fn lent(&self) -> Lent {
        self.lent.clone()
    }
}
