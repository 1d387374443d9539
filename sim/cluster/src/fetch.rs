//! What it costs to fetch instructions: the cache that the HPUs of a cluster share, and the line that each has before it.
//!
//! An HPU executes out of a line of 16 bytes and asks for the next one meanwhile (`riscv_prefetch_L0_buffer.sv`). The cache
//! has 4 KiB in four ways; it is off after reset, and every line then comes from program memory. A line that it does not
//! have takes its time from when it is needed, though it was asked for before: that was measured, instruction by
//! instruction, for lines that follow one another as for those that are jumped to.

use crate::timing::Timing;

const LINE_SHIFT: u32 = 4;
const WAYS: usize = 4;
const SETS: usize = 64;
/// Clocks behind the first HPU from which on another one is among the second.
const BEHIND: u64 = 5;
/// No line has this number.
const NONE: u32 = u32::MAX;

/// The instruction cache of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Icache {
    is_on: bool,
    lines: [[Line; WAYS]; SETS],
}

/// A line, or a place for one.
#[derive(Clone, Copy, Debug)]
struct Line {
    number: u32,
    /// When it was asked for.
    asked: u64,
    /// An HPU has had it as soon as it was there.
    is_taken: bool,
}

impl Line {
    const EMPTY: Self = Self {
        number: NONE,
        asked: 0,
        is_taken: false,
    };

    /// When an HPU has the line that needs it now. Who has asked for it is told late that it is there, and so are all
    /// who wait with him, but for one of those who came behind (recorded: eight HPUs that run the same code).
    fn ready(&mut self, now: u64, timing: &Timing) -> u64 {
        let (since, filled) = (now - self.asked, u64::from(timing.fetch_filled));
        if since >= filled {
            return now;
        }
        if since >= BEHIND && !self.is_taken {
            self.is_taken = true;
            return self.asked + filled;
        }
        self.asked + u64::from(timing.fetch_miss)
    }
}

/// Which way of a set that is full is filled next: each HPU draws by a shift register of its own, and only then
/// (`icache_bank_mp_128.sv`, state `REQ_REFILL`; `generic_LFSR_8bit.sv`).
#[derive(Clone, Copy, Debug, Default)]
struct Draw(u8);

impl Draw {
    fn way(&mut self) -> usize {
        let Self(bits) = *self;
        let feedback = !(bits >> 7 ^ bits >> 3 ^ bits >> 2 ^ bits >> 1) & 1;
        self.0 = bits << 1 | feedback;
        usize::from(bits >> 1) % WAYS
    }
}

impl Icache {
    /// As after reset: off and empty.
    pub(crate) fn new() -> Self {
        Self {
            is_on: false,
            lines: [[Line::EMPTY; WAYS]; SETS],
        }
    }

    /// A register is written (`mp_pf_icache_ctrl_unit.sv`): the first turns it on or off, the second empties it.
    pub(crate) fn write(&mut self, offset: u32, value: u32) {
        match offset {
            0 => self.is_on = value & 1 != 0,
            _ if value & 1 != 0 => self.lines = [[Line::EMPTY; WAYS]; SETS],
            _ => {}
        }
    }

    /// A register is read: the first says whether it is on (recorded: `sim/interop/recorded/accesses.csv`).
    pub(crate) fn read(&self, offset: u32) -> u32 {
        u32::from(offset == 0 && self.is_on)
    }

    /// When a line is there that is needed in this clock, if the cache is on.
    fn ready(&mut self, line: u32, now: u64, draw: &mut Draw, timing: &Timing) -> u64 {
        let ways = &mut self.lines[line as usize % SETS];
        // Of ways that are empty the last one is filled.
        let empty = ways.iter().rposition(|there| there.number == NONE);
        let mut choose = || empty.unwrap_or_else(|| draw.way());
        if let Some(there) = ways.iter().position(|there| there.number == line) {
            if now - ways[there].asked < u64::from(timing.fetch_filled) {
                // It is under way. Who misses it now asks for it all the same, and so has drawn.
                choose();
            }
            return ways[there].ready(now, timing);
        }
        ways[choose()] = Line {
            number: line,
            asked: now,
            is_taken: false,
        };
        now + u64::from(timing.fetch_miss)
    }
}

/// The line that an HPU executes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fetch {
    line: u32,
    /// When it began with it.
    since: u64,
    draw: Draw,
}

impl Default for Fetch {
    fn default() -> Self {
        Self {
            line: NONE,
            since: 0,
            draw: Draw::default(),
        }
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
        // Program memory is asked for the next line when this one is begun with.
        let is_next = line == self.line.wrapping_add(1);
        let asked = if is_next { self.since } else { now };
        let ready = match cache.is_on {
            true => cache.ready(line, now, &mut self.draw, timing),
            false => asked + u64::from(timing.fetch_uncached),
        };
        let wait = ready.saturating_sub(now);
        self.line = line;
        self.since = now + wait;
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
