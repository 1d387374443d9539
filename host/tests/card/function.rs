//! A PCI function that is none: the register model behind its BAR, and a list of what was done to it.

use spinneret_host::SharedMemory;
use spinneret_host::vfio::Function;
use spinneret_regmap::model::{Registers, Variant};
use spinneret_regmap::{bar, caps, cl, events};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::rc::Rc;
use std::time::Duration;

/// What was done that others notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// Memory was given to the function: address and bytes.
    Mapped(u64, usize),
    /// It was taken away.
    Unmapped(u64),
    /// The cluster was put into reset.
    Held,
    /// It was let out of it.
    Free,
    /// Lines of events were cleared.
    Cleared(u32),
    /// Lines of events were enabled, and no others.
    Enabled(u32),
}

/// The function; clones are the same one.
#[derive(Clone, Debug)]
pub(crate) struct Fake(Rc<RefCell<State>>);

#[derive(Debug)]
struct State {
    registers: Registers,
    /// Words of the cluster's memory, by their offset in the BAR.
    memory: BTreeMap<u32, u32>,
    done: Vec<Done>,
    /// Vectors of the next interrupts.
    interrupts: VecDeque<u32>,
    waits: Vec<Duration>,
    is_gone: bool,
    /// What the kernel says of memory.
    refusal: Option<io::ErrorKind>,
}

impl Fake {
    /// Hardware with all registers, as it is after its reset.
    pub(crate) fn new() -> Self {
        let mut registers = Registers::new(Variant::Extended);
        let events = caps::FEATURES
            .fields
            .iter()
            .filter(|field| field.name == "events");
        registers.show(caps::FEATURES.offset, events.map(|field| field.mask()).sum());
        registers.show(cl::STATUS.offset, 3);
        Self(Rc::new(RefCell::new(State {
            registers,
            memory: BTreeMap::new(),
            done: Vec::new(),
            interrupts: VecDeque::new(),
            waits: Vec::new(),
            is_gone: false,
            refusal: None,
        })))
    }

    /// What was done since the last call.
    pub(crate) fn done(&self) -> Vec<Done> {
        std::mem::take(&mut self.0.borrow_mut().done)
    }

    /// Nobody answers any more.
    pub(crate) fn vanish(&self) {
        self.0.borrow_mut().is_gone = true;
    }

    /// The kernel gives no memory.
    pub(crate) fn refuse_memory(&self, why: io::ErrorKind) {
        self.0.borrow_mut().refusal = Some(why);
    }

    /// An interrupt, which ends the next wait that has none before it.
    pub(crate) fn interrupt(&self, vectors: u32) {
        self.0.borrow_mut().interrupts.push_back(vectors);
    }

    /// How long it was to be waited at most, each time.
    pub(crate) fn waits(&self) -> Vec<Duration> {
        self.0.borrow().waits.clone()
    }

    /// A word of the BAR, as it is.
    pub(crate) fn word(&self, offset: u32) -> Option<u32> {
        self.0.borrow().memory.get(&offset).copied()
    }
}

impl Function for Fake {
    fn read(&self, offset: u32) -> u32 {
        let mut state = self.0.borrow_mut();
        match bar::decode(offset) {
            _ if state.is_gone => u32::MAX,
            bar::Destination::ControlRegister(register) => state.registers.read(register).0,
            _ => state.memory.get(&offset).copied().unwrap_or(0),
        }
    }

    fn write(&self, offset: u32, value: u32) {
        let mut state = self.0.borrow_mut();
        let bar::Destination::ControlRegister(register) = bar::decode(offset) else {
            state.memory.insert(offset, value);
            return;
        };
        state.registers.write(register, value, 0xf);
        let what = match register {
            cl::AUX_RESET => {
                let status = if value == 0 { 1 } else { 3 };
                state.registers.show(cl::STATUS.offset, status);
                if value == 0 { Done::Free } else { Done::Held }
            }
            register if register == events::PENDING.offset => Done::Cleared(value),
            register if register == events::ENABLE.offset => Done::Enabled(value),
            _ => return,
        };
        state.done.push(what);
    }

    fn map(&self, address: u64, memory: &SharedMemory) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        if let Some(why) = state.refusal {
            return Err(why.into());
        }
        state.done.push(Done::Mapped(address, memory.mapping().len()));
        Ok(())
    }

    fn unmap(&self, address: u64, _bytes: u64) -> io::Result<()> {
        self.0.borrow_mut().done.push(Done::Unmapped(address));
        Ok(())
    }

    fn wait(&self, limit: Duration) -> io::Result<u32> {
        let mut state = self.0.borrow_mut();
        state.waits.push(limit);
        let vectors = state.interrupts.pop_front();
        if vectors.is_none() {
            std::thread::sleep(limit);
        }
        Ok(vectors.unwrap_or(0))
    }
}
