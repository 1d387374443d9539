//! NICs behind `vfio-pci`.

use crate::fake::program;
use crate::{ok, port};
use spinneret_host::vfio::{Function, Vfio};
use spinneret_host::{Device as _, DeviceError, Nic, Options, SharedMemory};
use spinneret_regmap::model::{Registers, Variant};
use spinneret_regmap::{bar, caps, cl, events};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::rc::Rc;
use std::time::Duration;

const GIB: u64 = 1 << 30;
const LINES: u32 = 0x3f;

fn device() -> (Vfio<Fake>, Fake) {
    let fake = Fake::new();
    (Vfio::new(fake.clone(), 1), fake)
}

#[test]
fn a_nic_is_told_of_events_from_the_beginning() {
    let (device, fake) = device();
    let nic = ok(Nic::new(device));
    assert_eq!(
        fake.done(),
        [Done::Cleared(LINES), Done::Enabled(LINES), Done::Held]
    );
    drop(nic);
    assert_eq!(fake.done(), [Done::Enabled(0)]);
}

#[test]
fn contexts_have_memory_above_4_gib_and_lose_it_after_reset() {
    let (device, fake) = device();
    let nic = ok(Nic::new(device));
    let open = |number: u16| {
        let options = Options {
            host_bytes: 5000,
            ..Options::default()
        };
        ok(nic.open_context(program(), "count", &port(7000 + number), &options))
    };
    let contexts: Vec<_> = (0..4).map(open).collect();
    let mapped = fake
        .done()
        .into_iter()
        .filter(|done| matches!(done, Done::Mapped(..)));
    let expected = [8, 16, 24, 32].map(|gib| Done::Mapped(gib * GIB, 8192));
    assert_eq!(mapped.collect::<Vec<_>>(), expected);
    contexts.into_iter().for_each(spinneret_host::Context::leave);
    drop(nic);
    let unmapped = [8, 16, 24, 32].map(|gib| Done::Unmapped(gib * GIB));
    let done = fake.done();
    let (before, after) = done.split_at(done.len() - 4);
    assert_eq!(before, [Done::Enabled(0), Done::Held]);
    assert_eq!(after, unmapped);
}

#[test]
fn the_clusters_memory_is_where_the_bar_has_it() {
    let (mut device, fake) = device();
    ok(device.write_cluster(0x1c00_0010, &[1, 0, 0, 0, 2, 0, 0, 0]));
    ok(device.post_cluster(0x1d00_0004, 3));
    assert_eq!(
        [0x10, 0x14, 0x40_0004].map(|offset| fake.word(offset)),
        [Some(1), Some(2), Some(3)]
    );
    let mut bytes = [0; 8];
    ok(device.read_cluster(0x1c00_0010, &mut bytes));
    assert_eq!(bytes, [1, 0, 0, 0, 2, 0, 0, 0]);
    for (address, length) in [
        (0x1c00_0002, 4),
        (0x1c00_0000, 3),
        (0x1c0f_fffc, 8),
        (0x1b00_0000, 4),
    ] {
        let error = device.read_cluster(address, &mut bytes[..length]).unwrap_err();
        assert!(
            error.to_string().contains("are no words of L2 handler memory"),
            "{error}"
        );
    }
}

#[test]
fn host_memory_is_zeroed_and_bounded() {
    let (mut device, fake) = device();
    let area = ok(device.open_area(2, 1));
    assert_eq!((area.address, area.bytes), (24 * GIB, 4096));
    let mut bytes = [9; 4];
    ok(device.read_host(2, 4092, &mut bytes));
    assert_eq!(bytes, [0; 4]);
    ok(device.write_host(2, 0, &[1, 2]));
    let file = ok(device.host_file(2));
    let mut first = [0; 2];
    ok(rustix::io::pread(&file, &mut first, 0));
    assert_eq!(first, [1, 2]);
    let error = device.write_host(2, 4095, &[1, 2]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "2 bytes at 0xfff are not within the 4096 bytes of host memory of context 2"
    );
    assert!(device.open_area(2, 1).is_err(), "it is taken");
    device.close_area(2);
    assert!(device.read_host(2, 0, &mut bytes).is_err());
    fake.refuse_memory(io::ErrorKind::OutOfMemory);
    let error = device.open_area(2, 1).unwrap_err();
    assert!(
        matches!(&error, DeviceError::NoMemory(why) if why.contains("`ulimit -l`")),
        "{error}"
    );
}

#[test]
fn interrupt_ends_wait_and_is_cleared_first() {
    let (device, fake) = device();
    let nic = ok(Nic::new(device));
    fake.done();
    fake.interrupt(0b1_0010);
    let mut looks = 0;
    ok(nic.wait_until("an event", Duration::from_secs(10), || {
        looks += 1;
        let cleared = fake.done().contains(&Done::Cleared(0b1_0010));
        assert_eq!(cleared, looks == 2);
        Ok(cleared)
    }));
    assert_eq!((looks, fake.waits()), (2, vec![Duration::from_millis(1)]));
}

#[test]
fn waits_scale_with_the_slowdown() {
    let fake = Fake::new();
    let mut device = Vfio::new(fake.clone(), 50);
    let begun = std::time::Instant::now();
    ok(device.wait(Duration::from_micros(200)));
    let (passed, now) = (begun.elapsed(), device.now());
    assert!(passed >= Duration::from_millis(10) && now >= Duration::from_micros(200));
    assert!(now < passed, "{now:?} of {passed:?}");
    fake.interrupt(1);
    assert_eq!(device.wait_event(Duration::from_millis(1)), Ok(1));
    assert_eq!(fake.waits(), [Duration::from_millis(50)]);
}

#[test]
fn removed_function_is_reported_as_gone() {
    let (mut device, fake) = device();
    fake.vanish();
    let error = device.read_register(0x1100).unwrap_err();
    assert!(matches!(error, DeviceError::Gone(_)), "{error}");
    let nic = Nic::new(device).expect_err("nobody is there");
    assert!(nic.to_string().contains("the device is gone"), "{nic}");
}

#[test]
fn distinguishes_reasons_for_a_missing_nic() {
    for (name, message) in [
        ("vfio:eth0", "`eth0` is no place on the PCI bus"),
        (
            "vfio:0000:00:03.0,slower=0",
            "`0000:00:03.0,slower=0` is no place on the PCI bus",
        ),
        (
            "vfio:ffff:ff:1f.7,slower=1000",
            "there is no PCI device ffff:ff:1f.7",
        ),
        ("vfio:ffff:ff:1f.7", "there is no PCI device ffff:ff:1f.7"),
    ] {
        let error = Nic::open(name).expect_err("there is none").to_string();
        assert!(error.contains(message), "{error}");
    }
}

// A PCI function that is none: the register model behind its BAR, and a list of what was done to it.

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
