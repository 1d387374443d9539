//! `control_endpoint` against the model of a board, and each line of its contract.

mod bench;

use bench::{Bench, HOST, KEY, MAC, frame, host_frame};
use rand::seq::IndexedRandom as _;
use spinneret_ether::{Frame, Mac};
use spinneret_regmap::ether::{
    CLOSE, DISCOVER, DONE, FROM_BOARD, HEADER_BYTES, HOST_READ, IN_USE, MESSAGE, MOST_BYTES, MOST_WORDS,
    NO_SESSION, OPEN, READ, VERSION, VERSION_AT, WRITE,
};
use spinneret_sim::prelude::*;

const PAUSES: [f64; 3] = [0.0, 0.3, 0.8];

#[test]
fn answers_as_the_model_whatever_comes() {
    run_test(0x0001_c0e7, |run| {
        for pause in PAUSES {
            let mut rng = run.rng("frames");
            let mut bench = Bench::new(run, pause);
            let mut number = rng.random::<u32>();
            bench.ask(&host_frame(OPEN, number));
            for _ in 0..250 {
                let mut request = host_frame(*[READ, WRITE].choose(&mut rng).expect("two"), number + 1);
                request.address = 4 * rng.random_range(0..0x3f00);
                request.count = *[1, 2, 3, 7, 64, 255, 256].choose(&mut rng).expect("some");
                if request.kind == WRITE {
                    request.data = (0..4 * request.count).map(|_| rng.random()).collect();
                }
                match rng.random_range(0..14) {
                    // Again, and one from long ago.
                    0 => request.number = number,
                    1 => request.number = number - 1,
                    2 => request.key ^= 1 << rng.random_range(0..64),
                    3 => request.target = Mac([2, 0, 0, 0, 0, 77]),
                    4 => request.source = Mac([3, 0, 0, 0, 0, 1]),
                    5 => request.kind = rng.random_range(HOST_READ..0x80),
                    6 => request.count = *[0, 257, 0xffff].choose(&mut rng).expect("some"),
                    7 => request.address |= rng.random_range(1..4),
                    8 => request = host_frame(DISCOVER, rng.random()),
                    9 => {
                        request = host_frame(DISCOVER, rng.random());
                        request.target = Mac::BROADCAST;
                    }
                    10 => request = host_frame(OPEN, number + rng.random_range(0..2)),
                    // The memory ends within it.
                    11 => request.address = 0x1_0000 - 4 * rng.random_range(0..20),
                    _ => {}
                }
                let mut bytes = request.encode();
                if rng.random_range(0..20) == 0 {
                    bytes[VERSION_AT] = rng.random();
                }
                if rng.random_range(0..10) == 0 {
                    bytes.truncate(rng.random_range(14..=bytes.len()));
                }
                if bytes.len() < 60 && rng.random_range(0..8) > 0 {
                    bytes.resize(60, rng.random());
                }
                bench.ask_bytes(&bytes);
                number = bench.number(number);
            }
            bench.ask(&host_frame(CLOSE, number + 1));
            bench.ask(&host_frame(READ, number + 2));
            bench.finish();
        }
    });
}

#[test]
fn garbage_is_dropped_and_counted() {
    run_test(0x0002_c0e7, |run| {
        let mut rng = run.rng("garbage");
        let mut bench = Bench::new(run, 0.2);
        bench.ask(&host_frame(OPEN, 5));
        for _ in 0..400 {
            let mut bytes: Vec<u8> = (0..rng.random_range(17..300)).map(|_| rng.random()).collect();
            bytes[12..14].copy_from_slice(&[0x88, 0xb5]);
            bench.ask_bytes(&bytes);
        }
        // Longer than any: the words that are too many are left out.
        let mut long = host_frame(WRITE, 6);
        long.count = MOST_WORDS as u16;
        long.data = vec![0xa5; 2000];
        bench.ask(&long);
        bench.finish();
    });
}

