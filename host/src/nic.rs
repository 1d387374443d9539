//! The NIC as an application has it.

use crate::control::{Control, Memories};
use crate::device::{Address, Device, OpenDevice};
use crate::error::{Error, ErrorKind, In as _};
use spinneret_program::Program;
use spinneret_regmap::{CONTEXTS, cl, datapath_counters};
use spinneret_rules::Ruleset;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Between two looks at what is waited for.
const LOOK: Duration = Duration::from_micros(20);
/// The same on a NIC that tells when something has happened: what it tells nothing of, such as its own memory, is looked at
/// that seldom.
const LOOK_BESIDE_EVENTS: Duration = Duration::from_millis(1);
/// The part of the time waited so far that passes between two looks at most.
const PATIENCE: u32 = 16;

/// A NIC, shared by its contexts and memories. It is free for others when all of them are dropped.
#[derive(Debug)]
pub struct Nic<D: Device = OpenDevice> {
    state: Arc<Mutex<State<D>>>,
}

impl<D: Device> Clone for Nic<D> {
    fn clone(&self) -> Self {
        Self {
            state: Arc::clone(&self.state),
        }
    }
}

/// What is on the NIC.
#[derive(Debug)]
pub(crate) struct State<D> {
    pub(crate) device: D,
    program: Option<Program>,
    pub(crate) contexts: [Option<Memories>; CONTEXTS as usize],
}

/// The device of a NIC, while nobody else uses it.
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
    /// Opens a NIC by its name: `unix:PATH` is a simulated one in another process, `vfio:0000:00:03.0` a function of the PCI bus
    /// that is bound to `vfio-pci`, any other path the device file of a card, such as `/dev/spinneret0`, and `card` the one of this
    /// machine: with our driver, with the public one, or bound to `vfio-pci`, whichever of these comes first.
    ///
    /// # Errors
    /// If there is none, or somebody else has it.
    pub fn open(name: &str) -> Result<Self, Error> {
        Self::new(OpenDevice::open(name).call("Nic::open")?)
    }
}

impl<D: Device> Nic<D> {
    /// Takes a device. Whatever was on it is stopped.
    ///
    /// # Errors
    /// If it is no spinneret, or does not answer.
    pub fn new(mut device: D) -> Result<Self, Error> {
        Control(&mut device).take().call("Nic::new")?;
        Ok(Self {
            state: Arc::new(Mutex::new(State {
                device,
                program: None,
                contexts: [None; CONTEXTS as usize],
            })),
        })
    }

    /// Which packets go to a context from now on.
    pub(crate) fn set_ruleset(&self, context: u32, rules: &Ruleset) -> Result<(), ErrorKind> {
        rules.check()?;
        Control(&mut self.lock().device).change_ruleset(context, Some(rules))
    }

    /// Takes a context away; the last one leaves the cluster in reset.
    pub(crate) fn close_context(&self, context: u32) -> Result<(), ErrorKind> {
        let mut state = self.lock();
        let closed = Control(&mut state.device).close(context);
        state.contexts[context as usize] = None;
        state.device.close_area(context);
        if state.contexts.iter().all(Option::is_none) {
            state.program = None;
            Control(&mut state.device).stop()?;
        }
        closed
    }

    /// The counters of the hardware.
    ///
    /// # Errors
    /// If a register does not answer.
    pub fn counters(&self) -> Result<Counters, Error> {
        Counters::read(&mut Control(&mut self.lock().device)).call("Nic::counters")
    }

    /// Packets that are on the NIC because handlers are not done with them; `None` on devices that do not tell.
    ///
    /// # Errors
    /// If a register does not answer.
    pub fn packets_inside(&self) -> Result<Option<u32>, Error> {
        Control(&mut self.lock().device)
            .packets_inside()
            .call("Nic::packets_inside")
    }

    /// Time since the device was opened.
    pub fn now(&self) -> Duration {
        self.lock().device.now()
    }

    /// Lets so much time pass; on a simulated NIC, packets are handled only while time passes.
    ///
    /// # Errors
    /// If the device fails meanwhile.
    pub fn wait(&self, time: Duration) -> Result<(), Error> {
        self.lock().device.wait(time).call("Nic::wait")
    }

    /// Says that the program has computed for so long. On a simulated NIC that much time passes, and packets are handled
    /// meanwhile; on a card it has passed already, and nothing is done.
    ///
    /// # Errors
    /// If the device fails meanwhile.
    pub fn compute(&self, time: Duration) -> Result<(), Error> {
        self.lock().device.compute(time).call("Nic::compute")
    }

    /// Addresses of the NIC in the network that it is part of, if it is in one that is simulated.
    pub fn address(&self) -> Option<Address> {
        self.lock().device.address()
    }

