//! The ingress DMA between bus models and its reference model.

use crate::bench::Finish;
use spinneret_sim::prelude::*;
use std::collections::VecDeque;

/// Start of the packet buffer.
pub const BUFFER_START: u64 = spinneret_regmap::pspin::PACKET_BASE as u64;
/// Bytes of the packet buffer.
pub const BUFFER_BYTES: u64 = 512 * 1024;

/// Pauses of the bus models.
#[derive(Clone, Debug, Default)]
pub struct Pauses {
    /// Gaps in the stream.
    pub stream: Pause,
    /// Gaps between descriptors.
    pub descriptor: Pause,
    /// Backpressure of the HER generator.
    pub her: Pause,
    /// Backpressure of the allocator.
    pub free: Pause,
}

/// A descriptor and the frame that comes with it.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Address of the slot.
    pub address: u64,
    /// Length by the descriptor.
    pub length: u64,
    /// Tag.
    pub tag: u64,
    /// The frame.
    pub frame: Frame,
}

impl Packet {
    /// A packet whose descriptor is right.
    pub fn new(address: u64, tag: u64, bytes: Vec<u8>) -> Self {
        Self {
            address,
            length: bytes.len() as u64,
            tag,
            frame: Frame::new(bytes),
        }
    }

    /// Returns whether the descriptor matches its frame and is aligned to the bus.
    fn is_sound(&self, beat: u64) -> bool {
        self.length == self.frame.bytes.len() as u64 && self.address.is_multiple_of(beat)
    }

    /// The bursts: address, beats. Blocks of `block` bytes are written by one burst each.
    fn bursts(&self, beat: u64, block: u64) -> Vec<(u64, u64)> {
        let mut address = self.address - self.address % beat;
        let frame = self.frame.beats(beat as usize) as u64;
        let mut left = self.length.div_ceil(beat).max(1).min(frame);
        let mut bursts = Vec::new();
        while left > 0 {
            let beats = left.min((block - address % block) / beat);
            bursts.push((address, beats));
            address += beats * beat;
            left -= beats;
        }
        bursts
    }
}

crate::counts! {
    /// Packets by outcome.
    pub struct Outcome {
        /// Passed on to the HER generator.
        pub good: u64,
        /// Failed because of a response.
        pub write_errors: u64,
        /// Failed because of the frame or the address.
        pub bad_frames: u64,
    }
}

/// A DMA with bus models on all its ports; all outputs are checked.
#[derive(Debug)]
pub struct DmaBench<M: Model> {
    /// The simulation.
    pub sim: Simulation<M>,
    /// The packets.
    pub source: StreamSource,
    /// Their descriptors: address, length, tag.
    pub descriptors: ChannelSource,
    /// The packet buffer.
    pub slave: AxiSlave,
    /// Packets that are written: address, length, tag.
    pub her: ChannelSink,
    /// Slots of packets that failed.
    pub free: ChannelSink,
    beat: u64,
    /// Bytes of the largest burst.
    block: u64,
    expected: VecDeque<Packet>,
    memory: Memory,
    total: Outcome,
}

impl<M: Model> DmaBench<M> {
    /// Puts bus models around a DMA with that many bytes a beat and a burst, and resets it.
    ///
    /// # Panics
    /// If the design is no DMA.
    pub fn new(
        mut sim: Simulation<M>,
        (beat, block): (u64, u64),
        pauses: Pauses,
        slave: SlaveConfig,
    ) -> Self {
        sim.set_cycle_limit(u64::MAX);
        let source = sim.source("s_axis_pspin_rx", pauses.stream);
        source.monitor().allow_null_last();
        let descriptors = sim.channel_source("write_desc", &["addr", "len", "tag"], pauses.descriptor);
        let slave = sim.axi_write_slave("m_axi_pspin", slave);
        let her = sim.channel_sink("her_gen", &["addr", "len", "tag"], pauses.her);
        let free = sim.channel_sink("m_free", &["addr"], pauses.free);
        sim.reset();
        Self {
            sim,
            source,
            descriptors,
            slave,
            her,
            free,
            beat,
            block,
            expected: VecDeque::new(),
            memory: Memory::default(),
            total: Outcome::default(),
        }
    }

    /// Sends a packet and remembers what has to come of it.
    pub fn send(&mut self, packet: Packet) {
        self.descriptors
            .send(&[packet.address, packet.length, packet.tag]);
        self.source.send(packet.frame.clone());
        self.expected.push_back(packet);
    }

    /// Runs until every packet is passed on or has failed, and compares everything.
    ///
    /// # Panics
    /// At the first difference, and if a packet does not come out.
    pub fn settle(&mut self) -> Outcome {
        let bytes: usize = self
            .expected
            .iter()
            .map(|packet| packet.frame.bytes.len() + 64)
            .sum();
        let deadline = self.sim.cycle_count() + 20_000 + 10 * bytes as u64;
        while self.her.waiting() + self.free.waiting() < self.expected.len() {
            assert!(
                self.sim.cycle_count() < deadline,
                "packets do not come out: {} good and {} failed of {}",
                self.her.waiting(),
                self.free.waiting(),
                self.expected.len()
            );
            self.sim.cycle();
        }
        // Drain the rest of a last frame that is too long.
        while !self.source.is_idle() {
            self.sim.cycle();
        }
        self.compare()
    }

