//! What it costs to fetch instructions: the cache that the HPUs of a cluster share, and the line that each has before it.
//!
//! An HPU executes out of a line of 16 bytes and asks for the next one meanwhile (`riscv_prefetch_L0_buffer.sv`). The cache
//! has 4 KiB in four ways; it is off after reset, and every line then comes from program memory.

use crate::timing::Timing;

const LINE_SHIFT: u32 = 4;
const WAYS: usize = 4;
const SETS: usize = 64;
/// No line has this number.
const NONE: u32 = u32::MAX;

/// The instruction cache of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Icache {
    is_on: bool,
    /// Lines, and when each is there.
    lines: [[(u32, u64); WAYS]; SETS],
    /// The way that is filled next, in each set: the hardware draws it by chance (`generic_LFSR_8bit.sv`).
    next: [u8; SETS],
}

impl Icache {
    /// As after reset: off and empty.
    pub(crate) fn new() -> Self {
        Self {
            is_on: false,
            lines: [[(NONE, 0); WAYS]; SETS],
            next: [0; SETS],
        }
    }

    /// A register is written (`mp_pf_icache_ctrl_unit.sv`): the first turns it on or off, the second empties it.
    pub(crate) fn write(&mut self, offset: u32, value: u32) {
        match offset {
            0 => self.is_on = value & 1 != 0,
            _ if value & 1 != 0 => self.lines = [[(NONE, 0); WAYS]; SETS],
            _ => {}
        }
    }

    /// A register is read: the first says whether it is on (recorded: `sim/interop/recorded/accesses.csv`).
    pub(crate) fn read(&self, offset: u32) -> u32 {
        u32::from(offset == 0 && self.is_on)
    }

    /// When a line is there that is asked for in this clock.
    fn ready(&mut self, line: u32, asked: u64, timing: &Timing) -> u64 {
        if !self.is_on {
            return asked + u64::from(timing.fetch_uncached);
        }
        let set = line as usize % SETS;
        let ways = &mut self.lines[set];
        if let Some((_, ready)) = ways.iter().find(|(there, _)| *there == line) {
            return *ready;
        }
        let ready = asked + u64::from(timing.fetch_miss);
        ways[usize::from(self.next[set]) % WAYS] = (line, ready);
        self.next[set] = self.next[set].wrapping_add(1);
        ready
    }
}

/// The line that an HPU executes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fetch {
    line: u32,
    /// When it began with it.
    since: u64,
}

impl Default for Fetch {
    fn default() -> Self {
        Self { line: NONE, since: 0 }
    }
}

impl Fetch {
    /// Clocks that the instruction at `pc` waits for its line.
    #[inline]
    pub(crate) fn wait(&mut self, pc: u32, now: u64, cache: &mut Icache, timing: &Timing) -> u32 {
        // An instruction of four bytes in the last two of a line needs the next one.
        let line = pc.wrapping_add(2) >> LINE_SHIFT;
        if line == self.line {
            return 0;
        }
        self.enter(line, now, cache, timing)
    }

    fn enter(&mut self, line: u32, now: u64, cache: &mut Icache, timing: &Timing) -> u32 {
        // The next line is asked for when this one is begun with.
        let is_next = line == self.line.wrapping_add(1);
        let asked = if is_next { self.since } else { now };
        let wait = cache.ready(line, asked, timing).saturating_sub(now);
        *self = Self {
            line,
            since: now + wait,
        };
        wait as u32
    }
}

#[cfg(test)]
mod tests {
    use super::{Fetch, Icache};
    use crate::timing::Timing;

    /// Clocks that a loop of four lines waits, turn by turn; each line is executed in four clocks.
    fn turns(cache: &mut Icache, count: usize) -> Vec<u32> {
        let (mut fetch, mut now, timing) = (Fetch::default(), 0, Timing::default());
        let mut turn = || {
            let lines = (0..4).map(|line| {
                let wait = fetch.wait(0x1d00_0000 + 16 * line, now, cache, &timing);
                now += u64::from(wait) + 4;
                wait
            });
            lines.sum()
        };
        (0..count).map(|_| turn()).collect()
    }

    #[test]
    fn a_loop_is_missed_once_and_then_costs_nothing() {
        let mut cache = Icache::new();
        cache.write(0, u32::MAX);
        let timing = Timing::default();
        let waits = turns(&mut cache, 3);
        assert!(waits[0] >= timing.fetch_miss);
        assert_eq!(waits[1..], [0, 0]);
        cache.write(4, 1);
        assert_eq!(turns(&mut cache, 1), waits[..1]);
    }

    #[test]
    fn without_the_cache_every_line_is_waited_for() {
        let timing = Timing::default();
        let waits = turns(&mut Icache::new(), 2);
        let each = timing.fetch_uncached - 4;
        assert_eq!(waits, [timing.fetch_uncached + 3 * each; 2]);
    }
}
