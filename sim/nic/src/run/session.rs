//! One run of a command: arrival of packets, synchronization with real time, and the end of the run.

use super::host::HostStep;
use super::main_loop::{MainLoop, WAITING};
use super::setup::Setup;
use super::wave::Wave;
use super::{RunArguments, check_faults, setup};
use crate::gdb::Gdb;
use crate::net;
use crate::net::{Interrupt, Next, Pacer};
use crate::nic::{DAY_PS, LAST_PS, Nic};
use crate::report::{End, Finished, Live};
use crate::terminal::{Failure, print, print_folded};
use anyhow::{Result, anyhow};
use spinneret_cluster::{Event, HpuId};
use spinneret_regmap::{Register, Word, datapath_counters, ingress};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

/// Steps of the simulation between checks of real time.
const LOOK_STEPS: u32 = 64;
/// Interval between reads of the hardware's counters during the run.
const COUNT: Duration = Duration::from_secs(1);
/// Maximum sleep while a live source is idle.
const SLEEP: Duration = Duration::from_millis(200);
/// Maximum simulated time to drain packets after the last one.
const DRAIN_PS: u64 = 1_000_000_000_000;
/// Maximum real time to drain packets after Ctrl-C.
const PATIENCE: Duration = Duration::from_secs(2);

/// Runs the command and prints its result.
///
/// # Errors
/// If an argument cannot be used, or the run fails. An interrupted run does not fail.
pub fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let (mut setup, interrupt) = setup::open(arguments)?;
    if let Some(gdb) = &mut setup.gdb {
        gdb.wait(&interrupt)?;
    }
    let session = Session::new(setup, arguments.packets.live.duration, interrupt);
    finish(session, arguments.results.json, arguments.allow_faults)
}

/// Completes a run and prints its result.
///
/// # Errors
/// If it fails, or handlers have failed without `--allow-faults`.
pub(super) fn finish(mut session: Session, json: bool, allow_faults: bool) -> Result<(), Failure> {
    let wave = session.wave.take();
    let done = session.show(json, allow_faults);
    // Dropping the hardware has closed the waveform.
    done.and(wave.map_or(Ok(()), Wave::finish))
}

/// A packet that was taken from its source.
struct NextPacket {
    /// Arrival time.
    at_ps: u64,
    bytes: Vec<u8>,
    /// Whether it also waits for room in the NIC.
    follows_nic: bool,
}

/// A run.
pub(super) struct Session {
    run: MainLoop,
    wave: Option<Wave>,
    /// Time at which packets started.
    feeds_since_ps: Option<u64>,
    interrupt: Interrupt,
    /// Synchronizes with real time, for live sources.
    pacer: Option<Pacer>,
    next: Option<NextPacket>,
    /// Arrival time of the last packet.
    last_ps: u64,
    admission: Admission,
    has_ended: bool,
    start: End,
    begun: Instant,
    duration: Option<Duration>,
    counted: Instant,
    steps: u32,
    standstill: StuckDetector,
    is_stuck: bool,
    /// Counters of the hardware before the run.
    counted_before: BTreeMap<String, u64>,
}

