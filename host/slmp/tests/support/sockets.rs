//! Sockets of this machine, and receivers in other threads.

use spinneret_slmp::udp::{self, Event, Listener, UdpError};
use spinneret_slmp::{ReceiverConfig, SenderConfig, Statistics};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};

/// Any free port of this machine.
pub const HERE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);

pub fn socket() -> UdpSocket {
    UdpSocket::bind(HERE).expect("there is a free port")
}

pub fn v4(address: SocketAddr) -> SocketAddrV4 {
    match address {
        SocketAddr::V4(address) => address,
        SocketAddr::V6(address) => panic!("{address} is no address of IPv4"),
    }
}

pub fn address_of(socket: &UdpSocket) -> SocketAddrV4 {
    v4(socket.local_addr().expect("it is bound"))
}

pub fn listener(config: ReceiverConfig) -> (Listener, SocketAddrV4) {
    let listener = Listener::bind(HERE, config, super::ms(300)).expect("there is a free port");
    let address = v4(listener.local_address().expect("it is bound"));
    (listener, address)
}

pub fn send(to: SocketAddrV4, message: &[u8], config: SenderConfig) -> Result<Statistics, UdpError> {
    udp::send(&socket(), to, message, config, |_| ControlFlow::Continue(()))
}

/// Receives in another thread until told to stop.
pub fn serve<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    mut listener: Listener,
    stop: &'scope AtomicBool,
) -> ScopedJoinHandle<'scope, Vec<Event>> {
    scope.spawn(move || {
        let mut events = Vec::new();
        while let Some(event) = listener.next_event(|_| stopped(stop)).expect("the socket works") {
            events.push(event);
        }
        events
    })
}

pub fn complete(events: Vec<Event>) -> Vec<Vec<u8>> {
    let data = events.into_iter().map(|event| match event {
        Event::Complete(received) => received.data,
        Event::GivenUp(given_up) => panic!("given up: {given_up:?}"),
    });
    data.collect()
}

pub fn stopped(stop: &AtomicBool) -> ControlFlow<()> {
    if stop.load(Ordering::Relaxed) {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// Stops the other threads of a test when it is dropped, also when the test fails: it would wait for them forever.
pub struct Stop<'a>(pub &'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
