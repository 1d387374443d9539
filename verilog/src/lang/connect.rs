//! `connect!`: ports that belong together, joined by their names.

use super::build;
use super::byte_ram::ByteRam;
use super::heaped::Heaped;
use super::named::Named;
use super::optional::Optional;
use super::ram::Ram;
use super::reg::Reg;
use super::wire::{Value, Wire};
use super::word::Word;
use rust_hdl::core::ast::VerilogStatement;
use rust_hdl::prelude::{Atom, AtomKind, Clock, Direction, In, Local, Logic, Out, Signal, Synth};

/// How the ports of a bundle are called in the generated text, where they are not called as their fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names {
    /// What stands behind the bundle's own name.
    pub own: &'static str,
    /// What stands between the parts of a name within the bundle.
    pub between: &'static str,
    /// What stands behind inputs.
    pub input: &'static str,
    /// What stands behind outputs.
    pub output: &'static str,
    /// The order of the ports, by their names within the bundle with spaces between them and nothing behind them; empty: that
    /// of the fields.
    pub order: &'static str,
}

impl Names {
    /// Names as the fields have them.
    pub const OF_FIELDS: Self = Self {
        own: "_",
        between: "_",
        input: "",
        output: "",
        order: "",
    };

    /// The names as a bundle tells them to the back-end.
    pub fn text(self) -> String {
        let Self {
            own,
            between,
            input,
            output,
            order,
        } = self;
        [own, between, input, output, order].join("\n")
    }
}

/// One port.
pub trait Pin {
    /// Its direction.
    fn kind(&self) -> AtomKind;
    /// Width in bits.
    fn bits(&self) -> usize;
    /// What it carries.
    fn value(&self) -> Word;
    /// Gives it a value.
    fn drive(&mut self, value: Word);
    /// Marks it as driven.
    fn mark_driven(&mut self);
}

/// A port among those of a bundle.
#[allow(missing_debug_implementations)] // What it holds is a port of any type.
pub struct Leaf<'a> {
    path: String,
    pin: &'a mut (dyn Pin + 'static),
    is_optional: bool,
}

/// What `connect!` joins: a port, or a bundle of ports.
pub trait Ports {
    /// Adds its ports to a list; `path` is its own within the bundle.
    fn leaves<'a>(&'a mut self, path: &str, found: &mut Vec<Leaf<'a>>);
}

/// A field of a block: one of its own ports, or a part that has ports of its own.
pub trait Root {
    /// It is a part.
    const IS_PART: bool;
}

/// Whether a field of a block is a part of it.
pub fn is_part<R: Root>(_: &R) -> bool {
    R::IS_PART
}

/// One side of a connection.
#[allow(missing_debug_implementations)]
pub struct Side<'a> {
    leaves: Vec<Leaf<'a>>,
    is_part: bool,
}

/// What a port is for the kernel that connects it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Source,
    Sink,
    /// A signal of the kernel itself.
    Either,
}

impl<'a> Side<'a> {
    /// The ports of a port or bundle of the block itself, or of a part of it.
    pub fn new(ports: &'a mut dyn Ports, is_part: bool) -> Self {
        let mut leaves = Vec::new();
        ports.leaves("", &mut leaves);
        Self { leaves, is_part }
    }

    fn find(&self, path: &str) -> Option<&Leaf<'a>> {
        self.leaves.iter().find(|leaf| leaf.path == path)
    }

    fn role(&self, leaf: &Leaf<'_>) -> Role {
        match (leaf.pin.kind(), self.is_part) {
            (AtomKind::LocalSignal, _) => Role::Either,
            (AtomKind::InputParameter, false) | (AtomKind::OutputParameter, true) => Role::Source,
            _ => Role::Sink,
        }
    }
}

/// A port that a connection drives.
struct Joint {
    path: String,
    /// It is on the right.
    is_forward: bool,
    /// The other side has it; else it is 0.
    has_source: bool,
}

fn joints(from: &Side<'_>, to: &Side<'_>, except: &[&str]) -> Result<Vec<Joint>, String> {
    if let Some(name) = except
        .iter()
        .find(|name| from.find(name).is_none() && to.find(name).is_none())
    {
        return Err(format!("neither side has `{name}`, which is excepted"));
    }
    let only_right = to.leaves.iter().filter(|leaf| from.find(&leaf.path).is_none());
    let mut all = Vec::new();
    for leaf in from.leaves.iter().chain(only_right) {
        let path = leaf.path.clone();
        if except.contains(&path.as_str()) {
            continue;
        }
        let (left, right) = (from.find(&path), to.find(&path));
        let roles = (left.map(|leaf| from.role(leaf)), right.map(|leaf| to.role(leaf)));
        let is_forward = match roles {
            (Some(Role::Sink | Role::Either), Some(Role::Source)) => false,
            (Some(Role::Source), Some(Role::Source)) => return Err(format!("both drive `{path}`")),
            // Among them: what is given to the left is given to the right as well.
            (Some(_), Some(_)) => true,
            _ if !leaf.is_optional => return Err(format!("only one side has `{path}`")),
            (Some(Role::Sink), None) => false,
            (None, Some(Role::Sink)) => true,
            // Nobody reads it.
            _ => continue,
        };
        all.push(Joint {
            path,
            is_forward,
            has_source: left.is_some() && right.is_some(),
        });
    }
    Ok(all)
}

