//! Items of one beat: a value for each named field.

use super::monitor::ChannelMonitor;
use super::payload::{Incoming, Outgoing, Payload};
use super::{ChannelSink, ChannelSource};
use crate::handshake::{Counts, Handshake};
use crate::model::{Direction, Instance, Model, ModelError};
use crate::pause::Pause;
use crate::simulation::Simulation;

/// Named fields of at most 64 bits.
#[derive(Debug)]
pub struct Fields(Handshake);

/// An item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// One value for each field.
    pub values: Vec<u64>,
    /// The cycle in which it was transferred; 0 of one that is sent.
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
    /// If the design has no such channel, it goes out of the design, or a field has more than 64 bits.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        fields: &[&str],
        pause: Pause,
    ) -> Result<Self, ModelError> {
        let fields = Fields::find(sim.dut.instance(), prefix, fields, Direction::Input)?;
        Self::of(sim, fields, pause)
    }

    /// What was seen since the start.
    pub fn counts(&self) -> Counts {
        self.monitor().counts()
    }
}

impl ChannelSink {
    /// Puts a sink on the channel with that prefix and these fields.
    ///
    /// # Errors
    /// If the design has no such channel, it goes into the design, or a field has more than 64 bits.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        fields: &[&str],
        pause: Pause,
    ) -> Result<Self, ModelError> {
        let fields = Fields::find(sim.dut.instance(), prefix, fields, Direction::Output)?;
        Self::of(sim, fields, pause)
    }

    /// What was seen since the start.
    pub fn counts(&self) -> Counts {
        self.monitor().counts()
    }
}
