//! One clock: tasks are scheduled, HPUs execute, handlers end.

use super::Cluster;
use crate::driver::Ended;
use crate::event::{Event, Fault, Named, Run};
use crate::hpu::{Hpu, Outcome, SILENCE, TERMINATED, WATCHDOG, World};
use crate::map::Protection;
use crate::queues::{Group, Ready};
use crate::rv::Trap;
use crate::task::Stage;
use spinneret_regmap::pspin::{PROGRAM_BASE, PROGRAM_BYTES};

/// An HPU stops after this many traps outside of handlers.
const TRAPS_OUTSIDE: usize = 8;

impl Cluster {
    /// Returns the next clock in which something happens without new input, if any.
    pub fn next(&self) -> Option<u64> {
        let is_scheduling = match self.chosen {
            Some(_) => self.groups.iter().any(Group::has_room),
            None => self.queues.has_work(),
        };
        if is_scheduling {
            return Some(self.now + 1);
        }
        let groups = self.groups.iter().filter_map(|group| group.next(self.now));
        let hpus = self.hpus.iter().filter_map(|hpu| self.next_of(hpu));
        let commands = self.sends.front().map(|(at, _)| *at).into_iter();
        let accesses = self.accesses.front().map(|(at, _)| *at).into_iter();
        let next = groups.chain(hpus).chain(commands).chain(accesses).min();
        next.map(|at| at.max(self.now + 1))
    }

    fn next_of(&self, hpu: &Hpu) -> Option<u64> {
        if hpu.is_dead || !self.fetches(hpu) {
            return None;
        }
        if !hpu.sleeps {
            return Some(hpu.at);
        }
        let copy = hpu.driver.dma.next().filter(|_| hpu.driver.is_ending());
        copy.into_iter().chain(self.deadline(hpu)).min()
    }

    /// The clock in which the watchdog ends a handler; the PULP cluster has no watchdog.
    fn deadline(&self, hpu: &Hpu) -> Option<u64> {
        let running = hpu.driver.running.filter(|_| !self.config.is_strict)?;
        Some(running.since?.saturating_add(self.config.watchdog))
    }

    fn fetches(&self, hpu: &Hpu) -> bool {
        self.fetch & 1 << hpu.driver.cluster != 0
    }

    /// Skips clocks in which nothing happens, up to that of [`next`](Self::next).
    pub fn skip_to(&mut self, clock: u64) {
        debug_assert!(
            self.next().is_none_or(|next| clock < next),
            "something happens before"
        );
        let clocks = clock.saturating_sub(self.now);
        for hpu in self.hpus.iter_mut().filter(|hpu| hpu.driver.is_running()) {
            hpu.busy += clocks;
        }
        self.now += clocks;
    }

    /// One clock.
    pub fn tick(&mut self) {
        self.now += 1;
        self.schedule();
        for cluster in 0..self.config.clusters {
            self.groups[cluster].copy(self.now, &self.config.timing, &mut self.world.memory);
            self.assign(cluster);
        }
        if self.debugger.0.is_some() {
            return self.run_debugged();
        }
        for number in 0..self.hpus.len() {
            self.run(number, Self::execute);
        }
    }

    /// Takes a task out of the queues, and dispatches it when a cluster has room.
    fn schedule(&mut self) {
        if self.chosen.is_none() && self.queues.has_work() {
            match self.queues.take() {
                Some(Ready::Run(task)) => self.chosen = Some(task),
                Some(Ready::Done(task)) => self.free(&task),
                None => {}
            }
        }
        let cluster = self.chosen.and_then(|task| self.choose(task.home));
        if let Some((task, cluster)) = self.chosen.take_if(|_| cluster.is_some()).zip(cluster) {
            self.groups[cluster].push(task, self.now + self.config.timing.schedule);
        }
    }

    /// The home cluster if it has room, else the least loaded one if that has room (`scheduler.sv`, `sel_cluster_id`).
    fn choose(&self, home: usize) -> Option<usize> {
        let least = (0..self.groups.len()).min_by_key(|cluster| self.groups[*cluster].occupied());
        let has_room = |cluster: &usize| self.groups[*cluster].has_room();
        Some(home).filter(has_room).or(least.filter(has_room))
    }

