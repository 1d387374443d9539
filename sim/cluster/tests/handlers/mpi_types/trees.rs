//! Types without an MPI: trees as one would describe them.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy, prop_oneof};
use spinneret_mpi_sys::{Bounds, Combiner, Tree};

fn tree(
    combiner: Combiner,
    integers: Vec<i64>,
    addresses: Vec<i64>,
    children: Vec<Tree>,
    extent: i64,
) -> Tree {
    let bounds = Bounds {
        size: 0,
        lower_bound: 0,
        extent,
        true_lower_bound: 0,
        true_extent: 0,
    };
    Tree {
        combiner,
        integers,
        addresses,
        children,
        name: None,
        bounds,
    }
}

/// So many bytes in one piece.
pub(crate) fn bytes(count: i64) -> Tree {
    let mut leaf = tree(Combiner::Named, vec![], vec![], vec![], count);
    leaf.bounds.size = count;
    leaf.name = Some("MPI_BYTE".to_owned());
    leaf
}

/// Repeats a type at a stride; the extent of all of it is for the next level.
pub(crate) fn hvector(count: i64, stride: i64, child: Tree, extent: i64) -> Tree {
    tree(
        Combiner::Hvector,
        vec![count, 1],
        vec![stride],
        vec![child],
        extent,
    )
}

/// Blocks of (length, start).
pub(crate) fn hindexed(blocks: &[(i64, i64)], child: Tree, extent: i64) -> Tree {
    let mut integers = vec![blocks.len() as i64];
    integers.extend(blocks.iter().map(|block| block.0));
    let starts = blocks.iter().map(|block| block.1).collect();
    tree(Combiner::Hindexed, integers, starts, vec![child], extent)
}

/// The paper's simple type.
pub(crate) fn simple() -> Tree {
    bytes(110_592)
}

/// The paper's complex type.
pub(crate) fn complex() -> Tree {
    let vector = hvector(32, 576, bytes(432), 18_288);
    let nest = hvector(2, 12_288, hvector(2, 6144, vector, 24_432), 36_720);
    hvector(2, 18_432, nest, 55_152)
}

/// Random types of up to four levels, most of which do not overlap.
pub(crate) fn any() -> BoxedStrategy<Tree> {
    let leaf = (1..150_i64).prop_map(bytes);
    let recursive = leaf.prop_recursive(4, 8, 1, |child| {
        let gap = prop_oneof![Just(0_i64), 1..90_i64];
        let blocks = vec((1..3_i64, 0..60_i64), 1..12);
        prop_oneof![
            3 => (1..6_i64, gap.clone(), proptest::bool::ANY, child.clone()).prop_map(|(count, gap, back, child)| {
                let stride = reach(&child) + gap;
                hvector(count, if back { -stride } else { stride }, child, stride * count + gap)
            }),
            1 => (1..3_i64, -400..400_i64, child.clone())
                .prop_map(|(count, stride, child)| hvector(count, stride, child, stride + 7)),
            2 => (blocks, child, gap).prop_map(|(blocks, child, gap)| {
                let child_reach = reach(&child);
                let mut at = 0;
                let mut place = |(length, gap): (i64, i64)| {
                    let start = at + gap;
                    at = start + length * child.bounds.extent.abs().max(child_reach);
                    (length, start)
                };
                let mut blocks: Vec<(i64, i64)> = blocks.into_iter().map(&mut place).collect();
                if blocks.len().is_multiple_of(2) {
                    blocks.reverse();
                }
                hindexed(&blocks, child, at + gap)
            }),
        ]
    });
    recursive.boxed()
}

/// More than how far apart any of its bytes are.
fn reach(tree: &Tree) -> i64 {
    tree.bounds.extent.abs() + tree.children.first().map_or(0, reach)
}
