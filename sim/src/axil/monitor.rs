//! Checks the rules of the channels.

use super::ports::{AddressPorts, LitePorts, ReadPorts, WritePorts};
use super::rules::{Culprit, Rules};
use crate::agent::{Agent, Violation};
use crate::handshake::{Counts, Side, Watch};
use crate::model::{Instance, Model, ModelError};
use crate::simulation::Simulation;
use std::cell::RefCell;
use std::rc::Rc;

/// Checks the rules of AXI4-Lite, in either direction, and counts; clones share one state.
///
/// - Valid of each channel stays high, and the payload the same, until ready is high.
/// - Valid of each channel is low at the end of a reset.
/// - A response to a write comes later than its address and its data, and comes once.
/// - Data of a read comes later than its address, and comes once.
/// - No response is EXOKAY.
///
/// A broken rule names the side whose fault it is. Whoever puts a slave or a master on the channels gets a
/// monitor with it.
#[derive(Clone, Debug)]
pub struct LiteMonitor {
    state: Rc<RefCell<State>>,
}

/// What a [`LiteMonitor`] counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiteCounts {
    /// Addresses of writes.
    pub write_address: Counts,
    /// Data of writes.
    pub write_data: Counts,
    /// Responses to writes.
    pub response: Counts,
    /// Addresses of reads.
    pub read_address: Counts,
    /// Data of reads.
    pub read_data: Counts,
}

#[derive(Debug)]
struct Writes {
    ports: WritePorts,
    address: Watch,
    data: Watch,
    response: Watch,
}

#[derive(Debug)]
struct Reads {
    ports: ReadPorts,
    address: Watch,
    data: Watch,
}

#[derive(Debug)]
struct State {
    prefix: String,
    /// Who the master is, as seen from the design.
    side: Side,
    writes: Option<Writes>,
    reads: Option<Reads>,
    rules: Rules,
}

impl LiteMonitor {
    /// Puts a monitor on the channels with that prefix.
    ///
    /// # Errors
    /// If the design has no such channels.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, prefix: &str) -> Result<Self, ModelError> {
        let LitePorts { write, read, side } = LitePorts::find(sim.dut.instance(), prefix, None)?;
        let watch = |address: &AddressPorts| Watch::new(address.channel.clone());
        let writes = write.map(|ports| Writes {
            address: watch(&ports.address),
            data: Watch::new(ports.data.clone()),
            response: Watch::new(ports.response.clone()),
            ports,
        });
        let reads = read.map(|ports| Reads {
            address: watch(&ports.address),
            data: Watch::new(ports.data.clone()),
            ports,
        });
        let state = State {
            prefix: prefix.to_owned(),
            side,
            writes,
            reads,
            rules: Rules::default(),
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Ok(Self { state })
    }

    /// What was seen since the start; zero for channels that the design lacks.
    pub fn counts(&self) -> LiteCounts {
        let state = self.state.borrow();
        let mut counts = LiteCounts::default();
        if let Some(writes) = &state.writes {
            counts.write_address = writes.address.counts;
            counts.write_data = writes.data.counts;
            counts.response = writes.response.counts;
        }
        if let Some(reads) = &state.reads {
            counts.read_address = reads.address.counts;
            counts.read_data = reads.data.counts;
        }
        counts
    }

    /// Writes of which something was transferred and that were not answered, and such reads.
    pub fn under_way(&self) -> (u64, u64) {
        let rules = self.state.borrow().rules;
        (rules.writes_under_way(), rules.reads_under_way())
    }
}

impl Writes {
    fn sample(&mut self, dut: &Instance, rules: &mut Rules) -> Result<(), Violation> {
        let by = |culprit| move |violation| blame(violation, culprit);
        // A response must not come in the cycle of its address or data, so it is looked at before those.
        let taken = self.response.check(dut).map_err(by(Culprit::Slave))?;
        if self.response.levels.valid {
            let offer = rules.response_offered(dut.value(self.ports.bresp) as u8);
            offer.map_err(|rule| blame(self.response.bus.violation(rule), Culprit::Slave))?;
        }
        if taken {
            self.response.count(true);
            rules.response_taken();
        }
        if self.address.check(dut).map_err(by(Culprit::Master))? {
            self.address.count(true);
            rules.write_address();
        }
        if self.data.check(dut).map_err(by(Culprit::Master))? {
            self.data.count(true);
            rules.write_data();
        }
        Ok(())
    }

    fn watches(&self) -> [(&Watch, Culprit); 3] {
        [
            (&self.address, Culprit::Master),
            (&self.data, Culprit::Master),
            (&self.response, Culprit::Slave),
        ]
    }
}

impl Reads {
    fn sample(&mut self, dut: &Instance, rules: &mut Rules) -> Result<(), Violation> {
        let by = |culprit| move |violation| blame(violation, culprit);
        let taken = self.data.check(dut).map_err(by(Culprit::Slave))?;
        if self.data.levels.valid {
            let offer = rules.data_offered(dut.value(self.ports.rresp) as u8);
            offer.map_err(|rule| blame(self.data.bus.violation(rule), Culprit::Slave))?;
        }
        if taken {
            self.data.count(true);
            rules.data_taken();
        }
        if self.address.check(dut).map_err(by(Culprit::Master))? {
            self.address.count(true);
            rules.read_address();
        }
        Ok(())
    }

    fn watches(&self) -> [(&Watch, Culprit); 2] {
        [(&self.address, Culprit::Master), (&self.data, Culprit::Slave)]
    }
}

impl State {
    /// All channels, each with the side that drives its valid.
    fn watches(&self) -> impl Iterator<Item = (&Watch, Culprit)> {
        let writes = self.writes.iter().flat_map(Writes::watches);
        writes.chain(self.reads.iter().flat_map(Reads::watches))
    }
}

/// The violation with the name of the side whose fault it is.
fn blame(violation: Violation, culprit: Culprit) -> Violation {
    Violation {
        rule: format!("{}: {culprit}", violation.rule),
        ..violation
    }
}

impl Agent for State {
    fn drive(&mut self, _dut: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        if let Some(writes) = &mut self.writes {
            writes.sample(dut, &mut self.rules)?;
        }
        if let Some(reads) = &mut self.reads {
            reads.sample(dut, &mut self.rules)?;
        }
        Ok(())
    }

    fn reset(&mut self, _dut: &mut Instance) {
        self.rules.reset();
        if let Some(writes) = &mut self.writes {
            writes.address.reset();
            writes.data.reset();
            writes.response.reset();
        }
        if let Some(reads) = &mut self.reads {
            reads.address.reset();
            reads.data.reset();
        }
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        for (watch, culprit) in self.watches() {
            watch
                .check_reset(dut)
                .map_err(|violation| blame(violation, culprit))?;
        }
        Ok(())
    }

    fn unfinished(&self) -> Option<String> {
        let rules = &self.rules;
        let waits = self.watches().any(|(watch, _)| watch.is_waiting());
        let under_way = rules.writes_under_way() + rules.reads_under_way();
        (waits || under_way != 0).then(|| self.describe())
    }

    fn describe(&self) -> String {
        let master = match self.side {
            Side::IntoDesign => "the master outside",
            Side::OutOfDesign => "the design",
        };
        let levels: Vec<String> = self
            .watches()
            .map(|(watch, _)| format!("{} {}", watch.bus.bus, watch.levels))
            .collect();
        format!(
            "{}: monitor of {master}: {} writes and {} reads are under way, {}",
            self.prefix,
            self.rules.writes_under_way(),
            self.rules.reads_under_way(),
            levels.join(", ")
        )
    }
}
