//! The NIC.

use crate::error;
use crate::peer::Program;
use crate::result::{Fault, Result};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use spinneret_host::Context;
use spinneret_nic::Simulated;
use spinneret_nic::run::{Embedded, HardwareArguments, Outcome};
use std::cell::RefCell;
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
    #[pyo3(signature = (packets, *, on_frame=None))]
    fn run(
        &mut self,
        py: Python<'_>,
        packets: &Bound<'_, PyAny>,
        on_frame: Option<Py<PyAny>>,
    ) -> PyResult<Result> {
        let program = Rc::new(RefCell::new(Program::new(packets, on_frame)?));
        let ran = self.embedded.run(Rc::clone(&program) as _);
        let mut program = program.borrow_mut();
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

    /// The bytes of a global variable of the handlers.
    #[pyo3(signature = (name, *, context=0))]
    fn variable<'py>(&self, py: Python<'py>, name: &str, context: usize) -> PyResult<Bound<'py, PyBytes>> {
        let memory = self.context(context)?.variable(name).map_err(error)?;
        PyBytes::new_with(py, memory.len() as usize, |bytes| {
            memory.read(0, bytes).map_err(error)
        })
    }

    /// Writes a global variable of the handlers.
    #[pyo3(signature = (name, data, *, context=0))]
    fn set_variable(&self, name: &str, data: &[u8], context: usize) -> PyResult<()> {
        let memory = self.context(context)?.variable(name).map_err(error)?;
        memory.write(0, data).map_err(error)
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
    Ok(Result {
        replies: replies.into_pyobject(py)?.unbind(),
        to_host: to_host.into_pyobject(py)?.unbind(),
        faults: faults.into_pyobject(py)?.unbind(),
        messages: outcome.messages.clone(),
        counters: counters.into_any().unbind(),
        summary: py.import("json")?.call_method1("loads", (json,))?.unbind(),
    })
}
