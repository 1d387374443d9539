//! Results of a simulation.

use crate::cable::Counts;
use crate::switch::SwitchCounts;
use crate::{Digest, Ps};
use serde::{Deserialize, Serialize};

/// Results of a simulation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Simulated time at the end.
    pub time_ps: Ps,
    /// EpochLoop.
    pub rounds: u64,
    /// NICs, in the order of their numbers.
    pub nics: Vec<NicReport>,
    /// Switches, in the order of the topology.
    pub switches: Vec<SwitchReport>,
    /// Both directions of each cable, in the order of the topology.
    pub cables: Vec<CableReport>,
    /// Queues and latencies over time, if samples were requested.
    pub samples: Vec<Sample>,
}

/// Received frames of a NIC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NicReport {
    /// Its name.
    pub name: String,
    /// Frames that it got.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Frames dropped because of a wrong check sequence.
    pub bad: u64,
    /// Frames that arrived after the NIC terminated.
    pub off: u64,
    /// Time of the last frame.
    pub last_ps: Ps,
    /// From the NIC that sent a frame to the last bit at this one: the longest time, and the sum of all.
    pub latency_ps: (Ps, u64),
    /// Of all frames that it got, and when.
    pub digest: u64,
}

/// Results of a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchReport {
    /// Its name.
    pub name: String,
    /// Frame counters.
    pub counts: SwitchCounts,
}

/// Results of one direction of a cable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CableReport {
    /// Name of the sender.
    pub from: String,
    /// Name of the receiver.
    pub to: String,
    /// Frame counters.
    pub counts: Counts,
    /// Frames still in flight.
    pub on_way: u64,
}

/// How it was at some moment at a port of a switch, or at a NIC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// When.
    pub at_ps: Ps,
    /// Queue of each port of each switch.
    pub ports: Vec<PortReport>,
    /// Frames received by each NIC since the last sample.
    pub nics: Vec<NicSample>,
}

/// Frames received by a NIC between two samples.
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
    /// Returns a digest that is equal for runs in which every NIC received the same frames at the same times.
    pub fn digest(&self) -> u64 {
        let mut digest = Digest::default();
        self.nics.iter().for_each(|nic| digest.number(nic.digest));
        digest.value()
    }

    /// Checks that every frame is accounted for at every hop. The error is a sentence that names the hop.
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

    /// Returns the frames that came out of the cables at a node.
    fn came(&self, node: &str) -> u64 {
        let cables = self.cables.iter().filter(|cable| cable.to == node);
        cables.map(|cable| cable.counts.delivered - cable.on_way).sum()
    }
}
