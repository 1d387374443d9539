//! Both halves of a master, as they take part in a simulation.

use super::ids::Ids;
use super::reader::Reader;
use super::request::{ReadRequest, WriteRequest};
use super::writer::Writer;
use crate::agent::{Agent, Violation};
use crate::axi::burst::Request;
use crate::axi::ports::AddressPorts;
use crate::model::Instance;

#[derive(Debug)]
pub(super) struct State {
    prefix: String,
    pub(super) writer: Option<Writer>,
    pub(super) reader: Option<Reader>,
    ids: Ids,
    /// The number of the next burst.
    number: u64,
    /// The cycle that is driven next.
    cycle: u64,
}

impl State {
    pub(super) fn new(prefix: &str, writer: Option<Writer>, reader: Option<Reader>) -> Self {
        Self {
            prefix: prefix.to_owned(),
            writer,
            reader,
            ids: Ids::default(),
            number: 0,
            cycle: 0,
        }
    }

    /// Queues a write, unless it cannot or must not be sent; its number.
    pub(super) fn queue_write(&mut self, request: WriteRequest) -> Result<u64, String> {
        let prefix = &self.prefix;
        let Some(writer) = &mut self.writer else {
            return Err(format!("{prefix} has no write channels"));
        };
        let address = &writer.ports.address;
        request
            .check(writer.ports.bytes)
            .and_then(|()| fits(address, &request.request()))
            .map_err(|rule| format!("{prefix}: {rule}"))?;
        let number = self.number;
        writer.push(number, request);
        self.number += 1;
        Ok(number)
    }

    /// Queues a read, unless it cannot or must not be sent; its number.
    pub(super) fn queue_read(&mut self, request: ReadRequest) -> Result<u64, String> {
        let prefix = &self.prefix;
        let Some(reader) = &mut self.reader else {
            return Err(format!("{prefix} has no read channels"));
        };
        let address = &reader.ports.address;
        request
            .check(reader.ports.bytes)
            .and_then(|()| fits(address, &request.request()))
            .map_err(|rule| format!("{prefix}: {rule}"))?;
        let number = self.number;
        reader.push(number, request);
        self.number += 1;
        Ok(number)
    }
}

impl Agent for State {
    fn drive(&mut self, dut: &mut Instance) {
        let loads = self.reader.is_some();
        if let Some(writer) = &mut self.writer {
            writer.drive(dut, self.cycle, &mut self.ids, loads);
        }
        if let Some(reader) = &mut self.reader {
            reader.drive(dut, &mut self.ids);
        }
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        self.cycle = cycle + 1;
        let writer = self.writer.as_mut();
        let address = writer.and_then(|writer| writer.sample(dut, cycle, &mut self.ids));
        if let Some(reader) = &mut self.reader {
            reader.sample(dut, cycle, &mut self.ids);
            if let Some((number, request)) = address {
                reader.expect_load(number, request, cycle);
            }
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.ids.clear();
        if let Some(writer) = &mut self.writer {
            writer.reset(dut);
        }
        if let Some(reader) = &mut self.reader {
            reader.reset(dut);
        }
    }

    fn unfinished(&self) -> Option<String> {
        let written = self.writer.as_ref().is_none_or(Writer::is_finished);
        let read = self.reader.as_ref().is_none_or(Reader::is_finished);
        (!written || !read).then(|| self.describe())
    }

    fn describe(&self) -> String {
        let writes = self.writer.iter().map(Writer::describe);
        let halves: Vec<_> = writes.chain(self.reader.iter().map(Reader::describe)).collect();
        format!("{}: master: {}", self.prefix, halves.join("; "))
    }
}

/// Whether the ports can carry an address.
fn fits(ports: &AddressPorts, request: &Request) -> Result<(), String> {
    let burst = &request.burst;
    let narrow = |value: u64, width: usize| width < 64 && value >> width != 0;
    if narrow(burst.id, ports.id.width()) {
        return Err(format!("id {} does not fit {} bits", burst.id, ports.id.width()));
    }
    if narrow(burst.address, ports.address.width()) {
        let width = ports.address.width();
        return Err(format!("address {:#x} does not fit {width} bits", burst.address));
    }
    if request.exclusive && ports.lock.is_none() {
        return Err("the design has no exclusive accesses".to_owned());
    }
    if request.atop != 0 && ports.atop.is_none() {
        return Err("the design has no atomic operations".to_owned());
    }
    if request.atop > 0x3f {
        return Err(format!("atop {:#x} does not fit 6 bits", request.atop));
    }
    match (request.user, ports.user.map(|port| port.width())) {
        (Some(_), None) => return Err("the design has no user signals of addresses".to_owned()),
        (Some(user), Some(width)) if narrow(user, width) => {
            return Err(format!("user {user:#x} does not fit {width} bits"));
        }
        _ => {}
    }
    Ok(())
}
