//! Values that move from stage to stage.

use super::sig::{Operand, Sig, constant_of, sig};
use super::tree;
use num_bigint::BigUint;
use std::cell::RefCell;
use std::panic::Location;

/// A value of a pipeline: it exists from its stage on, and is carried through registers to the later stages that read it.
///
/// `let a = staged("a", 1, word);` says that `word` is there in stage 1; `a.at(3)` is what it was two clocks before, from the
/// registers `a_2` and `a_3`. A value that no stage reads costs nothing, and a stage number may be a parameter.
#[derive(Debug)]
pub struct Staged<T> {
    name: String,
    stage: usize,
    reset: Option<BigUint>,
    values: RefCell<Vec<Sig<T>>>,
}

/// A value that is there in a stage of a pipeline.
pub fn staged<T>(name: &str, stage: usize, value: Sig<T>) -> Staged<T> {
    Staged {
        name: name.to_owned(),
        stage,
        reset: None,
        values: RefCell::new(vec![value]),
    }
}

impl<T> Staged<T> {
    /// The same with a reset of its registers, as the valid bit of a pipeline needs.
    #[must_use]
    #[track_caller]
    pub fn reset_to(self, reset: impl Operand<T>) -> Self {
        let width = self.values.borrow()[0].width();
        Self {
            reset: Some(constant_of(reset, width, Location::caller())),
            ..self
        }
    }

    /// The value in a stage.
    ///
    /// # Panics
    /// If it does not exist yet in that stage.
    #[track_caller]
    pub fn at(&self, stage: usize) -> Sig<T> {
        let at = Location::caller();
        let Some(age) = stage.checked_sub(self.stage) else {
            panic!(
                "{at}: `{}` is there from stage {} on, not in stage {stage}",
                self.name, self.stage
            );
        };
        let mut values = self.values.borrow_mut();
        while values.len() <= age {
            let before = values[values.len() - 1];
            let name = format!("{}_{}", self.name, self.stage + values.len());
            values.push(sig(tree::with(|tree| {
                let register = tree.local(tree.width(before.id), Some(self.reset.clone()));
                tree.name(register, &name);
                tree.assign_always(register, before.id, at);
                register
            })));
        }
        values[age]
    }
}
