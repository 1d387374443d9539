//! Both halves of a master, as they take part in a simulation.

use super::half::{Ids, MasterHalf};
use crate::agent::{Agent, Violation};
use crate::axi::burst::Request;
use crate::axi::ports::Half;
use crate::axi::write_rules::WriteBeat;
use crate::model::Instance;

#[derive(Debug)]
pub(super) struct State {
    prefix: String,
    pub(super) writer: Option<MasterHalf>,
    pub(super) reader: Option<MasterHalf>,
    ids: Ids,
    /// The number of the next burst.
    number: u64,
    /// The cycle that is driven next.
    cycle: u64,
}

impl State {
    pub(super) fn new(prefix: &str, writer: Option<MasterHalf>, reader: Option<MasterHalf>) -> Self {
        Self {
            prefix: prefix.to_owned(),
            writer,
            reader,
            ids: Ids::default(),
            number: 0,
            cycle: 0,
        }
    }

    /// The halves that the design has.
    pub(super) fn halves(&mut self) -> impl Iterator<Item = &mut MasterHalf> {
        self.writer.iter_mut().chain(&mut self.reader)
    }

    /// Queues a burst, unless it cannot or must not be sent; its number. Its data come from what checks it, for that
    /// many bytes in a beat.
    pub(super) fn queue(
        &mut self,
        half: Half,
        request: Request,
        checked: impl FnOnce(usize) -> Result<Vec<WriteBeat>, String>,
    ) -> u64 {
        let (prefix, number) = (&self.prefix, self.number);
        let (own, name) = match half {
            Half::Write => (&mut self.writer, "write"),
            Half::Read => (&mut self.reader, "read"),
        };
        let Some(own) = own else {
            panic!("{prefix} has no {name} channels");
        };
        let queued = checked(own.ports.bytes).and_then(|beats| own.push(number, request, beats));
        queued.unwrap_or_else(|rule| panic!("{prefix}: {rule}"));
        self.number += 1;
        number
    }
}

impl Agent for State {
    fn drive(&mut self, dut: &mut Instance) {
        let loads = self.reader.is_some();
        for half in self.writer.iter_mut().chain(&mut self.reader) {
            half.drive(dut, self.cycle, &mut self.ids, loads);
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
        self.halves().for_each(|half| half.reset(dut));
    }

    fn unfinished(&self) -> Option<String> {
        let mut halves = self.writer.iter().chain(&self.reader);
        halves.any(|half| !half.is_finished()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        let halves = self.writer.iter().chain(&self.reader).map(MasterHalf::describe);
        format!(
            "{}: master: {}",
            self.prefix,
            halves.collect::<Vec<_>>().join("; ")
        )
    }
}
