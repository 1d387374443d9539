//! Looks in every cycle at the outputs of the path that are no stream.

use spinneret_sim::agent::{Agent, Violation};
use spinneret_sim::model::{Direction, Instance, Model, PortHandle};
use spinneret_sim::simulation::Simulation;
use std::cell::RefCell;
use std::rc::Rc;

/// What the path showed in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    /// The cycle.
    pub(super) cycle: u64,
    /// Id of the command that is answered, if one is.
    pub(super) answer: Option<u64>,
    /// Code of the newest error.
    pub(super) last_error: u64,
}

/// Looks at answers and errors, and checks that nothing is written and lines are always taken; clones share
/// one state.
#[derive(Clone, Debug)]
pub(super) struct OutputWatch {
    state: Rc<RefCell<State>>,
}

#[derive(Debug)]
struct State {
    answer_valid: PortHandle,
    answer_id: PortHandle,
    last_error: PortHandle,
    write_valid: [PortHandle; 2],
    read_ready: PortHandle,
    shown: Shown,
}

impl OutputWatch {
    pub(super) fn attach<M: Model>(sim: &mut Simulation<M>) -> Self {
        let find = |name: &str| {
            let port = sim.dut.instance().port(name, Direction::Output);
            port.unwrap_or_else(|error| panic!("{error}"))
        };
        let state = State {
            answer_valid: find("nic_cmd_resp_valid"),
            answer_id: find("nic_cmd_resp_id"),
            last_error: find("egress_dma_last_error"),
            write_valid: [find("m_axi_pspin_no_awvalid"), find("m_axi_pspin_no_wvalid")],
            read_ready: find("m_axi_pspin_no_rready"),
            shown: Shown::default(),
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Self { state }
    }

    /// What the path showed in the last cycle.
    pub(super) fn shown(&self) -> Shown {
        self.state.borrow().shown
    }
}

impl State {
    fn check_constants(&self, dut: &Instance) -> Result<(), Violation> {
        let rule = if self.write_valid.iter().any(|valid| dut.is_high(*valid)) {
            "something is written"
        } else if !dut.is_high(self.read_ready) {
            "a line would have to wait"
        } else {
            return Ok(());
        };
        Err(violation(rule))
    }
}

fn violation(rule: &str) -> Violation {
    Violation {
        bus: "m_axi_pspin_no".into(),
        rule: rule.into(),
    }
}

impl Agent for State {
    fn drive(&mut self, _dut: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        let id = || dut.value(self.answer_id) as u64;
        self.shown = Shown {
            cycle,
            answer: dut.is_high(self.answer_valid).then(id),
            last_error: dut.value(self.last_error) as u64,
        };
        self.check_constants(dut)
    }

    fn reset(&mut self, _dut: &mut Instance) {}

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        if dut.is_high(self.answer_valid) || dut.value(self.last_error) != 0 {
            return Err(Violation {
                bus: "nic_cmd_resp".into(),
                rule: "there is an answer or an error in reset".into(),
            });
        }
        self.check_constants(dut)
    }

    fn describe(&self) -> String {
        format!("nic_cmd_resp: {:?}", self.shown)
    }
}
