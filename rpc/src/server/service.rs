//! What answers calls.

use super::call::Call;
use std::pin::Pin;
use std::rc::Rc;

/// The work of one call.
pub type Answer = Pin<Box<dyn Future<Output = ()>>>;

/// What answers the calls of a class: libc's, or an application's own.
///
/// A service runs on the server's thread and must not block it: what takes long is done elsewhere and awaited. All calls of
/// all ports share a service, so state is kept in cells that are not borrowed across an `await`.
pub trait Service {
    /// Whether there is such a call.
    fn handles(&self, opcode: u32) -> bool;

    /// Answers a call, for which [`handles`](Self::handles) was true. All of the client's packets have to be received and
    /// all that it waits for sent, also if the call is refused.
    fn call(self: Rc<Self>, call: Call) -> Answer;
}