#[test]
fn frames_of_other_types_pass_unchanged_at_one_beat_a_clock() {
    run_test(0x0003_c0e7, |run| {
        let mut rng = run.rng("frames");
        for pause in [0.0, 0.4] {
            let mut bench = Bench::new(run, pause);
            let mut given = Vec::new();
            for _ in 0..200 {
                let mut bytes: Vec<u8> = (0..rng.random_range(1..200)).map(|_| rng.random()).collect();
                if rng.random_range(0..3) == 0 && bytes.len() > 16 {
                    // Control frames between them.
                    bytes[12..14].copy_from_slice(&[0x88, 0xb5]);
                } else {
                    given.push(bytes.clone());
                }
                bench.send(&bytes);
            }
            let (before, beats) = (bench.sim.cycle_count(), bench.waiting());
            bench.run_until_quiet();
            if pause == 0.0 {
                let clocks = bench.taken_at() - before;
                assert_eq!(clocks, beats as u64, "a beat a clock");
            }
            assert!(bench.passed == given);
            bench.forget();
            bench.finish();
        }
    });
}

#[test]
fn a_request_while_another_one_is_executed_is_dropped_as_busy() {
    run_test(0x0004_c0e7, |run| {
        let mut bench = Bench::new(run, 0.0);
        bench.ask(&host_frame(OPEN, 5));
        let mut read = host_frame(READ, 6);
        read.count = 100;
        bench.send(&read.encode());
        bench.send(&host_frame(DISCOVER, 9).encode());
        bench.run_until_quiet();
        assert_eq!(bench.take_frames().len(), 1);
        assert_eq!(bench.counter(5), 1);
        bench.model_hears(&read.encode());
        // Then it is answered again, and not executed.
        let reads = bench.reads();
        bench.ask(&read);
        assert_eq!(bench.reads(), reads);
        bench.finish_but_busy(1);
    });
}

#[test]
fn another_key_is_refused_and_the_first_one_stays() {
    run_test(0x0005_c0e7, |run| {
        let mut bench = Bench::new(run, 0.0);
        let status =
            |bytes: Option<Vec<u8>>| Frame::decode(&bytes.expect("an answer")).expect("a frame").status;
        assert_eq!(status(bench.ask(&host_frame(READ, 1))), NO_SESSION);
        assert_eq!(status(bench.ask(&host_frame(OPEN, 5))), DONE);
        let mut other = host_frame(OPEN, 70);
        (other.key, other.source) = (KEY + 1, Mac([2, 0, 0, 0, 0, 9]));
        assert_eq!(status(bench.ask(&other)), IN_USE);
        assert_eq!(status(bench.ask(&host_frame(CLOSE, 6))), DONE);
        assert_eq!(status(bench.ask(&other)), DONE);
        assert_eq!(status(bench.ask(&host_frame(OPEN, 7))), IN_USE);
        bench.finish();
    });
}

#[test]
fn only_a_discovery_may_have_another_version() {
    run_test(0x0009_c0e7, |run| {
        let mut bench = Bench::new(run, 0.0);
        bench.ask(&host_frame(OPEN, 5));
        for (kind, number) in [(DISCOVER, 9), (OPEN, 6), (READ, 6), (MESSAGE, 0), (CLOSE, 6)] {
            let mut bytes = host_frame(kind, number).encode();
            bytes[VERSION_AT] = VERSION + 1;
            let answer = bench.ask_bytes(&bytes);
            let version = answer.map(|bytes| bytes[VERSION_AT]);
            assert_eq!(version, (kind == DISCOVER).then_some(VERSION));
        }
        bench.finish();
    });
}

/// The address and the bytes of a message.
fn message(rng: &mut ChaCha8Rng) -> (u32, Vec<u8>) {
    let length = *[1, 4, 7, 8, 9, 64, MOST_BYTES - 1, MOST_BYTES]
        .choose(rng)
        .expect("some");
    (rng.random(), (0..length).map(|_| rng.random()).collect())
}

