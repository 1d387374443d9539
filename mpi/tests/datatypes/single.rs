//! Types one by one: predefined ones, those of the paper, those that mean the same, refusals and limits.

use super::compare;
use spinneret_mpi::layout::{Level, Run, Shape, Strided};
use spinneret_mpi::{Layout, LayoutError, Overlap};
use spinneret_mpi_sys::{Bounds, Class, Combiner, Datatype, Mpi};

/// The names that this binding knows. The last ten are those of Fortran, which may be missing.
const NAMES: &str = "BYTE PACKED CHAR SIGNED_CHAR UNSIGNED_CHAR WCHAR SHORT UNSIGNED_SHORT INT UNSIGNED LONG \
    UNSIGNED_LONG LONG_LONG UNSIGNED_LONG_LONG FLOAT DOUBLE LONG_DOUBLE C_BOOL INT8_T INT16_T INT32_T INT64_T UINT8_T \
    UINT16_T UINT32_T UINT64_T AINT OFFSET COUNT C_FLOAT_COMPLEX C_DOUBLE_COMPLEX C_LONG_DOUBLE_COMPLEX FLOAT_INT \
    DOUBLE_INT LONG_INT SHORT_INT 2INT LONG_DOUBLE_INT CHARACTER LOGICAL INTEGER REAL DOUBLE_PRECISION COMPLEX \
    DOUBLE_COMPLEX 2REAL 2DOUBLE_PRECISION 2INTEGER";

pub(crate) fn run(mpi: &Mpi) {
    all_names(mpi);
    foreign_handles(mpi);
    refusals(mpi);
    large_counts(mpi);
    trees_that_are_too_large(mpi);
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
    let float = mpi.named("MPI_FLOAT").unwrap();
    let simple = layout(&float.contiguous(27_648).unwrap(), 20);
    assert_eq!(*simple.shape(), strided(0, 20 * 110_592, &[]));
    assert_eq!(simple.overlap(), Overlap::None);
    let row = float.contiguous(18).unwrap().vector(32, 6, 8).unwrap();
    let nest = row.hvector(2, 1, 6144).unwrap().hvector(2, 1, 12_288).unwrap();
    let nest = nest.hvector(2, 1, 18_432).unwrap();
    let expected = Bounds {
        size: 110_592,
        lower_bound: 0,
        extent: 55_152,
        true_lower_bound: 0,
        true_extent: 55_152,
    };
    assert_eq!(nest.bounds().unwrap(), expected);
    assert!(compare(&nest, &nest.contents().unwrap(), 2, 1).unwrap());
    let complex = layout(&nest, 20);
    let levels = [(32, 576), (4, 6144), (2, 18_432), (20, 55_152)];
    assert_eq!(*complex.shape(), strided(0, 432, &levels));
    assert_eq!(complex.bytes(), 2_211_840);
    assert_eq!(complex.overlap(), Overlap::Some);
}

/// A column of four rows of ten numbers, two wide, in every way that MPI has.
fn one_form_for_one_meaning(mpi: &Mpi) {
    let int = mpi.named("MPI_INT").unwrap();
    let pair = int.contiguous(2).unwrap();
    let bytes = [0, 40, 80, 120];
    for made in [
        int.vector(4, 2, 10),
        int.hvector(4, 2, 40),
        pair.hvector(4, 1, 40),
        int.make(Combiner::Indexed, &[4, 2, 2, 2, 2, 0, 10, 20, 30], &[]),
        int.hindexed(&bytes.map(|start| (2, start))),
        int.make(Combiner::IndexedBlock, &[4, 2, 0, 10, 20, 30], &[]),
        int.make(Combiner::HindexedBlock, &[4, 2], &bytes),
        pair.make(Combiner::HindexedBlock, &[4, 1], &bytes),
        mpi.make(Combiner::Struct, &[4, 2, 2, 2, 2], &bytes, &[&int; 4]),
        int.make(Combiner::Subarray, &[2, 4, 10, 4, 2, 0, 0, 0], &[]),
        int.make(Combiner::Subarray, &[2, 10, 4, 2, 4, 0, 0, 1], &[]),
        pair.resized(0, 40).unwrap().contiguous(4),
        int.vector(2, 2, 10).unwrap().hvector(2, 1, 80),
        int.vector(4, 2, 10).unwrap().make(Combiner::Dup, &[], &[]),
    ] {
        assert_eq!(*layout(&made.unwrap(), 1).shape(), strided(0, 8, &[(4, 40)]));
    }
    let backward = layout(&int.vector(4, 2, -10).unwrap(), 1);
    assert_eq!(*backward.shape(), strided(0, 8, &[(4, -40)]));
    assert_eq!((backward.first(), backward.end()), (-120, 8));
    assert_eq!(*layout(&int, 0).shape(), Shape::Empty);
    assert_eq!(*layout(&int.contiguous(0).unwrap(), 7).shape(), Shape::Empty);
}

