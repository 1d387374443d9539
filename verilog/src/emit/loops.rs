//! Statements that differ in numbers only, each by the same step from the one before, become a loop.

use super::marks::{self, Number, Piece, Shape, WRAP};

/// Nested loops have a variable each.
const VARIABLES: [&str; 3] = ["i", "j", "k"];
/// The most statements that are repeated together.
const PERIODS: usize = 3;
/// The fewest turns of a loop, and the fewest lines that it saves: less is read faster as it is.
const LEAST: (usize, usize) = (3, 3);

/// The variable of a loop, by the number of loops around it.
pub(crate) fn variable(number: usize) -> &'static str {
    VARIABLES[number]
}

/// Whether a loop's variable has this name.
pub(crate) fn is_variable(name: &str) -> bool {
    VARIABLES.contains(&name)
}

/// Appends statements, each a text of its own at the given depth, and writes runs of them as loops.
pub(crate) fn append(statements: Vec<String>, indent: usize, out: &mut String) {
    let mut statements = statements;
    for _ in VARIABLES {
        let (folded, found) = fold(&statements, indent);
        statements = folded;
        if !found {
            break;
        }
    }
    out.extend(statements);
}

/// Instances, each a text of its own, as a loop; none if they differ in more than numbers.
pub(crate) fn generate(instances: &[String], label: &str) -> Option<String> {
    let parsed: Vec<Vec<Piece>> = instances.iter().map(|text| marks::pieces(text)).collect();
    let run = Run::first(&parsed, 1).filter(|run| run.turns == instances.len())?;
    Some(run.looped(&parsed, 1, Shape::Generate, &format!(" : {label}")))
}

/// One round: runs that are left to right the longest become loops.
fn fold(statements: &[String], indent: usize) -> (Vec<String>, bool) {
    let parsed: Vec<Vec<Piece>> = statements.iter().map(|text| marks::pieces(text)).collect();
    let (mut folded, mut found, mut position) = (Vec::new(), false, 0);
    while position < statements.len() {
        let rest = &parsed[position..];
        let runs = (1..=PERIODS).filter_map(|period| Run::first(rest, period));
        // The most statements are taken, in the shortest form.
        match runs.max_by_key(|run| (run.turns * run.period, PERIODS - run.period)) {
            Some(run) => {
                folded.push(run.text(rest, indent));
                position += run.turns * run.period;
                found = true;
            }
            None => {
                folded.push(statements[position].clone());
                position += 1;
            }
        }
    }
    (folded, found)
}

/// Statements that repeat.
struct Run {
    period: usize,
    turns: usize,
    /// By how much each number of a turn grows.
    steps: Vec<i64>,
}

impl Run {
    /// The run that the statements begin with.
    fn first(statements: &[Vec<Piece>], period: usize) -> Option<Self> {
        let mut turns = statements.chunks_exact(period);
        let first = numbers(turns.next()?);
        let second = turns.next()?;
        if !alike(&statements[..period], second) {
            return None;
        }
        let steps: Vec<i64> = first
            .iter()
            .zip(numbers(second))
            .map(|((a, _), (b, _))| b - a)
            .collect();
        let allowed = first
            .iter()
            .zip(&steps)
            .all(|((_, may), step)| *may || *step == 0);
        if !allowed || steps.iter().all(|step| *step == 0) {
            return None;
        }
        let follows = |(turn, statement): (usize, &[Vec<Piece>])| {
            let turn = i64::try_from(turn).unwrap_or(i64::MAX);
            let expected = first
                .iter()
                .zip(&steps)
                .map(|((base, _), step)| base + turn * step);
            alike(&statements[..period], statement)
                && expected.eq(numbers(statement).into_iter().map(|(value, _)| value))
        };
        let turns = statements
            .chunks_exact(period)
            .enumerate()
            .take_while(|turn| follows(*turn))
            .count();
        let lines = lines(&statements[..period]);
        let depth = statements[..period]
            .iter()
            .flatten()
            .filter_map(deepest)
            .max()
            .map_or(0, |deepest| deepest + 1);
        let helps = turns >= LEAST.0 && lines * turns >= lines + 2 + LEAST.1 && depth < VARIABLES.len();
        helps.then_some(Self { period, turns, steps })
    }

    /// The run as a loop around its first turn.
    fn text(&self, statements: &[Vec<Piece>], indent: usize) -> String {
        self.looped(statements, indent, Shape::Loop, "")
    }

    /// The same as a loop of a kind, with a name after its `begin`.
    fn looped(&self, statements: &[Vec<Piece>], indent: usize, shape: Shape, label: &str) -> String {
        let mut steps = self.steps.iter();
        let mut body = String::new();
        for statement in &statements[..self.period] {
            let mut pieces = statement.clone();
            for piece in &mut pieces {
                let Piece::Mark(_, numbers) = piece else { continue };
                for number in numbers {
                    number.steps.iter_mut().for_each(|(_, variable)| *variable += 1);
                    if let Some(step) = steps.next().filter(|step| **step != 0) {
                        number.steps.insert(0, (*step, 0));
                    }
                }
            }
            body.push_str(&marks::text(&pieces));
        }
        let count = Number {
            base: i64::try_from(self.turns).unwrap_or(i64::MAX),
            steps: vec![(1, 0)],
        };
        let (head, space) = (
            marks::text(&[Piece::Mark(shape, vec![count])]),
            "    ".repeat(indent),
        );
        let body: String = body.lines().map(|line| deeper(line) + "\n").collect();
        format!("{space}{head}{label}\n{body}{space}end\n")
    }
}

