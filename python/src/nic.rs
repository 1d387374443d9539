//! The classes `Nic` and `Session`, and the Python program as the source and the sink of packets.

use crate::{DropWarning, Fault, Frame, error};
use pyo3::PyClassInitializer;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyIterator, PyMemoryView, PyTuple};
use spinneret_host::{Context, Share, Usage};
use spinneret_nic::Simulated;
use spinneret_nic::net::generator::{MAX_SIZE_BYTES, WIRE_OVERHEAD_BYTES};
use spinneret_nic::net::{MIN_FRAME_BYTES, NetError, Next, Sink, Source};
use spinneret_nic::nic::Backend;
use spinneret_nic::report::Summary;
use spinneret_nic::run::{Embedded, HandlerFiles, HardwareArguments, Outcome};
use std::cell::RefCell;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Picoseconds of a clock of 1 MHz.
const PS_OF_MHZ: f64 = 1e6;

/// Handlers of an owner on a NIC: their contexts, by ruleset.
#[derive(Debug, Default)]
#[pyclass(unsendable, subclass, module = "spinneret")]
pub(crate) struct Session {
    contexts: Vec<Context<Simulated>>,
}

/// A simulated NIC, and the session of its own handlers.
#[derive(Debug)]
#[pyclass(unsendable, extends = Session, module = "spinneret")]
pub(crate) struct Nic {
    embedded: Embedded,
}

#[pymethods]
impl Nic {
    #[new]
    #[pyo3(signature = (handlers=None, rules=None, *, handler=None, cluster="model", clusters=2, hpus=8, cluster_mhz=None,
        core_mhz=250.0, host_latency_ns=450, watchdog=1_000_000))]
    #[allow(clippy::too_many_arguments, reason = "Python names them")]
    fn new(
        handlers: Option<PathBuf>,
        rules: Option<PathBuf>,
        handler: Option<&str>,
        cluster: &str,
        clusters: u8,
        hpus: u8,
        cluster_mhz: Option<f64>,
        core_mhz: f64,
        host_latency_ns: u64,
        watchdog: u64,
    ) -> PyResult<PyClassInitializer<Self>> {
        if !(1..=8).contains(&clusters) || !(1..=8).contains(&hpus) || host_latency_ns > 1_000_000 {
            return Err(PyValueError::new_err(
                "a NIC has 1 to 8 clusters of 1 to 8 HPUs, and host_latency_ns is at most 1000000",
            ));
        }
        let backend = Backend::named(cluster).ok_or_else(|| {
            PyValueError::new_err(format!(
                "cluster is {cluster}, and must be model, model:spinneret or rtl"
            ))
        })?;
        let cluster_ps = cluster_mhz.map(|mhz| period_ps("cluster_mhz", mhz));
        let hardware = HardwareArguments {
            backend,
            clusters,
            hpus,
            cluster_ps: cluster_ps.transpose()?,
            core_ps: period_ps("core_mhz", core_mhz)?,
            host_latency: host_latency_ns,
            watchdog,
            strict_pspin: false,
            no_skip: false,
        };
        let opened = match &handlers {
            Some(target) => Embedded::open(files(target, rules.as_ref(), handler), &hardware),
            None if rules.is_some() || handler.is_some() => {
                return Err(PyValueError::new_err("rules and handler need handlers"));
            }
            None => Embedded::shared(&hardware).map(|embedded| (embedded, Vec::new())),
        };
        let (embedded, contexts) = opened.map_err(error)?;
        Ok(PyClassInitializer::from(Session { contexts }).add_subclass(Self { embedded }))
    }

    /// Opens handlers of another owner, next to those that are there.
    #[pyo3(signature = (handlers, rules=None, *, handler=None))]
    fn open(&self, handlers: PathBuf, rules: Option<PathBuf>, handler: Option<&str>) -> PyResult<Session> {
        let added = self.embedded.add(files(&handlers, rules.as_ref(), handler));
        Ok(Session {
            contexts: added.map_err(error)?,
        })
    }

    /// Runs handlers on packets until the NIC is idle.
    #[pyo3(signature = (packets, *, on_frame=None, gbps=None))]
    fn run(
        &mut self,
        py: Python<'_>,
        packets: &Bound<'_, PyAny>,
        on_frame: Option<Py<PyAny>>,
        gbps: Option<f64>,
    ) -> PyResult<crate::Result> {
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
}

#[pymethods]
impl Session {
    /// Closes its contexts: its packets go to the host again.
    fn close(&mut self) -> PyResult<()> {
        let closed = self.contexts.drain(..).map(Context::close);
        closed.collect::<Result<Vec<()>, _>>().map(drop).map_err(error)
    }

