//! Services of an application: parked calls, clients that restart, refusals.

use crate::support::{Bench, Handler};
use spinneret_rpc::clib::Config;
use spinneret_rpc::server::{Answer, Refusal};
use spinneret_rpc::{
    Buffer, Call, CallMode, Client, Layout, Memory as _, Packet, Server, Service, TestCalls, Version, opcode,
};
use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// The class of these calls.
const CLASS: u8 = b'u';
/// Waits until another call opens the gate, and answers with the number of calls that waited.
const WAIT: u32 = 0x7500_0001;
/// Opens the gate, without an answer.
const OPEN: u32 = 0x7500_0002;
/// Says how many have waited so far.
const COUNT: u32 = 0x7500_0003;

/// A gate before which calls are parked.
#[derive(Default)]
struct Gate(RefCell<State>);

#[derive(Default)]
struct State {
    is_open: bool,
    waited: u64,
    waiting: Vec<Waker>,
}

impl Service for Gate {
    fn handles(&self, opcode: u32) -> Option<CallMode> {
        match opcode {
            WAIT => Some(CallMode::Async),
            OPEN | COUNT => Some(CallMode::Immediate),
            _ => None,
        }
    }

    fn at_once(&self, opcode: u32, _: &Packet) -> Option<Packet> {
        let mut state = self.0.borrow_mut();
        if opcode == COUNT {
            return Some(Packet::of(&[state.waited]));
        }
        state.is_open = true;
        state.waiting.drain(..).for_each(Waker::wake);
        None
    }

    fn call(self: Rc<Self>, mut call: Call) -> Answer {
        Box::pin(async move {
            call.receive().await;
            poll_fn(|context| {
                let mut state = self.0.borrow_mut();
                if state.is_open {
                    return Poll::Ready(());
                }
                state.waited += 1;
                state.waiting.push(context.waker().clone());
                Poll::Pending
            })
            .await;
            let waited = self.0.borrow().waited;
            call.send(&[waited]).await;
        })
    }
}

fn with_gate(ports: u32) -> Bench {
    Bench::with(Version::V23, ports, Config::default, |server| {
        server.add(CLASS, Rc::new(Gate::default()));
    })
}

#[test]
fn parked_calls_do_not_block_others() {
    let bench = with_gate(4);
    let handler = Handler(&bench.client);
    let mut looks = 1;
    thread::scope(|scope| {
        let parked: Vec<_> = (0..3).map(|_| scope.spawn(|| handler.call(WAIT, &[0]))).collect();
        while handler.call(COUNT, &[0]) < 3 {
            looks += 1;
        }
        for value in 0..1000 {
            assert_eq!(handler.increment(value), value + 1);
        }
        assert!(parked.iter().all(|call| !call.is_finished()));
        bench.client.open(OPEN).unwrap().send(&[0]).unwrap();
        for call in parked {
            assert_eq!(call.join().unwrap(), 3, "each asked once");
        }
    });
    let (counts, _) = bench.stop();
    assert_eq!((counts.calls, counts.refusals.len()), (1004 + looks, 0));
}

/// A client and a server that the test drives itself.
pub(crate) struct Driven<'b> {
    buffer: &'b Buffer,
    pub(crate) layout: Layout,
    pub(crate) client: Client<spinneret_rpc::Words<'b>>,
    pub(crate) server: Server<spinneret_rpc::Words<'b>>,
}

impl<'b> Driven<'b> {
    pub(crate) fn new(buffer: &'b Buffer, layout: Layout) -> Self {
        let mut server = Server::new(buffer.words(), layout).unwrap();
        server.add(opcode::LIBC, Rc::new(TestCalls));
        server.add(CLASS, Rc::new(Gate::default()));
        Self {
            buffer,
            layout,
            client: Client::new(buffer.words(), layout).unwrap(),
            server,
        }
    }

    /// Another client, as a handler that is restarted has it.
    pub(crate) fn restart(&mut self) {
        self.client = Client::new(self.buffer.words(), self.layout).unwrap();
    }

    fn increments(&mut self) {
        for value in 0..3 {
            let Ok(Some(mut port)) = self.client.try_open(opcode::TEST_INCREMENT) else {
                panic!("the port is usable");
            };
            port.send(&[value]).unwrap();
            // A port at which something was refused rests before.
            let is_answered = (0..1000).any(|_| self.server.poll() == Ok(true));
            assert!(is_answered, "the port rests too long");
            let mut word = [0];
            port.receive(&mut word).unwrap();
            assert_eq!(word, [value + 1]);
        }
    }
}

