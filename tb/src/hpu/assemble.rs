//! A small assembler. Instructions come from [`TABLE`], names of registers from [`CSRS`].
//!
//! ```
//! use spinneret_tb::hpu::Program;
//!
//! let program = Program::assemble(
//!     "
//!         .org 0x80
//!         li   x5, DATA + 64      # two instructions
//!     again:
//!         lw   x6, 4(x5)
//!         csrrs x7, mcause, x0
//!         bne  x6, x7, again
//!         .half 0x0001            # c.nop
//!     ",
//! );
//! assert_eq!(program.address("again"), 0x1d00_0088);
//! assert_eq!(program.words[0x88 / 4], 0x0042_a303);
//! ```

use super::{DATA, PROGRAM};
use spinneret_isa::{CSRS, Format, Instruction, Op, Row, Source, TABLE};
use std::collections::BTreeMap;

/// Words of program memory from its first one, and what its labels stand for.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The words.
    pub words: Vec<u32>,
    labels: BTreeMap<String, u32>,
}

/// Returns the bits of a pattern of the table, with 0 for `?`.
fn fixed(bits: &str) -> u32 {
    let digits = bits.chars().filter(|digit| *digit != '_');
    digits.fold(0, |word, digit| word << 1 | u32::from(digit == '1'))
}

/// Encodes an instruction: registers rd, rs1, rs2, and the immediate as [`Instruction::imm`] has it.
///
/// # Panics
/// If the operation is none, or the immediate does not fit.
pub fn encode(op: Op, registers: [u32; 3], imm: u32) -> u32 {
    let row = op.row().expect("an instruction");
    let mut word = fixed(row.bits);
    for ((is_used, register), low) in row.format.registers().into_iter().zip(registers).zip([7, 15, 20]) {
        word |= if is_used { register << low } else { 0 };
    }
    for (bit, source) in row.format.imm_bits().iter().enumerate() {
        if let Source::Bit(at) = source {
            word |= (imm >> bit & 1) << at;
        }
    }
    let encoded = Instruction::decode(word).imm() as u32;
    assert_eq!(encoded, imm, "{}: the immediate does not fit", row.name);
    word
}

/// The operands of a format in the order of assembly: d, 1, 2 are registers, i is an immediate, u its upper 20 bits, t a
/// target, z the operand of a CSR instruction.
fn operands(format: Format) -> &'static str {
    match format {
        Format::R => "d12",
        Format::I | Format::Shift => "d1i",
        Format::Load => "di1",
        Format::S => "2i1",
        Format::B => "12t",
        Format::U => "du",
        Format::J => "dt",
        Format::Csr => "di1",
        Format::CsrImm => "diz",
        Format::Reserve => "d1",
        Format::Atomic => "d21",
        Format::Fence | Format::None => "",
    }
}

/// One pass over a text. The first one does not know all labels.
#[derive(Default)]
struct Pass {
    halves: Vec<u16>,
    labels: BTreeMap<String, u32>,
    known: Option<BTreeMap<String, u32>>,
}

impl Pass {
    fn here(&self) -> u32 {
        PROGRAM + 2 * self.halves.len() as u32
    }

    fn push(&mut self, word: u32) {
        self.halves.extend([word as u16, (word >> 16) as u16]);
    }

    /// The value of a number, a name, or a sum of them.
    fn value(&self, text: &str) -> u32 {
        let term = |term: &str| -> u32 {
            let hex = |digits: &str| u32::from_str_radix(digits, 16).ok();
            let csr = || CSRS.iter().find(|row| row.is_one() && row.name == term);
            let number = match term.strip_prefix("0x") {
                Some(digits) => hex(&digits.replace('_', "")),
                None => term.parse().ok().map(|number: i64| number as u32),
            };
            let named = || match (term, &self.known) {
                ("DATA", _) => Some(DATA),
                ("PROGRAM", _) => Some(PROGRAM),
                (".", _) => Some(self.here()),
                // Any near address does for the first pass.
                (_, None) => Some(self.here()),
                (_, Some(labels)) => labels.get(term).copied(),
            };
            let value = number.or_else(|| csr().map(|row| fixed(row.bits))).or_else(named);
            value.unwrap_or_else(|| panic!("`{term}` is neither a number nor a label"))
        };
        text.split('+')
            .map(|part| term(part.trim()))
            .fold(0, u32::wrapping_add)
    }

