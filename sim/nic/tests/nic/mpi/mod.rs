//! Receives of MPI's datatypes that land in place: two ranks, each with its NIC, in one fabric.

mod rates;
mod robustness;
mod types;

pub(crate) use spinneret_nic::mpi::{Exchange, Exchanged, FILL, LIMIT, Rank, bytes, hindexed, hvector, room};

use crate::kit::ok;
use spinneret_fabric::Faults;
use spinneret_mpi::Layout;
use spinneret_mpi::library::{Buffer, Config, Copies, Error, From, NOBODY, Request, Status, To};
use spinneret_nic::mpi::PaperType;
use spinneret_nic::{Simulated, mpi};
use std::time::Duration;

/// A program of a rank, on its NIC.
pub(crate) type Work<'p> = Box<dyn FnOnce(&Simulated) + Send + 'p>;

/// A library on a NIC of a fabric.
pub(crate) fn open(nic: &Simulated, ranks: usize, config: Config) -> Rank {
    ok(mpi::rank_on(nic, &ok(mpi::program()), ranks, config))
}

/// Runs a program on each NIC.
pub(crate) fn ranks(faults: Faults, seed: u64, programs: Vec<Work<'_>>) {
    let programs = programs.into_iter().map(|program| {
        Box::new(move |nic: &Simulated| {
            program(nic);
            Ok(())
        }) as mpi::Work<'_>
    });
    ok(mpi::ranks(faults, seed, 2, programs.collect()));
}

/// Sends a frame as soon as there is room, and waits a microsecond.
pub(crate) fn transmit(rank: &Rank, frame: &[u8]) {
    let wait = || {
        rank.nic()
            .wait(Duration::from_micros(1))
            .expect("the NIC is there")
    };
    while !rank.nic().transmit(frame).expect("the NIC is there") {
        wait();
    }
    wait();
}

/// Sends all messages, and compares all bytes of all buffers.
pub(crate) fn exchange(how: &Exchange) -> Exchanged {
    ok(mpi::exchange(how))
}

/// The paper's simple type, that many times.
pub(crate) fn simple(count: u64) -> Layout {
    PaperType::Simple.layout(count).expect("it has a layout")
}

/// The paper's complex type, that many times.
pub(crate) fn complex(count: u64) -> Layout {
    PaperType::Complex.layout(count).expect("it has a layout")
}

/// A buffer around elements, filled with one byte, and the origin of the elements.
fn filled(rank: &mut Rank, layout: &Layout, byte: u8) -> (Buffer, i64) {
    let (origin, bytes) = room(layout);
    let buffer = ok(rank.buffer(bytes));
    ok(rank.write(&buffer, 0, &vec![byte; bytes as usize]));
    (buffer, origin)
}

/// A receive into a buffer of its own.
fn receive(rank: &mut Rank, layout: &Layout, from: From) -> (Request, Buffer) {
    let (buffer, origin) = filled(rank, layout, FILL);
    let request = rank.recv_init(&buffer, origin, layout, from, Copies::Refused);
    (ok(request), buffer)
}

/// A send from a buffer of its own.
fn send(rank: &mut Rank, layout: &Layout, byte: u8, to: To) -> Request {
    let (buffer, origin) = filled(rank, layout, byte);
    ok(rank.send_init(&buffer, origin, layout, to))
}

/// The number of these bytes in a buffer.
fn count(rank: &Rank, buffer: &Buffer, byte: u8) -> usize {
    let mut found = vec![0; buffer.len() as usize];
    ok(rank.read(buffer, 0, &mut found));
    found.iter().filter(|found| **found == byte).count()
}

/// The rank whose messages these are.
const OWN: usize = 0;
/// Messages at once: more than the NIC has slots.
const MANY: i32 = 40;

/// Elements that follow no pattern.
fn scattered(count: u64) -> Layout {
    let tree = hindexed(&[(1, 20), (2, 3), (1, 61)], bytes(7), 90);
    Layout::of(&tree, count).expect("it has a layout")
}

fn from(rank: Option<usize>, tag: Option<i32>) -> From {
    From {
        rank,
        tag,
        communicator: 3,
    }
}

fn to(rank: usize, tag: i32) -> To {
    To {
        rank,
        tag,
        communicator: 3,
    }
}

/// Runs a program on a rank; the other one has nothing to do.
fn alone(program: impl FnOnce(Rank) + Send) {
    let works = |nic: &Simulated| {
        let config = Config {
            patience: Duration::from_micros(300),
            ..Config::default()
        };
        program(open(nic, 2, config));
    };
    ranks(
        Faults::default(),
        1,
        vec![Box::new(works), Box::new(|_: &Simulated| {})],
    );
}

