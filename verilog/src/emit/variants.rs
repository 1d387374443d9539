//! Modules of one block that differ in numbers only become one module with parameters.
//!
//! Each variant of a block comes as unfinished text ([`super::marks`]). Variants whose texts differ in numbers only are
//! put together as long as every number that differs is an expression of the numbers that the kernel names
//! ([`super::parameters`]). So the text of a variant is the module's text with that variant's numbers.

use num_bigint::BigUint;

use super::design::Port;
use super::file::wrap;
use super::loops::variable;
use super::marks::{self, Piece, Shape, WRAP};
use super::parameters::{Declared, Formula, Named, Table};

/// A module that is instantiated: the number of its group, and the values that a variant sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settled {
    pub(crate) group: usize,
    pub(crate) settings: Vec<(String, i64)>,
}

/// The text of a variant, with its numbers apart.
#[derive(Clone, Debug)]
pub(crate) struct Variant<'a> {
    text: Vec<Part>,
    /// The widths of its ports, and then the numbers of the text.
    numbers: Vec<i64>,
    ports: &'a [(Port, Option<String>)],
    named: &'a [Named],
}

/// A piece of text whose numbers are kept apart, by their places.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Mark(Shape, Vec<Affine>),
    /// An instance of a module of a group, and its settings.
    Instance(usize, Vec<(String, usize)>),
}

/// Places of a base and of the steps of loops.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Affine {
    base: usize,
    steps: Vec<(usize, usize)>,
}

/// Variants that are one module.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    variants: Vec<Variant<'a>>,
    formulas: Vec<Formula>,
}

impl<'a> Variant<'a> {
    /// Reads unfinished text; `settled` returns the result for a module.
    pub(crate) fn new(
        content: &str,
        ports: &'a [(Port, Option<String>)],
        named: &'a [Named],
        settled: impl Fn(&str) -> Option<Settled>,
    ) -> Self {
        let width = |(port, _): &(Port, _)| i64::try_from(port.width).unwrap_or(i64::MAX);
        let mut numbers: Vec<i64> = ports.iter().map(width).collect();
        let mut place = |value: i64| {
            numbers.push(value);
            numbers.len() - 1
        };
        let mut text: Vec<Part> = Vec::new();
        for piece in marks::pieces(content) {
            text.push(match piece {
                Piece::Text(text) => Part::Text(text),
                Piece::Mark(shape, found) => {
                    let affine = |number: &marks::Number| Affine {
                        base: place(number.base),
                        steps: number
                            .steps
                            .iter()
                            .map(|(step, variable)| (place(*step), *variable))
                            .collect(),
                    };
                    Part::Mark(shape, found.iter().map(affine).collect())
                }
                Piece::Module(name, settings) => match settled(&name) {
                    Some(Settled {
                        group,
                        settings: more,
                    }) => {
                        let all = settings.into_iter().chain(more);
                        Part::Instance(group, all.map(|(name, value)| (name, place(value))).collect())
                    }
                    None => Part::Text(name),
                },
            });
        }
        Self {
            text,
            numbers,
            ports,
            named,
        }
    }

    /// Whether only numbers tell it from another one.
    fn is_alike(&self, other: &Self) -> bool {
        let port = |(port, heading): &'a (Port, Option<String>)| {
            (&port.name, port.direction, port.signed, &port.doc, heading)
        };
        let name = |named: &'a Named| (&named.name, &named.formula);
        self.text == other.text
            && self.ports.iter().map(port).eq(other.ports.iter().map(port))
            && self.named.iter().map(name).eq(other.named.iter().map(name))
    }
}

impl<'a> Group<'a> {
    /// A module that is one variant's.
    pub(crate) fn new(variant: Variant<'a>) -> Self {
        Self {
            formulas: variant.numbers.iter().copied().map(Formula::Constant).collect(),
            variants: vec![variant],
        }
    }

