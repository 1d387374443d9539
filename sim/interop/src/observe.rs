//! What the model and the real cluster tell about packets, in the same words.

use crate::top::CORES;
use crate::traces::command;
use crate::watch::{Recording, Watch, What};
use spinneret_cluster::{Ending, Event, HpuId, Passed, Traced};
use spinneret_nic::nic::{Behind, Modelled, Nic};
use spinneret_regmap::pspin;

/// The HPU's register for the cause of a failure.
const ERROR: u32 = DRIVER + pspin::driver::ERROR;

/// The registers of an HPU's driver, and of what the public one answers behind them.
const DRIVER: u32 = pspin::DRIVER_BASE;
const DRIVER_BYTES: u32 = 0x400;

/// What has happened.
#[derive(Clone, Debug, Default)]
pub struct Happened {
    /// What has passed between HPUs and their drivers, and through the cluster's ports, in time's order.
    pub passed: Vec<Traced>,
    /// Why handlers have failed.
    pub failed: Vec<u32>,
}

impl Happened {
    /// When the first packet came.
    pub fn came(&self) -> Option<u64> {
        let mut all = self.passed.iter();
        all.find_map(|traced| matches!(traced.what, Passed::Her { .. }).then_some(traced.clock))
    }

    /// When packets were given back.
    pub fn freed(&self) -> Vec<u64> {
        let all = self.passed.iter();
        all.filter_map(|traced| matches!(traced.what, Passed::Feedback { .. }).then_some(traced.clock))
            .collect()
    }
}

/// A cluster that tells.
pub trait Observe: Behind + Sized {
    /// Tells from now on.
    fn begin(nic: &mut Nic<Self>);

    /// What has happened since the last call.
    fn happened(nic: &mut Nic<Self>) -> Happened;
}

impl Observe for Modelled {
    fn begin(nic: &mut Nic<Self>) {
        nic.enable_trace();
        nic.take_events();
    }

    fn happened(nic: &mut Nic<Self>) -> Happened {
        let passed = nic.take_trace();
        let failed = nic.take_events().into_iter().filter_map(|event| match event {
            Event::Ran(run) => match run.ending {
                Ending::Failed(cause) => Some(cause),
                Ending::Done => None,
            },
            _ => None,
        });
        Happened {
            passed,
            failed: failed.collect(),
        }
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

    fn happened(nic: &mut Nic<Self>) -> Happened {
        let events = nic.behind().take_events();
        let failed = events.iter().filter_map(|event| match event.what {
            What::Access {
                address: ERROR,
                written: Some((cause, _)),
                ..
            } => Some(cause),
            _ => None,
        });
        let mut happened = Happened {
            failed: failed.collect(),
            passed: events.into_iter().filter_map(passed).collect(),
        };
        // An access is known when it is answered, but counts from when it was granted.
        happened.passed.sort_by_key(|traced| traced.clock);
        happened
    }
}

fn passed(event: crate::watch::Event) -> Option<Traced> {
    let mut clock = event.at;
    let what = match event.what {
        What::Her {
            message,
            is_last,
            address,
            size,
        } => Passed::Her {
            message,
            is_last,
            address,
            size,
        },
        What::Feedback { message, address } => Passed::Feedback {
            queue: message,
            address,
        },
        What::Send { id, address, length } => Passed::Send {
            id: command(id),
            source: address.into(),
            length,
        },
        What::Sent { id } => Passed::Done { id: command(id) },
        What::Access {
            hpu,
            granted,
            address,
            written,
            read,
            ..
        } => {
            let offset = address
                .checked_sub(DRIVER)
                .filter(|offset| *offset < DRIVER_BYTES)?;
            let hpu = HpuId {
                cluster: hpu as usize / CORES,
                core: hpu as usize % CORES,
            };
            clock = granted;
            match written {
                Some((value, _)) => Passed::Written { hpu, offset, value },
                None => Passed::Read {
                    hpu,
                    offset,
                    value: read,
                },
            }
        }
        _ => return None,
    };
    Some(Traced { clock, what })
}