    fn instruction(&self, row: &Row, text: &str) -> u32 {
        let parts = text.split([',', '(', ')']).map(str::trim);
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        let kinds = operands(row.format);
        assert_eq!(parts.len(), kinds.len(), "operands of {}: {text}", row.name);
        let (mut registers, mut imm) = ([0; 3], 0);
        for (kind, part) in kinds.chars().zip(parts) {
            let register = || {
                let number = part.strip_prefix('x').and_then(|number| number.parse().ok());
                number.unwrap_or_else(|| panic!("`{part}` is no register"))
            };
            match kind {
                'd' => registers[0] = register(),
                '1' => registers[1] = register(),
                '2' => registers[2] = register(),
                'u' => imm = self.value(part) << 12,
                't' => imm = self.value(part).wrapping_sub(self.here()),
                'z' => imm |= self.value(part) << 12,
                _ => imm = self.value(part),
            }
        }
        encode(row.op, registers, imm)
    }

    fn line(&mut self, line: &str) {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match name {
            ".org" => {
                let halves = self.value(rest) as usize / 2;
                assert!(
                    halves >= self.halves.len(),
                    "{line}: instructions are there already"
                );
                self.halves.resize(halves, 0);
            }
            ".half" => self.halves.push(self.value(rest) as u16),
            ".word" => self.push(self.value(rest)),
            "nop" => self.line("addi x0, x0, 0"),
            "j" => self.line(&format!("jal x0, {rest}")),
            "li" => {
                let (register, value) = rest.split_once(',').expect("li has two operands");
                let value = self.value(value);
                // `addi` extends its sign.
                let (upper, lower) = (value.wrapping_add(0x800) >> 12, (value << 20) as i32 >> 20);
                self.line(&format!("lui {register}, {upper}"));
                self.line(&format!("addi {register}, {register}, {lower}"));
            }
            _ => {
                let row = TABLE.iter().find(|row| row.name == name);
                let row = row.unwrap_or_else(|| panic!("no instruction `{name}`"));
                self.push(self.instruction(row, rest));
            }
        }
    }

    fn run(mut self, text: &str) -> Self {
        for line in text.lines() {
            let mut line = line.split('#').next().unwrap_or_default().trim();
            if let Some((label, rest)) = line.split_once(':') {
                self.labels.insert(label.to_owned(), self.here());
                line = rest.trim();
            }
            if !line.is_empty() {
                self.line(line);
            }
        }
        self
    }
}

impl Program {
    /// Assembles a text; see the example of this file.
    ///
    /// # Panics
    /// If it is wrong.
    pub fn assemble(text: &str) -> Self {
        let first = Pass::default().run(text);
        let known = Some(first.labels);
        let Pass {
            mut halves, labels, ..
        } = Pass {
            known,
            ..Pass::default()
        }
        .run(text);
        halves.resize(halves.len().next_multiple_of(2), 0);
        let words = halves.chunks_exact(2);
        Self {
            words: words
                .map(|pair| u32::from(pair[0]) | u32::from(pair[1]) << 16)
                .collect(),
            labels,
        }
    }

    /// The address of a label.
    ///
    /// # Panics
    /// If there is none of that name.
    pub fn address(&self, label: &str) -> u32 {
        *self
            .labels
            .get(label)
            .unwrap_or_else(|| panic!("no label `{label}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::encode;
    use spinneret_isa::{Instruction, TABLE};

    #[test]
    fn every_instruction_decodes_to_its_operands() {
        for row in TABLE {
            let [rd, rs1, rs2] = row.format.registers().map(u32::from);
            let registers = [rd * 7, rs1 * 19, rs2 * 30];
            let decoded = Instruction::decode(encode(row.op, registers, 0));
            let found = [decoded.rd(), decoded.rs1(), decoded.rs2()];
            assert_eq!(decoded.op(), row.op, "{}", row.name);
            assert_eq!(found, registers.map(|register| register as usize), "{}", row.name);
        }
    }
}
