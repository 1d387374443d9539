//! How a library is opened: its context, and what is in the context's memories.

use super::area::Area;
use super::control::Host;
use super::error::Error;
use super::inbox::Inbox;
use super::send::Outbox;
use super::slots::Slots;
use super::{Config, Counts, Library};
use crate::nic::memory::{BUFFERS, LOCAL_BYTES, SLOTS};
use spinneret_host::{Address, Device, Nic, Options, Program, Rule, Ruleset};
use spinneret_slmp::wire;
use std::collections::VecDeque;
use std::hash::{BuildHasher as _, RandomState};

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
        let seed = RandomState::new().hash_one(nic.now());
        let options = Options {
            host_bytes: config.host_bytes.max(BUFFERS as u32),
            handler_bytes: Some(Slots::<D>::bytes(config.table_bytes)),
            scratchpad_bytes: Some((SLOTS * LOCAL_BYTES) as u32),
        };
        // No packet comes before memory is ready.
        let context = nic.open_context(program, HANDLERS, &Ruleset::any(), &options)?;
        let host = context.host_memory();
        host.write(0, &vec![0; BUFFERS])?;
        let slots = Slots::open(context.handler_memory(), seed as u32)?;
        context.set_ruleset(&segments())?;
        let address = |address: &Address| Host {
            mac: address.mac,
            ip: address.ip,
        };
        Ok(Self {
            name: seed,
            nic: nic.clone(),
            context,
            area: Area::new(BUFFERS as u32, host.len()),
            host,
            slots,
            own: address(&own),
            ranks: ranks.iter().map(address).collect(),
            inbox: Inbox::new(ranks.len()),
            receives: Vec::new(),
            outbox: Outbox::new(config, ranks.len()),
            waiting: VecDeque::new(),
            counts: Counts::default(),
        })
    }
}

/// Segments of SLMP; for the NIC they are of messages without end, since the handlers keep their own books.
fn segments() -> Ruleset {
    Ruleset::all()
        .rule(Rule::IPV4)
        .rule(Rule::ip_protocol(17, 17))
        .rule(Rule::udp_destination_port(wire::PORT, wire::PORT))
        .end_of_message(Rule::NEVER)
}
