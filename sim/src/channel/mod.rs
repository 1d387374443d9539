//! Channels: buses with valid and ready that carry items, such as `packet_meta` of the matcher.
//!
//! ```text
//! Item --> Source<Payload> --> s [design] m --> Sink<Payload> --> Item
//!                    Monitor            Monitor
//! ```
//!
//! A [`Payload`] defines the ports of a beat and how items become beats; source, sink and queues are the same for
//! all. [`Fields`] is an item of one beat with a value for each named field; [streams](crate::stream) carry frames.
//! The rules of valid and ready are always checked.

mod ends;

pub use crate::handshake::{Counts, Handshake};
pub use crate::pause::Pause;
pub use ends::{Sink, Source};

use crate::agent::{Agent, Violation};
use crate::handshake::Watch;
use crate::model::{Direction, Instance, Model, ModelError};
use crate::simulation::Simulation;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

/// Sends items into a channel of the design, in order; clones share one queue.
pub type ChannelSource = Source<Fields>;
/// Receives items from a channel of the design; clones share one queue.
pub type ChannelSink = Sink<Fields>;

impl<M: Model> Simulation<M> {
    /// Puts a source on the channel with that prefix and these fields.
    ///
    /// # Panics
    /// If the design has no such input channel; [`ChannelSource::attach`] returns an error instead.
    pub fn channel_source(&mut self, prefix: &str, fields: &[&str], pause: Pause) -> ChannelSource {
        ChannelSource::attach(self, prefix, fields, pause).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Puts a sink on the channel with that prefix and these fields.
    ///
    /// # Panics
    /// If the design has no such output channel; [`ChannelSink::attach`] returns an error instead.
    pub fn channel_sink(&mut self, prefix: &str, fields: &[&str], pause: Pause) -> ChannelSink {
        ChannelSink::attach(self, prefix, fields, pause).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// The ports of a channel's beats.
pub trait Payload: fmt::Debug + 'static {
    /// The unit that is sent or received: one or more beats.
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
    /// Whether an item of which a beat was offered when a reset began is sent again after it.
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
    /// Takes the beat on the ports; returns the item if this beat ends one.
    ///
    /// # Errors
    /// If the beat breaks a rule.
    fn take(&mut self, dut: &Instance, cycle: u64) -> Result<Option<Self::Item>, String>;

    /// Number of bytes of an item that has arrived partially.
    fn partial_bytes(&self) -> Option<usize> {
        None
    }

    /// Number of items that are expected.
    fn missing(&self) -> usize {
        0
    }

    /// Discards an item that has arrived partially.
    fn reset(&mut self) {}
}

/// Checks the rules of a channel and counts; clones share one state.
///
/// - Valid stays high, and the payload the same, until ready is high.
/// - Valid is low at the end of a reset.
#[derive(Clone, Debug)]
pub struct ChannelMonitor {
    state: Rc<RefCell<Watch>>,
}

impl ChannelMonitor {
    /// Puts a monitor on a channel.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, bus: &Handshake) -> Self {
        let state = Rc::new(RefCell::new(Watch::new(bus.clone())));
        sim.attach(Rc::<RefCell<Watch>>::clone(&state));
        Self { state }
    }

    /// The counters since the start.
    pub fn counts(&self) -> Counts {
        self.state.borrow().counts
    }
}

impl Agent for Watch {
    fn drive(&mut self, _dut: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        if self.check(dut)? {
            self.count(true);
        }
        Ok(())
    }

    fn reset(&mut self, _dut: &mut Instance) {
        Self::reset(self);
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        self.check_reset(dut)
    }

    fn unfinished(&self) -> Option<String> {
        self.is_waiting().then(|| self.describe())
    }

