//! The NIC: opening it, time, counters, and the output of handlers.

use crate::control::Control;
use crate::device::{Address, Device, OpenDevice};
use crate::error::{Error, ErrorKind, In as _};
use crate::options::{Share, Usage};
use crate::share::Limits;
use crate::tenants::{Owner, Tenants};
use spinneret_regmap::{cl, datapath_counters};
use spinneret_rules::Ruleset;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Polling interval.
const LOOK: Duration = Duration::from_micros(20);
/// Polling interval on a NIC with events, for conditions without an event, such as its own memory.
const LOOK_BESIDE_EVENTS: Duration = Duration::from_millis(1);
/// The polling interval grows up to this fraction of the time waited so far.
const PATIENCE: u32 = 16;

/// A NIC, shared by its contexts and memories. Other processes can open it when all of them are dropped; one that `spinneret serve`
/// simulates, at any time.
#[derive(Debug)]
pub struct Nic<D: Device = OpenDevice> {
    state: Arc<Mutex<State<D>>>,
    owner: Owner,
}

impl<D: Device> Clone for Nic<D> {
    fn clone(&self) -> Self {
        Self {
            state: Arc::clone(&self.state),
            owner: self.owner,
        }
    }
}

/// State of the NIC.
#[derive(Debug)]
pub(crate) struct State<D> {
    pub(crate) device: D,
    /// Its programs and contexts; unused if another process manages it.
    pub(crate) tenants: Tenants,
    /// Owners of contexts in this process, other than the first.
    owners: u64,
}

/// Exclusive access to the device of a NIC.
#[derive(Debug)]
pub struct NicGuard<'n, D: Device>(MutexGuard<'n, State<D>>);

impl<D: Device> Deref for NicGuard<'_, D> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.0.device
    }
}

impl<D: Device> DerefMut for NicGuard<'_, D> {
    fn deref_mut(&mut self) -> &mut D {
        &mut self.0.device
    }
}

impl Nic {
    /// Opens a NIC by its name: `unix:PATH` is a simulated one in another process, `vfio:0000:00:03.0` a PCI function that is
    /// bound to `vfio-pci`, `ether:eth0` a board at a network interface, any other path the device file of a card, such as
    /// `/dev/spinneret0`. `card` is the card of this machine: the first that is found with our driver, with FPsPIN's driver, or
    /// bound to `vfio-pci`.
    ///
    /// # Errors
    /// There is no such NIC, or another program uses it.
    pub fn open(name: &str) -> Result<Self, Error> {
        Self::new(OpenDevice::open(name).call("Nic::open")?)
    }
}

impl<D: Device> Nic<D> {
    /// Opens a device, and stops what runs on it. Its contexts are of one program, with its own runtime.
    ///
    /// # Errors
    /// The device is not a spinneret NIC, or does not answer.
    pub fn new(device: D) -> Result<Self, Error> {
        Self::with(device, false).call("Nic::new")
    }

