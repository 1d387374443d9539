//! Types to be made: each constructor with its numbers.

use super::shape::Shape;
use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any as arbitrary, prop_oneof};
use proptest::sample::select;
use spinneret_mpi_sys::{
    Block, Combiner, Datatype, Distributed, Distribution, Error, Field, Mpi, Named, Order, Part,
};

/// A type that is to be made.
#[derive(Clone, Debug)]
pub(crate) enum Recipe {
    Named(Named),
    Dup(Box<Recipe>),
    Contiguous(i64, Box<Recipe>),
    Vector([i64; 3], Box<Recipe>),
    Hvector([i64; 3], Box<Recipe>),
    Indexed(Vec<(i64, i64)>, Box<Recipe>),
    Hindexed(Vec<(i64, i64)>, Box<Recipe>),
    IndexedBlock(i64, Vec<i64>, Box<Recipe>),
    HindexedBlock(i64, Vec<i64>, Box<Recipe>),
    Struct(Vec<(i64, i64, Recipe)>),
    Subarray(Vec<Part>, Order, Box<Recipe>),
    Darray(u32, Vec<Distributed>, Order, Box<Recipe>),
    Resized(i64, i64, Box<Recipe>),
}

/// Random types, with counts and lengths of so many at least.
pub(crate) fn any(least: i64) -> BoxedStrategy<Recipe> {
    let named = [
        Named::Byte,
        Named::Char,
        Named::Short,
        Named::Int,
        Named::Float,
        Named::Double,
        Named::Uint64,
        Named::CDoubleComplex,
        Named::FloatInt,
        Named::DoubleInt,
        Named::LongInt,
        Named::ShortInt,
        Named::TwoInt,
        Named::LongDoubleInt,
    ];
    let leaf = select(named.to_vec()).prop_map(Recipe::Named);
    let recursive = leaf.prop_recursive(4, 12, 3, move |child| {
        let boxed = child.clone().prop_map(Box::new).boxed();
        let count = least..5_i64;
        let length = least..4_i64;
        let blocks = |reach: i64| vec((least..4_i64, -reach..reach), least as usize..5);
        let starts = |reach: i64| vec(-reach..reach, least as usize..5);
        let numbers = |reach: i64| (count.clone(), length.clone(), -reach..reach).prop_map(<[i64; 3]>::from);
        let field = (least..4_i64, -100..100_i64, child);
        let order = prop_oneof![Just(Order::C), Just(Order::Fortran)];
        prop_oneof![
            boxed.clone().prop_map(Recipe::Dup),
            (count.clone(), boxed.clone()).prop_map(|(count, of)| Recipe::Contiguous(count, of)),
            (numbers(9), boxed.clone()).prop_map(|(numbers, of)| Recipe::Vector(numbers, of)),
            (numbers(99), boxed.clone()).prop_map(|(numbers, of)| Recipe::Hvector(numbers, of)),
            (blocks(9), boxed.clone()).prop_map(|(blocks, of)| Recipe::Indexed(blocks, of)),
            (blocks(99), boxed.clone()).prop_map(|(blocks, of)| Recipe::Hindexed(blocks, of)),
            (length.clone(), starts(9), boxed.clone())
                .prop_map(|(length, starts, of)| Recipe::IndexedBlock(length, starts, of)),
            (length.clone(), starts(99), boxed.clone())
                .prop_map(|(length, starts, of)| Recipe::HindexedBlock(length, starts, of)),
            vec(field, least as usize..4).prop_map(Recipe::Struct),
            (vec(part(), 1..4), order.clone(), boxed.clone())
                .prop_map(|(parts, order, of)| Recipe::Subarray(parts, order, of)),
            (vec(distributed(), 1..4), order, boxed.clone(), arbitrary::<u32>()).prop_map(
                |(dimensions, order, of, rank)| {
                    let processes: u32 = dimensions.iter().map(|dimension| dimension.processes).product();
                    Recipe::Darray(rank % processes, dimensions, order, of)
                }
            ),
            (-50..50_i64, -50..120_i64, boxed)
                .prop_map(|(bound, extent, of)| Recipe::Resized(bound, extent, of)),
        ]
    });
    recursive.boxed()
}

