//! One run: packets go in, time passes, everything that comes out is passed on.

use super::args::RunArguments;
use super::ends::Ends;
use super::faults;
use super::host::{Attention, HostProgram};
use super::setup::{self, Setup};
use super::waiting::{Room, Standstill, why_left};
use super::wave::Wave;
use crate::device::Simulated;
use crate::gdb::Gdb;
use crate::net::{self, Interrupt, Next, Pacer};
use crate::nic::{DAY_PS, LAST_PS};
use crate::report::{End, Finished, Live, Occupancy, Recorder};
use crate::terminal::{Failure, print, print_folded};
use anyhow::anyhow;
use spinneret_cluster::Event;
use spinneret_regmap::{Register, Word, datapath_counters, ingress};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

/// Frames that wait at the NIC's input before more are taken from their source: enough that it never runs dry.
const WAITING: usize = 32;
/// Steps of the simulation between two looks at the clock on the wall.
const LOOK_STEPS: u32 = 64;
/// Between two looks at the hardware's counters while the run goes.
const COUNT: Duration = Duration::from_secs(1);
/// Longest sleep while a live source is silent.
const SLEEP: Duration = Duration::from_millis(200);
/// Between two notes of how full everything is.
const OCCUPANCY_PS: u64 = 1_000_000;
/// Longest that packets are on their way behind the last one.
const DRAIN_PS: u64 = 1_000_000_000_000;
/// Longest that who wants an end waits for what is on its way.
const PATIENCE: Duration = Duration::from_secs(2);

/// Runs the command and prints its result.
///
/// # Errors
/// If something that was asked for cannot be used, or the run fails; a run that is interrupted is none that fails.
pub fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let (mut setup, interrupt) = setup::open(arguments)?;
    if let Some(gdb) = &mut setup.gdb {
        gdb.wait(&interrupt)?;
    }
    let session = Session::new(setup, arguments.packets.duration, interrupt);
    finish(session, arguments.results.json, arguments.allow_faults)
}

/// Lets a run go to its end and prints its result.
///
/// # Errors
/// If it fails, or handlers have failed and that is not allowed.
pub(super) fn finish(mut session: Session, json: bool, allow_faults: bool) -> Result<(), Failure> {
    let wave = session.wave.take();
    let done = match session.go() {
        Ok(()) => session.finish(json, allow_faults),
        Err(failure) => {
            drop(session);
            Err(failure)
        }
    };
    // The waveform was closed with the hardware.
    done.and(wave.map_or(Ok(()), Wave::finish))
}

/// A packet that was taken from its source.
struct Coming {
    /// When it comes.
    at_ps: u64,
    bytes: Vec<u8>,
    /// It also waits until the NIC has room.
    follows_nic: bool,
}

/// A run that is under way.
pub(super) struct Session {
    nic: Simulated,
    ends: Ends,
    recorder: Recorder,
    wave: Option<Wave>,
    /// A program on the host, and what it wants.
    host: Option<Box<dyn HostProgram>>,
    attention: Attention,
    /// Since when packets come from their source.
    feeds_since_ps: Option<u64>,
    interrupt: Interrupt,
    /// Keeps time with the wall, if packets come when they like.
    pacer: Option<Pacer>,
    next: Option<Coming>,
    room: Room,
    has_ended: bool,
    start: End,
    begun: Instant,
    duration: Option<Duration>,
    noted_ps: u64,
    counted: Instant,
    steps: u32,
    standstill: Standstill,
    is_stuck: bool,
    /// What the hardware had counted before, if it is no new one.
    counted_before: BTreeMap<String, u64>,
}

impl Session {
    /// A run that begins now; it ends after that time, if there is no other reason before.
    pub(super) fn new(setup: Setup, duration: Option<Duration>, interrupt: Interrupt) -> Self {
        let Setup {
            nic: simulated,
            ends,
            mut recorder,
            wave,
            host,
            gdb,
        } = setup;
        let mut nic = simulated.borrow_mut();
        // What happened while the runtime started is no part of the run, but what was refused to it is told.
        for event in nic.take_events() {
            if matches!(event, Event::Refused(_)) {
                recorder.event(&event, |_| 0);
            }
        }
        while let Some(word) = nic.take_printed() {
            recorder.stdout(word);
        }
        if let Some(port) = gdb {
            nic.debug(Box::new(Gdb::new(port, interrupt.clone())));
        }
        let now_ps = nic.now_ps();
        Self {
            pacer: ends.source.is_live().then(|| Pacer::starting_at(now_ps)),
            start: End::of(&nic, Duration::ZERO),
            begun: Instant::now(),
            duration,
            next: None,
            room: Room::new(&nic),
            has_ended: false,
            noted_ps: now_ps,
            attention: Attention::Idle,
            feeds_since_ps: None,
            host,
            counted: Instant::now(),
            steps: 0,
            standstill: Standstill::new(&nic),
            is_stuck: false,
            counted_before: BTreeMap::new(),
            nic: simulated.clone(),
            ends,
            recorder,
            wave,
            interrupt,
        }
    }

