//! The stand-in for the cluster between bus models, with a checker of every burst and HER.

mod hers;

use crate::bench::Finish;
use hers::{LINE, Seen, check_her};
use spinneret_sim::prelude::*;
use std::collections::{BTreeMap, VecDeque};

pub use hers::{Her, MemoryMap};

/// Stimulus of a stand-in: pauses, delays and faults.
#[derive(Clone, Debug, Default)]
pub struct Stimulus {
    /// All channels of the three masters and of the host, HERs, feedback and commands.
    pub pause: Pause,
    /// Most clocks from a command to its response, and most from a burst of the host to its answer.
    pub delay: u64,
    /// Probability in percent that stdout is not read in a clock.
    pub unread_percent: u32,
    /// Slave that takes writes to the host.
    pub writes: SlaveConfig,
    /// Slave that answers reads of the host.
    pub reads: SlaveConfig,
}

/// The stand-in with bus models on all its ports; all outputs are checked.
#[derive(Debug)]
pub struct StubBench<M: Model> {
    /// The simulation; [`cycle`](Self::cycle) of the bench runs it.
    pub sim: Simulation<M>,
    /// Address map of the memory.
    pub memory_map: MemoryMap,
    /// The masters at `ni`, `no` and `host`.
    pub masters: [AxiMaster; 3],
    /// Commands of the cluster.
    pub commands: ChannelSink,
    /// Feedback of the cluster.
    pub feedback: ChannelSink,
    /// Expected contents of the memory.
    pub memory: Memory,
    /// Words of stdout that were read.
    pub words: u64,
    /// HERs that were done.
    pub done: u64,
    /// Whether stdout is read at all. A word that arrives while it is full is dropped.
    pub reads_stdout: bool,
    writes: AxiSlave,
    reads: AxiSlave,
    hers: ChannelSource,
    responses: ChannelSource,
    rng: ChaCha8Rng,
    stimulus: Stimulus,
    /// HERs that are not done.
    open: VecDeque<Her>,
    seen: Seen,
    /// The number of the next command.
    command: u64,
    /// Commands that wait for their response: when it is given, and the id.
    unanswered: VecDeque<(u64, u64)>,
    /// Words that stdout has to give, and those that it gave before the feedback of their HER.
    expected: VecDeque<u32>,
    given: VecDeque<u32>,
    /// The word that was seen and not taken.
    offered: Option<u32>,
    /// Expected results of reads, by master and number.
    wanted: BTreeMap<(usize, u64), (Burst, Response, Memory)>,
    /// Expected responses to writes, by master and number.
    written: BTreeMap<(usize, u64), Response>,
    stdout: [PortHandle; 3],
}

impl<M: Model> StubBench<M> {
    /// Puts bus models around a stand-in and resets it.
    ///
    /// # Panics
    /// If the design is no stand-in.
    pub fn new(mut sim: Simulation<M>, stimulus: Stimulus) -> Self {
        sim.set_cycle_limit(u64::MAX);
        let pause = &stimulus.pause;
        let config = || MasterConfig {
            pauses: MasterPauses::all(pause),
            skew: Skew::Random { most: 3 },
        };
        let masters = ["ni", "no", "host"].map(|prefix| sim.axi_master(prefix, config()));
        for master in &masters {
            // Illegal bursts are sent on purpose.
            let monitors = [master.write_monitor(), master.read_monitor()];
            monitors.iter().flatten().for_each(AxiMonitor::check_slave_only);
        }
        let writes = sim.axi_write_slave("m_axi", stimulus.writes.clone());
        let shared = writes.shared_memory();
        let reads = AxiSlave::attach(&mut sim, "m_axi", Half::Read, stimulus.reads.clone(), shared);
        let her = [
            "msgid",
            "addr",
            "size",
            "xfer_size",
            "host_mem_addr",
            "handler_mem_addr",
            "ph_addr",
        ];
        let port = |sim: &Simulation<M>, name: &str| {
            let found = sim.dut.instance().find(name);
            found.unwrap_or_else(|| panic!("no port {name}"))
        };
        let bench = Self {
            reads: reads.unwrap_or_else(|error| panic!("{error}")),
            hers: sim.channel_source("her", &her, pause.clone()),
            feedback: sim.channel_sink("feedback", &["addr", "size", "msgid"], pause.clone()),
            commands: sim.channel_sink("command", &["id", "src_addr", "length"], pause.clone()),
            responses: sim.channel_source("response", &["data"], Pause::Never),
            stdout: ["stdout_rd_en", "stdout_dout", "stdout_data_valid"].map(|name| port(&sim, name)),
            rng: sim.rng("stand-in"),
            memory_map: MemoryMap::of::<M>(),
            masters,
            writes,
            memory: Memory::default(),
            words: 0,
            done: 0,
            reads_stdout: true,
            stimulus,
            open: VecDeque::new(),
            seen: Seen::default(),
            command: 0,
            unanswered: VecDeque::new(),
            expected: VecDeque::new(),
            given: VecDeque::new(),
            offered: None,
            wanted: BTreeMap::new(),
            written: BTreeMap::new(),
            sim,
        };
        let mut bench = bench;
        bench.reset();
        bench.enable(3);
        bench
    }

