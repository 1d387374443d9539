//! Bodies and messages in one order of time, loop by loop of the program.
//!
//! A loop that has messages in it becomes a loop over all its values for which something happens. Each step in it
//! checks its own condition. A nest without messages is one set of instances, whose parts are scanned one after the
//! other if their order does not matter. That is much less work than isl's code generation for all bodies and messages
//! at once, and leaves fewer cases in the innermost loops.

use crate::Result;
use crate::channels::Messages;
use crate::expressions::{Op, Value, names};
use crate::flow::Level;
use crate::nest::Nest;
use crate::overlap::Split;
use crate::scan::{Scan, all_of};
use crate::tree::{Call, Tree};
use crate::versions::{Exchange, events};
use spinneret_isl::{Map, Set};

/// Something that happens, at some times.
#[derive(Debug, Clone)]
struct Fragment {
    call: Call,
    /// Its places in the text, each before a loop but the last one of a body.
    places: Vec<i64>,
    /// For each loop around it whether that runs backwards.
    reversed: Vec<bool>,
    /// Coordinates of time that it has.
    end: usize,
    /// When it happens, `[p, t]`: the rank and the coordinates of time that are loops'.
    set: Set,
    /// Depths of channels before whose messages it comes.
    early: Vec<usize>,
}

/// Nothing if some set has conditions of another form than are scanned.
pub(crate) fn order(
    nest: &Nest<'_>,
    messages: &[Messages],
    exchanges: &[Exchange],
    splits: &[Split],
) -> Result<Option<Tree>> {
    let order = Order {
        nest,
        grid: nest.geometry.extents().len(),
    };
    let mut fragments = Vec::new();
    for body in 0..nest.statements.len() {
        if !exchanges.iter().any(|exchange| exchange.body == body) {
            order.of_body(body, splits, &mut fragments)?;
        }
    }
    for (number, exchange) in exchanges.iter().enumerate() {
        let ranks = Set::parse(&format!("{{ [{}] }}", names("p", order.grid).join(", ")))?;
        let set = events(nest, exchange)?.beside(ranks)?;
        order.of_moments(Call::Exchange(number), exchange.depth, set, &mut fragments)?;
    }
    let mut around = [const { Vec::new() }; 4];
    for (number, messages) in messages.iter().enumerate() {
        let depth = messages.channel.depth;
        let (send, receive) = (Call::Send(number), Call::Receive(number));
        match messages.channel.level {
            Level::Time(_) => {
                order.of_moments(receive, depth, messages.received_by.clone(), &mut fragments)?;
                order.of_moments(send, depth, messages.sent_by.clone(), &mut fragments)?;
            }
            level => {
                let first = if level == Level::Initial { 0 } else { 2 };
                around[first].push(Tree::Call(send, Vec::new()));
                around[first + 1].push(Tree::Call(receive, Vec::new()));
            }
        }
    }
    let [first, second, third, fourth] = around;
    let Some(within) = order.at(0, fragments)? else {
        return Ok(None);
    };
    let all = [first, second, within, third, fourth].concat();
    Ok(Some(Tree::Block(all)))
}

#[derive(Debug)]
struct Order<'a> {
    nest: &'a Nest<'a>,
    /// Coordinates of a rank.
    grid: usize,
}

/// Steps, one after the other; `None` if they cannot be expressed.
type Trees = Result<Option<Vec<Tree>>>;