    fn __enter__(session: Py<Self>) -> Py<Self> {
        session
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&mut self, _args: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close()
    }

    /// Sets the share of a context in the NIC.
    #[pyo3(signature = (*, weight=1, budget=1_000_000, slots=0, egress_rate=0, context=0))]
    fn set_share(
        &self,
        weight: u32,
        budget: u32,
        slots: u32,
        egress_rate: u32,
        context: usize,
    ) -> PyResult<()> {
        let share = Share {
            weight,
            budget,
            slots,
            egress_rate,
        };
        self.context(context)?.set_share(share).map_err(error)
    }

    /// How a context has used the NIC.
    #[pyo3(signature = (*, context=0))]
    fn usage<'py>(&self, py: Python<'py>, context: usize) -> PyResult<Bound<'py, PyDict>> {
        let Usage {
            handlers,
            clocks,
            budget_ends,
            failures,
            host_written,
            host_read,
            sent,
            dropped_bound,
        } = self.context(context)?.usage().map_err(error)?;
        let usage = PyDict::new(py);
        for (name, count) in [
            ("handlers", handlers.into()),
            ("clocks", clocks),
            ("budget_ends", budget_ends.into()),
            ("failures", failures.into()),
            ("host_written", host_written),
            ("host_read", host_read),
            ("sent", sent),
            ("dropped_bound", dropped_bound.into()),
        ] {
            usage.set_item(name, count)?;
        }
        Ok(usage)
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

impl Session {
    fn context(&self, number: usize) -> PyResult<&Context<Simulated>> {
        self.contexts.get(number).ok_or_else(|| {
            PyIndexError::new_err(match self.contexts.len() {
                0 => "the session is closed, or the NIC has no handlers of its own".to_owned(),
                count => format!("there is no context {number}: the rules have {count} rulesets"),
            })
        })
    }
}

