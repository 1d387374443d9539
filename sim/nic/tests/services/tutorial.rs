//! The service of one's own that docs/host/services.md builds works, and the page shows it as it is.

#[path = "../../examples/tally.rs"]
mod example;

use crate::support::ok;
use std::collections::BTreeMap;
use std::path::Path;

fn read(path: &str) -> String {
    ok(std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path),
    ))
}

#[test]
fn the_host_keeps_the_sums_that_handlers_tell() {
    let sums = example::count(&[7, 9, 7, 7, 9]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(sums, BTreeMap::from([(7, 300), (9, 200)]));
}

#[test]
fn the_tally_header_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/examples/tally/tally.h");
    if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
        ok(std::fs::write(&path, example::tally::C_HEADER));
    }
    assert!(
        ok(std::fs::read_to_string(path)) == example::tally::C_HEADER,
        "runtime/examples/tally/tally.h differs from the trait: \
         run `SPINNERET_UPDATE_DOCS=1 cargo test --workspace --test services up_to_date`"
    );
}

#[test]
fn the_page_shows_the_example_as_it_is() {
    let page = read("docs/host/services.md");
    let sources = read("sim/nic/examples/tally.rs") + &read("runtime/examples/tally/tally.c");
    let mut blocks = 0;
    for block in page.split("\n```").skip(1).step_by(2) {
        if let Some((language @ ("rust" | "c"), text)) = block.split_once('\n') {
            blocks += 1;
            assert!(
                sources.contains(text),
                "this {language} is not in the example:\n{text}"
            );
        }
    }
    assert_eq!(blocks, 4);
}