#[test]
fn host_writes_become_messages_until_they_are_acknowledged() {
    run_test(0x0006_c0e7, |run| {
        let mut rng = run.rng("writes");
        for pause in PAUSES {
            let mut bench = Bench::new(run, pause);
            bench.ask(&host_frame(OPEN, 5));
            for number in 0..40 {
                let (address, bytes) = message(&mut rng);
                let length = bytes.len();
                bench.host_write(address, &bytes);
                // Some acknowledgements are lost, and it is sent again.
                for _ in 0..rng.random_range(1..3) {
                    let message = frame(&bench.next_frame());
                    assert_eq!((message.kind, message.number), (MESSAGE | FROM_BOARD, number));
                    assert_eq!((message.target, message.source), (HOST, MAC));
                    assert_eq!((message.address, message.key >> 32), (address, 5));
                    assert_eq!(usize::from(message.count), length);
                    assert!(message.data[..length] == bytes);
                }
                bench.send(&host_frame(MESSAGE, number).encode());
                bench.run_until_quiet();
                // A late copy and an early one are acknowledgements of nothing.
                bench.send(&host_frame(MESSAGE, number).encode());
            }
            bench.run_until_quiet();
            assert_eq!((bench.counter(6), bench.counter(7)), (80, 0));
            bench.run(5000);
            assert!(bench.take_frames().is_empty(), "nothing is sent any more");
            bench.forget();
            bench.finish();
        }
    });
}

/// The answer to a host read.
fn read_answer(number: u32, bytes: &[u8]) -> Frame {
    let mut answer = host_frame(HOST_READ, number);
    answer.count = bytes.len() as u16;
    answer.data = bytes.to_vec();
    answer.data.resize(bytes.len().next_multiple_of(8).max(20), 0xee);
    answer
}

impl Bench {
    /// These are no answers: another number, an acknowledgement, too few bytes, another board's, too many bytes.
    fn wrong_answers(&mut self, number: u32, bytes: &[u8]) {
        let wrong: Vec<u8> = bytes.iter().map(|byte| !byte).collect();
        self.send(&read_answer(number + 1, &wrong).encode());
        self.send(&host_frame(MESSAGE, number).encode());
        let mut short = read_answer(number, &wrong).encode();
        short.truncate(HEADER_BYTES + (bytes.len() - 1) / 4 * 4);
        self.send(&short);
        let mut other = read_answer(number, &wrong);
        other.target = Mac([2, 0, 0, 0, 0, 77]);
        self.send(&other.encode());
        self.send(&read_answer(number, &[wrong, vec![1]].concat()).encode());
        self.run_until_quiet();
    }
}

#[test]
fn host_reads_are_answered_by_the_owner() {
    run_test(0x000a_c0e7, |run| {
        let mut rng = run.rng("reads");
        for pause in PAUSES {
            let mut bench = Bench::new(run, pause);
            bench.ask(&host_frame(OPEN, 5));
            for number in 0..40 {
                let (address, bytes) = message(&mut rng);
                let length = bytes.len();
                bench.host_read(address, length);
                // Some answers are lost, and it is sent again.
                for _ in 0..rng.random_range(1..3) {
                    let message = frame(&bench.next_frame());
                    assert_eq!((message.kind, message.number), (HOST_READ | FROM_BOARD, number));
                    assert_eq!((message.target, message.source), (HOST, MAC));
                    assert_eq!((message.address, message.key >> 32), (address, 5));
                    assert_eq!((usize::from(message.count), message.data.len()), (length, 24));
                }
                // A frame that is too long for the pauses would outlast the tries.
                if length <= 64 {
                    bench.wrong_answers(number, &bytes);
                }
                assert!(bench.given.is_empty());
                // It may be answered twice, and have no bytes.
                let expected = if rng.random_range(0..4) == 0 {
                    vec![0; length]
                } else {
                    bytes
                };
                let is_there = expected.iter().any(|byte| *byte != 0);
                let answer = read_answer(number, if is_there { &expected } else { &[] }).encode();
                bench.send(&answer);
                bench.send(&answer);
                bench.run_until_quiet();
                assert_eq!(bench.given.len(), length.next_multiple_of(8));
                assert!(bench.given[..length] == expected, "{length} bytes");
                bench.given.clear();
                bench.take_frames();
            }
            bench.run(5000);
            assert!(bench.take_frames().is_empty(), "nothing is sent any more");
            bench.forget();
            bench.finish();
        }
    });
}

