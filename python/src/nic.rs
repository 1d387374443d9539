//! The NIC.

use crate::peer::{Program, Shared};
use crate::result::{Fault, Result};
use crate::{DropWarning, error};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use spinneret_host::Context;
use spinneret_nic::Simulated;
use spinneret_nic::report::Summary;
use spinneret_nic::run::{Embedded, HardwareArguments, Outcome};
use std::cell::RefCell;
use std::ffi::CString;
use std::path::PathBuf;
use std::rc::Rc;

/// Picoseconds of a clock of 1 MHz.
const PS_OF_MHZ: f64 = 1e6;

/// A simulated NIC with handlers.
#[derive(Debug)]
#[pyclass(unsendable, module = "spinneret")]
pub(crate) struct Nic {
    embedded: Embedded,
}

#[pymethods]
impl Nic {
    #[new]
    #[pyo3(signature = (handlers, rules=None, *, handler=None, clusters=2, hpus=8, cluster_mhz=40.0, core_mhz=250.0,
        host_latency_ns=450, watchdog=1_000_000))]
    #[allow(clippy::too_many_arguments, reason = "Python names them")]
    fn new(
        handlers: PathBuf,
        rules: Option<PathBuf>,
        handler: Option<&str>,
        clusters: u8,
        hpus: u8,
        cluster_mhz: f64,
        core_mhz: f64,
        host_latency_ns: u64,
        watchdog: u64,
    ) -> PyResult<Self> {
        if !(1..=8).contains(&clusters) || !(1..=8).contains(&hpus) || host_latency_ns > 1_000_000 {
            return Err(PyValueError::new_err(
                "a NIC has 1 to 8 clusters of 1 to 8 HPUs, and host_latency_ns is at most 1000000",
            ));
        }
        let hardware = HardwareArguments {
            clusters,
            hpus,
            cluster_ps: period_ps("cluster_mhz", cluster_mhz)?,
            core_ps: period_ps("core_mhz", core_mhz)?,
            host_latency: host_latency_ns,
            watchdog,
            strict_pspin: false,
            no_skip: false,
        };
        let embedded = Embedded::open(&handlers, rules.as_deref(), handler, &hardware);
        Ok(Self {
            embedded: embedded.map_err(error)?,
        })
    }

    /// Runs handlers on packets until all is done.
    #[pyo3(signature = (packets, *, on_frame=None, gbps=None))]
    fn run(
        &mut self,
        py: Python<'_>,
        packets: &Bound<'_, PyAny>,
        on_frame: Option<Py<PyAny>>,
        gbps: Option<f64>,
    ) -> PyResult<Result> {
        let shared = Shared(Rc::new(RefCell::new(Program::new(packets, on_frame, gbps)?)));
        let (source, sinks) = (
            Box::new(shared.clone()),
            [false, true].map(|to_host| shared.sink(to_host)),
        );
        let signals = shared.clone();
        let ran = self.embedded.run(source, sinks, move || signals.goes_on());
        let mut program = shared.0.borrow_mut();
        match (program.exception.take(), ran) {
            (Some(exception), _) => Err(exception),
            (None, Err(failure)) => Err(error(failure)),
            (None, Ok(outcome)) => result(py, &outcome, &mut program),
        }
    }

    /// Simulated time since the NIC was made.
    #[getter]
    fn now_ns(&self) -> f64 {
        self.embedded.nic().borrow().now_ps() as f64 / 1000.0
    }

    /// Reads host memory of a context.
    #[pyo3(signature = (offset, size, *, context=0))]
    fn read_host<'py>(
        &self,
        py: Python<'py>,
        offset: u32,
        size: u32,
        context: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let memory = self.context(context)?.host_memory();
        if offset.checked_add(size).is_none_or(|end| end > memory.len()) {
            return Err(PyIndexError::new_err(format!(
                "{size} bytes from {offset} on: the host memory of context {context} has {}",
                memory.len()
            )));
        }
        PyBytes::new_with(py, size as usize, |bytes| {
            memory.read(offset, bytes).map_err(error)
        })
    }

    /// Writes host memory of a context.
    #[pyo3(signature = (offset, data, *, context=0))]
    fn write_host(&self, offset: u32, data: &[u8], context: usize) -> PyResult<()> {
        let memory = self.context(context)?.host_memory();
        memory.write(offset, data).map_err(error)
    }

    /// A global variable of the handlers: its bytes, or its values in a format of the module `struct`.
    #[pyo3(signature = (name, format=None, *, context=0))]
    fn variable<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        format: Option<&str>,
        context: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let memory = self.context(context)?.variable(name).map_err(error)?;
        let bytes = PyBytes::new_with(py, memory.len() as usize, |bytes| {
            memory.read(0, bytes).map_err(error)
        })?;
        let Some(format) = format else {
            return Ok(bytes.into_any());
        };
        let format = Format::new(py, name, format, memory.len())?;
        let values = format.call("unpack", (&format.text, bytes))?;
        match values.len()? {
            1 => values.get_item(0),
            _ => Ok(values),
        }
    }

    /// Writes a global variable of the handlers.
    #[pyo3(signature = (name, value, format=None, *, context=0))]
    fn set_variable(
        &self,
        py: Python<'_>,
        name: &str,
        value: &Bound<'_, PyAny>,
        format: Option<&str>,
        context: usize,
    ) -> PyResult<()> {
        let memory = self.context(context)?.variable(name).map_err(error)?;
        let Some(format) = format else {
            return memory.write(0, value.extract()?).map_err(error);
        };
        let format = Format::new(py, name, format, memory.len())?;
        let values = match value.cast::<PyTuple>() {
            Ok(values) => values.clone(),
            Err(_) => PyTuple::new(py, [value])?,
        };
        let text = PyTuple::new(py, [&format.text])?;
        let bytes = format.call("pack", text.add(values)?.cast_into::<PyTuple>()?)?;
        memory.write(0, bytes.extract()?).map_err(error)
    }
}

