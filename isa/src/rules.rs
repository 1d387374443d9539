//! The effects of instructions as SystemVerilog, from [`Row::does`]: what proofs of a processor compare it with.
//!
//! ```text
//! effects   = effect { ";" effect } [ ":" remark ]
//! effect    = place "=" value | place "+=" value | "trap" number | "nothing"
//!           | "if" value "{" effects "}" [ "else" "{" effects "}" ]
//! place     = "x[rd]" | "pc" | "csr" | "mode" | "reserved" | memory
//! value     = expression { "," adverb }
//! memory    = "m8[" expression "]" | "m16[" expression "]" | "m32[" expression "]"
//! ```
//!
//! An expression has the operators of Rust with their precedence, words of 32 bits, and `next pc`, the address of the
//! instruction after this one. Adverbs hold for all of their value: `signed`, `the first signed` (of two factors), `the high
//! word` (of a product), `plus the carry` (of a sum), `sign-extended` (of memory); without them everything is unsigned.

use super::{COMPRESSED, Format, Row, Source, TABLE};
use std::fmt::Write as _;

/// Returns the module `hpu_rules`: the effect of an instruction, if it is one of `rows`.
///
/// Its ports are described in the text. An effect in `does` that is not in the notation is an error, which names the row.
///
/// # Errors
/// See above.
pub fn rules<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Result<String, String> {
    let mut expansions = String::new();
    for row in COMPRESSED {
        let word = row
            .expanded()
            .map_or("0".to_owned(), |word| gathered(&word, "insn"));
        let _ = writeln!(
            expansions,
            "            16'b{}: word = {word}; // {}",
            row.bits, row.name
        );
    }
    let mut effects = String::new();
    for row in rows {
        let effect = Parser::new(row)
            .translate()
            .map_err(|wrong| format!("{}: {wrong}: {}", row.name, row.does))?;
        let [rd, rs1, rs2] = row.format.registers();
        let _ = writeln!(
            effects,
            "            32'b{}: begin // {}: {}\n                fits = 1'b1; imm = {};",
            row.bits,
            row.name,
            row.does,
            operand(row.format)
        );
        for (is_used, name, bits) in [(rd, "rd", "11:7"), (rs1, "rs1", "19:15"), (rs2, "rs2", "24:20")] {
            if is_used {
                let _ = writeln!(effects, "                {name} = word[{bits}];");
            }
        }
        let _ = writeln!(effects, "                {effect}\n            end");
    }
    let patterns: Vec<_> = TABLE.iter().map(|row| format!("32'b{}", row.bits)).collect();
    Ok(include_str!("rules.sv")
        .replace("            // expansions\n", &expansions)
        .replace("            // effects\n", &effects)
        .replace("/* patterns */", &patterns.join(",\n            ")))
}

/// The immediate of an instruction; of CSR instructions without the number of the CSR.
fn operand(format: Format) -> String {
    match format {
        Format::Csr => "32'd0".to_owned(),
        Format::CsrImm => "{27'd0, word[19:15]}".to_owned(),
        _ => gathered(&format.imm_bits(), "word"),
    }
}

fn gathered(sources: &[Source], from: &str) -> String {
    let bits = sources.iter().rev().map(|source| match source {
        Source::Is(bit) => format!("1'b{}", u8::from(*bit)),
        Source::Bit(bit) => format!("{from}[{bit}]"),
    });
    format!("{{{}}}", bits.collect::<Vec<_>>().join(", "))
}

