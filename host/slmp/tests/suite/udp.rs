//! Messages over sockets of this machine, through a proxy that loses datagrams.

use crate::support::{
    ALICE, SYN, Stop, address_of, complete, datagram, header, listener, listener_that_waits, ms, pattern,
    send, serve, socket, stopped, v4,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use spinneret_slmp::memory::Cause;
use spinneret_slmp::udp::{self, Event, Listener, UdpError};
use spinneret_slmp::{Confirm, Mode, Received, ReceiverConfig, SendError, SenderConfig, Silence, Verdict};
use std::net::{SocketAddrV4, UdpSocket};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Carries datagrams between one sender and the receiver at `to`, and loses some by seed, until it is told to stop.
fn lossy_proxy(proxy: &UdpSocket, to: SocketAddrV4, seed: u64, loss: u32, stop: &AtomicBool) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut sender = None;
    let mut buffer = [0; 2048];
    proxy.set_read_timeout(Some(ms(10))).expect("not zero");
    while !stop.load(Ordering::Relaxed) {
        let Ok((bytes, from)) = proxy.recv_from(&mut buffer) else {
            continue;
        };
        let target = if v4(from) == to { sender } else { Some(to) };
        if v4(from) != to {
            sender = Some(v4(from));
        }
        if let Some(target) = target.filter(|_| random.random_range(0..100) >= loss) {
            proxy
                .send_to(&buffer[..bytes], target)
                .expect("this machine is there");
        }
    }
}

#[test]
fn messages_arrive_over_a_lossy_network() {
    for (seed, mode) in [
        (1, Mode::Window(1)),
        (2, Mode::Window(16)),
        (3, Mode::Window(64)),
        (4, Mode::Message),
    ] {
        let (listener, at) = listener(ReceiverConfig::default());
        let (proxy, stop) = (socket(), AtomicBool::new(false));
        let through = address_of(&proxy);
        // In message mode all of a message is sent again, so the network has to be better.
        let (length, loss) = if mode == Mode::Message {
            (20_000, 5)
        } else {
            (300_000, 10)
        };
        let message = pattern(length);
        let (sent, events) = thread::scope(|scope| {
            let running = Stop(&stop);
            let receiver = serve(scope, listener, &stop);
            scope.spawn(|| lossy_proxy(&proxy, at, seed, loss, &stop));
            let config = SenderConfig {
                mode,
                ..SenderConfig::default()
            };
            let sent = send(through, &message, config);
            drop(running);
            (sent, receiver.join().expect("the receiver does not panic"))
        });
        let statistics = sent.unwrap_or_else(|error| panic!("seed {seed}, {mode:?}: {error}"));
        assert_eq!(statistics.acknowledged_bytes, length as u64);
        assert!(
            complete(events) == [message],
            "seed {seed}, {mode:?}: another message arrived"
        );
    }
}

#[test]
fn messages_of_all_lengths_and_ten_megabytes_arrive() {
    let (listener, at) = listener(ReceiverConfig::default());
    let stop = AtomicBool::new(false);
    let messages: Vec<Vec<u8>> = [0, 1, 1462, 2 * 1462, 2 * 1462 + 1, 10_000_000]
        .map(pattern)
        .into();
    let events = thread::scope(|scope| {
        let running = Stop(&stop);
        let receiver = serve(scope, listener, &stop);
        for message in &messages {
            let started = Instant::now();
            let statistics = send(at, message, SenderConfig::default()).expect("the receiver is there");
            println!(
                "{} bytes in {:?}: {statistics:?}",
                message.len(),
                started.elapsed()
            );
        }
        drop(running);
        receiver.join().expect("the receiver does not panic")
    });
    assert!(complete(events) == messages, "other messages arrived");
}

#[test]
fn without_acknowledgements_a_message_is_sent_at_its_rate() {
    let (listener, at) = listener(ReceiverConfig::default());
    let stop = AtomicBool::new(false);
    let message = pattern(146_200);
    let (took, events) = thread::scope(|scope| {
        let running = Stop(&stop);
        let receiver = serve(scope, listener, &stop);
        let started = Instant::now();
        let rate_bits_per_s = Some(20_000_000);
        send(
            at,
            &message,
            SenderConfig {
                mode: Mode::None,
                rate_bits_per_s,
                ..SenderConfig::default()
            },
        )
        .expect("there is nothing that could fail");
        let took = started.elapsed();
        // The receiver is not asked, so it gets time to take the last segments.
        thread::sleep(ms(200));
        drop(running);
        (took, receiver.join().expect("the receiver does not panic"))
    });
    // 99 gaps of 605.6 us, of which the last 16 may have been caught up.
    assert!(took >= ms(49), "{took:?}");
    assert!(complete(events) == [message], "another message arrived");
}

#[test]
fn the_sender_waits_until_the_program_has_stored_the_message() {
    let (mut listener, at) = listener(ReceiverConfig {
        confirm: Confirm::Stored,
        ..ReceiverConfig::default()
    });
    let (message, stop) = (pattern(5000), AtomicBool::new(false));
    let (took, received) = thread::scope(|scope| {
        let running = Stop(&stop);
        let receiver = scope.spawn(|| {
            let Ok(Some(Event::Complete(received))) = listener.next_event(|_| stopped(&stop)) else {
                panic!("the message comes");
            };
            thread::sleep(ms(100));
            listener
                .confirm(&received.key, Verdict::Stored)
                .expect("it waits for this");
            while listener
                .next_event(|_| stopped(&stop))
                .expect("the socket works")
                .is_some()
            {}
            received
        });
        let started = Instant::now();
        let sent = send(at, &message, SenderConfig::default());
        let took = started.elapsed();
        drop(running);
        sent.expect("the message is stored");
        (took, receiver.join().expect("the receiver does not panic"))
    });
    assert!(took >= ms(100), "{took:?}");
    let Received { data, .. } = received;
    assert!(data == message, "another message arrived");
}