fn driven(ports: u32, run: impl Fn(&mut Driven<'_>)) {
    for version in Version::ALL {
        let layout = Layout::new(version, ports).unwrap();
        let buffer = Buffer::new(layout.bytes());
        run(&mut Driven::new(&buffer, layout));
    }
}

#[test]
fn host_abandons_the_call_of_a_dead_client() {
    driven(1, |driven| {
        let Ok(mut port) = driven.client.open(WAIT);
        port.send(&[0]).unwrap();
        assert_eq!(driven.server.poll(), Ok(true));
        // The handler dies here: nothing closes its port but the end of its client.
        std::mem::forget(port);
        driven.restart();
        assert_eq!(driven.server.is_idle(), Ok(false));
        let free = driven.client.process().try_open(0).map(|port| port.is_some());
        assert_eq!(free, Ok(false), "the port is the server's, as its call is parked");
        assert_eq!(
            (driven.server.abandon(0), driven.server.abandon(0)),
            (Ok(true), Ok(false))
        );
        driven.increments();
        assert_eq!(driven.server.counts().of(Refusal::ABANDONED), 1);
    });
}

#[test]
fn new_generation_drops_state_of_the_old_client() {
    driven(1, |driven| {
        let Ok(mut port) = driven.client.open(opcode::TEST_STREAM);
        port.send(&[1000, 1]).unwrap();
        assert_eq!(driven.server.poll(), Ok(true));
        // The server has taken the packet and given the port back, as there is more to come.
        let process = driven.client.process();
        assert_eq!(process.inbox(0), process.outbox(0));
        std::mem::forget(port);
        driven.restart();
        driven.increments();
        assert_eq!(driven.server.counts().of(Refusal::ABANDONED), 1);
    });
}

#[test]
fn all_calls_of_a_dead_client_are_abandoned() {
    driven(2, |driven| {
        for _ in 0..2 {
            let Ok(mut port) = driven.client.open(WAIT);
            port.send(&[0]).unwrap();
            std::mem::forget(port);
        }
        assert_eq!(driven.server.poll(), Ok(true));
        assert_eq!(
            driven.server.drain(Duration::from_millis(1)),
            Ok(false),
            "both are parked"
        );
        let Ok(()) = driven.server.abandon_all();
        driven.restart();
        assert_eq!(driven.server.is_idle(), Ok(true));
        assert_eq!(driven.server.counts().of(Refusal::ABANDONED), 2);
        driven.increments();
    });
}

#[test]
fn a_mailbox_out_of_range_stops_its_port_only_and_only_as_long() {
    driven(2, |driven| {
        let place = driven.layout.secondary(0);
        for round in 1..=3 {
            let Ok(()) = driven.buffer.words().store(place, 7);
            // That many rounds are more than a rest.
            for _ in 0..500 {
                assert_eq!(driven.server.poll(), Ok(false));
            }
            driven.increments();
            assert_eq!(driven.server.counts().of(Refusal::MAILBOX), round);
            let Ok(()) = driven.buffer.words().store(place, 0);
            driven.increments();
        }
    });
}

#[test]
fn a_packet_without_the_lane_is_given_back() {
    driven(1, |driven| {
        let Ok(mut port) = driven.client.open(opcode::TEST_INCREMENT);
        let Ok(()) = driven.buffer.words().write(driven.layout.header(0), &[2]);
        port.send(&[5]).unwrap();
        assert_eq!(driven.server.poll(), Ok(true));
        let mut word = [0];
        port.receive(&mut word).unwrap();
        assert_eq!((word, driven.server.counts().of(Refusal::NO_LANE)), ([5], 1));
        let Ok(()) = port.close();
        driven.increments();
    });
}

#[test]
fn one_parked_call_does_not_slow_the_others() {
    let time = |is_parked: bool| {
        let bench = with_gate(16);
        let handler = Handler(&bench.client);
        thread::scope(|scope| {
            if is_parked {
                scope.spawn(|| handler.call(WAIT, &[0]));
                thread::sleep(Duration::from_millis(5));
            }
            let start = Instant::now();
            for value in 0..2000 {
                assert_eq!(handler.increment(value), value + 1);
            }
            let time = start.elapsed();
            bench.client.open(OPEN).unwrap().send(&[0]).unwrap();
            time
        })
    };
    // Machines with other work are noisy: calls that are slow without noise are slow each time.
    let is_fine = (0..10).any(|_| time(true) < 2 * time(false));
    assert!(is_fine, "calls beside a parked one take more than twice as long");
}
