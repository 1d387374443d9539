//! The instances of a program with its numbers: which ranks execute them, when, and which elements they access, as
//! relations.
//!
//! Each access is a space of its own, `A{body}_{access}`, with the instances of its body. `I{field}` writes every
//! element of a field before everything else, and `L{field}` reads it after everything, both where the element lives.
//! Time has 2 d + 1 coordinates for bodies in d loops, alternately the place in the text and the value of a loop's
//! variable.

use crate::expressions::{Writer, all, home, inside, names};
use crate::geometry::Geometry;
use crate::program::{Access, Body, Bounds, Expr, Node, Operator, Program, Sizes, first_site};
use crate::{Error, Result};
use spinneret_isl::{Map, Set, UnionMap};
use std::cell::RefCell;
use std::collections::HashMap;

#[derive(Debug)]
pub(crate) struct Nest<'a> {
    pub(crate) program: &'a Program,
    pub(crate) sizes: &'a Sizes,
    pub(crate) geometry: &'a Geometry,
    pub(crate) statements: Vec<Statement<'a>>,
    /// For each body the loop around it that is there in time only, if there are such loops.
    pub(crate) hidden: Vec<Option<usize>>,
    /// Loops around the body that has most.
    depth: usize,
    /// Relations by their texts: to read a text takes isl longer than most of what is done with its answer.
    known: RefCell<HashMap<String, Map>>,
    known_sets: RefCell<HashMap<String, Set>>,
}

#[derive(Debug)]
pub(crate) struct Statement<'a> {
    pub(crate) body: &'a Body,
    pub(crate) depth: usize,
    /// Conditions on `i0`, ... of its instances.
    domain: Vec<String>,
    /// Its coordinates of time, without zeros at the end.
    time: Vec<String>,
}

/// Loops, conditions and place around a part of the program.
#[derive(Debug, Clone, Default)]
struct Around {
    depth: usize,
    domain: Vec<String>,
    time: Vec<String>,
}

impl<'a> Nest<'a> {
    pub(crate) fn new(program: &'a Program, sizes: &'a Sizes, geometry: &'a Geometry) -> Result<Self> {
        check_sizes(program, sizes, geometry)?;
        let mut nest = Self {
            program,
            sizes,
            geometry,
            statements: Vec::new(),
            hidden: Vec::new(),
            depth: 0,
            known: RefCell::default(),
            known_sets: RefCell::default(),
        };
        nest.add(&program.nodes, &Around::default(), &mut 0)?;
        nest.depth = nest
            .statements
            .iter()
            .map(|statement| statement.depth)
            .max()
            .unwrap_or(0);
        Ok(nest)
    }

    fn add(&mut self, nodes: &'a [Node], around: &Around, place: &mut usize) -> Result<()> {
        let site = Default::default();
        for node in nodes {
            match node {
                Node::Loop(bounds, inner) => {
                    let mut within = around.clone();
                    let writer = Writer {
                        sizes: self.sizes,
                        site: first_site(inner).unwrap_or(&site),
                    };
                    within.domain.push(writer.bounds(around.depth, bounds)?);
                    let sign = if bounds.reversed { "-" } else { "" };
                    within
                        .time
                        .extend([place.to_string(), format!("{sign}i{}", around.depth)]);
                    within.depth += 1;
                    self.add(inner, &within, &mut 0)?;
                    *place += 1;
                }
                Node::If(condition, then, otherwise) => {
                    let site = first_site(then).or(first_site(otherwise)).unwrap_or(&site);
                    let text = Writer {
                        sizes: self.sizes,
                        site,
                    }
                    .cond(condition)?;
                    for (branch, text) in [(then, text.clone()), (otherwise, format!("(not {text})"))] {
                        let mut within = around.clone();
                        within.domain.push(text);
                        self.add(branch, &within, place)?;
                    }
                }
                Node::Body(body) => {
                    let mut within = around.clone();
                    within.time.push(place.to_string());
                    *place += 1;
                    let Around { depth, domain, time } = within;
                    self.statements.push(Statement {
                        body,
                        depth,
                        domain,
                        time,
                    });
                }
            }
        }
        Ok(())
    }