impl Session {
    /// A run that begins now, and ends after `duration` at the latest.
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
        // Events of start-up are not part of the run, but refused commands are reported.
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
            last_ps: 0,
            admission: Admission::new(&nic),
            has_ended: false,
            feeds_since_ps: None,
            counted: Instant::now(),
            steps: 0,
            standstill: StuckDetector::new(&nic),
            is_stuck: false,
            counted_before: BTreeMap::new(),
            run: MainLoop::new(simulated.clone(), ends, recorder, host, now_ps),
            wave,
            interrupt,
        }
    }

    /// A run on hardware with these counts.
    pub(super) fn counting_from(self, counted_before: BTreeMap<String, u64>) -> Self {
        Self {
            counted_before,
            ..self
        }
    }

    /// The whole run: its figures, and whether it succeeded.
    ///
    /// # Errors
    /// If the simulation fails.
    pub(super) fn through(mut self) -> Result<(Finished, Result<()>)> {
        self.go()?;
        self.conclude()
    }

    /// Runs until there is nothing left to do, or an interrupt.
    fn go(&mut self) -> Result<()> {
        loop {
            self.feed()?;
            let due = self.due();
            let is_idle = self.run.nic.borrow().is_idle() && due.is_none();
            if is_idle || self.steps.is_multiple_of(LOOK_STEPS) || self.run.is_due() {
                self.run.attend()?;
            }
            if self.run.attention == HostStep::Done {
                return Ok(());
            }
            let has_nothing = is_idle && self.run.attention == HostStep::Idle;
            if has_nothing && self.has_ended && !self.stays() {
                return Ok(());
            }
            match self.pacer.as_ref().map(Pacer::allowed_ps) {
                Some(allowed_ps) => self.live_step(allowed_ps, has_nothing)?,
                None if has_nothing && self.stays() => self.sleep(SLEEP)?,
                None => self.run.step(due.unwrap_or(LAST_PS))?,
            }
            self.run.pass_on()?;
            self.steps = self.steps.wrapping_add(1);
            if has_nothing || self.steps.is_multiple_of(LOOK_STEPS) {
                self.count()?;
                let waits = self.standstill.is_stuck_now(&self.run.nic.borrow());
                let follows = self.next.as_ref().is_some_and(|next| next.follows_nic);
                self.is_stuck = waits && (self.has_ended || follows) && due.is_none() && !self.stays();
                if self.is_stuck || self.is_over() {
                    return Ok(());
                }
            }
        }
    }

    /// Whether the host program continues after the last packet.
    fn stays(&self) -> bool {
        self.run.host.as_ref().is_some_and(|host| host.stays())
    }

    /// A step that keeps simulated time behind real time.
    fn live_step(&mut self, allowed_ps: u64, has_nothing: bool) -> Result<()> {
        let now_ps = self.run.nic.borrow().now_ps();
        if has_nothing {
            self.sleep(SLEEP)?;
            // Nothing happens until real time has reached simulated time.
            let allowed_ps = self.pacer.as_ref().map_or(now_ps, Pacer::allowed_ps);
            return Ok(self.run.nic.borrow_mut().run_until(allowed_ps)?);
        }
        if allowed_ps <= now_ps {
            let ahead = self
                .pacer
                .as_ref()
                .map_or(Duration::ZERO, |pacer| pacer.until(now_ps));
            return self.sleep(ahead);
        }
        self.run.step(allowed_ps)
    }

    /// Sleeps until a packet, a request or an interrupt, or until the time has passed.
    fn sleep(&self, time: Duration) -> Result<()> {
        let rest = self
            .duration
            .map(|duration| duration.saturating_sub(self.begun.elapsed()));
        let time = rest.unwrap_or(time).min(time);
        let ends = self.run.ends.wakes.iter().map(|wake| wake.as_fd());
        let host = self.run.host.iter().flat_map(|host| host.wakes());
        let wakes: Vec<BorrowedFd<'_>> = ends.chain(host).chain([self.interrupt.as_fd()]).collect();
        net::wait(&wakes, Some(time))?;
        Ok(())
    }

    /// Whether packets may start.
    fn takes_packets(&self) -> bool {
        self.pacer.is_some() || self.run.host.as_ref().is_none_or(|host| host.is_ready())
    }

    /// Arrival time of the next packet, if packets may start.
    fn due(&self) -> Option<u64> {
        let next = self.next.as_ref().filter(|_| self.takes_packets())?;
        let may_come = !next.follows_nic || self.admission.is_there(&self.run.nic.borrow());
        may_come.then_some(next.at_ps)
    }

    /// Time at which packets start: at once from live sources; from others, when software waits for
    /// them.
    fn feeds_since(&mut self, now_ps: u64) -> Option<u64> {
        let is_ready = self.takes_packets();
        if self.feeds_since_ps.is_none() && is_ready {
            self.feeds_since_ps = Some(now_ps);
        }
        self.feeds_since_ps.filter(|_| is_ready)
    }

    /// Sends due packets into the NIC.
    fn feed(&mut self) -> Result<()> {
        let now = self.run.nic.borrow().now_ps();
        let Some(since) = self.feeds_since(now) else {
            return Ok(());
        };
        let MainLoop {
            nic,
            ends,
            recorder,
            start_ps,
            ..
        } = &mut self.run;
        let mut nic = nic.borrow_mut();
        while nic.receiving() < WAITING {
            if self.next.is_none() && !self.has_ended {
                let (at_ps, bytes, follows_nic) = match ends.source.next(now - since)? {
                    Next::Packet { at_ps, bytes } => (moment(at_ps, since)?, bytes, false),
                    Next::WithRoom(bytes) => (self.last_ps.max(since), bytes, true),
                    Next::Nothing => break,
                    Next::End => {
                        self.has_ended = true;
                        break;
                    }
                };
                self.last_ps = at_ps;
                self.next = Some(NextPacket {
                    at_ps,
                    bytes,
                    follows_nic,
                });
            }
            let comes = |next: &mut NextPacket| {
                next.at_ps <= now && (!next.follows_nic || self.admission.is_there(&nic))
            };
            let Some(NextPacket { bytes, .. }) = self.next.take_if(comes) else {
                break;
            };
            let handler = nic.matching_handler(&bytes);
            self.admission.give(&nic, handler.is_some());
            recorder.received(now - *start_ps, &bytes, handler);
            nic.receive(bytes);
        }
        drop(nic);
        self.run.feed_from_host(since).map(drop)
    }

    /// Reads the counters at intervals, so that progress shows dropped packets.
    fn count(&mut self) -> Result<()> {
        if self.counted.elapsed() >= COUNT {
            self.counted = Instant::now();
            let counters = self.read(ingress::ALL.iter().flat_map(Register::words))?;
            self.run.recorder.counters(&counters);
        }
        Ok(())
    }

    /// Shows progress; returns whether the run was interrupted.
    fn is_over(&mut self) -> bool {
        let (mut nic, total) = (self.run.nic.borrow_mut(), self.run.ends.source.total());
        let (start, recorder) = (&self.start, &mut self.run.recorder);
        recorder.progress(|| {
            let busy = nic.cluster().busy();
            Live {
                at_ps: nic.now_ps() - start.simulated_ps,
                busy_clocks: busy.iter().sum::<u64>() - start.hpu_busy.iter().sum::<u64>(),
                cluster_ps: nic.config().cluster_ps,
                hpus: busy.len(),
                total,
            }
        });
        let host_data = recorder.host_data();
        recorder.watch(|| {
            let end = End::of(&nic, self.begun.elapsed()).since(start);
            end.with_handler_counters(&mut nic, host_data)
        });
        let is_late = self
            .duration
            .is_some_and(|duration| self.begun.elapsed() >= duration);
        is_late || self.interrupt.is_set()
    }

    /// Counters of the hardware since the start of the run.
    fn read(&self, counters: impl Iterator<Item = Word>) -> Result<Vec<(String, u64)>> {
        let mut nic = self.run.nic.borrow_mut();
        let read = |word: Word| {
            let value: u64 = nic.get(word.offset())?.into();
            let name = word.title().to_string();
            let before = self.counted_before.get(&name).copied().unwrap_or(0);
            let value = value + nic.counted_before_resets(word.offset());
            Ok((name, value.saturating_sub(before)))
        };
        counters.map(read).collect()
    }

    /// Completes the run and prints the result.
    fn show(self, json: bool, allow_faults: bool) -> Result<(), Failure> {
        let interrupt = self.interrupt.clone();
        let (finished, verdict) = self.through().map_err(Failure::Work)?;
        let shown = match json {
            true => print(finished.summary.to_json().map_err(Failure::work)? + "\n"),
            false => print_folded(&finished.summary),
        };
        shown.map_err(Failure::Work)?;
        finished.linger(|| interrupt.is_set());
        verdict.map_err(Failure::Work)?;
        check_faults(&finished.summary, allow_faults)
    }

    /// Drains packets, and closes all files: the figures, and whether the run succeeded.
    fn conclude(mut self) -> Result<(Finished, Result<()>)> {
        let nic = self.run.nic.clone();
        let limit = nic.borrow().now_ps() + DRAIN_PS;
        let begun = Instant::now();
        while !self.is_stuck && !nic.borrow().is_idle() && nic.borrow().now_ps() < limit {
            if self.interrupt.is_set() && begun.elapsed() > PATIENCE {
                break;
            }
            if self.run.attention != HostStep::Done {
                self.run.attend()?;
            }
            self.run.step(limit)?;
            self.run.pass_on()?;
            self.is_stuck = self.standstill.is_stuck_now(&nic.borrow());
        }
        self.run.recorder.end_progress();
        let left = self.run.host.as_mut().map_or(Ok(()), |host| host.finish());
        let mut end = End::of(&nic.borrow(), self.begun.elapsed()).since(&self.start);
        end = end.with_handler_counters(&mut nic.borrow_mut(), self.run.recorder.host_data());
        end.cut_short = self.run.ends.source.cut_short();
        self.is_stuck |= end.left > 0 && nic.borrow().is_idle();
        // Packets that an interrupt leaves in the cluster are not stuck.
        self.is_stuck &= !self.interrupt.is_set();
        let counters = self.read(datapath_counters())?;
        let MainLoop {
            ends, mut recorder, ..
        } = self.run;
        recorder.counters(&counters);
        for sink in ends.wire.into_iter().chain(ends.host) {
            sink.finish()?;
        }
        let nic = nic.borrow();
        let mut finished = recorder.finish(&end, nic.cluster().profile().as_ref());
        let verdict = match finished.failures.drain(..).next() {
            Some(failure) => Err(failure.into()),
            None if self.is_stuck => Err(why_left(&nic, end.left)),
            None => left,
        };
        Ok((finished, verdict))
    }
}

