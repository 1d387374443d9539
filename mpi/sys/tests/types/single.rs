//! Types one by one: those that MPI brings, those of the paper, and those that are refused.

use super::reading;
use spinneret_mpi_sys::{Block, Bounds, Class, Combiner, Error, Field, Mpi, Named, Order, Part};

pub(crate) fn run(mpi: &Mpi) {
    all_names(mpi);
    nests_of_the_paper(mpi);
    foreign_handles(mpi);
    refusals(mpi);
    large_counts(mpi);
    limits(mpi);
}

fn all_names(mpi: &Mpi) {
    let is_fortran = |named: Named| Named::ALL.iter().position(|&other| other == named) >= Some(38);
    for &named in Named::ALL {
        match mpi.named(named) {
            Ok(datatype) => {
                let tree = datatype.contents().unwrap();
                assert_eq!(tree.combiner, Combiner::Named);
                assert_eq!(tree.name.as_deref(), Some(named.name()));
                assert!(tree.bounds.size > 0, "{named}: {tree:?}");
            }
            Err(error) => {
                assert!(is_fortran(named), "{named}");
                assert_eq!(error.to_string(), format!("named: this MPI has no {named}"));
            }
        }
    }
    assert_eq!(Named::from_name("MPI_FLOAT_INT"), Some(Named::FloatInt));
    assert_eq!(Named::from_name("MPI_NOTHING"), None);
}

/// The type of the paper's second experiment, from the application MILC, with its sizes.
fn nests_of_the_paper(mpi: &Mpi) {
    let float = mpi.named(Named::Float).unwrap();
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
    let tree = nest.contents().unwrap();
    let mut runs = Vec::new();
    reading::read(&tree, 0, &mut runs);
    assert_eq!(runs.len() as i64, 110_592 / 4);
    reading::compare(&nest, &tree, 2, 1).unwrap();
}

fn foreign_handles(mpi: &Mpi) {
    let pair = mpi.named(Named::FloatInt).unwrap();
    let ours = pair.vector(3, 1, 2).unwrap();
    // SAFETY: the handle is that of a type that is freed at the end of this function.
    let theirs = unsafe { mpi.datatype(ours.handle()) };
    assert_eq!(theirs.contents().unwrap(), ours.contents().unwrap());
    drop(theirs);
    // It is still there.
    ours.commit().unwrap();
    ours.commit().unwrap();
    reading::compare(&ours, &ours.contents().unwrap(), 2, 2).unwrap();
}

fn refusals(mpi: &Mpi) {
    let int = mpi.named(Named::Int).unwrap();
    let refused = |what: &str, result: Result<_, Error>| match result {
        Ok(_) => panic!("{what} is not refused"),
        Err(error) => error.to_string(),
    };
    let words = "contiguous: a count or length of -1; give 0 or more";
    assert_eq!(refused("contiguous", int.contiguous(-1)), words);
    let block = Block { length: -2, start: 0 };
    let field = Field {
        length: -2,
        start: 0,
        child: &int,
    };
    for (what, made) in [
        ("vector", int.vector(-2, 1, 1)),
        ("hvector", int.hvector(1, -2, 1)),
        ("indexed", int.indexed(&[block])),
        ("hindexed", int.hindexed(&[block])),
        ("indexed_block", int.indexed_block(-2, &[0])),
        ("hindexed_block", int.hindexed_block(-2, &[0])),
        ("structure", mpi.structure(&[field])),
    ] {
        let words = refused(what, made);
        assert!(
            words.ends_with(": a count or length of -2; give 0 or more"),
            "{what}: {words}"
        );
    }
    let part = Part {
        size: 4,
        length: 3,
        start: 2,
    };
    let words = refused(
        "a part that is not in its dimension",
        int.subarray(&[part], Order::C),
    );
    let expected = "subarray: 3 elements from 2 on are not in a dimension of 4; give at least one that is";
    assert_eq!(words, expected);
    let words = refused("a rank that is not there", int.darray(2, 2, &[], Order::C));
    assert!(words.starts_with("MPI_Type_create_darray failed: "), "{words}");
    let huge = int.pack_size(usize::MAX).unwrap_err();
    assert!(matches!(huge, Error::TooMany { .. }), "{huge}");
    let mut packed = [0; 8];
    let error = int.pack(&[0; 10], 4, 2, &mut packed, &mut 0).unwrap_err();
    let words = "pack: the elements lie from byte 4 to 12 of an area of 10 B; give one that holds them";
    assert_eq!(error.to_string(), words);
}

/// Numbers that no `int` holds: MPI 4 has constructors for them, and others read back.
fn large_counts(mpi: &Mpi) {
    let byte = mpi.named(Named::Byte).unwrap();
    let large = 5_000_000_000;
    let has_them = mpi.version().unwrap().standard.0 >= 4;
    let blocks = [
        Block { length: 2, start: 0 },
        Block {
            length: 1,
            start: large,
        },
    ];
    let part = Part {
        size: large,
        length: 2,
        start: 7,
    };
    let field = Field {
        length: large,
        start: -8,
        child: &byte,
    };
    for (made, combiner, integers, addresses) in [
        (byte.contiguous(large), Combiner::Contiguous, vec![large], vec![]),
        (
            byte.vector(2, 3, large),
            Combiner::Vector,
            vec![2, 3, large],
            vec![],
        ),
        (
            byte.hvector(2, large, 9),
            Combiner::Hvector,
            vec![2, large],
            vec![9],
        ),
        (
            byte.indexed(&blocks),
            Combiner::Indexed,
            vec![2, 2, 1, 0, large],
            vec![],
        ),
        (
            byte.hindexed(&[Block {
                length: large,
                start: 5,
            }]),
            Combiner::Hindexed,
            vec![1, large],
            vec![5],
        ),
        (
            byte.indexed_block(1, &[large]),
            Combiner::IndexedBlock,
            vec![1, 1, large],
            vec![],
        ),
        (
            byte.hindexed_block(large, &[3]),
            Combiner::HindexedBlock,
            vec![1, large],
            vec![3],
        ),
        (
            mpi.structure(&[field]),
            Combiner::Struct,
            vec![1, large],
            vec![-8],
        ),
        (
            byte.subarray(&[part], Order::Fortran),
            Combiner::Subarray,
            vec![1, large, 2, 7, 1],
            vec![],
        ),
    ] {
        match made {
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
fn limits(mpi: &Mpi) {
    let mut deep = mpi.named(Named::Int).unwrap();
    for _ in 0..255 {
        deep = deep.resized(0, 8).unwrap();
    }
    assert_eq!(deep.contents().unwrap().children.len(), 1);
    let deeper = deep.resized(0, 8).unwrap();
    let words = "contents: the type has more than 256 levels or 1048576 parts; make it of fewer";
    assert_eq!(deeper.contents().unwrap_err().to_string(), words);
    let mut wide = mpi.named(Named::Byte).unwrap();
    for _ in 0..21 {
        let fields = [0, 1].map(|start| Field {
            length: 1,
            start,
            child: &wide,
        });
        wide = mpi.structure(&fields).unwrap();
    }
    assert_eq!(wide.contents().unwrap_err().to_string(), words);
}
