//! Follows reads from their address to their last beat, and checks the rules that join the channels.

use super::burst::Request;
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

/// All reads that are under way.
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

    /// From now on, lets pass what only a master can do wrong within a burst.
    pub(super) fn check_slave_only(&mut self) {
        self.checks_master = false;
    }

    /// Forgets everything that is under way.
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
            return Err(format!("id {id} is not used by one atomic operation alone"));
        }
        Ok(())
    }

    /// A beat is on the bus.
    pub(super) fn offer(&self, id: u64, code: u8, last: bool) -> Result<(), String> {
        let Some(read) = self.open.get(&id).and_then(VecDeque::front) else {
            return Err(format!("there is a beat for id {id}, which waits for none"));
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

#[cfg(test)]
mod tests {
    use super::super::burst::{Burst, BurstKind, Request};
    use super::ReadRules;

    fn read(id: u64, address: u64, beats: u64) -> Request {
        Request::plain(Burst {
            id,
            address,
            beats,
            size: 8,
            kind: BurstKind::Incrementing,
        })
    }

    fn atomic(id: u64, beats: u64, atop: u8) -> Request {
        Request {
            atop,
            ..read(id, 0, beats)
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
    fn beats_of_different_ids_may_be_mixed() {
        let mut rules = ReadRules::new(8);
        rules.address(read(1, 0, 2)).unwrap();
        rules.address(read(2, 0, 1)).unwrap();
        rules.address(read(1, 0x40, 3)).unwrap();
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
    fn beats_belong_to_a_read_and_the_last_says_so() {
        let mut rules = ReadRules::new(8);
        rules.address(read(3, 0x80, 2)).unwrap();
        let wrong = |rules: &ReadRules, id, code, last| rules.offer(id, code, last).unwrap_err();
        assert_eq!(
            wrong(&rules, 2, 0, false),
            "there is a beat for id 2, which waits for none"
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
        assert!(wrong(&rules, 3, 0, true).contains("waits for none"));
        rules
            .address(Request {
                exclusive: true,
                ..read(0, 0, 1)
            })
            .unwrap();
        rules.offer(0, 1, true).unwrap();
        rules.reset();
        assert!(wrong(&rules, 0, 0, true).contains("waits for none"));
    }

    #[test]
    fn impossible_reads_are_faults_of_the_master() {
        let mut rules = ReadRules::new(8);
        assert!(rules.address(read(0, 0xff8, 2)).unwrap_err().contains("4 KiB"));
        rules.check_slave_only();
        rules.address(read(0, 0xff8, 2)).unwrap();
        take(&mut rules, 0, 2);
    }

    #[test]
    fn atomic_operations_that_load_are_answered() {
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
    fn atomic_operations_have_their_id_for_themselves() {
        let expected = "id 5 is not used by one atomic operation alone";
        let mut rules = ReadRules::new(8);
        rules.atomic(atomic(5, 1, 0x20)).unwrap();
        rules.address(read(4, 0, 1)).unwrap();
        assert_eq!(rules.address(read(5, 0, 1)).unwrap_err(), expected);
        let mut rules = ReadRules::new(8);
        rules.address(read(5, 0, 1)).unwrap();
        rules.address(read(5, 0, 1)).unwrap();
        assert_eq!(rules.atomic(atomic(5, 1, 0x20)).unwrap_err(), expected);
    }
}