#[test]
fn host_data_take_three_clocks_a_beat() {
    run_test(0x000b_c0e7, |run| {
        let mut bench = Bench::new(run, 0.0);
        bench.ask(&host_frame(OPEN, 5));
        bench.host_read(1, MOST_BYTES);
        bench.next_frame();
        bench.send(&read_answer(0, &[7; MOST_BYTES]).encode());
        bench.run_until_quiet();
        assert!(bench.given_at.windows(2).all(|pair| pair[1] - pair[0] == 3));
        assert_eq!(bench.given_at.len(), MOST_BYTES / 8);
        bench.given.clear();
        bench.forget();
        bench.finish();
    });
}

#[test]
fn host_reads_and_writes_take_turns() {
    run_test(0x000c_c0e7, |run| {
        let mut bench = Bench::new(run, 0.0);
        bench.ask(&host_frame(OPEN, 5));
        for number in 0..5 {
            bench.host_write(number, &[number as u8; 30]);
            bench.host_read(number, 12);
        }
        for number in 0..10 {
            let message = frame(&bench.next_frame());
            assert_eq!((message.number, message.address), (number, number / 2));
            let kind = [MESSAGE, HOST_READ][number as usize % 2];
            assert_eq!(message.kind, kind | FROM_BOARD);
            let answer = match kind {
                MESSAGE => host_frame(MESSAGE, number),
                _ => read_answer(number, &[number as u8; 12]),
            };
            bench.send(&answer.encode());
        }
        bench.run_until_quiet();
        assert_eq!(bench.given.len(), 80);
        bench.given.clear();
        bench.forget();
        bench.finish();
    });
}

#[test]
fn a_host_that_disappears_holds_nothing() {
    run_test(0x0007_c0e7, |run| {
        let mut bench = Bench::new(run, 0.0);
        bench.host_write(1, &[1; 20]);
        bench.run(100);
        assert_eq!(bench.counter(7), 1, "there is no owner");
        bench.ask_alone(&host_frame(OPEN, 5));
        bench.host_write(2, &[2; 20]);
        bench.host_write(3, &[3; 20]);
        bench.host_write(4, &[4; MOST_BYTES]);
        bench.run(4 * 1024 + 1000);
        let frames = bench.take_frames();
        assert_eq!(frames.len(), 4, "four tries");
        assert!(
            frames
                .iter()
                .all(|bytes| frame(bytes).number == 1 && frame(bytes).address == 2)
        );
        assert_eq!(bench.counter(7), 4, "and the next ones at once");
        // The owner comes back.
        bench.ask_alone(&host_frame(READ, 6));
        bench.host_write(5, &[5; 20]);
        assert_eq!(
            frame(&bench.next_frame()).number,
            4,
            "the gap tells what was lost"
        );
        bench.send(&host_frame(MESSAGE, 4).encode());
        // Too long.
        bench.host_write(6, &[6; MOST_BYTES + 1]);
        bench.host_write(7, &[7]);
        assert_eq!(frame(&bench.next_frame()).number, 6);
        bench.send(&host_frame(MESSAGE, 6).encode());
        bench.run_until_quiet();
        assert_eq!(bench.counter(7), 5);
        // Host reads give zeros.
        bench.host_read(8, 12);
        assert_eq!(frame(&bench.next_frame()).number, 7);
        bench.ask_alone(&host_frame(CLOSE, 7));
        bench.host_read(9, 1);
        bench.run_until_quiet();
        assert_eq!((bench.counter(7), &bench.given[..]), (7, &[0; 24][..]));
        bench.given.clear();
        bench.forget();
        bench.finish();
    });
}

#[test]
fn a_reset_forgets_the_session() {
    run_test(0x0008_c0e7, |run| {
        let mut bench = Bench::new(run, 0.0);
        bench.ask(&host_frame(OPEN, 5));
        let mut write = host_frame(WRITE, 6);
        (write.count, write.data) = (64, vec![1; 256]);
        bench.send(&write.encode());
        bench.run(HEADER_BYTES as u64 + 20);
        bench.reset();
        for counter in 0..8 {
            assert_eq!(bench.counter(counter), 0);
        }
        let answer = bench.ask(&host_frame(READ, 7)).expect("an answer");
        assert_eq!(frame(&answer).key, 0, "there is no session");
        bench.ask(&host_frame(OPEN, 8));
        bench.finish();
    });
}