    /// The same run on hardware that has counted so much already.
    pub(super) fn counting_from(self, counted_before: BTreeMap<String, u64>) -> Self {
        Self {
            counted_before,
            ..self
        }
    }

    /// The whole run: its figures, and whether it came to a good end.
    ///
    /// # Errors
    /// If it cannot go on.
    pub(super) fn through(mut self) -> Result<(Finished, Result<(), Failure>), Failure> {
        self.go()?;
        self.conclude()
    }

    /// Until there is nothing more to do, or somebody wants an end.
    fn go(&mut self) -> Result<(), Failure> {
        loop {
            self.feed()?;
            let due = self.due();
            let is_idle = self.nic.borrow().is_idle() && due.is_none();
            if is_idle || self.steps.is_multiple_of(LOOK_STEPS) || self.is_due() {
                self.attend()?;
            }
            if self.attention == Attention::Over {
                return Ok(());
            }
            let has_nothing = is_idle && self.attention == Attention::Idle;
            if has_nothing && self.has_ended && !self.stays() {
                return Ok(());
            }
            match self.pacer.is_some() {
                true => self.live_step(has_nothing)?,
                false if has_nothing && self.stays() => self.sleep(SLEEP)?,
                false => {
                    self.step(due.unwrap_or(LAST_PS))?;
                }
            }
            self.pass_on()?;
            self.steps = self.steps.wrapping_add(1);
            if has_nothing || self.steps.is_multiple_of(LOOK_STEPS) {
                self.count()?;
                let waits = self.standstill.is_for_ever(&self.nic.borrow());
                let follows = self.next.as_ref().is_some_and(|next| next.follows_nic);
                self.is_stuck = waits && (self.has_ended || follows) && due.is_none() && !self.stays();
                if self.is_stuck || self.is_over() {
                    return Ok(());
                }
            }
        }
    }

    /// Whether the program on the host does not end with the packets.
    fn stays(&self) -> bool {
        self.host.as_ref().is_some_and(|host| host.stays())
    }

    /// Whether it wants to look now.
    fn is_due(&self) -> bool {
        matches!(self.attention, Attention::Until(at) if at <= self.nic.borrow().now_ps())
    }

    /// Lets the debugger and the program on the host look at the NIC.
    fn attend(&mut self) -> Result<(), Failure> {
        self.nic.borrow_mut().attend_debugger();
        if let Some(host) = &mut self.host {
            self.attention = host.poll().map_err(Failure::work)?;
            let start = self.start.simulated_ps;
            for mut call in host.take_calls() {
                for at in [&mut call.asked_ps, &mut call.taken_ps, &mut call.ended_ps] {
                    *at = at.saturating_sub(start);
                }
                self.recorder.call(&call);
            }
            if let Some(program) = self.nic.borrow_mut().take_loaded() {
                self.recorder.set_program(&program);
            }
        }
        Ok(())
    }

    /// A step of the simulation, no further than to the next look of the program on the host.
    fn step(&mut self, limit_ps: u64) -> Result<(), Failure> {
        let limit_ps = match self.attention {
            Attention::Until(at) => limit_ps.min(at),
            _ => limit_ps,
        };
        self.nic.borrow_mut().step(limit_ps).map_err(Failure::work)
    }

    /// A step that keeps time with the wall, as far as it goes.
    fn live_step(&mut self, has_nothing: bool) -> Result<(), Failure> {
        let now = self.nic.borrow().now_ps();
        let Some(pacer) = &mut self.pacer else {
            return Ok(());
        };
        if has_nothing {
            pacer.end_work(now);
            self.sleep(SLEEP)?;
            // Time goes on to where it is on the wall; nothing happens in it.
            let allowed = self.pacer.as_mut().map_or(now, |pacer| pacer.allowed_ps());
            return self.nic.borrow_mut().run_until(allowed).map_err(Failure::work);
        }
        pacer.begin_work(now);
        let allowed = pacer.allowed_ps();
        if allowed <= now {
            let ahead = pacer.until(now);
            return self.sleep(ahead);
        }
        self.step(allowed)
    }

