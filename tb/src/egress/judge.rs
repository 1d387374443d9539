//! Decides how each line that is read is answered, and remembers it.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_sim::axi::{BeatJudge, Burst, Faults, Response};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Which lines fail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LineFaults {
    /// None.
    #[default]
    Never,
    /// Each line with that probability in thousandths, SLVERR or DECERR.
    Random(u32),
    /// The lines at these addresses.
    At(Vec<(u64, Response)>),
}

/// How lines were answered, in the order of the reads; clones share one state.
#[derive(Clone, Debug)]
pub(super) struct LineJudge {
    state: Rc<RefCell<State>>,
}

#[derive(Debug)]
struct State {
    faults: LineFaults,
    rng: ChaCha8Rng,
    answers: VecDeque<Response>,
}

impl LineJudge {
    pub(super) fn new(faults: LineFaults, rng: ChaCha8Rng) -> Self {
        let state = State {
            faults,
            rng,
            answers: VecDeque::new(),
        };
        Self {
            state: Rc::new(RefCell::new(state)),
        }
    }

    /// What a slave asks for each line.
    pub(super) fn faults(&self) -> Faults {
        let state = Rc::clone(&self.state);
        Faults::Chosen(BeatJudge::new(move |burst, number| {
            state.borrow_mut().judge(burst, number)
        }))
    }

    /// Changes which lines fail, from the next read on.
    pub(super) fn set(&self, faults: LineFaults) {
        self.state.borrow_mut().faults = faults;
    }

    /// The answer of the oldest line that was not taken yet.
    pub(super) fn take(&self) -> Option<Response> {
        self.state.borrow_mut().answers.pop_front()
    }

    /// Forgets all answers.
    pub(super) fn clear(&self) {
        self.state.borrow_mut().answers.clear();
    }
}

impl State {
    fn judge(&mut self, burst: &Burst, number: u64) -> Response {
        let address = burst.beat_address(number);
        let response = match &self.faults {
            LineFaults::Never => Response::Okay,
            LineFaults::Random(thousandths) if self.rng.random_range(0..1000) < *thousandths => {
                if self.rng.random_bool(0.5) {
                    Response::SlaveError
                } else {
                    Response::DecodeError
                }
            }
            LineFaults::Random(_) => Response::Okay,
            LineFaults::At(lines) => {
                let hit = lines.iter().find(|(line, _)| *line == address);
                hit.map_or(Response::Okay, |(_, response)| *response)
            }
        };
        self.answers.push_back(response);
        response
    }
}
