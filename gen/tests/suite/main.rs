//! Requests, generated files, and measurements.

mod board;
mod board_checkout;
mod board_regions;
mod command;
mod ports;
mod request;
mod store;
mod support;
mod synth;
mod table3;
mod trees;

/// The wording of all refusals, in `snapshots/suite__refusals.snap`.
#[test]
fn refusals() {
    let sections: [fn(&mut Vec<String>); 8] = [
        request::refusals,
        command::refusals,
        board_checkout::wrong_trees,
        board_checkout::changed_trees,
        board_checkout::missing_files,
        board_checkout::other_application_blocks,
        board_checkout::refusals,
        synth::refusals,
    ];
    let mut told = Vec::new();
    for section in sections {
        section(&mut told);
        told.push(String::new());
    }
    insta::assert_snapshot!(told.join("\n"));
}