/// Nothing is written out, and overlap is found without checking each run.
fn large_types_cost_little(mpi: &Mpi) {
    let double = mpi.named("MPI_DOUBLE").unwrap();
    let column = double.hvector(1 << 20, 1, 8 << 20).unwrap();
    let matrix = column.resized(0, 8).unwrap();
    let whole = layout(&matrix, 1 << 20);
    assert_eq!(*whole.shape(), strided(0, 8, &[(1 << 20, 8 << 20), (1 << 20, 8)]));
    assert_eq!(whole.overlap(), Overlap::None);
    let close = layout(&column.resized(0, 4).unwrap(), 1 << 20);
    assert_eq!(close.overlap(), Overlap::Some);
    // The last of 2^20 - 1 bytes of a row meets the first of the next one; with one byte less it does not.
    let byte = mpi.named("MPI_BYTE").unwrap();
    for (stride, expected) in [((1 << 21) - 2, Overlap::Some), ((1 << 21) - 1, Overlap::None)] {
        let row = byte.hvector(1 << 20, 1, 2).unwrap();
        let rows = layout(&row.hvector(1 << 10, 1, stride).unwrap(), 1);
        assert_eq!(rows.overlap(), expected, "{rows:?}");
    }
}

/// Elements that reach far over many others: a check of each run shows whether they meet.
fn elements_in_one_another(mpi: &Mpi) {
    let byte = mpi.named("MPI_BYTE").unwrap();
    let overlap = |elements: i64, far: i64| {
        // Of two lengths, so that there is no pattern.
        let element = byte.hindexed(&[(1, 0), (2, far)]).unwrap().resized(0, 4).unwrap();
        layout(&element, elements as u64).overlap()
    };
    let elements = (1 << 20) + 100;
    assert_eq!(overlap(elements, 4 * elements - 4), Overlap::Some);
    assert_eq!(overlap(elements, 4 * elements - 2), Overlap::None);
    let elements = (1 << 23) + 1;
    assert_eq!(overlap(elements, 4 * elements - 2), Overlap::Undecided);
}

