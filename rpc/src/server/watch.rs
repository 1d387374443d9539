//! When calls begin and end, for those who want to know.

use std::mem;

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Its first packet was taken. The number is its opcode.
    Begins(u32),
    /// Its last packet was sent, or it was given up.
    Ends,
}

/// A call began or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The port that it came by.
    pub port: u32,
    /// Which of both.
    pub step: Step,
}

/// What happened since somebody asked. On a port, beginnings and ends take turns.
#[derive(Debug, Default)]
pub(super) struct Watch {
    moments: Vec<Moment>,
    /// Ports whose call has begun and not ended.
    open: Vec<u32>,
}

impl Watch {
    pub(super) fn begins(&mut self, port: u32, opcode: u32) {
        self.ends(port);
        self.open.push(port);
        let step = Step::Begins(opcode);
        self.moments.push(Moment { port, step });
    }

    /// The port has no call, or not any more.
    pub(super) fn ends(&mut self, port: u32) {
        if let Some(place) = self.open.iter().position(|open| *open == port) {
            self.open.swap_remove(place);
            let step = Step::Ends;
            self.moments.push(Moment { port, step });
        }
    }

    pub(super) fn take(&mut self) -> Vec<Moment> {
        mem::take(&mut self.moments)
    }
}