/// A line one step further to the right.
fn deeper(line: &str) -> String {
    match line.strip_prefix(WRAP) {
        Some(line) => format!("{WRAP}    {line}"),
        None => format!("    {line}"),
    }
}

/// Whether texts differ in the bases of numbers only.
fn alike(a: &[Vec<Piece>], b: &[Vec<Piece>]) -> bool {
    let same = |(a, b): (&Piece, &Piece)| match (a, b) {
        (Piece::Mark(a, first), Piece::Mark(b, second)) => {
            let steps = |numbers: &[Number]| {
                numbers
                    .iter()
                    .map(|number| number.steps.clone())
                    .collect::<Vec<_>>()
            };
            a == b && steps(first) == steps(second)
        }
        (a, b) => a == b,
    };
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(same))
}

/// The numbers of statements, in order, and whether they may follow a loop: widths and turns may not.
fn numbers(statements: &[Vec<Piece>]) -> Vec<(i64, bool)> {
    let mut found = Vec::new();
    for piece in statements.iter().flatten() {
        let Piece::Mark(shape, numbers) = piece else {
            continue;
        };
        let follows = match shape {
            Shape::Select => 0,
            Shape::Literal | Shape::Decimal => 1,
            Shape::Plain | Shape::Range | Shape::Cast | Shape::Loop | Shape::Generate => usize::MAX,
        };
        found.extend(
            numbers
                .iter()
                .enumerate()
                .map(|(place, number)| (number.base, place == follows)),
        );
    }
    found
}

fn lines(statements: &[Vec<Piece>]) -> usize {
    statements
        .iter()
        .map(|pieces| marks::text(pieces).lines().count())
        .sum()
}

/// The innermost loop of a piece.
fn deepest(piece: &Piece) -> Option<usize> {
    match piece {
        Piece::Mark(Shape::Loop, numbers) => numbers
            .iter()
            .flat_map(|number| &number.steps)
            .map(|(_, variable)| *variable)
            .max(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    /// The statements as they are written, with marks for numbers, and the loops that they become, without any.
    fn folded(statements: &[String]) -> Vec<String> {
        let mut out = String::new();
        append(statements.to_vec(), 0, &mut out);
        let pieces = |line: &str| {
            let piece = |piece: &Piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Mark(shape, numbers) => format!("{shape:?}{:?}", numbers_of(numbers)),
                Piece::Module(name, _) => name.clone(),
            };
            marks::pieces(line).iter().map(piece).collect()
        };
        out.lines().map(pieces).collect()
    }

    fn numbers_of(numbers: &[Number]) -> Vec<(i64, Vec<(i64, usize)>)> {
        numbers
            .iter()
            .map(|number| (number.base, number.steps.clone()))
            .collect()
    }

    fn bit(number: usize, group: usize) -> String {
        format!(
            "any{} = all{};\n",
            marks::select(group, 1),
            marks::select(number, 1)
        )
    }

    #[test]
    fn statements_with_the_same_steps_are_a_loop() {
        let statements: Vec<String> = (3..10).map(|number| bit(number, 2 * number)).collect();
        assert_eq!(
            folded(&statements),
            [
                "Loop[(7, [(1, 0)])]",
                "    anySelect[(6, [(2, 0)]), (1, [])] = allSelect[(3, [(1, 0)]), (1, [])];",
                "end",
            ]
        );
    }

    #[test]
    fn groups_of_statements_are_nested_loops() {
        let statements: Vec<String> = (0..64).map(|number| bit(number, number / 8)).collect();
        let folded = folded(&statements);
        assert_eq!(folded.len(), 5, "{folded:?}");
        assert_eq!(folded[0], "Loop[(8, [(1, 0)])]");
        assert_eq!(folded[1], "    Loop[(8, [(1, 1)])]");
        assert!(
            folded[2].contains("allSelect[(0, [(8, 0), (1, 1)])"),
            "{folded:?}"
        );
    }

    #[test]
    fn what_is_irregular_or_short_stays_as_it_is() {
        let short: Vec<String> = (0..5).map(|number| bit(number, number)).collect();
        assert_eq!(folded(&short).len(), 5);
        let squares: Vec<String> = (0..9).map(|number| bit(number * number, 0)).collect();
        assert_eq!(folded(&squares).len(), 9);
        let width = |width| format!("y = {};\n", marks::literal(&BigUint::from(0_u32), width));
        let widths: Vec<String> = (1..9).map(width).collect();
        assert_eq!(folded(&widths).len(), 8);
    }
}
