//! Ranks that speak to one another.

mod collective;
mod memory;
mod messages;
mod request;

pub use collective::{Number, Reduction};
pub use memory::Shared;
pub use messages::Status;
pub use request::Request;

use crate::Error;
use crate::session::Session;
use std::rc::Rc;
use std::thread;

/// Ranks with messages of their own. One that was made by [`Comm::dup`] or [`Comm::split`] is freed when it is dropped, which
/// all its ranks have to do in the same order.
#[derive(Debug)]
pub struct Comm {
    pub(crate) session: Rc<Session>,
    pub(crate) raw: u64,
    rank: usize,
    size: usize,
    is_owned: bool,
}

impl Comm {
    pub(crate) fn predefined(session: &Rc<Session>, handle: unsafe extern "C" fn(*mut u64) -> i32) -> Self {
        let mut raw = 0;
        // SAFETY: the argument is a place for the handle.
        unsafe { handle(&mut raw) };
        Self::new(session, raw, false)
    }

    pub(crate) fn foreign(session: &Rc<Session>, raw: u64) -> Self {
        Self::new(session, raw, false)
    }

    fn new(session: &Rc<Session>, raw: u64, is_owned: bool) -> Self {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the handle is a communicator's, and the others are places for numbers; the calls only fail for handles that
        // are none.
        unsafe {
            (session.functions.rank)(raw, &mut rank);
            (session.functions.size)(raw, &mut size);
        }
        Self {
            session: Rc::clone(session),
            raw,
            rank: usize::try_from(rank).unwrap_or(0),
            size: usize::try_from(size).unwrap_or(1).max(1),
            is_owned,
        }
    }

    /// This process among them, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many they are, at least 1.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Which rank of `MPI_COMM_WORLD` each of its ranks is. No other rank takes part.
    ///
    /// # Errors
    /// If one of them is none, because it was started later, or MPI refuses.
    pub fn world_ranks(&self) -> Result<Vec<usize>, Error> {
        const CALL: &str = "MPI_Group_translate_ranks";
        let mut ranks = vec![-1; self.size];
        // SAFETY: the handle is alive, and there is a number for each rank.
        let code = unsafe { (self.session.functions.world_ranks)(self.raw, ranks.as_mut_ptr()) };
        self.session.check(CALL, code)?;
        let number = |rank: i32| {
            usize::try_from(rank).map_err(|_| Error::Argument {
                call: CALL,
                reason: "a rank of the communicator is none of MPI_COMM_WORLD".to_owned(),
            })
        };
        ranks.into_iter().map(number).collect()
    }

    /// The same ranks, with messages of their own. All of them have to call this.
    ///
    /// # Errors
    /// What MPI refuses.
    pub fn dup(&self) -> Result<Self, Error> {
        let mut raw = 0;
        // SAFETY: the handle is alive, and the copy has a place.
        let code = unsafe { (self.session.functions.dup)(self.raw, &mut raw) };
        self.session.check("MPI_Comm_dup", code)?;
        Ok(Self::new(&self.session, raw, true))
    }

    /// The ranks that give the same colour, in the order of their keys, and of their ranks here if keys are equal; nothing for
    /// those that give none. All of them have to call this.
    ///
    /// # Errors
    /// If the colour does not fit into 31 bits, or MPI refuses.
    pub fn split(&self, color: Option<u32>, key: i32) -> Result<Option<Self>, Error> {
        let color = match color {
            Some(color) => crate::error::int("a colour", color as usize)?,
            None => -1,
        };
        let mut raw = 0;
        // SAFETY: the handle is alive, and the part has a place.
        let code = unsafe { (self.session.functions.split)(self.raw, color, key, &mut raw) };
        self.session.check("MPI_Comm_split", code)?;
        Ok((raw != 0).then(|| Self::new(&self.session, raw, true)))
    }
}

impl Drop for Comm {
    fn drop(&mut self) {
        // Freeing waits for the others in some MPIs, and a panic ends them.
        if self.is_owned && !thread::panicking() {
            // SAFETY: the handle is alive, and used no more; an error has nobody to go to.
            unsafe { (self.session.functions.comm_free)(self.raw) };
        }
    }
}