/// Gives the ports of both sides their values.
///
/// # Panics
/// If the sides do not fit.
pub fn connect<'a>(mut from: Side<'a>, mut to: Side<'a>, except: &[&str]) {
    for joint in joints(&from, &to, except).unwrap_or_else(|reason| panic!("connect!: {reason}")) {
        let (source, sink) = match joint.is_forward {
            true => (&mut from, &mut to),
            false => (&mut to, &mut from),
        };
        let value = source.find(&joint.path).map(|leaf| leaf.pin.value());
        let mut sinks = sink.leaves.iter_mut();
        if let Some(leaf) = sinks.find(|leaf| leaf.path == joint.path) {
            let width = leaf.pin.bits();
            leaf.pin.drive(value.unwrap_or_else(|| Word::zero(width)));
        }
    }
}

/// Marks the ports of both sides as driven that [`connect`] drives.
pub fn mark<'a>(mut from: Side<'a>, mut to: Side<'a>, except: &[&str]) {
    for joint in joints(&from, &to, except).unwrap_or_default() {
        let sink = if joint.is_forward { &mut to } else { &mut from };
        let sinks = sink.leaves.iter_mut().filter(|leaf| leaf.path == joint.path);
        sinks.for_each(|leaf| leaf.pin.mark_driven());
    }
}

/// [`connect`] as statements of the syntax tree; sides come with their paths.
pub fn connect_hdl(from: (Side<'_>, &str), to: (Side<'_>, &str), except: &[&str]) -> Vec<VerilogStatement> {
    let name = |path: &str, port: &str| match port {
        "" => path.to_owned(),
        port => format!("{path}${}", port.replace('.', "$")),
    };
    let assign = |joint: Joint| {
        let ((_, source), (sink, target)) = match joint.is_forward {
            true => (&from, &to),
            false => (&to, &from),
        };
        let width = sink.find(&joint.path).map_or(1, |leaf| leaf.pin.bits());
        let value = match joint.has_source {
            true => build::signal(name(source, &joint.path)),
            false => build::literal(&Word::zero(width)),
        };
        build::assign(name(target, &joint.path), value)
    };
    match joints(&from.0, &to.0, except) {
        Ok(joints) => joints.into_iter().map(assign).collect(),
        Err(reason) => vec![build::comment(format!(
            "refused: {} and {}: {reason}",
            from.1.replace('$', "."),
            to.1.replace('$', ".")
        ))],
    }
}

/// The path of a port within a bundle.
pub fn below(path: &str, field: &str) -> String {
    match path {
        "" => field.to_owned(),
        path => format!("{path}.{field}"),
    }
}

impl<D: Direction, T: Value> Root for Wire<D, T> {
    const IS_PART: bool = false;
}

impl<D: Direction, T: Synth> Root for Signal<D, T> {
    const IS_PART: bool = false;
}

impl<T: Value> Root for Reg<T> {
    const IS_PART: bool = true;
}

impl Root for Ram {
    const IS_PART: bool = true;
}

impl Root for ByteRam {
    const IS_PART: bool = true;
}

impl<R: Root> Root for Optional<R> {
    const IS_PART: bool = R::IS_PART;
}

impl<R: Root> Root for Heaped<R> {
    const IS_PART: bool = R::IS_PART;
}

impl<R: Root> Root for Named<R> {
    const IS_PART: bool = R::IS_PART;
}

impl<R: Root> Root for Vec<R> {
    const IS_PART: bool = R::IS_PART;
}

impl<P: Ports> Ports for Optional<P> {
    fn leaves<'a>(&'a mut self, path: &str, found: &mut Vec<Leaf<'a>>) {
        let start = found.len();
        if self.is_present() {
            P::leaves(self, path, found);
        }
        found
            .iter_mut()
            .skip(start)
            .for_each(|leaf| leaf.is_optional = true);
    }
}

impl<P: Ports> Ports for Heaped<P> {
    fn leaves<'a>(&'a mut self, path: &str, found: &mut Vec<Leaf<'a>>) {
        P::leaves(self, path, found);
    }
}

macro_rules! pin {
    ($wire:ty, $to_word:expr, $from_word:expr) => {
        impl Pin for $wire {
            fn kind(&self) -> AtomKind {
                Atom::kind(self)
            }
            fn bits(&self) -> usize {
                Atom::bits(self)
            }
            fn value(&self) -> Word {
                $to_word(self.val())
            }
            fn drive(&mut self, value: Word) {
                self.next = $from_word(value);
            }
            fn mark_driven(&mut self) {
                Logic::connect(self);
            }
        }

        impl Ports for $wire {
            fn leaves<'a>(&'a mut self, path: &str, found: &mut Vec<Leaf<'a>>) {
                found.push(Leaf {
                    path: path.to_owned(),
                    pin: self,
                    is_optional: false,
                });
            }
        }
    };
}

macro_rules! pins {
    ($($direction:ty)+) => {$(
        pin!(Wire<$direction, Word>, |word| word, |word| word);
        pin!(Wire<$direction, bool>, |bit: bool| Word::from(bit), |word: Word| word.any());
        pin!(
            Signal<$direction, Clock>,
            |clock: Clock| Word::from(clock.clk),
            |word: Word| Clock { clk: word.any() }
        );
    )+};
}

pins! { In Out Local }
