//! Types that mean the same have one form; those of the paper; limits.

use spinneret_mpi::layout::{Level, Run, Shape, Strided};
use spinneret_mpi::{Layout, LayoutError, Overlap};
use spinneret_mpi_sys::{Block, Datatype, Field, Mpi, Named, Order, Part};

pub(crate) fn run(mpi: &Mpi) {
    types_of_the_paper(mpi);
    one_form_for_one_meaning(mpi);
    large_types_cost_little(mpi);
    elements_in_one_another(mpi);
    limits(mpi);
}

fn layout(datatype: &Datatype, count: u64) -> Layout {
    Layout::of(&datatype.contents().unwrap(), count).unwrap()
}

fn strided(start: i64, bytes: u64, levels: &[(u64, i64)]) -> Shape {
    Shape::Strided(Strided {
        run: Run { start, bytes },
        levels: levels
            .iter()
            .map(|&(count, stride)| Level { count, stride })
            .collect(),
    })
}

/// Both types of the second experiment.
fn types_of_the_paper(mpi: &Mpi) {
    let float = mpi.named(Named::Float).unwrap();
    let simple = layout(&float.contiguous(27_648).unwrap(), 20);
    assert_eq!(*simple.shape(), strided(0, 20 * 110_592, &[]));
    assert_eq!(simple.overlap(), Overlap::None);
    let row = float.contiguous(18).unwrap().vector(32, 6, 8).unwrap();
    let nest = row.hvector(2, 1, 6144).unwrap().hvector(2, 1, 12_288).unwrap();
    let complex = layout(&nest.hvector(2, 1, 18_432).unwrap(), 20);
    let levels = [(32, 576), (4, 6144), (2, 18_432), (20, 55_152)];
    assert_eq!(*complex.shape(), strided(0, 432, &levels));
    assert_eq!(complex.bytes(), 2_211_840);
    assert_eq!(complex.overlap(), Overlap::Some);
}

/// A column of four rows of ten numbers, two wide, in every way that MPI has.
fn one_form_for_one_meaning(mpi: &Mpi) {
    let int = mpi.named(Named::Int).unwrap();
    let pair = int.contiguous(2).unwrap();
    let places = [0, 10, 20, 30];
    let blocks = places.map(|start| Block { length: 2, start });
    let bytes = places.map(|start| 4 * start);
    let byte_blocks = bytes.map(|start| Block { length: 2, start });
    let fields = bytes.map(|start| Field {
        length: 2,
        start,
        child: &int,
    });
    let part = |size, length| Part {
        size,
        length,
        start: 0,
    };
    for made in [
        int.vector(4, 2, 10),
        int.hvector(4, 2, 40),
        pair.hvector(4, 1, 40),
        int.indexed(&blocks),
        int.hindexed(&byte_blocks),
        int.indexed_block(2, &places),
        int.hindexed_block(2, &bytes),
        pair.hindexed_block(1, &bytes),
        mpi.structure(&fields),
        int.subarray(&[part(4, 4), part(10, 2)], Order::C),
        int.subarray(&[part(10, 2), part(4, 4)], Order::Fortran),
        pair.resized(0, 40).unwrap().contiguous(4),
        int.vector(2, 2, 10).unwrap().hvector(2, 1, 80),
        int.vector(4, 2, 10).unwrap().dup(),
    ] {
        assert_eq!(*layout(&made.unwrap(), 1).shape(), strided(0, 8, &[(4, 40)]));
    }
    let backward = layout(&int.vector(4, 2, -10).unwrap(), 1);
    assert_eq!(*backward.shape(), strided(0, 8, &[(4, -40)]));
    assert_eq!((backward.first(), backward.end()), (-120, 8));
    assert_eq!(*layout(&int, 0).shape(), Shape::Empty);
    assert_eq!(*layout(&int.contiguous(0).unwrap(), 7).shape(), Shape::Empty);
}

/// Nothing is written out, and overlap is found without a look at each run.
fn large_types_cost_little(mpi: &Mpi) {
    let double = mpi.named(Named::Double).unwrap();
    let column = double.hvector(1 << 20, 1, 8 << 20).unwrap();
    let matrix = column.resized(0, 8).unwrap();
    let whole = layout(&matrix, 1 << 20);
    assert_eq!(*whole.shape(), strided(0, 8, &[(1 << 20, 8 << 20), (1 << 20, 8)]));
    assert_eq!(whole.overlap(), Overlap::None);
    let close = layout(&column.resized(0, 4).unwrap(), 1 << 20);
    assert_eq!(close.overlap(), Overlap::Some);
    // The last of 2^20 - 1 bytes of a row meets the first of the next one; with one byte less it does not.
    let byte = mpi.named(Named::Byte).unwrap();
    for (stride, expected) in [((1 << 21) - 2, Overlap::Some), ((1 << 21) - 1, Overlap::None)] {
        let row = byte.hvector(1 << 20, 1, 2).unwrap();
        let rows = layout(&row.hvector(1 << 10, 1, stride).unwrap(), 1);
        assert_eq!(rows.overlap(), expected, "{rows:?}");
    }
}

/// Elements that reach far over many others: a look at each run says whether they meet.
fn elements_in_one_another(mpi: &Mpi) {
    let byte = mpi.named(Named::Byte).unwrap();
    let overlap = |elements: i64, far: i64| {
        // Of two lengths, so that there is no pattern.
        let blocks = [(1, 0), (2, far)].map(|(length, start)| Block { length, start });
        let element = byte.hindexed(&blocks).unwrap().resized(0, 4).unwrap();
        layout(&element, elements as u64).overlap()
    };
    let elements = (1 << 20) + 100;
    assert_eq!(overlap(elements, 4 * elements - 4), Overlap::Some);
    assert_eq!(overlap(elements, 4 * elements - 2), Overlap::None);
    let elements = (1 << 23) + 1;
    assert_eq!(overlap(elements, 4 * elements - 2), Overlap::Undecided);
}

fn limits(mpi: &Mpi) {
    let byte = mpi.named(Named::Byte).unwrap();
    let blocks: Vec<Block> = (0..(1 << 20) + 1)
        .map(|index: i64| Block {
            length: 1 + index % 2,
            start: 8 * index + index % 3,
        })
        .collect();
    let tree = byte.hindexed(&blocks).unwrap().contents().unwrap();
    let table = Layout::of(&tree, 1 << 30).unwrap();
    assert_eq!(table.runs(), ((1 << 20) + 1) << 30);
    assert_eq!(table.place(table.bytes() - 1, 10).count(), 1);
    let pair = byte.hindexed(&[blocks[0], blocks[1]]).unwrap();
    let tree = pair.hvector((1 << 23) + 1, 1, 16).unwrap().contents().unwrap();
    assert_eq!(Layout::of(&tree, 1), Err(LayoutError::TooManyRuns));
    let mut far = byte.resized(0, i64::MAX / 4).unwrap().contents().unwrap();
    assert!(Layout::of(&far, 5).is_ok());
    assert_eq!(Layout::of(&far, 6), Err(LayoutError::TooFar));
    far.addresses.clear();
    far.children.clear();
    let error = Layout::of(&far, 1).unwrap_err();
    assert!(error.to_string().contains("Resized"), "{error}");
}