    /// Values that the variable of a loop takes, or 1 if these depend on the loops around it.
    pub(crate) fn values(&self, bounds: &Bounds) -> Result<i64> {
        let writer = Writer {
            sizes: self.sizes,
            site: &self.program.site(),
        };
        Ok(
            match (writer.constant(&bounds.from)?, writer.constant(&bounds.to)?) {
                (Some(from), Some(to)) => (to.saturating_sub(from) / bounds.step).max(1),
                _ => 1,
            },
        )
    }

    /// Returns the relation that a text describes; parses each text only once.
    pub(crate) fn relation(&self, text: &str) -> Result<Map> {
        if let Some(known) = self.known.borrow().get(text) {
            return Ok(known.clone());
        }
        let relation = Map::parse(text)?;
        self.known.borrow_mut().insert(text.to_owned(), relation.clone());
        Ok(relation)
    }

    /// As [`Nest::relation`], of a set.
    pub(crate) fn set(&self, text: &str) -> Result<Set> {
        if let Some(known) = self.known_sets.borrow().get(text) {
            return Ok(known.clone());
        }
        let set = Set::parse(text)?;
        self.known_sets.borrow_mut().insert(text.to_owned(), set.clone());
        Ok(set)
    }

    /// As [`Nest::relation`], from instances of an access. The text has no name for them, so that it serves all accesses of a
    /// body.
    pub(crate) fn of_instances(&self, body: usize, at: usize, text: &str) -> Result<Map> {
        Ok(self.relation(text)?.named_domain(&format!("A{body}_{at}"))?)
    }

    /// Coordinates of time.
    pub(crate) fn time_dims(&self) -> usize {
        2 * self.depth + 1
    }

    /// A place in the text after all others.
    pub(crate) fn end(&self) -> i64 {
        self.program.nodes.len() as i64 + self.statements.len() as i64
    }