    /// Sleeps until a packet comes, somebody wants something or an end, or the time is over.
    fn sleep(&self, time: Duration) -> Result<(), Failure> {
        let rest = self
            .duration
            .map(|duration| duration.saturating_sub(self.begun.elapsed()));
        let time = rest.unwrap_or(time).min(time);
        let ends = self.ends.wakes.iter().map(|wake| wake.as_fd());
        let host = self.host.iter().flat_map(|host| host.wakes());
        let wakes: Vec<BorrowedFd<'_>> = ends.chain(host).chain([self.interrupt.as_fd()]).collect();
        net::wait(&wakes, Some(time)).map_err(Failure::work)?;
        Ok(())
    }

    /// Whether packets may come now.
    fn takes_packets(&self) -> bool {
        self.pacer.is_some() || self.host.as_ref().is_none_or(|host| host.is_ready())
    }

    /// When the next packet comes. One that may not come yet is nothing to wait for, however late it is.
    fn due(&self) -> Option<u64> {
        let next = self.next.as_ref().filter(|_| self.takes_packets())?;
        let may_come = !next.follows_nic || self.room.is_there(&self.nic.borrow());
        may_come.then_some(next.at_ps)
    }

    /// Since when packets come: from a source that does not wait for us, always; from others, since somebody waits for
    /// them.
    fn feeds_since(&mut self, now_ps: u64) -> Option<u64> {
        let is_ready = self.takes_packets();
        if self.feeds_since_ps.is_none() && is_ready {
            self.feeds_since_ps = Some(now_ps);
        }
        self.feeds_since_ps.filter(|_| is_ready)
    }

    /// Gives the NIC what has come.
    fn feed(&mut self) -> Result<(), Failure> {
        let now = self.nic.borrow().now_ps();
        let start = self.start.simulated_ps;
        let Some(since) = self.feeds_since(now) else {
            return Ok(());
        };
        let mut nic = self.nic.borrow_mut();
        while nic.receiving() < WAITING {
            if self.next.is_none() && !self.has_ended {
                match self.ends.source.next(now - since).map_err(Failure::work)? {
                    Next::Packet { at_ps, bytes } => {
                        self.next = Some(Coming {
                            at_ps: moment(at_ps, since)?,
                            bytes,
                            follows_nic: self.ends.source.follows_nic(),
                        });
                    }
                    Next::Nothing => break,
                    Next::End => self.has_ended = true,
                }
            }
            let has_room = |next: &Coming| !next.follows_nic || self.room.is_there(&nic);
            if !self.next.as_ref().is_some_and(|next| next.at_ps <= now && has_room(next)) {
                break;
            }
            let Some(Coming { bytes, .. }) = self.next.take() else {
                break;
            };
            let handler = nic.handler_of(&bytes);
            self.room.give(&nic, handler.is_some());
            self.recorder.received(now - start, &bytes, handler);
            nic.receive(bytes);
        }
        if let Some(source) = &mut self.ends.host_source {
            while let Next::Packet { bytes, .. } = source.next(now - since).map_err(Failure::work)? {
                self.recorder.from_host(now - start, bytes.len());
                nic.transmit(bytes);
            }
        }
        Ok(())
    }

    /// Passes on what came out, and notes it.
    fn pass_on(&mut self) -> Result<(), Failure> {
        let start = self.start.simulated_ps;
        let mut nic = self.nic.borrow_mut();
        while let Some(out) = nic.take_wire() {
            let at = out.at_ps.saturating_sub(start);
            self.recorder.sent(at, out.bytes.len(), out.is_host);
            for sink in &mut self.ends.wire {
                sink.put(at, &out.bytes).map_err(Failure::work)?;
            }
        }
        while let Some(out) = nic.take_host() {
            let at = out.at_ps.saturating_sub(start);
            self.recorder.to_host(at, &out.bytes);
            for sink in &mut self.ends.host {
                sink.put(at, &out.bytes).map_err(Failure::work)?;
            }
        }
        while let Some(word) = nic.take_printed() {
            self.recorder.stdout(word);
        }
        let time = nic.cluster_time();
        for event in nic.take_events() {
            self.recorder
                .event(&event, |clock| time(clock).saturating_sub(start));
        }
        if self.recorder.wants_occupancy() && nic.now_ps() >= self.noted_ps + OCCUPANCY_PS {
            self.noted_ps = nic.now_ps();
            let occupancy = Occupancy::of(&nic);
            self.recorder.occupancy(self.noted_ps - start, &occupancy);
        }
        Ok(())
    }

    /// Reads the counters now and then, so that progress can tell what was dropped.
    fn count(&mut self) -> Result<(), Failure> {
        if self.counted.elapsed() >= COUNT {
            self.counted = Instant::now();
            let counters = self.read(ingress::ALL.iter().flat_map(Register::words))?;
            self.recorder.counters(&counters);
        }
        Ok(())
    }

