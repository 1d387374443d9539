//! A RAM inside of the design, as the DMA reaches it through ports.

use super::config::Transfer;
use super::descriptor::Accepted;
use super::master::{Order, Orders, RamPauses};
use super::ports::{fits, set_bits};
use super::ram::RamShape;
use crate::agent::Violation;
use crate::model::{Direction, Instance, ModelError, PortHandle};
use crate::pause::Pauses;
use crate::seed::Seed;
use std::collections::VecDeque;

/// The ports of one direction, and the transfers that are under way at them.
#[derive(Debug)]
pub(super) struct InsideRam {
    shape: RamShape,
    orders: Orders,
    answers: Answers,
    /// Transfers in their order, the first with that number.
    jobs: VecDeque<Job>,
    first: u64,
    /// For each segment the commands that were taken and not answered.
    taken: Vec<VecDeque<Order>>,
}

#[derive(Debug)]
struct Job {
    accepted: Accepted,
    /// Commands that are not answered.
    left: usize,
    /// What was read.
    bytes: Vec<u8>,
}

/// How the design answers commands.
#[derive(Debug)]
enum Answers {
    /// One pulse for each write.
    Done(PortHandle),
    /// Data for each read.
    Data(Data),
}

#[derive(Debug)]
struct Data {
    data: PortHandle,
    valid: PortHandle,
    ready: PortHandle,
    pauses: Vec<Pauses>,
    counts: Vec<u64>,
    /// For each segment the data that waits for ready.
    held: Vec<Option<Vec<u8>>>,
}

impl InsideRam {
    /// Looks up the ports with that prefix, such as `data_dma_ram`.
    pub(super) fn find(
        dut: &Instance,
        transfer: Transfer,
        prefix: &str,
        (shape, select): (RamShape, u64),
        (pauses, seed): (&RamPauses, Seed),
    ) -> Result<Self, ModelError> {
        let segments = shape.segments as usize;
        let write = transfer == Transfer::FromHost;
        let half = format!("{prefix}_{}", if write { "wr" } else { "rd" });
        let commands = (&pauses.commands, seed);
        let orders = Orders::find(dut, &format!("{half}_cmd"), (shape, select), write, commands)?;
        let output = |signal: &str| dut.port(&format!("{half}_{signal}"), Direction::Output);
        let answers = if write {
            Answers::Done(output("done")?)
        } else {
            let [data, valid] = [output("resp_data")?, output("resp_valid")?];
            let bits = 8 * segments * shape.segment_bytes as usize;
            fits(dut, data, data.width() == bits, "each byte has 8")?;
            let rng = |number: usize| seed.rng(&format!("pauses of answers at {half} {number}"));
            Answers::Data(Data {
                data,
                valid,
                ready: dut.port(&format!("{half}_resp_ready"), Direction::Input)?,
                pauses: (0..segments)
                    .map(|number| Pauses::new(pauses.responses.clone(), rng(number)))
                    .collect(),
                counts: vec![0; segments],
                held: vec![None; segments],
            })
        };
        let port = match &answers {
            Answers::Done(port) | Answers::Data(Data { valid: port, .. }) => *port,
        };
        fits(dut, port, port.width() == segments, "each segment has 1")?;
        Ok(Self {
            shape,
            orders,
            answers,
            jobs: VecDeque::new(),
            first: 0,
            taken: vec![VecDeque::new(); segments],
        })
    }

    /// How its bytes are spread over its segments.
    pub(super) fn shape(&self) -> RamShape {
        self.shape
    }

    /// Begins a transfer: reads its bytes, or writes these.
    pub(super) fn begin(&mut self, accepted: Accepted, bytes: &[u8]) {
        let number = self.first + self.jobs.len() as u64;
        let (address, len) = (accepted.descriptor.ram_addr, accepted.descriptor.len);
        let left = self.orders.push(number, address, len, bytes);
        let bytes = if bytes.is_empty() {
            vec![0; len as usize]
        } else {
            Vec::new()
        };
        self.jobs.push_back(Job {
            accepted,
            left,
            bytes,
        });
    }