    fn describe(&self) -> String {
        let (bus, beats, levels) = (&self.bus.bus, self.counts.beats, self.levels);
        format!("{bus}: monitor has seen {beats} items, {levels}")
    }
}

/// Named fields of at most 64 bits.
#[derive(Debug)]
pub struct Fields(Handshake);

/// An item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// One value for each field.
    pub values: Vec<u64>,
    /// The cycle of its transfer; 0 in one that is to be sent.
    pub cycle: u64,
}

impl From<&[u64]> for Item {
    fn from(values: &[u64]) -> Self {
        let values = values.to_vec();
        Self { values, cycle: 0 }
    }
}

impl<const N: usize> From<&[u64; N]> for Item {
    fn from(values: &[u64; N]) -> Self {
        Self::from(&values[..])
    }
}

impl Fields {
    /// Looks up the fields, each of at most 64 bits.
    fn find(dut: &Instance, prefix: &str, fields: &[&str], direction: Direction) -> Result<Self, ModelError> {
        let bus = Handshake::attach(dut, prefix, fields, direction)?;
        let Some(wide) = bus.payload.iter().find(|port| port.width() > 64) else {
            return Ok(Self(bus));
        };
        Err(ModelError::UnfitPort {
            model: dut.name(),
            port: dut.info(*wide).name.to_owned(),
            reason: format!(
                "is {} bits wide; a field of a channel needs at most 64 bits",
                wide.width()
            ),
        })
    }
}

impl Payload for Fields {
    type Item = Item;
    type Monitor = ChannelMonitor;
    const ITEMS: &'static str = "items";

    fn bus(&self) -> &Handshake {
        &self.0
    }

    fn monitor<M: Model>(&self, sim: &mut Simulation<M>) -> Result<ChannelMonitor, ModelError> {
        Ok(ChannelMonitor::attach(sim, &self.0))
    }
}

impl Outgoing for Fields {
    const RESENDS: bool = true;

    fn check(&self, item: &Item) -> Result<(), String> {
        let (fields, values) = (self.0.payload.len(), item.values.len());
        if values != fields {
            return Err(format!("an item has {values} values for {fields} fields"));
        }
        for (value, port) in item.values.iter().zip(&self.0.payload) {
            let width = port.width();
            if width < 64 && value >> width != 0 {
                return Err(format!("{value:#x} does not fit a field of {width} bits"));
            }
        }
        Ok(())
    }

    fn beats(&self, _item: &Item) -> usize {
        1
    }

    fn drive(&mut self, dut: &mut Instance, item: &Item, _beat: usize) {
        for (port, value) in self.0.payload.iter().zip(&item.values) {
            dut.set_value(*port, u128::from(*value));
        }
    }
}

impl Incoming for Fields {
    fn take(&mut self, dut: &Instance, cycle: u64) -> Result<Option<Item>, String> {
        // The widths were checked when the ports were looked up.
        let values = self.0.payload.iter().map(|port| dut.value(*port) as u64);
        let values = values.collect();
        Ok(Some(Item { values, cycle }))
    }
}

impl ChannelSource {
    /// Puts a source on the channel with that prefix and these fields.
    ///
    /// # Errors
    /// If the design has no such channel, it is an output, or a field has more than 64 bits.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        fields: &[&str],
        pause: Pause,
    ) -> Result<Self, ModelError> {
        let fields = Fields::find(sim.dut.instance(), prefix, fields, Direction::Input)?;
        Self::of(sim, fields, pause)
    }

    /// The counters since the start.
    pub fn counts(&self) -> Counts {
        self.monitor().counts()
    }
}

impl ChannelSink {
    /// Puts a sink on the channel with that prefix and these fields.
    ///
    /// # Errors
    /// If the design has no such channel, it is an input, or a field has more than 64 bits.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        fields: &[&str],
        pause: Pause,
    ) -> Result<Self, ModelError> {
        let fields = Fields::find(sim.dut.instance(), prefix, fields, Direction::Output)?;
        Self::of(sim, fields, pause)
    }

    /// The counters since the start.
    pub fn counts(&self) -> Counts {
        self.monitor().counts()
    }
}
