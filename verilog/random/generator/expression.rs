//! Random expressions of a given width.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A signal that an expression may read.
#[derive(Clone, Debug)]
pub(crate) struct Readable {
    /// How it is read, such as `self.a.val()`.
    pub(crate) text: String,
    /// Width in bits; None for a bit.
    pub(crate) width: Option<usize>,
}

/// What expressions are made of.
pub(crate) struct Expressions<'a> {
    pub(crate) rng: &'a mut ChaCha8Rng,
    pub(crate) readable: Vec<Readable>,
}

impl Expressions<'_> {
    /// A word of `width` bits.
    pub(crate) fn word(&mut self, width: usize, depth: usize) -> String {
        if depth == 0 {
            return self.leaf(width);
        }
        match self.rng.random_range(0..14) {
            0..=4 => self.arithmetic(width, depth),
            5 => format!("(!{})", self.word(width, depth - 1)),
            6 => format!("(-{})", self.word(width, depth - 1)),
            7 => self.shift(width, depth),
            8 => self.slice(width, depth),
            9 if width >= 2 => self.concatenation(width, depth),
            10 => format!("fill({}, {width})", self.bit(depth - 1)),
            11 => {
                let other = self.width();
                format!("({}).resize({width})", self.word(other, depth - 1))
            }
            12 => {
                let (index, bit) = (self.index(width), self.bit(depth - 1));
                format!("({}).replace_bit({index}, {bit})", self.word(width, depth - 1))
            }
            13 if width.is_multiple_of(8) => format!("({}).swap_bytes()", self.word(width, depth - 1)),
            _ => self.leaf(width),
        }
    }

    /// A bit.
    pub(crate) fn bit(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.bit_leaf();
        }
        match self.rng.random_range(0..9) {
            0..=2 => self.comparison(depth),
            3 => {
                let width = self.width();
                let reduction = self.choose(&["any", "all", "xor"]);
                format!("({}).{reduction}()", self.word(width, depth - 1))
            }
            4 => {
                let width = self.width();
                let index = self.index(width);
                format!("({}).get_bit({index})", self.word(width, depth - 1))
            }
            5 => format!("(!{})", self.bit(depth - 1)),
            6 | 7 => {
                // Without parentheses: the order of operators is Rust's.
                let op = self.choose(&["&", "|", "^", "&&", "||"]);
                format!("{} {op} {}", self.bit_operand(depth), self.bit_operand(depth))
            }
            _ => self.bit_leaf(),
        }
    }

    /// A width that some signal has, or any other.
    pub(crate) fn width(&mut self) -> usize {
        let widths: Vec<usize> = self.readable.iter().filter_map(|signal| signal.width).collect();
        if widths.is_empty() || self.rng.random_ratio(1, 4) {
            return self.rng.random_range(1..40);
        }
        widths[self.rng.random_range(0..widths.len())]
    }

    /// An index: a number within the width, or a small signal that may be out of range.
    pub(crate) fn index(&mut self, width: usize) -> String {
        let small: Vec<String> = self
            .readable
            .iter()
            .filter(|s| s.width.is_some_and(|w| w <= 6))
            .map(|s| s.text.clone())
            .collect();
        if small.is_empty() || self.rng.random_bool(0.5) {
            return self.rng.random_range(0..width).to_string();
        }
        format!("{}.index()", small[self.rng.random_range(0..small.len())])
    }

    fn leaf(&mut self, width: usize) -> String {
        let fitting: Vec<String> = self
            .readable
            .iter()
            .filter(|s| s.width == Some(width))
            .map(|s| s.text.clone())
            .collect();
        if !fitting.is_empty() && self.rng.random_ratio(3, 4) {
            return fitting[self.rng.random_range(0..fitting.len())].clone();
        }
        let words: Vec<String> = self
            .readable
            .iter()
            .filter(|s| s.width.is_some())
            .map(|s| s.text.clone())
            .collect();
        if words.is_empty() || self.rng.random_ratio(1, 3) {
            return format!("lit({}, {width})", self.number(width));
        }
        format!("{}.resize({width})", words[self.rng.random_range(0..words.len())])
    }

    fn bit_leaf(&mut self) -> String {
        let bits: Vec<String> = self
            .readable
            .iter()
            .filter(|s| s.width.is_none())
            .map(|s| s.text.clone())
            .collect();
        if bits.is_empty() {
            return "self.rst.val()".into();
        }
        bits[self.rng.random_range(0..bits.len())].clone()
    }

    fn bit_operand(&mut self, depth: usize) -> String {
        let bit = self.bit(depth - 1);
        if bit.contains("&&") || bit.contains("||") || self.rng.random_bool(0.5) {
            format!("({bit})")
        } else {
            bit
        }
    }

    fn arithmetic(&mut self, width: usize, depth: usize) -> String {
        let op = self.choose(&["+", "-", "&", "|", "^"]);
        let left = self.word(width, depth - 1);
        if self.rng.random_ratio(1, 5) {
            return format!("({left} {op} {})", self.number(width));
        }
        let right = self.word(width, depth - 1);
        // Without parentheses around the operands the order of operators is Rust's; all of these keep
        // the width, so every order has a type.
        if self.rng.random_bool(0.5) {
            format!("({left} {op} {right})")
        } else {
            format!("(({left}) {op} ({right}))")
        }
    }

    fn shift(&mut self, width: usize, depth: usize) -> String {
        let op = self.choose(&["<<", ">>"]);
        let value = self.word(width, depth - 1);
        if self.rng.random_bool(0.5) {
            return format!("(({value}) {op} {})", self.rng.random_range(0..width + 3));
        }
        let amount = self.rng.random_range(1..8);
        format!("(({value}) {op} ({}))", self.word(amount, depth - 1))
    }

    fn slice(&mut self, width: usize, depth: usize) -> String {
        let wider = width + self.rng.random_range(0..20);
        let offset = if self.rng.random_bool(0.5) {
            self.rng.random_range(0..=wider - width).to_string()
        } else {
            self.index(wider - width + 1)
        };
        format!("({}).slice({offset}, {width})", self.word(wider, depth - 1))
    }

    fn concatenation(&mut self, width: usize, depth: usize) -> String {
        let high = self.rng.random_range(1..width);
        let (a, b) = (self.word(high, depth - 1), self.word(width - high, depth - 1));
        format!("cat!({a}, {b})")
    }

    fn comparison(&mut self, depth: usize) -> String {
        let op = self.choose(&["==", "!=", "<", "<=", ">", ">="]);
        let width = self.width();
        let left = self.word(width, depth - 1);
        if self.rng.random_ratio(1, 4) {
            return format!("(({left}) {op} {})", self.number(width));
        }
        format!("(({left}) {op} ({}))", self.word(width, depth - 1))
    }

    fn number(&mut self, width: usize) -> u64 {
        let value: u64 = self.rng.random();
        let value = if self.rng.random_ratio(1, 4) {
            u64::MAX
        } else {
            value
        };
        value >> (64 - width.min(63)) as u32
    }

    fn choose<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.rng.random_range(0..texts.len())]
    }
}
