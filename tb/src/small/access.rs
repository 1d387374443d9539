//! The port of the host's accesses.

use spinneret_sim::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

/// An access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) is_write: bool,
    pub(super) place: u64,
    pub(super) strobe: u64,
    pub(super) data: u64,
}

#[derive(Debug, Default)]
struct State {
    access: Option<Access>,
    /// The word, or none if there is nothing.
    answer: Option<Option<u64>>,
}

/// Makes one access after another.
pub(super) struct AccessPort(Rc<RefCell<State>>);

impl AccessPort {
    pub(super) fn attach<M: Model>(sim: &mut Simulation<M>) -> Self {
        let find = |name: &str| {
            let port = sim.dut.instance().find(&format!("access_{name}"));
            port.unwrap_or_else(|| panic!("no port access_{name}"))
        };
        let agent = Agency {
            state: Rc::default(),
            inputs: ["valid", "is_write", "place", "strobe", "data"].map(find),
            outputs: ["ready", "failed", "read_data"].map(find),
        };
        let state = Rc::clone(&agent.state);
        sim.attach(Rc::new(RefCell::new(agent)));
        Self(state)
    }

    pub(super) fn start(&self, access: Access) {
        self.0.borrow_mut().access = Some(access);
    }

    pub(super) fn take(&self) -> Option<Option<u64>> {
        self.0.borrow_mut().answer.take()
    }
}

struct Agency {
    state: Rc<RefCell<State>>,
    inputs: [PortHandle; 5],
    outputs: [PortHandle; 3],
}

impl Agent for Agency {
    fn drive(&mut self, dut: &mut Instance) {
        let access = self.state.borrow().access;
        let values = access.map_or([0; 5], |access| {
            [
                1,
                access.is_write.into(),
                access.place,
                access.strobe,
                access.data,
            ]
        });
        for (port, value) in self.inputs.iter().zip(values) {
            dut.set_value(*port, value.into());
        }
    }

    fn sample(&mut self, dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        let mut state = self.state.borrow_mut();
        let [ready, failed, data] = self.outputs;
        if state.access.is_some() && dut.is_high(ready) {
            state.access = None;
            let data = dut.value(data) as u64;
            state.answer = Some((!dut.is_high(failed)).then_some(data));
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        *self.state.borrow_mut() = State::default();
        self.drive(dut);
    }

    fn describe(&self) -> String {
        format!("access: {:x?}", self.state.borrow().access)
    }
}
