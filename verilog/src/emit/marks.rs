//! Numbers in the text of a module that is not finished yet.
//!
//! A number is written as it is, as an expression of parameters, or as a function of a loop's variable. Which one is
//! known only when all variants of a module are. Until then the text holds a mark with its purpose and value.
//!
//! ```text
//! \u{1} shape : number , number \u{2}      number = base ; step @ loop ; ...
//! ```

use num_bigint::BigUint;

/// Before a mark.
const OPEN: char = '\u{1}';
/// Behind a mark.
const CLOSE: char = '\u{2}';
/// Before a line that is continued on the next one if it is too long.
pub(crate) const WRAP: char = '\u{3}';

/// The purpose of the numbers of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A single number.
    Plain,
    /// The width of a declaration, whose range is left out for one bit.
    Range,
    /// Lowest bit and number of bits that are selected.
    Select,
    /// Width and value of a literal.
    Literal,
    /// Width and value of a literal that is always decimal.
    Decimal,
    /// The width of a cast.
    Cast,
    /// How often a loop runs; its step names the loop.
    Loop,
    /// The same for a loop over instances.
    Generate,
}

const SHAPES: [(Shape, char); 8] = [
    (Shape::Plain, 'n'),
    (Shape::Range, 'r'),
    (Shape::Select, 's'),
    (Shape::Literal, 'l'),
    (Shape::Decimal, 'd'),
    (Shape::Cast, 'c'),
    (Shape::Loop, 'f'),
    (Shape::Generate, 'g'),
];

/// Letter of a mark that stands for a module.
const MODULE: char = 'm';

/// A number, and by how much it grows with each turn of the loops around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) base: i64,
    /// The step for each loop, the outermost loop being number 0.
    pub(crate) steps: Vec<(i64, usize)>,
}

/// A piece of unfinished text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Mark(Shape, Vec<Number>),
    /// The name of a module that is instantiated, with what its own text says of its parameters.
    Module(String, Vec<(String, i64)>),
}

/// Returns the mark of a single number.
pub(crate) fn plain(value: usize) -> String {
    mark(Shape::Plain, &[Some(value)]).unwrap_or_else(|| value.to_string())
}

/// The range of a declaration, with a space before it.
pub(crate) fn range(width: usize) -> String {
    mark(Shape::Range, &[Some(width)]).unwrap_or_default()
}

/// The selection of constant bits.
pub(crate) fn select(low: usize, width: usize) -> String {
    mark(Shape::Select, &[Some(low), Some(width)]).unwrap_or_default()
}

/// The width of a cast.
pub(crate) fn cast(width: usize) -> String {
    mark(Shape::Cast, &[Some(width)]).unwrap_or_else(|| width.to_string())
}

/// A literal with its width; values that no parameter can have stay what they are.
pub(crate) fn literal(value: &BigUint, width: usize) -> String {
    mark(Shape::Literal, &[Some(width), value.try_into().ok()]).unwrap_or_else(|| sized(value, width))
}

/// A literal with its width, always decimal.
pub(crate) fn decimal(value: &BigUint, width: usize) -> String {
    mark(Shape::Decimal, &[Some(width), value.try_into().ok()]).unwrap_or_else(|| format!("{width}'d{value}"))
}

/// A literal with its width as it is written.
pub(crate) fn sized(value: &BigUint, width: usize) -> String {
    if width == 1 {
        format!("1'b{value}")
    } else if *value < BigUint::from(10_u32) {
        format!("{width}'d{value}")
    } else {
        format!("{width}'h{value:x}")
    }
}

/// The module of an instance and its settings, with a space behind them.
pub(crate) fn module(name: &str, settings: &[(String, String)]) -> String {
    let settings = settings.iter().map(|(name, value)| format!(",{name}={value}"));
    format!("{OPEN}{MODULE}:{name}{}{CLOSE}", settings.collect::<String>())
}

/// Parameters are numbers of 32 bits with a sign, and so is all that is computed from them.
fn mark(shape: Shape, values: &[Option<usize>]) -> Option<String> {
    let number = |value: &Option<usize>| {
        let base = i64::from(i32::try_from((*value)?).ok()?);
        let steps = Vec::new();
        Some(Number { base, steps })
    };
    let numbers: Option<Vec<Number>> = values.iter().map(number).collect();
    Some(text(&[Piece::Mark(shape, numbers?)]))
}

/// The pieces of a text.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, (inside, after))) = rest
        .split_once(OPEN)
        .and_then(|(before, behind)| Some((before, behind.split_once(CLOSE)?)))
    {
        if !before.is_empty() {
            pieces.push(Piece::Text(before.to_owned()));
        }
        // Only this file writes marks, so there is no other form.
        pieces.extend(read(inside));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    pieces
}

fn read(mark: &str) -> Option<Piece> {
    let (letter, rest) = mark.split_once(':')?;
    let letter = letter.chars().next()?;
    let mut parts = rest.split(',');
    if letter == MODULE {
        let name = parts.next()?.to_owned();
        let setting = |part: &str| {
            let (name, value) = part.split_once('=')?;
            Some((name.to_owned(), value.parse().ok()?))
        };
        return Some(Piece::Module(name, parts.filter_map(setting).collect()));
    }
    let (shape, _) = SHAPES.iter().find(|(_, own)| *own == letter)?;
    let number = |part: &str| {
        let mut words = part.split(';');
        let base = words.next()?.parse().ok()?;
        let step = |word: &str| {
            let (step, variable) = word.split_once('@')?;
            Some((step.parse().ok()?, variable.parse().ok()?))
        };
        let steps = words.filter_map(step).collect();
        Some(Number { base, steps })
    };
    Some(Piece::Mark(*shape, parts.filter_map(number).collect()))
}

/// The text of pieces, with marks.
pub(crate) fn text(pieces: &[Piece]) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Module(name, settings) => {
            let settings = settings
                .iter()
                .map(|(name, value)| (name.clone(), value.to_string()));
            module(name, &settings.collect::<Vec<_>>())
        }
        Piece::Mark(shape, numbers) => {
            let letter = SHAPES
                .iter()
                .find(|(own, _)| own == shape)
                .map_or('n', |(_, letter)| *letter);
            let number = |number: &Number| {
                let steps = number
                    .steps
                    .iter()
                    .map(|(step, variable)| format!(";{step}@{variable}"));
                format!("{}{}", number.base, steps.collect::<String>())
            };
            let numbers: Vec<String> = numbers.iter().map(number).collect();
            format!("{OPEN}{letter}:{}{CLOSE}", numbers.join(","))
        }
    };
    pieces.iter().map(piece).collect()
}
