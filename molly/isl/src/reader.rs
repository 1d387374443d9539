//! A fast parser for affine conditions.
//!
//! isl makes a piecewise function of each name and number and adds them up, which takes longer than most uses of the
//! answer. This parser turns such a text into rows of coefficients, in a part for each case of its `or`. `mod`, `floor`
//! and `exists` make hidden variables. Texts of another form, such as those with `not`, `min` or parameters, are left
//! to isl.

use std::collections::HashMap;

/// Cases in which a text may end; more of them are left to isl.
const MOST_PARTS: usize = 64;

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

/// Conditions that have to be met together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Conjunction {
    pub(crate) zero: Vec<Linear>,
    pub(crate) not_negative: Vec<Linear>,
}

/// The content of a text: one tuple of a set, two of a relation, and cases of conditions on all their coordinates.
/// Variables from the number of coordinates on are hidden: some value of them must exist.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Description {
    pub(crate) tuples: Vec<Tuple>,
    pub(crate) parts: Vec<Conjunction>,
}

/// Nothing if the text has another form.
pub(crate) fn read(text: &str) -> Option<Description> {
    let mut reader = Reader {
        rest: text,
        variables: HashMap::new(),
        coordinates: 0,
        hidden: None,
        tuples: Vec::new(),
        met: Conjunction::default(),
    };
    reader.take("{")?;
    reader.tuple()?;
    if reader.take("->").is_some() {
        reader.tuple()?;
    }
    let equal = std::mem::take(&mut reader.met);
    let mut parts = vec![equal];
    if reader.take(":").is_some() {
        reader.hidden = Some(0);
        parts = both(&parts, &reader.disjunction()?)?;
    }
    reader.take("}")?;
    let tuples = reader.tuples;
    reader
        .rest
        .trim()
        .is_empty()
        .then_some(Description { tuples, parts })
}

/// The cases in which one of each meets its conditions.
fn both(some: &[Conjunction], others: &[Conjunction]) -> Option<Vec<Conjunction>> {
    if some.len() * others.len() > MOST_PARTS {
        return None;
    }
    let pairs = some
        .iter()
        .flat_map(|one| others.iter().map(move |other| (one, other)));
    Some(pairs.map(|(one, other)| one.clone().and(other)).collect())
}

impl Conjunction {
    fn and(mut self, other: &Self) -> Self {
        self.zero.extend_from_slice(&other.zero);
        self.not_negative.extend_from_slice(&other.not_negative);
        self
    }

    /// The hidden variables that it has, where `dims` is the number of coordinates.
    pub(crate) fn hidden(&self, dims: usize) -> Vec<usize> {
        let all = self.zero.iter().chain(&self.not_negative);
        let mut hidden: Vec<usize> = all
            .flat_map(|linear| linear.terms.iter().map(|term| term.0))
            .filter(|variable| *variable >= dims)
            .collect();
        hidden.sort_unstable();
        hidden.dedup();
        hidden
    }
}

impl Linear {
    fn number(constant: i64) -> Self {
        Self {
            constant,
            ..Self::default()
        }
    }

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
    coordinates: usize,
    /// Hidden variables so far; none can come before all coordinates are known.
    hidden: Option<usize>,
    tuples: Vec<Tuple>,
    /// Conditions that must hold in addition to those that are being read.
    met: Conjunction,
}

