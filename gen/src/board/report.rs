//! What a run for a board did or found.

use super::output::BoardOutput;
use crate::report::{changes, differences_text};
use crate::store::{Difference, Store};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The outcome of a run for a board, ready to be told.
#[derive(Debug)]
pub struct BoardReport<'a> {
    /// What the board needs.
    pub output: &'a BoardOutput,
    /// The directory.
    pub store: &'a Store,
    /// What differed before the run, by file name.
    pub differences: BTreeMap<String, Difference>,
}

impl BoardReport<'_> {
    /// After writing: what is where, in one line.
    pub fn headline(&self) -> String {
        let board = self.output.board;
        let changes = changes(&self.differences, self.output.files.len());
        format!(
            "{} ({}) in {}: {changes}\n",
            board.title,
            board.part,
            self.store.shown()
        )
    }

    /// After writing: what is where, and what to know of it.
    pub fn written(&self) -> String {
        let mut text = self.headline();
        for note in &self.output.notes {
            text.push_str(note);
            text.push('\n');
        }
        text
    }

    /// After checking: each difference and the command that repairs them.
    pub fn checked(&self, repair: &str) -> String {
        differences_text(self.store, &self.differences, self.output.files.len(), repair)
    }

    /// The same for programs.
    pub fn json(&self, checked: bool) -> Value {
        let differences: BTreeMap<_, _> = self
            .differences
            .iter()
            .map(|(name, difference)| (name, difference.name()))
            .collect();
        json!({
            "board": self.output.board.name,
            "directory": self.store.shown(),
            "checked_only": checked,
            "up_to_date_before": self.differences.is_empty(),
            "differences_before": differences,
            "files": self.output.files.iter().map(|file| &file.name).collect::<Vec<_>>(),
            "notes": self.output.notes,
        })
    }
}
