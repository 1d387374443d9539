//! Compares what the driver does in a clock with what it may do.

use super::{
    Access, Bench, CLUSTER, Done, HPUS, Hpu, SHARED_END, SLOT_BYTES, SLOTS, Sent, THREADS, Task, context_of,
};
use spinneret_hdl::hpu::cluster::{TASK_PAIRS, TaskEnd};
use spinneret_isa::cause;
use spinneret_regmap::pspin::packet_size::SIZE_BITS;
use spinneret_regmap::pspin::{
    HANDLER_BASE, HANDLER_BYTES, L1_AREA_BYTES, L1_AREAS, L1_PACKETS, driver as register, l1_address,
};
use spinneret_sim::prelude::*;

impl<M: Model> Bench<M> {
    #[track_caller]
    pub(super) fn check(&self, holds: bool, what: impl FnOnce() -> String) {
        self.sim.expect(if holds { Ok(()) } else { Err(what()) });
    }

    fn words_of(&self, port: &str, count: usize) -> Vec<u32> {
        let value = self.sim.dut.get(port).unwrap_or_else(|error| panic!("{error}"));
        let mut words = value.to_u32_digits();
        words.resize(count, 0);
        words
    }

    pub(super) fn drive_offer(&mut self, pipeline: usize, number: usize, stop: u64) {
        let hpu = &mut self.hpus[number];
        let is_stopped = hpu.is_user && stop >> number & 1 == 1;
        let port = |name: &str| format!("s_{pipeline}_{name}");
        let offer = hpu.offer.filter(|_| !is_stopped);
        self.sim.set(&port("valid"), offer.is_some());
        if let Some(access) = offer {
            self.sim.set(&port("hpu"), number as u64);
            self.sim.set(&port("is_dma"), access.is_dma);
            self.sim.set(&port("offset"), access.offset);
            self.sim.set(&port("is_write"), access.store.is_some());
            self.sim
                .set(&port("data"), access.store.unwrap_or_else(|| self.rng.random()));
            self.sim.set(&port("is_user"), access.is_user);
        }
    }

    pub(super) fn see_offer(&mut self, pipeline: usize, number: usize, stop: u64) {
        let [ready, refused] =
            ["ready", "refused"].map(|name| self.sim.get(&format!("s_{pipeline}_{name}")) == 1);
        let hpu = &self.hpus[number];
        if hpu.is_user && stop >> number & 1 == 1 {
            self.traps.push((number, cause::STOPPED));
            self.seen.stopped += 1;
            let hpu = &mut self.hpus[number];
            (hpu.offer, hpu.done, hpu.was_stopped) = (None, Some(Done::Stopped), true);
            return;
        }
        let Some(access) = hpu.offer else { return };
        let what = || format!("HPU {number}, {access:x?}: ready {ready}, refused {refused}, {hpu:x?}");
        let is_checked = access.starts() && access.is_user && !hpu.may_start(&access);
        self.check(refused == hpu.is_refused(&access) || refused && is_checked, what);
        if refused {
            self.seen.refused_starts += u32::from(is_checked);
            self.seen.refused += u32::from(!is_checked);
            self.traps.push((number, cause::LOAD_FAULT));
            let hpu = &mut self.hpus[number];
            (hpu.offer, hpu.done) = (None, Some(Done::Refused));
            return;
        }
        let waits = hpu.waits(&access);
        self.check(!(ready && (waits || is_checked)), what);
        self.check(ready || waits || access.starts() || hpu.tries < 2, what);
        self.seen.full += u32::from(waits && access.starts() && hpu.tries == 0);
        self.seen.lost += u32::from(!ready && !waits && !access.starts());
        let hpu = &mut self.hpus[number];
        hpu.tries = if waits { 0 } else { hpu.tries + 1 };
        hpu.asks |= access
            == Access {
                is_user: access.is_user,
                ..Access::load(0)
            }
            && hpu.task.is_none();
        if ready {
            hpu.offer = None;
            hpu.answer = Some((self.now + 2, access, 0));
            self.fault = access
                .store
                .filter(|_| access.is(false, register::ERROR))
                .map(|cause| (number, cause))
                .or(self.fault);
        }
    }

    /// Words of this clock's accesses, after commands and copies that were done in it.
    pub(super) fn expect_words(&mut self) {
        for (number, hpu) in self.hpus.iter_mut().enumerate() {
            if let Some((at, access, word)) = &mut hpu.answer
                && *at == self.now + 2
            {
                let access = *access;
                let _ = word;
                let value = hpu.access(&access, number);
                hpu.answer = Some((self.now + 2, access, value));
            }
        }
    }

