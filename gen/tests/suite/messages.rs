//! The wording of all refusals, in `snapshots/suite__messages__refusals.snap`.

use crate::{board_checkout, board_simulation, command, request, synth_depth};

#[test]
fn refusals() {
    let sections: [fn(&mut Vec<String>); 8] = [
        request::refusals,
        command::refusals,
        board_checkout::wrong_trees,
        board_checkout::changed_trees,
        board_checkout::missing_files,
        board_checkout::other_application_blocks,
        board_simulation::refusals,
        synth_depth::refusals,
    ];
    let mut told = Vec::new();
    for section in sections {
        section(&mut told);
        told.push(String::new());
    }
    insta::assert_snapshot!(told.join("\n"));
}
