//! What answers calls.

use super::call::Call;
use crate::packet::Packet;
use std::pin::Pin;
use std::rc::Rc;

/// The work of one call.
pub type Answer = Pin<Box<dyn Future<Output = ()>>>;

/// How a call is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By [`Service::at_once`].
    AtOnce,
    /// By [`Service::call`].
    Stepwise,
}

/// What answers the calls of a class: libc's, or an application's own.
///
/// A service runs on the server's thread and must not block it: what takes long is done elsewhere and awaited. All calls of
/// all ports share a service, so state is kept in cells that are not borrowed across an `await`.
pub trait Service {
    /// How a call is answered, if there is such a call.
    fn handles(&self, opcode: u32) -> Option<Way>;

    /// The version of a call, which has to be that of the stub in a handler's program: see [`typed`](crate::typed).
    fn version(&self, opcode: u32) -> Option<u64> {
        let _ = opcode;
        None
    }

    /// Looks at what parked calls wait for, and wakes those that can go on. The server does this before each look at its ports.
    fn advance(&self) {}

    /// Answers a call of one packet, by at most one packet, right away: the fast way for what takes no time.
    fn at_once(&self, opcode: u32, request: &Packet) -> Option<Packet> {
        let _ = (opcode, request);
        None
    }

    /// Answers any other call. All of the client's packets have to be received and all that it waits for sent, also if the
    /// call is refused. The last send is the last await, unless the [`Call`] is gone before: see there.
    fn call(self: Rc<Self>, call: Call) -> Answer;
}