impl Nic {
    fn context(&self, number: usize) -> PyResult<&Context<Simulated>> {
        let contexts = self.embedded.contexts();
        contexts.get(number).ok_or_else(|| {
            PyIndexError::new_err(format!(
                "there is no context {number}: the rules have {} rulesets",
                contexts.len()
            ))
        })
    }
}

/// A variable as the module `struct` sees it.
struct Format<'a, 'py> {
    module: Bound<'py, PyModule>,
    variable: &'a str,
    /// In the order of bytes of the NIC, if it says none itself.
    text: String,
}

impl<'a, 'py> Format<'a, 'py> {
    /// A format of so many bytes.
    fn new(py: Python<'py>, variable: &'a str, format: &str, bytes: u32) -> PyResult<Self> {
        let order = if format.starts_with(['@', '=', '<', '>', '!']) {
            ""
        } else {
            "<"
        };
        let format = Self {
            module: py.import("struct")?,
            variable,
            text: format!("{order}{format}"),
        };
        let taken: u64 = format.call("calcsize", (&format.text,))?.extract()?;
        match taken == u64::from(bytes) {
            true => Ok(format),
            false => Err(PyValueError::new_err(format!(
                "`{variable}` has {bytes} bytes, and the format `{}` takes {taken}",
                format.text
            ))),
        }
    }

    /// Calls a function of the module, whose own error becomes one with the variable's name.
    fn call(&self, function: &str, arguments: impl PyCallArgs<'py>) -> PyResult<Bound<'py, PyAny>> {
        let called = self.module.call_method1(function, arguments);
        called.map_err(|error| {
            let (py, text) = (self.module.py(), &self.text);
            PyValueError::new_err(format!(
                "`{}` in the format `{text}`: {}",
                self.variable,
                error.value(py)
            ))
        })
    }
}

fn period_ps(name: &str, megahertz: f64) -> PyResult<u64> {
    match (1.0..=1000.0).contains(&megahertz) {
        true => Ok((PS_OF_MHZ / megahertz).round() as u64),
        false => Err(PyValueError::new_err(format!(
            "{name} is {megahertz}, and clocks are 1 to 1000 MHz"
        ))),
    }
}

fn result(py: Python<'_>, outcome: &Outcome, program: &mut Program) -> PyResult<Result> {
    let [replies, to_host] = std::mem::take(&mut program.frames);
    let summary = &outcome.summary;
    let faults: Vec<Fault> = summary.faults.iter().map(Fault::from).collect();
    let counters = PyDict::new(py);
    for (name, count) in &summary.counters {
        counters.set_item(name, count)?;
    }
    let json = summary.to_json().map_err(error)?;
    let dropped = summary.drops.values().sum();
    warn_of_drops(py, summary, program.given())?;
    Ok(Result {
        packets: program.given(),
        dropped,
        replies: replies.into_pyobject(py)?.unbind(),
        to_host: to_host.into_pyobject(py)?.unbind(),
        faults: faults.into_pyobject(py)?.unbind(),
        messages: outcome.messages.clone(),
        counters: counters.into_any().unbind(),
        summary: py.import("json")?.call_method1("loads", (json,))?.unbind(),
    })
}

/// Warns if packets were dropped, by cause.
fn warn_of_drops(py: Python<'_>, summary: &Summary, packets: usize) -> PyResult<()> {
    let causes = summary.drops.iter().filter(|(_, count)| **count > 0);
    let causes: Vec<String> = causes.map(|(cause, count)| format!("{cause} {count}")).collect();
    if causes.is_empty() {
        return Ok(());
    }
    let text = format!(
        "{} of {packets} packets were dropped ({}); packets without a time, and without `gbps`, come as fast as the NIC takes them",
        summary.drops.values().sum::<u64>(),
        causes.join(", ")
    );
    let category = py.get_type::<DropWarning>();
    PyErr::warn(py, &category, &CString::new(text)?, 1)
}
