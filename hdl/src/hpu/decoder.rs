//! From the bits of an instruction to what the pipeline does with it.
//!
//! ```text
//!            +-----------+     +----------+     +--------+     +----------+
//!  word ====>| expand 16 |====>| register |====>| decode |====>| register |====> fields
//!            | bits to 32|     +----------+     +--------+     +----------+
//!            +-----------+
//! ```
//!
//! Both steps are made from the table of instructions, [`spinneret_isa::TABLE`] and [`spinneret_isa::COMPRESSED`].
//!
//! # Contract
//! - **Latency:** one clock to `is_short` and the registers that are read, two to all others. **Throughput:** one
//!   instruction a clock.
//! - **Registers:** `rd` is 0 if the instruction writes none; `rs1` and `rs2` are registers only with `has_rs1` and `has_rs2`.
//! - **Immediate:** sign-extended; of CSR instructions bits 11:0 are the register, bits 16:12 the operand.
//! - **Function:** bits 14:12 of the instruction of 32 bits, 0 (addition) where these belong to the immediate;
//!   `alternate` is bit 30 of the operations that it tells apart (`sub`, `sra`, `srai`).
//! - **Illegal instructions:** no unit is chosen.
//! - **Reset:** none, as nothing is remembered.
//!
//! Source: the RISC-V manual, as named there.

use spinneret_isa::{COMPRESSED, Format, Op, Row, Source, TABLE, Unit};
use spinneret_verilog::prelude::*;

/// A format for each kind of immediate; atomic instructions add 0 to their address.
const FORMATS: [Format; 8] = {
    use Format::{B, Csr, CsrImm, I, J, S, Shift, U};
    [I, Shift, S, B, U, J, Csr, CsrImm]
};

/// A decoded instruction.
#[interface(DecodedIn)]
pub struct Decoded {
    /// The register that is written, or 0.
    pub rd: Wire<Out, 5>,
    /// The immediate.
    pub imm: Wire<Out, 32>,
    /// The second operand is the immediate.
    pub has_imm: Wire<Out, bool>,
    /// The adder adds the immediate: also in branches, stores and atomic instructions, which read rs2.
    pub adds_imm: Wire<Out, bool>,
    /// The first operand: 0 rs1, 1 the program counter, 2 zero.
    pub base: Wire<Out, 2>,
    /// Bit n: the n-th [`Unit`] executes it.
    pub unit: Wire<Out, { Unit::COUNT }>,
    /// Which function of the unit.
    pub function: Wire<Out, 3>,
    /// Subtraction instead of addition, signed instead of unsigned shift.
    pub alternate: Wire<Out, bool>,
    /// A comparison is unsigned.
    pub is_unsigned: Wire<Out, bool>,
    /// `ecall`, `ebreak`, `mret`.
    pub system: Wire<Out, 3>,
    /// Bits 31 to 27, which say what an atomic instruction does.
    pub atomic: Wire<Out, 5>,
}

/// Decodes instructions of 16 and 32 bits.
#[module(no_clock)]
pub struct HpuDecoder {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// The instruction, from bit 0; of one of 16 bits the upper ones are ignored.
    pub word: Wire<In, 32>,
    /// It has 16 bits.
    pub is_short: Wire<Out, bool>,
    /// The first register that is read.
    pub rs1: Wire<Out, 5>,
    /// The second one.
    pub rs2: Wire<Out, 5>,
    /// The instruction reads the first one.
    pub has_rs1: Wire<Out, bool>,
    /// It reads the second one.
    pub has_rs2: Wire<Out, bool>,
    /// Its fields.
    pub m: Decoded,
}