/// Arrival time of a packet at an offset from the first one.
fn moment(at_ps: u64, since_ps: u64) -> Result<u64> {
    let moment = at_ps.checked_add(since_ps).filter(|moment| *moment <= LAST_PS);
    moment.ok_or_else(|| {
        let days = |ps: u64| ps / DAY_PS;
        anyhow!(
            "a packet comes {} days after the first, and simulated time ends after {}",
            days(at_ps),
            days(LAST_PS)
        )
    })
}

/// Packets sent at the speed of the NIC wait while this many are between wire and cluster: none is dropped.
const AHEAD: u64 = 4;
/// They wait while the cluster has this many per HPU: no HPU runs out of work.
const INSIDE_FOR_HPU: u64 = 4;
/// Simulated time without progress after which packets in the cluster are stuck.
const STUCK_PS: u64 = 1_000_000_000;

/// Admission of packets that are sent at the speed of the NIC.
#[derive(Clone, Copy, Debug)]
pub(super) struct Admission {
    /// HERs that the cluster receives for all packets so far.
    expected: u64,
}

impl Admission {
    /// Before the first packet.
    pub(super) fn new(nic: &Nic) -> Self {
        Self {
            expected: nic.cluster().hers(),
        }
    }

    /// Whether the NIC takes another packet without dropping one.
    pub(super) fn is_there(self, nic: &Nic) -> bool {
        let cluster = nic.cluster();
        let [small, large] = cluster.packets_inside();
        let hpus = u64::from(cluster.shape().iter().product::<u32>());
        let on_their_way = self.expected.saturating_sub(cluster.hers());
        (on_their_way < AHEAD && small + large < INSIDE_FOR_HPU * hpus) || nic.is_idle()
    }

