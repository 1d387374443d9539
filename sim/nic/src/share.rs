//! One thing in several hands, all of one thread.

use std::cell::{Ref, RefCell, RefMut};
use std::rc::Rc;

/// Something that agents of a simulation and who runs it share.
#[derive(Debug)]
pub(crate) struct Share<T>(Rc<RefCell<T>>);

impl<T> Share<T> {
    /// Puts it into the first pair of hands.
    pub(crate) fn new(inner: T) -> Self {
        Self(Rc::new(RefCell::new(inner)))
    }

    /// Out of the last pair of hands, or back into this one.
    pub(crate) fn into_inner(self) -> Result<T, Self> {
        Rc::try_unwrap(self.0).map(RefCell::into_inner).map_err(Self)
    }

    /// To look at it.
    pub(crate) fn borrow(&self) -> Ref<'_, T> {
        self.0.borrow()
    }

    /// To change it.
    pub(crate) fn borrow_mut(&self) -> RefMut<'_, T> {
        self.0.borrow_mut()
    }
}

impl<T> Clone for Share<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}