    /// The oldest transfer with what was read, if all of its commands are answered.
    pub(super) fn next_done(&mut self) -> Option<(Accepted, Vec<u8>)> {
        let job = self.jobs.pop_front_if(|job| job.left == 0)?;
        self.first += 1;
        Some((job.accepted, job.bytes))
    }

    /// Transfers under way.
    pub(super) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Forgets everything; the transfers that were under way.
    pub(super) fn reset(&mut self, dut: &mut Instance) -> Vec<Accepted> {
        self.orders.reset(dut);
        self.taken.iter_mut().for_each(VecDeque::clear);
        if let Answers::Data(data) = &mut self.answers {
            data.held.fill(None);
            dut.set_value(data.ready, 0);
        }
        self.first += self.jobs.len() as u64;
        self.jobs.drain(..).map(|job| job.accepted).collect()
    }

    /// Changes the pauses from the next cycle on.
    pub(super) fn set_pauses(&mut self, pauses: &RamPauses) {
        self.orders.set_pause(&pauses.commands);
        if let Answers::Data(data) = &mut self.answers {
            for segment in &mut data.pauses {
                segment.set(pauses.responses.clone());
            }
        }
    }

    /// Drives the ports in this cycle.
    pub(super) fn drive(&mut self, dut: &mut Instance) {
        self.orders.drive(dut);
        if let Answers::Data(data) = &mut self.answers {
            let mut ready = 0u64;
            for (number, pauses) in data.pauses.iter_mut().enumerate() {
                ready |= u64::from(!pauses.next(data.counts[number])) << number;
            }
            set_bits(dut, data.ready, data.pauses.len(), |number| {
                ready >> number & 1 == 1
            });
        }
    }

    /// Looks at the ports before the rising edge.
    pub(super) fn sample(&mut self, dut: &Instance) -> Result<(), Violation> {
        for number in 0..self.orders.segments() {
            let answer = match &mut self.answers {
                Answers::Done(done) => (dut.value(*done) >> number & 1 == 1).then(Vec::new),
                Answers::Data(data) => data
                    .check(dut, number)
                    .map_err(|rule| self.orders.violation(rule))?,
            };
            if let Some(bytes) = answer {
                self.answer(number, &bytes)?;
            }
            if let Some(order) = self.orders.taken(dut, number) {
                self.taken[number].push_back(order);
            }
        }
        Ok(())
    }

    /// Checks the last cycle of a reset.
    pub(super) fn check_reset(&self, dut: &Instance) -> Result<(), Violation> {
        let (Answers::Done(port) | Answers::Data(Data { valid: port, .. })) = &self.answers;
        if dut.value(*port) == 0 {
            return Ok(());
        }
        Err(self.orders.violation("a command is answered in reset".to_owned()))
    }

    /// The oldest command of a segment is answered.
    fn answer(&mut self, number: usize, word: &[u8]) -> Result<(), Violation> {
        let Some(order) = self.taken[number].pop_front() else {
            let rule = format!("segment {number} answers without a command");
            return Err(self.orders.violation(rule));
        };
        let job = &mut self.jobs[(order.job - self.first) as usize];
        job.left -= 1;
        for (lane, byte) in word.iter().enumerate() {
            let place = usize::try_from(order.offset + lane as i64).ok();
            if let Some(place) = place.and_then(|place| job.bytes.get_mut(place)) {
                *place = *byte;
            }
        }
        Ok(())
    }
}

impl Data {
    /// Checks valid and ready of one segment; what is transferred, if something is.
    fn check(&mut self, dut: &Instance, number: usize) -> Result<Option<Vec<u8>>, String> {
        let held = self.held[number].take();
        if dut.value(self.valid) >> number & 1 == 0 {
            return match held {
                None => Ok(None),
                Some(_) => Err(format!(
                    "valid of segment {number}'s data went low before ready was high"
                )),
            };
        }
        let size = self.data.width() / 8 / self.held.len();
        let word = dut.bytes(self.data)[number * size..][..size].to_vec();
        if held.is_some_and(|held| held != word) {
            return Err(format!(
                "segment {number}'s data changed while valid was high and ready was low"
            ));
        }
        if dut.value(self.ready) >> number & 1 == 1 {
            self.counts[number] += 1;
            return Ok(Some(word));
        }
        self.held[number] = Some(word);
        Ok(None)
    }
}
