//! Numbers as expressions of a module's parameters.
//!
//! A kernel names numbers and says their values; here is found which of them a number of the text is. An expression is
//! taken only if it gives the right number for every variant of the module, and if no other one is as simple.

/// A number that a kernel names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: String,
    /// Its value in the instance that the module is made for.
    pub(crate) value: i64,
    /// How it follows from parameters, unless it is one itself.
    pub(crate) formula: Option<String>,
}

/// The largest difference between a named number and one of the text.
const FAR: i64 = 64;

/// The named numbers that tell the variants of a module apart: a value for each variant.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    names: Vec<(&'a str, Vec<i64>)>,
}

/// A number, or how it follows from named ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Formula {
    Constant(i64),
    /// A named number and what is added to it.
    Offset(String, i64),
    Times(String, i64),
    Over(String, i64),
    Sum(String, String, i64),
    Difference(String, String, i64),
}

impl<'a> Table<'a> {
    /// The numbers of the variants, each of which names the same ones. One that is the same in all of them, or always equal
    /// to one before it, that it follows from, tells nothing.
    pub(crate) fn new(variants: &[&'a [Named]]) -> Self {
        let mut names: Vec<(&str, Vec<i64>)> = Vec::new();
        // A parameter has 32 bits with a sign.
        let fits = |named: &Named| i32::try_from(named.value).is_ok();
        if !variants.iter().copied().flatten().all(fits) {
            return Self { names };
        }
        for (position, named) in variants.first().copied().unwrap_or_default().iter().enumerate() {
            let values: Vec<i64> = variants.iter().map(|variant| variant[position].value).collect();
            let repeats = named.formula.is_some() && names.iter().any(|(_, known)| *known == values);
            if varies(&values) && !repeats {
                names.push((named.name.as_str(), values));
            }
        }
        Self { names }
    }

    /// The simplest expression with these values, if there is only one.
    pub(crate) fn solve(&self, values: &[i64]) -> Option<Formula> {
        if !varies(values) {
            return values.first().copied().map(Formula::Constant);
        }
        let mut found = self.single(values);
        if found.is_empty() {
            found = self.pairs(values);
        }
        let least = found.iter().map(|(cost, _)| *cost).min()?;
        let mut simplest = found.into_iter().filter(|(cost, _)| *cost == least);
        let (_, formula) = simplest.next()?;
        simplest.next().is_none().then_some(formula)
    }

    /// Expressions of one named number, each with what it costs a reader.
    fn single(&self, values: &[i64]) -> Vec<(i64, Formula)> {
        let mut found = Vec::new();
        for (name, own) in &self.names {
            let name = || (*name).to_owned();
            let offset = values[0] - own[0];
            if offset.abs() <= FAR && agree(values, own.iter().map(|own| own + offset)) {
                found.push((offset.abs(), Formula::Offset(name(), offset)));
            }
            let (factor, divisor) = (quotient(values[0], own[0]), quotient(own[0], values[0]));
            if factor > 1 && agree(values, own.iter().map(|own| own * factor)) {
                found.push((2, Formula::Times(name(), factor)));
            }
            if divisor > 1 && agree(own, values.iter().map(|value| value * divisor)) {
                found.push((2, Formula::Over(name(), divisor)));
            }
        }
        found
    }

    /// Expressions of two named numbers.
    fn pairs(&self, values: &[i64]) -> Vec<(i64, Formula)> {
        let mut found = Vec::new();
        for (position, (first, a)) in self.names.iter().enumerate() {
            for (other, (second, b)) in self.names.iter().enumerate() {
                let (first, second) = ((*first).to_owned(), (*second).to_owned());
                let offset = values[0] - a[0] - b[0];
                let sums = a.iter().zip(b).map(|(a, b)| a + b + offset);
                if position < other && offset.abs() <= 1 && agree(values, sums) {
                    found.push((offset.abs(), Formula::Sum(first.clone(), second.clone(), offset)));
                }
                let offset = values[0] - a[0] + b[0];
                let differences = a.iter().zip(b).map(|(a, b)| a - b + offset);
                if position != other && offset.abs() <= 1 && agree(values, differences) {
                    found.push((offset.abs(), Formula::Difference(first, second, offset)));
                }
            }
        }
        found
    }
}

fn varies(values: &[i64]) -> bool {
    values.iter().any(|value| Some(value) != values.first())
}

fn agree(values: &[i64], expected: impl Iterator<Item = i64>) -> bool {
    values.iter().copied().eq(expected)
}

/// How often the second number is in the first, a power of two, as bits are in bytes; 0 if it does not divide it.
fn quotient(dividend: i64, divisor: i64) -> i64 {
    let divides = divisor > 0 && dividend % divisor == 0;
    let quotient = if divides { dividend / divisor } else { 0 };
    if quotient.count_ones() == 1 { quotient } else { 0 }
}

impl Formula {
    /// The number, if it is the same for all variants.
    pub(crate) fn constant(&self) -> Option<i64> {
        match self {
            Self::Constant(value) => Some(*value),
            _ => None,
        }
    }