fn files<'f>(target: &'f Path, rules: Option<&'f PathBuf>, handler: Option<&'f str>) -> HandlerFiles<'f> {
    HandlerFiles {
        target,
        rules: rules.map(PathBuf::as_path),
        handler,
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
    /// A format of that many bytes.
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

fn result(py: Python<'_>, outcome: &Outcome, program: &mut Program) -> PyResult<crate::Result> {
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
    Ok(crate::Result {
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

/// Bytes of an Ethernet header, which every packet has.
const HEADER_BYTES: usize = 14;
/// Latest time of a packet, in nanoseconds: beyond it 64 bits of picoseconds end.
const LATEST_NS: f64 = 1e15;
/// Slowest and fastest rate of packets, in units of 10^9 bits a second.
const RATES_GBPS: std::ops::RangeInclusive<f64> = 1e-6..=1e3;

/// The Python side of a run: packets, frames, and the exception that ended it.
#[derive(Debug)]
pub(crate) struct Program {
    packets: Py<PyIterator>,
    number: usize,
    /// The rate of packets without a time, and when the next one comes, in picoseconds.
    gbps: Option<f64>,
    due_ps: f64,
    on_frame: Option<Py<PyAny>>,
    /// Frames for the wire and for the host.
    pub(crate) frames: [Vec<Py<Frame>>; 2],
    pub(crate) exception: Option<PyErr>,
}

impl Program {
    pub(crate) fn new(
        packets: &Bound<'_, PyAny>,
        on_frame: Option<Py<PyAny>>,
        gbps: Option<f64>,
    ) -> PyResult<Self> {
        if let Some(gbps) = gbps.filter(|gbps| !RATES_GBPS.contains(gbps)) {
            return Err(PyValueError::new_err(format!(
                "gbps is {gbps}, and rates are {:e} to {:e}",
                RATES_GBPS.start(),
                RATES_GBPS.end()
            )));
        }
        Ok(Self {
            packets: packets.try_iter()?.unbind(),
            number: 0,
            gbps,
            due_ps: 0.0,
            on_frame,
            frames: [Vec::new(), Vec::new()],
            exception: None,
        })
    }

    /// Packets that it has supplied.
    pub(crate) fn given(&self) -> usize {
        self.number
    }

    /// Keeps an exception, which ends the run.
    fn kept<T>(&mut self, result: PyResult<T>) -> Result<T, NetError> {
        result.map_err(|exception| {
            let text = exception.to_string();
            self.exception = Some(exception);
            NetError::Program(text)
        })
    }

    fn next_packet(&mut self, py: Python<'_>) -> PyResult<Option<(Option<u64>, Vec<u8>)>> {
        let Some(item) = self.packets.bind(py).clone().next() else {
            return Ok(None);
        };
        let (at_ps, bytes) = packet(&item?, self.number)?;
        self.number += 1;
        let Some(gbps) = self.gbps else {
            return Ok(Some((at_ps, bytes)));
        };
        let at_ps = at_ps.unwrap_or(self.due_ps as u64);
        // A bit at 10^9 a second takes a nanosecond.
        self.due_ps = at_ps as f64 + (8 * (bytes.len() + WIRE_OVERHEAD_BYTES)) as f64 * 1000.0 / gbps;
        Ok(Some((Some(at_ps), bytes)))
    }

    fn keep(&mut self, py: Python<'_>, frame: Frame) -> PyResult<()> {
        let way = usize::from(frame.is_to_host());
        let frame = Py::new(py, frame)?;
        if let Some(call) = &self.on_frame {
            call.call1(py, (frame.clone_ref(py),))?;
        }
        self.frames[way].push(frame);
        Ok(())
    }
}

/// A shared [`Program`], so that it can be the source, both sinks and the signal check of a run.
#[derive(Clone, Debug)]
pub(crate) struct Shared(pub(crate) Rc<RefCell<Program>>);

impl Shared {
    /// The sink for frames to the wire or to the host.
    pub(crate) fn sink(&self, to_host: bool) -> Box<dyn Sink> {
        Box::new(Frames {
            program: self.clone(),
            to_host,
        })
    }

    /// Whether the run goes on, or a signal ends it.
    pub(crate) fn goes_on(&self) -> anyhow::Result<()> {
        let signals = Python::attach(|py| py.check_signals());
        Ok(self.0.borrow_mut().kept(signals)?)
    }
}

impl Source for Shared {
    fn next(&mut self, _: u64) -> Result<Next, NetError> {
        let mut program = self.0.borrow_mut();
        let next = Python::attach(|py| program.next_packet(py));
        Ok(match program.kept(next)? {
            Some((Some(at_ps), bytes)) => Next::Packet { at_ps, bytes },
            Some((None, bytes)) => Next::WithRoom(bytes),
            None => Next::End,
        })
    }
}

/// Hands frames to the program.
struct Frames {
    program: Shared,
    to_host: bool,
}

impl Sink for Frames {
    fn put(&mut self, at_ps: u64, bytes: &[u8]) -> Result<(), NetError> {
        let mut program = self.program.0.borrow_mut();
        let kept = Python::attach(|py| program.keep(py, Frame::new(py, at_ps, bytes, self.to_host)));
        program.kept(kept)
    }
}

/// A packet, or a time in nanoseconds and a packet.
fn packet(item: &Bound<'_, PyAny>, number: usize) -> PyResult<(Option<u64>, Vec<u8>)> {
    let (at_ps, packet) = match item.cast::<PyTuple>() {
        Ok(pair) if pair.len() == 2 => {
            let at_ns: f64 = pair.get_item(0)?.extract()?;
            if !(0.0..=LATEST_NS).contains(&at_ns) {
                return Err(PyValueError::new_err(format!(
                    "packet {number} comes at {at_ns} ns, and times are 0 to {LATEST_NS:e}"
                )));
            }
            (Some((at_ns * 1000.0) as u64), pair.get_item(1)?)
        }
        _ => (None, item.clone()),
    };
    let mut bytes = bytes(&packet, number)?;
    if !(HEADER_BYTES..=MAX_SIZE_BYTES.into()).contains(&bytes.len()) {
        return Err(PyValueError::new_err(format!(
            "packet {number} has {} bytes, and frames have {HEADER_BYTES} to {MAX_SIZE_BYTES}",
            bytes.len()
        )));
    }
    // As a wire does.
    bytes.resize(bytes.len().max(MIN_FRAME_BYTES), 0);
    Ok((at_ps, bytes))
}

/// Bytes of something that is bytes, or can be made bytes as scapy's packets can.
fn bytes(packet: &Bound<'_, PyAny>, number: usize) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = packet.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    let is_buffer = packet.is_instance_of::<PyByteArray>() || packet.is_instance_of::<PyMemoryView>();
    if !is_buffer && !packet.hasattr("__bytes__")? {
        return Err(PyTypeError::new_err(format!(
            "packet {number} is of type {}, and should be bytes, or something that bytes() takes, such as a packet of scapy",
            packet.get_type().name()?
        )));
    }
    let made = packet.py().get_type::<PyBytes>().call1((packet,))?;
    Ok(made.cast::<PyBytes>()?.as_bytes().to_vec())
}
