//! Services that continue after their answer, and clients that died: our clients write a generation for each call, and
//! those of LLVM none.

use crate::services::Driven;
use spinneret_rpc::process::State;
use spinneret_rpc::server::{Answer, Refusal};
use spinneret_rpc::{Buffer, Call, CallMode, Layout, Memory as _, Server, Service, Version, Words, opcode};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// The class of these calls: another one than that of the gate.
const CLASS: u8 = b'v';
/// Adds one, and then waits with its call.
const WAITS: u32 = 0x7600_0001;
/// Adds one, lets its call go, and then waits.
const LETS_GO: u32 = 0x7600_0002;
/// Adds one, waits, and receives another packet.
const RECEIVES: u32 = 0x7600_0003;
/// Rounds in which a port at which something was refused has rested.
const ROUNDS: u32 = 300;

/// The event that such calls wait for, and the number of finished calls.
#[derive(Default)]
struct Works {
    is_over: Cell<bool>,
    waiting: RefCell<Vec<Waker>>,
    ended: Cell<u32>,
}

impl Works {
    async fn wait(&self) {
        poll_fn(|context| match self.is_over.get() {
            true => Poll::Ready(()),
            false => {
                self.waiting.borrow_mut().push(context.waker().clone());
                Poll::Pending
            }
        })
        .await;
    }

    fn end(&self) {
        self.is_over.set(true);
        self.waiting.take().into_iter().for_each(Waker::wake);
    }
}

impl Service for Works {
    fn handles(&self, opcode: u32) -> Option<CallMode> {
        (WAITS..=RECEIVES).contains(&opcode).then_some(CallMode::Async)
    }

    fn call(self: Rc<Self>, mut call: Call) -> Answer {
        Box::pin(async move {
            let [value, ..] = call.receive().await.0;
            match call.opcode() {
                LETS_GO => {
                    call.answer(&[value + 1]).await;
                    self.wait().await;
                }
                opcode => {
                    call.send(&[value + 1]).await;
                    self.wait().await;
                    if opcode == RECEIVES {
                        call.receive().await;
                    }
                }
            }
            self.ended.set(self.ended.get() + 1);
        })
    }
}

/// A client of one port, as LLVM's if it writes no generations.
struct Peer<'b> {
    driven: Driven<'b>,
    works: Rc<Works>,
    generation: Option<u32>,
}

impl<'b> Peer<'b> {
    fn new(buffer: &'b Buffer, layout: Layout, is_ours: bool) -> Self {
        let mut driven = Driven::new(buffer, layout);
        let works = Rc::new(Works::default());
        driven.server.add(CLASS, works.clone());
        Self {
            driven,
            works,
            generation: is_ours.then_some(0),
        }
    }

    /// Opens the port and sends a packet.
    fn ask(&mut self, opcode: u32, words: &[u64]) -> State {
        let process = self.driven.client.process();
        let Ok(Some(mut state)) = process.try_open(0) else {
            panic!("the port is the client's")
        };
        let generation = self.generation.as_mut().map_or(0, |generation| {
            *generation += 1;
            *generation
        });
        let header = [1, u64::from(opcode) | u64::from(generation) << 32];
        let place = self.driven.layout.header(0);
        let Ok(()) = process.memory().write(place, &header);
        assert_eq!(process.try_send(&mut state, words), Ok(true));
        state
    }

    /// The answer, if it comes.
    fn answer(&mut self, mut state: State) -> Option<u64> {
        let process = self.driven.client.process();
        let mut word = [0];
        let has_come = (0..ROUNDS).any(|_| {
            let Ok(_) = self.driven.server.poll();
            process.try_receive(&mut state, &mut word) == Ok(true)
        });
        if has_come {
            process.unlock(0);
        }
        has_come.then_some(word[0])
    }

    fn call(&mut self, opcode: u32, value: u64) -> Option<u64> {
        let state = self.ask(opcode, &[value]);
        self.answer(state)
    }

    fn server(&mut self) -> &mut Server<Words<'b>> {
        &mut self.driven.server
    }

    fn abandoned(&self) -> u64 {
        self.driven.server.counts().of(Refusal::ABANDONED)
    }
}