fn limits(mpi: &Mpi) {
    let byte = mpi.named("MPI_BYTE").unwrap();
    let blocks: Vec<(i64, i64)> = (0..(1 << 20) + 1)
        .map(|index: i64| (1 + index % 2, 8 * index + index % 3))
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

fn all_names(mpi: &Mpi) {
    for (number, name) in NAMES.split_whitespace().enumerate() {
        let name = format!("MPI_{name}");
        match mpi.named(&name) {
            Ok(datatype) => {
                let tree = datatype.contents().unwrap();
                assert_eq!(tree.combiner, Combiner::Named);
                assert_eq!(tree.name.as_deref(), Some(&name[..]));
                assert!(tree.bounds.size > 0, "{name}: {tree:?}");
            }
            Err(error) => {
                assert!(number >= 38, "{name}");
                assert_eq!(error.to_string(), format!("named: this MPI has no {name}"));
            }
        }
    }
    for name in ["MPI_NOTHING", "MPI_\0"] {
        assert!(mpi.named(name).is_err());
    }
}

fn foreign_handles(mpi: &Mpi) {
    let ours = mpi.named("MPI_FLOAT_INT").unwrap().vector(3, 1, 2).unwrap();
    // SAFETY: the handle is that of a type that is freed at the end of this function.
    let theirs = unsafe { mpi.datatype(ours.handle()) };
    assert_eq!(theirs.contents().unwrap(), ours.contents().unwrap());
    drop(theirs);
    // It is still there.
    ours.commit().unwrap();
    ours.commit().unwrap();
    assert!(compare(&ours, &ours.contents().unwrap(), 2, 2).unwrap());
}

fn refusals(mpi: &Mpi) {
    let int = mpi.named("MPI_INT").unwrap();
    for (combiner, integers, addresses, expected) in [
        (
            Combiner::Contiguous,
            &[-1][..],
            &[][..],
            "a count or length of -1; give 0 or more",
        ),
        (
            Combiner::Vector,
            &[-2, 1, 1],
            &[],
            "a count or length of -2; give 0 or more",
        ),
        (
            Combiner::Hvector,
            &[1, -2],
            &[1],
            "a count or length of -2; give 0 or more",
        ),
        (
            Combiner::Indexed,
            &[1, -2, 0],
            &[],
            "a count or length of -2; give 0 or more",
        ),
        (
            Combiner::Hindexed,
            &[1, -2],
            &[0],
            "a count or length of -2; give 0 or more",
        ),
        (
            Combiner::IndexedBlock,
            &[1, -2, 0],
            &[],
            "a count or length of -2; give 0 or more",
        ),
        (
            Combiner::HindexedBlock,
            &[1, -2],
            &[0],
            "a count or length of -2; give 0 or more",
        ),
        (
            Combiner::Struct,
            &[1, -2],
            &[0],
            "a count or length of -2; give 0 or more",
        ),
        (
            Combiner::Subarray,
            &[1, 4, 3, 2, 0],
            &[],
            "3 elements from 2 on are not in a dimension of 4; give at least one that is",
        ),
        (
            Combiner::Darray,
            &[1, 0, 1, 4, 3, -1, 1, 0],
            &[],
            "a distribution that is not 0 (block), 1 (cyclic) or 2 (none)",
        ),
        (
            Combiner::Vector,
            &[1, 1],
            &[],
            "2 integers, 0 addresses and 1 types; give 3, 0 and 1",
        ),
        (
            Combiner::Indexed,
            &[i64::MAX],
            &[],
            "1 integers, 0 addresses and 1 types; give",
        ),
        (
            Combiner::Named,
            &[],
            &[],
            "MPI has this type already; use Mpi::named",
        ),
    ] {
        let words = int.make(combiner, integers, addresses).unwrap_err().to_string();
        let (_, reason) = words.split_once(": ").unwrap();
        assert!(reason.starts_with(expected), "{combiner:?}: {words}");
    }
    let error = int.make(Combiner::Darray, &[2, 2, 0, 0], &[]).unwrap_err();
    assert!(
        error.to_string().starts_with("MPI_Type_create_darray failed: "),
        "{error}"
    );
    let mut packed = [0; 8];
    let error = int.pack(&[0; 10], 4, 2, &mut packed, &mut 0).unwrap_err();
    let words = "pack: the elements lie from byte 4 to 12 of an area of 10 B; give one that holds them";
    assert_eq!(error.to_string(), words);
}

/// Numbers that no `int` holds: MPI 4 has constructors for them, and others refuse them.
fn large_counts(mpi: &Mpi) {
    let byte = mpi.named("MPI_BYTE").unwrap();
    let large = 5_000_000_000;
    let has_them = mpi.version().unwrap().standard.0 >= 4;
    for (combiner, integers, addresses) in [
        (Combiner::Contiguous, vec![large], vec![]),
        (Combiner::Vector, vec![2, 3, large], vec![]),
        (Combiner::Hvector, vec![2, large], vec![9]),
        (Combiner::Indexed, vec![2, 2, 1, 0, large], vec![]),
        (Combiner::Hindexed, vec![1, large], vec![5]),
        (Combiner::IndexedBlock, vec![1, 1, large], vec![]),
        (Combiner::HindexedBlock, vec![1, large], vec![3]),
        (Combiner::Struct, vec![1, large], vec![-8]),
        (Combiner::Subarray, vec![1, large, 2, 7, 1], vec![]),
    ] {
        match byte.make(combiner, &integers, &addresses) {
            Ok(made) => {
                let tree = made.contents().unwrap();
                assert_eq!(
                    (tree.combiner, tree.integers, tree.addresses),
                    (combiner, integers, addresses)
                );
            }
            Err(error) => {
                assert!(!has_them, "{combiner:?}: {error}");
                assert_eq!(error.class(), Some(Class::Count), "{combiner:?}: {error}");
            }
        }
    }
}

/// Types that would fill the stack or the memory.
fn trees_that_are_too_large(mpi: &Mpi) {
    let mut deep = mpi.named("MPI_INT").unwrap();
    for _ in 0..255 {
        deep = deep.resized(0, 8).unwrap();
    }
    assert_eq!(deep.contents().unwrap().children.len(), 1);
    let deeper = deep.resized(0, 8).unwrap();
    let words = "contents: the type has more than 256 levels or 1048576 parts; make it of fewer";
    assert_eq!(deeper.contents().unwrap_err().to_string(), words);
    let mut wide = mpi.named("MPI_BYTE").unwrap();
    for _ in 0..21 {
        wide = mpi
            .make(Combiner::Struct, &[2, 1, 1], &[0, 1], &[&wide, &wide])
            .unwrap();
    }
    assert_eq!(wide.contents().unwrap_err().to_string(), words);
}
