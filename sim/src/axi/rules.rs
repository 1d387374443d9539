//! Follows reads from their address to their last beat, and checks the rules that join the channels.

use super::burst::{Burst, Request};
use super::memory::Memory;
use std::collections::{BTreeMap, VecDeque};

/// A read that waits for data.
#[derive(Clone, Copy, Debug)]
struct OpenRead {
    address: u64,
    beats: u64,
    /// Beats that were transferred.
    done: u64,
    exclusive: bool,
    atomic: bool,
}

/// All reads in flight.
#[derive(Debug)]
pub(super) struct ReadRules {
    bus_bytes: u64,
    /// Whether faults of the master within bursts are errors.
    checks_master: bool,
    /// By id, oldest first; ids that wait for nothing are not there.
    open: BTreeMap<u64, VecDeque<OpenRead>>,
}

impl ReadRules {
    pub(super) fn new(bus_bytes: usize) -> Self {
        Self {
            bus_bytes: bus_bytes as u64,
            checks_master: true,
            open: BTreeMap::new(),
        }
    }

    /// From now on, ignores what only a master can do wrong within a burst.
    pub(super) fn check_slave_only(&mut self) {
        self.checks_master = false;
    }

    /// Discards everything in flight.
    pub(super) fn reset(&mut self) {
        self.open.clear();
    }

    /// Reads that wait for data.
    pub(super) fn under_way(&self) -> usize {
        self.open.values().map(VecDeque::len).sum()
    }

    /// The address of a read was transferred.
    pub(super) fn address(&mut self, request: Request) -> Result<(), String> {
        if self.checks_master {
            request.burst.check(self.bus_bytes)?;
        }
        self.open(request, request.burst.beats, false)
    }

    /// The address of a write was transferred; one that loads is answered as a read is.
    pub(super) fn atomic(&mut self, request: Request) -> Result<(), String> {
        match request.loaded_beats() {
            Some(beats) => self.open(request, beats, true),
            None => Ok(()),
        }
    }

    fn open(&mut self, request: Request, beats: u64, atomic: bool) -> Result<(), String> {
        let burst = request.burst;
        let queue = self.open.entry(burst.id).or_default();
        let shared = queue.front().is_some_and(|other| atomic || other.atomic);
        queue.push_back(OpenRead {
            address: burst.address,
            beats,
            done: 0,
            exclusive: request.exclusive && !atomic,
            atomic,
        });
        if shared && self.checks_master {
            let id = burst.id;
            return Err(format!("an atomic operation shares id {id} with another burst"));
        }
        Ok(())
    }

    /// A beat is on the bus.
    pub(super) fn offer(&self, id: u64, code: u8, last: bool) -> Result<(), String> {
        let Some(read) = self.open.get(&id).and_then(VecDeque::front) else {
            return Err(format!("a beat for id {id}, which has no read under way"));
        };
        let (number, beats, address) = (read.done + 1, read.beats, read.address);
        if last != (number == beats) {
            let wrong = if last { "comes with" } else { "comes without" };
            return Err(format!(
                "beat {number} of {beats} from {address:#x} for id {id} {wrong} RLAST"
            ));
        }
        if code == 1 && !read.exclusive {
            return Err("RRESP is EXOKAY for a burst that is not exclusive".to_owned());
        }
        Ok(())
    }

    /// The beat was transferred.
    pub(super) fn take(&mut self, id: u64) {
        let Some(queue) = self.open.get_mut(&id) else {
            return;
        };
        if let Some(read) = queue.front_mut() {
            read.done += 1;
            if read.done == read.beats {
                queue.pop_front();
            }
        }
        if queue.is_empty() {
            self.open.remove(&id);
        }
    }
}

/// One beat of write data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteBeat {
    /// All lanes of the bus.
    pub bytes: Vec<u8>,
    /// WSTRB, one bit for each lane.
    pub strobes: u128,
    /// WLAST.
    pub last: bool,
}

impl WriteBeat {
    /// The rule that it breaks as the beat with that number of a burst, if any.
    pub(super) fn check(&self, burst: &Burst, number: u64) -> Result<(), String> {
        let allowed = burst.lanes(number, self.bytes.len() as u64);
        let name = || format!("beat {} of {} at {:#x}", number + 1, burst.beats, burst.address);
        if self.strobes & !allowed != 0 {
            return Err(format!(
                "{} has strobes {:#x} outside of the bytes it addresses, {allowed:#x}",
                name(),
                self.strobes
            ));
        }
        let is_last = number + 1 == burst.beats;
        if self.last != is_last {
            let wrong = if is_last { "comes without" } else { "comes with" };
            return Err(format!("{} {wrong} WLAST", name()));
        }
        Ok(())
    }
}