/// A word whose bits are those of another one, or constants; the first source is that of bit 0.
#[kernel]
fn gathered(sources: &[Source], word: Sig) -> Sig {
    let (mut parts, mut rest) = (Vec::new(), sources);
    while let [first, ..] = rest {
        let same = rest.iter().take_while(|source| *source == first).count();
        let part = match *first {
            Source::Is(bit) => constant(lit(if bit { (1 << same) - 1 } else { 0 }, same)),
            Source::Bit(bit) if same > 1 => word[usize::from(bit)].repeat(same),
            Source::Bit(low) => {
                let next = (low..)
                    .zip(rest)
                    .take_while(|(bit, source)| **source == Source::Bit(*bit));
                word.slice(usize::from(low), next.count())
            }
        };
        rest = &rest[part.width()..];
        parts.insert(0, part);
    }
    cat_all(&parts)
}

/// An instruction of 16 bits as one of 32; zeros if it is illegal.
#[kernel]
fn expand(half: Sig) -> Sig {
    let rows = COMPRESSED.iter().filter_map(|row| {
        let long_form = row.expanded()?;
        let is_it = row
            .preferred()
            .fold(half.fits(row.bits), |fits, other| fits & !half.fits(other.bits))
            .named(&format!("is_{}", row.name.replace('.', "_")));
        Some(is_it.repeat(32) & gathered(&long_form, half))
    });
    or_all(rows)
}

#[kernel(HpuDecoder)]
fn update() {
    let is_short_word = !word.slice(0, 2).all();
    let long_form = expand(word.slice(0, 16));
    let expanded = reg(if is_short_word { long_form } else { word });
    is_short = reg(is_short_word);
    rs1 = expanded.slice(15, 5);
    rs2 = expanded.slice(20, 5);

    let one_of = |wanted: &dyn Fn(&Row) -> bool| {
        let rows = TABLE.iter().filter(|row| wanted(row));
        expanded.fits_any(rows.map(|row| row.bits))
    };
    let is = |op: Op| one_of(&|row| row.op == op);
    let formats = Format::all().map(|format| {
        let name = format!("format_{format:?}").to_lowercase();
        (format, one_of(&|row| row.format == format).named(&name))
    });
    let in_one_of = |wanted: &dyn Fn(Format) -> bool| {
        let hits = formats.iter().filter(|(format, _)| wanted(*format));
        or_all(hits.map(|(_, hit)| *hit))
    };
    let units = Unit::all().map(|unit| {
        let name = format!("unit_{unit:?}").to_lowercase();
        one_of(&|row| row.unit == unit).named(&name)
    });
    let executes = |unit: Unit| units[unit as usize];
    let [has_rd, reads_rs1, reads_rs2] =
        [0, 1, 2].map(|number| in_one_of(&|format| format.registers()[number]));
    has_rs1 = reads_rs1;
    has_rs2 = reads_rs2;
    m.rd = reg(expanded.slice(7, 5) & has_rd.repeat(5));
    /// The immediate of each format.
    let imms = FORMATS.map(|format| {
        let has_it = in_one_of(&|other| other.imm() == format.imm());
        gathered(&format.imm_bits(), expanded) & has_it.repeat(32)
    });
    m.imm = reg(or_all(imms));
    m.has_imm = reg(!reads_rs2);
    let offsets = [Unit::Branch, Unit::Store, Unit::Atomic].map(executes);
    m.adds_imm = reg(!reads_rs2 || or_all(offsets));
    m.base = reg(cat!(
        is(Op::Lui),
        is(Op::Auipc) || is(Op::Jal) || executes(Unit::Branch)
    ));
    m.unit = reg(word_of(units));
    /// Bits of an immediate are no function.
    let has_function = !in_one_of(&|format| matches!(format, Format::U | Format::J));
    m.function = reg(expanded.slice(12, 3) & has_function.repeat(3));
    let has_alternate =
        executes(Unit::Alu) && in_one_of(&|format| matches!(format, Format::R | Format::Shift));
    m.alternate = reg(has_alternate && expanded[30]);
    m.is_unsigned = reg(or_all([Op::Sltu, Op::Sltiu, Op::Bltu, Op::Bgeu].map(is)));
    m.system = reg(word_of([Op::Ecall, Op::Ebreak, Op::Mret].map(is)));
    m.atomic = reg(expanded.slice(27, 5));
}
