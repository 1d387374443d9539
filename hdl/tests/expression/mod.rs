//! Expressions of the contract's tables: sums, products, parentheses, `$clog2`, numbers and parameters.

use std::collections::BTreeMap;

/// The value of an expression over parameters; division is exact in all of them.
///
/// # Panics
/// If it is no expression.
pub(crate) fn evaluate(text: &str, parameters: &BTreeMap<String, u64>) -> u64 {
    let mut reader = Reader { text, parameters };
    let value = reader.sum();
    assert!(
        reader.text.trim().is_empty(),
        "`{text}`: what is `{}`?",
        reader.text
    );
    value
}

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

    fn sum(&mut self) -> u64 {
        let mut value = self.product();
        loop {
            if self.accept("+") {
                value += self.product();
            } else if self.accept("-") {
                value -= self.product();
            } else {
                return value;
            }
        }
    }

    fn product(&mut self) -> u64 {
        let mut value = self.operand();
        loop {
            if self.accept("*") {
                value *= self.operand();
            } else if self.accept("/") {
                value /= self.operand();
            } else {
                return value;
            }
        }
    }

    fn operand(&mut self) -> u64 {
        if self.accept("$clog2") {
            return self.operand().next_power_of_two().trailing_zeros().into();
        }
        if self.accept("(") {
            let value = self.sum();
            assert!(self.accept(")"), "`)` is missing before `{}`", self.text);
            return value;
        }
        let text = self.text.trim_start();
        let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '\''));
        let (word, rest) = text.split_at(end.unwrap_or(text.len()));
        self.text = rest;
        let parsed = match word.split_once("'h") {
            Some((_, digits)) => u64::from_str_radix(digits, 16).ok(),
            None => word.parse().ok().or_else(|| self.parameters.get(word).copied()),
        };
        parsed.unwrap_or_else(|| panic!("`{word}` is neither a number nor a parameter before it"))
    }
}

#[test]
fn expressions_have_the_usual_precedence() {
    let parameters = BTreeMap::from([("A".to_owned(), 20), ("B".to_owned(), 32)]);
    for (text, value) in [
        ("1+2*3-4/2", 5),
        ("(A+1)*2", 42),
        ("A-$clog2(2*B)", 14),
        ("$clog2(2) + $clog2(9)", 5),
        ("32'h1f", 31),
    ] {
        assert_eq!(evaluate(text, &parameters), value, "{text}");
    }
}
