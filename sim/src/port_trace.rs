//! A waveform of the ports alone.

use crate::agent::{Agent, Violation};
use crate::model::{Direction, Instance, Model, PortHandle};
use crate::simulation::{PERIOD_PS, Simulation};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::rc::Rc;
use vcd::{IdCode, TimescaleUnit, Value, VarType, Writer};

/// Writes the values of the ports in every cycle to a VCD file (IEEE 1364-2005, clause 18).
///
/// A waveform by Verilator (FST) shows all signals; this one shows the ports, costs little, and every
/// viewer and script reads it. Values are those that the rising edge sees.
struct PortTrace<W: io::Write> {
    writer: Writer<W>,
    ports: Vec<Traced>,
}

struct Traced {
    port: PortHandle,
    code: IdCode,
    last: Option<Vec<u8>>,
}

impl<M: Model> Simulation<M> {
    /// Writes the ports to a VCD file from now on.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn trace_ports(&mut self, path: &Path) -> io::Result<()> {
        let file = BufWriter::new(File::create(path)?);
        let trace = PortTrace::new(file, self.dut.instance())?;
        self.attach(Rc::new(RefCell::new(trace)));
        Ok(())
    }
}

impl<W: io::Write> PortTrace<W> {
    fn new(output: W, dut: &Instance) -> io::Result<Self> {
        let mut writer = Writer::new(output);
        writer.timescale(1, TimescaleUnit::PS)?;
        writer.add_module(dut.name())?;
        let mut ports = Vec::new();
        for info in dut.ports() {
            let Some(port) = dut.find(info.name) else { continue };
            let kind = if info.direction == Direction::Input {
                VarType::Wire
            } else {
                VarType::Reg
            };
            let width = u32::try_from(info.width).map_err(io::Error::other)?;
            let code = writer.add_var(kind, width, info.name, None)?;
            ports.push(Traced {
                port,
                code,
                last: None,
            });
        }
        writer.upscope()?;
        writer.enddefinitions()?;
        Ok(Self { writer, ports })
    }

    fn write(&mut self, dut: &Instance, cycle: u64) -> io::Result<()> {
        self.writer.timestamp(cycle * PERIOD_PS)?;
        for traced in &mut self.ports {
            let bytes = dut.bytes(traced.port);
            if traced.last.as_deref() == Some(bytes) {
                continue;
            }
            let bit = |index: usize| Value::from(bytes[index / 8] >> (index % 8) & 1 == 1);
            match traced.port.width() {
                1 => self.writer.change_scalar(traced.code, bit(0))?,
                width => self
                    .writer
                    .change_vector(traced.code, (0..width).rev().map(bit))?,
            }
            traced.last = Some(bytes.to_vec());
        }
        Ok(())
    }
}

impl<W: io::Write> Agent for PortTrace<W> {
    fn drive(&mut self, _dut: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        self.write(dut, cycle).map_err(|error| Violation {
            bus: "waveform of the ports".into(),
            rule: format!("it cannot be written: {error}"),
        })
    }

    fn reset(&mut self, _dut: &mut Instance) {}

    fn describe(&self) -> String {
        format!("waveform of {} ports", self.ports.len())
    }
}
