//! What the model and the real cluster tell about packets, in the same words.

use crate::watch::{Recording, Watch, What};
use spinneret_cluster::{Ending, Event};
use spinneret_nic::nic::{Behind, Modelled, Nic};

/// The HPU's register for the cause of a failure.
const ERROR: u32 = 0x1b20_5054;

/// Something that happened to packets, and in which clock of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A packet came into the cluster.
    Came(u64),
    /// A packet's handlers are done with it.
    Freed(u64),
    /// A handler has failed, with that cause.
    Failed(u32),
}

/// A cluster that tells.
pub trait Observe: Behind + Sized {
    /// Tells from now on.
    fn begin(nic: &mut Nic<Self>);

    /// What has happened since the last call.
    fn happened(nic: &mut Nic<Self>) -> Vec<Happened>;
}

impl Observe for Modelled {
    fn begin(nic: &mut Nic<Self>) {
        nic.take_events();
    }

    fn happened(nic: &mut Nic<Self>) -> Vec<Happened> {
        let events = nic.take_events().into_iter();
        let told = events.filter_map(|event| match event {
            Event::Came { clock, .. } => Some(Happened::Came(clock)),
            Event::Freed { clock, .. } => Some(Happened::Freed(clock)),
            Event::Ran(run) => match run.ending {
                Ending::Failed(cause) => Some(Happened::Failed(cause)),
                Ending::Done => None,
            },
            _ => None,
        });
        told.collect()
    }
}

impl Observe for Watch {
    fn begin(nic: &mut Nic<Self>) {
        nic.behind().record(Recording {
            packets: true,
            accesses: true,
            instructions: false,
        });
        nic.behind().take_events();
    }

    fn happened(nic: &mut Nic<Self>) -> Vec<Happened> {
        let events = nic.behind().take_events().into_iter();
        let told = events.filter_map(|event| match event.what {
            What::Her { .. } => Some(Happened::Came(event.at)),
            What::Feedback { .. } => Some(Happened::Freed(event.at)),
            What::Access {
                address: ERROR,
                written: Some((cause, _)),
                ..
            } => Some(Happened::Failed(cause)),
            _ => None,
        });
        told.collect()
    }
}