impl Order<'_> {
    /// The parts of a body that come before different messages.
    fn of_body(&self, body: usize, splits: &[Split], fragments: &mut Vec<Fragment>) -> Result<()> {
        let statement = &self.nest.statements[body];
        let time = self.nest.time(body);
        let variables = (0..statement.depth).map(|number| 2 * number + 1);
        let reversed: Vec<bool> = variables.map(|at| time[at].starts_with('-')).collect();
        let domain = self.nest.instances(body)?.disjoint()?;
        // Parts that have no points in common, of all values of the loops' variables in bounds. Conditions with
        // divisions stay with the domain, as isl would cut parts along them.
        let mut parts = vec![(domain.clone().without_divisions()?.disjoint()?, Vec::new())];
        for split in splits {
            let Some(border) = &split.border[body] else {
                continue;
            };
            let mut next = Vec::new();
            for (part, early) in parts {
                let sooner: Vec<usize> = [&early[..], &[split.depth]].concat();
                let interior = part.clone().subtract(border.clone())?.coalesce()?;
                // The slices that are left around one part without holes have no point in common.
                let within = match interior.parts()?.len() {
                    0 | 1 => part.subtract(interior.clone())?,
                    _ => part.intersect(border.clone().disjoint()?)?,
                };
                next.push((interior, sooner));
                next.push((within, early));
            }
            parts = next;
        }
        for (set, early) in parts {
            let mut set = set.intersect(domain.clone())?;
            if set.is_empty()? {
                continue;
            }
            if reversed.contains(&true) {
                let ranks = names("p", self.grid);
                let loops = names("i", statement.depth);
                let turned = loops
                    .iter()
                    .zip(&reversed)
                    .map(|(name, reversed)| match reversed {
                        true => format!("-{name}"),
                        false => name.clone(),
                    });
                let (from, to) = (
                    [&ranks[..], &loops].concat().join(", "),
                    ranks.iter().cloned().chain(turned).collect::<Vec<_>>().join(", "),
                );
                set = set.apply(self.nest.relation(&format!("{{ [{from}] -> [{to}] }}"))?)?;
            }
            fragments.push(Fragment {
                call: Call::Body(body),
                places: time[..=2 * statement.depth]
                    .iter()
                    .step_by(2)
                    .filter_map(|place| place.parse().ok())
                    .collect(),
                reversed: reversed.clone(),
                end: 2 * statement.depth + 1,
                set,
                early,
            });
        }
        Ok(())
    }

    /// Messages or exchanges at beginnings of time, `[p, t]`, for each combination of places.
    fn of_moments(&self, call: Call, depth: usize, set: Set, fragments: &mut Vec<Fragment>) -> Result<()> {
        let mut parts = vec![(Vec::new(), set)];
        // Where a place has a number, its coordinate is left out, so those that follow are one further in front.
        for level in 0..depth.div_ceil(2) {
            let at = self.grid + level;
            let mut next = Vec::new();
            for (places, set) in parts {
                for (place, set) in by_value(&set, at)? {
                    next.push(([&places[..], &[place]].concat(), set));
                }
            }
            parts = next;
        }
        for (places, set) in parts {
            fragments.push(Fragment {
                call,
                places,
                reversed: vec![false; depth / 2],
                end: depth,
                set: set.coalesce()?,
                early: Vec::new(),
            });
        }
        Ok(())
    }

    /// The steps for all times that begin with `n` known coordinates: work before messages, messages to receive, the
    /// rest, messages to send.
    fn at(&self, n: usize, fragments: Vec<Fragment>) -> Trees {
        let (mut early, mut receives, mut rest, mut sends) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for fragment in fragments {
            match fragment.call {
                Call::Receive(_) if fragment.end == n => receives.push(fragment),
                Call::Send(_) if fragment.end == n => sends.push(fragment),
                _ if fragment.early.contains(&n) => early.push(fragment),
                _ => rest.push(fragment),
            }
        }
        let mut trees = Vec::new();
        for (fragments, is_message) in [(early, false), (receives, true), (rest, false), (sends, true)] {
            let found = match is_message {
                true => self.calls(fragments),
                false => self.within(n, fragments),
            };
            match found? {
                Some(more) => trees.extend(more),
                None => return Ok(None),
            }
        }
        Ok(Some(trees))
    }

    fn within(&self, n: usize, fragments: Vec<Fragment>) -> Trees {
        let (ending, mut rest): (Vec<_>, Vec<_>) =
            fragments.into_iter().partition(|fragment| fragment.end == n);
        let Some(mut trees) = self.calls(ending)? else {
            return Ok(None);
        };
        if rest.is_empty() {
            return Ok(Some(trees));
        }
        if n.is_multiple_of(2) {
            rest.sort_by_key(|fragment| fragment.places[n / 2]);
            for same in rest.chunk_by(|a, b| a.places[n / 2] == b.places[n / 2]) {
                match self.at(n + 1, same.to_vec())? {
                    Some(more) => trees.extend(more),
                    None => return Ok(None),
                }
            }
            return Ok(Some(trees));
        }
        let more = match self.nest_of(n, &rest)? {
            Some(trees) => Some(trees),
            None => self.looped(n, rest)?,
        };
        Ok(more.map(|more| [trees, more].concat()))
    }

    /// A nest of one body without messages in it, if its parts can be scanned one after the other.
    fn nest_of(&self, n: usize, fragments: &[Fragment]) -> Trees {
        let first = &fragments[0];
        let Call::Body(body) = first.call else {
            return Ok(None);
        };
        if fragments
            .iter()
            .any(|fragment| fragment.call != first.call || fragment.early.iter().any(|depth| *depth > n))
        {
            return Ok(None);
        }
        let mut set = first.set.clone();
        for fragment in &fragments[1..] {
            set = set.union(fragment.set.clone())?;
        }
        let parts = set.parts()?;
        if parts.len() > 1 && !self.is_free(body, n)? {
            return Ok(None);
        }
        let mut trees = Vec::new();
        for part in parts {
            let Some(scan) = Scan::exact(&part, self.grid + n / 2)? else {
                return Ok(None);
            };
            trees.push(scan.around(self.call(first)));
        }
        Ok(Some(trees))
    }

    /// Whether no instance of a body depends on another one, of those whose time begins with the same `n` coordinates.
    fn is_free(&self, body: usize, n: usize) -> Result<bool> {
        let accesses = &self.nest.statements[body].body.accesses;
        let touches = |at: usize| -> Result<Map> {
            let (nest, instance) = (self.nest, self.nest.instance(body));
            let time = nest.time(body)[..n].join(", ");
            let timed = nest.of_instances(body, at, &format!("{{ {instance} -> [{time}] }}"))?;
            let same = nest.of_instances(body, at, &format!("{{ {instance} -> {instance} }}"))?;
            Ok(timed.range_product(nest.access(body, at)?)?.apply_domain(same)?)
        };
        let itself = Map::parse(&format!("{{ {0} -> {0} }}", self.nest.instance(body)))?;
        for (at, write) in accesses.iter().enumerate().filter(|(_, access)| access.is_write) {
            for (other, access) in accesses.iter().enumerate() {
                if access.field == write.field {
                    let both = touches(at)?.apply_range(touches(other)?.reverse()?)?;
                    if !both.subtract(itself.clone())?.is_empty()? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// A loop over all values for which something happens.
    fn looped(&self, n: usize, fragments: Vec<Fragment>) -> Trees {
        let variable = self.grid + n / 2;
        let mut values: Option<Set> = None;
        for fragment in &fragments {
            let behind = fragment.set.dims()? - variable - 1;
            let of_piece = fragment
                .set
                .clone()
                .project_out(variable as u32 + 1, behind as u32)?;
            values = Some(match values {
                Some(values) => values.union(of_piece)?,
                None => of_piece,
            });
        }
        let (Some(values), Some(inner)) = (values, self.at(n + 1, fragments)?) else {
            return Ok(None);
        };
        let scan = Scan::around_all(&values.coalesce()?.hull()?, variable)?;
        Ok(scan.map(|scan| vec![scan.around(Tree::Block(inner))]))
    }

    /// Calls all of whose coordinates of time are known, one after the other.
    fn calls(&self, fragments: Vec<Fragment>) -> Trees {
        let mut trees = Vec::new();
        for same in fragments.chunk_by(|a, b| a.call == b.call) {
            let mut cases = Vec::new();
            for fragment in same {
                for part in fragment.set.clone().parts()? {
                    let Some(scan) = Scan::exact(&part, part.dims()?)? else {
                        return Ok(None);
                    };
                    cases.push(all_of(&scan.guard));
                }
            }
            let call = self.call(&same[0]);
            let cases: Option<Vec<Value>> = cases.into_iter().collect();
            trees.push(match cases {
                Some(mut cases) if cases.len() == 1 => Tree::If(cases.remove(0), Box::new(call), None),
                Some(cases) => Tree::If(Value::Op(Op::Or, cases), Box::new(call), None),
                None => call,
            });
        }
        Ok(Some(trees))
    }

    /// The call of a fragment: bodies receive the values of loops' variables, all others the beginning of time.
    fn call(&self, fragment: &Fragment) -> Tree {
        let variable = |number: usize| match fragment.reversed[number] {
            true => Value::Op(Op::Neg, vec![Value::Slot(self.grid + number)]),
            false => Value::Slot(self.grid + number),
        };
        let arguments = match fragment.call {
            Call::Body(body) => {
                let hidden = self.nest.hidden.get(body).copied().flatten();
                let told = (0..fragment.reversed.len()).filter(|number| Some(*number) != hidden);
                told.map(variable).collect()
            }
            _ => (0..fragment.end)
                .map(|at| match at.is_multiple_of(2) {
                    true => Value::Number(fragment.places[at / 2]),
                    false => variable(at / 2),
                })
                .collect(),
        };
        Tree::Call(fragment.call, arguments)
    }
}

/// The parts of a set with each value of a coordinate, which is left out.
fn by_value(set: &Set, at: usize) -> Result<Vec<(i64, Set)>> {
    let dims = set.dims()?;
    let behind = (dims - at - 1) as u32;
    let mut values = set
        .clone()
        .project_out(at as u32 + 1, behind)?
        .project_out(0, at as u32)?;
    let mut parts = Vec::new();
    while let Some(found) = values.sample()? {
        let value = found[0];
        values = values.subtract(Set::parse(&format!("{{ [{value}] }}"))?)?;
        let mut coordinates = names("x", dims);
        coordinates[at] = value.to_string();
        let here = Set::parse(&format!("{{ [{}] }}", coordinates.join(", ")))?;
        parts.push((value, set.clone().intersect(here)?.project_out(at as u32, 1)?));
    }
    parts.sort_by_key(|(value, _)| *value);
    Ok(parts)
}
