//! Overlap of work and messages: instances of a chunk that can run before it is received.
//!
//! The interior, the instances that access no element that is received in the chunk, comes first. Then the rank waits
//! for the chunk. Then comes the border, the other instances. That is right if no instance of the border has to come
//! before one of the interior. So every instance that depends on the border joins it: it accesses, later in a serial
//! run and on the same rank, an element that an instance of the border accesses too, and one of both writes it.
//! Instances after other messages of the same time, and after exchanges of fields, join the border, too.

use crate::Result;
use crate::channels::Messages;
use crate::expressions::{all, names};
use crate::flow::Level;
use crate::nest::Nest;
use crate::versions::{Exchange, events};
use spinneret_isl::{Map, Set};
use std::cell::RefCell;
use std::collections::HashMap;

/// Rounds in which a border may grow.
const ROUNDS: usize = 4;

/// The border at channels of one depth.
#[derive(Debug)]
pub(crate) struct Split {
    pub(crate) depth: usize,
    /// For each body that is executed its instances in the border, `[p, i]`, and perhaps points that are no instances: a
    /// condition such as that of a colour is left to the instances.
    pub(crate) border: Vec<Option<Set>>,
}

/// Which of two bodies comes first where time begins in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Before,
    After,
    Mixed,
    /// Time never begins in the same way.
    Apart,
}

/// The accesses of a body to a field: its reads, or its writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Side {
    body: usize,
    field: usize,
    is_write: bool,
}

/// A way in which instances of a body depend on instances of another one, or of the same.
#[derive(Debug)]
struct Conflict {
    from: usize,
    to: usize,
    /// Instances of the first to what they access.
    touch: Map,
    /// From what they access to instances of the second.
    touched_by: Map,
    later: Option<Map>,
}

/// Coordinates of a body's instances, `p` and `i`, and how they are related to elements.
#[derive(Debug)]
struct Instances<'a> {
    nest: &'a Nest<'a>,
    depth: usize,
    domains: Vec<Option<Set>>,
    /// Earlier answers of [`Instances::elements`].
    known: RefCell<HashMap<(usize, usize, usize), Map>>,
}

/// The borders of all depths of channels at which there is also an interior.
pub(crate) fn splits(nest: &Nest<'_>, messages: &[Messages], exchanges: &[Exchange]) -> Result<Vec<Split>> {
    let is_left_out = |body: usize| exchanges.iter().any(|exchange| exchange.body == body);
    let mut domains = Vec::new();
    for body in 0..nest.statements.len() {
        domains.push(match is_left_out(body) {
            true => None,
            false => Some(nest.instances(body)?),
        });
    }
    let mut depths: Vec<usize> = messages
        .iter()
        .filter(|messages| matches!(messages.channel.level, Level::Time(_)))
        .map(|messages| messages.channel.depth)
        .filter(|depth| depth + 1 < nest.time_dims())
        .collect();
    depths.sort_unstable();
    depths.dedup();
    let mut splits = Vec::new();
    for depth in depths {
        let instances = Instances {
            nest,
            depth,
            domains: domains.clone(),
            known: RefCell::default(),
        };
        splits.extend(instances.split(messages, exchanges)?);
    }
    Ok(splits)
}

