//! A host whose looks and work take simulated time.

use super::calls::Calls;
use crate::Simulated;
use crate::report::Call;
use spinneret_rpc::{Services, ServicesError};

/// How long things take on the host, in picoseconds. What is left out: the processor's caches, and other work of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// A look at all mailboxes.
    pub look_ps: u64,
    /// The work of one port, after which its answer is in host memory and on its way to the NIC.
    pub work_ps: u64,
}

impl Default for Pace {
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
pub struct Paced {
    services: Vec<Services<Simulated>>,
    pace: Pace,
    /// When the look or the work that is under way is done.
    done_ps: u64,
    /// Whose work it is, if it is work.
    works: Option<usize>,
    /// Where the search for work begins.
    next: usize,
    /// What calls come and go, if somebody wants to know.
    calls: Option<Calls>,
}

impl Paced {
    /// Begins with a look.
    pub fn new(services: Vec<Services<Simulated>>, pace: Pace) -> Self {
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
