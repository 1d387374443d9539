//! Does the commands of handlers: copies between memory and the host, words to the host, and packets to be sent.
//!
//! ```text
//!  commands of each cluster =+=> ContextQueues ==> HostWrites ==> AW, W, B; line reads
//!                            +=> ContextQueues ====^
//!                            +=> ContextQueues ==> HostReads ===> AR, R; line writes
//!                            +=> ContextQueues ==> send
//!  done of each cluster <------ ends of all
//! ```
//!
//! # Contract
//! - **Copies** (kind 0): words 0, 1 address in the host, 2 address in memory, 3 bytes, 4 bit 0: to the host. Any alignment; full
//!   lines, with strobes for the bytes of the copy. A copy is done in parts that end at multiples of 1 KiB of the host, a burst each. A copy of
//!   no bytes or of more than 1 MiB ([`LONGEST`](super::LONGEST)) does nothing.
//! - **Words** (kind 2): words 0, 1 address of a line in the host (bits 5:0 are ignored), 2 bit 0: it is a write, bits 9:1 bytes;
//!   words 3 to 6 the bytes, in one beat from lane 0 on. Reads, and writes of no bytes or more than 16, do nothing. Words are
//!   written between bursts of copies.
//! - **Packets** (kind 1): words 0 network id, 1 flow id, 2, 3 address, 4 bytes, 5, 6 for the user. Done at the response. At most
//!   four for each cluster are on their way; the others wait for their share.
//! - **Shares:** copies to the host, copies from it, words and packets are four paths, each of which [`ContextQueues`] share by the weights
//!   of contexts. So a context that floods a path delays a command of another by a part of a copy, or a packet, for each context with work, and
//!   by what is on its way already. Rates limit the packets of a context.
//! - **Done:** a copy to the host and words at the response of their last burst, a copy from the host when its last line is
//!   written, others that do nothing at once. An id is {cluster, HPU, number}.
//! - **Failures** are not reported: no byte is written of a line that could not be read, nor of those after it in its part. A copy to the
//!   host keeps its bursts, with beats that have no strobes.
//! - **User** signals of addresses are the context, from bits of the queue's number; the id is 0.
//! - **Order:** clusters take turns of a clock. Commands of a context on one path are done in order, and no others.
//! - **Throughput:** a command of each cluster in as many clocks as there are clusters, or two; one line a clock in each direction if
//!   parts have eight or more.
//! - **Ready** of commands follows registers of a few bits; other outputs are registers, or follow registers of the response queues.
//! - **Reset** forgets everything; it must not come while a burst is open.

mod bursts;
mod intake;
mod queues;
mod reads;
mod writes;

pub use bursts::HOST_PORT;
pub use intake::HostIntake;
pub use queues::{BURST, ContextQueues, CopyJob, PART, PartFields, QueueShape, Traffic, WordsJob};
pub use reads::HostReads;
pub use writes::HostWrites;

use super::{
    COMMAND_WORDS, CommandIn, ContextBytesIn, ContextSettingIn, ContextShape, HOST_ADDRESS, LineRead,
    LineWrite, OFFSET, RATE, WEIGHT, WORD,
};
use crate::axi::AxiMaster;
use crate::egress::CommandOut;
use crate::entry::{Entry, ParameterError};
use crate::limits::Limit;
use crate::stream::{Fifo, FifoConfig};
use intake::word;
use queues::{BYTES, DIRECT_BYTES, HOST_LINE};
use spinneret_regmap::message_id::ID_BITS;
use spinneret_verilog::prelude::*;

/// Bits of an id in its cluster.
pub(crate) const OWN_ID: usize = 5;
/// Parts of a direction whose burst can wait for the bus.
const WAITING: usize = 4;
/// Packets of a cluster that can be on their way.
const SENDING: usize = 4;

/// Clusters.
const CLUSTERS: Limit = Limit::number("clusters", [2, 16], "clusters").power_of_two();
/// Contexts.
const CONTEXTS: Limit = Limit::number("contexts", [2, 16], "contexts").power_of_two();

/// Clusters and contexts of the commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostShape {
    /// Clusters.
    pub clusters: usize,
    /// Contexts.
    pub contexts: ContextShape,
}

impl HostShape {
    /// The queues of some commands.
    pub(super) fn queues(self, traffic: Traffic) -> QueueShape {
        QueueShape {
            clusters: self.clusters,
            contexts: self.contexts,
            traffic,
        }
    }

    /// Bits of an id.
    fn id(self) -> usize {
        self.queues(Traffic::Copies).id()
    }

    fn suffix(self) -> String {
        format!("{}_{}", self.clusters, self.contexts.contexts)
    }
}

/// [`HostCopier`].
pub(crate) const ENTRY: Entry = Entry::part(
    "host_copier",
    "does the commands of handlers: copies between memory and the host, and packets to be sent",
    |_| {
        vec![
            CLUSTERS.parameter(2),
            CONTEXTS.parameter(ContextShape::NIC.contexts as u64),
        ]
    },
    |values| {
        let contexts = ContextShape {
            contexts: CONTEXTS.check("host_copier", CONTEXTS.of(values))?,
            queues: 1 << ID_BITS,
        };
        let clusters = CLUSTERS.check("host_copier", CLUSTERS.of(values))?;
        Ok(Box::new(HostCopier::new(HostShape { clusters, contexts })?))
    },
);

/// Whose a command is.
#[record(shape: QueueShape)]
pub struct NoteFields {
    /// {cluster, HPU, number}.
    pub id: Field<{ shape.id() }>,
    /// Its context.
    pub owner: Field<{ shape.contexts.context() }>,
}