    /// Sets the fetch enable of the clusters.
    pub fn enable(&mut self, clusters: u64) {
        self.sim.set("fetch_enable", clusters);
    }

    /// Resets the stand-in; what is in flight is forgotten, and with it what the memory holds where it is written.
    pub fn reset(&mut self) {
        self.sim.reset();
        for master in &self.masters {
            master.clear();
            drop(master.take_writes());
            drop(master.take_reads());
        }
        self.hers.clear();
        self.responses.clear();
        drop(self.commands.receive_all());
        drop(self.feedback.receive_all());
        drop(self.writes.take_bursts());
        drop(self.reads.take_bursts());
        self.open.clear();
        self.seen = Seen::default();
        (self.command, self.done, self.offered) = (0, 0, None);
        self.unanswered.clear();
        self.expected.clear();
        self.given.clear();
        self.wanted.clear();
        self.written.clear();
        self.memory = Memory::default();
    }

    /// Writes a burst. The expected memory changes at once, so these bytes must not be read before the response.
    pub fn write(&mut self, master: usize, request: WriteRequest) {
        let burst = request.burst;
        let response = self.response(&burst);
        if response == Response::Okay {
            for (number, beat) in (0..).zip(&request.beats) {
                let place = self.memory_map.offset(burst.beat_address(number) & !(LINE - 1));
                self.memory.write(place.unwrap_or(0), &beat.bytes, beat.strobes);
            }
        }
        let number = self.masters[master].write(request.illegal());
        self.written.insert((master, number), response);
    }

    /// Reads a burst and compares what comes with what the memory has to hold now.
    pub fn read(&mut self, master: usize, burst: Burst) {
        let response = self.response(&burst);
        let mut lines = Memory::default();
        for number in 0..burst.beats {
            let line = burst.beat_address(number) & !(LINE - 1);
            let place = self.memory_map.offset(line).unwrap_or(0);
            for (offset, byte) in (0..).zip(self.memory.read(place, LINE as usize)) {
                if let Some(byte) = byte {
                    lines.fill(line + offset, &[byte]);
                }
            }
        }
        let number = self.masters[master].read(ReadRequest::new(burst).illegal());
        self.wanted.insert((master, number), (burst, response, lines));
    }

    /// Returns the expected response to a burst.
    fn response(&self, burst: &Burst) -> Response {
        if burst.kind != BurstKind::Incrementing || burst.size > LINE {
            Response::SlaveError
        } else if self.memory_map.offset(burst.address).is_none() {
            Response::DecodeError
        } else {
            Response::Okay
        }
    }

    /// Sends a HER; the host holds random bytes where it reads.
    pub fn send(&mut self, her: Her) {
        if her.fetches() {
            let bytes: [u8; LINE as usize] = self.rng.random();
            self.reads.memory_mut().fill(her.fetched_line(), &bytes);
        }
        self.hers.send(&her.fields());
        self.open.push_back(her);
    }

    /// HERs that were not done.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// HERs that the stand-in has not taken.
    pub fn waiting(&self) -> usize {
        self.hers.waiting()
    }

    /// Simulates a clock and checks all outputs.
    ///
    /// # Panics
    /// At the first error.
    pub fn cycle(&mut self) {
        self.stdout();
        while let Some((_, id)) = self
            .unanswered
            .pop_front_if(|(due, _)| *due <= self.sim.cycle_count())
        {
            self.responses.send(&[id]);
        }
        self.sim.cycle();
        let observed = self.observe();
        self.sim.expect(observed);
    }

