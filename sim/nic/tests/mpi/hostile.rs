//! Hosts that mean harm: what they send to the ports of the library, while others' messages come.

use super::support::{FILL, LIMIT, Rank, bytes, hvector, open, ranks, room, transmit};
use etherparse::PacketBuilder;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use spinneret_fabric::Faults;
use spinneret_fabric::topology::{ip_of, mac_of};
use spinneret_mpi::Layout;
use spinneret_mpi::library::{Config, Copies, From, PORT, To};
use spinneret_nic::Simulated;
use std::time::Duration;

/// The first word of what libraries say.
const MAGIC: u32 = 0x3243_504d;
/// Frames of the hostile host, one in a microsecond.
const FRAMES: u32 = 500;
/// Those after which it speaks in the name of the other rank.
const HONEST: u32 = 350;
/// Messages of others, one after the other, which take less time.
const MESSAGES: u8 = 2;

fn layout() -> Layout {
    Layout::of(&hvector(20, 60, bytes(40), 1200), 4).expect("it has a layout")
}

/// Words as an announcement or a grant has them, or others, cut anywhere.
fn payload(random: &mut ChaCha8Rng) -> Vec<u8> {
    let kind = random.random_range(0..3_u32);
    let mut words = vec![
        if random.random_bool(0.95) {
            MAGIC
        } else {
            random.next_u32()
        },
        kind,
    ];
    for _ in 0..random.random_range(0..60) {
        // Small numbers are those that are in use.
        let number = match random.random_bool(0.7) {
            true => random.random_range(0..64),
            false => random.next_u32(),
        };
        match kind {
            0 => {
                let bytes = [0, 8, 3200, u32::MAX, random.next_u32()][random.random_range(0..5)];
                let unit = [0, 1, 1462, 1463, u32::MAX][random.random_range(0..5)];
                let port = [0, 9332, u32::MAX][random.random_range(0..3)];
                let tag = random.random_range(0..6);
                words.extend([number, 0, tag, bytes, unit, port]);
            }
            _ => words.extend([number, random.next_u32()]),
        }
    }
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(1460);
    if random.random_bool(0.1) {
        bytes.truncate(random.random_range(0..=bytes.len()));
    }
    bytes
}

/// A frame to the port of announcements, or to that of acknowledgements.
fn frame(random: &mut ChaCha8Rng, from: usize, to: usize) -> Vec<u8> {
    let port = if random.random_bool(0.8) { PORT } else { PORT + 1 };
    let builder = PacketBuilder::ethernet2(mac_of(2), mac_of(to))
        .ipv4(ip_of(from).octets(), ip_of(to).octets(), 64)
        .udp([PORT, 9330][random.random_range(0..2)], port);
    let payload = payload(random);
    let mut frame = Vec::with_capacity(builder.size(payload.len()));
    builder
        .write(&mut frame, &payload)
        .expect("a vector takes everything");
    frame
}

fn send_all(rank: &mut Rank) {
    let layout = layout();
    let (origin, bytes) = room(&layout);
    for tag in 0..MESSAGES {
        let buffer = rank.buffer(bytes).expect("there is room");
        rank.write(&buffer, 0, &vec![tag; bytes as usize])
            .expect("it is there");
        let to = To {
            rank: 1,
            tag: tag.into(),
            communicator: 0,
        };
        let request = rank.send_init(&buffer, origin, &layout, to);
        let request = request.unwrap_or_else(|error| panic!("{error}"));
        rank.start(request).expect("it is not active");
        rank.wait(request, LIMIT)
            .unwrap_or_else(|error| panic!("message {tag}: {error}"));
    }
}

fn receive_all(rank: &mut Rank) {
    let layout = layout();
    let (origin, bytes) = room(&layout);
    for tag in 0..MESSAGES {
        let buffer = rank.buffer(bytes).expect("there is room");
        rank.write(&buffer, 0, &vec![FILL; bytes as usize])
            .expect("it is there");
        let from = From {
            rank: Some(0),
            tag: Some(tag.into()),
            communicator: 0,
        };
        let request = rank.recv_init(&buffer, origin, &layout, from, Copies::Refused);
        let request = request.unwrap_or_else(|error| panic!("{error}"));
        rank.start(request).expect("it is not active");
        let status = rank.wait(request, LIMIT);
        let status = status.unwrap_or_else(|error| panic!("message {tag}: {error}"));
        assert_eq!((status.rank, u64::from(status.bytes)), (0, layout.bytes()));
        let mut found = vec![0; bytes as usize];
        rank.read(&buffer, 0, &mut found).expect("it is there");
        let came = found.iter().filter(|byte| **byte == tag).count();
        assert_eq!(came as u64, layout.bytes());
    }
}

/// Announcements, grants and acknowledgements with any numbers in them: messages of others come as ever, and who is meant
/// goes on, even when a host speaks in the name of a rank, which nobody can tell.
#[test]
fn whatever_comes_to_the_ports_of_the_library_stops_no_message_of_others() {
    let seed = 7;
    let goes_on = |rank: &mut Rank| {
        rank.run_for(Duration::from_micros(300))
            .expect("the NIC is there");
        // What waits is taken by receives, each of which ends or waits: nothing else happens.
        let small = Layout::contiguous(16);
        let buffer = rank.buffer(64).expect("there is room");
        for _ in 0..50 {
            let from = From {
                rank: None,
                tag: None,
                communicator: 0,
            };
            let request = rank.recv_init(&buffer, 0, &small, from, Copies::Refused);
            let request = request.unwrap_or_else(|error| panic!("{error}"));
            rank.start(request).expect("it is not active");
            let _ = rank.test(request);
            rank.free(request).expect("it is there");
        }
        rank.run_for(Duration::from_micros(50)).expect("the NIC is there");
    };
    let sends = move |nic: &Simulated| {
        let mut rank = open(nic, 3, Config::default());
        let begun = rank.nic().now();
        rank.run_for(Duration::from_micros(20)).expect("the NIC is there");
        send_all(&mut rank);
        let taken = rank.nic().now() - begun;
        assert!(taken < Duration::from_micros(HONEST.into()), "{taken:?}");
        goes_on(&mut rank);
    };
    let receives = move |nic: &Simulated| {
        let mut rank = open(nic, 3, Config::default());
        let begun = rank.nic().now();
        rank.run_for(Duration::from_micros(40)).expect("the NIC is there");
        receive_all(&mut rank);
        let taken = rank.nic().now() - begun;
        assert!(taken < Duration::from_micros(HONEST.into()), "{taken:?}");
        goes_on(&mut rank);
    };
    let harms = move |nic: &Simulated| {
        let rank = open(nic, 3, Config::default());
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for number in 0..FRAMES {
            let to = random.random_range(0..2);
            // For itself, in the name of the one that it speaks to, and in the end in that of the other.
            let names = if number < HONEST {
                [2, 2, to]
            } else {
                [2, to, 1 - to]
            };
            let name = names[random.random_range(0..3)];
            let frame = frame(&mut random, name, to);
            transmit(&rank, &frame);
        }
    };
    ranks(
        Faults::default(),
        1,
        vec![Box::new(sends), Box::new(receives), Box::new(harms)],
    );
}
