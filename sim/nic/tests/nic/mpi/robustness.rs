//! Invalid requests of a program, messages of other lengths, and malicious senders.

use super::{FILL, LIMIT, Rank, bytes, count, hvector, open, ranks, receive, send, transmit};
use crate::kit::ok;
use etherparse::PacketBuilder;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use spinneret_fabric::Faults;
use spinneret_fabric::topology::{ip_of, mac_of};
use spinneret_mpi::Layout;
use spinneret_mpi::library::{Buffer, Config, Copies, Error, From, PORT, To};
use spinneret_mpi::nic::memory::Counter;
use spinneret_nic::Simulated;
use spinneret_slmp::frame::{Endpoint, Frame, UdpChecksum};
use spinneret_slmp::wire::{self, Flags, Header};
use std::net::SocketAddrV4;
use std::time::Duration;

const FROM_0: From = From {
    rank: Some(0),
    tag: Some(5),
    communicator: 0,
};
const TO_1: To = To {
    rank: 1,
    tag: 5,
    communicator: 0,
};

fn blocks(count: u64) -> Layout {
    Layout::of(&hvector(10, 60, bytes(40), 600), count).expect("it has a layout")
}

fn all(rank: &Rank, buffer: &Buffer) -> Vec<u8> {
    let mut found = vec![0; buffer.len() as usize];
    rank.read(buffer, 0, &mut found).expect("it is there");
    found
}

fn refused<T>(result: Result<T, Error>, words: &str) {
    let error = result.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains(words), "`{words}` is not in `{error}`");
}

#[test]
fn invalid_requests() {
    let asks = |nic: &Simulated| {
        let config = || Config {
            host_bytes: 1 << 20,
            patience: Duration::from_micros(300),
            ..Config::default()
        };
        let mut rank = open(nic, 2, config());
        let layout = blocks(2);
        let buffer = rank.buffer(2000).expect("there is room");
        refused(rank.buffer(2 << 20), "a buffer of 2097152 B does not fit");
        let outside = rank.recv_init(&buffer, 1000, &layout, FROM_0, Copies::Refused);
        refused(
            outside,
            "the elements lie from byte 1000 to 2180 of a buffer of 2000 B",
        );
        let backward = Layout::of(&hvector(3, -60, bytes(40), 0), 1).expect("it has a layout");
        let before = rank.recv_init(&buffer, 0, &backward, FROM_0, Copies::Refused);
        refused(before, "from byte -120 to 40");
        let overlapping = Layout::of(&hvector(3, 39, bytes(40), 0), 1).expect("it has a layout");
        let result = rank.recv_init(&buffer, 0, &overlapping, FROM_0, Copies::Refused);
        refused(result, "which MPI forbids in receives");
        rank.recv_init(&buffer, 0, &overlapping, FROM_0, Copies::Equal)
            .expect("its copies are equal");
        let nobody = From {
            rank: Some(2),
            ..FROM_0
        };
        let result = rank.recv_init(&buffer, 0, &layout, nobody, Copies::Refused);
        refused(result, "there is no rank 2: the library knows 2");
        let huge = Layout::of(&hvector(1 << 26, 0, bytes(1), 0), 1).expect("it has a layout");
        refused(
            rank.recv_init(&buffer, 0, &huge, FROM_0, Copies::Equal),
            "too long for the NIC",
        );
        refused(rank.send_init(&buffer, 0, &huge, TO_1), "too long for the NIC");
        let request = rank
            .recv_init(&buffer, 0, &layout, FROM_0, Copies::Refused)
            .expect("it fits");
        refused(rank.test(request), "not active");
        rank.start(request).expect("it is not active");
        refused(rank.start(request), "the request is active");
        refused(rank.free_buffer(buffer), "the request is active");
        refused(
            rank.wait(request, Duration::from_micros(50)),
            "has not ended within 0.00005 s",
        );
        rank.free(request).expect("it is there");
        refused(rank.test(request), "was freed");
        refused(rank.free(request), "was freed");
        let lonely = rank.send_init(&buffer, 0, &layout, TO_1).expect("it can be sent");
        rank.start(lonely).expect("it is not active");
        refused(rank.wait(lonely, LIMIT), "rank 1 has not started a receive");
        rank.free(lonely).expect("it is there");
        drop(rank);
        let mut other = open(nic, 2, config());
        refused(
            other.recv_init(&buffer, 0, &layout, FROM_0, Copies::Refused),
            "not in the host memory",
        );
        refused(other.read(&buffer, 0, &mut [0; 4]), "not in the host memory");
        refused(other.free_buffer(buffer), "not in the host memory");
        refused(other.start(request), "was freed, or is that of another library");
    };
    ranks(
        Faults::default(),
        1,
        vec![Box::new(asks), Box::new(|_: &Simulated| {})],
    );
}