#[test]
fn reports_progress_at_the_end() {
    let (listener, at) = listener(ReceiverConfig::default());
    let stop = AtomicBool::new(false);
    let mut told = Vec::new();
    thread::scope(|scope| {
        let running = Stop(&stop);
        let receiver = serve(scope, listener, &stop);
        let sent = udp::send(
            &socket(),
            at,
            &pattern(50_000),
            SenderConfig::default(),
            |statistics| {
                told.push(statistics.acknowledged_bytes);
                ControlFlow::Continue(())
            },
        );
        drop(running);
        sent.expect("the receiver is there");
        receiver.join().expect("the receiver does not panic")
    });
    assert!(told.is_sorted(), "{told:?}");
    assert_eq!(told.last(), Some(&50_000));
}

#[test]
fn a_message_that_stays_incomplete_is_given_up_and_told() {
    let (mut listener, at) = listener_that_waits(ms(300), ReceiverConfig::default());
    let sender = socket();
    sender
        .send_to(&datagram(header(SYN, 0), b"half"), at)
        .expect("this machine is there");
    let started = Instant::now();
    let not_forever = |_: &_| match started.elapsed() < Duration::from_secs(10) {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let Ok(Some(Event::GivenUp(given_up))) = listener.next_event(not_forever) else {
        panic!("the message is given up");
    };
    assert_eq!(
        (given_up.key.from, given_up.bytes, given_up.length),
        (address_of(&sender), 4, None)
    );
    assert_eq!(listener.counters()[Cause::Accepted], 1);
}

#[test]
fn without_a_receiver_the_sender_gives_up() {
    // The port is taken, but nobody answers there.
    let silent = socket();
    let config = SenderConfig {
        give_up: ms(200),
        ..SenderConfig::default()
    };
    let error = send(address_of(&silent), b"hello", config).expect_err("nobody answers");
    let UdpError::Failed(_, error) = error else {
        panic!("{error}");
    };
    let expected = SendError {
        after: ms(200),
        acknowledged: 0,
        awaited: 1,
        cause: Silence::NoAnswer,
    };
    assert_eq!(error, expected);
}

#[test]
fn closed_port_is_reported_as_no_answer() {
    let closed = address_of(&socket());
    let connected = socket();
    connected.connect(closed).expect("UDP always connects");
    let config = SenderConfig {
        give_up: ms(200),
        ..SenderConfig::default()
    };
    let error = udp::send(
        &connected,
        closed,
        b"hello",
        config,
        |_| ControlFlow::Continue(()),
    );
    assert!(matches!(error, Err(UdpError::Failed(..))), "{error:?}");
}

#[test]
fn ignores_acknowledgements_from_other_hosts() {
    let (silent, stranger, sender) = (socket(), socket(), socket());
    let to = address_of(&silent);
    let from = address_of(&sender);
    let config = SenderConfig {
        give_up: ms(200),
        ..SenderConfig::default()
    };
    let sent = thread::scope(|scope| {
        scope.spawn(|| {
            let mut buffer = [0; 100];
            let (bytes, _) = silent.recv_from(&mut buffer).expect("the segment comes");
            buffer[0] |= 0x20;
            stranger
                .send_to(&buffer[..bytes.min(10)], from)
                .expect("this machine is there");
        });
        udp::send(&sender, to, b"hello", config, |_| ControlFlow::Continue(()))
    });
    assert!(matches!(sent, Err(UdpError::Failed(..))), "{sent:?}");
}

#[test]
fn sender_stops_on_request_and_restores_the_socket() {
    let (silent, socket) = (socket(), socket());
    socket.set_read_timeout(Some(ms(30))).expect("not zero");
    // Systems round it.
    let timeout = socket.read_timeout().expect("it works");
    let (to, started) = (address_of(&silent), Instant::now());
    let stopped = udp::send(&socket, to, &pattern(5000), SenderConfig::default(), |_| {
        if started.elapsed() < ms(100) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    let error = stopped.expect_err("it was stopped").to_string();
    assert_eq!(
        error,
        format!("{to}: stopped as asked, with 0 of 5000 bytes acknowledged")
    );
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(socket.read_timeout().expect("it works"), timeout);
    let waited = Instant::now();
    assert!(socket.recv_from(&mut [0; 100]).is_err());
    assert!(waited.elapsed() >= ms(20), "the socket does not block");
}

#[test]
fn reports_system_errors() {
    let (_listener, at) = listener(ReceiverConfig::default());
    let taken = Listener::bind(at, ReceiverConfig::default(), ms(300)).map(|_| ());
    let error = taken.expect_err("the port is taken").to_string();
    assert!(error.starts_with(&format!("cannot listen at {at}: ")), "{error}");
    // ALICE is on no network that this socket, which is bound to this machine, can send to.
    let error = send(ALICE, b"hello", SenderConfig::default())
        .expect_err("there is no way")
        .to_string();
    assert!(error.starts_with(&format!("cannot send to {ALICE}: ")), "{error}");
}