    /// Assigns tasks whose packet is in L1 to free HPUs, one per clock.
    fn assign(&mut self, cluster: usize) {
        let hpus = self.config.hpus;
        let free = self.hpus[cluster * hpus..][..hpus]
            .iter()
            .position(|hpu| hpu.driver.is_free() && !hpu.is_dead);
        let Some(core) = free else { return };
        let Some((task, slot)) = self.groups[cluster].take(self.now) else {
            return;
        };
        let address = self.groups[cluster].address(slot);
        let hpu = &mut self.hpus[cluster * hpus + core];
        hpu.driver.assign(task, slot, address, self.now);
        hpu.at = hpu.at.max(self.now + self.config.timing.give);
        self.progress += 1;
        if self.config.is_strict {
            hpu.driver.repeat_scratchpads(self.config.clusters);
        }
        hpu.protection = match self.config.is_strict {
            true => Protection::wide(&task, address, cluster),
            false => Protection::of(&task, address, (cluster, core), &self.shared),
        };
        hpu.sleeps = false;
    }

    /// One clock of an HPU.
    #[inline]
    pub(super) fn run(&mut self, number: usize, execute: impl FnOnce(&mut Self, usize)) {
        let hpu = &self.hpus[number];
        if hpu.is_dead || !self.fetches(hpu) {
            return;
        }
        self.watch(number);
        let hpu = &mut self.hpus[number];
        hpu.busy += u64::from(hpu.driver.is_running());
        if !hpu.sleeps && hpu.at <= self.now {
            execute(self, number);
        }
        if self.hpus[number].driver.is_ending() {
            self.end(number);
        }
    }

    #[inline]
    fn execute(&mut self, number: usize) {
        let outcome = self.step(number);
        self.account(number, outcome);
    }

    /// The next instruction of an HPU.
    #[inline]
    pub(super) fn step(&mut self, number: usize) -> Outcome {
        self.hpus[number].step(&mut self.world, &self.config.timing, self.now)
    }

    /// Counts an instruction, and applies its effects.
    #[inline]
    pub(super) fn account(&mut self, number: usize, outcome: Outcome) {
        let hpu = &self.hpus[number];
        if let Some(profile) = &mut self.profile {
            profile.note(
                number,
                outcome.pc,
                [self.now, hpu.at],
                outcome.in_handler,
                hpu.sleeps,
            );
        }
        self.instructions += u64::from(outcome.trap.is_none() && !hpu.sleeps);
        self.follow(number, outcome);
    }

    /// Watchdog: ends a handler that takes too long.
    fn watch(&mut self, number: usize) {
        let Some((trap, value)) = self.overdue(number) else {
            return;
        };
        let hpu = &mut self.hpus[number];
        let pc = hpu.hart.pc();
        hpu.silent = None;
        hpu.hart.raise(trap, value);
        hpu.sleeps = false;
        self.report(number, (trap, pc, value), None);
    }

    /// The watchdog's trap if the handler's time is over, and the address that it waits for.
    #[inline]
    pub(super) fn overdue(&self, number: usize) -> Option<(Trap, u32)> {
        let hpu = &self.hpus[number];
        let deadline = self.deadline(hpu)?;
        if self.now < deadline || hpu.in_runtime() || hpu.is_dead || !self.fetches(hpu) {
            return None;
        }
        Some(match hpu.silent {
            Some(address) => (Trap::Custom(SILENCE), address),
            None => (Trap::Custom(WATCHDOG), 0),
        })
    }

    /// Applies the effects of an instruction beyond its own HPU.
    fn follow(&mut self, number: usize, outcome: Outcome) {
        if let Some(address) = outcome.effect.stored {
            for (other, hpu) in self.hpus.iter_mut().enumerate() {
                if other != number {
                    hpu.hart.lost_reservation(address);
                }
            }
        }
        if let Some(id) = outcome.effect.issued {
            self.issue(number, id, outcome.pc);
        }
        if outcome.effect.terminated {
            self.terminated(number, &outcome);
        }
        if let Some(trap) = outcome.trap {
            self.trapped(number, trap, &outcome);
        }
    }

