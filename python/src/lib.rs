//! The simulated NIC for Python: the module `spinneret._spinneret`, which the package `spinneret` shows.
//!
//! ```text
//! nic: Nic.run ──► Program: packets from an iterable, frames to a callback ──► spinneret_nic::run::Embedded
//!   └─► Frame, Fault, Result
//! ```
//!
//! `python/spinneret/_spinneret.pyi` and `docs/python.md` describe the interface.

mod nic;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use spinneret_nic::report::FaultKind;
use std::path::PathBuf;

pyo3::create_exception!(
    spinneret,
    Error,
    pyo3::exceptions::PyRuntimeError,
    "An error of the NIC, its handlers or their rules."
);

pyo3::create_exception!(
    spinneret,
    DropWarning,
    pyo3::exceptions::PyRuntimeWarning,
    "Packets for handlers were dropped."
);

/// Sets the folder of the package that contains `runtime/`.
#[pyfunction]
fn set_data(folder: PathBuf) {
    spinneret_nic::installed::set_beside(folder);
}

/// Returns the folder with the headers and the examples.
#[pyfunction]
fn runtime() -> PyResult<PathBuf> {
    spinneret_nic::installed::runtime().map_err(error)
}

/// Converts an error into a Python exception with the same message.
fn error(error: impl Into<anyhow::Error>) -> PyErr {
    Error::new_err(error.into().to_string())
}

#[pymodule]
fn _spinneret(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<Error>())?;
    module.add("DropWarning", module.py().get_type::<DropWarning>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<nic::Session>()?;
    module.add_class::<nic::Nic>()?;
    module.add_class::<Frame>()?;
    module.add_class::<Fault>()?;
    module.add_class::<Result>()?;
    module.add_function(wrap_pyfunction!(set_data, module)?)?;
    module.add_function(wrap_pyfunction!(runtime, module)?)
}

/// A frame that came out of the NIC.
#[derive(Debug)]
#[pyclass(frozen, module = "spinneret")]
pub(crate) struct Frame {
    at_ps: u64,
    bytes: Py<PyBytes>,
    #[pyo3(get)]
    to_host: bool,
}

impl Frame {
    pub(crate) fn new(py: Python<'_>, at_ps: u64, bytes: &[u8], to_host: bool) -> Self {
        let bytes = PyBytes::new(py, bytes).unbind();
        Self {
            at_ps,
            bytes,
            to_host,
        }
    }

    pub(crate) fn is_to_host(&self) -> bool {
        self.to_host
    }
}

#[pymethods]
impl Frame {
    #[getter]
    fn time_ns(&self) -> f64 {
        self.at_ps as f64 / 1000.0
    }

    #[getter]
    fn data(&self, py: Python<'_>) -> Py<PyBytes> {
        self.bytes.clone_ref(py)
    }

    fn __bytes__(&self, py: Python<'_>) -> Py<PyBytes> {
        self.bytes.clone_ref(py)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.bytes.as_bytes(py).len()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let way = match self.to_host {
            true => "to the host",
            false => "to the wire",
        };
        format!(
            "<Frame of {} bytes {way} at {} ns>",
            self.__len__(py),
            self.time_ns()
        )
    }
}

/// Faults of one kind.
#[derive(Clone, Debug)]
#[pyclass(frozen, get_all, module = "spinneret")]
pub(crate) struct Fault {
    handler: String,
    cause: String,
    source: String,
    place: String,
    count: u64,
}

impl From<&FaultKind> for Fault {
    fn from(kind: &FaultKind) -> Self {
        let FaultKind {
            handler,
            cause,
            source,
            place,
            count,
            ..
        } = kind.clone();
        Self {
            handler,
            cause,
            source,
            place,
            count,
        }
    }
}

#[pymethods]
impl Fault {
    fn __repr__(&self) -> String {
        format!("<Fault {self}>")
    }

    fn __str__(&self) -> String {
        self.to_string()
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            handler,
            cause,
            count,
            ..
        } = self;
        write!(f, "{handler}: {cause}, {count} times")?;
        match [&self.source, &self.place]
            .into_iter()
            .find(|place| !place.is_empty())
        {
            Some(place) => write!(f, ", at {place}"),
            None => Ok(()),
        }
    }
}

/// The result of a run.
#[derive(Debug)]
#[pyclass(frozen, get_all, module = "spinneret")]
pub(crate) struct Result {
    /// Packets that entered the NIC.
    pub(crate) packets: usize,
    /// Packets for handlers that the NIC dropped.
    pub(crate) dropped: u64,
    /// Frames to the wire.
    pub(crate) replies: Py<PyAny>,
    /// Packets that matched no rule.
    pub(crate) to_host: Py<PyAny>,
    /// Faults of handlers, the most frequent kind first.
    pub(crate) faults: Py<PyAny>,
    /// Output of the handlers and descriptions of faults.
    pub(crate) messages: String,
    /// The counters of the hardware by name.
    pub(crate) counters: Py<PyAny>,
    /// The output of `spinneret run --json`.
    pub(crate) summary: Py<PyAny>,
}

#[pymethods]
impl Result {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let faults = self.faults.bind(py).try_iter()?;
        let faults = faults.map(|fault| fault?.getattr("count")?.extract::<u64>());
        let counts = [
            (self.replies.bind(py).len()? as u64, "replies"),
            (self.to_host.bind(py).len()? as u64, "to the host"),
            (self.dropped, "dropped"),
            (faults.sum::<PyResult<u64>>()?, "faults"),
        ];
        let counts = counts
            .into_iter()
            .filter(|(count, what)| *count > 0 || *what == "replies");
        let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
        Ok(format!(
            "<Result of {} packets: {}>",
            self.packets,
            counts.join(", ")
        ))
    }
}