fn each_client(run: impl Fn(&mut Peer<'_>, bool)) {
    for version in Version::ALL {
        for is_ours in [true, false] {
            let layout = Layout::new(version, 1).unwrap();
            let buffer = Buffer::new(layout.bytes());
            run(&mut Peer::new(&buffer, layout, is_ours), is_ours);
        }
    }
}

#[test]
fn service_that_continues_after_its_answer_does_not_block_other_opcodes() {
    for first in [WAITS, LETS_GO, RECEIVES] {
        each_client(|peer, _| {
            assert_eq!(peer.call(first, 1), Some(2));
            for value in [41, 42] {
                assert_eq!(
                    peer.call(opcode::TEST_INCREMENT, value),
                    Some(value + 1),
                    "{first:#x}"
                );
            }
            assert_eq!((peer.server().is_idle(), peer.works.ended.get()), (Ok(false), 0));
            peer.works.end();
            assert_eq!(peer.server().is_wanted(), Ok(true));
            assert_eq!(peer.server().step(), Ok(true));
            // Only what wants more of a client that is not there any more was given up.
            let is_given_up = first == RECEIVES;
            assert_eq!(peer.abandoned(), is_given_up.into());
            assert_eq!(peer.works.ended.get(), u32::from(!is_given_up));
            assert_eq!(peer.server().is_idle(), Ok(true));
        });
    }
}

#[test]
fn calls_of_one_opcode_in_a_row_are_all_answered() {
    for opcode in [WAITS, LETS_GO] {
        each_client(|peer, is_ours| {
            assert_eq!(peer.call(opcode, 1), Some(2));
            // That a packet of LLVM's begins another call is known when the one before has ended, or has let go.
            let state = peer.ask(opcode, &[41]);
            let waits = opcode == WAITS && !is_ours;
            match peer.answer(state) {
                Some(answer) => assert_eq!((answer, waits), (42, false)),
                None => {
                    assert!(waits, "{opcode:#x} of a client of ours");
                    peer.works.end();
                    assert_eq!(peer.answer(state), Some(42));
                }
            }
            peer.works.end();
            assert_eq!(peer.call(opcode::TEST_INCREMENT, 7), Some(8));
            let Ok(_) = peer.server().poll();
            assert_eq!((peer.works.ended.get(), peer.abandoned()), (2, 0));
            assert_eq!(peer.server().is_idle(), Ok(true));
        });
    }
}

/// Handlers must not fill the host's memory with what their calls leave behind.
#[test]
fn calls_that_go_on_are_bounded() {
    each_client(|peer, _| {
        for value in 0..300 {
            assert_eq!(peer.call(LETS_GO, value), Some(value + 1));
        }
        assert_eq!(peer.abandoned(), 300 - 256);
        peer.works.end();
        let Ok(_) = peer.server().poll();
        assert_eq!(peer.works.ended.get(), 256);
    });
}

/// A stream of 1000 bytes of which one packet comes, before the server polls or after: the next client starts from
/// scratch.
#[test]
fn client_that_dies_mid_stream_does_not_affect_the_next() {
    for looks in [0, 1, 3] {
        for next in [opcode::TEST_STREAM, opcode::TEST_INCREMENT] {
            each_client(|peer, _| {
                peer.ask(opcode::TEST_STREAM, &[1000, 1]);
                for _ in 0..looks {
                    let Ok(_) = peer.server().poll();
                }
                peer.driven.restart();
                assert_eq!(peer.server().abandon_all(), Ok(()));
                assert_eq!(peer.server().is_idle(), Ok(true));
                // A stream without bytes comes back as such.
                let wanted = if next == opcode::TEST_STREAM { 0 } else { 1 };
                for _ in 0..3 {
                    assert_eq!(peer.call(next, 0), Some(wanted), "{next:#x} after {looks} looks");
                }
                assert_eq!(peer.abandoned(), u64::from(looks > 0));
            });
        }
    }
}

/// If nothing reports that the client has exited, another opcode shows it; of the same one, another generation.
#[test]
fn new_header_abandons_the_previous_call() {
    each_client(|peer, is_ours| {
        peer.ask(opcode::TEST_STREAM, &[1000, 1]);
        let Ok(_) = peer.server().poll();
        peer.driven.restart();
        let next = if is_ours {
            opcode::TEST_STREAM
        } else {
            opcode::TEST_INCREMENT
        };
        assert_eq!(peer.call(next, 0), Some(u64::from(!is_ours)));
        assert_eq!(peer.abandoned(), 1);
    });
}