fn part() -> impl Strategy<Value = Part> {
    (1..4_i64, 0..3_i64, 0..3_i64).prop_map(|(length, start, behind)| Part {
        size: start + length + behind,
        length,
        start,
    })
}

fn distributed() -> impl Strategy<Value = Distributed> {
    (1..9_i64, 0..5_u8, 1..4_u32, 1..4_u32).prop_map(|(size, kind, argument, processes)| {
        let (distribution, processes) = match kind {
            0 => (Distribution::Block(None), processes),
            // Large enough for all elements.
            1 => (Distribution::Block(Some(size as u32 + argument)), processes),
            2 => (Distribution::Cyclic(None), processes),
            3 => (Distribution::Cyclic(Some(argument)), processes),
            _ => (Distribution::None, 1),
        };
        Distributed {
            size,
            distribution,
            processes,
        }
    })
}

impl Recipe {
    /// Makes the type; those that it is made of are freed.
    pub(crate) fn make(&self, mpi: &Mpi) -> Result<Datatype, Error> {
        let blocks = |pairs: &[(i64, i64)]| {
            let block = |&(length, start): &(i64, i64)| Block { length, start };
            pairs.iter().map(block).collect::<Vec<_>>()
        };
        match self {
            Self::Named(named) => mpi.named(*named),
            Self::Dup(of) => of.make(mpi)?.dup(),
            Self::Contiguous(count, of) => of.make(mpi)?.contiguous(*count),
            Self::Vector([count, length, stride], of) => of.make(mpi)?.vector(*count, *length, *stride),
            Self::Hvector([count, length, stride], of) => of.make(mpi)?.hvector(*count, *length, *stride),
            Self::Indexed(pairs, of) => of.make(mpi)?.indexed(&blocks(pairs)),
            Self::Hindexed(pairs, of) => of.make(mpi)?.hindexed(&blocks(pairs)),
            Self::IndexedBlock(length, starts, of) => of.make(mpi)?.indexed_block(*length, starts),
            Self::HindexedBlock(length, starts, of) => of.make(mpi)?.hindexed_block(*length, starts),
            Self::Struct(fields) => {
                let children = fields.iter().map(|(_, _, of)| of.make(mpi));
                let children = children.collect::<Result<Vec<_>, _>>()?;
                let field = |(&(length, start, _), child)| Field { length, start, child };
                mpi.structure(&fields.iter().zip(&children).map(field).collect::<Vec<_>>())
            }
            Self::Subarray(parts, order, of) => of.make(mpi)?.subarray(parts, *order),
            Self::Darray(rank, dimensions, order, of) => {
                let processes = dimensions.iter().map(|dimension| dimension.processes).product();
                of.make(mpi)?.darray(processes, *rank, dimensions, *order)
            }
            Self::Resized(bound, extent, of) => of.make(mpi)?.resized(*bound, *extent),
        }
    }

    /// What is to be read back, by the standard's table for `MPI_Type_get_contents`.
    pub(crate) fn shape(&self) -> Shape {
        let (combiner, integers, addresses) = self.numbers();
        let name = match self {
            Self::Named(named) => Some(named.name().to_owned()),
            _ => None,
        };
        let children = match self {
            Self::Named(_) => vec![],
            Self::Struct(fields) => fields.iter().map(|(_, _, of)| of.shape()).collect(),
            Self::Dup(of)
            | Self::Contiguous(_, of)
            | Self::Vector(_, of)
            | Self::Hvector(_, of)
            | Self::Indexed(_, of)
            | Self::Hindexed(_, of)
            | Self::IndexedBlock(_, _, of)
            | Self::HindexedBlock(_, _, of)
            | Self::Subarray(_, _, of)
            | Self::Darray(_, _, _, of)
            | Self::Resized(_, _, of) => vec![of.shape()],
        };
        Shape {
            combiner,
            integers,
            addresses,
            name,
            children,
        }
    }

