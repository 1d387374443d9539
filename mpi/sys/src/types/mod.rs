//! MPI's datatypes: descriptions of where in memory the parts of a message lie.

mod construct;
mod pack;
mod tree;

pub use construct::Named;
pub use construct::{Block, Distributed, Distribution, Field, Order, Part};
pub use tree::{Combiner, Tree};

use crate::session::Session;
use crate::{Error, Mpi};
use std::cell::Cell;
use std::rc::Rc;

/// A datatype. One that was made here is freed when it is dropped; types that were made of it stay as they are.
#[derive(Debug)]
pub struct Datatype {
    session: Rc<Session>,
    raw: u64,
    is_owned: bool,
    is_committed: Cell<bool>,
}

/// Sizes of a datatype, in bytes, as MPI says. They cannot be computed from how a type was made: MPIs round differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// How many bytes a message of one element has.
    pub size: i64,
    /// Where an element begins, relative to its address, with what it was resized to.
    pub lower_bound: i64,
    /// How far an element is from the next; it may be negative.
    pub extent: i64,
    /// Where its first byte lies.
    pub true_lower_bound: i64,
    /// How far its last byte lies behind its first, and one more.
    pub true_extent: i64,
}

impl Mpi {
    /// A type that MPI brings.
    ///
    /// # Errors
    /// If this MPI does not: those of Fortran and some of C are optional.
    pub fn named(&self, named: Named) -> Result<Datatype, Error> {
        let mut raw = 0;
        let name = named.c_name();
        // SAFETY: the name ends with a zero, and the handle has a place.
        let code = unsafe { (self.session.functions.named)(name.as_ptr().cast(), &mut raw) };
        if code != 0 {
            return Err(Error::Argument {
                call: "named",
                reason: format!("this MPI has no {}", named.name()),
            });
        }
        Ok(Datatype::new(&self.session, raw, false, true))
    }

    /// A type that is somebody else's, such as the C program's around this one: the bytes of an `MPI_Datatype`, the lowest
    /// first, and zeros. It is not freed here.
    ///
    /// # Safety
    /// It is the handle of a type in the MPI that this is, and is not freed as long as what is given back is used.
    pub unsafe fn datatype(&self, handle: u64) -> Datatype {
        Datatype::new(&self.session, handle, false, false)
    }
}

impl Datatype {
    fn new(session: &Rc<Session>, raw: u64, is_owned: bool, is_committed: bool) -> Self {
        Self {
            session: Rc::clone(session),
            raw,
            is_owned,
            is_committed: Cell::new(is_committed),
        }
    }

    /// MPI's handle, as it is given to [`Mpi::datatype`]; it is one as long as this lives.
    pub fn handle(&self) -> u64 {
        self.raw
    }

    /// Lets MPI prepare it for messages. A type that is committed already stays so. [`Datatype::pack`] and
    /// [`Datatype::unpack`] do it by themselves.
    ///
    /// # Errors
    /// What MPI refuses.
    pub fn commit(&self) -> Result<(), Error> {
        if !self.is_committed.get() {
            // SAFETY: the handle is alive.
            let code = unsafe { (self.session.functions.commit)(self.raw) };
            self.session.check("MPI_Type_commit", code)?;
            self.is_committed.set(true);
        }
        Ok(())
    }

    /// Its sizes.
    ///
    /// # Errors
    /// What MPI refuses.
    pub fn bounds(&self) -> Result<Bounds, Error> {
        bounds(&self.session, self.raw)
    }
}

fn bounds(session: &Session, raw: u64) -> Result<Bounds, Error> {
    let mut five = [0; 5];
    // SAFETY: the handle is alive, and there is room for five numbers.
    let code = unsafe { (session.functions.bounds)(raw, five.as_mut_ptr()) };
    session.check("MPI_Type_get_extent_x", code)?;
    let [size, lower_bound, extent, true_lower_bound, true_extent] = five;
    Ok(Bounds {
        size,
        lower_bound,
        extent,
        true_lower_bound,
        true_extent,
    })
}

impl Drop for Datatype {
    fn drop(&mut self) {
        if self.is_owned {
            // SAFETY: the handle is alive, and used no more; an error has nobody to go to.
            unsafe { (self.session.functions.type_free)(self.raw) };
        }
    }
}