    /// Takes another variant in, if its numbers are expressions of those that the kernel names.
    pub(crate) fn add(&mut self, variant: &Variant<'a>) -> bool {
        if !self.variants[0].is_alike(variant) {
            return false;
        }
        self.variants.push(variant.clone());
        let formulas = self.solve();
        match formulas {
            Some(formulas) => self.formulas = formulas,
            None => {
                self.variants.pop();
                return false;
            }
        }
        debug_assert!(
            self.gives_back_its_variants(),
            "a formula is not the number that it stands for"
        );
        true
    }

    /// Whether the module's text, with the numbers of a variant, is that variant's text.
    fn gives_back_its_variants(&self) -> bool {
        self.variants.iter().all(|variant| {
            let values = self.formulas.iter().map(|formula| formula.value(variant.named));
            values.eq(variant.numbers.iter().copied().map(Some)) && variant.text == self.variants[0].text
        })
    }

    fn solve(&self) -> Option<Vec<Formula>> {
        let named: Vec<&[Named]> = self.variants.iter().map(|variant| variant.named).collect();
        let table = Table::new(&named);
        let column = |place: usize| {
            self.variants
                .iter()
                .map(move |variant| variant.numbers[place])
                .collect::<Vec<_>>()
        };
        (0..self.variants[0].numbers.len())
            .map(|place| table.solve(&column(place)))
            .collect()
    }

    /// The list of parameters: those that its text needs, and then the numbers that follow from them. A value that
    /// all variants share is a number in a formula, because the text is generated for that value.
    pub(crate) fn declared(&self) -> Vec<Declared> {
        let first = &self.variants[0];
        let mut needed: Vec<String> = self
            .formulas
            .iter()
            .flat_map(Formula::names)
            .map(str::to_owned)
            .collect();
        let (mut parameters, mut numbers) = (Vec::new(), Vec::new());
        for (position, named) in first.named.iter().enumerate().rev() {
            if !needed.contains(&named.name) || !self.varies(position) {
                continue;
            }
            match &named.formula {
                Some(formula) => {
                    let formula = replace_words(formula, |word| {
                        let position = first.named.iter().position(|named| named.name == word)?;
                        (!self.varies(position)).then(|| first.named[position].value.to_string())
                    });
                    let words = formula.split(|c: char| !is_word(c)).map(str::to_owned);
                    needed.extend(words);
                    numbers.push(Declared::Number(named.name.clone(), formula));
                }
                None => parameters.push(Declared::Parameter(named.name.clone(), named.value)),
            }
        }
        parameters
            .into_iter()
            .rev()
            .chain(numbers.into_iter().rev())
            .collect()
    }

    /// Whether variants have different values of the named number at this position.
    fn varies(&self, position: usize) -> bool {
        let value = |variant: &Variant<'_>| variant.named[position].value;
        self.variants
            .iter()
            .any(|variant| value(variant) != value(&self.variants[0]))
    }

    /// Returns the parameters that instances of a variant set.
    pub(crate) fn settings(&self, variant: &[Named]) -> Vec<(String, i64)> {
        let declared = self.declared();
        let is_set = |named: &&Named| {
            let is_own =
                |declared: &Declared| matches!(declared, Declared::Parameter(name, _) if *name == named.name);
            declared.iter().any(is_own)
        };
        variant
            .iter()
            .filter(is_set)
            .map(|named| (named.name.clone(), named.value))
            .collect()
    }

    /// The ranges of its ports, for all but numbers.
    pub(crate) fn ranges(&self) -> Vec<(String, String)> {
        let ports = self.variants[0].ports.iter().zip(&self.formulas);
        let named = ports.filter(|(_, formula)| formula.constant().is_none());
        named
            .map(|((port, _), formula)| (port.name.clone(), format!("[{}:0]", formula.plus(-1))))
            .collect()
    }

