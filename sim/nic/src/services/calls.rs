//! Calls as they come and go, for a trace.

use crate::Simulated;
use crate::report::Call;
use spinneret_cluster::HpuId;
use spinneret_rpc::server::Step;
use spinneret_rpc::{Services, opcode};
use std::collections::BTreeMap;
use std::mem;

/// A port: whose services, and its number there.
type Place = (usize, u32);

/// A call that was taken and not answered yet: its opcode, since when it waited, and when it was taken.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    opcode: u32,
    asked_ps: u64,
    taken_ps: u64,
}

/// What is known of calls.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Since when requests wait.
    asked: BTreeMap<Place, u64>,
    under_way: BTreeMap<Place, UnderWay>,
    done: Vec<Call>,
}

impl Calls {
    /// A look at ports whose requests the host has not begun to work on.
    pub(super) fn look(&mut self, place: usize, services: &Services<Simulated>, now_ps: u64) {
        let Some(server) = services.server() else { return };
        for port in 0..services.announcement().layout.ports() {
            let Ok(is_asked) = server.is_asked(port);
            if is_asked {
                self.asked.entry((place, port)).or_insert(now_ps);
            }
        }
    }

    /// The work of one port, from one time to another.
    pub(super) fn note(
        &mut self,
        place: usize,
        services: &mut Services<Simulated>,
        [from_ps, to_ps]: [u64; 2],
    ) {
        let Some(server) = services.server_mut() else {
            return;
        };
        for moment in server.take_moments() {
            let key = (place, moment.port);
            match moment.step {
                Step::Begins(opcode) => {
                    let asked_ps = self.asked.remove(&key).unwrap_or(from_ps).min(from_ps);
                    let begun = UnderWay {
                        opcode,
                        asked_ps,
                        taken_ps: from_ps,
                    };
                    self.under_way.insert(key, begun);
                }
                Step::Ends => {
                    let ended = self.under_way.remove(&key);
                    self.done
                        .extend(ended.map(|call| whole(services, moment.port, call, to_ps)));
                }
            }
        }
    }

    /// Those that have ended since the last time.
    pub(super) fn take(&mut self) -> Vec<Call> {
        mem::take(&mut self.done)
    }
}

fn whole(services: &Services<Simulated>, port: u32, call: UnderWay, ended_ps: u64) -> Call {
    let [cluster, core] = services.hpu_of(port).map(|number| number as usize);
    Call {
        context: services.context().number(),
        hpu: HpuId { cluster, core },
        port,
        name: opcode::name(call.opcode).map_or_else(|| format!("{:#010x}", call.opcode), str::to_owned),
        asked_ps: call.asked_ps,
        taken_ps: call.taken_ps,
        ended_ps,
    }
}