/// A burst whose address and data are complete.
#[derive(Clone, Debug)]
pub(super) struct Finished {
    pub(super) request: Request,
    pub(super) beats: Vec<WriteBeat>,
}

impl Finished {
    /// Writes its bytes.
    pub(super) fn write_to(&self, memory: &mut Memory) {
        for (number, beat) in self.beats.iter().enumerate() {
            let address = self.request.burst.beat_address(number as u64);
            let bus = beat.bytes.len() as u64;
            memory.write(address - address % bus, &beat.bytes, beat.strobes);
        }
    }

    /// How many bytes its strobes name.
    pub(super) fn bytes(&self) -> u64 {
        let strobed = self.beats.iter().map(|beat| beat.strobes.count_ones());
        strobed.map(u64::from).sum()
    }

    /// The addresses that its strobes name.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u64> {
        self.beats.iter().enumerate().flat_map(|(number, beat)| {
            let address = self.request.burst.beat_address(number as u64);
            let bus = beat.bytes.len();
            let start = address - address % bus as u64;
            let lanes = (0..bus).filter(|lane| beat.strobes >> lane & 1 == 1);
            lanes.map(move |lane| start.wrapping_add(lane as u64))
        })
    }
}

/// All bursts in flight.
#[derive(Debug)]
pub(super) struct WriteRules {
    bus_bytes: u64,
    /// Whether faults of the master within bursts are errors.
    checks_master: bool,
    /// Bursts whose data is not complete, oldest first.
    open: VecDeque<Request>,
    /// Data of the oldest open burst, or data that came before any address.
    beats: Vec<WriteBeat>,
    /// Ids of bursts that wait for their response, and whether they are exclusive, oldest first.
    unanswered: VecDeque<(u64, bool)>,
}

impl WriteRules {
    pub(super) fn new(bus_bytes: usize) -> Self {
        Self {
            bus_bytes: bus_bytes as u64,
            checks_master: true,
            open: VecDeque::new(),
            beats: Vec::new(),
            unanswered: VecDeque::new(),
        }
    }

    /// From now on, ignores what only a master can do wrong within a burst.
    pub(super) fn check_slave_only(&mut self) {
        self.checks_master = false;
    }

    /// Discards everything in flight.
    pub(super) fn reset(&mut self) {
        self.open.clear();
        self.beats.clear();
        self.unanswered.clear();
    }

    /// Bursts that wait for data or for their response, and beats that wait for an address.
    pub(super) fn under_way(&self) -> (usize, usize) {
        let beats = if self.open.is_empty() { self.beats.len() } else { 0 };
        (self.open.len() + self.unanswered.len(), beats)
    }

    /// An address was transferred; the burst, if it completes it.
    pub(super) fn address(&mut self, request: Request) -> Result<Option<Finished>, String> {
        if self.checks_master {
            request.burst.check(self.bus_bytes)?;
        }
        self.open.push_back(request);
        if self.open.len() > 1 {
            return Ok(None);
        }
        // Data may come before its address; only now can it be checked.
        let early = std::mem::take(&mut self.beats);
        let mut finished = None;
        for beat in early {
            if finished.is_some() {
                self.beats.push(beat);
            } else {
                finished = self.data(beat)?;
            }
        }
        Ok(finished)
    }

    /// A beat of data was transferred; the burst, if it completes it.
    pub(super) fn data(&mut self, beat: WriteBeat) -> Result<Option<Finished>, String> {
        let Some(request) = self.open.front().copied() else {
            self.beats.push(beat);
            return Ok(None);
        };
        let number = self.beats.len() as u64;
        if self.checks_master {
            beat.check(&request.burst, number)?;
        }
        self.beats.push(beat);
        if number + 1 < request.burst.beats {
            return Ok(None);
        }
        self.open.pop_front();
        self.unanswered.push_back((request.burst.id, request.exclusive));
        let beats = std::mem::take(&mut self.beats);
        Ok(Some(Finished { request, beats }))
    }

