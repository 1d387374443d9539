//! Types that are made, read back and used: their contents against what they were made of, their layouts against `MPI_Pack` and
//! `MPI_Unpack`, in whole and in parts, with guards around.

mod recipe;
mod single;

use proptest::prelude::any;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use recipe::{Faults, Recipe};
use spinneret_mpi::{Layout, Overlap, Piece};
use spinneret_mpi_sys::{Datatype, Error, Library, Mpi, Tree};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::process::Command;

/// Random types for each MPI.
const CASES: u32 = 400;

/// Most bytes of elements, and of the memory that holds them.
const MOST_BYTES: i64 = 1 << 16;
const MOST_MEMORY: i64 = 1 << 22;

/// Guard bytes around the elements.
const GUARD: usize = 64;

/// Set in the process of one MPI: a process can start one MPI only, and once.
const OWN_PROCESS: &str = "SPINNERET_DATATYPES_PROCESS";

#[test]
fn datatypes_of_open_mpi() {
    in_own_process("datatypes_of_open_mpi", "mpicc.openmpi", Faults::OPEN_MPI);
}

#[test]
fn datatypes_of_mpich() {
    in_own_process("datatypes_of_mpich", "mpicc.mpich", Faults::MPICH);
}

fn in_own_process(test: &str, compiler: &str, faults: Faults) {
    if std::env::var_os(OWN_PROCESS).is_some() {
        return run(test, compiler, faults);
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(OWN_PROCESS, "1")
        .output()
        .unwrap();
    let [printed, errors] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    println!("{printed}{errors}");
    assert!(output.status.success(), "with {compiler}: {printed}{errors}");
}

/// Runs everything with the MPI of a compiler, without a launcher.
fn run(test: &str, compiler: &str, faults: Faults) {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    let library = match Library::with(Path::new(compiler), Some(&cache)) {
        Err(Error::NoCompiler { .. }) => {
            spinneret_skip::skip(test, &format!("there is no {compiler} (run `./dev setup`)"));
            return;
        }
        library => library.unwrap(),
    };
    let mpi = Mpi::init_with(&library).unwrap();
    // The end of MPI in a panic would be that of the process, before the panic's words are shown.
    let result = catch_unwind(AssertUnwindSafe(|| {
        single::run(&mpi);
        random(&mpi, faults);
    }));
    drop(mpi);
    if let Err(panic) = result {
        resume_unwind(panic);
    }
}

fn random(mpi: &Mpi, faults: Faults) {
    // PROPTEST_CASES can ask for more.
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    let cases = config.cases.max(CASES);
    let config = Config { cases, ..config };
    let input = (
        recipe::any(i64::from(faults.empty_parts)),
        1..4_usize,
        any::<u64>(),
    );
    let used = Cell::new(0);
    let result = TestRunner::new(config).run(&input, |(recipe, count, seed)| {
        let is_used = check(mpi, faults, &recipe, count, seed)?;
        used.set(used.get() + u32::from(is_used));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let used = used.get();
    println!("{used} of {cases} types were compared");
    assert!(used > cases / 2, "{used} of {cases} types were compared");
}

/// Makes a type, reads it back, and packs and unpacks elements of it; returns whether MPI could do the latter.
fn check(mpi: &Mpi, faults: Faults, recipe: &Recipe, count: usize, seed: u64) -> Result<bool, TestCaseError> {
    let made = match recipe.make(mpi) {
        Ok(made) => made,
        Err(Error::Call {
            call: "MPI_Type_create_darray",
            ..
        }) if faults.empty_arrays => return Ok(false),
        Err(error) => return Err(failed(&error)),
    };
    let tree = made.contents().map_err(|error| failed(&error))?;
    proptest::prop_assert_eq!(&Recipe::of(&tree), recipe);
    proptest::prop_assert_eq!(tree.bounds, made.bounds().unwrap());
    if faults.spoil(&tree) || tree.bounds.size * count as i64 > MOST_BYTES {
        return Ok(false);
    }
    compare(&made, &tree, count, seed)
}

fn failed(error: &dyn std::fmt::Display) -> TestCaseError {
    TestCaseError::fail(error.to_string())
}

/// Compares the layout of some elements with what MPI does; returns whether it could be asked.
pub(crate) fn compare(made: &Datatype, tree: &Tree, count: usize, seed: u64) -> Result<bool, TestCaseError> {
    let layout = Layout::of(tree, count as u64).map_err(|error| failed(&error))?;
    let bytes = layout.bytes() as usize;
    proptest::prop_assert_eq!(layout.bytes(), (tree.bounds.size * count as i64) as u64);
    // A type of no size has no true bounds.
    let (mut lowest, mut highest) = (layout.first(), layout.end());
    if bytes != 0 {
        let far = (count as i64 - 1) * tree.bounds.extent;
        lowest = tree.bounds.true_lower_bound + far.min(0);
        highest = tree.bounds.true_lower_bound + tree.bounds.true_extent + far.max(0);
        // The checks in `pack` and `unpack` rely on this. MPI's bounds may be further: MPICH's of some arrays are.
        proptest::prop_assert!(
            lowest <= layout.first() && layout.end() <= highest,
            "{:?}",
            layout
        );
    }
    let length = highest - lowest + 2 * GUARD as i64;
    let Ok(origin) = usize::try_from(GUARD as i64 - lowest) else {
        return Ok(false);
    };
    if length > MOST_MEMORY {
        return Ok(false);
    }
    let length = length as usize;
    let memory: Vec<u8> = (0..length as u64).map(|index| mix(seed, index)).collect();
    let whole: Vec<Piece> = layout.place(0, u64::MAX).collect();
    let mut expected = vec![0xee; bytes + 14];
    for piece in &whole {
        let (from, to) = ((origin as i64 + piece.start) as usize, 5 + piece.offset as usize);
        expected[to..to + piece.bytes as usize].copy_from_slice(&memory[from..from + piece.bytes as usize]);
    }
    let (mut packed, mut position) = (vec![0xee; bytes + 14], 5);
    made.pack(&memory, origin, count, &mut packed, &mut position)
        .map_err(|error| failed(&error))?;
    proptest::prop_assert_eq!(
        (&packed, position),
        (&expected, 5 + bytes),
        "packed, {:?}",
        layout
    );

    let packed: Vec<u8> = (0..layout.bytes()).map(|index| mix(!seed, index)).collect();
    let (mut expected, mut position) = (vec![0x55; length], 0);
    made.unpack(&packed, &mut position, &mut expected, origin, count)
        .map_err(|error| failed(&error))?;
    proptest::prop_assert_eq!(position, bytes);
    let mut found = vec![0x55; length];
    put(&mut found, &packed, origin, &whole);
    proptest::prop_assert_eq!(&found, &expected, "the whole of {:?}", layout);
    overlaps(&layout, &whole)?;
    let parts = parts(&layout, seed);
    let mut found = vec![0x55; length];
    for part in &parts {
        put(&mut found, &packed, origin, part);
    }
    // A byte that overlaps is that of the last piece, and parts come in another order.
    if layout.overlap() == Overlap::None {
        proptest::prop_assert_eq!(&found, &expected, "parts of {:?}", layout);
    }
    let mut pieces: Vec<Piece> = parts.concat();
    pieces.sort_by_key(|piece| piece.offset);
    let places = |pieces: &[Piece]| -> Vec<i64> {
        let bytes = |piece: &Piece| piece.start..piece.start + piece.bytes as i64;
        pieces.iter().flat_map(bytes).collect()
    };
    proptest::prop_assert_eq!(places(&pieces), places(&whole), "places of parts of {:?}", layout);
    if bytes != 0 {
        let mut into = vec![0; bytes];
        let short = &memory[..length - GUARD - 1];
        proptest::prop_assert!(made.pack(short, origin, count, &mut into, &mut 0).is_err());
        if let Ok(early) = usize::try_from(-lowest - 1) {
            proptest::prop_assert!(made.pack(&memory, early, count, &mut into, &mut 0).is_err());
        }
        proptest::prop_assert!(made.unpack(&packed, &mut 1, &mut found, origin, count).is_err());
    }
    Ok(true)
}

/// The pieces of the message in parts of odd sizes, from the last one to the first.
fn parts(layout: &Layout, seed: u64) -> Vec<Vec<Piece>> {
    let (mut at, mut parts) = (0, Vec::new());
    while at < layout.bytes() {
        let bytes = 1 + u64::from(mix(seed, at)) * 3;
        parts.push(layout.place(at, bytes).collect());
        at += bytes;
    }
    parts.reverse();
    parts
}

/// Compares the reported overlap with a check of each byte.
fn overlaps(layout: &Layout, whole: &[Piece]) -> Result<(), TestCaseError> {
    let mut bytes: Vec<i64> = whole
        .iter()
        .flat_map(|piece| piece.start..piece.start + piece.bytes as i64)
        .collect();
    bytes.sort_unstable();
    proptest::prop_assert_eq!(bytes.first().copied().unwrap_or(0), layout.first());
    proptest::prop_assert_eq!(bytes.last().map_or(0, |last| last + 1), layout.end());
    let expected = match bytes.windows(2).any(|pair| pair[0] == pair[1]) {
        true => Overlap::Some,
        false => Overlap::None,
    };
    proptest::prop_assert_eq!(layout.overlap(), expected, "overlap of {:?}", layout);
    Ok(())
}

fn put(memory: &mut [u8], packed: &[u8], origin: usize, pieces: &[Piece]) {
    for piece in pieces {
        let start = (origin as i64 + piece.start) as usize;
        memory[start..start + piece.bytes as usize]
            .copy_from_slice(&packed[piece.offset as usize..][..piece.bytes as usize]);
    }
}

fn mix(seed: u64, index: u64) -> u8 {
    (seed ^ index).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0]
}
