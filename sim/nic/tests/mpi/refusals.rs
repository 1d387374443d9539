//! What a program asks for and does not get, messages of other lengths, and senders that mean harm.

use super::support::{FILL, LIMIT, Rank, bytes, hvector, open, ranks, room, transmit};
use spinneret_fabric::Faults;
use spinneret_fabric::topology::{ip_of, mac_of};
use spinneret_mpi::Layout;
use spinneret_mpi::library::{Buffer, Config, Copies, Error, From, Request, To};
use spinneret_mpi::nic::memory::Counter;
use spinneret_nic::Simulated;
use spinneret_slmp::frame::{Endpoint, Frame, UdpChecksum};
use spinneret_slmp::wire::{Flags, Header, PORT};
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

/// A receive of some elements in a buffer of its own, started.
fn receive(rank: &mut Rank, layout: &Layout) -> (Request, Buffer) {
    let (origin, bytes) = room(layout);
    let buffer = rank.buffer(bytes).expect("there is room");
    rank.write(&buffer, 0, &vec![FILL; bytes as usize])
        .expect("it is there");
    let request = rank.recv_init(&buffer, origin, layout, FROM_0, Copies::Refused);
    let request = request.unwrap_or_else(|error| panic!("{error}"));
    rank.start(request).expect("it is not active");
    (request, buffer)
}

fn send(rank: &mut Rank, layout: &Layout) -> Request {
    let (origin, bytes) = room(layout);
    let buffer = rank.buffer(bytes).expect("there is room");
    rank.write(&buffer, 0, &vec![0x77; bytes as usize])
        .expect("it is there");
    let request = rank
        .send_init(&buffer, origin, layout, TO_1)
        .unwrap_or_else(|error| panic!("{error}"));
    rank.start(request).expect("it is not active");
    request
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
fn requests_that_cannot_be() {
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
            let request = send(&mut rank, &blocks(count));
            rank.wait(request, LIMIT)
                .unwrap_or_else(|error| panic!("{error}"));
        }
    };
    let receives = |nic: &Simulated| {
        let mut rank = open(nic, 2, Config::default());
        let layout = blocks(2);
        let (request, buffer) = receive(&mut rank, &layout);
        let words =
            "MPI_ERR_TRUNCATE: a message of 1200 B came from rank 0 with tag 5 for a receive of 800 B";
        refused(rank.wait(request, LIMIT), words);
        assert!(all(&rank, &buffer).iter().all(|byte| *byte == FILL));
        assert_eq!(rank.counts().truncated, 1);
        for count in [1, 2, 0] {
            rank.write(&buffer, 0, &vec![FILL; buffer.len() as usize])
                .expect("it is there");
            rank.start(request).expect("it is not active");
            let status = rank
                .wait(request, LIMIT)
                .unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(u64::from(status.bytes), 400 * count);
            let came = all(&rank, &buffer).iter().filter(|byte| **byte == 0x77).count();
            assert_eq!(came as u64, 400 * count, "only what came is written");
        }
    };
    ranks(Faults::default(), 1, vec![Box::new(sends), Box::new(receives)]);
}

/// A host of the network that sends segments which are not asked for, while a message comes.
#[test]
fn a_sender_that_means_harm() {
    let sends = |nic: &Simulated| {
        let mut rank = open(nic, 3, Config::default());
        rank.run_for(Duration::from_micros(400))
            .expect("the NIC is there");
        let request = send(&mut rank, &blocks(2));
        rank.wait(request, LIMIT)
            .unwrap_or_else(|error| panic!("{error}"));
    };
    let receives = |nic: &Simulated| {
        let mut rank = open(nic, 3, Config::default());
        let layout = blocks(2);
        let (request, buffer) = receive(&mut rank, &layout);
        let before = all(&rank, &buffer);
        rank.run_for(Duration::from_micros(300))
            .expect("the NIC is there");
        assert!(all(&rank, &buffer) == before);
        let status = rank
            .wait(request, LIMIT)
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(status.bytes, 800);
        rank.run_for(Duration::from_millis(1)).expect("the NIC is there");
        let came = all(&rank, &buffer).iter().filter(|byte| **byte == 0x77).count();
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
                to: end(1, PORT),
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
