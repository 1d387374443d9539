//! One of the contexts of a library.

use super::Config;
use super::area::Area;
use super::error::Error;
use super::slots::Slots;
use crate::nic::memory::{BUFFERS, LOCAL_BYTES, SLOTS};
use spinneret_host::{Context, Device, HostMemory, Nic, Options, Program, Rule, Ruleset};
use spinneret_slmp::wire;

/// The handlers' name in their program.
const HANDLERS: &str = "mpi_types";
/// The word of a frame that is the message id of SLMP.
const MESSAGE_ID_WORD: u32 = 11;
/// Contexts of a library. The scheduler prefers the cluster that a context's number says, so that with one context few packets
/// under way would all be in one cluster. Ids with an even number go to the first, others to the second.
pub(super) const SIDES: usize = 2;

/// A context, and what is in its memories.
#[derive(Debug)]
pub(super) struct Side<D: Device> {
    pub(super) context: Context<D>,
    pub(super) host: HostMemory<D>,
    pub(super) area: Area,
    pub(super) slots: Slots<D>,
}

impl<D: Device> Side<D> {
    /// Opens a context, of which ids are by their remainder.
    pub(super) fn open(
        nic: &Nic<D>,
        program: &Program,
        config: &Config,
        number: usize,
        seed: u64,
    ) -> Result<Self, Error> {
        let options = Options {
            host_bytes: config.host_bytes.max(BUFFERS as u32),
            handler_bytes: Some(Slots::<D>::bytes(config.table_bytes)),
            scratchpad_bytes: Some((SLOTS * LOCAL_BYTES) as u32),
        };
        // No packet comes before memory is ready.
        let context = nic.open_context(program, HANDLERS, &Ruleset::any(), &options)?;
        let host = context.host_memory();
        host.write(0, &vec![0; BUFFERS])?;
        let slots = Slots::open(context.handler_memory(), seed as u32, number, SIDES)?;
        context.set_ruleset(&rules(number))?;
        Ok(Self {
            area: Area::new(BUFFERS as u32, host.len()),
            slots,
            context,
            host,
        })
    }
}

/// Segments of SLMP whose message is of a side; for the NIC they are of messages without end, since the handlers keep their own
/// books. A ruleset has three rules beside that of the end, so that nobody asks here whether it is IPv4: handlers do.
fn rules(side: usize) -> Ruleset {
    let parity = Rule {
        idx: MESSAGE_ID_WORD,
        mask: SIDES as u32 - 1,
        start: side as u32,
        end: side as u32,
        relative: false,
    };
    Ruleset::all()
        .rule(Rule::ip_protocol(17, 17))
        .rule(Rule::udp_destination_port(wire::PORT, wire::PORT))
        .rule(parity)
        .end_of_message(Rule::NEVER)
}