    pub(super) fn see_answers(&mut self) {
        for number in 0..HPUS {
            let Some((_, access, expected)) = self.hpus[number].answer.take_if(|(at, ..)| *at == self.now)
            else {
                continue;
            };
            let word = self.sim.get(&format!("s_{}_read_data", number / THREADS)) as u32;
            if access.store.is_none() && access.is(false, register::ISSUE) {
                self.check(word < 4 && !self.hpus[number].open[word as usize], || {
                    format!("command {word} of HPU {number}")
                });
                self.issue(number, word as usize);
            } else if access.store.is_none() && access.offset != register::DOORBELL {
                self.check(word == expected, || {
                    format!("HPU {number} reads {word:#x}, not {expected:#x}: {access:x?}")
                });
            }
            self.hpus[number].done = Some(Done::Word(word));
        }
    }

    pub(super) fn issue(&mut self, number: usize, command: usize) {
        let hpu = &mut self.hpus[number];
        let kind = u64::from(hpu.registers[0] >> 1 & 3);
        if kind == 3 {
            return;
        }
        hpu.open[command] = true;
        self.sent.push_back(Sent {
            id: (4 * number + command) as u64,
            kind,
            queue: hpu.queue,
            words: hpu.registers[1..].try_into().expect("seven words"),
        });
    }

    pub(super) fn see_command(&mut self, ready: bool) {
        if self.sim.get("command_valid") == 0 || !ready {
            return;
        }
        let [id, kind, queue] =
            ["command_id", "command_kind", "command_queue"].map(|port| self.sim.get(port));
        let words = self.words_of("command_words", 7).try_into().expect("seven words");
        let expected = self.sent.pop_front();
        let queue = expected.as_ref().and_then(|sent| sent.queue.and(Some(queue)));
        let sent = Some(Sent {
            id,
            kind,
            queue,
            words,
        });
        self.check(expected == sent, || format!("{sent:x?}, not {expected:x?}"));
        self.seen.commands += 1;
        let at = self.now + u64::from(self.rng.random_range(1..=self.delay));
        self.commands.push((id, at));
    }

    pub(super) fn take_pair(&mut self) {
        self.begun += u32::from(self.pair == 0);
        self.pair += 1;
        if self.pair == TASK_PAIRS.len() {
            self.pair = 0;
            self.arrived.extend(self.tasks.pop_front());
        }
    }

    pub(super) fn see_copy(&mut self, ready: bool) {
        if self.sim.get("copy_valid") == 0 || !ready {
            return;
        }
        let copy = ["copy_source", "copy_destination", "copy_bytes"].map(|port| self.sim.get(port) as u32);
        let tag = self.sim.get("copy_tag") as usize;
        let expected = match tag {
            0..SLOTS => self.arrived.pop_front().map(|words| {
                assert!(!self.used[tag], "slot {tag} is used");
                self.used[tag] = true;
                let slot = l1_address(CLUSTER, L1_PACKETS + tag as u32 * SLOT_BYTES);
                let mut task = Task {
                    words,
                    slot: tag,
                    failed: false,
                };
                task.words[4] = slot;
                self.copying.push_back(task);
                [words[17], slot, words[5].min(SLOT_BYTES)]
            }),
            32..40 => self.hpus[tag - 32].copies.pop_front(),
            _ => None,
        };
        self.seen.copies += u32::from(tag >= 32);
        self.check(expected == Some(copy), || {
            format!("copy {tag}: {copy:x?}, not {expected:x?}")
        });
        let at = self.now + u64::from(self.rng.random_range(1..=self.delay));
        self.copier.push_back((tag, at));
    }

    pub(super) fn copy_done(&mut self, tag: usize) {
        if tag < SLOTS {
            self.ready.extend(self.copying.pop_front());
        } else {
            self.hpus[tag - 32].copied += 1;
        }
    }

