//! Coverage of random programs: every row of the table of instructions, in each mode, and forwarded operands.

use super::{Report, STOPPED};
use spinneret_isa::{COMPRESSED, CSRS, CsrRow, Instruction, Mode, Op, Row, TABLE, Unit, Writes};
use std::collections::BTreeMap;

/// How often rows, modes and operands were reached.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    reached: BTreeMap<String, u64>,
    /// The last report of each thread of this program.
    last: Vec<Option<Report>>,
}

/// A row, what came of it, and the mode.
fn event(name: &str, bits: &str, is_retired: bool, is_user: bool) -> String {
    let outcome = if is_retired { "retired" } else { "trapped" };
    let mode = if is_user { "user" } else { "machine" };
    format!("{name} ({bits}) {outcome} in {mode} mode")
}

/// An operand from the instruction before.
fn forwarding(from: Unit, to: Unit, operand: usize) -> String {
    format!("rs{} of {to:?} from {from:?}", operand + 1)
}

fn fits(bits: &str, half: u32) -> bool {
    let digits = bits.chars().filter(|digit| *digit != '_');
    (0..)
        .zip(digits.rev())
        .all(|(at, digit)| digit == '?' || (digit == '1') == (half >> at & 1 == 1))
}

/// Whether an instruction can trap, without that its thread is stopped.
fn can_trap(op: Op, is_user: bool) -> bool {
    let unit = op.row().map(|row| row.unit);
    match (op, unit) {
        (Op::Mret, _) => is_user,
        (Op::Illegal | Op::Ecall | Op::Ebreak, _) => true,
        (_, Some(Unit::Load | Unit::Store | Unit::Atomic | Unit::Csr)) => true,
        _ => false,
    }
}

/// User mode can write no register.
fn can_retire(op: Op, is_user: bool) -> bool {
    match op {
        Op::Illegal | Op::Ecall | Op::Ebreak => false,
        Op::Mret | Op::Csrrw | Op::Csrrwi => !is_user,
        _ => true,
    }
}

impl Coverage {
    /// Begins with another program.
    pub fn begin(&mut self, threads: usize) {
        self.last = vec![None; threads];
    }

    /// Notes what a report reaches.
    pub fn add(&mut self, report: &Report) {
        let instruction = Instruction::decode(report.word);
        let before = self.last[report.thread].replace(*report);
        let is_fetched = report.cause != Some(1) && report.cause != Some(STOPPED);
        if !is_fetched {
            return;
        }
        let (is_retired, is_user) = (report.cause.is_none(), report.is_user);
        if instruction.is_compressed() {
            let row = COMPRESSED.iter().find(|row| fits(row.bits, report.word));
            self.reach(row.map(|row| event(row.name, row.bits, is_retired, is_user)));
        } else if let Some(row) = instruction.op().row() {
            self.reach(Some(event(row.name, row.bits, is_retired, is_user)));
            if row.unit == Unit::Csr {
                let csr = CsrRow::of(instruction.csr());
                self.reach(csr.map(|csr| event(csr.name, csr.bits, is_retired, is_user)));
            }
        }
        let Some(before) = before.filter(|before| before.writes.0 != 0) else {
            return;
        };
        let from = Instruction::decode(before.word).op().row();
        if let (Some(from), Some(to)) = (from, instruction.op().row()) {
            for (operand, (register, _)) in report.reads.iter().enumerate() {
                let is_forwarded = *register == before.writes.0;
                self.reach(is_forwarded.then(|| forwarding(from.unit, to.unit, operand)));
            }
        }
    }

    fn reach(&mut self, event: Option<String>) {
        if let Some(event) = event {
            *self.reached.entry(event).or_default() += 1;
        }
    }

    /// Everything that can be reached and was not.
    pub fn missing(&self) -> Vec<String> {
        let all = instructions().chain(registers()).chain(operands());
        all.filter(|event| !self.reached.contains_key(event)).collect()
    }
}

fn instructions() -> impl Iterator<Item = String> {
    let rows = TABLE.iter().map(|row| (row.name, row.bits, row.op));
    let shorts = COMPRESSED.iter().map(|row| (row.name, row.bits, row.op));
    rows.chain(shorts).flat_map(|(name, bits, op)| {
        let modes = [true, false].into_iter();
        modes.flat_map(move |is_user| {
            let retires = can_retire(op, is_user).then(|| event(name, bits, true, is_user));
            let traps = can_trap(op, is_user).then(|| event(name, bits, false, is_user));
            retires.into_iter().chain(traps)
        })
    })
}

fn registers() -> impl Iterator<Item = String> {
    CSRS.iter().flat_map(|row| {
        let is_read_only = row.writes == Writes::Illegal;
        let events = [
            (true, true, row.mode == Mode::User),
            (true, false, true),
            (false, true, is_read_only || row.mode == Mode::Machine),
            (false, false, is_read_only),
        ];
        let events = events.into_iter().filter(|(.., can)| *can);
        events.map(|(is_retired, is_user, _)| event(row.name, row.bits, is_retired, is_user))
    })
}

/// Units of which an instruction writes or reads a register: rd, rs1, rs2.
fn units(register: usize) -> Vec<Unit> {
    let uses = |row: &&Row| row.format.registers()[register];
    let mut units: Vec<Unit> = TABLE.iter().filter(uses).map(|row| row.unit).collect();
    units.dedup();
    units
}

fn operands() -> impl Iterator<Item = String> {
    units(0).into_iter().flat_map(|from| {
        let operands = [0, 1].into_iter();
        operands.flat_map(move |operand| {
            let to = units(operand + 1).into_iter();
            to.map(move |to| forwarding(from, to, operand))
        })
    })
}
