use super::CopyRequest;
use crate::hpu::cluster::{Copy, HPU};
use crate::stream::{Fifo, FifoConfig, StreamIn};
use spinneret_verilog::prelude::*;

/// Copies of HPUs that wait.
const QUEUED: usize = 8;

/// Passes copies of packets and of HPUs to the copier, in turn if both wait. Those of HPUs wait in a queue.
#[module(error = crate::entry::ParameterError)]
pub struct DriverCopies {
    /// Copies of packets.
    pub packet: StreamIn<{ CopyRequest::new().width }>,
    /// Copies of HPUs.
    pub hpu: StreamIn<{ CopyRequest::new().width }>,
    /// All copies.
    pub m: Copy,
    /// One of a packet is done.
    pub packet_done: Wire<Out, bool>,
    /// One of an HPU is done.
    pub hpu_done: Wire<Out, bool>,
    /// That HPU.
    pub done_hpu: Wire<Out, { HPU }>,
    queue: Checked<Fifo<{ FifoConfig::distributed(CopyRequest::new().width, QUEUED) }>>,
    held: Reg<{ CopyRequest::new().width }>,
    is_held: Reg<bool, Reset>,
    last_was_packet: Reg<bool, Reset>,
}

#[kernel(DriverCopies)]
fn update() {
    queue.s.data = hpu.data;
    queue.s.valid = hpu.valid;
    hpu.ready = queue.s.ready;
    let is_free = !is_held || m.ready;
    let takes_packet = packet.valid && !(last_was_packet && queue.m.valid);
    packet.ready = is_free && takes_packet;
    queue.m.ready = is_free && !takes_packet;
    let takes = packet.valid || queue.m.valid;
    if is_free {
        is_held = takes;
        held = if takes_packet { packet.data } else { queue.m.data };
        if takes {
            last_was_packet = takes_packet;
        }
    }
    let request = CopyRequest::new();
    m.valid = is_held;
    m.source = held.field(request.source);
    m.destination = held.field(request.destination);
    m.bytes = held.field(request.bytes);
    m.tag = held.field(request.tag);
    let (number, is_of_hpu) = m.done_tag.split_at(m.done_tag.width() - 1);
    packet_done = m.done && !is_of_hpu.any();
    hpu_done = m.done && is_of_hpu.any();
    done_hpu = number.slice(0, HPU);
}