/// A part of a copy from the host that waits for its data.
#[record(shape: HostShape)]
pub struct PendingFields {
    /// Place of the first byte in its line of the host.
    pub place: Field<{ OFFSET }>,
    /// Address in memory.
    pub memory: Field<{ WORD }>,
    /// Bytes.
    pub bytes: Field<{ PART + 1 }>,
    /// {it is the last part, id}.
    pub tag: Field<{ shape.id() + 1 }>,
}

/// Does the commands of handlers.
#[module(
    shape: HostShape,
    error = ParameterError,
    clusters: usize = shape.clusters,
    context: usize = shape.contexts.context(),
    id: usize = shape.id(),
)]
pub struct HostCopier {
    /// Commands of each cluster.
    pub command: [CommandIn; clusters],
    /// Packets to be sent.
    pub send: CommandOut<{ id }, { HOST_ADDRESS }, { WORD }>,
    /// One of them is sent.
    pub sent: Wire<In, bool>,
    /// Its id.
    pub sent_id: Wire<In, { id }>,
    /// The host.
    pub m_axi: AxiMaster<{ HOST_PORT }>,
    /// Reads of memory.
    pub read: LineRead,
    /// Writes of memory.
    pub write: LineWrite,
    /// Weights.
    pub weight: ContextSettingIn<{ context }, { WEIGHT }>,
    /// Rates of packets.
    pub rate: ContextSettingIn<{ context }, { RATE }>,
    /// Bytes of copies to the host, of copies from it, and of packets.
    pub bytes: [ContextBytesIn<{ context }>; 3],
    intake: HostIntake<{ shape }>,
    to_host: ContextQueues<{ shape.queues(Traffic::Copies) }>,
    from_host: ContextQueues<{ shape.queues(Traffic::Copies) }>,
    direct: ContextQueues<{ shape.queues(Traffic::Words) }>,
    sends: ContextQueues<{ shape.queues(Traffic::Packets) }>,
    writes: Checked<HostWrites<{ shape }>>,
    reads: Checked<HostReads<{ shape }>>,
    /// As many as there can be commands.
    responses: Checked<Fifo<{ FifoConfig::distributed(id, clusters << OWN_ID) }>>,
    /// Packets on their way, and whether there may be another one.
    sending: Reg<{ address_width(SENDING * clusters + 1) }, Reset>,
    #[new(Reg::reset_to(true))]
    may_send: Reg<bool>,
}

#[kernel(HostCopier, suffix = shape.suffix())]
fn update() {
    for (port, cluster) in intake.command.iter().zip(&command) {
        *port = *cluster;
    }
    let words = intake.words;
    let host = words.slice(0, HOST_ADDRESS);
    let (copies, directs) = (CopyJob::new(), WordsJob::new());
    let size = word(words, 2).slice(1, address_width(DIRECT_BYTES + 1));
    let copy = pack!(copies {
        host,
        memory: word(words, 2),
        bytes: word(words, 3).slice(0, BYTES)
    });
    let direct_words = pack!(directs {
        line: host.slice(OFFSET, HOST_LINE),
        strobe: word_of((0..DIRECT_BYTES).map(|lane| size > lane)),
        data: words.slice(3 * WORD, 8 * DIRECT_BYTES),
    });
    for (queues, valid, work) in [
        (&to_host, intake.to_host, copy),
        (&from_host, intake.from_host, copy),
        (&direct, intake.direct, direct_words),
        (&sends, intake.send, words),
    ] {
        queues.valid = valid;
        queues.whose = intake.whose;
        queues.work = work;
        queues.weight = weight;
    }
    *sends.rate = rate;
    for (queues, port) in [&to_host, &from_host, &sends].into_iter().zip(&bytes) {
        queues.bytes.context = port.context;
        port.bytes = queues.bytes.bytes;
    }
    writes.s = to_host.m;
    writes.direct = direct.m;
    reads.s = from_host.m;
    read = writes.read;
    write = reads.write;
    m_axi.aw = writes.aw;
    m_axi.w = writes.w;
    writes.b = m_axi.b;
    m_axi.ar = reads.ar;
    reads.r = m_axi.r;
    /// Packets.
    let (packet, packet_id) = sends.m.data.split_at(COMMAND_WORDS * WORD);
    let most = (SENDING * clusters) as u64;
    sends.m.ready = send.ready && may_send;
    send.valid = sends.m.valid && may_send;
    send.id = packet_id;
    send.nid = word(packet, 0);
    send.fid = word(packet, 1);
    send.src_addr = packet.slice(2 * WORD, 2 * WORD);
    send.length = word(packet, 4);
    send.user_ptr = packet.slice(5 * WORD, 2 * WORD);
    let leaves = send.valid && send.ready;
    if leaves && !sent {
        sending = sending + 1;
        may_send = sending != most - 1;
    } else if sent && !leaves {
        sending = sending - 1;
        may_send = true;
    }
    /// One end a clock. That of a copy from the host does not wait; the others do.
    responses.s.valid = sent;
    responses.s.data = sent_id;
    assume!(!sent || responses.s.ready, "a packet is sent once");
    let (sent_waits, wrote_waits) = (responses.m.valid, writes.done.valid);
    responses.m.ready = !reads.done;
    writes.done.ready = !reads.done && !sent_waits;
    intake.nothing.ready = !reads.done && !sent_waits && !wrote_waits;
    intake.done_id = first(
        &[
            (reads.done, reads.done_id),
            (sent_waits, responses.m.data),
            (wrote_waits, writes.done.data),
        ],
        intake.nothing.data,
    );
    intake.done = reads.done || sent_waits || wrote_waits || intake.nothing.valid;
}
