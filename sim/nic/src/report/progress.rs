//! How a run goes, while it goes.

use super::tables::slower;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// Between two looks on a terminal.
const TERMINAL: Duration = Duration::from_millis(200);
/// From the first line to the second elsewhere; each later pause is twice as long, up to the longest one.
const LINES: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(320);

/// Whether progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShowProgress {
    /// On standard error: on a terminal always the newest state, elsewhere a line now and then.
    #[default]
    Yes,
    /// Not at all.
    No,
}

/// What changes while a run goes, besides what is counted anyway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Simulated time.
    pub at_ps: u64,
    /// Clocks in which a handler ran, of all HPUs.
    pub busy_clocks: u64,
    /// Period of the cluster's clock in picoseconds.
    pub cluster_ps: u64,
    /// HPUs.
    pub hpus: usize,
    /// Packets that will come, if known.
    pub total: Option<u64>,
}

/// Packets so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) received: u64,
    pub(crate) handled: u64,
    pub(crate) to_host: u64,
    pub(crate) sent: u64,
    pub(crate) failed: u64,
    /// Cause and number.
    pub(crate) drops: Vec<(String, u64)>,
}

/// Shows how a run goes, every now and then.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    every: Option<Duration>,
    begun: Instant,
    shown: Instant,
    before: Live,
    has_total: bool,
}

impl Progress {
    pub(crate) fn new(show: ShowProgress) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let bar = (show == ShowProgress::Yes && is_terminal).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.with_style(style("{spinner} {wide_msg}"))
        });
        let now = Instant::now();
        Self {
            bar,
            every: (show == ShowProgress::Yes).then_some(if is_terminal { TERMINAL } else { LINES }),
            begun: now,
            shown: now,
            before: Live::default(),
            has_total: false,
        }
    }

    /// Whether it is time to show something.
    pub(crate) fn is_due(&self) -> bool {
        self.every.is_some_and(|every| self.shown.elapsed() >= every)
    }

    pub(crate) fn show(&mut self, live: &Live, counts: &Counts) {
        let text = line(counts, live, &self.before, self.begun.elapsed());
        self.shown = Instant::now();
        self.before = *live;
        let Some(bar) = &self.bar else {
            // Who has closed standard error does not want to read this.
            let _ = writeln!(std::io::stderr(), "{text}");
            self.every = self.every.map(|every| (2 * every).min(LONGEST));
            return;
        };
        if let Some(total) = live.total
            && !std::mem::replace(&mut self.has_total, true)
        {
            bar.set_style(style("{bar:20} {percent} % {wide_msg}"));
            bar.set_length(total);
        }
        bar.set_position(counts.received);
        bar.set_message(text);
        bar.tick();
    }

    /// Lets something else be written to the terminal.
    pub(crate) fn aside(&self, write: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// The state in a line. The load is that since the last line.
fn line(counts: &Counts, live: &Live, before: &Live, wall: Duration) -> String {
    let Counts {
        received,
        handled,
        to_host,
        sent,
        failed,
        ..
    } = counts;
    let mut text = format!("in {received}, handlers {handled}, host {to_host}, sent {sent}");
    if *failed > 0 {
        let _ = write!(text, ", failed {failed}");
    }
    for (cause, packets) in counts.drops.iter().filter(|(_, packets)| *packets > 0) {
        let _ = write!(text, ", dropped {packets} ({})", cause.replace('_', " "));
    }
    let passed = live.at_ps.saturating_sub(before.at_ps) as f64;
    if passed > 0.0 && live.hpus > 0 {
        let busy = live.busy_clocks.saturating_sub(before.busy_clocks) as f64 * live.cluster_ps as f64;
        let _ = write!(
            text,
            ", HPUs {:.0} %",
            (100.0 * busy / passed / live.hpus as f64).min(100.0)
        );
    }
    if live.at_ps > 0 {
        let slowdown = wall.as_secs_f64() / (live.at_ps as f64 / 1e12);
        let _ = write!(text, ", {}", slower(slowdown));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_it_goes() {
        let counts = Counts {
            received: 1000,
            handled: 900,
            to_host: 40,
            sent: 899,
            failed: 1,
            drops: vec![("no_slot".to_owned(), 60), ("overload".to_owned(), 0)],
        };
        let live = |at_ps, busy_clocks| Live {
            at_ps,
            busy_clocks,
            cluster_ps: 25_000,
            hpus: 16,
            total: None,
        };
        // 320,000 clocks of 25 ns are 8 ms; 16 HPUs had 1 ms each.
        let text = line(
            &counts,
            &live(2_000_000_000, 324_000),
            &live(1_000_000_000, 4_000),
            Duration::from_secs(1),
        );
        assert_eq!(
            text,
            "in 1000, handlers 900, host 40, sent 899, failed 1, dropped 60 (no slot), HPUs 50 %, 500 times slower than real time"
        );
    }

    #[test]
    fn nothing_is_divided_by_zero() {
        let text = line(
            &Counts::default(),
            &Live::default(),
            &Live::default(),
            Duration::ZERO,
        );
        assert_eq!(text, "in 0, handlers 0, host 0, sent 0");
    }

    #[test]
    fn nothing_is_shown_unless_asked_for() {
        assert!(!Progress::new(ShowProgress::No).is_due());
    }
}