    /// Resets the design in whatever it does, and gets the bus models out of the middle of frames.
    pub fn reset(&mut self) {
        // Descriptors and frames that were not taken are sent after the reset, in different numbers.
        self.sim.reset();
        self.her.set_pause(Pause::Never);
        self.free.set_pause(Pause::Never);
        for _ in 0..100_000 {
            if self.source.is_idle() && self.descriptors.is_idle() {
                break;
            }
            if self.source.is_idle() {
                self.source.send(Frame::new([0]));
            } else if self.descriptors.is_idle() {
                self.descriptors.send(&[BUFFER_START, 1, 0]);
            }
            self.sim.cycle();
        }
        self.sim.run(200);
        self.sim.reset();
        self.expected.clear();
        self.her.receive_all();
        self.free.receive_all();
        self.slave.take_bursts();
        self.memory = self.slave.memory().clone();
        self.total = Outcome::default();
    }

    fn compare(&mut self) -> Outcome {
        let mut written: VecDeque<SlaveBurst> = self.slave.take_bursts().into();
        let mut outcome = Outcome::default();
        while let Some(packet) = self.expected.pop_front() {
            let mut error = false;
            for (address, beats) in packet.bursts(self.beat, self.block) {
                let seen = written
                    .pop_front()
                    .unwrap_or_else(|| panic!("no burst at {address:#x}"));
                let burst = seen.burst;
                assert_eq!(
                    (burst.address, burst.beats, burst.size, burst.id),
                    (address, beats, self.beat, 0),
                    "burst of {} bytes at {:#x}",
                    packet.length,
                    packet.address
                );
                if seen.response == Response::Okay {
                    self.write(&packet, address, beats);
                } else {
                    error = true;
                }
            }
            let sound = packet.is_sound(self.beat);
            outcome.write_errors += u64::from(error);
            outcome.bad_frames += u64::from(!error && !sound);
            if sound && !error {
                outcome.good += 1;
                let item = self.her.receive().map(|item| item.values);
                let wanted = vec![packet.address, packet.length, packet.tag];
                assert_eq!(item, Some(wanted), "at the HER generator");
            } else {
                let item = self.free.receive().map(|item| item.values);
                assert_eq!(item, Some(vec![packet.address]), "returned slot");
            }
        }
        assert_eq!(written.len(), 0, "bursts that belong to no packet");
        self.compare_memory();
        self.compare_counters(outcome);
        outcome
    }

    /// Writes what a burst of a packet has to write.
    fn write(&mut self, packet: &Packet, address: u64, beats: u64) {
        if !packet.address.is_multiple_of(self.beat) {
            return;
        }
        let count = packet.length.min(packet.frame.bytes.len() as u64);
        let start = (address - packet.address).min(count);
        let end = (start + beats * self.beat).min(count);
        let bytes = &packet.frame.bytes[start as usize..end as usize];
        for (index, part) in bytes.chunks(128).enumerate() {
            self.memory.write(address + 128 * index as u64, part, u128::MAX);
        }
    }

    fn compare_memory(&self) {
        let memory = self.slave.memory();
        assert_eq!(memory.written(), self.memory.written(), "bytes written");
        for page in (0..BUFFER_BYTES + 65536).step_by(4096) {
            let start = BUFFER_START + page;
            let (seen, wanted) = (memory.read(start, 4096), self.memory.read(start, 4096));
            let wrong = seen.iter().zip(&wanted).position(|(a, b)| a != b);
            assert_eq!(wrong, None, "first wrong byte behind {start:#x}");
        }
    }

    fn compare_counters(&mut self, outcome: Outcome) {
        self.total.write_errors += outcome.write_errors;
        self.total.bad_frames += outcome.bad_frames;
        // Counters show a packet one cycle after its slot is valid at the port.
        self.sim.run(2);
        assert_eq!(self.sim.get("write_error_pkts_o"), self.total.write_errors);
        assert_eq!(self.sim.get("bad_frame_pkts_o"), self.total.bad_frames);
    }
}

impl<M: Model> Finish for DmaBench<M> {
    fn finish(mut self) {
        self.settle();
        self.sim.run(64);
        self.sim.finish();
    }
}

/// A packet of random length and contents in a random slot; one of `bad` has something wrong, none if 0.
pub fn random_packet(rng: &mut ChaCha8Rng, beat: u64, bad: u32) -> Packet {
    let length: u64 = match rng.random_range(0..40) {
        0 => rng.random_range(1..=9600),
        1..=4 => beat * rng.random_range(1..=4),
        5..=10 => rng.random_range(1..=beat),
        11..=14 => rng.random_range(1400..=1536),
        _ => rng.random_range(1..=300),
    };
    let address = BUFFER_START + beat * rng.random_range(0..BUFFER_BYTES / beat);
    let bytes = (0..length).map(|_| rng.random()).collect();
    let mut packet = Packet::new(address, rng.random::<u32>().into(), bytes);
    if rng.random_ratio(1, 20) {
        packet.frame = packet.frame.with_null_last();
    }
    if bad > 0 && rng.random_ratio(1, bad) {
        match rng.random_range(0..3) {
            0 => packet.address += rng.random_range(1..beat),
            1 => packet.length = rng.random_range(0..=9600),
            _ => packet.length = (packet.length + rng.random_range(0..3)).saturating_sub(1),
        }
    }
    packet
}