    pub(crate) fn shape(&self, field: usize) -> &'a [i64] {
        &self.sizes.shapes[field]
    }

    /// All accesses: body, access, and what it is.
    pub(crate) fn accesses(&self) -> impl Iterator<Item = (usize, usize, &'a Access)> {
        self.statements.iter().enumerate().flat_map(|(body, statement)| {
            statement
                .body
                .accesses
                .iter()
                .enumerate()
                .map(move |(at, access)| (body, at, access))
        })
    }

    /// Coordinates of time of a body, all of them.
    pub(crate) fn time(&self, body: usize) -> Vec<String> {
        let mut time = self.statements[body].time.clone();
        time.resize(self.time_dims(), "0".to_owned());
        time
    }

    /// `[i0, ...]`.
    pub(crate) fn instance(&self, body: usize) -> String {
        format!("[{}]", names("i", self.statements[body].depth).join(", "))
    }

    /// Instances to elements.
    pub(crate) fn access(&self, body: usize, at: usize) -> Result<Map> {
        let (statement, access) = (&self.statements[body], &self.statements[body].body.accesses[at]);
        let writer = Writer {
            sizes: self.sizes,
            site: &access.site,
        };
        let mut inner = Vec::new();
        for (variable, bounds) in (statement.depth..).zip(&access.inner) {
            inner.push(writer.bounds(variable, bounds)?);
        }
        for condition in &access.when {
            inner.push(writer.cond(condition)?);
        }
        let around = [&statement.domain[..], &inner].concat();
        for (dim, subscript) in access.subscripts.iter().enumerate() {
            inner.push(match subscript {
                Expr::Op(Operator::Rem, of, by) => self.rest(
                    &writer,
                    &around,
                    statement.depth + access.inner.len(),
                    dim,
                    (of, by),
                )?,
                _ => format!("e{dim} = {}", writer.expr(subscript)?),
            });
        }
        let variables: Vec<String> = (statement.depth..statement.depth + access.inner.len())
            .map(|at| format!("i{at}"))
            .collect();
        let inner = match variables.is_empty() {
            true => all(&inner),
            false => format!("exists ({} : {})", variables.join(", "), all(&inner)),
        };
        let element = self.element(access.field);
        self.of_instances(
            body,
            at,
            &format!(
                "{{ {} -> {element} : {} and {inner} }}",
                self.instance(body),
                all(&statement.domain)
            ),
        )
    }

    /// The condition that `e{dim}` is the rest of a division. Over periodic borders the quotient has two or three values; with
    /// a case for each of them there is no division left for isl to carry through everything.
    fn rest(
        &self,
        writer: &Writer<'_>,
        around: &[String],
        depth: usize,
        dim: usize,
        (of, by): (&Expr, &Expr),
    ) -> Result<String> {
        const MOST_CASES: usize = 4;
        let whole = of.clone().rem_euclid(by.clone());
        let (Some(size), of) = (writer.constant(by)?.filter(|size| *size > 0), writer.expr(of)?) else {
            return Ok(format!("e{dim} = {}", writer.expr(&whole)?));
        };
        let variables = names("i", depth);
        let quotient = format!("{size} * c <= {of} and {of} < {size} * c + {size}");
        let exists = match variables.is_empty() {
            true => quotient,
            false => format!(
                "exists ({} : {} and {quotient})",
                variables.join(", "),
                all(around)
            ),
        };
        let mut quotients = self.set(&format!("{{ [c] : {exists} }}"))?;
        let mut cases = Vec::new();
        while let Some(found) = quotients.sample()? {
            if cases.len() == MOST_CASES {
                return Ok(format!("e{dim} = {}", writer.expr(&whole)?));
            }
            let start = found[0] * size;
            cases.push(format!(
                "({start} <= {of} and {of} < {start} + {size} and e{dim} = {of} - ({start}))"
            ));
            quotients = quotients.subtract(self.set(&format!("{{ [{}] }}", found[0]))?)?;
        }
        Ok(match cases.is_empty() {
            true => "false".to_owned(),
            false => format!("({})", cases.join(" or ")),
        })
    }

    /// `F{field}[e0, ...]`.
    pub(crate) fn element(&self, field: usize) -> String {
        format!("F{field}[{}]", names("e", self.shape(field).len()).join(", "))
    }

    /// The access of a body by whose element an instance is executed where that lives: the first write, or, where nothing is
    /// written, the first read that all instances have.
    pub(crate) fn anchor(&self, body: usize) -> Option<usize> {
        let accesses = &self.statements[body].body.accesses;
        let is_plain = |access: &Access| access.inner.is_empty() && access.when.is_empty();
        let written = accesses.iter().position(|access| access.is_write);
        written.or_else(|| accesses.iter().position(is_plain))
    }

    /// The conditions on `i0`, ... and `p0`, ... under which a rank executes an instance: it is the home of the element of
    /// [`Nest::anchor`].
    pub(crate) fn executes(&self, body: usize) -> Result<String> {
        let statement = &self.statements[body];
        let Some(anchor) = self.anchor(body) else {
            let what = format!("{}: no element says where this is executed", statement.body.site);
            return Err(Error::Sizes {
                program: self.program.name.clone(),
                what,
            });
        };
        let write = &statement.body.accesses[anchor];
        let writer = Writer {
            sizes: self.sizes,
            site: &write.site,
        };
        let indices: Vec<String> = write
            .subscripts
            .iter()
            .map(|index| writer.expr(index))
            .collect::<Result<_>>()?;
        let home = home(self.geometry, self.shape(write.field), &indices);
        Ok(format!("{} and {home}", all(&statement.domain)))
    }

    /// Which ranks execute which instances of a body, `[p0, ..., i0, ...]`.
    pub(crate) fn instances(&self, body: usize) -> Result<Set> {
        let space = [
            names("p", self.geometry.extents().len()),
            names("i", self.statements[body].depth),
        ];
        let text = format!("{{ [{}] : {} }}", space.concat().join(", "), self.executes(body)?);
        self.set(&text)
    }

    /// Instances of an access to who executes them and when: `[p0, ..., t0, ...]`.
    pub(crate) fn place(&self, body: usize, at: usize) -> Result<Map> {
        let ranks = names("p", self.geometry.extents().len()).join(", ");
        let time = self.time(body).join(", ");
        let text = format!(
            "{{ {} -> [{ranks}, {time}] : {} }}",
            self.instance(body),
            self.executes(body)?
        );
        self.of_instances(body, at, &text)
    }

    /// The order of the accesses of a body: its time and the access's place. Coordinates of time that are 0 for all bodies say
    /// nothing, and are left out.
    pub(crate) fn order(&self, body: usize, at: usize) -> Result<UnionMap> {
        let time = self.time(body);
        let time: Vec<&str> = self.telling().into_iter().map(|at| &time[at][..]).collect();
        let domain = all(&self.statements[body].domain);
        let text = format!(
            "{{ {} -> [{}, {at}] : {domain} }}",
            self.instance(body),
            time.join(", ")
        );
        Ok(self.of_instances(body, at, &text)?.into())
    }

    /// Coordinates of time that tell instances apart.
    fn telling(&self) -> Vec<usize> {
        let tells = |at: usize| {
            self.statements
                .iter()
                .any(|statement| statement.time.get(at).is_some_and(|time| time != "0"))
        };
        (0..self.time_dims())
            .filter(|at| *at == 0 || tells(*at))
            .collect()
    }

    /// Elements to their homes and a time of one first coordinate: `[p0, ..., first, 0, ...]`.
    pub(crate) fn home(&self, space: &str, field: usize, first: i64) -> Result<Map> {
        let (shape, dims) = (self.shape(field), names("e", self.shape(field).len()));
        let ranks = names("p", self.geometry.extents().len()).join(", ");
        let zeros = ", 0".repeat(self.time_dims() - 1);
        let text = format!(
            "{{ {space}{field}[{}] -> [{ranks}, {first}{zeros}] : {} and {} }}",
            dims.join(", "),
            inside(shape),
            home(self.geometry, shape, &dims)
        );
        self.relation(&text)
    }

    /// `I{field}` or `L{field}` to the elements, which are its instances, and its order.
    pub(crate) fn everything(&self, space: &str, field: usize, first: i64) -> Result<(UnionMap, UnionMap)> {
        let dims = names("e", self.shape(field).len()).join(", ");
        let (inside, zeros) = (inside(self.shape(field)), ", 0".repeat(self.telling().len()));
        let access = format!("{{ {space}{field}[{dims}] -> F{field}[{dims}] : {inside} }}");
        let order = format!("{{ {space}{field}[{dims}] -> [{first}{zeros}] : {inside} }}");
        Ok((Map::parse(&access)?.into(), Map::parse(&order)?.into()))
    }

    /// Finds an access to what is not an element.
    pub(crate) fn check_bounds(&self) -> Result<()> {
        for (body, at, access) in self.accesses() {
            let shape = self.shape(access.field);
            let relation = self.access(body, at)?;
            let inside = format!("{{ {} : {} }}", self.element(access.field), inside(shape));
            let inside = self.set(&inside)?;
            let beyond = relation.clone().range()?.subtract(inside)?;
            if let Some(point) = relation.intersect_range(beyond)?.wrap()?.sample()? {
                let (instance, element) = point.split_at(self.statements[body].depth);
                return Err(Error::OutOfBounds {
                    site: access.site.clone(),
                    field: self.program.fields[access.field].clone(),
                    element: element.to_vec(),
                    instance: instance.to_vec(),
                });
            }
        }
        Ok(())
    }
}

