//! Skips a test where a tool or a privilege is missing ([`skip`]), and most of its cases before a merge if they take long
//! ([`nightly`], [`stride`]).
//!
//! A test that cannot run prints the reason and passes, so that the other tests can be used. Where all tests have to run,
//! it fails: in CI, which sets `CI`, or where [`VARIABLE`] is `1`.

use std::env;
use std::fmt::Display;
use std::io::Write as _;

/// The variable that says whether all tests have to run: `1`, or `0` even in CI.
pub const VARIABLE: &str = "SPINNERET_ALL_TESTS";

/// The variable that asks for all cases of all tests: `1`, as `./dev nightly` sets it.
pub const NIGHTLY: &str = "SPINNERET_NIGHTLY";

/// Whether a test runs all of its cases, however long they take.
pub fn nightly() -> bool {
    env::var(NIGHTLY).is_ok_and(|value| value == "1")
}

/// The step of a sweep that takes too long before a merge: 1 by `./dev nightly`, `step` otherwise.
///
/// A step that shares no factor with the periods of what is swept meets all of their phases.
pub fn stride(step: usize) -> usize {
    if nightly() { 1 } else { step }
}

/// Says that a test, or a part of it, is not run, and why; `./dev test` counts these lines.
///
/// # Panics
/// If all tests have to run here.
#[track_caller]
pub fn skip(test: &str, why: &dyn Display) {
    let read = |name| env::var(name).ok();
    let is_needed = have_all_to_run(read(VARIABLE).as_deref(), read("CI").as_deref());
    assert!(
        !is_needed,
        "{test} cannot run here, and all tests have to ({VARIABLE}=1, or CI): {why}"
    );
    // The test harness keeps what macros print. In one piece, because other tests write as well.
    let _ = std::io::stderr().write_all(format!("skipped: {test}: {why}\n").as_bytes());
}

fn have_all_to_run(all: Option<&str>, ci: Option<&str>) -> bool {
    match all {
        Some("1") => true,
        Some("0") => false,
        _ => ci.is_some_and(|ci| !matches!(ci, "" | "0" | "false")),
    }
}

#[cfg(test)]
mod tests {
    use super::have_all_to_run;

    #[test]
    fn all_tests_are_required_in_ci_or_on_request() {
        for (all, ci, expected) in [
            (None, None, false),
            (None, Some("true"), true),
            (None, Some("false"), false),
            (Some("1"), None, true),
            (Some("0"), Some("true"), false),
        ] {
            assert_eq!(have_all_to_run(all, ci), expected, "{all:?} {ci:?}");
        }
    }
}