    pub(super) fn see_ranges(&mut self) {
        if self.sim.get("range_write") == 0 {
            return;
        }
        let [hpu, number] = ["range_hpu", "range_number"].map(|port| self.sim.get(port) as usize);
        let range = ["range_first", "range_end"].map(|port| self.sim.get(port) as u32);
        if number == 0 {
            let is_idle =
                self.hpus[hpu].asks && self.hpus[hpu].task.is_none() && self.hpus[hpu].ended.is_none();
            // Its copy may have been asked for and not be seen yet; then the range says where its packet will be.
            let begins = self.arrived.front().map(|words| {
                let mut task = Task {
                    words: *words,
                    slot: SLOTS,
                    failed: false,
                };
                task.words[4] = range[0] << 6;
                task
            });
            let task = self.ready.front().or(self.copying.front()).copied().or(begins);
            self.check(is_idle && task.is_some() && self.giving.is_none(), || {
                format!("HPU {hpu} gets a task")
            });
            self.giving = task.map(|task| (task, hpu, 0, u64::MAX));
        }
        let (task, to, next, at) = self.giving.as_mut().expect("a task is given");
        let words = task.words;
        let memory = HANDLER_BASE..HANDLER_BASE + HANDLER_BYTES;
        let [address, bytes] = match number {
            0 => [words[4], words[5].min(SLOT_BYTES)],
            1 => [
                l1_address(CLUSTER, L1_AREAS + hpu as u32 * L1_AREA_BYTES),
                L1_AREA_BYTES,
            ],
            2 => [words[2], words[3]],
            3 if words[13] != 0 && memory.contains(&words[9]) => [words[9], words[13]],
            3 => [HANDLER_BASE, SHARED_END - HANDLER_BASE],
            4 => [words[17], words[20] & ((1 << SIZE_BITS) - 1)],
            _ => [words[number + 1], words[number + 5]],
        };
        let end = (u64::from(address) + u64::from(bytes)).div_ceil(64);
        let expected = if bytes == 0 || end >= 1 << 23 {
            [0; 2]
        } else {
            [address >> 6, end as u32]
        };
        let is_next = (hpu, number) == (*to, *next);
        *next += 1;
        if number == 6 {
            *at = self.now + 1;
            let (slot, packet) = (task.slot, task.words[4]);
            let there = self.ready.pop_front();
            let is_right = |there: Task| match slot {
                SLOTS => words[5] == 0 || there.words[4] == packet,
                _ => there.slot == slot,
            };
            *task = there.unwrap_or(*task);
            self.check(there.is_some_and(is_right), || {
                format!("HPU {hpu} gets a task without its packet")
            });
        }
        self.check(is_next && range == expected, || {
            format!("range {number} of HPU {hpu}: {range:x?}, not {expected:x?}")
        });
        self.hpus[hpu].ranges[number] = range;
    }

    /// A task that is done is seen in the first clock of its report.
    pub(super) fn see_finished(&mut self) {
        let is_there = self.sim.get("finished_valid") == 1;
        if is_there && !self.finished_stalled {
            let (data, fields) = (self.sim.get("finished_data"), TaskEnd::new());
            let get = |field: spinneret_verilog::prelude::Field| data >> field.at & ((1 << field.width) - 1);
            let now = self.now;
            let matches = |hpu: &Hpu| {
                let flags = |task: Task| {
                    [
                        u64::from(task.words[21]),
                        task.failed.into(),
                        hpu.was_stopped.into(),
                    ]
                };
                let is_it =
                    |task: Task| flags(task) == [fields.origin, fields.failed, fields.is_over].map(get);
                hpu.ended.is_some_and(is_it) && hpu.open() == 0 && now - hpu.given - get(fields.clocks) < 3
            };
            let found = self.hpus.iter().position(matches);
            self.check(found.is_some(), || format!("no task {data:#x} has ended"));
            let task = self.hpus[found.unwrap_or(0)].ended.take().expect("it has ended");
            self.used[task.slot] = false;
            self.seen.finished += 1;
            self.seen.failed += u32::from(task.failed);
        }
        self.finished_stalled = is_there && self.sim.get("finished_ready") == 0;
    }

    pub(super) fn check_outputs(&mut self, stop: u64) {
        let appears = self.sim.get("finished_valid") == 1 && !self.finished_stalled;
        let load = self.begun - self.seen.finished - u32::from(appears);
        self.check(self.sim.get("load") == u64::from(load), || {
            format!("the load is not {load}")
        });
        let fault = (self.sim.get("fault_valid") == 1).then(|| {
            (
                self.sim.get("fault_hpu") as usize,
                self.sim.get("fault_cause") as u32,
            )
        });
        let expected = self.fault.take();
        self.check(fault == expected, || format!("fault {fault:?}, not {expected:?}"));
        for (number, hpu) in self.hpus.iter().enumerate() {
            let age = self.now.saturating_sub(hpu.given);
            let context = context_of(hpu.queue.unwrap_or(0));
            let budget = u64::from(self.budgets[context]);
            let is_late = hpu.task.is_some() && !hpu.was_stopped && budget != 0;
            let (may, must) = (is_late && age > budget, is_late && age > budget + 16);
            let is_stopped = stop >> number & 1 == 1;
            let was_ended = hpu.task.is_none() || hpu.was_stopped;
            self.check(is_stopped || !must, || format!("HPU {number} is not stopped"));
            self.check(!is_stopped || may || was_ended && budget != 0, || {
                format!("HPU {number} is stopped")
            });
        }
    }

    /// Payload stays while it is not taken.
    pub(super) fn hold(&mut self, name: &'static str, ready: bool, ports: &[&str]) {
        let is_there = self.sim.get(&format!("{name}_valid")) == 1;
        let values = ports
            .iter()
            .map(|port| self.words_of(&format!("{name}_{port}"), 1));
        let now = format!("{:x?}", values.collect::<Vec<_>>());
        if let Some(at) = self.stalled.iter().position(|(port, _)| *port == name) {
            let (_, before) = self.stalled.remove(at);
            self.check(is_there && now == before, || {
                format!("{name}: {before}, then {now}")
            });
        }
        if is_there && !ready {
            self.stalled.push((name, now));
        }
    }
}
