//! Contents of datatypes: constructors and their numbers.

use crate::session::{Session, one_line};
use crate::types::bounds;
use crate::{Bounds, Combiner, Datatype, Error};

/// Levels of a type that are read. MPI has no limit, but the stack has.
const LEVELS: usize = 256;

/// Nodes of a tree that are made. A type whose parts are one type twice doubles them at each level.
const NODES: usize = 1 << 20;

/// Bytes for a type's name; MPI's limit is 128.
const NAME_BYTES: usize = 512;

/// How a type was made, down to those that MPI brings. Numbers stand as in the standard's functions with `int` counts, also if
/// a type was made by one with larger ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The constructor, which says what the numbers are.
    pub combiner: Combiner,
    /// Counts and similar numbers, in the constructor's order.
    pub integers: Vec<i64>,
    /// Numbers in bytes, in the constructor's order.
    pub addresses: Vec<i64>,
    /// The types that it was made of.
    pub children: Vec<Tree>,
    /// The name, such as `MPI_INT`, of a type that MPI brings; see [`Mpi::named`](crate::Mpi::named).
    pub name: Option<String>,
    /// Its sizes, which MPIs compute in different ways.
    pub bounds: Bounds,
}

impl Datatype {
    /// How it was made.
    ///
    /// # Errors
    /// If it has more than 256 levels or a million nodes, or MPI refuses.
    pub fn contents(&self) -> Result<Tree, Error> {
        let mut nodes = 0;
        read(&self.session, self.raw, LEVELS, &mut nodes)
    }
}

fn read(session: &Session, raw: u64, levels: usize, nodes: &mut usize) -> Result<Tree, Error> {
    *nodes += 1;
    if levels == 0 || *nodes > NODES {
        return Err(Error::Argument {
            call: "contents",
            reason: format!("the type has more than {LEVELS} levels or {NODES} parts; make it of fewer"),
        });
    }
    let (combiner, four) = envelope(session, raw)?;
    let mut tree = Tree {
        combiner,
        integers: Vec::new(),
        addresses: Vec::new(),
        children: Vec::new(),
        name: None,
        bounds: bounds(session, raw)?,
    };
    if combiner == Combiner::Named {
        tree.name = Some(name(session, raw)?);
        return Ok(tree);
    }
    let room = |index: usize| usize::try_from(four[index]).unwrap_or(0);
    let (mut integers, mut addresses) = (vec![0; room(0)], vec![0; room(1)]);
    let (mut counts, mut handles) = (vec![0; room(2)], vec![0; room(3)]);
    // SAFETY: the areas have the room that the envelope says.
    let code = unsafe {
        (session.functions.contents)(
            raw,
            combiner as i32,
            four.as_ptr(),
            integers.as_mut_ptr(),
            addresses.as_mut_ptr(),
            counts.as_mut_ptr(),
            handles.as_mut_ptr(),
        )
    };
    session.check("MPI_Type_get_contents", code)?;
    // All are freed, also if one cannot be read.
    let children: Vec<Child<'_>> = handles.into_iter().map(|raw| Child { session, raw }).collect();
    (tree.integers, tree.addresses) = merge(combiner, integers, addresses, counts);
    for child in &children {
        tree.children.push(read(session, child.raw, levels - 1, nodes)?);
    }
    Ok(tree)
}

/// The constructor, and numbers of integers, addresses, large counts and types.
fn envelope(session: &Session, raw: u64) -> Result<(Combiner, [i64; 4]), Error> {
    let (mut number, mut four) = (-1, [0; 4]);
    // SAFETY: the handle is alive, and there is room for the numbers.
    let code = unsafe { (session.functions.envelope)(raw, &mut number, four.as_mut_ptr()) };
    session.check("MPI_Type_get_envelope", code)?;
    let combiner = usize::try_from(number)
        .ok()
        .and_then(|number| Combiner::ALL.get(number));
    let combiner = combiner.ok_or_else(|| Error::Argument {
        call: "contents",
        reason: "the type was made by a constructor that is not in MPI 4.0; make it by one that is"
            .to_owned(),
    })?;
    Ok((*combiner, four))
}

fn name(session: &Session, raw: u64) -> Result<String, Error> {
    let mut text = vec![0; NAME_BYTES];
    // SAFETY: the text has room for as many bytes.
    let code = unsafe { (session.functions.type_name)(raw, text.as_mut_ptr(), NAME_BYTES as i32) };
    session.check("MPI_Type_get_name", code)?;
    Ok(one_line(&text))
}

/// Integers and addresses as they are without large counts.
fn merge(
    combiner: Combiner,
    integers: Vec<i64>,
    addresses: Vec<i64>,
    counts: Vec<i64>,
) -> (Vec<i64>, Vec<i64>) {
    if counts.is_empty() {
        return (integers, addresses);
    }
    // How many of the large counts come before those that are addresses.
    let before = match combiner {
        Combiner::Hvector | Combiner::HindexedBlock => 2,
        Combiner::Hindexed | Combiner::Struct => 1 + usize::try_from(counts[0]).unwrap_or(0),
        Combiner::Resized => 0,
        _ => counts.len(),
    };
    let (numbers, bytes) = counts.split_at(before.min(counts.len()));
    // How many integers come before the large counts.
    let first = match combiner {
        Combiner::Subarray => 1,
        Combiner::Darray => 3,
        _ => 0,
    };
    let (head, tail) = integers.split_at(first.min(integers.len()));
    ([head, numbers, tail].concat(), [&addresses, bytes].concat())
}

/// A type that MPI has given, to be freed unless it is one of its own.
struct Child<'a> {
    session: &'a Session,
    raw: u64,
}

impl Drop for Child<'_> {
    fn drop(&mut self) {
        // One that cannot be asked may be MPI's own, and is kept.
        if envelope(self.session, self.raw).is_ok_and(|(combiner, _)| !combiner.is_predefined()) {
            // SAFETY: the handle is alive, ours, and used no more.
            unsafe { (self.session.functions.type_free)(self.raw) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::merge;
    use crate::Combiner;

    #[test]
    fn large_counts_are_merged_into_integers() {
        for (combiner, integers, counts, expected) in [
            (Combiner::Contiguous, vec![], vec![5], (vec![5], vec![])),
            (Combiner::Hvector, vec![], vec![2, 3, -8], (vec![2, 3], vec![-8])),
            (Combiner::Indexed, vec![], vec![1, 2, 3], (vec![1, 2, 3], vec![])),
            (
                Combiner::Hindexed,
                vec![],
                vec![2, 4, 5, 6, 7],
                (vec![2, 4, 5], vec![6, 7]),
            ),
            (
                Combiner::HindexedBlock,
                vec![],
                vec![2, 4, 6, 7],
                (vec![2, 4], vec![6, 7]),
            ),
            (Combiner::Struct, vec![], vec![1, 4, 6], (vec![1, 4], vec![6])),
            (
                Combiner::Subarray,
                vec![1, 0],
                vec![9, 3, 2],
                (vec![1, 9, 3, 2, 0], vec![]),
            ),
            (
                Combiner::Darray,
                vec![4, 1, 1, 0, -1, 4, 0],
                vec![9],
                (vec![4, 1, 1, 9, 0, -1, 4, 0], vec![]),
            ),
            (Combiner::Resized, vec![], vec![-4, 16], (vec![], vec![-4, 16])),
        ] {
            assert_eq!(
                merge(combiner, integers, vec![], counts),
                expected,
                "{combiner:?}"
            );
        }
    }
}
