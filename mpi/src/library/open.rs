//! How a library is opened: its context, and what is in the context's memories.

use super::control::Host;
use super::error::Error;
use super::receive::Inbox;
use super::send::Outbox;
use super::slots::{Area, Slots};
use super::{Config, Counts, Library};
use crate::nic::memory::{BUFFERS, LOCAL_BYTES, SLOTS};
use spinneret_host::{Address, Device, Nic, Options, Program, Rule, Ruleset};
use spinneret_slmp::wire;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The handlers' name in their program.
const HANDLERS: &str = "mpi_types";
/// Clusters in which tasks have scratchpads.
const CLUSTERS: u32 = 4;

impl<D: Device> Library<D> {
    /// Opens a context with the handlers of `runtime/examples/mpi_types`. `ranks` are the addresses of all ranks in their
    /// order; that of the NIC itself is one of them.
    ///
    /// # Errors
    /// If the NIC has no room for it, has too many clusters or no address, or does not answer.
    pub fn open(nic: &Nic<D>, program: &Program, ranks: &[Address], config: Config) -> Result<Self, Error> {
        let [clusters, _] = nic.device().shape();
        if clusters > CLUSTERS {
            return Err(Error::TooManyClusters(clusters));
        }
        let own = nic.address().ok_or(Error::NoAddress)?;
        let options = Options {
            host_bytes: config.host_bytes.max(BUFFERS as u32),
            handler_bytes: Some(Slots::<D>::bytes(config.table_bytes)),
            scratchpad_bytes: Some((SLOTS * LOCAL_BYTES) as u32),
        };
        // No packet comes before memory is ready.
        let context = nic.open_context(program, HANDLERS, &Ruleset::any(), &options)?;
        let host = context.host_memory();
        host.write(0, &vec![0; BUFFERS])?;
        let slots = Slots::open(context.handler_memory(), first_id(&own, nic.now()))?;
        context.set_ruleset(&segments())?;
        let address = |address: &Address| Host {
            mac: address.mac,
            ip: address.ip,
        };
        Ok(Self {
            name: next_name(),
            nic: nic.clone(),
            context,
            area: Area::new(BUFFERS as u32, host.len()),
            host,
            slots,
            own: address(&own),
            own_rank: ranks.iter().position(|rank| rank.ip == own.ip),
            ranks: ranks.iter().map(address).collect(),
            inbox: Inbox::new(ranks.len()),
            receives: Vec::new(),
            outbox: Outbox::new(config, ranks.len()),
            waiting: VecDeque::new(),
            counts: Counts::default(),
        })
    }
}

/// What tells the buffers and requests of a library from those of others in this process.
fn next_name() -> u64 {
    static NAMES: AtomicU64 = AtomicU64::new(0);
    NAMES.fetch_add(1, Ordering::Relaxed)
}

/// Where ids of messages begin: elsewhere at each time, so that late segments for an earlier library are those of no message.
/// A simulation has the same times in each run, and so the same frames.
fn first_id(own: &Address, now: Duration) -> u32 {
    let station = own.mac.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let mut mixed = station.rotate_left(32) ^ now.as_nanos() as u64;
    for _ in 0..2 {
        mixed = (mixed ^ mixed >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    (mixed >> 32) as u32
}

/// Segments of SLMP; for the NIC they are of messages without end, since the handlers keep their own books.
fn segments() -> Ruleset {
    Ruleset::all()
        .rule(Rule::IPV4)
        .rule(Rule::ip_protocol(17, 17))
        .rule(Rule::udp_destination_port(wire::PORT, wire::PORT))
        .end_of_message(Rule::NEVER)
}