    /// Shows how it goes; whether somebody wants an end.
    fn is_over(&mut self) -> bool {
        let (nic, total) = (self.nic.borrow(), self.ends.source.total());
        let start = &self.start;
        self.recorder.progress(|| {
            let cluster = nic.cluster();
            let busy: u64 = cluster.busy().sum();
            Live {
                at_ps: nic.now_ps() - start.simulated_ps,
                busy_clocks: busy - start.hpu_busy.iter().sum::<u64>(),
                cluster_ps: nic.config().cluster_ps,
                hpus: cluster.config().clusters * cluster.config().hpus,
                total,
            }
        });
        let host_data = self.recorder.host_data();
        self.recorder.watch(|| {
            let end = End::of(&nic, self.begun.elapsed()).since(start);
            end.with_handler_counters(&nic, host_data)
        });
        let is_late = self
            .duration
            .is_some_and(|duration| self.begun.elapsed() >= duration);
        is_late || self.interrupt.is_set()
    }

    /// Counters of the hardware, as software reads them, since the run began.
    fn read(&self, counters: impl Iterator<Item = Word>) -> Result<Vec<(String, u64)>, Failure> {
        let mut nic = self.nic.borrow_mut();
        let read = |word: Word| {
            let value: u64 = nic.get(word.offset()).map_err(Failure::work)?.into();
            let name = word.title().to_string();
            let before = self.counted_before.get(&name).copied().unwrap_or(0);
            let value = value + nic.counted_before_resets(word.offset());
            Ok((name, value.saturating_sub(before)))
        };
        counters.map(read).collect()
    }

    /// Ends the run and prints the result.
    fn finish(self, json: bool, allow_faults: bool) -> Result<(), Failure> {
        let interrupt = self.interrupt.clone();
        let (finished, verdict) = self.conclude()?;
        let shown = match json {
            true => print(finished.summary.to_json().map_err(Failure::work)? + "\n"),
            false => print_folded(&finished.summary),
        };
        shown.map_err(Failure::Work)?;
        finished.linger(|| interrupt.is_set());
        verdict.and_then(|()| faults::check(&finished.summary, allow_faults))
    }

    /// Lets what is on its way come out, and closes all files: the figures, and whether all went well.
    fn conclude(mut self) -> Result<(Finished, Result<(), Failure>), Failure> {
        let limit = self.nic.borrow().now_ps() + DRAIN_PS;
        let begun = Instant::now();
        while !self.is_stuck && !self.nic.borrow().is_idle() && self.nic.borrow().now_ps() < limit {
            if self.interrupt.is_set() && begun.elapsed() > PATIENCE {
                break;
            }
            if self.attention != Attention::Over {
                self.attend()?;
            }
            self.step(limit)?;
            self.pass_on()?;
            self.is_stuck = self.standstill.is_for_ever(&self.nic.borrow());
        }
        self.recorder.end_progress();
        let left = self.host.as_mut().map_or(Ok(()), |host| host.finish());
        let mut end = End::of(&self.nic.borrow(), self.begun.elapsed()).since(&self.start);
        end = end.with_handler_counters(&self.nic.borrow(), self.recorder.host_data());
        end.cut_short = self.ends.source.cut_short();
        self.is_stuck |= end.left > 0 && self.nic.borrow().is_idle();
        // Who wants an end gets it without a complaint.
        self.is_stuck &= !self.interrupt.is_set();
        let counters = self.read(datapath_counters())?;
        self.recorder.counters(&counters);
        for sink in self.ends.wire.into_iter().chain(self.ends.host) {
            sink.finish().map_err(Failure::work)?;
        }
        let nic = self.nic.borrow();
        let cluster = nic.cluster();
        let mut finished = self.recorder.finish(&end, cluster.profile());
        let verdict = match finished.failures.drain(..).next() {
            Some(failure) => Err(Failure::work(failure)),
            None if self.is_stuck => Err(Failure::Work(why_left(&cluster, end.left))),
            None => left.map_err(Failure::work),
        };
        Ok((finished, verdict))
    }
}

/// When a packet comes that comes so long after the first.
fn moment(at_ps: u64, since_ps: u64) -> Result<u64, Failure> {
    let moment = at_ps.checked_add(since_ps).filter(|moment| *moment <= LAST_PS);
    moment.ok_or_else(|| {
        let days = |ps: u64| ps / DAY_PS;
        Failure::Work(anyhow!(
            "a packet comes {} days after the first, and simulated time ends after {}",
            days(at_ps),
            days(LAST_PS)
        ))
    })
}
