//! The layer in C over the MPI of this machine: compiled once, kept, and loaded.

mod compiler;

use crate::functions::Functions;
use crate::{Error, launched};
use compiler::Compiler;
use compiler::Place;
use libloading::os::unix::{self, RTLD_GLOBAL, RTLD_NOW};
use std::path::{Path, PathBuf};

/// The variable that names the C compiler of the MPI that is to be used: a path, or a name to be looked up in `PATH`.
pub const VARIABLE: &str = "SPINNERET_MPICC";

/// The files of the layer: their names and texts.
const SOURCES: &[(&str, &str)] = &[
    ("spinneret_mpi.h", include_str!("../../shim/spinneret_mpi.h")),
    ("world.c", include_str!("../../shim/world.c")),
    ("messages.c", include_str!("../../shim/messages.c")),
    ("types.c", include_str!("../../shim/types.c")),
    ("contents.c", include_str!("../../shim/contents.c")),
];

/// The MPI of this machine, loaded, and not started yet.
#[derive(Clone, Debug)]
pub struct Library {
    functions: &'static Functions,
    compiler: PathBuf,
}

impl Library {
    /// The MPI that is meant: that of the compiler in [`VARIABLE`]; if it is not set, that of the launcher of this process;
    /// without one, that of `mpicc`.
    ///
    /// It is compiled into `spinneret/mpi/` in the user's cache (`XDG_CACHE_HOME`, or `~/.cache`) unless it is there, which
    /// takes a part of a second. If that folder cannot be written, every process compiles its own.
    ///
    /// # Errors
    /// If there is no MPI, or it is not complete.
    pub fn find() -> Result<Self, Error> {
        let compiler = Compiler::find(launched())?;
        Self::load(&compiler, compiler::of_user().as_deref())
    }

    /// The MPI of a compiler, whatever the environment says, and the folder to keep the layer in.
    ///
    /// # Errors
    /// If it is no MPI's C compiler, or the library of that MPI does not load.
    pub fn with(compiler: &Path, cache: Option<&Path>) -> Result<Self, Error> {
        let compiler = Compiler::named(compiler)?;
        Self::load(&compiler, cache)
    }

    fn load(compiler: &Compiler, cache: Option<&Path>) -> Result<Self, Error> {
        let key = compiler.key(SOURCES);
        let built = cache.and_then(|cache| Place::kept(cache, &key));
        // What was kept may be for a library that has gone since.
        let functions = match built.map(|place| load(place.file())) {
            Some(Ok(functions)) => functions,
            _ => {
                let place = Place::build(cache, &key, |folder, file| {
                    compiler.compile(SOURCES, folder, file)
                })?;
                load(place.file()).map_err(|error| Error::Load {
                    compiler: compiler.path().to_owned(),
                    reason: error.to_string(),
                })?
            }
        };
        // SAFETY: the function has no arguments, and may be called before MPI is started.
        if unsafe { (functions.is_same_library)() } == 0 {
            return Err(Error::OtherLibrary {
                compiler: compiler.path().to_owned(),
            });
        }
        Ok(Self {
            functions,
            compiler: compiler.path().to_owned(),
        })
    }

    /// The compiler it was made with.
    pub fn compiler(&self) -> &Path {
        &self.compiler
    }

    pub(crate) fn functions(&self) -> &'static Functions {
        self.functions
    }
}

/// Loads the layer for the rest of the process: MPI can neither be unloaded nor started twice.
fn load(file: &Path) -> Result<&'static Functions, libloading::Error> {
    // Open MPI's plugins do not name the library whose functions they call, so these have to be visible to all.
    let flags = RTLD_NOW | RTLD_GLOBAL;
    // SAFETY: what runs on loading is what the MPI library does before main, as in any program that is linked with it.
    let library = unsafe { unix::Library::open(Some(file), flags) }?;
    let library = Box::leak(Box::new(library));
    // SAFETY: the file was compiled from `shim/`, by its key, and `library` is leaked.
    let functions = unsafe { Functions::load(library) }?;
    Ok(Box::leak(Box::new(functions)))
}
