//! Comparison of counters and memories with what has to be there at the end.

use super::memory::{CONTEXT_HOST, CONTEXTS, FROM_HOST, HOST, HOSTILE, may_hold, owner, tag_of, windows};
use super::{BURST, Bench, CPU, HPUS, LINE, Totals};
use spinneret_regmap::shares;
use spinneret_sim::prelude::*;

impl Bench {
    /// Waits until nothing is inside, and compares counters and memories.
    pub(super) fn finish(mut self) -> Totals {
        while !self.inside.is_empty() {
            self.clock();
        }
        self.quiet_since = self.sim.cycle_count();
        while self.sim.cycle_count() - self.quiet_since < 500 {
            self.clock();
        }
        for context in 0..CONTEXTS {
            let counters = self.read(shares::BASE + shares::STRIDE * context as u32, LINE as u32);
            let get =
                |register: &spinneret_regmap::Register| u64::from(counters[register.offset as usize / 4]);
            let counts = self.log.counts.get(&context).copied().unwrap_or_default();
            let expected = self.log.expected(context);
            let missing = expected.checked_sub(counts.ended).expect("no handler runs twice");
            let most = if self.log.has_resets {
                self.totals.resets * HPUS
            } else {
                0
            };
            let [tasks, failures, stopped] =
                [&shares::TASKS, &shares::FAILURES, &shares::BUDGET_ENDS].map(get);
            let least = counts.failed + missing;
            let is_right = tasks == expected
                && missing <= most
                && (least..=least + most).contains(&failures)
                && (counts.stopped..=counts.stopped + most).contains(&stopped);
            let what = format!(
                "context {context}: {tasks} of {expected} handlers, {failures} failed, {stopped} stopped, {counts:?}"
            );
            self.sim.expect(if is_right { Ok(()) } else { Err(what) });
        }
        for window in windows() {
            let words = self.read(window.start, window.len() as u32);
            for (address, word) in window.step_by(4).zip(words) {
                let what = || format!("{address:#x} of {:?} holds {word:#x}", owner(address));
                self.sim
                    .expect(may_hold(address, word).then_some(()).ok_or_else(what));
            }
        }
        for context in 0..HOSTILE {
            let part = HOST + u64::from(CONTEXT_HOST * context as u32);
            let bytes = self.host[0].memory().read(part, FROM_HOST as usize);
            let is_foreign = |word: &[Option<u8>]| word[3].is_some_and(|tag| tag != tag_of(context));
            let found = bytes.chunks(4).position(is_foreign);
            assert_eq!(
                found, None,
                "context {context} has words of others in host memory"
            );
        }
        self.count();
        self.totals.clocks = self.sim.cycle_count();
        let totals = self.totals;
        self.sim.finish();
        totals
    }

    /// Words that the host reads.
    fn read(&mut self, address: u32, bytes: u32) -> Vec<u32> {
        for start in (address..address + bytes).step_by(BURST as usize) {
            let length = BURST.min(address + bytes - start);
            self.masters[CPU].read(ReadRequest::bytes(0, start.into(), length as usize, LINE));
        }
        let mut words = Vec::new();
        while words.len() < bytes as usize / 4 {
            self.clock();
            for done in self.masters[CPU].take_reads() {
                assert_eq!(done.response(), Response::Okay, "{address:#x}");
                let done = done.bytes();
                let chunks = done.chunks_exact(4);
                words.extend(chunks.map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))));
            }
        }
        words
    }
}