    /// As [`new`](Self::new), but contexts may be of several programs, which are loaded and unloaded while others run. The NIC
    /// runs the resident runtime, if cluster and first program permit it: see `docs/host/library.md`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn shared(device: D) -> Result<Self, Error> {
        Self::with(device, true).call("Nic::shared")
    }

    fn with(mut device: D, is_shared: bool) -> Result<Self, ErrorKind> {
        if device.manager().is_none() {
            Control(&mut device).take()?;
        }
        let tenants = Tenants::new(is_shared, Limits::NONE);
        Ok(Self {
            state: Arc::new(Mutex::new(State {
                device,
                tenants,
                owners: 0,
            })),
            owner: Owner::SELF,
        })
    }

    /// Returns this NIC for another owner of contexts: each loads its programs, so that variables are not shared. On a NIC that
    /// another process has, a process is one owner.
    #[must_use]
    pub fn another_owner(&self) -> Self {
        let mut state = self.lock();
        state.owners += 1;
        Self {
            state: Arc::clone(&self.state),
            owner: Owner(state.owners),
        }
    }

    /// The owner of contexts that this handle opens.
    pub(crate) fn owner(&self) -> Owner {
        self.owner
    }

    /// Sets the packets of a context.
    pub(crate) fn set_ruleset(&self, context: u32, rules: &Ruleset) -> Result<(), ErrorKind> {
        rules.check()?;
        let State { device, tenants, .. } = &mut *self.lock();
        match device.manager() {
            Some(manager) => Ok(manager.set_ruleset(context, rules)?),
            None => tenants.set_ruleset(device, self.owner, context, rules),
        }
    }

    /// Sets the share of a context.
    pub(crate) fn set_share(&self, context: u32, share: Share) -> Result<(), ErrorKind> {
        let State { device, tenants, .. } = &mut *self.lock();
        match device.manager() {
            Some(manager) => Ok(manager.set_share(context, share)?),
            None => tenants.set_share(device, self.owner, context, share),
        }
    }

    /// Reads what a context has used.
    pub(crate) fn usage(&self, context: u32) -> Result<Usage, ErrorKind> {
        let State { device, tenants, .. } = &mut *self.lock();
        match device.manager() {
            Some(manager) => Ok(manager.usage(context)?),
            None => tenants.usage(device, self.owner, context),
        }
    }

    /// Closes a context; the last one leaves the cluster in reset.
    pub(crate) fn close_context(&self, context: u32) -> Result<(), ErrorKind> {
        let State { device, tenants, .. } = &mut *self.lock();
        match device.manager() {
            Some(manager) => Ok(manager.close_context(context)?),
            None => tenants.close(device, self.owner, context),
        }
    }

    /// Reads the counters of the hardware.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn counters(&self) -> Result<Counters, Error> {
        Counters::read(&mut Control(&mut self.lock().device)).call("Nic::counters")
    }

    /// Returns the number of packets that handlers have not finished; `None` if the device does not count them.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn packets_inside(&self) -> Result<Option<u32>, Error> {
        Control(&mut self.lock().device)
            .packets_inside()
            .call("Nic::packets_inside")
    }

    /// Returns the time since the device was opened.
    pub fn now(&self) -> Duration {
        self.lock().device.now()
    }

    /// Waits. On a simulated NIC, packets are handled only while time passes.
    ///
    /// # Errors
    /// The device fails meanwhile.
    pub fn wait(&self, time: Duration) -> Result<(), Error> {
        self.lock().device.wait(time).call("Nic::wait")
    }

    /// Accounts for computation of the program. On a simulated NIC this time passes, and packets are handled meanwhile. On a
    /// card it has passed already, so nothing happens.
    ///
    /// # Errors
    /// The device fails meanwhile.
    pub fn compute(&self, time: Duration) -> Result<(), Error> {
        self.lock().device.compute(time).call("Nic::compute")
    }

    /// Returns the addresses of the NIC in a simulated network, if it is in one.
    pub fn address(&self) -> Option<Address> {
        self.lock().device.address()
    }

    /// Sends an Ethernet frame without its check sequence, as the host. Returns `false` if the queue is full; wait and retry. On a
    /// card, use a socket of the network interface instead.
    ///
    /// # Errors
    /// The NIC is not simulated, or the length of the frame is impossible.
    pub fn transmit(&self, frame: &[u8]) -> Result<bool, Error> {
        self.lock().device.transmit(frame).call("Nic::transmit")
    }

    /// Returns the next frame for the host, which no rule matched, without its check sequence.
    ///
    /// # Errors
    /// The NIC is not simulated.
    pub fn receive(&self) -> Result<Option<Vec<u8>>, Error> {
        self.lock().device.receive().call("Nic::receive")
    }

    /// Waits until a condition holds; `what` names it in the error.
    ///
    /// # Errors
    /// The condition does not hold within the limit, or fails itself.
    pub fn wait_until(
        &self,
        what: &str,
        limit: Duration,
        mut is_so: impl FnMut() -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let begun = self.now();
        while !is_so()? {
            let waited = self.now().saturating_sub(begun);
            if waited >= limit {
                let what = what.to_owned();
                return Err(ErrorKind::TimedOut { what, limit }).call("Nic::wait_until");
            }
            // Back off: a long wait ends a little later, but does not poll the NIC all the time.
            let mut state = self.lock();
            let look = match state.device.has_events() {
                true => LOOK_BESIDE_EVENTS,
                false => LOOK,
            };
            let pause = look.max(waited / PATIENCE).min(limit - waited);
            Control(&mut state.device)
                .wait_event(pause)
                .call("Nic::wait_until")?;
        }
        Ok(())
    }

    /// Locks the device. All other calls on the NIC block until the guard is dropped.
    pub fn device(&self) -> NicGuard<'_, D> {
        NicGuard(self.lock())
    }

    /// Ignores poisoning, because no call leaves an inconsistent state.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State<D>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// The counters of the hardware, and those of handlers.

/// A snapshot of the hardware counters, by the names of the register table: `ingress.dropped_overload`, `ingress.hers`, and
/// so on. They count modulo 2^32.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters(Vec<(String, u32)>);

/// A counter of the handlers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// Sum of the values, modulo 2^32.
    pub sum: u32,
    /// Number of the values.
    pub count: u32,
}

