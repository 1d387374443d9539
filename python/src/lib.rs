//! The simulated NIC for Python: the module `spinneret._spinneret`, which the package `spinneret` shows.
//!
//! ```text
//! nic: Nic.run ──► peer: packets from an iterable, frames to a callback ──► spinneret_nic::run::Embedded
//!   └─► result: Frame, Fault, Result
//! ```
//!
//! What users see is described in `python/spinneret/_spinneret.pyi` and `docs/python.md`.

mod nic;
mod peer;
mod result;

use pyo3::prelude::*;
use std::path::PathBuf;

pyo3::create_exception!(
    spinneret,
    Error,
    pyo3::exceptions::PyRuntimeError,
    "What the NIC, its handlers or their rules cannot do, in a sentence."
);

pyo3::create_exception!(
    spinneret,
    DropWarning,
    pyo3::exceptions::PyRuntimeWarning,
    "Packets for handlers were dropped."
);

/// Names the folder with `runtime/` that came with the package.
#[pyfunction]
fn set_data(folder: PathBuf) {
    spinneret_nic::installed::set_beside(folder);
}

/// The folder with the headers and the examples.
#[pyfunction]
fn runtime() -> PyResult<PathBuf> {
    spinneret_nic::installed::runtime().map_err(error)
}

/// What goes wrong becomes an exception with the sentence.
fn error(error: impl Into<anyhow::Error>) -> PyErr {
    Error::new_err(error.into().to_string())
}

#[pymodule]
fn _spinneret(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<Error>())?;
    module.add("DropWarning", module.py().get_type::<DropWarning>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<nic::Nic>()?;
    module.add_class::<result::Frame>()?;
    module.add_class::<result::Fault>()?;
    module.add_class::<result::Result>()?;
    module.add_function(wrap_pyfunction!(set_data, module)?)?;
    module.add_function(wrap_pyfunction!(runtime, module)?)
}
