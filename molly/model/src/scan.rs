//! Loops over the points of a convex set, straight from its conditions.
//!
//! Each coordinate runs between the bounds that the set has when all later ones are left out. These bounds are not
//! always exact, and need not be: the conditions on a coordinate are checked where it gets its value. So an outer loop
//! may have turns that visit nothing, and no point outside the set is visited. isl's own code generation gives tidier
//! loops for more sets, and takes a hundred times as long.

use crate::Result;
use crate::expressions::{Op, Value};
use crate::tree::{Call, LoopRange, Tree};
use spinneret_isl::{Condition, Conditions, Kind, Set};

/// Conditions on coordinates that are given, and those on each of the others.
#[derive(Debug)]
pub(crate) struct Scan {
    /// Coordinates that are given.
    given: usize,
    pub(crate) guard: Vec<Condition>,
    levels: Vec<Vec<Condition>>,
}

impl Scan {
    /// For the points of a set of one part whose first coordinates are given; nothing if the set has conditions of another
    /// form.
    pub(crate) fn exact(set: &Set, given: usize) -> Result<Option<Self>> {
        let conditions = set.conditions()?;
        match conditions.is_exact {
            true => Self::new(set, conditions, given),
            false => Ok(None),
        }
    }

    /// As [`Scan::exact`], perhaps with other points between those of the set; nothing if the set has no bounds.
    pub(crate) fn around_all(set: &Set, given: usize) -> Result<Option<Self>> {
        Self::new(set, set.conditions()?, given)
    }

    fn new(set: &Set, all: Conditions, given: usize) -> Result<Option<Self>> {
        let dims = set.dims()?;
        let mut levels = vec![Vec::new(); dims - given];
        let mut guard = Vec::new();
        let mut add = |condition: Condition| {
            let conditions = match condition.last() {
                Some(last) if last >= given => &mut levels[last - given],
                _ => &mut guard,
            };
            if !conditions.contains(&condition) {
                conditions.push(condition);
            }
        };
        all.all.into_iter().for_each(&mut add);
        let mut outer = set.clone();
        for at in (given..dims).rev() {
            outer = outer.project_out(at as u32, 1)?;
            for mut condition in outer.conditions()?.all {
                condition.coefficients.resize(dims, 0);
                if condition.last().is_some_and(|last| last + 1 == at) {
                    add(condition);
                }
            }
        }
        let is_bounded = |(level, conditions): (usize, &Vec<Condition>)| {
            let of = |condition: &Condition| condition.coefficients[given + level];
            let bounds = |sign: i64| {
                conditions.iter().any(|condition| match condition.kind {
                    Kind::Zero => true,
                    Kind::NotNegative => of(condition) * sign > 0,
                    Kind::Multiple(_) => false,
                })
            };
            let steps = conditions
                .iter()
                .filter(|condition| matches!(condition.kind, Kind::Multiple(_)));
            let is_step = |condition: &Condition| match condition.kind {
                Kind::Multiple(by) => inverse(of(condition), by).is_some(),
                _ => true,
            };
            bounds(1) && bounds(-1) && steps.count() <= 1 && conditions.iter().all(is_step)
        };
        Ok(levels
            .iter()
            .enumerate()
            .all(is_bounded)
            .then_some(Self { given, guard, levels }))
    }

    /// The loops; given coordinates are in the first slots, and the others are arguments of the call.
    pub(crate) fn tree(&self, call: Call) -> Tree {
        let slots = (0..self.levels.len()).map(|level| Value::Slot(self.given + level));
        self.around(Tree::Call(call, slots.collect()))
    }

    /// The loops around something.
    pub(crate) fn around(&self, inner: Tree) -> Tree {
        let mut tree = inner;
        for (level, conditions) in self.levels.iter().enumerate().rev() {
            let slot = self.given + level;
            let (from, to, step) = range(conditions, slot);
            let values = LoopRange { slot, from, to, step };
            tree = Tree::looped(values, tree);
        }
        match all_of(&self.guard) {
            Some(condition) => Tree::If(condition, Box::new(tree), None),
            None => tree,
        }
    }
}

/// All of some conditions; nothing if there are none.
pub(crate) fn all_of(conditions: &[Condition]) -> Option<Value> {
    let each = |condition: &Condition| {
        let (sum, zero) = (sum(condition, None, 1), Value::Number(0));
        match condition.kind {
            Kind::Zero => Value::Op(Op::Eq, vec![sum, zero]),
            Kind::NotNegative => Value::Op(Op::Ge, vec![sum, zero]),
            Kind::Multiple(by) => Value::Op(
                Op::Eq,
                vec![Value::Op(Op::Rem, vec![sum, Value::Number(by)]), zero],
            ),
        }
    };
    let mut values: Vec<Value> = conditions.iter().map(each).collect();
    match values.len() {
        0 | 1 => values.pop(),
        _ => Some(Value::Op(Op::And, values)),
    }
}

