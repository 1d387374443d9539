//! The proofs that take up to a minute each, and that a broken block does not pass them.

use spinneret_tb::proofs::{Ledger, questions};
use spinneret_verilate::schedule;
use std::path::Path;

#[test]
fn proofs_hold_and_detect_broken_blocks() {
    let ledger = Ledger::read().unwrap_or_else(|error| panic!("{error:#}"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("proofs");
    let all: Vec<_> = questions().filter(|question| question.is_fast()).collect();
    let answers = schedule::run(schedule::allowed(), all.len(), |index| {
        let question = &all[index];
        let is_skipped = question.key().map(|key| ledger.may_skip(&key));
        match is_skipped {
            Ok(true) => Ok(None),
            Ok(false) => question.ask(&folder).map(Some),
            Err(error) => Err(error),
        }
    });
    let mut asked = 0;
    let mut wrong = Vec::new();
    for answer in answers {
        match answer {
            Ok(None) => {}
            Ok(Some(None)) => asked += 1,
            Ok(Some(Some(what))) => wrong.push(what),
            Err(error) => wrong.push(format!("{error:#}")),
        }
    }
    println!(
        "{asked} of {} questions asked, the others are answered in tb/proofs/answered.txt",
        all.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
