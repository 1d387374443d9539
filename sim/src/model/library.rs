//! Models that are loaded when a program runs: `spinneret_verilate::build_shared` makes them.

use super::{Instance, ModelError, PortInfo, Table};
use libloading::{Library, Symbol};
use std::path::Path;

impl Instance {
    /// Makes a design out of a library that `spinneret_verilate::build_shared` has built for a model of that name with
    /// these ports. The library stays loaded until the program ends.
    ///
    /// # Errors
    /// If the file is no library, or none for that model.
    pub fn load(
        path: &Path,
        model: &'static str,
        ports: Vec<PortInfo>,
        seed: u64,
    ) -> Result<Self, ModelError> {
        let failed = |error: libloading::Error| ModelError::Library {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let function = format!("spinneret_model_{model}");
        // SAFETY: the library's only code that runs now is what C++ does before main, and Verilator's does nothing but
        // set up its own tables.
        let library = unsafe { Library::new(path) }.map_err(failed)?;
        let library = Box::leak(Box::new(library));
        // SAFETY: `build_shared` exports the function with this signature, under a name that nobody else uses; the table
        // it gives is constant, and the library is never unloaded.
        let table = unsafe {
            let function: Symbol<'static, extern "C" fn() -> &'static Table> =
                library.get(function.as_bytes()).map_err(failed)?;
            function()
        };
        Ok(Self::new(model, table, Box::leak(ports.into_boxed_slice()), seed))
    }
}
