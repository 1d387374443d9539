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

/// Names and values that do not exist, and settings that do not go together.
pub(crate) fn refusals(told: &mut Vec<String>) {
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("refrence", &[], &[]),
        ("x", &[], &[]),
        ("board", &["up_conter"], &[]),
        ("board", &["zzz"], &[]),
        ("board", &[], &["limt=1"]),
        ("board", &["bench_counter"], &["limit=1"]),
        ("board", &[], &["up_countr.width=8"]),
        ("board", &["up_counter"], &["down_counter.width=8"]),
        ("board", &[], &["up_counter.depth=8"]),
        ("board", &[], &["width=65"]),
        ("board", &[], &["width=8", "width=8"]),
    ];
    for (config, modules, settings) in cases {
        told.push(request(config, modules, settings).unwrap_err());
    }
    // A value in range may still be refused by the block.
    let odd = request("reference", &[], &["down_counter.width=7"]).unwrap();
    told.push(render(&odd).unwrap_err().to_string());
}
