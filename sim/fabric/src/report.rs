//! What has happened in a fabric.

use crate::cable::Counts;
use crate::switch::SwitchCounts;
use crate::{Digest, Ps};
use serde::{Deserialize, Serialize};

/// What has happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Simulated time at the end.
    pub time_ps: Ps,
    /// Rounds.
    pub rounds: u64,
    /// NICs, in the order of their numbers.
    pub nics: Vec<NicReport>,
    /// Switches, in the order of the topology.
    pub switches: Vec<SwitchReport>,
    /// Both directions of each cable, in the order of the topology.
    pub cables: Vec<CableReport>,
    /// Queues and latencies over time, if that was asked for.
    pub samples: Vec<Sample>,
}

/// What came to a NIC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NicReport {
    /// Its name.
    pub name: String,
    /// Frames that it got.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Frames with a wrong check sequence, which were dropped.
    pub bad: u64,
    /// Frames that came when it was gone.
    pub off: u64,
    /// When the last frame came.
    pub last_ps: Ps,
    /// From the NIC that sent a frame to the last bit at this one: the longest time, and the sum of all.
    pub latency_ps: (Ps, u64),
    /// Of all frames that it got, and when.
    pub digest: u64,
}

/// What a switch has done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchReport {
    /// Its name.
    pub name: String,
    /// What it has done.
    pub counts: SwitchCounts,
}

/// What happened on one direction of a cable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CableReport {
    /// Who sends.
    pub from: String,
    /// Who receives.
    pub to: String,
    /// What happened.
    pub counts: Counts,
    /// Frames that were still on their way.
    pub on_way: u64,
}

/// How it was at some moment at a port of a switch, or at a NIC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// When.
    pub at_ps: Ps,
    /// Queue of each port of each switch.
    pub ports: Vec<PortReport>,
    /// What came to each NIC since the last sample.
    pub nics: Vec<NicSample>,
}

/// What came to a NIC between two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NicSample {
    /// The NIC, by its place in [`Report::nics`].
    pub nic: usize,
    /// Frames.
    pub frames: u64,
    /// From the NIC that sent a frame to the last bit at this one, the sum of all frames.
    pub latency_ps: Ps,
}

/// The queue of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortReport {
    /// The direction of a cable, by its place in [`Report::cables`].
    pub cable: usize,
    /// Bytes in the queue.
    pub queued_bytes: u64,
    /// Frames that have found it full so far.
    pub queue_full: u64,
    /// Frames that were put on the cable so far.
    pub delivered: u64,
}

impl Report {
    /// A number that is the same for runs in which every NIC got the same frames at the same times.
    pub fn digest(&self) -> u64 {
        let mut digest = Digest::default();
        self.nics.iter().for_each(|nic| digest.number(nic.digest));
        digest.value()
    }

    /// Every frame is accounted for at every hop, or the sentence that says where one is not.
    ///
    /// # Errors
    /// If one is not.
    pub fn adds_up(&self) -> Result<(), String> {
        let wrong = |place: &str, what: String| Err(format!("frames are missing at {place}: {what}"));
        for cable in &self.cables {
            if !cable.counts.adds_up() {
                let place = format!("the cable from {} to {}", cable.from, cable.to);
                return wrong(&place, format!("{:?}", cable.counts));
            }
        }
        for switch in &self.switches {
            let counts = switch.counts;
            let came = self.came(&switch.name);
            let put = self.cables.iter().filter(|cable| cable.from == switch.name);
            let put: u64 = put.map(|cable| cable.counts.offered).sum();
            if !counts.adds_up() || counts.received != came || counts.copies != put {
                return wrong(
                    &switch.name,
                    format!("{counts:?}, {came} came, {put} were put into queues"),
                );
            }
        }
        for nic in &self.nics {
            let came = self.came(&nic.name);
            if nic.received + nic.bad + nic.off != came {
                return wrong(&nic.name, format!("{nic:?}, {came} came"));
            }
        }
        Ok(())
    }

    /// Frames that came out of cables at a node.
    fn came(&self, node: &str) -> u64 {
        let cables = self.cables.iter().filter(|cable| cable.to == node);
        cables.map(|cable| cable.counts.delivered - cable.on_way).sum()
    }
}
