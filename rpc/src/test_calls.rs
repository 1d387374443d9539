//! The calls of LLVM's own tests.

use crate::opcode::{TEST_INCREMENT, TEST_INTERFACE, TEST_STREAM};
use crate::packet::Packet;
use crate::server::{Answer, Call, CallMode, Service};
use std::rc::Rc;

/// Longest stream that is sent back.
const STREAM_BYTES: usize = 1 << 20;

/// The calls of LLVM's own tests, for the class of libc.
#[derive(Clone, Copy, Debug, Default)]
pub struct TestCalls;

impl Service for TestCalls {
    fn handles(&self, opcode: u32) -> Option<CallMode> {
        match opcode {
            TEST_INCREMENT => Some(CallMode::Immediate),
            TEST_INTERFACE | TEST_STREAM => Some(CallMode::Async),
            _ => None,
        }
    }

    fn at_once(&self, _: u32, request: &Packet) -> Option<Packet> {
        Some(Packet::of(&[request.0[0].wrapping_add(1)]))
    }

    fn call(self: Rc<Self>, call: Call) -> Answer {
        match call.opcode() {
            TEST_INTERFACE => Box::pin(interface(call)),
            _ => Box::pin(stream(call)),
        }
    }
}

/// What one side does in [`TEST_INTERFACE`] after the flag, but for the last step, which the flag chooses.
const STEPS: [Step; 8] = {
    use Step::{Receive, Send};
    [Receive, Send, Receive, Send, Receive, Receive, Send, Send]
};

#[derive(Clone, Copy)]
enum Step {
    Receive,
    Send,
}

/// Sends and receives in every order. Each side sends the number after the newest one that it knows.
async fn interface(mut call: Call) {
    let [ends_with_receive, ..] = call.receive().await.0;
    let last = match ends_with_receive {
        0 => Step::Send,
        _ => Step::Receive,
    };
    let mut count = 0_u64;
    for step in STEPS.into_iter().chain([last]) {
        match step {
            Step::Receive => [count, ..] = call.receive().await.0,
            Step::Send => {
                count = count.wrapping_add(1);
                call.send(&[count]).await;
            }
        }
    }
}

async fn stream(mut call: Call) {
    let bytes = call.receive_stream(STREAM_BYTES).await.unwrap_or_default();
    call.send_stream(&bytes).await;
}
