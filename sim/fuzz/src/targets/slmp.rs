//! SLMP segments, to the handlers on a simulated NIC and to the receiver that programs have.

use super::files::{root, seeds};
use crate::{Counts, Target, mutate, number};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use spinneret_host::slmp::{Event, MessageReceiver};
use spinneret_host::{Nic, Program};
use spinneret_nic::Simulated;
use spinneret_nic::nic::NicConfig;
use spinneret_packets::capture::CaptureReader;
use spinneret_slmp::frame::{Endpoint, Frame, UdpChecksum};
use spinneret_slmp::wire::{self, Flags, Header};
use spinneret_slmp::{Confirm, Receiver, ReceiverConfig};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;
use std::time::Duration;

/// Segments of an input.
const MOST: usize = 32;
/// Longest frame that a cable brings.
const LONGEST: usize = 9600;
/// Time after which the NIC gives up a message without progress.
const IDLE: Duration = Duration::from_micros(400);
/// Polling interval of the receiver.
const LOOK: Duration = Duration::from_micros(20);
/// Places for messages, and the longest message.
const PLACES: usize = 4;
const CAPACITY: usize = 64 << 10;

/// A NIC with handlers, a receiver in software, and seeds.
pub(super) struct Slmp {
    seeds: Vec<Vec<u8>>,
    nic: Simulated,
    receiver: MessageReceiver<Simulated>,
    software: Receiver,
    /// Messages of the sender that behaves.
    good: u32,
}

impl Slmp {
    pub(super) fn new() -> anyhow::Result<Self> {
        let mut frames = Vec::new();
        for capture in seeds("sim/captures", &["pcap"])? {
            for packet in CaptureReader::new(Path::new("seed"), &capture[..])? {
                frames.push(packet?.data);
            }
        }
        let config = ReceiverConfig {
            places: PLACES,
            capacity_bytes: CAPACITY,
            confirm: Confirm::Memory,
        };
        let elf = spinneret_nic::run::program(&root().join("runtime/examples/slmp"), 2)?;
        let nic = Simulated::new(NicConfig::default())?;
        let library = Nic::new(nic.clone())?;
        Ok(Self {
            seeds: frames,
            receiver: MessageReceiver::open(&library, &Program::open(&elf)?, config, IDLE)?,
            software: Receiver::new(config)?,
            nic,
            good: 0,
        })
    }

    /// A segment with right checksums, of one of few messages of few senders.
    fn segment(rng: &mut ChaCha8Rng) -> Vec<u8> {
        let payload: Vec<u8> = (0..rng.random_range(0..wire::MAX_PAYLOAD))
            .map(|_| rng.random())
            .collect();
        let flags = match rng.random_range(0..8) {
            0 => rng.random(),
            1 => rng.random_range(0..8) << 13,
            2..5 => (Flags::SYN | Flags::EOM).bits(),
            _ => Flags::SYN.bits(),
        };
        let offset = match rng.random_range(0..4) {
            0 => 0,
            1 => rng.random_range(0..4) * wire::MAX_PAYLOAD as u32,
            2 => rng.random_range(0..CAPACITY as u32),
            _ => number(rng) as u32,
        };
        let header = Header {
            flags: Flags::from_bits(flags),
            message_id: rng.random_range(0..6),
            offset,
        };
        let port = 4000 + rng.random_range(0..3);
        frame(port, header, &payload)
    }

    /// Runs the NIC and polls the receiver for a duration.
    fn pass(&mut self, time: Duration, events: &mut Vec<Event>) -> Result<(), String> {
        let end_ps = self.nic.borrow().now_ps() + time.as_nanos() as u64 * 1000;
        while self.nic.borrow().now_ps() < end_ps {
            {
                let mut nic = self.nic.borrow_mut();
                let until_ps = end_ps.min(nic.now_ps() + LOOK.as_nanos() as u64 * 1000);
                nic.run_until(until_ps).map_err(|error| error.to_string())?;
                while nic.take_wire().is_some() || nic.take_host().is_some() {}
                nic.take_events();
            }
            while let Some(event) = self.receiver.poll().map_err(|error| error.to_string())? {
                events.push(event);
            }
        }
        Ok(())
    }

    /// Checks that a message of a well-behaved sender still arrives.
    fn check(&mut self) -> Result<(), String> {
        self.good += 1;
        let payload = [&self.good.to_le_bytes()[..], &[0x60; 96]].concat();
        let header = Header {
            flags: Flags::from_bits(Flags::SYN.bits() | Flags::EOM.bits()),
            message_id: self.good,
            offset: 0,
        };
        let bytes = frame(999, header, &payload);
        self.nic.borrow_mut().receive(bytes.clone());
        let mut events = Vec::new();
        self.pass(IDLE, &mut events)?;
        let has_come = |event: &Event| matches!(event, Event::Complete(message) if message.data == payload);
        if !events.iter().any(has_come) {
            return Err("a message of a sender that behaves did not arrive on the NIC".to_owned());
        }
        let now = self.receiver_time();
        self.software.receive_frame(now, &bytes);
        match std::iter::from_fn(|| self.software.take_complete()).any(|message| message.data == payload) {
            true => Ok(()),
            false => Err("a message of a sender that behaves did not arrive in the program".to_owned()),
        }
    }

    fn receiver_time(&self) -> Duration {
        Duration::from_nanos(self.nic.borrow().now_ps() / 1000)
    }
}

/// A segment from a port of a host.
fn frame(port: u16, header: Header, payload: &[u8]) -> Vec<u8> {
    let end = |host: u8, port| Endpoint {
        mac: [2, 0, 0, 0, 0, host],
        socket: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, host), port),
    };
    let frame = Frame {
        from: end(1, port),
        to: end(2, wire::PORT),
        header,
        payload,
    };
    frame.build(0, UdpChecksum::Absent).unwrap_or_default()
}

impl Target for Slmp {
    fn unit(&self) -> &'static str {
        "segments"
    }

    /// Frames with their lengths before them.
    fn generate(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        let mut input = Vec::new();
        for _ in 0..rng.random_range(1..=MOST) {
            let mut bytes = Self::segment(rng);
            match rng.random_range(0..8) {
                0 => bytes = mutate(&self.seeds, rng),
                1 => bytes = mutate(&[bytes], rng),
                _ => {}
            }
            bytes.truncate(LONGEST);
            input.extend((bytes.len() as u16).to_le_bytes());
            input.extend(bytes);
        }
        input
    }

    fn run(&mut self, input: &[u8]) -> Result<Counts, String> {
        let mut counts = Counts::default();
        let (mut rest, mut events) = (input, Vec::new());
        while let Some((length, behind)) = rest.split_first_chunk() {
            let length = usize::from(u16::from_le_bytes(*length))
                .min(behind.len())
                .min(LONGEST);
            let (bytes, behind) = behind.split_at(length);
            rest = behind;
            if bytes.is_empty() {
                continue;
            }
            counts.pieces += 1;
            self.nic.borrow_mut().receive(bytes.to_vec());
            let now = self.receiver_time();
            let answers = self.software.receive_frame(now, bytes);
            counts.understood += u64::from(!answers.is_empty());
            while self.software.take_complete().is_some() {}
        }
        // Then nothing is sent, and incomplete messages are given up.
        self.pass(3 * IDLE, &mut events)?;
        let now = self.receiver_time();
        while self.software.expire(now, IDLE).is_some() {}
        self.software.free_given_up();
        self.check()?;
        Ok(counts)
    }
}
