//! An Ethernet switch: forwarding and queueing.
//!
//! ```text
//! cable ==> arrive --> where to? --> queue of a port, drop-tail ==> cable
//!                      table, or flood
//! ```
//!
//! The queue of a port is that of the [`Cable`] on which it sends. Not modelled: ageing of learned addresses, VLANs,
//! pause frames, priorities, and memory shared by the ports.

use crate::cable::{Cable, Delivery, Sent};
use crate::topology::{Mode, SwitchConfig, Table};
use crate::{Digest, OVERHEAD_BYTES, Ps};
use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Bytes received when a cut-through switch can forward: the preamble and the first 64.
const HEADER_BYTES: u64 = 8 + 64;

/// Frame counters of a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchCounts {
    /// Received frames.
    pub received: u64,
    /// Frames dropped because of a wrong check sequence.
    pub bad: u64,
    /// Frames dropped because the destination is on the side they came from.
    pub filtered: u64,
    /// Frames that went to one port.
    pub forwarded: u64,
    /// Frames that went to all ports.
    pub flooded: u64,
    /// Frames that were put into queues of ports, or found them full: a flooded frame counts once for each port.
    pub copies: u64,
}

impl SwitchCounts {
    /// Whether every frame is accounted for.
    pub fn adds_up(&self) -> bool {
        self.received == self.bad + self.filtered + self.forwarded + self.flooded
    }
}

/// A switch.
#[derive(Debug)]
pub(crate) struct Switch {
    config: SwitchConfig,
    ports: Vec<SwitchPort>,
    /// Frames waiting to be forwarded: time, port, number, frame.
    arrivals: BinaryHeap<Reverse<(Ps, u16, u64, Arrived)>>,
    /// Where each address is.
    table: HashMap<[u8; 6], Vec<u16>>,
    /// Salt of the choice among equal paths, so that switches in a row choose differently.
    salt: u64,
    counts: SwitchCounts,
}

/// A port of a switch.
#[derive(Debug)]
pub(crate) struct SwitchPort {
    /// The cable on which the port sends.
    pub(crate) cable: Cable,
    /// Whether broadcast frames pass the port.
    pub(crate) floods: bool,
}

/// A frame that compares equal to all others; the tuple around it is unique without it.
#[derive(Debug)]
struct Arrived(Delivery);

impl PartialEq for Arrived {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Arrived {}

impl PartialOrd for Arrived {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Arrived {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl Switch {
    /// A switch that knows the addresses in `table` from the start.
    pub(crate) fn new(
        config: SwitchConfig,
        ports: Vec<SwitchPort>,
        table: HashMap<[u8; 6], Vec<u16>>,
        salt: u64,
    ) -> Self {
        Self {
            config,
            ports,
            arrivals: BinaryHeap::new(),
            table,
            salt,
            counts: SwitchCounts::default(),
        }
    }

    /// Accepts a frame from the cable at a port.
    pub(crate) fn arrive(&mut self, port: u16, delivery: Delivery) {
        let known_ps = known_ps(self.config.mode, &delivery);
        let number = delivery.number;
        self.arrivals
            .push(Reverse((known_ps, port, number, Arrived(delivery))));
    }

    /// Returns when the next frame is forwarded.
    pub(crate) fn next_ps(&self) -> Option<Ps> {
        self.arrivals.peek().map(|Reverse((at, ..))| *at)
    }

    /// Returns the counters.
    pub(crate) fn counts(&self) -> SwitchCounts {
        self.counts
    }

    /// Its ports.
    pub(crate) fn ports(&self) -> &[SwitchPort] {
        &self.ports
    }

    /// The same, to ask for their queues.
    pub(crate) fn ports_mut(&mut self) -> &mut [SwitchPort] {
        &mut self.ports
    }

    /// Frames in flight to this switch on a cable.
    pub(crate) fn arriving(&self, cable: u32) -> u64 {
        let arrivals = self.arrivals.iter();
        let on_cable = arrivals.filter(|Reverse((.., Arrived(frame)))| frame.direction.cable == cable);
        on_cable.count() as u64
    }