    /// A response is on the bus.
    pub(super) fn offer(&self, id: u64, code: u8) -> Result<(), String> {
        if let Some((_, exclusive)) = self.unanswered.iter().find(|(waiting, _)| *waiting == id) {
            if code == 1 && !exclusive {
                return Err("BRESP is EXOKAY for a burst that is not exclusive".to_owned());
            }
            return Ok(());
        }
        if self.open.iter().any(|request| request.burst.id == id) {
            return Err(format!("a response for id {id} before its burst is complete"));
        }
        Err(format!("a response for id {id}, which has no write under way"))
    }

    /// The response was transferred.
    pub(super) fn answer(&mut self, id: u64) {
        if let Some(index) = self.unanswered.iter().position(|(waiting, _)| *waiting == id) {
            self.unanswered.remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::burst::Request;
    use super::{Finished, Memory, ReadRules, WriteBeat, WriteRules};

    fn atomic(id: u64, beats: u64, atop: u8) -> Request {
        Request {
            atop,
            ..Request::words(id, 0, beats)
        }
    }

    /// Takes all beats of the oldest read of an id.
    fn take(rules: &mut ReadRules, id: u64, beats: u64) {
        for beat in 1..=beats {
            rules.offer(id, 0, beat == beats).unwrap();
            rules.take(id);
        }
    }

    #[test]
    fn beats_of_different_ids_may_be_interleaved() {
        let mut rules = ReadRules::new(8);
        rules.address(Request::words(1, 0, 2)).unwrap();
        rules.address(Request::words(2, 0, 1)).unwrap();
        rules.address(Request::words(1, 0x40, 3)).unwrap();
        rules.offer(1, 0, false).unwrap();
        rules.take(1);
        take(&mut rules, 2, 1);
        assert_eq!(rules.under_way(), 2);
        rules.offer(1, 2, true).unwrap();
        rules.take(1);
        take(&mut rules, 1, 3);
        assert_eq!(rules.under_way(), 0);
    }

    #[test]
    fn beats_need_a_read_and_the_last_has_rlast() {
        let mut rules = ReadRules::new(8);
        rules.address(Request::words(3, 0x80, 2)).unwrap();
        let wrong = |rules: &ReadRules, id, code, last| rules.offer(id, code, last).unwrap_err();
        assert_eq!(
            wrong(&rules, 2, 0, false),
            "a beat for id 2, which has no read under way"
        );
        assert_eq!(
            wrong(&rules, 3, 0, true),
            "beat 1 of 2 from 0x80 for id 3 comes with RLAST"
        );
        assert_eq!(
            wrong(&rules, 3, 1, false),
            "RRESP is EXOKAY for a burst that is not exclusive"
        );
        rules.take(3);
        assert_eq!(
            wrong(&rules, 3, 0, false),
            "beat 2 of 2 from 0x80 for id 3 comes without RLAST"
        );
        rules.take(3);
        assert!(wrong(&rules, 3, 0, true).contains("has no read under way"));
        rules
            .address(Request {
                exclusive: true,
                ..Request::words(0, 0, 1)
            })
            .unwrap();
        rules.offer(0, 1, true).unwrap();
        rules.reset();
        assert!(wrong(&rules, 0, 0, true).contains("has no read under way"));
    }

    #[test]
    fn illegal_reads_are_faults_of_the_master() {
        let mut rules = ReadRules::new(8);
        assert!(
            rules
                .address(Request::words(0, 0xff8, 2))
                .unwrap_err()
                .contains("4 KiB")
        );
        rules.check_slave_only();
        rules.address(Request::words(0, 0xff8, 2)).unwrap();
        take(&mut rules, 0, 2);
    }

    #[test]
    fn atomic_operations_that_load_get_read_data() {
        let mut rules = ReadRules::new(8);
        for (atop, beats, loaded) in [
            (0b00_0000, 1, 0),
            (0b01_0000, 1, 0),
            (0b10_0000, 1, 1),
            (0b10_0111, 4, 4),
            (0b11_0000, 2, 2),
            (0b11_0001, 4, 2),
            (0b11_0001, 1, 1),
        ] {
            rules.atomic(atomic(5, beats, atop)).unwrap();
            assert_eq!(rules.under_way() > 0, loaded > 0, "{atop:#b}");
            take(&mut rules, 5, loaded);
            assert_eq!(rules.under_way(), 0, "{atop:#b}");
        }
    }

    #[test]
    fn atomic_operations_do_not_share_their_id() {
        let expected = "an atomic operation shares id 5 with another burst";
        let mut rules = ReadRules::new(8);
        rules.atomic(atomic(5, 1, 0x20)).unwrap();
        rules.address(Request::words(4, 0, 1)).unwrap();
        assert_eq!(rules.address(Request::words(5, 0, 1)).unwrap_err(), expected);
        let mut rules = ReadRules::new(8);
        rules.address(Request::words(5, 0, 1)).unwrap();
        rules.address(Request::words(5, 0, 1)).unwrap();
        assert_eq!(rules.atomic(atomic(5, 1, 0x20)).unwrap_err(), expected);
    }

    fn beat(value: u8, strobes: u128, last: bool) -> WriteBeat {
        let bytes = vec![value; 8];
        WriteBeat { bytes, strobes, last }
    }

    fn memory_of(finished: Option<Finished>) -> Memory {
        let mut memory = Memory::default();
        finished.expect("a complete burst").write_to(&mut memory);
        memory
    }

    #[test]
    fn data_may_come_before_its_address() {
        let mut rules = WriteRules::new(8);
        for number in 0..4 {
            let early = rules.data(beat(number, 0xff, number % 2 == 1)).unwrap();
            assert!(early.is_none());
        }
        assert_eq!(rules.under_way(), (0, 4));
        let memory = memory_of(rules.address(Request::words(1, 0, 2)).unwrap());
        assert_eq!((memory.byte(0), memory.byte(15)), (Some(0), Some(1)));
        let memory = memory_of(rules.address(Request::words(2, 64, 2)).unwrap());
        assert_eq!((memory.byte(64), memory.byte(79)), (Some(2), Some(3)));
        assert_eq!(rules.under_way(), (2, 0));
    }

    #[test]
    fn early_data_is_checked_when_its_address_comes() {
        let mut rules = WriteRules::new(8);
        assert!(rules.data(beat(0, 0xff, true)).unwrap().is_none());
        assert_eq!(
            rules.address(Request::words(0, 0x40, 2)).unwrap_err(),
            "beat 1 of 2 at 0x40 comes with WLAST"
        );
    }

    #[test]
    fn strobes_stay_within_the_addressed_bytes() {
        let mut rules = WriteRules::new(8);
        rules.address(Request::words(0, 0x43, 1)).unwrap();
        assert_eq!(
            rules.data(beat(0, 0xfc, true)).unwrap_err(),
            "beat 1 of 1 at 0x43 has strobes 0xfc outside of the bytes it addresses, 0xf8"
        );
        assert!(rules.data(beat(0, 0x08, true)).unwrap().is_some());
    }

    #[test]
    fn complete_bursts_get_one_response() {
        let mut rules = WriteRules::new(8);
        rules.address(Request::words(3, 0, 1)).unwrap();
        assert_eq!(
            rules.offer(3, 0).unwrap_err(),
            "a response for id 3 before its burst is complete"
        );
        rules.data(beat(0, 0xff, true)).unwrap();
        assert!(
            rules
                .offer(2, 0)
                .unwrap_err()
                .contains("id 2, which has no write under way")
        );
        assert!(rules.offer(3, 1).unwrap_err().contains("EXOKAY"));
        rules.offer(3, 0).unwrap();
        rules.answer(3);
        assert!(rules.offer(3, 0).is_err());
        assert_eq!(rules.under_way(), (0, 0));
    }

    #[test]
    fn exclusive_bursts_may_get_exokay() {
        let mut rules = WriteRules::new(8);
        let request = Request {
            exclusive: true,
            ..Request::words(3, 0, 1)
        };
        rules.address(request).unwrap();
        rules.data(beat(0, 0xff, true)).unwrap();
        rules.offer(3, 1).unwrap();
    }

    #[test]
    fn faults_of_the_master_are_ignored_if_only_the_slave_is_checked() {
        let mut rules = WriteRules::new(8);
        rules.check_slave_only();
        assert!(rules.data(beat(0, 0xff, true)).unwrap().is_none());
        assert!(rules.address(Request::words(3, 0xffc, 3)).unwrap().is_none());
        assert!(rules.data(beat(0, 0xff, true)).unwrap().is_none());
        assert!(
            rules
                .offer(3, 2)
                .unwrap_err()
                .contains("before its burst is complete")
        );
        assert!(rules.data(beat(0, 0xff, false)).unwrap().is_some());
        rules.offer(3, 2).unwrap();
        rules.reset();
        assert!(rules.offer(3, 2).is_err());
    }
}
