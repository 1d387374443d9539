//! The beats of a channel, and how items become beats.

use crate::handshake::Handshake;
use crate::model::{Instance, Model, ModelError};
use crate::simulation::Simulation;
use std::fmt;

/// The ports of a channel's beats.
pub trait Payload: fmt::Debug + 'static {
    /// What is sent or received: one beat or more.
    type Item: fmt::Debug;
    /// Checks the rules of the channel.
    type Monitor: Clone + fmt::Debug;
    /// Items in messages, such as `frames`.
    const ITEMS: &'static str;

    /// Valid, ready and the name of the channel.
    fn bus(&self) -> &Handshake;

    /// Puts a monitor on the channel.
    ///
    /// # Errors
    /// If the design has no such channel.
    fn monitor<M: Model>(&self, sim: &mut Simulation<M>) -> Result<Self::Monitor, ModelError>;
}

/// A payload that can be sent.
pub trait Outgoing: Payload {
    /// Whether an item of which a beat was offered in a reset is sent again after it.
    const RESENDS: bool = false;

    /// Whether the ports can carry an item.
    ///
    /// # Errors
    /// With what does not fit.
    fn check(&self, item: &Self::Item) -> Result<(), String> {
        let _ = item;
        Ok(())
    }

    /// How many beats an item has, at least one.
    fn beats(&self, item: &Self::Item) -> usize;

    /// Puts a beat of an item on the ports.
    fn drive(&mut self, dut: &mut Instance, item: &Self::Item, beat: usize);
}

/// A payload that can be received.
pub trait Incoming: Payload {
    /// Takes the beat on the ports; the item, if it ends one.
    ///
    /// # Errors
    /// If the beat breaks a rule.
    fn take(&mut self, dut: &Instance, cycle: u64) -> Result<Option<Self::Item>, String>;

    /// Bytes of an item that has arrived in part.
    fn partial_bytes(&self) -> Option<usize> {
        None
    }

    /// Items that have to come.
    fn missing(&self) -> usize {
        0
    }

    /// Forgets an item that has arrived in part.
    fn reset(&mut self) {}
}