    fn numbers(&self) -> (Combiner, Vec<i64>, Vec<i64>) {
        let counted = |pairs: &[(i64, i64)]| {
            let count = [pairs.len() as i64];
            count
                .into_iter()
                .chain(pairs.iter().map(|(length, _)| *length))
                .collect::<Vec<_>>()
        };
        let starts = |pairs: &[(i64, i64)]| pairs.iter().map(|(_, start)| *start).collect::<Vec<_>>();
        let order_of = |order: &Order| i64::from(*order == Order::Fortran);
        match self {
            Self::Named(_) => (Combiner::Named, vec![], vec![]),
            Self::Dup(_) => (Combiner::Dup, vec![], vec![]),
            Self::Contiguous(count, _) => (Combiner::Contiguous, vec![*count], vec![]),
            Self::Vector(numbers, _) => (Combiner::Vector, numbers.to_vec(), vec![]),
            Self::Hvector([count, length, stride], _) => {
                (Combiner::Hvector, vec![*count, *length], vec![*stride])
            }
            Self::Indexed(pairs, _) => (
                Combiner::Indexed,
                [counted(pairs), starts(pairs)].concat(),
                vec![],
            ),
            Self::Hindexed(pairs, _) => (Combiner::Hindexed, counted(pairs), starts(pairs)),
            Self::IndexedBlock(length, starts, _) => {
                let numbers = [&[starts.len() as i64, *length], &starts[..]].concat();
                (Combiner::IndexedBlock, numbers, vec![])
            }
            Self::HindexedBlock(length, starts, _) => (
                Combiner::HindexedBlock,
                vec![starts.len() as i64, *length],
                starts.clone(),
            ),
            Self::Struct(fields) => {
                let pairs: Vec<_> = fields.iter().map(|&(length, start, _)| (length, start)).collect();
                (Combiner::Struct, counted(&pairs), starts(&pairs))
            }
            Self::Subarray(parts, order, _) => {
                let each = |number: fn(&Part) -> i64| parts.iter().map(number).collect::<Vec<_>>();
                let (sizes, lengths) = (each(|part| part.size), each(|part| part.length));
                let starts = each(|part| part.start);
                let numbers = [
                    vec![parts.len() as i64],
                    sizes,
                    lengths,
                    starts,
                    vec![order_of(order)],
                ];
                (Combiner::Subarray, numbers.concat(), vec![])
            }
            Self::Darray(rank, dimensions, order, _) => {
                let each =
                    |number: fn(&Distributed) -> i64| dimensions.iter().map(number).collect::<Vec<_>>();
                let grid = each(|dimension| dimension.processes.into());
                let head = vec![grid.iter().product(), i64::from(*rank), dimensions.len() as i64];
                let (sizes, kinds) = (each(|dimension| dimension.size), each(kind));
                let numbers = [head, sizes, kinds, each(argument), grid, vec![order_of(order)]];
                (Combiner::Darray, numbers.concat(), vec![])
            }
            Self::Resized(bound, extent, _) => (Combiner::Resized, vec![], vec![*bound, *extent]),
        }
    }
}

fn kind(dimension: &Distributed) -> i64 {
    match dimension.distribution {
        Distribution::Block(_) => 0,
        Distribution::Cyclic(_) => 1,
        Distribution::None => 2,
    }
}

fn argument(dimension: &Distributed) -> i64 {
    match dimension.distribution {
        Distribution::Block(argument) | Distribution::Cyclic(argument) => argument.map_or(-1, i64::from),
        Distribution::None => -1,
    }
}
