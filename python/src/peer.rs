//! The Python program as the one that has the packets.

use crate::result::Frame;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyIterator, PyMemoryView, PyTuple};
use spinneret_nic::net::generator::{MAX_SIZE_BYTES, WIRE_OVERHEAD_BYTES};
use spinneret_nic::net::{MIN_FRAME_BYTES, NetError, Next, Sink, Source};
use std::cell::RefCell;
use std::rc::Rc;

/// Bytes of an Ethernet header, which every packet has.
const HEADER_BYTES: usize = 14;
/// Latest time of a packet, in nanoseconds: beyond it 64 bits of picoseconds end.
const LATEST_NS: f64 = 1e15;
/// Slowest and fastest rate of packets, in units of 10^9 bits a second.
const RATES_GBPS: std::ops::RangeInclusive<f64> = 1e-6..=1e3;

/// Packets, what becomes of frames, and the exception that ended the run.
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

    /// Packets that it has given.
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

/// A program whose packets, frames and signals have an end each at the NIC.
#[derive(Clone, Debug)]
pub(crate) struct Shared(pub(crate) Rc<RefCell<Program>>);

impl Shared {
    /// The end for frames that leave for the wire, or go to the host.
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

/// Where frames become those of the program.
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