    /// Counts a packet that is sent into the NIC now.
    pub(super) fn give(&mut self, nic: &Nic, for_handlers: bool) {
        let came = nic.cluster().hers();
        // A dropped frame never arrives. None is in flight when the NIC is idle.
        let expected = if nic.is_idle() {
            came
        } else {
            self.expected.max(came)
        };
        self.expected = expected + u64::from(for_handlers);
    }
}

/// Detects packets that are stuck in the cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct StuckDetector {
    /// Time of the last check with an empty cluster or with progress, and the progress counter then.
    since_ps: u64,
    progress: u64,
}

impl StuckDetector {
    /// Starts the detection.
    pub(super) fn new(nic: &Nic) -> Self {
        Self {
            since_ps: nic.now_ps(),
            progress: nic.cluster().progress(),
        }
    }

    /// Whether packets in the cluster are stuck. Called also while packets arrive, because idle time
    /// would count otherwise.
    pub(super) fn is_stuck_now(&mut self, nic: &Nic) -> bool {
        let cluster = nic.cluster();
        let progress = cluster.progress();
        // Copies to L1 happen before an HPU has the packet, so they count as progress as well.
        if cluster.packets_inside() == [0; 2] || cluster.goes_on() || progress != self.progress {
            *self = Self {
                since_ps: nic.now_ps(),
                progress,
            };
        }
        nic.now_ps() - self.since_ps > STUCK_PS
    }
}

/// The error message for packets that are left in the cluster.
pub(super) fn why_left(nic: &Nic, left: u64) -> anyhow::Error {
    let Some((HpuId { cluster, core }, task)) = nic.cluster().endless() else {
        return anyhow!(
            "{left} packets are stuck in the cluster: HPUs have stopped, or packets wait for others"
        );
    };
    anyhow!(
        "{left} packets are stuck in the cluster: HPU {cluster}.{core} has had packet {} (message {}) for more than {} clocks \
         (--watchdog), and with --strict-pspin there is no watchdog",
        task.packet,
        task.her.message,
        nic.config().cluster.watchdog,
    )
}
