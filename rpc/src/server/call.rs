//! Calls: one call as a service sees it.

use super::running::{Board, End, Refusal};
use crate::layout::{Bulk, Cut, Join, Packet};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

/// Bytes of a word, the unit of accesses to memory next to the buffer.
const WORD_BYTES: u32 = 8;

/// The condition that a call waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Want {
    /// Nothing of the client's: it runs, or is parked until its service wakes it.
    #[default]
    Nothing,
    /// The next packet.
    Receive,
    /// Its packet can be sent.
    Send,
    /// Words of memory next to the buffer, which are there in any case.
    Read,
    /// To write words there.
    Write,
}

/// Words of memory next to the buffer.
#[derive(Debug, Default)]
pub(crate) struct Transfer {
    pub(crate) offset: u32,
    pub(crate) words: Vec<u64>,
}

/// Where a call and the server that drives it meet.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub(crate) want: Cell<Want>,
    pub(crate) packet: Cell<Packet>,
    pub(crate) transfer: RefCell<Transfer>,
}

/// One call of a client, from its first packet to the last.
///
/// Every `await` parks the call: the server passes over its port and continues with all others. If the client begins
/// another call, the server drops this one where it waits, so a service must be right after each `await`.
///
/// The last packet to the client has to be the last thing that is awaited with a `Call`. Work that takes time
/// afterwards continues without it, after [`answer`](Self::answer) or a `drop`: the client may call again as soon as it
/// has its answer, and clients of LLVM do not say that a packet begins another call of the same opcode.
#[derive(Debug)]
pub struct Call {
    slot: Rc<Slot>,
    board: Rc<Board>,
    opcode: u32,
    port: u32,
    bulk: Bulk,
}

impl Call {
    pub(crate) fn new(slot: Rc<Slot>, board: Rc<Board>, opcode: u32, port: u32, bulk: Bulk) -> Self {
        Self {
            slot,
            board,
            opcode,
            port,
            bulk,
        }
    }

    /// The function that is called.
    pub fn opcode(&self) -> u32 {
        self.opcode
    }

    /// The port that it came by.
    pub fn port(&self) -> u32 {
        self.port
    }

    /// Receives the next packet, as a private copy.
    pub async fn receive(&mut self) -> Packet {
        self.wait(Want::Receive).await;
        self.slot.packet.get()
    }

    /// Sends a packet that begins with these words, at most eight; the others are 0.
    pub async fn send(&mut self, words: &[u64]) {
        self.send_packet(Packet::of(words)).await;
    }

    /// Sends the last packet, as [`send`](Self::send) does, and frees the port: what the service does then, it does alone.
    pub async fn answer(mut self, words: &[u64]) {
        self.send(words).await;
    }

    /// Receives a stream of at most `most` bytes. A longer one is received to its end, so that the client finds the answer
    /// where it expects it, but not kept; it is counted, and there is nothing to return.
    pub async fn receive_stream(&mut self, most: usize) -> Option<Vec<u8>> {
        let kept = self.stream(Some(most as u64)).await;
        if kept.is_none() {
            self.refuse(Refusal::TOO_LONG);
        }
        kept
    }

    /// Receives a stream, and keeps it if it has at most `most` bytes; `None` keeps no stream.
    pub(crate) async fn stream(&mut self, most: Option<u64>) -> Option<Vec<u8>> {
        let mut packet = self.receive().await;
        let is_kept = most.is_some_and(|most| packet.0[0] <= most);
        let (mut join, mut bytes) = (Join::default(), Vec::new());
        let mut keep = |now: &[u8]| {
            if is_kept {
                bytes.extend_from_slice(now);
            }
        };
        while !join.take(&packet, &mut keep) {
            packet = self.receive().await;
        }
        is_kept.then_some(bytes)
    }

    /// Sends a stream.
    pub async fn send_stream(&mut self, bytes: &[u8]) {
        for packet in Cut::new(bytes) {
            self.send_packet(packet).await;
        }
    }