/// The words, numbers and signs of a text. A hyphen can be a part of a word.
fn tokens(text: &'static str) -> Vec<&'static str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_in_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let end = if first.is_ascii_alphanumeric() {
            rest.find(|c| !is_in_word(c)).unwrap_or(rest.len())
        } else {
            let is_double = ["<<", ">>"].iter().any(|sign| rest.starts_with(sign));
            let is_assigning = first != ',' && rest[1..].starts_with('=');
            if is_double || is_assigning {
                2
            } else {
                first.len_utf8()
            }
        };
        let (token, after) = rest.split_at(end);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

/// Operators of two operands, weakest first.
const OPERATORS: [&[&str]; 7] = [
    &["==", "!=", "<", ">="],
    &["|"],
    &["^"],
    &["&"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// Adverbs of a value.
#[derive(Clone, Copy, Default)]
struct Adverbs {
    /// Of the left and right operand.
    signed: [bool; 2],
    high: bool,
    carry: bool,
    extended: bool,
}

type Parsed<T = String> = Result<T, String>;

/// Translates as it reads. A value becomes an expression of 32 bits without a sign.
struct Parser {
    /// The tokens, last first.
    rest: Vec<&'static str>,
    adverbs: Adverbs,
    /// Statements for the memory that the current value reads.
    reads: String,
}

impl Parser {
    fn new(row: &Row) -> Self {
        let mut rest = tokens(row.does.split(": ").next().unwrap_or_default());
        rest.reverse();
        Self {
            rest,
            adverbs: Adverbs::default(),
            reads: String::new(),
        }
    }

    fn peek(&self) -> &'static str {
        self.rest.last().copied().unwrap_or("the end")
    }

    fn next(&mut self) -> &'static str {
        self.rest.pop().unwrap_or("the end")
    }

    fn take(&mut self, token: &str) -> bool {
        let is_it = self.peek() == token;
        if is_it {
            self.rest.pop();
        }
        is_it
    }

    fn expect(&mut self, token: &str) -> Parsed<()> {
        match self.next() {
            found if found == token => Ok(()),
            found => Err(format!("`{token}` is expected instead of `{found}`")),
        }
    }

    /// All effects.
    fn translate(mut self) -> Parsed {
        let text = self.effects()?;
        self.expect("the end")?;
        Ok(text)
    }

    fn effects(&mut self) -> Parsed {
        let mut all = vec![self.effect()?];
        while self.take(";") {
            all.push(self.effect()?);
        }
        Ok(all.join(" "))
    }

    fn effect(&mut self) -> Parsed {
        match self.peek() {
            "nothing" => {
                self.next();
                Ok(String::new())
            }
            "trap" => {
                self.next();
                Ok(format!("trap = 1'b1; cause = 5'd{};", self.next()))
            }
            "if" => {
                self.next();
                let condition = self.value()?;
                let reads = std::mem::take(&mut self.reads);
                let mut text = format!("{reads}if (|{condition}) {}", self.block()?);
                if self.take("else") {
                    let _ = write!(text, " else {}", self.block()?);
                }
                Ok(text)
            }
            _ => self.assignment(),
        }
    }

    fn block(&mut self) -> Parsed {
        self.expect("{")?;
        let effects = self.effects()?;
        self.expect("}")?;
        Ok(format!("begin {effects} end"))
    }

    fn assignment(&mut self) -> Parsed {
        // Text before the value, and what a compound assignment reads.
        let (target, old) = match self.next() {
            "x" => {
                self.expect("[")?;
                self.expect("rd")?;
                self.expect("]")?;
                ("rd_value =".to_owned(), "")
            }
            "pc" => ("next_pc =".to_owned(), "pc"),
            "csr" => ("writes_csr = 1'b1; next_csr =".to_owned(), "csr"),
            "mode" => ("next_mode =".to_owned(), ""),
            "reserved" => ("next_reserved =".to_owned(), ""),
            memory => {
                let mask = mask(memory)?;
                let address = self.address()?;
                (
                    format!("address = {address}; wmask = 4'd{mask}; wdata ="),
                    "memory",
                )
            }
        };
        let operator = self.next();
        let value = self.value()?;
        let reads = std::mem::take(&mut self.reads);
        match operator.strip_suffix('=') {
            Some("") => Ok(format!("{reads}{target} {value};")),
            Some(operator) if !old.is_empty() => {
                let reads = if old == "memory" { "rmask = 4'd15; " } else { "" };
                Ok(format!("{reads}{target} ({old} {operator} {value});"))
            }
            _ => Err(format!("`{operator}` does not assign here")),
        }
    }

    fn address(&mut self) -> Parsed {
        self.expect("[")?;
        let address = self.expression(0)?;
        self.expect("]")?;
        Ok(address)
    }

    /// An expression with the adverbs after it, which hold for all of it.
    fn value(&mut self) -> Parsed {
        let mut depth = 0;
        let comma = self.rest.iter().rposition(|token| {
            match *token {
                "(" | "[" => depth += 1,
                ")" | "]" => depth -= 1,
                _ => {}
            }
            matches!(*token, "," | ";" | "{" | "}") && depth == 0
        });
        let mut adverbs = Adverbs::default();
        if let Some(comma) = comma.filter(|comma| self.rest[*comma] == ",") {
            let end = self.rest[..comma]
                .iter()
                .rposition(|token| matches!(*token, ";" | "{" | "}"))
                .map_or(0, |end| end + 1);
            let words: Vec<_> = self.rest.drain(end..=comma).rev().skip(1).collect();
            for adverb in words.split(|word| *word == ",") {
                match adverb {
                    ["signed"] => adverbs.signed = [true; 2],
                    ["the", "first", "signed"] => adverbs.signed = [true, false],
                    ["the", "high", "word"] => adverbs.high = true,
                    ["the", "low", "word"] => {}
                    ["plus", "the", "carry"] => adverbs.carry = true,
                    ["sign-extended"] => adverbs.extended = true,
                    _ => return Err(format!("`{}` is unknown", adverb.join(" "))),
                }
            }
        }
        self.adverbs = adverbs;
        self.expression(0)
    }

    fn expression(&mut self, level: usize) -> Parsed {
        let Some(operators) = OPERATORS.get(level) else {
            return self.primary();
        };
        let mut left = self.expression(level + 1)?;
        while operators.contains(&self.peek()) {
            let operator = self.next();
            let signed = self.adverbs.signed;
            // The amount of a shift has no sign.
            if matches!(operator, "<<" | ">>") {
                self.adverbs.signed = [false; 2];
            }
            let right = self.expression(level + 1)?;
            self.adverbs.signed = signed;
            left = self.binary(operator, &left, &right);
        }
        Ok(left)
    }

    fn binary(&self, operator: &str, left: &str, right: &str) -> String {
        let is_signed = self.adverbs.signed == [true; 2];
        let [signed_left, signed_right] = [left, right].map(|operand| match is_signed {
            true => format!("$signed({operand})"),
            false => operand.to_owned(),
        });
        // A solver would take a remainder for a division.
        let modulus = right.strip_prefix("32'd").and_then(|digits| digits.parse().ok());
        let mask = modulus.filter(|number: &u32| number.is_power_of_two());
        match operator {
            "%" if let Some(number) = mask => format!("({left} & 32'd{})", number - 1),
            "==" | "!=" | "<" | ">=" => format!("{{31'd0, {signed_left} {operator} {signed_right}}}"),
            "/" | "%" if is_signed => {
                format!("$unsigned({signed_left} {operator} {signed_right})")
            }
            ">>" if is_signed => format!("$unsigned({signed_left} >>> {right})"),
            "+" if self.adverbs.carry => format!("with_carry({left}, {right})"),
            "*" if self.adverbs.high => {
                let [left, right] =
                    [(left, 0), (right, 1)].map(|(operand, side)| match self.adverbs.signed[side] {
                        true => format!("extended({operand})"),
                        false => format!("{{32'd0, {operand}}}"),
                    });
                format!("high_word({left}, {right})")
            }
            _ => format!("({left} {operator} {right})"),
        }
    }

    fn primary(&mut self) -> Parsed {
        Ok(match self.next() {
            "(" => {
                let inner = self.expression(0)?;
                self.expect(")")?;
                inner
            }
            "~" => format!("(~{})", self.primary()?),
            "-" => format!("(-{})", self.primary()?),
            "x" => {
                self.expect("[")?;
                let register = self.next();
                self.expect("]")?;
                match register {
                    "rs1" | "rs2" => format!("{register}_value"),
                    _ => return Err(format!("`x[{register}]` is not read")),
                }
            }
            "next" => {
                self.expect("pc")?;
                "following".to_owned()
            }
            word @ ("imm" | "pc" | "csr" | "mepc") => word.to_owned(),
            word @ ("rs1" | "rs2") => format!("{{27'd0, {word}}}"),
            word @ ("mode" | "mpp") => format!("{{30'd0, {word}}}"),
            "reserved" => "{31'd0, reserved}".to_owned(),
            "user" | "false" => "32'd0".to_owned(),
            "true" => "32'd1".to_owned(),
            word @ ("min" | "max") => {
                self.expect("(")?;
                let left = self.expression(0)?;
                self.expect(",")?;
                let right = self.expression(0)?;
                self.expect(")")?;
                let is_less = self.binary("<", &left, &right);
                let (first, second) = if word == "min" {
                    (left, right)
                } else {
                    (right, left)
                };
                format!("(|{is_less} ? {first} : {second})")
            }
            word if word.starts_with('m') => {
                let mask = mask(word)?;
                let address = self.address()?;
                let _ = write!(self.reads, "address = {address}; rmask = 4'd{mask}; ");
                let top = match mask {
                    1 => 7,
                    3 => 15,
                    _ => return Ok("memory".to_owned()),
                };
                let filling = if self.adverbs.extended {
                    format!("memory[{top}]")
                } else {
                    "1'b0".to_owned()
                };
                format!("{{{{{}{{{filling}}}}}, memory[{top}:0]}}", 31 - top)
            }
            number if number.starts_with(|first: char| first.is_ascii_digit()) => format!("32'd{number}"),
            found => return Err(format!("`{found}` is no value")),
        })
    }
}

fn mask(memory: &str) -> Parsed<u8> {
    match memory {
        "m8" => Ok(1),
        "m16" => Ok(3),
        "m32" => Ok(15),
        _ => Err(format!("`{memory}` is no place")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Parser, rules};
    use crate::{Row, TABLE};

    fn effect(does: &'static str) -> Result<String, String> {
        Parser::new(&Row { does, ..TABLE[0] }).translate()
    }

    #[test]
    fn every_effect_is_in_the_notation() {
        let text = rules(TABLE).expect("all effects are in the notation");
        for row in TABLE {
            assert!(text.contains(&format!("// {}: {}\n", row.name, row.does)));
        }
    }

    #[test]
    fn translates_signs_memory_and_conditions() {
        for (does, expected) in [
            (
                "x[rd] = x[rs1] >> x[rs2] % 32, signed",
                "rd_value = $unsigned($signed(rs1_value) >>> (rs2_value & 32'd31));",
            ),
            (
                "x[rd] = m8[x[rs1] + imm], sign-extended",
                "address = (rs1_value + imm); rmask = 4'd1; rd_value = {{24{memory[7]}}, memory[7:0]};",
            ),
            (
                "if x[rs1] < x[rs2], signed { pc += imm }",
                "if (|{31'd0, $signed(rs1_value) < $signed(rs2_value)}) begin next_pc = (pc + imm); end",
            ),
            (
                "x[rd] = x[rs1] + x[rs2], plus the carry",
                "rd_value = with_carry(rs1_value, rs2_value);",
            ),
            ("nothing: it is a remark", ""),
        ] {
            assert_eq!(effect(does).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn names_what_it_does_not_understand() {
        for (does, wrong) in [
            ("x[rd] = x[rs1] +", "`the end` is no value"),
            ("x[rd] = imm, slowly", "`slowly` is unknown"),
            ("x[rs1] = imm", "`rd` is expected instead of `rs1`"),
            ("m64[imm] = imm", "`m64` is no place"),
            ("mode += imm", "`+=` does not assign here"),
            ("x[rd] = imm }; trap 3", "`the end` is expected instead of `}`"),
        ] {
            assert!(
                effect(does).is_err_and(|error| error == wrong),
                "{does}: {:?}",
                effect(does)
            );
        }
    }
}
