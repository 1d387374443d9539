//! One HPU: a hart with its driver.

use crate::driver::Driver;
use crate::fetch::Fetch;
use crate::protect::Protection;
use crate::rv::{CsrSet, Hart, Privilege, Step, Trap};
use crate::timing::Timing;
use crate::view::{Effect, View, World};

/// Cause of a trap when a handler takes too long.
pub const WATCHDOG: u32 = 24;
/// Cause of a trap when a handler ends its program.
pub const TERMINATED: u32 = 25;
/// Cause of a trap when a handler waits for an address that answers nobody: the hardware would wait for ever.
pub const SILENCE: u32 = 26;
/// Cause of a refusal: the command has no type, names memory where none is, or asks for host memory outside of any task.
pub const REFUSED_COMMAND: u32 = 27;
/// Cause of a refusal: the NIC sends no packets of so many bytes.
pub const REFUSED_LENGTH: u32 = 28;
/// Cause of a refusal: an access to host memory was answered with an error; the address is its lower half.
pub const REFUSED_HOST: u32 = 29;

/// An HPU.
#[derive(Clone, Debug)]
pub(crate) struct Hpu {
    pub(crate) hart: Hart,
    pub(crate) driver: Driver,
    pub(crate) protection: Protection,
    /// When its next instruction begins.
    pub(crate) at: u64,
    /// The instruction waits for something outside.
    pub(crate) sleeps: bool,
    /// It does nothing any more.
    pub(crate) is_dead: bool,
    /// Why and where it has trapped outside of any handler.
    pub(crate) outside: Vec<(Trap, u32)>,
    /// Clocks in which a handler ran.
    pub(crate) busy: u64,
    /// The address that it waits for, and that answers nobody.
    pub(crate) silent: Option<u32>,
    fetch: Fetch,
    is_strict: bool,
}

/// What an instruction led to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) effect: Effect,
    /// Where.
    pub(crate) pc: u32,
    /// It trapped: why, where, and the address or bits that it is about.
    pub(crate) trap: Option<(Trap, u32, u32)>,
    /// The trap was in a handler, not in the runtime.
    pub(crate) in_handler: bool,
}

/// Numbers of harts in a cluster, as `mhartid` has them.
const HARTS_OF_A_CLUSTER: u32 = 32;

impl Hpu {
    pub(crate) fn new(cluster: usize, core: usize, entry: u32, is_strict: bool) -> Self {
        Self {
            hart: Hart::new(cluster as u32 * HARTS_OF_A_CLUSTER + core as u32, entry)
                .with_csrs(CsrSet::Public),
            driver: Driver::new(cluster, core, is_strict),
            protection: Protection::default(),
            at: 0,
            sleeps: false,
            is_dead: false,
            outside: Vec::new(),
            busy: 0,
            silent: None,
            fetch: Fetch::default(),
            is_strict,
        }
    }

    /// One instruction.
    #[inline]
    pub(crate) fn step(&mut self, world: &mut World, timing: &Timing, now: u64) -> Outcome {
        let mut view = View {
            world,
            timing,
            driver: &mut self.driver,
            protection: &self.protection,
            now,
            is_strict: self.is_strict,
            effect: Effect::default(),
        };
        let in_handler = self.hart.privilege() == Privilege::User;
        let pc = self.hart.pc();
        let step = self.hart.step(&mut view, &timing.costs, now);
        let effect = view.effect;
        self.silent = effect.silent;
        let mut outcome = Outcome {
            effect,
            pc,
            trap: None,
            in_handler,
        };
        match step {
            Step::Retired { clocks } => {
                let cache = &mut world.icaches[self.driver.cluster];
                let wait = self.fetch.wait(pc, now, cache, timing);
                self.at = now + u64::from(clocks.max(1) + wait);
            }
            Step::Waits => {
                self.at = now + 1;
                self.sleeps = true;
            }
            Step::Trapped {
                trap,
                pc,
                value,
                clocks,
            } => {
                self.at = now + u64::from(clocks.max(1));
                outcome.trap = Some((trap, pc, effect.named.map_or(value, |(address, _)| address)));
            }
        }
        outcome
    }

    /// The runtime handles the end of a handler.
    pub(crate) fn in_runtime(&self) -> bool {
        self.hart.privilege() == Privilege::Machine
    }
}
