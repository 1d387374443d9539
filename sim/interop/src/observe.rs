//! What the model and the real cluster tell about packets, in the same words.

use spinneret_cluster::{Ending, Event, Passed, Traced};
use spinneret_nic::nic::{ClusterBackend, ModelBackend, Nic};

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
pub trait Observe: ClusterBackend + Sized {
    /// Tells from now on.
    fn begin(nic: &mut Nic<Self>);

    /// What has happened since the last call.
    fn happened(nic: &mut Nic<Self>) -> Happened;
}

impl Observe for ModelBackend {
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