    /// Bytes of its port's part of the bulk area.
    pub fn bulk_bytes(&self) -> u32 {
        self.bulk.port_bytes
    }

    /// Bytes that the client left in its port's part of the [bulk area](crate::layout::Layout::bulk), as a copy that no
    /// client can change. There are none if they are not inside, or do not begin at a multiple of 8.
    pub async fn read_bulk(&mut self, at: u32, bytes: u32) -> Option<Vec<u8>> {
        let offset = self.place(at, bytes)?;
        let words = vec![0; bytes.div_ceil(WORD_BYTES) as usize];
        self.slot.transfer.replace(Transfer { offset, words });
        self.wait(Want::Read).await;
        let words = self.slot.transfer.take().words;
        let mut data: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        data.truncate(bytes as usize);
        Some(data)
    }

    /// Leaves bytes for the client in its port's part of the bulk area, and says whether they fit there. Up to a multiple of
    /// 8 they are followed by zeros.
    pub async fn write_bulk(&mut self, at: u32, data: &[u8]) -> bool {
        let bytes = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let Some(offset) = self.place(at, bytes) else {
            return false;
        };
        let (words, rest) = data.as_chunks();
        let mut words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        if !rest.is_empty() {
            let mut last = [0; WORD_BYTES as usize];
            last[..rest.len()].copy_from_slice(rest);
            words.push(u64::from_le_bytes(last));
        }
        self.slot.transfer.replace(Transfer { offset, words });
        self.wait(Want::Write).await;
        true
    }

    /// Where `bytes` bytes of the port's part lie, if they are inside.
    fn place(&self, at: u32, bytes: u32) -> Option<u32> {
        let is_inside = at.checked_add(bytes)? <= self.bulk.port_bytes && at.is_multiple_of(WORD_BYTES);
        is_inside.then(|| self.bulk.offset + self.port * self.bulk.port_bytes + at)
    }

    /// Counts something that is not done. The client has to be answered all the same.
    pub fn refuse(&self, refusal: Refusal) {
        self.board.refuse(refusal);
    }

    /// Notes that the client has ended itself.
    pub fn end(&self, end: End) {
        self.board.end(end);
    }

    async fn send_packet(&mut self, packet: Packet) {
        self.slot.packet.set(packet);
        self.wait(Want::Send).await;
    }

    async fn wait(&mut self, want: Want) {
        self.slot.want.set(want);
        poll_fn(|_| match self.slot.want.get() {
            Want::Nothing => Poll::Ready(()),
            _ => Poll::Pending,
        })
        .await;
    }
}

// Services.

/// The work of one call.
pub type Answer = Pin<Box<dyn Future<Output = ()>>>;

/// How a call is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallMode {
    /// By [`Service::at_once`].
    Immediate,
    /// By [`Service::call`].
    Async,
}

/// A service: answers the calls of a class, libc's or an application's own.
///
/// A service runs on the server's thread and must not block it: what takes long is done elsewhere and awaited. All calls of
/// all ports share a service, so state is kept in cells that are not borrowed across an `await`.
pub trait Service {
    /// How a call is answered, if there is such a call.
    fn handles(&self, opcode: u32) -> Option<CallMode>;

    /// The version of a call, which has to be that of the stub in a handler's program: see [`typed`](crate::typed).
    fn version(&self, opcode: u32) -> Option<u64> {
        let _ = opcode;
        None
    }

    /// Looks at what parked calls wait for, and wakes those that can go on. The server does this before each look at its ports.
    fn advance(&self) {}

    /// Answers a call of one packet, by at most one packet, right away: the fast way for what takes no time.
    fn at_once(&self, opcode: u32, request: &Packet) -> Option<Packet> {
        let _ = (opcode, request);
        None
    }

    /// Answers any other call. All of the client's packets have to be received and all that it waits for sent, also if the
    /// call is refused. The last send is the last `await`, unless the [`Call`] has ended before: see there.
    fn call(self: Rc<Self>, call: Call) -> Answer;
}