    /// The finished text; `name` returns the name of a group's module.
    pub(crate) fn text(&self, name: impl Fn(usize) -> String) -> String {
        let printer = Printer {
            formulas: &self.formulas,
        };
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Mark(shape, numbers) => printer.mark(*shape, numbers),
            Part::Instance(group, settings) => {
                let setting =
                    |(name, place): &(String, usize)| format!(".{name}({})", self.formulas[*place].plus(0));
                let settings: Vec<String> = settings.iter().map(setting).collect();
                match settings[..] {
                    [] => format!("{} ", name(*group)),
                    _ => format!("{} #({}) ", name(*group), settings.join(", ")),
                }
            }
        };
        let text: String = self.variants[0].text.iter().map(part).collect();
        let mut out = String::with_capacity(text.len());
        for line in text.lines() {
            match line.strip_prefix(WRAP) {
                Some(line) => wrap(&mut out, line),
                None => {
                    out.push_str(line);
                    out.push('\n');
                }
            }
        }
        out
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A text in which some words are replaced.
fn replace_words(text: &str, replace: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        out.push_str(&replace(word).unwrap_or_else(|| word.to_owned()));
        let end = behind.find(is_word).unwrap_or(behind.len());
        let (between, behind) = behind.split_at(end);
        out.push_str(between);
        rest = behind;
    }
    out
}

/// Writes numbers as their formulas.
struct Printer<'a> {
    formulas: &'a [Formula],
}

impl Printer<'_> {
    fn formula(&self, number: &Affine) -> &Formula {
        &self.formulas[number.base]
    }

    /// The number, if no variant and no turn of a loop has another one.
    fn constant(&self, number: &Affine) -> Option<i64> {
        self.formula(number)
            .constant()
            .filter(|_| number.steps.is_empty())
    }

    /// Returns the text of a single number.
    fn number(&self, number: &Affine) -> String {
        let mut text = String::new();
        for (place, variable_number) in &number.steps {
            let (name, step) = (variable(*variable_number), &self.formulas[*place]);
            let (sign, step) = match step.constant() {
                Some(1) => ("+", name.to_owned()),
                Some(-1) => ("-", name.to_owned()),
                Some(step) if step < 0 => ("-", format!("{name}*{}", -step)),
                _ => ("+", format!("{name}*{}", step.unit())),
            };
            if !(text.is_empty() && sign == "+") {
                text.push_str(&format!(" {sign} "));
            }
            text.push_str(&step);
        }
        let base = self.formula(number);
        match (text.as_str(), base.constant()) {
            ("", _) => base.plus(0),
            (_, Some(0)) => text,
            (steps, _) if steps.starts_with(" - ") => format!("{}{text}", base.plus(0)),
            _ => format!("{text} + {}", base.plus(0)),
        }
    }

    fn mark(&self, shape: Shape, numbers: &[Affine]) -> String {
        let constant = |place: usize| self.constant(&numbers[place]);
        match shape {
            Shape::Plain => self.number(&numbers[0]),
            Shape::Range => match constant(0) {
                Some(1) => String::new(),
                _ => format!(" [{}:0]", self.formula(&numbers[0]).plus(-1)),
            },
            Shape::Select => match (constant(0), constant(1)) {
                (_, Some(1)) => format!("[{}]", self.number(&numbers[0])),
                (Some(low), Some(width)) => format!("[{}:{low}]", low + width - 1),
                (Some(0), None) => format!("[{}:0]", self.formula(&numbers[1]).plus(-1)),
                _ => format!("[{} +: {}]", self.number(&numbers[0]), self.number(&numbers[1])),
            },
            Shape::Literal | Shape::Decimal => match (constant(0), constant(1)) {
                (Some(width), Some(value)) if shape == Shape::Decimal => format!("{width}'d{value}"),
                (Some(width), Some(value)) => match (usize::try_from(width), BigUint::try_from(value)) {
                    (Ok(width), Ok(value)) => marks::sized(&value, width),
                    _ => format!("{width}'d{value}"),
                },
                _ => format!(
                    "{}'({})",
                    self.formula(&numbers[0]).unit(),
                    self.number(&numbers[1])
                ),
            },
            Shape::Cast => self.formula(&numbers[0]).unit(),
            Shape::Loop | Shape::Generate => {
                let variable = numbers[0]
                    .steps
                    .first()
                    .map_or("i", |(_, number)| variable(*number));
                let count = self.formula(&numbers[0]).plus(0);
                let kind = if shape == Shape::Loop {
                    "int unsigned"
                } else {
                    "genvar"
                };
                format!("for ({kind} {variable} = 0; {variable} < {count}; {variable}++) begin")
            }
        }
    }
}