impl Counters {
    /// Reads all counters that the device gives access to.
    pub(crate) fn read<D: Device>(control: &mut Control<'_, D>) -> Result<Self, ErrorKind> {
        let mut counters = Vec::new();
        for word in datapath_counters() {
            if control.0.has_register(word.offset()) {
                counters.push((word.title().to_string(), control.get(word.offset())?));
            }
        }
        Ok(Self(counters))
    }

    /// Returns a counter by its name; `None` if the device does not have it.
    pub fn get(&self, name: &str) -> Option<u32> {
        let found = self.0.iter().find(|(counter, _)| counter == name);
        found.map(|(_, value)| *value)
    }

    /// Returns all counters in the order of their registers.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Returns the differences to an earlier snapshot.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let difference = |(name, value): (&str, u32)| {
            let before = earlier.get(name).unwrap_or(0);
            (name.to_owned(), value.wrapping_sub(before))
        };
        Self(self.iter().map(difference).collect())
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in self.iter().filter(|(_, value)| *value != 0) {
            writeln!(f, "{name:<32} {value:>10}")?;
        }
        Ok(())
    }
}

/// The word of standard output that means "empty".
pub const NOTHING_PRINTED: u32 = u32::MAX;

/// A line that an HPU printed. It is displayed as `[cluster.hpu] line`, without control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The HPU's cluster.
    pub cluster: u32,
    /// The HPU in its cluster.
    pub hpu: u32,
    /// The line without its end.
    pub line: String,
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cluster, hpu, line } = self;
        write!(f, "[{cluster}.{hpu}] {}", harmless(line))
    }
}

/// Escapes control characters, because the output of handlers and file names may contain any. Characters that change the
/// direction of text are escaped as well; tabs and line ends are kept.
pub fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' | '\n' => shown.push(character),
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                shown.extend(character.escape_unicode());
            }
            _ if character.is_control() => shown.extend(character.escape_default()),
            _ => shown.push(character),
        }
    }
    shown
}

/// Assembles the characters of all HPUs into lines.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    open: BTreeMap<(u32, u32), Vec<u8>>,
}

impl Lines {
    /// Maximum length of a line; longer ones are split.
    pub const LONGEST: usize = 4096;

    /// Adds a word of standard output, {cluster, core, character} in its lowest 24 bits. Returns the line that it ends, if any.
    pub fn word(&mut self, word: u32) -> Option<Printed> {
        let [character, hpu, cluster, _] = word.to_le_bytes();
        let hpu = (u32::from(cluster), u32::from(hpu));
        let line = self.open.entry(hpu).or_default();
        if character != b'\n' {
            line.push(character);
            if line.len() < Self::LONGEST {
                return None;
            }
        }
        Some(printed(hpu, &std::mem::take(line)))
    }

    /// Takes the unfinished line of an HPU.
    pub fn rest_of(&mut self, cluster: u32, hpu: u32) -> Option<Printed> {
        let line = self.open.remove(&(cluster, hpu))?;
        (!line.is_empty()).then(|| printed((cluster, hpu), &line))
    }

    /// Takes all unfinished lines.
    pub fn rest(&mut self) -> Vec<Printed> {
        let open = std::mem::take(&mut self.open);
        let begun = open.iter().filter(|(_, line)| !line.is_empty());
        begun.map(|(hpu, line)| printed(*hpu, line)).collect()
    }
}

fn printed((cluster, hpu): (u32, u32), line: &[u8]) -> Printed {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = String::from_utf8_lossy(line).into_owned();
    Printed { cluster, hpu, line }
}

/// Standard output of the handlers of a NIC.
#[derive(Debug)]
pub struct Stdout<D: Device = OpenDevice> {
    nic: Nic<D>,
    lines: Lines,
}

impl<D: Device> Nic<D> {
    /// Returns the standard output of the handlers.
    pub fn stdout(&self) -> Stdout<D> {
        Stdout {
            nic: self.clone(),
            lines: Lines::default(),
        }
    }
}

impl<D: Device> Stdout<D> {
    /// Returns the lines completed since the last call. The hardware buffers some hundred characters; HPUs that print more stall
    /// until they are read.
    ///
    /// # Errors
    /// The NIC does not answer.
    pub fn lines(&mut self) -> Result<Vec<Printed>, Error> {
        let mut lines = Vec::new();
        let mut state = self.nic.lock();
        let mut control = Control(&mut state.device);
        loop {
            match control.get(cl::FIFO.offset).call("Stdout::lines")? {
                NOTHING_PRINTED => return Ok(lines),
                word => lines.extend(self.lines.word(word)),
            }
        }
    }

    /// Takes all unfinished lines.
    pub fn rest(&mut self) -> Vec<Printed> {
        self.lines.rest()
    }
}
