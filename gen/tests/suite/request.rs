//! Names and settings of a command line against a small catalog.

use crate::support::{CATALOG, strings};
use spinneret_gen::render::render;
use spinneret_gen::request::Request;

fn request(config: &str, modules: &[&str], settings: &[&str]) -> Result<Request, String> {
    Request::new(CATALOG, config, &strings(modules), &strings(settings)).map_err(|error| error.to_string())
}

fn chosen(request: &Request) -> Vec<(&str, Vec<u64>)> {
    let blocks = request.blocks.iter();
    blocks
        .map(|b| (b.entry.name, b.parameters.iter().map(|p| p.value).collect()))
        .collect()
}

#[test]
fn without_names_all_shipped_blocks_have_the_values_of_the_configuration() {
    let reference = request("reference", &[], &[]).unwrap();
    assert_eq!(
        chosen(&reference),
        [("up_counter", vec![8, 3]), ("down_counter", vec![8, 3])]
    );
    assert!(reference.whole);
    let board = request("board", &[], &[]).unwrap();
    assert_eq!(
        chosen(&board),
        [("up_counter", vec![16, 3]), ("down_counter", vec![16, 3])]
    );
}

#[test]
fn named_modules_keep_the_order_of_the_catalog_and_count_once() {
    let some = request(
        "reference",
        &["bench_counter", "up_counter", "bench_counter"],
        &[],
    )
    .unwrap();
    assert_eq!(
        chosen(&some),
        [("up_counter", vec![8, 3]), ("bench_counter", vec![8])]
    );
    assert!(!some.whole);
}

#[test]
fn a_setting_reaches_every_module_and_one_with_a_module_wins() {
    let set = request("reference", &[], &["down_counter.width=32", "width=24"]).unwrap();
    assert_eq!(
        chosen(&set),
        [("up_counter", vec![24, 3]), ("down_counter", vec![32, 3])]
    );
    assert!(!set.whole);
}

#[test]
fn every_refusal_is_one_sentence() {
    let cases: &[(&str, &[&str], &[&str], &str)] = &[
        (
            "refrence",
            &[],
            &[],
            "there is no configuration `refrence`: did you mean `reference`?",
        ),
        (
            "x",
            &[],
            &[],
            "there is no configuration `x`: choose one of reference, board",
        ),
        (
            "board",
            &["up_conter"],
            &[],
            "there is no module `up_conter`: did you mean `up_counter`?",
        ),
        (
            "board",
            &["zzz"],
            &[],
            "there is no module `zzz`: choose one of up_counter, down_counter, bench_counter",
        ),
        (
            "board",
            &[],
            &["limt=1"],
            "no selected module has a parameter `limt`: did you mean `limit`?",
        ),
        (
            "board",
            &["bench_counter"],
            &["limit=1"],
            "no selected module has a parameter `limit`: choose one of width",
        ),
        (
            "board",
            &[],
            &["up_countr.width=8"],
            "there is no module `up_countr`: did you mean `up_counter`?",
        ),
        (
            "board",
            &["up_counter"],
            &["down_counter.width=8"],
            "`--set down_counter.width` names module `down_counter`, which is not selected: \
             add `--module down_counter`",
        ),
        (
            "board",
            &[],
            &["up_counter.depth=8"],
            "no selected module has a parameter `up_counter.depth`: choose one of width, limit",
        ),
        (
            "board",
            &[],
            &["width=65"],
            "up_counter: width = 65 is not possible: it must be from 1 to 64",
        ),
        (
            "board",
            &[],
            &["width=8", "width=8"],
            "`--set width` is given twice: keep one of the two",
        ),
    ];
    for (config, modules, settings, expected) in cases {
        assert_eq!(request(config, modules, settings).unwrap_err(), *expected);
    }
}

#[test]
fn a_value_in_range_may_still_be_refused_by_the_block() {
    let odd = request("reference", &[], &["down_counter.width=7"]).unwrap();
    let error = render(&odd).unwrap_err();
    assert_eq!(
        error.to_string(),
        "down_counter: width = 7 is not possible: it must be a multiple of 4"
    );
}
