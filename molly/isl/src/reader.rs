//! Texts that are one conjunction of affine conditions, read without isl's parser.
//!
//! That makes a piecewise function of each name and number and adds them up, which takes longer than most of what is done with
//! its answer. Here such a text becomes rows of coefficients. Whatever has another form, such as `or`, `mod`, `exists` or
//! parameters, is left to isl.

use std::collections::HashMap;

/// A constant and coefficients of variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Linear {
    pub(crate) constant: i64,
    pub(crate) terms: Vec<(usize, i64)>,
}

/// `name[...]`: how it is called, and how many coordinates it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tuple {
    pub(crate) name: Option<String>,
    pub(crate) dims: usize,
}

/// What a text says: one tuple of a set, two of a relation, and conditions on all their coordinates.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Conjunction {
    pub(crate) tuples: Vec<Tuple>,
    pub(crate) zero: Vec<Linear>,
    pub(crate) not_negative: Vec<Linear>,
}

/// Nothing if the text has another form.
pub(crate) fn read(text: &str) -> Option<Conjunction> {
    let mut reader = Reader {
        rest: text,
        variables: HashMap::new(),
        dims: 0,
        found: Conjunction::default(),
    };
    reader.take("{")?;
    reader.tuple()?;
    if reader.take("->").is_some() {
        reader.tuple()?;
    }
    if reader.take(":").is_some() {
        reader.conjunction()?;
    }
    reader.take("}")?;
    reader.rest.trim().is_empty().then_some(reader.found)
}

impl Linear {
    fn plus(mut self, other: &Self, factor: i64) -> Option<Self> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for &(variable, coefficient) in &other.terms {
            let more = coefficient.checked_mul(factor)?;
            match self.terms.iter_mut().find(|(known, _)| *known == variable) {
                Some((_, sum)) => *sum = sum.checked_add(more)?,
                None => self.terms.push((variable, more)),
            }
        }
        Some(self)
    }

    fn times(&self, other: &Self) -> Option<Self> {
        match (self.terms.is_empty(), other.terms.is_empty()) {
            (true, _) => Self::default().plus(other, self.constant),
            (_, true) => Self::default().plus(self, other.constant),
            _ => None,
        }
    }
}

struct Reader<'t> {
    rest: &'t str,
    variables: HashMap<&'t str, usize>,
    dims: usize,
    found: Conjunction,
}

impl<'t> Reader<'t> {
    fn take(&mut self, sign: &str) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(sign)?;
        Some(())
    }

    /// What begins the rest as long as it is of such characters; not if it is nothing.
    fn word(&mut self, of: impl Fn(char) -> bool) -> Option<&'t str> {
        let text = self.rest.trim_start();
        let end = text.find(|letter| !of(letter)).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        if word.is_empty() {
            return None;
        }
        self.rest = rest;
        Some(word)
    }

    /// A name, which does not begin with a digit.
    fn name(&mut self) -> Option<&'t str> {
        let is_digit = self
            .rest
            .trim_start()
            .starts_with(|letter: char| letter.is_ascii_digit());
        match is_digit {
            true => None,
            false => self.word(|letter| letter.is_ascii_alphanumeric() || letter == '_'),
        }
    }

    /// `name[a, b + 1, ...]`: names that are new are coordinates, and all else is what a coordinate is equal to.
    fn tuple(&mut self) -> Option<()> {
        let (name, first) = (self.name().map(str::to_owned), self.dims);
        self.take("[")?;
        while self.take("]").is_none() {
            if self.dims > first {
                self.take(",")?;
            }
            let before = self.rest;
            let coordinate = self.dims;
            self.dims += 1;
            match self.name() {
                Some(new) if !self.variables.contains_key(new) => {
                    self.variables.insert(new, coordinate);
                }
                _ => {
                    self.rest = before;
                    let equal = Linear {
                        constant: 0,
                        terms: vec![(coordinate, -1)],
                    };
                    let sum = self.sum()?;
                    self.found.zero.push(equal.plus(&sum, 1)?);
                }
            }
        }
        let dims = self.dims - first;
        self.found.tuples.push(Tuple { name, dims });
        Some(())
    }

    fn conjunction(&mut self) -> Option<()> {
        self.condition()?;
        while self.take("and ").is_some() {
            self.condition()?;
        }
        Some(())
    }

    /// Sums that are compared one with the next, or conditions in parentheses.
    fn condition(&mut self) -> Option<()> {
        let before = (self.rest, self.found.zero.len(), self.found.not_negative.len());
        if self.take("true").is_some() || self.comparisons().is_some() {
            return Some(());
        }
        self.rest = before.0;
        self.found.zero.truncate(before.1);
        self.found.not_negative.truncate(before.2);
        self.take("(")?;
        self.conjunction()?;
        self.take(")")
    }

    fn comparisons(&mut self) -> Option<()> {
        let mut left = self.sum()?;
        let mut compared = 0;
        while let Some(sign) = self.word(|letter| "<=>".contains(letter)) {
            let right = self.sum()?;
            let (to_right, to_left) = (right.clone().plus(&left, -1)?, left.plus(&right, -1)?);
            let one = Linear {
                constant: 1,
                ..Linear::default()
            };
            match sign {
                "=" => self.found.zero.push(to_right),
                "<=" => self.found.not_negative.push(to_right),
                ">=" => self.found.not_negative.push(to_left),
                "<" => self.found.not_negative.push(to_right.plus(&one, -1)?),
                ">" => self.found.not_negative.push(to_left.plus(&one, -1)?),
                _ => return None,
            }
            left = right;
            compared += 1;
        }
        (compared > 0).then_some(())
    }

    fn sum(&mut self) -> Option<Linear> {
        let mut sum = self.product()?;
        loop {
            let before = self.rest;
            if self.take("+").is_some() {
                sum = sum.plus(&self.product()?, 1)?;
            } else if self.take("->").is_none() && self.take("-").is_some() {
                sum = sum.plus(&self.product()?, -1)?;
            } else {
                self.rest = before;
                return Some(sum);
            }
        }
    }

    fn product(&mut self) -> Option<Linear> {
        let mut product = self.factor()?;
        while self.take("*").is_some() {
            product = product.times(&self.factor()?)?;
        }
        Some(product)
    }

    fn factor(&mut self) -> Option<Linear> {
        if self.take("-").is_some() {
            return Linear::default().plus(&self.factor()?, -1);
        }
        if self.take("(").is_some() {
            let sum = self.sum()?;
            self.take(")")?;
            return Some(sum);
        }
        if let Some(name) = self.name() {
            let terms = vec![(*self.variables.get(name)?, 1)];
            return Some(Linear { constant: 0, terms });
        }
        let constant = self.word(|letter| letter.is_ascii_digit())?.parse().ok()?;
        Some(Linear {
            constant,
            terms: Vec::new(),
        })
    }
}