/// Elements that a field can have: sums over all ranks of what is sent of them still fit into 64 bits.
const MOST_ELEMENTS: i128 = 1 << 48;

fn check_sizes(program: &Program, sizes: &Sizes, geometry: &Geometry) -> Result<()> {
    let fail = |what: String| {
        Err(Error::Sizes {
            program: program.name.clone(),
            what,
        })
    };
    if (program.params.len(), program.fields.len()) != (sizes.params.len(), sizes.shapes.len()) {
        return fail(format!(
            "it has {} parameters and {} fields, and was given {} and {}",
            program.params.len(),
            program.fields.len(),
            sizes.params.len(),
            sizes.shapes.len()
        ));
    }
    for (field, shape) in program.fields.iter().zip(&sizes.shapes) {
        // Indices are computed in 64 bits, with room for sums of a few of them.
        if shape.is_empty() || shape.iter().any(|size| !(0..=1 << 40).contains(size)) {
            return fail(format!(
                "`{field}` cannot have the sizes {shape:?}; each is a number from 0 to 2^40"
            ));
        }
        if shape.contains(&0) {
            continue;
        }
        let elements = shape
            .iter()
            .try_fold(1i128, |all, &size| all.checked_mul(size.into()));
        if elements.is_none_or(|elements| elements > MOST_ELEMENTS) {
            return fail(format!(
                "`{field}` cannot have the sizes {shape:?}; it has at most 2^48 elements"
            ));
        }
        // A rank's coordinate times a size says where its block begins.
        let cut = shape.iter().zip(geometry.extents());
        for (&size, &ranks) in cut {
            if i128::from(size) * i128::from(ranks) > MOST_ELEMENTS {
                return fail(format!(
                    "`{field}` has {size} elements along {ranks} ranks; the product of both is at most 2^48"
                ));
            }
        }
    }
    Ok(())
}
