//! A conversation with gdb.

use super::held::Held;
use super::input::{End, Input, Output};
use crate::net::Interrupt;
use gdbstub::stub::state_machine::GdbStubStateMachine as Machine;
use gdbstub::stub::{DisconnectReason, GdbStub, GdbStubError, MultiThreadStopReason as Stop};
use std::convert::Infallible;

impl From<GdbStubError<Infallible, std::io::Error>> for End {
    fn from(error: GdbStubError<Infallible, std::io::Error>) -> Self {
        Self::failed(error)
    }
}

/// A conversation that is not over.
pub(super) struct Session {
    machine: Machine<'static, Held, Output>,
    input: Input,
}

impl Session {
    /// Begins one; gdb holds the cluster, until it lets it go on.
    pub(super) fn begin(input: Input, held: &mut Held, hpus: usize) -> Result<Self, End> {
        held.begin(hpus);
        let output = input.output().map_err(End::failed)?;
        let machine = GdbStub::new(output).run_state_machine(held).map_err(End::from)?;
        Ok(Self { machine, input })
    }

    /// Goes on until gdb lets the cluster go on, which it may do already; then, `stop` is told first.
    pub(super) fn talk(
        self,
        held: &mut Held,
        mut stop: Option<Stop<u32>>,
        interrupt: &Interrupt,
    ) -> Result<Self, End> {
        let Self {
            mut machine,
            mut input,
        } = self;
        loop {
            machine = match machine {
                Machine::Idle(idle) => {
                    let byte = input.wait(interrupt)?;
                    idle.incoming_data(held, byte)?
                }
                Machine::Running(running) => match stop.take() {
                    Some(stop) => {
                        held.note_stop(&stop);
                        running.report_stop(held, stop)?
                    }
                    None => match input.ready()? {
                        Some(byte) => running.incoming_data(held, byte)?,
                        None => {
                            let machine = Machine::Running(running);
                            return Ok(Self { machine, input });
                        }
                    },
                },
                Machine::CtrlCInterrupt(caught) => {
                    let stop = held.interrupted();
                    caught.interrupt_handled(held, Some(stop))?
                }
                Machine::Disconnected(gone) => {
                    return Err(match gone.get_reason() {
                        DisconnectReason::Kill => {
                            input.tell_kill();
                            End::Killed
                        }
                        _ => End::Detached,
                    });
                }
            };
        }
    }

    /// Tells gdb that the run is over.
    pub(super) fn end(self, held: &mut Held) {
        if let Machine::Running(running) = self.machine {
            // Who has gone by now has not missed anything.
            let _ = running.report_stop(held, Stop::Exited(0));
        }
    }
}