    /// A handler that ends the program ends only itself. A runtime that does so during a task is restarted a limited number of
    /// times.
    fn terminated(&mut self, number: usize, outcome: &Outcome) {
        let hpu = &mut self.hpus[number];
        let (trap, pc) = (Trap::Custom(TERMINATED), hpu.hart.pc());
        if !hpu.driver.is_running() {
            return self.stop(number);
        }
        if !outcome.in_handler {
            hpu.outside.push((trap, pc));
            if hpu.outside.len() > TRAPS_OUTSIDE {
                return self.stop(number);
            }
        }
        hpu.hart.raise(trap, 0);
        self.report(number, (trap, pc, 0), None);
    }

    fn trapped(&mut self, number: usize, trap: (Trap, u32, u32), outcome: &Outcome) {
        match trap.0 {
            // The runtime handles environment calls.
            Trap::EnvironmentCallU if outcome.in_handler => {}
            _ if outcome.in_handler => {
                self.report(number, trap, outcome.effect.named.map(|(_, named)| named));
                // The PULP cluster waits forever for an instruction at an address that does not answer.
                self.hpus[number].is_dead = self.config.is_strict && trap.0 == Trap::InstructionFault;
            }
            // The runtime may probe for faults, or report one and end, but not forever.
            _ => {
                let hpu = &mut self.hpus[number];
                let (trap, pc, _) = trap;
                hpu.outside.push((trap, pc));
                let vector = hpu.hart.pc().wrapping_sub(PROGRAM_BASE);
                if hpu.outside.len() > TRAPS_OUTSIDE || vector >= PROGRAM_BYTES {
                    self.stop(number);
                }
            }
        }
    }

    /// Stops an HPU for good, and reports the last trap outside of handlers, if any.
    fn stop(&mut self, number: usize) {
        let hpu = &mut self.hpus[number];
        hpu.is_dead = true;
        if let Some((trap, pc)) = hpu.outside.pop() {
            let hpu = hpu.driver.id();
            self.events.push(Event::Halted { hpu, trap, pc });
        }
    }

    fn report(&mut self, number: usize, trap: (Trap, u32, u32), named: Option<Named>) {
        let fault = self.origin(number, trap);
        if fault.packet.is_some() {
            self.events.push(Event::Failed(Fault { named, ..fault }));
        }
    }

    /// The origin of what an HPU does, in a handler or outside of handlers.
    pub(super) fn origin(&self, number: usize, (trap, pc, value): (Trap, u32, u32)) -> Fault {
        let driver = &self.hpus[number].driver;
        let task = driver.running.map(|running| running.task);
        Fault {
            packet: task.map(|task| task.packet),
            message: task.map_or(0, |task| task.her.message),
            stage: task.map_or(Stage::Header, |task| task.stage),
            handler: task.map_or(0, |task| task.meta.code(task.stage).address),
            hpu: driver.id(),
            trap,
            pc,
            value,
            named: None,
        }
    }

    /// Ends a task once none of its commands and copies is in flight.
    fn end(&mut self, number: usize) {
        let hpu = &mut self.hpus[number];
        let World { memory, decoded, .. } = &mut self.world;
        hpu.driver.dma.advance(self.now, memory, decoded);
        let Some(Ended { running, ending, at }) = hpu.driver.take_ended() else {
            return;
        };
        hpu.sleeps = false;
        let id = hpu.driver.id();
        let task = running.task;
        self.groups[id.cluster].release(&running);
        self.queues.finish(&task);
        self.progress += 1;
        self.events.push(Event::Finished(Run {
            packet: task.packet,
            message: task.her.message,
            size: task.her.size,
            stage: task.stage,
            handler: task.meta.code(task.stage).address,
            hpu: id,
            begun: running.since.unwrap_or(at),
            ended: at,
            ending,
        }));
        self.free(&task);
    }
}
