//! Types to be made: each constructor with its numbers, as the standard's table for `MPI_Type_get_contents` has them.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any as arbitrary, prop_oneof};
use proptest::sample::select;
use spinneret_mpi_sys::{Combiner, Datatype, Error, Mpi, Tree};

/// A type that is to be made: a [`Tree`] without the bounds, which depend on the MPI.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recipe {
    combiner: Combiner,
    integers: Vec<i64>,
    addresses: Vec<i64>,
    children: Vec<Recipe>,
    name: Option<String>,
}

impl Recipe {
    #[allow(dead_code, reason = "not every test program reads types back")]
    pub(crate) fn of(tree: &Tree) -> Self {
        Self {
            combiner: tree.combiner,
            integers: tree.integers.clone(),
            addresses: tree.addresses.clone(),
            children: tree.children.iter().map(Self::of).collect(),
            name: tree.name.clone(),
        }
    }

    fn named(name: &str) -> Self {
        Self {
            name: Some(name.to_owned()),
            ..Self::new(Combiner::Named, vec![], vec![], vec![])
        }
    }

    fn new(combiner: Combiner, integers: Vec<i64>, addresses: Vec<i64>, children: Vec<Self>) -> Self {
        Self {
            combiner,
            integers,
            addresses,
            children,
            name: None,
        }
    }

    /// Makes the type; those that it is made of are freed.
    pub(crate) fn make(&self, mpi: &Mpi) -> Result<Datatype, Error> {
        if let Some(name) = &self.name {
            return mpi.named(name);
        }
        let children = self.children.iter().map(|child| child.make(mpi));
        let children: Vec<Datatype> = children.collect::<Result<_, _>>()?;
        let children: Vec<&Datatype> = children.iter().collect();
        mpi.make(self.combiner, &self.integers, &self.addresses, &children)
    }
}

/// Random types, with counts and lengths of at least `least`.
pub(crate) fn any(least: i64) -> BoxedStrategy<Recipe> {
    let named = [
        "MPI_BYTE",
        "MPI_CHAR",
        "MPI_SHORT",
        "MPI_INT",
        "MPI_FLOAT",
        "MPI_DOUBLE",
        "MPI_UINT64_T",
        "MPI_C_DOUBLE_COMPLEX",
        "MPI_FLOAT_INT",
        "MPI_DOUBLE_INT",
        "MPI_LONG_INT",
        "MPI_SHORT_INT",
        "MPI_2INT",
        "MPI_LONG_DOUBLE_INT",
    ];
    let leaf = select(named.to_vec()).prop_map(Recipe::named);
    let recursive = leaf.prop_recursive(4, 12, 3, move |child| {
        let numbers = prop_oneof![
            Just((Combiner::Dup, vec![], vec![])),
            (least..5).prop_map(|count| (Combiner::Contiguous, vec![count], vec![])),
            (least..5, least..4, -9..9_i64).prop_map(|(count, length, stride)| (
                Combiner::Vector,
                vec![count, length, stride],
                vec![]
            )),
            (least..5, least..4, -99..99_i64).prop_map(|(count, length, stride)| (
                Combiner::Hvector,
                vec![count, length],
                vec![stride]
            )),
            blocks(least, 9).prop_map(|(lengths, starts)| (
                Combiner::Indexed,
                [lengths, starts].concat(),
                vec![]
            )),
            blocks(least, 99).prop_map(|(lengths, starts)| (Combiner::Hindexed, lengths, starts)),
            (least..4, vec(-9..9_i64, least as usize..5)).prop_map(|(length, starts)| {
                let numbers = [&[starts.len() as i64, length], &starts[..]].concat();
                (Combiner::IndexedBlock, numbers, vec![])
            }),
            (least..4, vec(-99..99_i64, least as usize..5)).prop_map(|(length, starts)| {
                (Combiner::HindexedBlock, vec![starts.len() as i64, length], starts)
            }),
            (vec((1..4_i64, 0..3_i64, 0..3_i64), 1..4), 0..2_i64).prop_map(|(parts, order)| {
                let each = |number: fn(&(i64, i64, i64)) -> i64| parts.iter().map(number).collect();
                let sizes: Vec<i64> = each(|(length, start, behind)| length + start + behind);
                let (lengths, starts) = (each(|part| part.0), each(|part| part.1));
                let numbers = [vec![parts.len() as i64], sizes, lengths, starts, vec![order]];
                (Combiner::Subarray, numbers.concat(), vec![])
            }),
            (vec(distributed(), 1..4), 0..2_i64, arbitrary::<u32>()).prop_map(|(dimensions, order, rank)| {
                let row = |row: usize| dimensions.iter().map(|numbers| numbers[row]).collect::<Vec<_>>();
                let processes: i64 = row(3).iter().product();
                let head = vec![processes, i64::from(rank) % processes, dimensions.len() as i64];
                let numbers = [head, row(0), row(1), row(2), row(3), vec![order]];
                (Combiner::Darray, numbers.concat(), vec![])
            }),
            (-50..50_i64, -50..120_i64).prop_map(|(bound, extent)| (
                Combiner::Resized,
                vec![],
                vec![bound, extent]
            )),
        ];
        let fields = vec((least..4, -100..100_i64, child.clone()), least as usize..4);
        prop_oneof![
            11 => (numbers, child).prop_map(|((combiner, integers, addresses), child)| {
                Recipe::new(combiner, integers, addresses, vec![child])
            }),
            1 => fields.prop_map(|fields| {
                let lengths = fields.iter().map(|field| field.0);
                let integers = [fields.len() as i64].into_iter().chain(lengths).collect();
                let starts = fields.iter().map(|field| field.1).collect();
                let children = fields.into_iter().map(|field| field.2).collect();
                Recipe::new(Combiner::Struct, integers, starts, children)
            }),
        ]
    });
    recursive.boxed()
}

