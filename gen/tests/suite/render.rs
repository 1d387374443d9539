//! The text of generated files.

use crate::support::{CATALOG, strings};
use spinneret_gen::render::{FILE_LIST, HEADER, Rendered, render};
use spinneret_gen::request::Request;

fn rendered(modules: &[&str], settings: &[&str]) -> Rendered {
    let request = Request::new(CATALOG, "reference", &strings(modules), &strings(settings)).unwrap();
    render(&request).unwrap()
}

fn text<'a>(rendered: &'a Rendered, name: &str) -> &'a str {
    &rendered.files.iter().find(|file| file.name == name).unwrap().text
}

#[test]
fn each_module_has_a_file_and_the_list_comes_last() {
    let rendered = rendered(&[], &[]);
    let names: Vec<_> = rendered.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["up_counter.sv", "down_counter.sv", FILE_LIST]);
    for file in &rendered.files {
        assert!(file.text.starts_with(HEADER), "{}", file.name);
        assert!(
            file.text.ends_with('\n') && !file.text.contains('\r'),
            "{}",
            file.name
        );
    }
    assert_eq!(
        text(&rendered, FILE_LIST),
        format!(
            "{HEADER}\n// SPDX-License-Identifier: MIT OR Apache-2.0\n\
             // Dependency order; names are relative to this folder (`verilator -F`).\n\
             // block: up_counter\n// block: down_counter\nup_counter.sv\ndown_counter.sv\n"
        )
    );
}

#[test]
fn a_block_says_which_values_it_was_made_with() {
    let rendered = rendered(&["up_counter"], &["width=16"]);
    let text = text(&rendered, "up_counter.sv");
    let comment = "// Block up_counter, configuration reference:\n\
                   //   width = 16 (bits of the value)\n//   limit = 3 (largest step)\n";
    assert!(text.contains(comment), "{text}");
    assert!(
        text.contains("WIDTH = 16") && text.contains("BYTES = 2"),
        "{text}"
    );
    let module = &rendered.modules[0];
    assert_eq!(module.lines, text.lines().count());
    let ports: Vec<_> = module
        .block
        .as_ref()
        .unwrap()
        .ports
        .iter()
        .map(|p| (p.name.as_str(), p.width))
        .collect();
    assert_eq!(ports, [("clk", 1), ("rst", 1), ("step", 16), ("count", 16)]);
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    assert_eq!(rendered(&[], &[]).files, rendered(&[], &[]).files);
}