/// The first and the last possible value of a coordinate, and from one to the next.
fn range(conditions: &[Condition], slot: usize) -> (Value, Value, i64) {
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    for condition in conditions {
        let factor = condition.coefficients[slot];
        let is_equal = condition.kind == Kind::Zero;
        if matches!(condition.kind, Kind::Multiple(_)) {
            continue;
        }
        // c + a x >= 0 is x >= -floor(c / a), or x <= floor(c / -a) for negative a.
        if factor > 0 || is_equal {
            let rest = sum(condition, Some(slot), factor.signum());
            lower.push(negated(quotient(rest, factor.abs())));
        }
        if factor < 0 || is_equal {
            let rest = sum(condition, Some(slot), -factor.signum());
            upper.push(quotient(rest, factor.abs()));
        }
    }
    let (from, to) = (one_of(Op::Max, lower), one_of(Op::Min, upper));
    let step = conditions.iter().find_map(|condition| match condition.kind {
        Kind::Multiple(by) => Some((condition, by)),
        _ => None,
    });
    let Some((condition, by)) = step else {
        return (from, to, 1);
    };
    // c + a x is a multiple of m where x and -c / a have the same rest.
    let inverse = inverse(condition.coefficients[slot], by).unwrap_or(1);
    let origin = sum(condition, Some(slot), -inverse);
    let distance = Value::Op(Op::Sub, vec![origin, from.clone()]);
    let distance = Value::Op(Op::Rem, vec![distance, Value::Number(by)]);
    (Value::Op(Op::Add, vec![from, distance]), to, by)
}

/// The constant and the terms of a condition without that of one coordinate, all times a factor.
fn sum(condition: &Condition, without: Option<usize>, factor: i64) -> Value {
    let constant = condition.constant * factor;
    let mut sum = None;
    for (slot, coefficient) in condition.coefficients.iter().enumerate() {
        let coefficient = coefficient * factor;
        if coefficient == 0 || Some(slot) == without {
            continue;
        }
        let term = match coefficient {
            1 => Value::Slot(slot),
            _ => Value::Op(Op::Mul, vec![Value::Number(coefficient), Value::Slot(slot)]),
        };
        sum = Some(match sum {
            Some(sum) => Value::Op(Op::Add, vec![sum, term]),
            None => term,
        });
    }
    match (sum, constant) {
        (None, _) => Value::Number(constant),
        (Some(sum), 0) => sum,
        (Some(sum), _) => Value::Op(Op::Add, vec![sum, Value::Number(constant)]),
    }
}

fn quotient(value: Value, by: i64) -> Value {
    match (value, by) {
        (value, 1) => value,
        (Value::Number(number), _) => Value::Number(number.div_euclid(by)),
        (value, _) => Value::Op(Op::Div, vec![value, Value::Number(by)]),
    }
}

fn negated(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(-number),
        value => Value::Op(Op::Neg, vec![value]),
    }
}

fn one_of(op: Op, mut values: Vec<Value>) -> Value {
    match values.len() {
        1 => values.swap_remove(0),
        _ => Value::Op(op, values),
    }
}

/// The number whose product with `factor` has the rest 1, if there is one.
fn inverse(factor: i64, by: i64) -> Option<i64> {
    let (mut a, mut b) = ((factor.rem_euclid(by), 1), (by, 0));
    while a.0 != 0 {
        let times = b.0 / a.0;
        (a, b) = ((b.0 - times * a.0, b.1 - times * a.1), a);
    }
    (b.0 == 1).then(|| b.1.rem_euclid(by))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Points of a set for given first coordinates, as its loops visit them.
    fn points(text: &str, given: &[i64]) -> Option<Vec<Vec<i64>>> {
        let set = Set::parse(text).unwrap();
        let scan = Scan::exact(&set, given.len()).unwrap()?;
        let mut points = Vec::new();
        let Ok(()) = scan.tree(Call::Element).visit(&mut given.to_vec(), &mut |row| {
            row.each(|point| {
                points.push(point.to_vec());
                Ok::<(), Infallible>(())
            })
        });
        Some(points)
    }

    #[test]
    fn loops_visit_each_point_once_and_in_order() {
        let triangle = "{ [n, x, y] : 0 <= n < 9 and 0 <= x < n and x <= 2 y < 5 }";
        assert_eq!(
            points(triangle, &[3]).unwrap(),
            [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 1], [2, 2]]
        );
        assert_eq!(points(triangle, &[10]).unwrap(), [[0; 2]; 0]);
        let colours = "{ [c, x, y] : 0 <= c < 3 and 0 <= x < 2 and 0 <= y < 5 and (x + 2 y - c) mod 3 = 0 }";
        assert_eq!(points(colours, &[1]).unwrap(), [[0, 2], [1, 0], [1, 3]]);
        // 3 x = 2 y: of the values of x only the even ones have a y.
        let line = "{ [x, y] : 3 x = 2 y and 0 <= x < 6 }";
        assert_eq!(points(line, &[]).unwrap(), [[0, 0], [2, 3], [4, 6]]);
    }

    #[test]
    fn inverses() {
        for by in 2..20 {
            for factor in -20..20 {
                let found = inverse(factor, by);
                let expected = (0..by).find(|other| (factor * other).rem_euclid(by) == 1);
                assert_eq!(found, expected, "{factor} by {by}");
            }
        }
    }
}
