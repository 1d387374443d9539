//! Words bit by bit, as hardware makes them: the form of 32 bits of an instruction of 16, and immediates.

use super::{COMPRESSED, CompressedRow, Format, Piece, Short};

/// Where a bit of a word comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// It is always this.
    Is(bool),
    /// This bit of the instruction.
    Bit(u8),
}

impl CompressedRow {
    /// Rows before this one that some of its bits fit too: those bits are theirs.
    pub fn preferred(&self) -> impl Iterator<Item = &'static Self> {
        let bits = self.bits;
        let overlap = |other: &str| {
            let mut pairs = other.bytes().zip(bits.bytes());
            pairs.all(|(a, b)| a == b'?' || b == b'?' || a == b)
        };
        let before = COMPRESSED.iter().take_while(move |row| row.bits != bits);
        before.filter(move |row| overlap(row.bits))
    }

    /// The word of 32 bits that the instruction stands for; none if it is illegal.
    pub fn expanded(&self) -> Option<[Source; 32]> {
        let long = self.op.row()?;
        let mut word = [Source::Is(false); 32];
        let digits = long.bits.chars().filter(|digit| *digit != '_').rev();
        for (bit, digit) in word.iter_mut().zip(digits) {
            *bit = Source::Is(digit == '1');
        }
        let [rd, rs1, rs2] = long.format.registers();
        for (is_used, register, at) in [(rd, self.rd, 7), (rs1, self.rs1, 15), (rs2, self.rs2, 20)] {
            if is_used {
                word[at..at + 5].copy_from_slice(&register.sources());
            }
        }
        let imm = immediate(self.imm);
        for Piece { high, low, to, .. } in long.format.imm() {
            for bit in *low..=*high {
                word[usize::from(bit)] = imm[usize::from(bit - low + to)];
            }
        }
        Some(word)
    }
}

impl Format {
    /// The immediate of an instruction of this format, from bit 0.
    pub fn imm_bits(self) -> [Source; 32] {
        immediate(self.imm())
    }
}

impl Short {
    fn sources(self) -> [Source; 5] {
        let from = |low: u8| std::array::from_fn(|bit| Source::Bit(low + bit as u8));
        let of_8 = |low: u8| {
            let [a, b, c] = [low, low + 1, low + 2].map(Source::Bit);
            [a, b, c, Source::Is(true), Source::Is(false)]
        };
        match self {
            Self::Is(register) => std::array::from_fn(|bit| Source::Is(register >> bit & 1 == 1)),
            Self::High => from(7),
            Self::Low => from(2),
            Self::HighOf8 => of_8(7),
            Self::LowOf8 => of_8(2),
        }
    }
}

/// The bits of an immediate.
fn immediate(pieces: &[Piece]) -> [Source; 32] {
    let mut imm = [Source::Is(false); 32];
    for Piece {
        high,
        low,
        to,
        signed,
    } in pieces
    {
        for bit in *low..=*high {
            imm[usize::from(bit - low + to)] = Source::Bit(bit);
        }
        if *signed {
            imm[usize::from(high - low + to)..].fill(Source::Bit(*high));
        }
    }
    imm
}

#[cfg(test)]
mod tests {
    use super::Source;
    use crate::{COMPRESSED, Instruction};

    #[test]
    fn the_long_form_is_the_same_instruction() {
        for half in (0..1_u32 << 16).filter(|half| half & 3 != 3) {
            let short = Instruction::decode(half);
            let fits = |row: &&crate::CompressedRow| {
                let (mask, value) = crate::pattern(row.bits);
                half & mask == value
            };
            let word = COMPRESSED.iter().find(fits).and_then(|row| row.expanded());
            let word = word.map_or(0, |sources| {
                let bit = |source: &Source| match source {
                    Source::Is(bit) => u32::from(*bit),
                    Source::Bit(from) => half >> from & 1,
                };
                (0..).zip(&sources).map(|(at, source)| bit(source) << at).sum()
            });
            let long = Instruction::decode(word);
            assert_eq!(long.op(), short.op(), "{half:#x}");
            if word != 0 {
                assert_eq!(long.to_string(), short.to_string(), "{half:#x}");
                assert_eq!(long.imm(), short.imm(), "{half:#x}");
            }
        }
    }
}
