//! Services for handlers of a simulated NIC, with the latencies of a host processor.

use crate::Simulated;
use crate::report::Call;
use spinneret_cluster::HpuId;
use spinneret_rpc::server::Step;
use spinneret_rpc::{Services, ServicesError, opcode};
use std::collections::BTreeMap;
use std::mem;

/// A port: index of the context's services, and its number there.
type Place = (usize, u32);

/// A call that is not answered yet: opcode, time of the request, and time of its start.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    opcode: u32,
    asked_ps: u64,
    taken_ps: u64,
}

/// Log of calls.
#[derive(Debug, Default)]
struct Calls {
    /// Times of waiting requests.
    asked: BTreeMap<Place, u64>,
    under_way: BTreeMap<Place, UnderWay>,
    done: Vec<Call>,
}

impl Calls {
    /// Polls ports whose requests the host has not started.
    fn look(&mut self, place: usize, services: &Services<Simulated>, now_ps: u64) {
        let Some(server) = services.server() else { return };
        for port in 0..services.announcement().layout.ports() {
            let Ok(is_asked) = server.is_asked(port);
            if is_asked {
                self.asked.entry((place, port)).or_insert(now_ps);
            }
        }
    }

    /// Work on a port, from start to end.
    fn note(&mut self, place: usize, services: &mut Services<Simulated>, [from_ps, to_ps]: [u64; 2]) {
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

    /// Calls that ended since the last call.
    fn take(&mut self) -> Vec<Call> {
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

/// Service times on the host in picoseconds. Not modelled: caches, and other load of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceTimes {
    /// A poll of all mailboxes.
    pub look_ps: u64,
    /// The work on a port until its answer is in host memory and on the way to the NIC.
    pub work_ps: u64,
}

impl Default for ServiceTimes {
    /// 100 ns each.
    fn default() -> Self {
        Self {
            look_ps: 100_000,
            work_ps: 100_000,
        }
    }
}

/// Services of one or more contexts on one processor of the host: it polls all mailboxes, then serves ports with requests
/// one after the other, and starts again.
#[derive(Debug)]
pub struct TimedServices {
    services: Vec<Services<Simulated>>,
    pace: ServiceTimes,
    /// End of the current poll or work.
    done_ps: u64,
    /// The port of the current work.
    works: Option<usize>,
    /// The port at which the next search starts.
    next: usize,
    /// The log of calls, if enabled.
    calls: Option<Calls>,
}

impl TimedServices {
    /// Begins with a poll.
    pub fn new(services: Vec<Services<Simulated>>, pace: ServiceTimes) -> Self {
        Self {
            services,
            pace,
            done_ps: 0,
            works: None,
            next: 0,
            calls: None,
        }
    }

    /// Enables the log of calls, which [`take_calls`](Self::take_calls) returns.
    pub fn watch(&mut self) {
        self.calls.get_or_insert_default();
        for services in &mut self.services {
            services
                .server_mut()
                .into_iter()
                .for_each(|server| server.watch());
        }
    }

    /// Calls that ended since the last call, if the log is [enabled](Self::watch).
    pub fn take_calls(&mut self) -> Vec<Call> {
        self.calls.as_mut().map_or_else(Vec::new, Calls::take)
    }

    /// Continues the work, and returns the time of the next call.
    ///
    /// # Errors
    /// If an answer cannot be written.
    pub fn poll(&mut self, now_ps: u64) -> Result<u64, ServicesError> {
        if now_ps < self.done_ps {
            return Ok(self.done_ps);
        }
        if let Some(worker) = self.works.take() {
            let services = &mut self.services[worker];
            services.step()?;
            if let Some(calls) = &mut self.calls {
                calls.note(worker, services, [self.done_ps - self.pace.work_ps, now_ps]);
            }
        }
        if let Some(calls) = &mut self.calls {
            for (place, services) in self.services.iter().enumerate() {
                calls.look(place, services, now_ps);
            }
        }
        self.works = self.wanted();
        if self.works.is_none() {
            for services in &mut self.services {
                services.tell()?;
            }
        }
        self.done_ps = now_ps
            + match self.works {
                Some(_) => self.pace.work_ps,
                None => self.pace.look_ps,
            };
        Ok(self.done_ps)
    }

    /// Cancels the call of a port whose handler has died: whether there was one.
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    pub fn abandon(&mut self, services: usize, port: u32) -> Result<bool, ServicesError> {
        self.services[services].abandon(port)
    }

    /// The next port with a request.
    fn wanted(&mut self) -> Option<usize> {
        let count = self.services.len();
        let found = (self.next..count).chain(0..self.next).find(|place| {
            self.services[*place].server().is_some_and(|server| {
                let Ok(is_wanted) = server.is_wanted();
                is_wanted
            })
        })?;
        self.next = (found + 1) % count;
        Some(found)
    }

    /// Whether all ports were idle at the last poll.
    pub fn is_idle(&self) -> bool {
        let is_idle = |services: &Services<Simulated>| {
            services.server().is_none_or(|server| {
                let Ok(is_idle) = server.is_idle();
                is_idle
            })
        };
        self.works.is_none() && self.services.iter().all(is_idle)
    }

    /// The services.
    pub fn services(&self) -> &[Services<Simulated>] {
        &self.services
    }

    /// Returns the services.
    pub fn into_services(self) -> Vec<Services<Simulated>> {
        self.services
    }
}