    /// Simulates some clocks.
    pub fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.cycle();
        }
    }

    /// Runs until everything is answered and done.
    pub fn settle(&mut self) {
        while !self.masters.iter().all(AxiMaster::is_idle)
            || !self.open.is_empty()
            || (self.reads_stdout && !self.expected.is_empty())
        {
            self.cycle();
        }
    }

    /// Reads stdout or not. Its ports are registers, so they show before the clock what the edge will see.
    fn stdout(&mut self) {
        let [enable, word, valid] = self.stdout;
        let word = self.sim.dut.instance().value(word) as u32;
        let is_valid = self.sim.dut.instance().is_high(valid);
        let takes = self.reads_stdout && self.rng.random_range(0..100) >= self.stimulus.unread_percent;
        self.sim.dut.instance_mut().set_high(enable, takes);
        if let Some(offered) = self.offered.take() {
            assert!(is_valid && word == offered, "a word of stdout went away");
        }
        if is_valid && !takes {
            self.offered = Some(word);
        }
        if is_valid && takes {
            self.given.push_back(word);
            self.words += 1;
        }
    }

    fn observe(&mut self) -> Result<(), String> {
        for master in 0..self.masters.len() {
            for done in self.masters[master].take_writes() {
                let expected = self.written.remove(&(master, done.number));
                if expected != Some(done.response) {
                    return Err(format!("{done:x?} instead of {expected:?}"));
                }
            }
            for done in self.masters[master].take_reads() {
                self.compare(master, &done)?;
            }
        }
        self.seen.reads.extend(self.reads.take_bursts());
        self.seen.writes.extend(self.writes.take_bursts());
        for command in self.commands.receive_all() {
            if self.sim.get("command_zero") != 0 {
                return Err("a command has a nid, fid or user pointer".to_owned());
            }
            let due = command.cycle + self.rng.random_range(0..=self.stimulus.delay);
            self.unanswered.push_back((due, command.values[0]));
            self.seen.commands.push(command);
        }
        self.check_feedback()?;
        while let (Some(given), Some(expected)) = (self.given.front(), self.expected.front()) {
            if given != expected {
                return Err(format!("stdout gave {given:#x} instead of {expected:#x}"));
            }
            let _ = self.given.pop_front();
            let _ = self.expected.pop_front();
        }
        Ok(())
    }

    fn check_feedback(&mut self) -> Result<(), String> {
        while let Some(feedback) = self.feedback.receive() {
            let her = self.open.pop_front().ok_or("there is feedback for nothing")?;
            let seen = std::mem::take(&mut self.seen);
            let (words, copied) = check_her(&her, &seen, &feedback, self.command)?;
            self.command = (self.command + seen.commands.len() as u64) % 64;
            self.expected.extend(words);
            if !self.reads_stdout {
                // Without a reader, stdout is full.
                self.expected.truncate(self.memory_map.words as usize);
            }
            self.settle_memories(&her, &seen, &copied)?;
            self.done += 1;
        }
        Ok(())
    }

    /// Checks the bytes that a HER read from the host into the memory and copied to the host.
    fn settle_memories(
        &mut self,
        her: &Her,
        seen: &Seen,
        copied: &[(u64, std::ops::Range<usize>)],
    ) -> Result<(), String> {
        if seen.reads.iter().any(|read| read.response == Response::Okay) {
            let place = self.memory_map.offset(her.handler & !(LINE - 1)).unwrap_or(0);
            let mut bytes = [0; LINE as usize];
            self.reads.memory().overlay(her.fetched_line(), &mut bytes);
            self.memory.fill(place, &bytes);
        }
        let place = self.memory_map.offset(her.address).unwrap_or(0);
        let packet = self.memory.read(place, her.size as usize);
        for (at, range) in copied {
            let bytes: Option<Vec<u8>> = packet[range.clone()].iter().copied().collect();
            let bytes = bytes.ok_or_else(|| format!("{her:x?} copies bytes that were never written"))?;
            if let Some(wrong) = self.writes.memory().first_difference(*at, &bytes) {
                return Err(format!("{her:x?} copied a wrong byte to {wrong:#x}"));
            }
        }
        Ok(())
    }

    fn compare(&mut self, master: usize, done: &ReadDone) -> Result<(), String> {
        let expected = self.wanted.remove(&(master, done.number));
        let (burst, response, lines) = expected.ok_or("an unexpected read")?;
        for (number, beat) in (0..).zip(&done.beats) {
            if beat.response != response {
                return Err(format!("{burst:x?}: {:?} instead of {response:?}", beat.response));
            }
            let line = burst.beat_address(number) & !(LINE - 1);
            for (lane, byte) in (0..).zip(&beat.bytes) {
                let wanted = match response {
                    Response::Okay => lines.byte(line + lane),
                    _ => Some(0),
                };
                if wanted.is_some_and(|wanted| wanted != *byte) {
                    return Err(format!("{burst:x?}, beat {number}, lane {lane}: {byte:#x}"));
                }
            }
        }
        Ok(())
    }
}

impl<M: Model> Finish for StubBench<M> {
    fn finish(mut self) {
        self.settle();
        self.run(4);
        assert_eq!((self.sim.get("busy"), self.sim.get("active")), (0, 0));
        assert_eq!(self.sim.get("eoc"), if self.done > 0 { 3 } else { 0 });
        assert_eq!(
            (self.sim.get("mpq_full"), self.sim.get("stdout_data_valid")),
            (0, 0)
        );
        assert!(self.given.is_empty(), "stdout has words that were never printed");
        self.sim.finish();
    }
}
