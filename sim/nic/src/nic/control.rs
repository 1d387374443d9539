//! What software does to the NIC: accesses to its registers through the BAR.

use super::{Behind, Nic, NicError};
use spinneret_regmap::pspin::HANDLER_BASE;
use spinneret_regmap::{bar, cl};
use spinneret_sim::axil::{LiteRead, LiteWrite, Response};
use std::fmt;

/// Longest that an access takes, in clocks of the slower one of the cluster and the core, which it crosses.
const ACCESS_CLOCKS: u64 = 2500;

/// Why software cannot do what it wants.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The hardware failed.
    #[error(transparent)]
    Nic(#[from] NicError),
    /// An access was answered with an error, or not in time.
    #[error("{action} of {place} was {answer}")]
    Access {
        /// Read or write.
        action: &'static str,
        /// Of what.
        place: Place,
        /// How it was answered.
        answer: &'static str,
    },
    /// There is no control register.
    #[error("there is no control register at {0:#06x}")]
    NoRegister(u32),
    /// The BAR does not reach an address in the cluster.
    #[error("there is no memory of the cluster at {0:#010x} that the BAR reaches")]
    NoMemory(u32),
}

/// What an access is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The control register at this offset.
    Register(u32),
    /// The cluster's memory at this address.
    Cluster(u32),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Register(offset) => write!(f, "register {offset:#06x}"),
            Self::Cluster(address) => write!(f, "the cluster's memory at {address:#010x}"),
        }
    }
}

impl<B: Behind> Nic<B> {
    /// Writes a control register.
    ///
    /// # Errors
    /// If it is not answered as it should.
    pub fn set(&mut self, register: u32, value: u32) -> Result<(), ControlError> {
        let offset = register_in_bar(register)?;
        self.note_write(register, value);
        self.write_bar(offset, value, Place::Register(register))?;
        self.note_written(register, value);
        Ok(())
    }

    /// Software is about to write a control register.
    pub(super) fn note_write(&mut self, register: u32, value: u32) {
        if register == cl::AUX_RESET && value & 1 != 0 {
            self.note_reset();
        }
    }

    /// Software has written a control register.
    pub(super) fn note_written(&mut self, register: u32, value: u32) {
        self.route.written(register, value);
        self.messages.written(register, value);
    }

    /// The address of the handler that a frame is for, if it matches: of payloads, or else of headers or tails.
    pub fn handler_of(&self, frame: &[u8]) -> Option<u32> {
        self.route.of(frame)
    }

    /// Reads a control register.
    ///
    /// # Errors
    /// If it is not answered as it should.
    pub fn get(&mut self, register: u32) -> Result<u32, ControlError> {
        self.read_bar(register_in_bar(register)?, Place::Register(register))
    }

    /// Writes a word of the cluster's memory through the BAR.
    ///
    /// # Errors
    /// If the BAR does not reach it, or it is not answered as it should.
    pub fn write_cluster(&mut self, address: u32, value: u32) -> Result<(), ControlError> {
        let offset = in_bar(address).ok_or(ControlError::NoMemory(address))?;
        self.write_bar(offset, value, Place::Cluster(address))
    }

    /// The same without waiting for the answer, as processors do it: the write is under way when this returns. What comes after it
    /// through the BAR waits for it.
    ///
    /// # Errors
    /// If the BAR does not reach it, or one that was posted before was not answered as it should.
    pub fn post_cluster(&mut self, address: u32, value: u32) -> Result<(), ControlError> {
        let offset = in_bar(address).ok_or(ControlError::NoMemory(address))?;
        self.look_at_posted(Place::Cluster(address))?;
        self.bar.write(LiteWrite::new(offset.into(), value.into()));
        Ok(())
    }

    /// What became of writes that nobody waited for; the newest one was to that place.
    fn look_at_posted(&mut self, place: Place) -> Result<(), ControlError> {
        for done in self.bar.take_writes() {
            check("write", place, Some(done.response))?;
        }
        Ok(())
    }

    /// Reads a word of the cluster's memory through the BAR.
    ///
    /// # Errors
    /// If the BAR does not reach it, or it is not answered as it should.
    pub fn read_cluster(&mut self, address: u32) -> Result<u32, ControlError> {
        let offset = in_bar(address).ok_or(ControlError::NoMemory(address))?;
        self.read_bar(offset, Place::Cluster(address))
    }

    fn write_bar(&mut self, offset: u32, value: u32, place: Place) -> Result<(), ControlError> {
        self.settle()?;
        self.bar.write(LiteWrite::new(offset.into(), value.into()));
        self.wait_for_bar("write", place)?;
        let response = self.bar.take_writes().first().map(|done| done.response);
        check("write", place, response)
    }

    fn read_bar(&mut self, offset: u32, place: Place) -> Result<u32, ControlError> {
        self.settle()?;
        self.bar.read(LiteRead::new(offset.into()));
        self.wait_for_bar("read", place)?;
        let done = self.bar.take_reads().into_iter().next();
        check("read", place, done.as_ref().map(|done| done.response))?;
        Ok(done.map_or(0, |done| done.data as u32))
    }

    /// Waits for writes that were posted.
    fn settle(&mut self) -> Result<(), ControlError> {
        let place = Place::Cluster(HANDLER_BASE);
        self.wait_for_bar("a posted write", place)?;
        self.look_at_posted(place)
    }

    fn wait_for_bar(&mut self, action: &'static str, place: Place) -> Result<(), ControlError> {
        let period_ps = self.config.core_ps.max(self.config.cluster_ps);
        let deadline = self.now_ps() + ACCESS_CLOCKS * period_ps;
        while !self.bar.is_idle() {
            if self.now_ps() > deadline {
                return Err(ControlError::Access {
                    action,
                    place,
                    answer: "not answered",
                });
            }
            self.clock()?;
        }
        Ok(())
    }
}

/// Offset in the BAR of a word among the control registers.
fn register_in_bar(register: u32) -> Result<u32, ControlError> {
    bar::of_control_register(register)
        .filter(|offset| offset.is_multiple_of(4))
        .ok_or(ControlError::NoRegister(register))
}

/// Offset in the BAR of an address in the cluster.
fn in_bar(address: u32) -> Option<u32> {
    bar::WINDOWS.iter().find_map(|window| match window.target {
        bar::Target::Pspin { address: first } => {
            let offset = address.checked_sub(first)?;
            (offset < window.size_bytes).then_some(window.start + offset)
        }
        _ => None,
    })
}

fn check(action: &'static str, place: Place, response: Option<Response>) -> Result<(), ControlError> {
    let answer = match (response, place) {
        (Some(Response::Okay), _) => return Ok(()),
        (Some(Response::ExclusiveOkay), _) => "answered as an exclusive access (EXOKAY), which it is not",
        (Some(Response::SlaveError), Place::Register(_)) => {
            "answered with an error (SLVERR): there is no such register"
        }
        (Some(Response::SlaveError), Place::Cluster(_)) => {
            "answered with an error (SLVERR): the cluster is in reset, or has nothing there"
        }
        (Some(Response::DecodeError), _) => "answered with an error (DECERR): nothing is there",
        (None, _) => "not answered",
    };
    Err(ControlError::Access {
        action,
        place,
        answer,
    })
}