#[test]
fn messages_match_whichever_of_receive_and_send_is_first() {
    alone(|mut rank| {
        let layout = scattered(3);
        let (taken, buffer) = receive(&mut rank, &layout, from(Some(OWN), Some(9)));
        let sent = send(&mut rank, &layout, 0x77, to(OWN, 9));
        let now = rank.nic().now();
        for order in [[taken, sent], [sent, taken], [taken, sent]] {
            for request in order {
                rank.start(request).expect("it is not active");
            }
            let status = rank.test(taken).expect("it is right");
            let wanted = Status {
                bytes: 84,
                rank: OWN,
                tag: 9,
            };
            assert_eq!((status, count(&rank, &buffer, 0x77)), (Some(wanted), 84));
            assert!(rank.test(sent).expect("it is right").is_some());
            let clear = vec![FILL; buffer.len() as usize];
            rank.write(&buffer, 0, &clear).expect("it is there");
        }
        assert!(rank.nic().now() - now < Duration::from_micros(10));
        assert_eq!((rank.counts().placed, rank.counts().unpacked), (0, 3));
    });
}

/// Those of one communicator in their order, by tag or from anybody; those that are longer than their receive are errors there.
#[test]
fn messages_match_as_in_another_mpi() {
    alone(|mut rank| {
        let layout = scattered(1);
        let sends: Vec<Request> = (0..MANY)
            .map(|tag| send(&mut rank, &layout, tag as u8, to(OWN, tag)))
            .collect();
        rank.start_all(&sends).expect("none is active");
        let elsewhere = From {
            communicator: 4,
            ..from(None, None)
        };
        let (other, _) = receive(&mut rank, &layout, elsewhere);
        rank.start(other).expect("it is not active");
        for tag in (0..MANY).rev().step_by(2).chain((0..MANY).step_by(2)) {
            let is_named = tag % 2 != 0;
            let wanted = from(is_named.then_some(OWN), is_named.then_some(tag));
            let (taken, buffer) = receive(&mut rank, &layout, wanted);
            rank.start(taken).expect("it is not active");
            let status = ok(rank.wait(taken, LIMIT));
            assert_eq!((status.tag, status.bytes), (tag, 28));
            assert!(count(&rank, &buffer, tag as u8) >= 28);
        }
        assert!(rank.test(other).expect("it is active").is_none());
        let all = rank.wait_all(&sends, LIMIT);
        assert_eq!(all.map(|all| all.len()).ok(), Some(sends.len()));

        let (short, buffer) = receive(&mut rank, &layout, from(None, None));
        let long = send(&mut rank, &scattered(2), 0x77, to(OWN, 1));
        rank.start_all(&[long, short]).expect("none is active");
        let error = rank.test(short).err().map(|error| error.to_string());
        let words = "MPI_ERR_TRUNCATE: a message of 56 B came from rank 0 with tag 1 for a receive of 28 B";
        assert!(error.is_some_and(|error| error.contains(words)));
        assert_eq!(count(&rank, &buffer, 0x77), 0);
        assert!(rank.test(long).expect("it is no error for the sender").is_some());
    });
}

#[test]
fn freed_and_cancelled_requests_leak_nothing() {
    alone(|mut rank| {
        let layout = scattered(1);
        // The first one is not received in time, so later receives do not get it.
        let lonely = send(&mut rank, &layout, 1, to(OWN, 0));
        rank.start(lonely).expect("it is not active");
        match rank.wait(lonely, LIMIT) {
            Err(Error::NotGranted { rank, .. }) => assert_eq!(rank, OWN),
            other => panic!("{other:?}"),
        }
        let (taken, buffer) = receive(&mut rank, &layout, from(None, None));
        rank.start(taken).expect("it is not active");
        rank.free(taken).expect("it is there");
        assert!(rank.free_buffer(buffer).is_err(), "it still gets a message");
        let sent = send(&mut rank, &layout, 2, to(OWN, 0));
        rank.start(sent).expect("it is not active");
        assert_eq!(count(&rank, &buffer, 2), 28);
        rank.free_buffer(buffer).expect("nothing uses it");
    });
}

#[test]
fn a_null_process_receives_and_sends_nothing() {
    alone(|mut rank| {
        let layout = scattered(2);
        let (taken, buffer) = receive(&mut rank, &layout, from(Some(NOBODY), Some(1)));
        let sent = send(&mut rank, &layout, 0x77, to(NOBODY, 1));
        let nothing = Status {
            bytes: 0,
            rank: NOBODY,
            tag: -1,
        };
        for _ in 0..2 {
            rank.start_all(&[taken, sent]).expect("none is active");
            assert_eq!(rank.test_all(&[taken, sent]).ok(), Some(Some(vec![nothing; 2])));
        }
        assert_eq!(count(&rank, &buffer, 0x77), 0);
        rank.free(taken).expect("it is there");
        rank.free(sent).expect("it is there");
    });
}
