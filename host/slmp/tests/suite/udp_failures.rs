//! What can go wrong over sockets, and how it ends.

use crate::support::sockets::{address_of, listener, send, socket};
use crate::support::{ALICE, SYN, datagram, header, ms, pattern};
use spinneret_slmp::memory::Cause;
use spinneret_slmp::udp::{self, Event, Listener, UdpError};
use spinneret_slmp::{ReceiverConfig, SendError, SenderConfig, Silence};
use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn a_message_that_stays_incomplete_is_given_up_and_told() {
    let (mut listener, at) = listener(ReceiverConfig::default());
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
    let UdpError::Failed { error, .. } = error else {
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
fn a_closed_port_is_like_nobody_who_answers() {
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
    assert!(matches!(error, Err(UdpError::Failed { .. })), "{error:?}");
}

#[test]
fn answers_of_others_are_not_taken() {
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
    assert!(matches!(sent, Err(UdpError::Failed { .. })), "{sent:?}");
}

#[test]
fn a_sender_stops_when_it_is_told_to_and_leaves_the_socket_as_it_was() {
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
fn what_the_system_refuses_is_told() {
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
