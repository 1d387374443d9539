//! Patterns of a `match`: bits with places that do not count, and whether the arms are complete.

use super::control::{Decided, refuse};
use super::sig::{Sig, or_all};
use super::tree::{self, NodeId, Op, Statement};
use crate::emit::ir::Relation;
use crate::lang::Word;
use num_bigint::BigUint;
use std::panic::Location;

/// [`Sig::fits`] as a function, for patterns of `match`.
#[track_caller]
pub fn fits(value: Sig<Word>, pattern: &str) -> Sig<bool> {
    value.fits(pattern)
}

impl Sig<Word> {
    /// The value fits a pattern of bits, `"0?1"`, the highest first: `?` fits both, `_` only separates.
    #[track_caller]
    pub fn fits(self, pattern: &str) -> Sig<bool> {
        let value = self;
        let bits: Vec<char> = pattern.chars().filter(|bit| *bit != '_').collect();
        if bits.len() != value.width() {
            let message = format!(
                "a pattern of {} bits for a value of {} bits",
                bits.len(),
                value.width()
            );
            refuse(&message, Location::caller());
            return Decided::decided(false);
        }
        let mut tests: Vec<Sig<bool>> = Vec::new();
        let mut high = bits.len();
        while high > 0 {
            let run = bits[bits.len() - high..]
                .iter()
                .take_while(|bit| **bit != '?')
                .count();
            if run > 0 {
                let text: String = bits[bits.len() - high..][..run].iter().collect();
                let number =
                    Word::from_biguint(BigUint::parse_bytes(text.as_bytes(), 2).unwrap_or_default(), run);
                tests.push(
                    value
                        .slice(high - run, run)
                        .compare(Relation::Equal, false, number),
                );
            }
            high -= run.max(1);
        }
        tests
            .into_iter()
            .reduce(|a, b| a & b)
            .unwrap_or_else(|| Decided::decided(true))
    }

    /// The value fits one of the patterns at least. Patterns that differ in one bit alone become one.
    ///
    /// # Panics
    /// If there is no pattern.
    #[track_caller]
    pub fn fits_any<'a>(self, patterns: impl IntoIterator<Item = &'a str>) -> Sig<bool> {
        let patterns = merged(patterns);
        or_all(patterns.iter().map(|pattern| self.fits(pattern)))
    }
}

/// As few patterns for the same words as pairs that differ in one bit give.
fn merged<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let digits = |pattern: &str| pattern.chars().filter(|digit| *digit != '_').collect();
    let mut merged: Vec<String> = patterns.into_iter().map(digits).collect();
    let pair_of = |merged: &[String]| {
        let pairs = (0..merged.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
        pairs
            .filter_map(|(first, second)| Some((first, second, joined(&merged[first], &merged[second])?)))
            .next()
    };
    while let Some((first, second, joined)) = pair_of(&merged) {
        merged.swap_remove(second);
        merged[first] = joined;
    }
    merged
}

/// The pattern for the words of both, if they differ in one bit at most.
fn joined(one: &str, other: &str) -> Option<String> {
    let pairs = || one.chars().zip(other.chars());
    let differ = pairs().filter(|(a, b)| a != b);
    let is_near = differ.clone().count() <= 1 && differ.clone().all(|(a, b)| a != '?' && b != '?');
    (is_near && one.len() == other.len())
        .then(|| pairs().map(|(a, b)| if a == b { a } else { '?' }).collect())
}

/// The test of the last arm of a `match` without `_`, which is not done.
pub fn last_arm(test: &dyn Test) {
    if let Some(test) = test.node() {
        tree::with(|tree| tree.push(Statement::LastArm(test)));
    }
}

/// A test of an arm of a `match`.
pub trait Test {
    /// The value in the tree, if a signal decides.
    fn node(&self) -> Option<NodeId> {
        None
    }

    /// Whether it holds, if the generator decides; else the numbers that a value is compared with, and how many numbers there
    /// are, if it is such a comparison.
    fn cases(&self) -> Result<bool, Option<(Vec<BigUint>, u128)>>;
}

impl Test for bool {
    fn cases(&self) -> Result<bool, Option<(Vec<BigUint>, u128)>> {
        Ok(*self)
    }
}

impl Test for Sig<bool> {
    fn node(&self) -> Option<NodeId> {
        Some(self.id)
    }
    fn cases(&self) -> Result<bool, Option<(Vec<BigUint>, u128)>> {
        Err(
            tree::with(|tree| tree.compared_with(self.id)).and_then(|(value, labels)| {
                tree::with(|tree| {
                    let numbers = labels.iter().map(|label| match &tree.node(*label).op {
                        Op::Literal(number) => Some((number.clone(), None)),
                        Op::Variant(_, number, count) => Some((number.clone(), Some(*count as u128))),
                        _ => None,
                    });
                    let numbers: Vec<_> = numbers.collect::<Option<_>>()?;
                    let words = 1_u128.checked_shl(u32::try_from(tree.width(value)).ok()?);
                    let count = numbers.first().and_then(|(_, count)| *count).or(words)?;
                    Some((numbers.into_iter().map(|(number, _)| number).collect(), count))
                })
            }),
        )
    }
}

/// Refuses a `match` without `_` whose arms leave a value out.
///
/// # Panics
/// If the generator decides, and no arm fits.
#[track_caller]
pub fn complete(tests: &[&dyn Test]) {
    let mut values = std::collections::BTreeSet::new();
    let mut count = None;
    for test in tests {
        match test.cases() {
            Ok(true) => return,
            Ok(false) => {}
            Err(Some((labels, all))) => {
                values.extend(labels);
                count = Some(all);
            }
            Err(None) => count = Some(u128::MAX),
        }
    }
    match count {
        Some(count) if values.len() as u128 == count => {}
        Some(_) => refuse("the arms leave values out: add `_`", Location::caller()),
        None => panic!("{}: no arm of the match fits", Location::caller()),
    }
}
