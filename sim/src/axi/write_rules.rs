//! Follows bursts from their address to their response, and checks the rules that join the channels.

use super::burst::{Burst, Request};
use super::memory::Memory;
use std::collections::VecDeque;

/// A beat of data that is written.
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
    /// What is wrong with it as the beat with that number of a burst, if anything.
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

/// All bursts that are under way.
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

    /// From now on, lets pass what only a master can do wrong within a burst.
    pub(super) fn check_slave_only(&mut self) {
        self.checks_master = false;
    }

    /// Forgets everything that is under way.
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
        // Data may come before its address; what it broke is known only now.
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
            return Err(format!(
                "there is a response for id {id} before its burst is complete"
            ));
        }
        Err(format!("there is a response for id {id}, which waits for none"))
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
    use super::super::burst::{Burst, BurstKind, Request};
    use super::{Finished, Memory, WriteBeat, WriteRules};

    fn burst(id: u64, address: u64, beats: u64) -> Request {
        Request::plain(Burst {
            id,
            address,
            beats,
            size: 8,
            kind: BurstKind::Incrementing,
        })
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
        let memory = memory_of(rules.address(burst(1, 0, 2)).unwrap());
        assert_eq!((memory.byte(0), memory.byte(15)), (Some(0), Some(1)));
        let memory = memory_of(rules.address(burst(2, 64, 2)).unwrap());
        assert_eq!((memory.byte(64), memory.byte(79)), (Some(2), Some(3)));
        assert_eq!(rules.under_way(), (2, 0));
    }

    #[test]
    fn early_data_is_checked_when_its_address_comes() {
        let mut rules = WriteRules::new(8);
        assert!(rules.data(beat(0, 0xff, true)).unwrap().is_none());
        assert_eq!(
            rules.address(burst(0, 0x40, 2)).unwrap_err(),
            "beat 1 of 2 at 0x40 comes with WLAST"
        );
    }

    #[test]
    fn strobes_stay_inside_of_the_addressed_bytes() {
        let mut rules = WriteRules::new(8);
        rules.address(burst(0, 0x43, 1)).unwrap();
        assert_eq!(
            rules.data(beat(0, 0xfc, true)).unwrap_err(),
            "beat 1 of 1 at 0x43 has strobes 0xfc outside of the bytes it addresses, 0xf8"
        );
        assert!(rules.data(beat(0, 0x08, true)).unwrap().is_some());
    }

    #[test]
    fn responses_answer_complete_bursts_once() {
        let mut rules = WriteRules::new(8);
        rules.address(burst(3, 0, 1)).unwrap();
        assert_eq!(
            rules.offer(3, 0).unwrap_err(),
            "there is a response for id 3 before its burst is complete"
        );
        rules.data(beat(0, 0xff, true)).unwrap();
        assert!(
            rules
                .offer(2, 0)
                .unwrap_err()
                .contains("id 2, which waits for none")
        );
        assert!(rules.offer(3, 1).unwrap_err().contains("EXOKAY"));
        rules.offer(3, 0).unwrap();
        rules.answer(3);
        assert!(rules.offer(3, 0).is_err());
        assert_eq!(rules.under_way(), (0, 0));
    }

    #[test]
    fn exclusive_bursts_may_be_answered_as_such() {
        let mut rules = WriteRules::new(8);
        let request = Request {
            exclusive: true,
            ..burst(3, 0, 1)
        };
        rules.address(request).unwrap();
        rules.data(beat(0, 0xff, true)).unwrap();
        rules.offer(3, 1).unwrap();
    }

    #[test]
    fn faults_of_the_master_are_nothing_if_only_the_slave_is_checked() {
        let mut rules = WriteRules::new(8);
        rules.check_slave_only();
        assert!(rules.data(beat(0, 0xff, true)).unwrap().is_none());
        assert!(rules.address(burst(3, 0xffc, 3)).unwrap().is_none());
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