impl<'t> Reader<'t> {
    fn take(&mut self, sign: &str) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(sign)?;
        Some(())
    }

    /// Takes the longest beginning of the rest that consists of such characters; `None` if it is empty.
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
        let (name, first) = (self.name().map(str::to_owned), self.coordinates);
        self.take("[")?;
        while self.take("]").is_none() {
            if self.coordinates > first {
                self.take(",")?;
            }
            let before = self.rest;
            let coordinate = self.coordinates;
            self.coordinates += 1;
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
                    self.met.zero.push(equal.plus(&sum, 1)?);
                }
            }
        }
        let dims = self.coordinates - first;
        self.tuples.push(Tuple { name, dims });
        Some(())
    }

    fn disjunction(&mut self) -> Option<Vec<Conjunction>> {
        let mut parts = self.conjunction()?;
        while self.take("or ").is_some() {
            parts.extend(self.conjunction()?);
        }
        Some(parts)
    }

    fn conjunction(&mut self) -> Option<Vec<Conjunction>> {
        let mut parts = self.condition()?;
        while self.take("and ").is_some() {
            parts = both(&parts, &self.condition()?)?;
        }
        Some(parts)
    }

    /// Sums that are compared one with the next, or conditions in parentheses.
    fn condition(&mut self) -> Option<Vec<Conjunction>> {
        if self.take("true").is_some() {
            return Some(vec![Conjunction::default()]);
        }
        if self.take("false").is_some() {
            return Some(Vec::new());
        }
        if self.take("exists ").is_some() {
            return self.exists();
        }
        let before = (self.rest, self.hidden);
        if let Some(compared) = self.comparisons() {
            return Some(compared);
        }
        self.met = Conjunction::default();
        (self.rest, self.hidden) = before;
        self.take("(")?;
        let parts = self.disjunction()?;
        self.take(")")?;
        Some(parts)
    }

    /// `(a, b : ...)`, where the names are new.
    fn exists(&mut self) -> Option<Vec<Conjunction>> {
        let mut names = Vec::new();
        self.take("(")?;
        while self.take(":").is_none() {
            if !names.is_empty() {
                self.take(",")?;
            }
            let (name, variable) = (self.name()?, self.another()?);
            if self.variables.insert(name, variable).is_some() {
                return None;
            }
            names.push(name);
        }
        let parts = self.disjunction()?;
        self.take(")")?;
        for name in names {
            self.variables.remove(name);
        }
        Some(parts)
    }

    /// A new hidden variable.
    fn another(&mut self) -> Option<usize> {
        let hidden = self.hidden.as_mut()?;
        *hidden += 1;
        Some(self.coordinates + *hidden - 1)
    }

    fn comparisons(&mut self) -> Option<Vec<Conjunction>> {
        let mut left = self.sum()?;
        let mut parts = vec![Conjunction::default()];
        let mut compared = 0;
        while let Some(sign) = self.word(|letter| "<=>!".contains(letter)) {
            let right = self.sum()?;
            let (to_right, to_left) = (right.clone().plus(&left, -1)?, left.plus(&right, -1)?);
            let not_negative = |linear: Linear| Conjunction {
                not_negative: vec![linear],
                ..Conjunction::default()
            };
            let less = |linear: Linear| Some(not_negative(linear.plus(&Linear::number(1), -1)?));
            let cases = match sign {
                "=" => vec![Conjunction {
                    zero: vec![to_right],
                    ..Conjunction::default()
                }],
                "!=" => vec![less(to_right)?, less(to_left)?],
                "<=" => vec![not_negative(to_right)],
                ">=" => vec![not_negative(to_left)],
                "<" => vec![less(to_right)?],
                ">" => vec![less(to_left)?],
                _ => return None,
            };
            parts = both(&parts, &cases)?;
            left = right;
            compared += 1;
        }
        let met = std::mem::take(&mut self.met);
        (compared > 0).then(|| parts.into_iter().map(|part| part.and(&met)).collect())
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

    /// The operand of `mod` comes right before it: `-2 * x mod 3` is `-2 * (x mod 3)`.
    fn factor(&mut self) -> Option<Linear> {
        if self.take("-").is_some() {
            return Linear::default().plus(&self.factor()?, -1);
        }
        let mut factor = self.term()?;
        while self.take("mod ").is_some() {
            let by = self.number()?;
            let quotient = self.quotient(&factor, by)?;
            factor = factor.plus(&quotient, by.checked_neg()?)?;
        }
        Some(factor)
    }

    fn term(&mut self) -> Option<Linear> {
        if self.take("floor(").is_some() {
            let sum = self.sum()?;
            self.take("/")?;
            let by = self.number()?;
            self.take(")")?;
            return self.quotient(&sum, by);
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
        self.number().map(Linear::number)
    }

    fn number(&mut self) -> Option<i64> {
        self.word(|letter| letter.is_ascii_digit())?.parse().ok()
    }

    /// The whole quotient of a division by a positive number, as a hidden variable: the rest is not negative and less
    /// than the number.
    fn quotient(&mut self, of: &Linear, by: i64) -> Option<Linear> {
        let quotient = Linear {
            constant: 0,
            terms: vec![(self.another()?, 1)],
        };
        let rest = of.clone().plus(&quotient, by.checked_neg()?)?;
        let behind = Linear::number(by.checked_sub(1).filter(|behind| *behind >= 0)?).plus(&rest, -1)?;
        self.met.not_negative.extend([rest, behind]);
        Some(quotient)
    }
}
