//! Start and end of MPI in this process, and its launcher.

use crate::error::int;
use crate::functions::Functions;
use crate::{Class, Comm, Error, Library};
use std::fmt::{self, Display};
use std::io::Write as _;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, process, thread};

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

/// The numbers that an MPI has for ranks and tags that are none: each has its own, and what is any source in one of them is
/// nobody in another.
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

    /// Uses MPI in a program that has started it, and ends it, by itself. What fails is returned as an error only for
    /// communicators that are made here, by [`Comm::dup`]; for others, and for types, the program's own
    /// handler is asked, which ends the program if it has set none.
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

    /// A communicator that is somebody else's, such as the C program's around this one: the bytes of an `MPI_Comm`, the lowest
    /// first, and zeros. It is not freed here, and its errors go to its own handler.
    ///
    /// # Safety
    /// It is the handle of a communicator in the MPI that this is, and is not freed as long as what is given back is used.
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

/// Bytes for what MPI says of itself and of errors; longer texts are cut.
pub(crate) const TEXT_BYTES: usize = 8192;

/// MPI between start and end.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) functions: &'static Functions,
    /// Whether it was started here, and has to be ended here.
    pub(crate) is_ours: bool,
}

impl Session {
    /// Converts MPI's code of a call to a result.
    pub(crate) fn check(&self, call: &'static str, code: i32) -> Result<(), Error> {
        check(self.functions, call, code)
    }

    pub(crate) fn complain(&self, why: &dyn Display) {
        let (mut rank, mut size, mut world) = (-1, -1, 0);
        let functions = self.functions;
        // SAFETY: MPI runs, and the arguments are places for numbers.
        unsafe {
            (functions.world)(&mut world);
            (functions.rank)(world, &mut rank);
            (functions.size)(world, &mut size);
        }
        // In one piece, because other ranks write as well.
        let text = format!("spinneret: rank {rank} of {size}: {why}; all ranks are ended\n");
        let _ = std::io::stderr().write_all(text.as_bytes());
        // MPICH's launcher throws away what it has not read when it learns of the end.
        thread::sleep(Duration::from_millis(200));
    }

    /// For values that cannot be given up in order while a panic unwinds.
    pub(crate) fn abort_by_panic(&self) -> ! {
        self.complain(&"it panicked");
        // The code of a Rust program that panics.
        self.abort(101)
    }

    pub(crate) fn abort(&self, code: i32) -> ! {
        let code = if code == 0 { 1 } else { code };
        // SAFETY: MPI runs.
        unsafe { (self.functions.abort)(code) };
        // MPI may return if it cannot end the others.
        process::exit(code)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if thread::panicking() && self.is_ours {
            self.abort_by_panic();
        }
        if self.is_ours {
            // SAFETY: MPI runs, and this is the last that could use it. An error has nobody to go to.
            unsafe { (self.functions.finalize)() };
        }
    }
}

/// Converts MPI's code of a call to a result, before there is a session.
pub(crate) fn check(functions: &Functions, call: &'static str, code: i32) -> Result<(), Error> {
    if code == 0 {
        return Ok(());
    }
    let mut class = 0;
    let mut text = vec![0; TEXT_BYTES];
    // SAFETY: the text has room for as many bytes, and the class is a place for a number.
    unsafe { (functions.error)(code, &mut class, text.as_mut_ptr(), TEXT_BYTES as i32) };
    Err(Error::Call {
        call,
        class: Class::from_number(class),
        text: one_line(&text),
    })
}

/// The words of a C string, without the ends of its lines.
pub(crate) fn one_line(text: &[u8]) -> String {
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let text = String::from_utf8_lossy(&text[..end]);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The launcher of this process, one of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The kind of launcher, which says which MPI is meant.
    pub family: Family,
    /// The number of this process, from 0.
    pub rank: usize,
    /// How many processes there are.
    pub size: usize,
}

/// Kinds of launchers, by what they write into the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Open MPI's `mpirun`.
    OpenMpi,
    /// Hydra, the `mpirun` of MPICH, and others that speak its protocol, such as those of Intel MPI and MVAPICH.
    Pmi,
}

impl Display for Family {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::OpenMpi => "Open MPI",
            Self::Pmi => "MPICH",
        })
    }
}

/// Whether `mpirun` started this process, and as which of how many. MPI is not asked: this costs nothing, and can be called
/// before MPI is started, or without any MPI.
pub fn launched() -> Option<Launcher> {
    launched_by(&|name| env::var(name).ok())
}

fn launched_by(variable: &dyn Fn(&str) -> Option<String>) -> Option<Launcher> {
    let number = |name: &str| variable(name)?.parse::<usize>().ok();
    let of = |family, rank: &str, size: &str| {
        let (rank, size) = (number(rank)?, number(size)?);
        (rank < size).then_some(Launcher { family, rank, size })
    };
    of(Family::OpenMpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
        .or_else(|| of(Family::Pmi, "PMI_RANK", "PMI_SIZE"))
}

#[cfg(test)]
mod tests {
    use super::{Family, Launcher, launched_by};

    fn with(variables: &[(&str, &str)]) -> Option<Launcher> {
        launched_by(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn knows_both_launchers() {
        let of = |family| {
            Some(Launcher {
                family,
                rank: 1,
                size: 4,
            })
        };
        let open = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "4")];
        assert_eq!(with(&open), of(Family::OpenMpi));
        assert_eq!(with(&[("PMI_RANK", "1"), ("PMI_SIZE", "4")]), of(Family::Pmi));
    }

    #[test]
    fn ignores_invalid_launcher_variables() {
        for variables in [
            &[][..],
            &[("PMI_RANK", "1")],
            &[("PMI_RANK", "4"), ("PMI_SIZE", "4")],
            &[("PMI_RANK", "-1"), ("PMI_SIZE", "4")],
            &[("OMPI_COMM_WORLD_RANK", "one"), ("OMPI_COMM_WORLD_SIZE", "2")],
        ] {
            assert_eq!(with(variables), None, "{variables:?}");
        }
    }
}
