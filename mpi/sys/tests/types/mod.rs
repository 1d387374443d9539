//! Types that are made, read back, and used, against what is known of them without MPI.

mod faults;
mod reading;
mod recipe;
mod shape;
mod single;

pub(crate) use faults::Faults;
use proptest::prelude::any;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use recipe::Recipe;
use spinneret_mpi_sys::{Error, Library, Mpi};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

/// Random types for each MPI.
const CASES: u32 = 400;

/// Bytes of elements that are packed at most; larger ones are only read back.
const MOST_BYTES: i64 = 1 << 16;

/// Runs everything with the MPI of a compiler, without a launcher.
pub(crate) fn run(test: &str, compiler: &str, faults: Faults) {
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
    let least = i64::from(faults.empty_parts);
    let input = (recipe::any(least), 1..4_usize, any::<u64>());
    let used = Cell::new(0);
    let result = TestRunner::new(config).run(&input, |(recipe, count, seed)| {
        let is_used = check(mpi, faults, &recipe, count, seed)?;
        used.set(used.get() + u32::from(is_used));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    // What is left out must not be most of it.
    let used = used.get();
    assert!(used > cases / 2, "{used} of {cases} types were packed");
}

/// Makes a type, reads it back, and packs and unpacks elements of it; says whether it came to the latter.
fn check(mpi: &Mpi, faults: Faults, recipe: &Recipe, count: usize, seed: u64) -> Result<bool, TestCaseError> {
    let made = match recipe.make(mpi) {
        Ok(made) => made,
        Err(Error::Call {
            call: "MPI_Type_create_darray",
            ..
        }) if faults.empty_arrays => return Ok(false),
        Err(error) => return Err(TestCaseError::fail(error.to_string())),
    };
    let tree = made
        .contents()
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    proptest::prop_assert_eq!(shape::Shape::of(&tree), recipe.shape());
    proptest::prop_assert_eq!(tree.bounds, made.bounds().unwrap());
    if faults.spoil(&tree) || tree.bounds.size * count as i64 > MOST_BYTES {
        return Ok(false);
    }
    reading::compare(&made, &tree, count, seed).map_err(TestCaseError::fail)?;
    Ok(true)
}