    /// The number for a variant.
    pub(crate) fn value(&self, variant: &[Named]) -> Option<i64> {
        let of = |name: &str| {
            variant
                .iter()
                .find(|named| named.name == name)
                .map(|named| named.value)
        };
        Some(match self {
            Self::Constant(value) => *value,
            Self::Offset(name, offset) => of(name)? + offset,
            Self::Times(name, factor) => of(name)? * factor,
            Self::Over(name, divisor) => of(name)? / divisor,
            Self::Sum(a, b, offset) => of(a)? + of(b)? + offset,
            Self::Difference(a, b, offset) => of(a)? - of(b)? + offset,
        })
    }

    /// The named numbers in it.
    pub(crate) fn names(&self) -> Vec<&str> {
        match self {
            Self::Constant(_) => Vec::new(),
            Self::Offset(name, _) | Self::Times(name, _) | Self::Over(name, _) => vec![name],
            Self::Sum(a, b, _) | Self::Difference(a, b, _) => vec![a, b],
        }
    }

    /// The same with a number added to it.
    pub(crate) fn plus(&self, more: i64) -> String {
        match self {
            Self::Constant(value) => (value + more).to_string(),
            Self::Offset(name, offset) => with_offset(name, offset + more),
            Self::Times(name, factor) => with_offset(&format!("{name}*{factor}"), more),
            Self::Over(name, divisor) => with_offset(&format!("{name}/{divisor}"), more),
            Self::Sum(a, b, offset) => with_offset(&format!("{a}+{b}"), offset + more),
            Self::Difference(a, b, offset) => with_offset(&format!("{a}-{b}"), offset + more),
        }
    }

    /// Its text as one unit.
    pub(crate) fn unit(&self) -> String {
        match self {
            Self::Constant(_) | Self::Offset(_, 0) => self.plus(0),
            _ => format!("({})", self.plus(0)),
        }
    }
}

fn with_offset(text: &str, offset: i64) -> String {
    match offset {
        0 => text.to_owned(),
        1.. => format!("{text}+{offset}"),
        _ => format!("{text}-{}", -offset),
    }
}

/// An entry of the list of parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Declared {
    Parameter(String, i64),
    /// A number that follows from parameters.
    Number(String, String),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, value: i64) -> Named {
        let formula = None;
        Named {
            name: name.to_owned(),
            value,
            formula,
        }
    }

    fn solve(variants: &[&[Named]], values: &[i64]) -> Option<String> {
        Table::new(variants).solve(values).map(|formula| formula.plus(0))
    }

    #[test]
    fn finds_the_simplest_expression() {
        let small = [named("DEPTH", 16), named("WIDTH", 40), named("MARGIN", 1)];
        let large = [named("DEPTH", 64), named("WIDTH", 32), named("MARGIN", 6)];
        let variants = [&small[..], &large[..]];
        for (values, expected) in [
            ([16, 64], Some("DEPTH")),
            ([15, 63], Some("DEPTH-1")),
            ([5, 4], Some("WIDTH/8")),
            ([80, 64], Some("WIDTH*2")),
            ([15, 58], Some("DEPTH-MARGIN")),
            ([55, 95], Some("DEPTH+WIDTH-1")),
            ([7, 7], Some("7")),
            ([7, 1000], None),
            ([7, 42], None),
        ] {
            assert_eq!(solve(&variants, &values).as_deref(), expected, "{values:?}");
        }
    }

    #[test]
    fn guesses_nothing_where_two_expressions_are_as_simple() {
        let small = [named("DEPTH", 16), named("WIDTH", 16)];
        let large = [named("DEPTH", 64), named("WIDTH", 64)];
        assert_eq!(solve(&[&small, &large], &[16, 64]), None);
        // A number that follows from another one is as good as that.
        let follows = |value| Named {
            formula: Some("DEPTH - MARGIN".to_owned()),
            ..named("RISE", value)
        };
        let small = [named("DEPTH", 16), follows(16)];
        let large = [named("DEPTH", 64), follows(64)];
        assert_eq!(solve(&[&small, &large], &[16, 64]).as_deref(), Some("DEPTH"));
    }
}
