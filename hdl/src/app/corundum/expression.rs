//! Values of the expressions that widths and defaults are given by.

use std::collections::BTreeMap;
use thiserror::Error;

/// Why an expression has no value.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{expression}` has no value: {reason}")]
pub struct ExpressionError {
    /// The expression.
    pub expression: String,
    /// The reason.
    pub reason: String,
}

/// The value of an expression of Verilog over parameters: numbers, `+ - * / **`, `>`, `? :`, parentheses and `$clog2`.
///
/// # Errors
/// If it is no such expression, names no known parameter, divides by 0, or leaves the range of `u64`.
pub fn evaluate(text: &str, parameters: &BTreeMap<String, u64>) -> Result<u64, ExpressionError> {
    let mut reader = Reader { text, parameters };
    let value = reader.choice().and_then(|value| match reader.text.trim() {
        "" => Ok(value),
        rest => Err(format!("what is `{rest}`?")),
    });
    value.map_err(|reason| ExpressionError {
        expression: text.to_owned(),
        reason,
    })
}

/// Operators that bind equally: what their result is called, each with its function.
type Level = (
    &'static str,
    &'static [(&'static str, fn(u64, u64) -> Option<u64>)],
);

/// From the operators that bind least to those that bind most.
const LEVELS: &[Level] = &[
    ("comparison", &[(">", |a, b| Some(u64::from(a > b)))]),
    ("sum", &[("+", u64::checked_add), ("-", u64::checked_sub)]),
    ("product", &[("*", u64::checked_mul), ("/", u64::checked_div)]),
    ("power", &[("**", |a, b| a.checked_pow(u32::try_from(b).ok()?))]),
];

/// The rest of an expression.
struct Reader<'a> {
    text: &'a str,
    parameters: &'a BTreeMap<String, u64>,
}

impl Reader<'_> {
    fn accept(&mut self, token: &str) -> bool {
        let rest = self.text.trim_start().strip_prefix(token);
        self.text = rest.unwrap_or(self.text);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.accept(token) {
            return Ok(());
        }
        Err(format!("`{token}` is missing before `{}`", self.text))
    }

    fn choice(&mut self) -> Result<u64, String> {
        let condition = self.operators(LEVELS)?;
        if !self.accept("?") {
            return Ok(condition);
        }
        let yes = self.choice()?;
        self.expect(":")?;
        let no = self.choice()?;
        Ok(if condition != 0 { yes } else { no })
    }

    fn operators(&mut self, levels: &[Level]) -> Result<u64, String> {
        let [(result, operators), tighter @ ..] = levels else {
            return self.operand();
        };
        let mut value = self.operators(tighter)?;
        while let Some((_, function)) = operators.iter().find(|(token, _)| self.accept(token)) {
            let right = self.operators(tighter)?;
            value =
                function(value, right).ok_or_else(|| format!("a {result} leaves the range of numbers"))?;
        }
        Ok(value)
    }

    fn operand(&mut self) -> Result<u64, String> {
        if self.accept("$clog2") {
            let value = self.operand()?.checked_next_power_of_two();
            let value = value.ok_or("a logarithm leaves the range of numbers")?;
            return Ok(value.trailing_zeros().into());
        }
        if self.accept("(") {
            let value = self.choice()?;
            self.expect(")")?;
            return Ok(value);
        }
        let text = self.text.trim_start();
        let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '\''));
        let (word, rest) = text.split_at(end.unwrap_or(text.len()));
        self.text = rest;
        let value = match word.split_once("'h") {
            Some((_, digits)) => u64::from_str_radix(digits, 16).ok(),
            None => word.parse().ok().or_else(|| self.parameters.get(word).copied()),
        };
        value.ok_or_else(|| format!("`{word}` is neither a number nor a parameter before it"))
    }
}

#[cfg(test)]
mod tests {
    use super::evaluate;
    use std::collections::BTreeMap;

    fn value(text: &str) -> Result<u64, String> {
        let parameters = BTreeMap::from([("WIDTH".to_owned(), 512), ("PORTS".to_owned(), 3)]);
        evaluate(text, &parameters).map_err(|error| error.reason)
    }

    #[test]
    fn expressions_have_the_usual_precedence() {
        for (text, expected) in [
            ("WIDTH/8", 64),
            ("2 + 3*4 - 1", 13),
            ("(2+3)*4", 20),
            ("WIDTH*2**$clog2(PORTS)", 2048),
            ("PORTS > 1 ? $clog2(PORTS) : 1", 2),
            ("(0 ? 96 : 0) + 1", 1),
            ("16-$clog2(2*64)", 9),
            ("32'h12340100", 0x1234_0100),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_has_no_value_is_an_error_that_says_why() {
        for (text, reason) in [
            ("DEPTH", "`DEPTH` is neither a number nor a parameter before it"),
            ("(1", "`)` is missing before ``"),
            ("1 2", "what is `2`?"),
            ("1/0", "a product leaves the range of numbers"),
            ("1-2", "a sum leaves the range of numbers"),
            ("2**64", "a power leaves the range of numbers"),
            ("", "`` is neither a number nor a parameter before it"),
        ] {
            assert_eq!(value(text), Err(reason.to_owned()), "{text}");
        }
    }
}
