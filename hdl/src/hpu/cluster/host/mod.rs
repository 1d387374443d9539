//! Does the commands of handlers: copies between memory and the host, words to the host, and packets to be sent.
//!
//! ```text
//!  commands of each cluster =+=> queue ==> HostWrites ==> AW, W, B; line reads
//!                            +=> words ====^
//!                            +=> queue ==> HostReads ===> AR, R; line writes
//!                            +=> send
//!  done of each cluster <------ ends of all
//! ```
//!
//! # Contract
//! - **Copies** (kind 0): words 0, 1 address in the host, 2 address in memory, 3 bytes, 4 bit 0: to the host. Any alignment; full
//!   lines in bursts that never cross 4 KiB, with strobes for the bytes of the copy. Both directions are independent, each is in
//!   order. A copy of no bytes or of more than 1 MiB ([`LONGEST`](super::LONGEST)) does nothing.
//! - **Words** (kind 2): words 0, 1 address of a line in the host (bits 5:0 are ignored), 2 bit 0: it is a write, bits 9:1 bytes;
//!   words 3 to 6 the bytes, in one beat from lane 0 on. Reads, and writes of no bytes or more than 16, do nothing. Words are
//!   written between bursts of copies.
//! - **Packets** (kind 1): words 0 network id, 1 flow id, 2, 3 address, 4 bytes, 5, 6 for the user. Done at the response.
//! - **Done:** a copy to the host and words at the response of their last burst, a copy from the host when its last line is
//!   written, others that do nothing at once. An id is {cluster, HPU, number}.
//! - **Failures** are not reported: no byte is written of a line that could not be read, nor of those after it. A copy to the host
//!   keeps its bursts, with beats that have no strobes.
//! - **User** signals of addresses are the context, from bits of the queue's number; the id is 0.
//! - **Order:** clusters take turns of a clock, and a command waits in its cluster until its queue takes it. So a full queue stops the
//!   commands of a cluster that come after one for it, and no other cluster's. Reads of memory may be accepted as soon as the
//!   command is taken, before those of commands of other kinds.
//! - **Throughput:** a command of each cluster in as many clocks as there are clusters, or two; one line a clock in each direction.
//! - **Ready** of commands follows registers of a few bits; other outputs are registers, or follow registers of the response queues.
//! - **Reset** forgets everything; it must not come while a burst is open.

mod bursts;
mod intake;
mod reads;
mod writes;

pub use bursts::{HOST_PORT, HostBursts};
pub use intake::HostIntake;
pub use reads::HostReads;
pub use writes::HostWrites;

use super::{CommandIn, HOST_ADDRESS, LineRead, LineWrite, WORD};
use crate::axi::AxiMaster;
use crate::egress::CommandOut;
use crate::entry::{Entry, ParameterError};
use crate::limits::Limit;
use crate::stream::{Fifo, FifoConfig};
use bursts::{BYTES, HOST_LINE};
use spinneret_regmap::message_id::CONTEXT_BITS;
use spinneret_verilog::prelude::*;

/// Bits of an id in its cluster.
pub(crate) const OWN_ID: usize = 5;
/// Copies of a direction that can wait.
const QUEUED: usize = 16;

/// Clusters.
const CLUSTERS: Limit = Limit::number("clusters", [2, 16], "clusters").power_of_two();

/// [`HostCopier`].
pub(crate) const ENTRY: Entry = Entry::part(
    "host_copier",
    "does the commands of handlers: copies between memory and the host, and packets to be sent",
    |_| vec![CLUSTERS.parameter(2)],
    |values| {
        let clusters = CLUSTERS.check("host_copier", CLUSTERS.of(values))?;
        Ok(Box::new(HostCopier::new(clusters)?))
    },
);

/// Whose a command is.
#[record(clusters: usize)]
pub struct NoteFields {
    /// {cluster, HPU, number}.
    pub id: Field<{ address_width(clusters) + OWN_ID }>,
    /// Its context.
    pub context: Field<{ CONTEXT_BITS as usize }>,
}

/// A copy.
#[record(clusters: usize)]
pub struct CopyQueue {
    /// Address in the host.
    pub host: Field<{ HOST_ADDRESS }>,
    /// Address in memory.
    pub memory: Field<{ WORD }>,
    /// Bytes.
    pub bytes: Field<{ BYTES }>,
    /// As [`NoteFields`] says.
    pub note: Field<{ NoteFields::new(clusters).width }>,
}

/// A copy from the host that waits for its data.
#[record(clusters: usize)]
pub struct PendingFields {
    /// Place of the first byte in its line of the host.
    pub place: Field<{ super::OFFSET }>,
    /// Address in memory.
    pub memory: Field<{ WORD }>,
    /// Bytes.
    pub bytes: Field<{ BYTES }>,
    /// Its id.
    pub id: Field<{ address_width(clusters) + OWN_ID }>,
}

/// Words for the host.
#[record(clusters: usize)]
pub struct DirectFields {
    /// The line.
    pub line: Field<{ HOST_LINE }>,
    /// Bytes that are written.
    pub strobe: Field<{ intake::DIRECT_BYTES }>,
    /// The bytes.
    pub data: Field<{ 8 * intake::DIRECT_BYTES }>,
    /// As [`NoteFields`] says.
    pub note: Field<{ NoteFields::new(clusters).width }>,
}

/// Does the commands of handlers.
#[module(
    clusters: usize,
    error = ParameterError,
    id: usize = address_width(clusters) + OWN_ID,
    queued: CopyQueue = CopyQueue::new(clusters),
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
    intake: HostIntake<{ clusters }>,
    to_host: Checked<Fifo<{ FifoConfig::distributed(queued.width, QUEUED) }>>,
    from_host: Checked<Fifo<{ FifoConfig::distributed(queued.width, QUEUED) }>>,
    writes: Checked<HostWrites<{ clusters }>>,
    reads: Checked<HostReads<{ clusters }>>,
    /// As many as there can be commands.
    responses: Checked<Fifo<{ FifoConfig::distributed(id, clusters << OWN_ID) }>>,
}

#[kernel(HostCopier, suffix = clusters)]
fn update() {
    for (port, cluster) in intake.command.iter().zip(&command) {
        *port = *cluster;
    }
    to_host.s = intake.to_host;
    from_host.s = intake.from_host;
    writes.s = to_host.m;
    writes.direct = intake.direct;
    reads.s = from_host.m;
    send = intake.send;
    read = writes.read;
    write = reads.write;
    m_axi.aw = writes.aw;
    m_axi.w = writes.w;
    writes.b = m_axi.b;
    m_axi.ar = reads.ar;
    reads.r = m_axi.r;
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
