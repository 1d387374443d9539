//! Services for handlers of a simulated NIC, by a host that takes time for its work.

use crate::Simulated;
use crate::report::Call;
use spinneret_cluster::HpuId;
use spinneret_rpc::server::Step;
use spinneret_rpc::{Services, ServicesError, opcode};
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
struct Calls {
    /// Since when requests wait.
    asked: BTreeMap<Place, u64>,
    under_way: BTreeMap<Place, UnderWay>,
    done: Vec<Call>,
}

impl Calls {
    /// A look at ports whose requests the host has not begun to work on.
    fn look(&mut self, place: usize, services: &Services<Simulated>, now_ps: u64) {
        let Some(server) = services.server() else { return };
        for port in 0..services.announcement().layout.ports() {
            let Ok(is_asked) = server.is_asked(port);
            if is_asked {
                self.asked.entry((place, port)).or_insert(now_ps);
            }
        }
    }

    /// The work of one port, from one time to another.
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

    /// Those that have ended since the last time.
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

/// How long things take on the host, in picoseconds. What is left out: the processor's caches, and other work of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceTimes {
    /// A look at all mailboxes.
    pub look_ps: u64,
    /// The work of one port, after which its answer is in host memory and on its way to the NIC.
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

/// Services of one or more contexts on one processor of the host: a look at all mailboxes, then the ports that have something to do, one after the
/// other, and again.
#[derive(Debug)]
pub struct TimedServices {
    services: Vec<Services<Simulated>>,
    pace: ServiceTimes,
    /// When the look or the work that is under way is done.
    done_ps: u64,
    /// Whose work it is, if it is work.
    works: Option<usize>,
    /// Where the search for work begins.
    next: usize,
    /// What calls come and go, if somebody wants to know.
    calls: Option<Calls>,
}

impl TimedServices {
    /// Begins with a look.
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

    /// Notes from now on which calls come and go, for [`take_calls`](Self::take_calls).
    pub fn watch(&mut self) {
        self.calls.get_or_insert_default();
        for services in &mut self.services {
            services
                .server_mut()
                .into_iter()
                .for_each(|server| server.watch());
        }
    }

    /// Calls that have ended since the last time, if they are [watched](Self::watch).
    pub fn take_calls(&mut self) -> Vec<Call> {
        self.calls.as_mut().map_or_else(Vec::new, Calls::take)
    }

    /// Goes on, if it is time, and gives when to call again.
    ///
    /// # Errors
    /// If the NIC does not take an answer.
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

    /// Forgets the call of a port of one of them, whose handler has died. Says whether there was one.
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    pub fn abandon(&mut self, services: usize, port: u32) -> Result<bool, ServicesError> {
        self.services[services].abandon(port)
    }

    /// The next ones that have something to do.
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

    /// Whether nothing is under way, as far as the last look told.
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

    /// The services, to end them.
    pub fn into_services(self) -> Vec<Services<Simulated>> {
        self.services
    }
}