/// How many blocks and their lengths, and their starts.
fn blocks(least: i64, reach: i64) -> impl Strategy<Value = (Vec<i64>, Vec<i64>)> {
    vec((least..4, -reach..reach), least as usize..5).prop_map(|blocks| {
        let (lengths, starts): (Vec<i64>, Vec<i64>) = blocks.into_iter().unzip();
        ([vec![lengths.len() as i64], lengths].concat(), starts)
    })
}

/// Size, distribution, its argument and processes of a dimension, as [`Combiner::Darray`] has them.
fn distributed() -> impl Strategy<Value = [i64; 4]> {
    (1..9_i64, 0..5, 1..4_i64, 1..4_i64).prop_map(|(size, kind, argument, processes)| match kind {
        0 => [size, 0, -1, processes],
        // Large enough for all elements.
        1 => [size, 0, size + argument, processes],
        2 => [size, 1, -1, processes],
        3 => [size, 1, argument, processes],
        _ => [size, 2, -1, 1],
    })
}

/// Faults of an installed MPI, for which some types are left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Faults {
    /// A stride of exactly -1 byte gives wrong bytes and bounds.
    pub(crate) backward_bytes: bool,
    /// This MPI treats several blocks of elements with a negative extent as one long row: after the three of
    /// contiguous(3) of extent -1, which has extent 1, the next is at -3.
    pub(crate) backward_extents: bool,
    /// Fields of no size move the bounds of a structure, but not the elements that are packed.
    pub(crate) empty_fields: bool,
    /// A type with parts of no size can end the process (SIGFPE in `MPI_Unpack`).
    pub(crate) empty_parts: bool,
    /// An array over a type of no size is refused.
    pub(crate) empty_arrays: bool,
}

impl Faults {
    /// Whether a type has a part that the MPI gets wrong.
    pub(crate) fn spoil(self, tree: &Tree) -> bool {
        let extent = |tree: &Tree| tree.children.first().map_or(0, |child| child.bounds.extent);
        let stride = match tree.combiner {
            Combiner::Vector => tree.integers[2] * extent(tree),
            Combiner::Hvector => tree.addresses[0],
            _ => 0,
        };
        let is_backward = self.backward_bytes && (stride == -1 || tree.bounds.extent == -1);
        let is_row = self.backward_extents && tree.bounds.extent < 0;
        let is_struct = tree.combiner == Combiner::Struct;
        let has_nothing = tree.children.iter().any(|child| child.bounds.size == 0);
        let is_empty =
            self.empty_parts && tree.bounds.size == 0 || self.empty_fields && is_struct && has_nothing;
        is_backward || is_row || is_empty || tree.children.iter().any(|child| self.spoil(child))
    }
}

#[allow(dead_code, reason = "some test programs use one MPI")]
impl Faults {
    /// Those of Open MPI 4.1.4.
    pub(crate) const OPEN_MPI: Self = Self {
        backward_bytes: true,
        backward_extents: false,
        empty_fields: true,
        empty_parts: false,
        empty_arrays: true,
    };

    /// Those of MPICH 4.0.2.
    pub(crate) const MPICH: Self = Self {
        backward_bytes: false,
        backward_extents: true,
        empty_fields: false,
        empty_parts: true,
        empty_arrays: false,
    };
}