    /// Forwards all frames before `until_ps` and returns the deliveries. Calls `noted` for frames that arrive at a
    /// port, and for those sent there (`true`).
    pub(crate) fn run(&mut self, until_ps: Ps, mut noted: impl FnMut(u16, Ps, bool, &[u8])) -> Vec<Delivery> {
        let mut deliveries = Vec::new();
        while self.next_ps().is_some_and(|at| at < until_ps) {
            let Some(Reverse((at_ps, from, _, Arrived(frame)))) = self.arrivals.pop() else {
                break;
            };
            self.counts.received += 1;
            noted(from, at_ps, false, &frame.bytes);
            if frame.is_bad && self.config.mode == Mode::StoreAndForward {
                self.counts.bad += 1;
                continue;
            }
            self.learn(from, &frame);
            let to = self.route(from, &frame.bytes);
            for port in &to {
                self.counts.copies += 1;
                let cable = &mut self.ports[usize::from(*port)].cable;
                let takes_ps = cable.takes_ps(frame.bytes.len() as u64 + OVERHEAD_BYTES);
                // A fast port must not run out of data of a frame that arrives on a slow one.
                let ready_ps = at_ps.max(frame.last_ps.saturating_sub(takes_ps)) + self.config.delay_ps;
                noted(*port, ready_ps, true, &frame.bytes);
                let sent = Sent {
                    born_ps: frame.born_ps,
                    is_bad: frame.is_bad,
                    bytes: frame.bytes.clone(),
                };
                deliveries.extend(cable.send(ready_ps, sent));
            }
        }
        deliveries
    }

    fn learn(&mut self, from: u16, frame: &Delivery) {
        let sender = address(&frame.bytes, 6);
        let is_one = sender[0] & 1 == 0;
        if self.config.table == Table::Learning && is_one && !frame.is_bad && self.floods(from) {
            self.table.insert(sender, vec![from]);
        }
    }

    fn floods(&self, port: u16) -> bool {
        self.ports[usize::from(port)].floods
    }

