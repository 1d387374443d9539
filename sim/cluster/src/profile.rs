//! Where the clocks of HPUs go, instruction by instruction.

use crate::hpu::Outcome;
use spinneret_regmap::pspin::{PROGRAM_BASE, PROGRAM_BYTES};

/// Compressed instructions lie at every second byte.
const PARCEL_BYTES: u32 = 2;

/// Clocks and counts of every instruction of program memory, since [`Cluster::enable_profile`].
///
/// An instruction's clocks are those it takes by itself, as [`Timing`](crate::Timing) has them. A handler's instruction that
/// has to wait, for a command, for room or for a copy, has its waiting counted apart. HPUs that wait for work count nothing.
///
/// [`Cluster::enable_profile`]: crate::Cluster::enable_profile
#[derive(Clone, Debug)]
pub struct Profile {
    places: Vec<Spent>,
    /// The instruction in which each HPU waits, and since when.
    waits: Vec<Option<(u32, u64)>>,
}

/// What was spent on one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// How often it was executed, traps included.
    pub times: u64,
    /// Clocks that this took.
    pub clocks: u64,
    /// Clocks that handlers waited in it.
    pub waited: u64,
}

impl Profile {
    pub(crate) fn new(hpus: usize) -> Self {
        Self {
            places: vec![Spent::default(); (PROGRAM_BYTES / PARCEL_BYTES) as usize],
            waits: vec![None; hpus],
        }
    }

    /// Instructions that were executed, by address.
    pub fn spent(&self) -> impl Iterator<Item = (u32, Spent)> + '_ {
        let addresses = (PROGRAM_BASE..).step_by(PARCEL_BYTES as usize);
        let places = addresses.zip(self.places.iter().copied());
        places.filter(|(_, spent)| *spent != Spent::default())
    }

    /// All HPUs were reset.
    pub(crate) fn forget_waits(&mut self) {
        self.waits.fill(None);
    }

    /// An HPU did one step at `pc`, in clock `now`; its next one is in clock `next`.
    pub(crate) fn note(
        &mut self,
        hpu: usize,
        pc: u32,
        [now, next]: [u64; 2],
        outcome: &Outcome,
        waits: bool,
    ) {
        if waits {
            if outcome.in_handler && self.waits[hpu].is_none() {
                self.waits[hpu] = Some((pc, now));
            }
            return;
        }
        if let Some((place, since)) = self.waits[hpu].take()
            && let Some(spent) = self.place(place)
        {
            spent.waited += now - since;
        }
        if let Some(spent) = self.place(pc) {
            spent.times += 1;
            spent.clocks += next - now;
        }
    }

    /// A jump may have led anywhere.
    fn place(&mut self, pc: u32) -> Option<&mut Spent> {
        let number = pc.wrapping_sub(PROGRAM_BASE) / PARCEL_BYTES;
        self.places.get_mut(number as usize)
    }
}
