//! Start and end of MPI in this process.

use crate::error::int;
use crate::functions::Functions;
use crate::session::{Session, TEXT_BYTES, check, one_line};
use crate::{Comm, Error, Library, launched};
use std::fmt::Display;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether MPI was started here; it can be once in a process.
static STARTED: AtomicBool = AtomicBool::new(false);

/// MPI, running in this process.
///
/// Clones, communicators and types keep it running; the last that is dropped ends it, and then waits until all ranks have
/// come as far. If that happens because of a panic, all ranks are ended instead, since others may wait for this one; so they
/// are if the process exits before.
#[derive(Clone, Debug)]
pub struct Mpi {
    pub(crate) session: Rc<Session>,
}

/// The version of an MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The first line of the library's own words.
    pub library: String,
    /// Version and subversion of the standard that it follows.
    pub standard: (u32, u32),
}

/// The numbers that an MPI has for ranks and tags that are none. Each MPI has its own: `MPI_ANY_SOURCE` of one is
/// `MPI_PROC_NULL` of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wildcards {
    /// `MPI_ANY_SOURCE`.
    pub any_source: i32,
    /// `MPI_PROC_NULL`.
    pub proc_null: i32,
    /// `MPI_ANY_TAG`.
    pub any_tag: i32,
}

impl Mpi {
    /// Starts MPI, that of [`Library::find`]. All ranks have to call this.
    ///
    /// # Errors
    /// If there is no MPI, it does not belong to the launcher of this process, or it was started before.
    pub fn init() -> Result<Self, Error> {
        Self::init_with(&Library::find()?)
    }

    /// Starts the MPI of a library.
    ///
    /// # Errors
    /// If it does not belong to the launcher of this process, or MPI was started before.
    pub fn init_with(library: &Library) -> Result<Self, Error> {
        if STARTED.swap(true, Ordering::SeqCst) {
            return Err(Error::Again);
        }
        let functions = library.functions();
        let mut is_running = 0;
        // A program around this one may have started it.
        // SAFETY: the argument is a place for a number; this may be called before the start.
        let code = unsafe { (functions.attach)(&mut is_running) };
        if code != 0 || is_running != 0 {
            return Err(Error::Again);
        }
        // SAFETY: MPI was not started before.
        let code = unsafe { (functions.init)() };
        check(functions, "MPI_Init_thread", code)?;
        let mpi = Self::new(functions, true);
        match launched() {
            Some(launcher) if launcher.size > 1 && mpi.world().size() == 1 => Err(Error::Mismatch {
                launcher: launcher.family,
                launched: launcher.size,
                library: mpi.version()?.library,
            }),
            _ => Ok(mpi),
        }
    }

    /// Uses MPI in a program that has started MPI itself, and ends it itself. Only communicators that are made here, by
    /// [`Comm::dup`], return failures as errors. For others, and for types, MPI calls the program's own handler, which
    /// ends the program if it has set none.
    ///
    /// # Safety
    /// This is the thread that may call MPI by what the program has asked for at its start, and all that is made from this
    /// is dropped before the program ends MPI. With Open MPI 4, the program has chosen `none` for
    /// `btl_vader_single_copy_mechanism`, or no message is longer than the area that it is received into: this MPI would write
    /// behind the area. [`Mpi::init`] chooses it.
    ///
    /// # Errors
    /// If MPI does not run, or the program's is another than that of the library.
    pub unsafe fn attach(library: &Library) -> Result<Self, Error> {
        let functions = library.functions();
        let mut is_running = 0;
        // SAFETY: as in `init_with`.
        let code = unsafe { (functions.attach)(&mut is_running) };
        if code != 0 || is_running == 0 {
            return Err(Error::NotRunning);
        }
        Ok(Self::new(functions, false))
    }

    fn new(functions: &'static Functions, is_ours: bool) -> Self {
        let session = Session { functions, is_ours };
        Self {
            session: Rc::new(session),
        }
    }

    /// All ranks.
    pub fn world(&self) -> Comm {
        Comm::predefined(&self.session, self.session.functions.world)
    }

    /// This rank alone.
    pub fn alone(&self) -> Comm {
        Comm::predefined(&self.session, self.session.functions.alone)
    }

    /// A communicator that other code owns, such as the C program around this one: the bytes of an `MPI_Comm`, the
    /// lowest first, and zeros. It is not freed here, and its errors go to its own handler.
    ///
    /// # Safety
    /// It is the handle of a communicator in the MPI that this is, and is not freed as long as the returned value is
    /// used.
    pub unsafe fn comm(&self, handle: u64) -> Comm {
        Comm::foreign(&self.session, handle)
    }

    /// Returns the version of this MPI.
    ///
    /// # Errors
    /// If it does not.
    pub fn version(&self) -> Result<Version, Error> {
        let (mut version, mut subversion) = (0, 0);
        let mut text = vec![0; TEXT_BYTES];
        let capacity = int("the length of a text", text.len())?;
        let functions = self.session.functions;
        // SAFETY: the text has room for as many bytes, and the others are places for numbers.
        let code = unsafe { (functions.version)(text.as_mut_ptr(), capacity, &mut version, &mut subversion) };
        self.session.check("MPI_Get_library_version", code)?;
        Ok(Version {
            library: one_line(text.split(|&byte| byte == b'\n').next().unwrap_or(&text)),
            standard: (
                u32::try_from(version).unwrap_or(0),
                u32::try_from(subversion).unwrap_or(0),
            ),
        })
    }

    /// Returns the wildcards of this MPI: `MPI_ANY_SOURCE`, `MPI_PROC_NULL` and `MPI_ANY_TAG`.
    pub fn wildcards(&self) -> Wildcards {
        let mut three = [0; 3];
        // SAFETY: the argument has room for three numbers. The call cannot fail.
        unsafe { (self.session.functions.wildcards)(three.as_mut_ptr()) };
        let [any_source, proc_null, any_tag] = three;
        Wildcards {
            any_source,
            proc_null,
            any_tag,
        }
    }

    /// Ends all ranks, now. The code is that of the launcher if it can pass it on; 0 would look like success and becomes 1.
    pub fn abort(&self, code: i32) -> ! {
        self.session.abort(code)
    }

    /// The value, or the end of all ranks with the error in a sentence. A rank that only returned its error would wait at its
    /// end for the others, which wait for it.
    pub fn or_abort<T, E: Display>(&self, result: Result<T, E>) -> T {
        match result {
            Ok(value) => value,
            Err(error) => {
                self.session.complain(&error);
                self.abort(1)
            }
        }
    }
}