    /// Returns the ports to which a frame is forwarded.
    fn route(&mut self, from: u16, bytes: &[u8]) -> Vec<u16> {
        let receiver = address(bytes, 0);
        let known = self.table.get(&receiver).filter(|ports| !ports.is_empty());
        if let Some(ports) = known {
            let port = match ports.len() {
                1 => ports[0],
                count => ports[(flow_hash(bytes, self.salt) % count as u64) as usize],
            };
            let is_back = port == from;
            *(if is_back {
                &mut self.counts.filtered
            } else {
                &mut self.counts.forwarded
            }) += 1;
            return if is_back { Vec::new() } else { vec![port] };
        }
        if !self.floods(from) {
            self.counts.filtered += 1;
            return Vec::new();
        }
        self.counts.flooded += 1;
        let ports = 0..self.ports.len() as u16;
        ports.filter(|port| *port != from && self.floods(*port)).collect()
    }
}

/// Returns when a switch knows the destination of a frame.
pub(crate) fn known_ps(mode: Mode, frame: &Delivery) -> Ps {
    let takes_ps = frame.last_ps - frame.first_ps;
    let bytes = frame.bytes.len() as u64 + OVERHEAD_BYTES;
    match mode {
        Mode::StoreAndForward => frame.last_ps,
        Mode::CutThrough => frame.first_ps + (takes_ps * HEADER_BYTES.min(bytes)).div_ceil(bytes),
    }
}

/// Returns the address at an offset. No frame is shorter than the minimum.
fn address(bytes: &[u8], at: usize) -> [u8; 6] {
    let mut address = [0; 6];
    address.copy_from_slice(&bytes[at..at + 6]);
    address
}

/// Hash of a frame's flow: addresses, protocol and ports of IP, or else both MAC addresses and the type.
fn flow_hash(bytes: &[u8], salt: u64) -> u64 {
    let mut digest = Digest::default();
    digest.number(salt);
    let is_ip = SlicedPacket::from_ethernet(bytes).is_ok_and(|packet| take_in(&mut digest, &packet));
    if !is_ip {
        digest.bytes(&bytes[..14]);
    }
    // The lowest bits of an FNV hash depend on the lowest input bits only.
    let value = digest.value();
    (value ^ (value >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

/// Adds the flow of an IP packet to the digest; returns false for other frames.
fn take_in(digest: &mut Digest, packet: &SlicedPacket<'_>) -> bool {
    match &packet.net {
        Some(NetSlice::Ipv4(ip)) => {
            digest.bytes(&ip.header().source());
            digest.bytes(&ip.header().destination());
            digest.number(u64::from(ip.header().protocol().0));
        }
        Some(NetSlice::Ipv6(ip)) => {
            digest.bytes(&ip.header().source());
            digest.bytes(&ip.header().destination());
            digest.number(u64::from(ip.payload().ip_number.0));
        }
        _ => return false,
    }
    match &packet.transport {
        Some(TransportSlice::Udp(udp)) => {
            digest.number(u64::from(udp.source_port()) << 16 | u64::from(udp.destination_port()));
        }
        Some(TransportSlice::Tcp(tcp)) => {
            digest.number(u64::from(tcp.source_port()) << 16 | u64::from(tcp.destination_port()));
        }
        _ => {}
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cable::Faults;
    use crate::cable::LinkDirection;

    const RATE: u64 = 100_000_000_000;
    const BYTE_PS: Ps = 80;
    const LATENCY: Ps = 500_000;
    const DELAY: Ps = 300_000;

    fn switch(mode: Mode, table: Table, ports: u32, buffer: u64) -> Switch {
        let port = |cable| SwitchPort {
            cable: Cable::new(
                LinkDirection { cable, from: 1 },
                RATE,
                LATENCY,
                Faults::default(),
                1,
            )
            .with_buffer(buffer),
            floods: true,
        };
        let config = SwitchConfig {
            mode,
            buffer_bytes: buffer,
            delay_ps: DELAY,
            table,
        };
        Switch::new(config, (0..ports).map(port).collect(), HashMap::new(), 1)
    }

    fn frame(to: u8, from: u8, size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        bytes[..12].copy_from_slice(&[2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from]);
        bytes
    }

    fn delivery(first_ps: Ps, bytes: Vec<u8>) -> Delivery {
        Delivery {
            born_ps: first_ps,
            first_ps,
            last_ps: first_ps + (bytes.len() as u64 + OVERHEAD_BYTES) * BYTE_PS,
            number: first_ps,
            is_bad: false,
            direction: LinkDirection { cable: 0, from: 0 },
            bytes,
        }
    }

    /// Cables and first bits of the deliveries.
    fn out(switch: &mut Switch) -> Vec<(u32, Ps)> {
        let deliveries = switch.run(Ps::MAX, |_, _, _, _| {});
        deliveries
            .iter()
            .map(|one| (one.direction.cable, one.first_ps))
            .collect()
    }

    #[test]
    fn a_frame_is_forwarded_once_it_has_arrived() {
        let mut switch = switch(Mode::StoreAndForward, Table::Learning, 2, 1 << 20);
        switch.arrive(0, delivery(0, frame(9, 1, 1000)));
        assert_eq!(out(&mut switch), [(1, 1024 * BYTE_PS + DELAY + LATENCY)]);
    }

    #[test]
    fn a_cut_through_switch_waits_only_for_the_header() {
        let mut switch = switch(Mode::CutThrough, Table::Learning, 2, 1 << 20);
        switch.arrive(0, delivery(0, frame(9, 1, 1000)));
        assert_eq!(out(&mut switch), [(1, 72 * BYTE_PS + DELAY + LATENCY)]);
    }

    #[test]
    fn a_cut_through_switch_does_not_underrun_on_a_slow_input() {
        let mut switch = switch(Mode::CutThrough, Table::Learning, 2, 1 << 20);
        let mut slow = delivery(0, frame(9, 1, 1000));
        slow.last_ps *= 10;
        switch.arrive(0, slow);
        assert_eq!(
            out(&mut switch),
            [(1, 9 * 1024 * BYTE_PS + DELAY + LATENCY)],
            "its last bits are sent when they are there"
        );
    }

    #[test]
    fn addresses_are_learned_and_unknown_ones_are_flooded() {
        let mut switch = switch(Mode::StoreAndForward, Table::Learning, 3, 1 << 20);
        switch.arrive(0, delivery(0, frame(2, 1, 60)));
        switch.arrive(1, delivery(10_000_000, frame(1, 2, 60)));
        switch.arrive(0, delivery(20_000_000, frame(2, 1, 60)));
        let cables: Vec<u32> = out(&mut switch).iter().map(|(cable, _)| *cable).collect();
        assert_eq!(cables, [1, 2, 0, 1]);
        switch.arrive(2, delivery(30_000_000, frame(9, 5, 60)));
        switch.arrive(2, delivery(40_000_000, frame(5, 6, 60)));
        assert_eq!(out(&mut switch).len(), 2, "the second is for its own side");
        let counts = switch.counts();
        assert!(counts.adds_up());
        assert_eq!((counts.flooded, counts.forwarded, counts.filtered), (2, 2, 1));
    }

    #[test]
    fn a_full_queue_drops_without_affecting_other_ports() {
        let mut switch = switch(Mode::StoreAndForward, Table::Learning, 3, 10_000);
        switch.arrive(2, delivery(0, frame(0xff, 3, 60)));
        switch.run(1 << 40, |_, _, _, _| {});
        // Two ports at full rate for a third one.
        for number in 0..100 {
            for port in [0, 1] {
                let mut one = delivery((1 << 40) + number * 1024 * BYTE_PS, frame(3, port + 7, 1000));
                one.number = number;
                switch.arrive(port.into(), one);
            }
        }
        let sent = switch.run(Ps::MAX, |_, _, _, _| {}).len() as u64;
        let counts = switch.ports()[2].cable.counts();
        assert_eq!(counts.queue_full + sent, 200);
        assert!((85..100).contains(&counts.queue_full), "{}", counts.queue_full);
        assert!(counts.most_queued_bytes <= 10_000);
    }

    #[test]
    fn corrupt_frames_are_dropped_where_they_are_detected() {
        for (mode, passes) in [(Mode::StoreAndForward, 0), (Mode::CutThrough, 1)] {
            let mut switch = switch(mode, Table::Learning, 2, 1 << 20);
            let mut bad = delivery(0, frame(9, 1, 100));
            bad.is_bad = true;
            switch.arrive(0, bad);
            assert_eq!(out(&mut switch).len(), passes);
            assert_eq!(switch.counts().bad as usize, 1 - passes);
            assert!(switch.table.is_empty(), "nothing is learned from it");
        }
    }

    #[test]
    fn flows_are_spread_over_equal_paths_and_stay_together() {
        let mut switch = switch(Mode::StoreAndForward, Table::Static, 5, 1 << 30);
        switch.table.insert([2, 0, 0, 0, 0, 9], vec![1, 2, 3, 4]);
        let mut used = [0; 5];
        for flow in 0..200_u16 {
            let mut directions = Vec::new();
            for round in 0..3_u64 {
                let builder = etherparse::PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 9])
                    .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
                    .udp(1000 + flow, 9330);
                let mut bytes = Vec::new();
                assert!(builder.write(&mut bytes, &round.to_le_bytes()).is_ok());
                switch.arrive(0, delivery(u64::from(flow) * 1_000_000 + round, bytes));
                directions.extend(out(&mut switch).iter().map(|(cable, _)| *cable as usize));
            }
            assert!(
                directions.len() == 3 && directions.iter().all(|direction| *direction == directions[0]),
                "{directions:?}"
            );
            used[directions[0]] += 1;
        }
        assert!(used[1..].iter().all(|used| (30..70).contains(used)), "{used:?}");
    }
}