impl Instances<'_> {
    fn split(&self, messages: &[Messages], exchanges: &[Exchange]) -> Result<Option<Split>> {
        let mut border: Vec<Option<Set>> = Vec::new();
        for body in 0..self.domains.len() {
            border.push(match &self.domains[body] {
                Some(domain) => Some(self.first(body, domain, messages, exchanges)?),
                None => None,
            });
        }
        if !self.has_interior(&border)? {
            return Ok(None);
        }
        let conflicts = self.conflicts()?;
        let mut is_closed = false;
        for _ in 0..ROUNDS {
            is_closed = !self.grow(&conflicts, &mut border)?;
            if is_closed {
                break;
            }
        }
        let has_interior = self.has_interior(&border)?;
        Ok((is_closed && has_interior).then_some(Split {
            depth: self.depth,
            border,
        }))
    }

    /// Whether some body has both a border and an interior.
    fn has_interior(&self, border: &[Option<Set>]) -> Result<bool> {
        for (border, domain) in border.iter().zip(&self.domains) {
            if let (Some(border), Some(domain)) = (border, domain)
                && !border.is_empty()?
                && !domain.is_subset(border)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn space(&self, body: usize) -> Vec<String> {
        let ranks = self.nest.geometry.extents().len();
        [names("p", ranks), names("i", self.nest.statements[body].depth)].concat()
    }

    /// The instances that cannot run before the messages are received, whatever other instances do.
    fn first(&self, body: usize, domain: &Set, messages: &[Messages], exchanges: &[Exchange]) -> Result<Set> {
        let mut border = domain.clone().subtract(domain.clone())?;
        let here = messages.iter().filter(|messages| {
            messages.channel.depth == self.depth && matches!(messages.channel.level, Level::Time(_))
        });
        for messages in here {
            let mut elements: Option<Map> = None;
            for (of, at, access) in self.nest.accesses() {
                if of == body && access.field == messages.channel.field {
                    let next = self.elements(body, at, 0)?;
                    elements = Some(match elements {
                        Some(elements) => elements.union(next)?,
                        None => next,
                    });
                }
            }
            let Some(elements) = elements else { continue };
            let touched = messages.received.clone().apply(elements.reverse()?)?;
            let touched = self.at_any_time(body, domain, messages, touched)?;
            border = border.union(touched.without_divisions()?)?.coalesce()?;
        }
        let time = self.nest.time(body);
        let mut after = |depth: usize, events: Set, is_same: bool| -> Result<()> {
            if depth <= self.depth {
                return Ok(());
            }
            let (t, v) = (time[..depth].join(", "), names("v", depth).join(", "));
            let begins: Vec<String> = (0..self.depth)
                .map(|at| format!("{} = v{at}", time[at]))
                .collect();
            let sign = if is_same { "<<=" } else { "<<" };
            let space = self.space(body).join(", ");
            let text = format!("{{ [{v}] -> [{space}] : {} and {v} {sign} {t} }}", all(&begins));
            let later = events
                .apply(self.nest.relation(&text)?)?
                .intersect(domain.clone())?;
            border = border.clone().union(later.without_divisions()?)?.coalesce()?;
            Ok(())
        };
        for messages in messages {
            if let Level::Time(_) = messages.channel.level {
                after(messages.channel.depth, messages.chunks.clone(), true)?;
                after(messages.channel.depth, messages.sent.clone(), false)?;
            }
        }
        for exchange in exchanges {
            after(exchange.depth, events(self.nest, exchange)?, false)?;
        }
        Ok(border)
    }

    /// If all chunks are alike, so are all borders, which makes fewer cases.
    fn at_any_time(&self, body: usize, domain: &Set, messages: &Messages, border: Set) -> Result<Set> {
        let ranks = self.nest.geometry.extents().len();
        if !messages.channel.is_same_in_all_chunks(ranks) {
            return Ok(border.intersect(domain.clone())?);
        }
        let from = self.space(body);
        let outer = ranks + self.depth / 2;
        let to: Vec<String> = from
            .iter()
            .enumerate()
            .map(|(at, name)| {
                if (ranks..outer).contains(&at) {
                    format!("{name}_")
                } else {
                    name.clone()
                }
            })
            .collect();
        let text = format!("{{ [{}] -> [{}] }}", from.join(", "), to.join(", "));
        Ok(border
            .apply(self.nest.relation(&text)?)?
            .intersect(domain.clone())?)
    }

    /// Instances to who they belong to, when they are, and elements: `[p, i] -> [p, k, r, e]`, where k is the beginning of time,
    /// and r the `rest` coordinates after it.
    fn elements(&self, body: usize, at: usize, rest: usize) -> Result<Map> {
        if let Some(known) = self.known.borrow().get(&(body, at, rest)) {
            return Ok(known.clone());
        }
        let found = self.found_elements(body, at, rest)?;
        self.known.borrow_mut().insert((body, at, rest), found.clone());
        Ok(found)
    }

    fn found_elements(&self, body: usize, at: usize, rest: usize) -> Result<Map> {
        let nest = self.nest;
        let (space, instance) = (self.space(body).join(", "), nest.instance(body));
        let ranks = names("p", nest.geometry.extents().len());
        let time = nest.time(body)[..self.depth + rest].to_vec();
        let field = nest.statements[body].body.accesses[at].field;
        let (k, e) = (names("k", time.len()), names("e", nest.shape(field).len()));
        let placed = format!(
            "{{ {instance} -> [{space}, {}] : {} }}",
            time.join(", "),
            nest.executes(body)?
        );
        let accessed = nest
            .access(body, at)?
            .apply_domain(nest.of_instances(body, at, &placed)?)?;
        let whole = [&self.space(body)[..], &k, &e].concat().join(", ");
        let target = [&ranks[..], &k, &e].concat().join(", ");
        let accessed = accessed.wrap()?.flatten()?;
        Ok(accessed
            .apply(nest.relation(&format!("{{ [{whole}] -> [[{space}] -> [{target}]] }}"))?)?
            .unwrap()?)
    }

    /// All that a body reads, or writes, of a field, as [`Instances::elements`].
    fn accessed(&self, side: Side, rest: usize) -> Result<Option<Map>> {
        let mut all: Option<Map> = None;
        for (body, at, access) in self.nest.accesses() {
            if (body, access.field, access.is_write) == (side.body, side.field, side.is_write) {
                let next = self.elements(body, at, rest)?;
                all = Some(match all {
                    Some(all) => all.union(next)?,
                    None => next,
                });
            }
        }
        Ok(all)
    }

    /// Accesses of two bodies by which some instance of the second depends on one of the first.
    fn conflicts(&self) -> Result<Vec<Conflict>> {
        let mut sides: Vec<(Side, Map)> = Vec::new();
        for (body, _, access) in self
            .nest
            .accesses()
            .filter(|(body, ..)| self.domains[*body].is_some())
        {
            let side = Side {
                body,
                field: access.field,
                is_write: access.is_write,
            };
            if !sides.iter().any(|(known, _)| *known == side)
                && let Some(elements) = self.accessed(side, 0)?
            {
                sides.push((side, elements));
            }
        }
        let mut conflicts = Vec::new();
        for (from, first) in &sides {
            for (to, second) in &sides {
                let order = self.order(from.body, to.body);
                if from.field != to.field
                    || !(from.is_write || to.is_write)
                    || matches!(order, Order::After | Order::Apart)
                {
                    continue;
                }
                // Mostly each instance writes elements of its own, and reads none that other instances of the body
                // write.
                let is_own = from == to && first.clone().reverse()?.is_single_valued()?;
                let meets = || {
                    first
                        .clone()
                        .range()?
                        .intersect(second.clone().range()?)?
                        .is_empty()
                };
                if is_own || meets()? {
                    continue;
                }
                let rest = match order {
                    Order::Mixed => self.nest.time_dims() - self.depth,
                    _ => 0,
                };
                let (Some(first), Some(second)) = (self.accessed(*from, rest)?, self.accessed(*to, rest)?)
                else {
                    continue;
                };
                conflicts.push(Conflict {
                    from: from.body,
                    to: to.body,
                    touch: first,
                    touched_by: second.reverse()?,
                    later: self.later(from.field, rest)?,
                });
            }
        }
        Ok(conflicts)
    }

    /// The same element later, `[p, k, r, e] -> [p, k, r', e]`; nothing if the order is known without r.
    fn later(&self, field: usize, rest: usize) -> Result<Option<Map>> {
        if rest == 0 {
            return Ok(None);
        }
        let p = names("p", self.nest.geometry.extents().len());
        let k = names("k", self.depth);
        let (r, s, e) = (
            names("r", rest),
            names("s", rest),
            names("e", self.nest.shape(field).len()),
        );
        Ok(Some(Map::parse(&format!(
            "{{ [{}] -> [{}] : {} << {} }}",
            [&p[..], &k, &r, &e].concat().join(", "),
            [&p[..], &k, &s, &e].concat().join(", "),
            r.join(", "),
            s.join(", ")
        ))?))
    }

    /// Adds to the borders what depends on them; whether there was something.
    fn grow(&self, conflicts: &[Conflict], border: &mut [Option<Set>]) -> Result<bool> {
        let mut has_grown = false;
        for conflict in conflicts {
            let (Some(from), Some(to), Some(domain)) = (
                &border[conflict.from],
                &border[conflict.to],
                &self.domains[conflict.to],
            ) else {
                continue;
            };
            if from.is_empty()? || domain.is_subset(to)? {
                continue;
            }
            // Only instances touch elements.
            let touched = from.clone().apply(conflict.touch.clone())?;
            let later = match &conflict.later {
                Some(later) => touched.apply(later.clone())?,
                None => touched,
            };
            let more = later.apply(conflict.touched_by.clone())?;
            let more = more.intersect(domain.clone())?.subtract(to.clone())?;
            if !more.is_empty()? {
                border[conflict.to] = Some(to.clone().union(more.without_divisions()?)?.coalesce()?);
                has_grown = true;
            }
        }
        Ok(has_grown)
    }

    fn order(&self, one: usize, other: usize) -> Order {
        let (a, b) = (self.nest.time(one), self.nest.time(other));
        for (at, (a, b)) in a.iter().zip(&b).enumerate() {
            match (a.parse::<i64>(), b.parse::<i64>()) {
                (Ok(a), Ok(b)) if a == b => {}
                (Ok(_), Ok(_)) if at < self.depth => return Order::Apart,
                (Ok(a), Ok(b)) if a < b => return Order::Before,
                (Ok(_), Ok(_)) => return Order::After,
                _ if at < self.depth => {}
                _ => return Order::Mixed,
            }
        }
        Order::Mixed
    }
}