#[test]
fn messages_of_other_lengths() {
    let sends = |nic: &Simulated| {
        let mut rank = open(nic, 2, Config::default());
        for count in [3, 1, 2, 0] {
            let request = send(&mut rank, &blocks(count), 0x77, TO_1);
            ok(rank.start(request));
            ok(rank.wait(request, LIMIT));
        }
    };
    let receives = |nic: &Simulated| {
        let mut rank = open(nic, 2, Config::default());
        let layout = blocks(2);
        let (request, buffer) = receive(&mut rank, &layout, FROM_0);
        ok(rank.start(request));
        let words =
            "MPI_ERR_TRUNCATE: a message of 1200 B came from rank 0 with tag 5 for a receive of 800 B";
        refused(rank.wait(request, LIMIT), words);
        assert!(all(&rank, &buffer).iter().all(|byte| *byte == FILL));
        assert_eq!(rank.counts().truncated, 1);
        for blocks in [1, 2, 0] {
            rank.write(&buffer, 0, &vec![FILL; buffer.len() as usize])
                .expect("it is there");
            rank.start(request).expect("it is not active");
            let status = ok(rank.wait(request, LIMIT));
            assert_eq!(u64::from(status.bytes), 400 * blocks);
            let came = count(&rank, &buffer, 0x77);
            assert_eq!(came as u64, 400 * blocks, "only what came is written");
        }
    };
    ranks(Faults::default(), 1, vec![Box::new(sends), Box::new(receives)]);
}

/// A host of the network that sends segments which are not asked for, while a message comes.
#[test]
fn a_hostile_sender() {
    let sends = |nic: &Simulated| {
        let mut rank = open(nic, 3, Config::default());
        rank.run_for(Duration::from_micros(400))
            .expect("the NIC is there");
        let request = send(&mut rank, &blocks(2), 0x77, TO_1);
        ok(rank.start(request));
        ok(rank.wait(request, LIMIT));
    };
    let receives = |nic: &Simulated| {
        let mut rank = open(nic, 3, Config::default());
        let layout = blocks(2);
        let (request, buffer) = receive(&mut rank, &layout, FROM_0);
        ok(rank.start(request));
        let before = all(&rank, &buffer);
        rank.run_for(Duration::from_micros(300))
            .expect("the NIC is there");
        assert!(all(&rank, &buffer) == before);
        let status = ok(rank.wait(request, LIMIT));
        assert_eq!(status.bytes, 800);
        rank.run_for(Duration::from_millis(1)).expect("the NIC is there");
        let came = count(&rank, &buffer, 0x77);
        assert_eq!(came, 800);
        let unknown = rank.handler_count(Counter::Unknown).expect("the NIC is there");
        assert!(unknown > 100, "{unknown}");
    };
    let harms = |nic: &Simulated| {
        let rank = open(nic, 3, Config::default());
        let end = |number: usize, port| Endpoint {
            mac: mac_of(number),
            socket: SocketAddrV4::new(ip_of(number), port),
        };
        for number in 0..400_u32 {
            let header = Header {
                flags: Flags::SYN,
                message_id: number.wrapping_mul(0x9e37_79b1),
                offset: number * 1462,
            };
            let frame = Frame {
                from: end(if number.is_multiple_of(2) { 0 } else { 2 }, 9332),
                to: end(1, wire::PORT),
                header,
                payload: &[0xbd; 700],
            };
            let frame = frame.build(1, UdpChecksum::Absent).expect("it fits");
            transmit(&rank, &frame);
        }
    };
    ranks(
        Faults::default(),
        1,
        vec![Box::new(sends), Box::new(receives), Box::new(harms)],
    );
}

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
    for tag in 0..MESSAGES {
        let to = To {
            rank: 1,
            tag: tag.into(),
            communicator: 0,
        };
        let request = send(rank, &layout(), tag, to);
        ok(rank.start(request));
        ok(rank.wait(request, LIMIT));
    }
}

fn receive_all(rank: &mut Rank) {
    let layout = layout();
    for tag in 0..MESSAGES {
        let from = From {
            rank: Some(0),
            tag: Some(tag.into()),
            communicator: 0,
        };
        let (request, buffer) = receive(rank, &layout, from);
        ok(rank.start(request));
        let status = ok(rank.wait(request, LIMIT));
        assert_eq!((status.rank, u64::from(status.bytes)), (0, layout.bytes()));
        assert_eq!(count(rank, &buffer, tag) as u64, layout.bytes());
    }
}

/// Announcements, grants and acknowledgements with arbitrary numbers: messages of others arrive, and the receiver
/// continues, even when a host uses the address of a rank, which cannot be detected.
#[test]
fn arbitrary_packets_to_the_library_stop_no_messages() {
    let seed = 7;
    let goes_on = |rank: &mut Rank| {
        rank.run_for(Duration::from_micros(300))
            .expect("the NIC is there");
        // Waiting messages are received: each receive ends or waits, nothing else happens.
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