    /// Sends an Ethernet frame without its check sequence, as the host. Gives `false` if there is no room for it before time
    /// passes. On a card this is what a socket of the network interface does.
    ///
    /// # Errors
    /// If the NIC is not a simulated one, or the frame is none.
    pub fn transmit(&self, frame: &[u8]) -> Result<bool, Error> {
        self.lock().device.transmit(frame).call("Nic::transmit")
    }

    /// The next frame that came to the host because no rule matched it, without its check sequence.
    ///
    /// # Errors
    /// If the NIC is not a simulated one.
    pub fn receive(&self) -> Result<Option<Vec<u8>>, Error> {
        self.lock().device.receive().call("Nic::receive")
    }

    /// Lets time pass until something is so; `what` is for the message if it is not within the limit.
    ///
    /// # Errors
    /// If it is not so in time, or the question fails.
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
            // Who waits for long is found out a little later, and the NIC is not asked all the time.
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

    /// The device itself. Nothing else of the NIC can be used while it is held.
    pub fn device(&self) -> NicGuard<'_, D> {
        NicGuard(self.lock())
    }

    /// Nothing here leaves a state that others could not go on with, so a panic elsewhere is no reason to stop.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State<D>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: Device> State<D> {
    /// Starts a program, if it is not the one that runs.
    pub(crate) fn run(&mut self, program: &Program) -> Result<(), ErrorKind> {
        match &self.program {
            Some(running) if running.segments == program.segments => Ok(()),
            Some(running) => Err(ErrorKind::OtherProgram {
                running: running.path().display().to_string(),
                wanted: program.path().display().to_string(),
            }),
            None => {
                Control(&mut self.device).start(program)?;
                self.program = Some(program.clone());
                Ok(())
            }
        }
    }
}

// The counters of the hardware, and those of handlers.

/// The counters of the hardware at one time, by the names of the register table: `ingress.overload`,
/// `ingress.hers[0]`, and so on. They count modulo 2^32.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters(Vec<(String, u32)>);

/// What handlers have counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// The sum of what was counted, modulo 2^32.
    pub sum: u32,
    /// How often.
    pub count: u32,
}

impl Counters {
    /// Reads all that the device gives access to.
    pub(crate) fn read<D: Device>(control: &mut Control<'_, D>) -> Result<Self, ErrorKind> {
        let mut counters = Vec::new();
        for word in datapath_counters() {
            if control.0.has_register(word.offset()) {
                counters.push((word.title().to_string(), control.get(word.offset())?));
            }
        }
        Ok(Self(counters))
    }

    /// A counter by its name; `None` if there is no such counter on this device.
    pub fn get(&self, name: &str) -> Option<u32> {
        let found = self.0.iter().find(|(counter, _)| counter == name);
        found.map(|(_, value)| *value)
    }

    /// All of them in the order of their registers.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// What has been counted since an earlier time.
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

/// The word that says that there is nothing.
pub const NOTHING_PRINTED: u32 = u32::MAX;

/// A line of an HPU, which is shown as `[cluster.hpu] line`, without characters that a terminal obeys.
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

/// A text without characters that a terminal obeys: what handlers print and names of files may hold any. They are shown as
/// Rust writes them, and so are those that turn the direction of text round. Tabs and ends of lines stay.
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

/// Joins the characters of all HPUs to lines, each of one HPU.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    open: BTreeMap<(u32, u32), Vec<u8>>,
}

impl Lines {
    /// Characters after which a line is broken.
    pub const LONGEST: usize = 4096;

    /// Takes a word of standard output, {cluster, core, character} in its lowest 24 bits: the line that it ends, if it ends
    /// one.
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

    /// The line that an HPU has begun and not ended.
    pub fn rest_of(&mut self, cluster: u32, hpu: u32) -> Option<Printed> {
        let line = self.open.remove(&(cluster, hpu))?;
        (!line.is_empty()).then(|| printed((cluster, hpu), &line))
    }

    /// The lines that were begun and have no end.
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

/// What handlers of a NIC print.
#[derive(Debug)]
pub struct Stdout<D: Device = OpenDevice> {
    nic: Nic<D>,
    lines: Lines,
}

impl<D: Device> Nic<D> {
    /// What handlers print.
    pub fn stdout(&self) -> Stdout<D> {
        Stdout {
            nic: self.clone(),
            lines: Lines::default(),
        }
    }
}

impl<D: Device> Stdout<D> {
    /// The lines that have been completed since the last call. The hardware holds some hundred characters: HPUs that print
    /// more wait until they are read.
    ///
    /// # Errors
    /// If the NIC does not answer.
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

    /// What has been printed without the end of a line.
    pub fn rest(&mut self) -> Vec<Printed> {
        self.lines.rest()
    }
}
