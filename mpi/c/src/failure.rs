//! Errors, as numbers of the host library's header and two more.

use spinneret::border::{
    Failure, SPINNERET_ERROR_ARGUMENT, SPINNERET_ERROR_GONE, SPINNERET_ERROR_NO_ROOM, SPINNERET_ERROR_OPEN,
    SPINNERET_ERROR_TIMEOUT,
};
use spinneret_mpi::library::Error;
use std::ffi::c_int;

/// A message was longer than its receive; nothing of it was written.
pub const SPINNERET_ERROR_TRUNCATED: c_int = -9;
/// MPI refused something.
pub const SPINNERET_ERROR_MPI: c_int = -10;

/// What went wrong in a call, for `?`.
pub(crate) struct Failed(pub(crate) Failure);

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        let code = match error {
            Error::Nic(error) => return Self(error.into()),
            Error::Open(_) | Error::OtherWithoutNic(_) | Error::NoAddress | Error::TooManyClusters(_) => {
                SPINNERET_ERROR_OPEN
            }
            Error::NoRoom { .. } => SPINNERET_ERROR_NO_ROOM,
            Error::TimedOut { .. } | Error::NotGranted { .. } => SPINNERET_ERROR_TIMEOUT,
            Error::NotDelivered { .. } => SPINNERET_ERROR_GONE,
            Error::Truncated { .. } => SPINNERET_ERROR_TRUNCATED,
            Error::Mpi(_) => SPINNERET_ERROR_MPI,
            _ => SPINNERET_ERROR_ARGUMENT,
        };
        Self(Failure::new(code, error.to_string()))
    }
}

impl From<spinneret_mpi_sys::Error> for Failed {
    fn from(error: spinneret_mpi_sys::Error) -> Self {
        Error::Mpi(error).into()
    }
}

impl From<spinneret_mpi::LayoutError> for Failed {
    fn from(error: spinneret_mpi::LayoutError) -> Self {
        Self(Failure::argument(error.to_string()))
    }
}
